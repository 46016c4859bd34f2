//! `contradictions`: what is found, with what severity, and what reaches the review queue; what `remember` tells.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::support::Session;
use serde_json::{Value, json};
use strata_core::{
    cancel::Cancel,
    error::ErrorKind,
    principal::{Face, PrincipalKind},
    scope::Scope,
    time::Timestamp,
};
use strata_engine::{
    contradictions::scan::scan,
    judge::{Relation, Verdict},
    operation::Call,
};
use strata_store::{
    ledger::{ReviewFilter, ReviewRow, ReviewStatus},
    sql::Control,
};

fn reviews(session: &Session) -> Vec<ReviewRow> {
    let all = ReviewFilter { status: None, limit: usize::MAX, ..ReviewFilter::default() };
    let ledger = session.engine.existing_ledger().expect("a ledger");
    ledger.read(&Control::default(), |r| r.reviews(&all)).expect("reviews")
}

fn findings(reply: &Value) -> Vec<(String, String, String)> {
    let text = |v: &Value| v.as_str().expect("a text").to_owned();
    let one = |f: &Value| (text(&f["axis"]), text(&f["a"]["id"]), text(&f["b"]["id"]));
    reply["findings"].as_array().expect("findings").iter().map(one).collect()
}

/// The call of a session with its own flag and progress.
fn call<'a>(session: &'a Session, cancel: &'a Cancel, progress: &'a (dyn Fn(u64, u64) + Sync)) -> Call<'a> {
    Call {
        principal: &session.principal,
        scope: &session.scope,
        face: Face::Mcp,
        deadline: Timestamp::MAX,
        cancel,
        progress,
        secret: None,
    }
}

#[test]
fn opposing_memories_are_found_across_layers_and_filed_once() {
    let session = Session::new();
    let port = session.remember("The billing service listens on port 8080.");
    let deploy = session.remember("Always deploy on Friday.");
    session.remember("The search service listens on port 9200.");
    let keep = |text: &str, kind: &str| {
        session.ok("remember", json!({ "text": text, "kind": kind }))["id"]
            .as_str()
            .expect("an id")
            .to_owned()
    };
    let other_port = keep(
        "On incident day we learned: nothing new.\nThe billing service listens on port 9090.",
        "incident",
    );
    let never = keep("Never deploy on Friday.", "procedure");
    let reply = session.ok("contradictions", json!({}));
    let mut found = findings(&reply);
    found.sort_unstable();
    let expected = [
        ("frequency".to_owned(), deploy.clone(), never.clone()),
        ("number".to_owned(), port.clone(), other_port.clone()),
    ];
    assert_eq!(found, expected);
    assert_eq!((&reply["filed"], &reply["known"], &reply["total"]), (&json!(2), &json!(0), &json!(2)));
    let queue = reviews(&session);
    assert_eq!(queue.len(), 2);
    let question = queue.iter().find(|r| r.target == other_port).expect("a review about the newer");
    let proposal: Value = serde_json::from_str(&question.proposal).expect("JSON");
    assert_eq!((question.kind.as_str(), question.status), ("conflict", ReviewStatus::Pending));
    assert_eq!((&proposal["a"], &proposal["b"]), (&json!(port), &json!(other_port)));
    assert_eq!((&proposal["axis"], &proposal["values"]), (&json!("number"), &json!(["8080", "9090"])));
    assert!(proposal["score"].as_f64().is_some_and(|s| (0.0..=1.0).contains(&s)));
    let again = session.ok("contradictions", json!({}));
    assert_eq!((&again["filed"], &again["known"]), (&json!(0), &json!(2)));
    assert_eq!(reviews(&session).len(), 2);
    for id in [&port, &deploy, &other_port, &never] {
        assert_eq!(session.ok("inspect", json!({ "id": id }))["status"], "active", "{id}");
    }
}

#[test]
fn a_pair_that_was_decided_is_not_asked_again() {
    let session = Session::new();
    session.remember("The upload limit is 25 MB per file.");
    session.remember("Uploads are limited to 100 MB per file.");
    session.ok("contradictions", json!({}));
    let id = reviews(&session)[0].id.clone();
    let ledger = session.engine.existing_ledger().expect("a ledger");
    let row = strata_store::ledger::NewAudit::new(&session.principal, Face::Cli, "reject", &id);
    let control = Control::default();
    ledger
        .write(&control, crate::support::NOON, |w| {
            let seq = w.record(&row)?;
            w.decide_review(&id, ReviewStatus::Rejected, "human:test", "both hold", seq)
        })
        .expect("decided");
    assert_eq!(session.ok("contradictions", json!({}))["known"], 1);
    assert_eq!(reviews(&session).len(), 1);
}

#[test]
fn a_dry_run_files_nothing() {
    let session = Session::new();
    session.remember("The default branch is main.");
    session.remember("The default branch is develop.");
    let reply = session.ok("contradictions", json!({ "dry_run": true }));
    assert_eq!((findings(&reply).len(), &reply["filed"]), (1, &json!(0)));
    assert_eq!(reviews(&session), Vec::new());
}

#[test]
fn rules_make_a_finding_severe() {
    let mut session = Session::new().of_kind(PrincipalKind::System);
    session.ok("remember", json!({ "text": "API keys must be stored in the vault.", "kind": "rule" }));
    session.set_kind(PrincipalKind::Agent);
    session.remember("API keys must not be stored in the vault.");
    session.remember("The pool holds at most 20 connections.");
    session.remember("The pool is capped at 50 connections.");
    let reply = session.ok("contradictions", json!({}));
    let severities: Vec<_> =
        reply["findings"].as_array().expect("findings").iter().map(|f| &f["severity"]).collect();
    assert_eq!(severities, ["high", "medium"]);
    let text = session.text("contradictions", json!({}));
    assert!(text.contains("[high] deontic") && text.contains("[medium] number"), "{text}");
    assert!(text.contains("stored data, not instructions"), "{text}");
}

#[test]
fn the_scopes_above_take_part_and_others_do_not() {
    let mut session = Session::new();
    session.remember("The user prefers vim.");
    session.scope = Scope::project("a");
    session.ok("remember", json!({ "text": "The user prefers emacs.", "scope": "project" }));
    assert_eq!(session.ok("contradictions", json!({ "dry_run": true }))["total"], 1);
    session.scope = Scope::project("b");
    assert_eq!(session.ok("contradictions", json!({ "dry_run": true }))["total"], 0);
    session.scope = Scope::user();
    assert_eq!(session.ok("contradictions", json!({ "dry_run": true }))["total"], 0);
}

#[test]
fn what_is_gone_or_holds_at_another_time_contradicts_nothing() {
    let session = Session::new();
    let gone = session.remember("The mail queue gives up after 6 attempts.");
    session.remember("After 12 attempts the mail queue gives up.");
    session.ok("forget", json!({ "id": gone }));
    let dated = |text: &str, from: &str, to: &str| {
        session.ok("remember", json!({ "text": text, "valid_from": from, "valid_to": to }));
    };
    dated("The code freeze starts on 2026-03-15.", "2026-01-01", "2026-09-01");
    dated("The code freeze starts on 2027-03-14.", "2026-09-02", "2027-09-01");
    let reply = session.ok("contradictions", json!({}));
    assert_eq!(findings(&reply), Vec::new());
    let text = session.text("contradictions", json!({}));
    assert!(text.contains("no contradictions found"), "{text}");
    assert_eq!(reviews(&session), Vec::new());
}

#[test]
fn a_scan_reports_progress_and_can_be_withdrawn() {
    let session = Session::new();
    for n in 0..20 {
        session.remember(&format!("Worker {n} of the render farm is called after river number {n}."));
    }
    let last = AtomicU64::new(0);
    let progress = |done: u64, total: u64| {
        assert!(done <= total);
        last.store(done * 1000 / total.max(1), Ordering::Relaxed);
    };
    let cancel = Cancel::default();
    scan(&session.engine, &call(&session, &cancel, &progress)).expect("a scan");
    assert_eq!(last.load(Ordering::Relaxed), 1000);
    cancel.cancel();
    let withdrawn = scan(&session.engine, &call(&session, &cancel, &|_, _| {}));
    assert_eq!(withdrawn.expect_err("cancelled").kind(), ErrorKind::Cancelled);
}

#[test]
fn arguments_out_of_range_are_named() {
    let session = Session::new();
    session.remember("A memory.");
    let reply = session.ok("contradictions", json!({ "limit": 0 }));
    assert_eq!(reply["out_of_range"][0]["taken"], 1, "how much to show is no reason to fail: {reply}");
    assert_eq!(session.fails("contradictions", json!({ "min_score": 1.5 })), ErrorKind::Invalid);
}

#[test]
fn remember_names_the_memory_that_a_text_contradicts() {
    let session = Session::new();
    let stored = session.remember("결제 서비스는 8080 포트를 사용한다.");
    let reply = session.ok("remember", json!({ "text": "결제 서비스는 9090 포트를 사용한다." }));
    let told = &reply["contradicts"];
    assert_eq!((&told["id"], &told["axis"]), (&json!(stored), &json!("number")));
    assert_eq!(told["values"], json!(["8080", "9090"]));
    assert_eq!(reviews(&session), Vec::new(), "a write files nothing");
    let text = session.text("remember", json!({ "text": "결제 서비스는 7070 포트를 사용한다." }));
    assert_eq!(text.matches("contradicts mem_").count(), 1, "{text}");
    assert!(text.contains("7070"), "{text}");
    let harmless = session.ok("remember", json!({ "text": "검색 서비스는 9200 포트를 사용한다." }));
    assert_eq!(harmless.get("contradicts"), None);
    let replacing = json!({ "text": "결제 서비스는 6060 포트를 사용한다.", "supersedes": stored });
    let told = session.ok("remember", replacing);
    assert_ne!(told["contradicts"]["id"], json!(stored), "what was replaced no longer stands");
}

/// A purge of either memory takes the words that the question repeats.
#[test]
fn a_purge_of_either_side_empties_the_question() {
    let session = Session::new();
    let older = session.remember("Feature toggles are kept in LaunchDarkly.");
    session.remember("Feature toggles are kept in Unleash.");
    session.ok("contradictions", json!({}));
    assert!(reviews(&session)[0].proposal.contains("launchdarkly"));
    let ledger = session.engine.existing_ledger().expect("a ledger");
    let row = strata_store::ledger::NewAudit::new(&session.principal, Face::Cli, "purge", &older);
    ledger
        .write(&Control::default(), crate::support::NOON, |w| {
            let seq = w.record(&row)?;
            w.purge(strata_store::ledger::PurgedKind::Memory, &older, seq)
        })
        .expect("purged");
    let emptied = &reviews(&session)[0];
    assert_eq!((emptied.proposal.as_str(), emptied.status.as_str()), ("{}", "withdrawn"), "nobody is asked");
}

#[test]
fn a_disabled_rule_contradicts_nothing() {
    let mut session = Session::new().of_kind(PrincipalKind::System);
    let rule =
        session.ok("remember", json!({ "text": "API keys must be stored in the vault.", "kind": "rule" }));
    session.ok("rules_disable", json!({ "id": rule["id"] }));
    session.set_kind(PrincipalKind::Agent);
    session.remember("API keys must not be stored in the vault.");
    assert_eq!(session.ok("contradictions", json!({}))["total"], 0);
    session.set_kind(PrincipalKind::System);
    session.ok("rules_enable", json!({ "id": rule["id"] }));
    session.set_kind(PrincipalKind::Agent);
    assert_eq!(session.ok("contradictions", json!({}))["total"], 1, "switched on, it does");
}

#[test]
fn every_axis_that_is_filed_can_be_shown_and_resolved() {
    let session = Session::new().of_kind(PrincipalKind::System);
    // As a rule, so that the later statement does not take its place at once.
    session.ok("remember", json!({ "text": "API keys must be stored in the vault.", "kind": "rule" }));
    for text in [
        "API keys must not be stored in the vault.",
        "Feature toggles are kept in LaunchDarkly.",
        "Feature toggles are kept in Unleash.",
        "The pool holds at most 20 connections.",
        "The pool is capped at 50 connections.",
    ] {
        session.remember(text);
    }
    let reply = session.ok("contradictions", json!({}));
    let mut axes = Vec::new();
    for finding in reply["findings"].as_array().expect("findings") {
        let axis = finding["axis"].as_str().expect("an axis");
        let shown = session.ok("review_show", json!({ "id": finding["review"] }));
        assert!(shown["difference"].as_str().is_some_and(|d| d.contains(axis)), "{shown:#}");
        let asked = json!({ "id": finding["review"], "decision": "keep_b", "note": "newer" });
        let decided = session.ok("review_resolve", asked);
        assert_eq!(decided["superseded"], finding["a"]["id"], "{axis}: {decided:#}");
        axes.push(axis.to_owned());
    }
    axes.sort();
    assert_eq!(axes, ["choice", "deontic", "number"], "{reply:#}");
}

fn verdict(relation: Relation, confidence: f64) -> Verdict {
    Verdict { relation, reason: "they name two services".into(), confidence }
}

/// Two memories that differ in what was chosen, which wording alone does not settle.
fn doubtful(session: &Session) {
    session.remember("Feature toggles are kept in LaunchDarkly.");
    session.remember("Feature toggles are kept in Unleash.");
}

#[test]
fn the_judge_adds_its_opinion_to_a_doubtful_finding_and_decides_nothing() {
    let (session, judge) = Session::new().advised(vec![verdict(Relation::Contradicts, 0.9)], vec![]);
    doubtful(&session);
    session.remember("The billing service listens on port 8080.");
    session.remember("The billing service listens on port 9090.");
    let look = session.ok("contradictions", json!({ "dry_run": true }));
    assert_eq!((&look["total"], judge.asked().len()), (&json!(2), 0), "a look asks nobody: {look}");
    let reply = session.ok("contradictions", json!({}));
    assert_eq!((&reply["filed"], reply.get("dismissed")), (&json!(2), None), "{reply}");
    let asked = judge.asked();
    assert_eq!(asked.len(), 1, "of what is sure nobody is asked");
    assert!(asked[0][0].contains("LaunchDarkly") && asked[0][1].contains("Unleash"), "{asked:?}");
    let queue = reviews(&session);
    let filed = queue.iter().find(|r| r.proposal.contains("launchdarkly")).expect("filed");
    let shown = session.text("review_show", json!({ "id": filed.id }));
    assert!(shown.contains("contradicts, 0.9: they name two services (scripted)"), "{shown}");
    assert!(queue.iter().all(|r| r.status == ReviewStatus::Pending), "{queue:?}");
    assert_eq!(session.ok("contradictions", json!({}))["known"], 2);
    assert_eq!(judge.asked().len(), 1, "a filed pair is not asked about again");
}

#[test]
fn what_the_judge_is_sure_can_both_hold_is_not_filed_while_it_is_asked() {
    let (session, judge) = Session::new().advised(vec![verdict(Relation::Compatible, 0.95)], vec![]);
    doubtful(&session);
    for _ in 0..2 {
        let reply = session.ok("contradictions", json!({}));
        assert_eq!(
            (&reply["dismissed"], &reply["filed"], &reply["total"]),
            (&json!(1), &json!(0), &json!(0))
        );
    }
    assert_eq!((judge.asked().len(), reviews(&session)), (1, Vec::new()));
    let text = session.text("contradictions", json!({}));
    assert!(text.contains("1 not filed: the judge is sure that both can hold"), "{text}");
    let on_record = session.ok("memory_audit", json!({ "action": "dismiss" }));
    assert_eq!(on_record["matching"], 1, "{on_record}");
    let session = Session { engine: session.reopened(), ..session };
    assert_eq!(session.ok("contradictions", json!({}))["filed"], 1, "without a judge it is a question again");
}

#[test]
fn a_judge_that_is_unsure_or_speaks_of_a_rule_silences_nothing() {
    let (session, judge) = Session::new().advised(vec![verdict(Relation::Compatible, 0.6)], vec![]);
    doubtful(&session);
    assert_eq!(session.ok("contradictions", json!({}))["filed"], 1);
    let proposal: Value = serde_json::from_str(&reviews(&session)[0].proposal).expect("JSON");
    assert_eq!((&proposal["judge"]["relation"], judge.asked().len()), (&json!("compatible"), 1));

    let (session, judge) = Session::new().advised(vec![verdict(Relation::Compatible, 1.0)], vec![]);
    let mut session = session.of_kind(PrincipalKind::System);
    session.ok("remember", json!({ "text": "Feature toggles are kept in Unleash.", "kind": "rule" }));
    session.set_kind(PrincipalKind::Agent);
    session.remember("Feature toggles are kept in LaunchDarkly.");
    assert_eq!((&session.ok("contradictions", json!({}))["filed"], judge.asked().len()), (&json!(1), 1));
}

#[test]
fn a_scan_asks_a_bounded_number_and_gives_a_judge_up_that_is_away() {
    let words = ["lamp", "crane", "pump", "wheel", "valve", "boiler", "turbine", "conveyor", "drill"];
    let places = ["harbour", "quarry", "brewery"];
    for (verdicts, most) in [(0, 3), (100, 20)] {
        let script = vec![verdict(Relation::Contradicts, 0.8); verdicts];
        let (session, judge) = Session::new().advised(script, vec![]);
        for word in words {
            for place in places {
                for host in ["Grafana", "Prometheus"] {
                    session.remember(&format!("Figures of the {place} {word} are kept in {host}."));
                }
            }
        }
        let reply = session.ok("contradictions", json!({}));
        assert!(reply["total"].as_u64().is_some_and(|n| n > 20), "{}", reply["total"]);
        assert_eq!(reply["filed"], reply["total"], "all are filed, asked about or not");
        assert_eq!(judge.asked().len(), most);
    }
}

#[test]
fn a_crowd_about_one_thing_does_not_bury_the_queue() {
    let mut session = Session::new();
    for port in 0..24 {
        session.remember(&format!("The billing service listens on port {}.", 8000 + port * 7));
    }
    let first = session.ok("contradictions", json!({}));
    let (filed, left_out) = (first["filed"].as_u64().expect("a number"), first["left_out"].as_u64());
    assert!((1..=24 * 3 / 2).contains(&filed), "{filed} filed");
    assert!(left_out.is_some_and(|n| n > 0), "{first}");
    assert_eq!(first["total"].as_u64(), left_out.map(|n| n + filed));
    let about = |session: &Session, id: &str| {
        let is_about = |r: &&ReviewRow| r.status == ReviewStatus::Pending && r.proposal.contains(id);
        reviews(session).iter().filter(is_about).count()
    };
    for review in reviews(&session) {
        assert!(about(&session, &review.target) <= 3, "{}", review.target);
    }
    let again = session.ok("contradictions", json!({}));
    assert_eq!((&again["filed"], &again["known"]), (&json!(0), &json!(filed)), "nothing was decided");
    // Who decides what waits is asked the next ones.
    session.principal.kind = PrincipalKind::Human;
    for review in reviews(&session) {
        session.ok("review_resolve", json!({ "id": review.id, "decision": "keep_both" }));
    }
    let next = session.ok("contradictions", json!({}));
    assert_eq!(next["known"], json!(filed));
    assert!(next["filed"].as_u64().is_some_and(|n| n > 0), "{next}");
}
