//! p-layer's checks of snapshots, and what its rollback could not do.

use crate::maintain_support::{Session, acting, become_owner, home};
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, principal::PrincipalKind, scope::Scope};
use strata_store::{
    ledger::{AuditFilter, LiveRow},
    sql::Control,
};

fn snapshot(s: &Session, name: &str) {
    s.ok("snapshot_create", json!({ "version_id": name }));
}

fn back(s: &Session, name: &str) -> Value {
    s.ok("snapshot_rollback", json!({ "version_id": name }))
}

fn in_force(s: &Session) -> Vec<LiveRow> {
    let ledger = s.engine.existing_ledger().expect("a ledger");
    ledger.read(&Control::default(), |r| r.live_at(r.head()?.seq)).expect("read")
}

/// (action, outcome, principal, layer) of every audit line, newest first.
fn audit(s: &Session) -> Vec<(String, String, String, Option<String>)> {
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let filter = AuditFilter { limit: 1_000, ..AuditFilter::default() };
    let lines = ledger.read(&Control::default(), |r| r.audit(&filter)).expect("read");
    let line =
        |e: strata_core::chain::AuditEntry| (e.action, e.outcome.as_str().into(), e.principal, e.layer);
    lines.into_iter().map(|l| line(l.entry)).collect()
}

#[test]
fn p_layer_c26_what_came_later_goes_and_what_was_there_stays() {
    let s = home(7);
    let a = s.remember("the mill grinds rye");
    let created = s.text("snapshot_create", json!({ "version_id": "v1", "label": "before the change" }));
    assert!(created.contains("✓ snapshot 'v1' created (#"), "{created}");
    let b = s.remember("the mill grinds spelt as well");
    let text = s.text("snapshot_rollback", json!({ "version_id": "v1" }));
    assert!(text.contains("✓ rolled back to 'v1': 1 entry(ies) superseded, 0 came back"), "{text}");
    assert!(text.contains("`snapshot rollback before-rollback-"), "{text}");
    assert_eq!(s.recall("mill grinds"), std::slice::from_ref(&a));
    let gone = s.ok("inspect", json!({ "id": b }));
    assert_eq!(
        (gone["status"].as_str(), gone["superseded_reason"].as_str()),
        (Some("superseded"), Some("rollback:v1"))
    );
    assert_eq!(s.ok("inspect", json!({ "id": a }))["status"], "active");
    let again = back(&s, "v1");
    assert_eq!((again["superseded"].as_u64(), again.get("undo")), (Some(0), None), "nothing left to do");
}

#[test]
fn p_layer_c27_an_earlier_version_comes_back_word_for_word() {
    let s = home(7);
    let first = s.remember("the dose is 5 mg");
    snapshot(&s, "v1");
    let second = s.ok("update", json!({ "id": first, "text": "the dose is 50 mg" }))["id"].clone();
    let done = back(&s, "v1");
    assert_eq!((done["superseded"].as_u64(), done["restored"].as_u64()), (Some(1), Some(1)));
    let hits = s.ok("recall", json!({ "query": "what is the dose" }))["hits"].clone();
    assert_eq!(hits.as_array().map(Vec::len), Some(1), "{hits}");
    assert_eq!(hits[0]["text"], "the dose is 5 mg");
    assert_eq!(s.ok("inspect", json!({ "id": first }))["superseded_by"], Value::Null);
    assert_eq!(s.ok("inspect", json!({ "id": second }))["superseded_by"], json!(first));
    // The line can be written on from where it was taken back to.
    let third = s.ok("update", json!({ "id": first, "text": "the dose is 10 mg" }))["id"].clone();
    assert_eq!(s.recall("what is the dose"), [third.as_str().expect("an id")]);
}

#[test]
fn p_layer_c28_what_was_forgotten_comes_back() {
    let s = home(7);
    let a = s.remember("the spare key hangs in the shed");
    snapshot(&s, "v1");
    s.ok("forget", json!({ "id": a, "reason": "thought it was moved" }));
    assert!(s.recall("spare key").is_empty());
    assert_eq!(back(&s, "v1")["restored"], 1);
    assert_eq!(s.recall("spare key"), [a]);
}

#[test]
fn p_layer_c29_a_memory_dated_long_ago_goes_when_it_came_later() {
    let other = home(11);
    let old = other.remember("the bridge was closed in 2020");
    let file = other.home.path().join("old.jsonl");
    other.ok("export", json!({ "path": file.display().to_string() }));
    let text = std::fs::read_to_string(&file).expect("written");
    let dated = text.replace("178152480", "160000000");
    assert_ne!(dated, text, "the dates of 2026 are found");
    let s = home(7);
    let stays = s.remember("the bridge is open");
    snapshot(&s, "v1");
    let import = s.home.path().join("import.jsonl");
    strata_store::files::write_atomic(&import, dated.as_bytes()).expect("written");
    s.ok("load", json!({ "path": import.display().to_string() }));
    assert!(
        s.ok("inspect", json!({ "id": old }))["created_at"].as_str().expect("a date").starts_with("2020")
    );
    assert_eq!(back(&s, "v1")["superseded"], 1);
    assert_eq!(s.recall("bridge"), [stays]);
}

#[test]
fn p_layer_c30_a_name_that_is_unknown_changes_nothing() {
    let s = home(7);
    s.remember("the only memory");
    let before = (in_force(&s), audit(&s).len());
    let error = s.reply("snapshot_rollback", json!({ "version_id": "nope" })).expect_err("unknown");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("nope") && error.hint().contains("`snapshot_list`"), "{error}");
    assert_eq!((in_force(&s), audit(&s).len()), before);
}

#[test]
fn p_layer_c31_a_name_is_given_once() {
    let s = home(7);
    s.remember("the first");
    snapshot(&s, "v1");
    s.remember("the second");
    assert_eq!(s.fails("snapshot_create", json!({ "version_id": "v1" })), ErrorKind::Conflict);
    assert_eq!(
        s.fails("snapshot_create", json!({ "version_id": " v1 ", "label": "x" })),
        ErrorKind::Conflict
    );
    assert_eq!(s.ok("snapshot_show", json!({ "version_id": "v1" }))["entries"], 1);
    for name in ["", "  ", &"x".repeat(101), "mem_0123456789"] {
        assert_eq!(s.fails("snapshot_create", json!({ "version_id": name })), ErrorKind::Invalid, "{name}");
    }
}

#[test]
fn p_layer_c21_each_call_is_one_line_with_who_and_layer() {
    let s = home(7);
    let a = s.remember("the well is deep");
    let b = s.ok("update", json!({ "id": a, "text": "the well is 20 m deep" }))["id"].clone();
    snapshot(&s, "v1");
    s.ok("forget", json!({ "id": b }));
    back(&s, "v1");
    let lines = audit(&s);
    let actions: Vec<&str> = lines.iter().map(|(action, ..)| action.as_str()).collect();
    // The rollback keeps what was there before as a snapshot of its own.
    assert_eq!(actions, ["rollback", "snapshot", "forget", "snapshot", "update", "remember"]);
    for (action, outcome, who, layer) in &lines {
        assert_eq!((outcome.as_str(), who.as_str()), ("done", "agent:test"), "{action}");
        let expected = (action != "snapshot").then(|| "P5".to_owned());
        assert_eq!(layer, &expected, "a snapshot is of all layers: {action}");
    }
}

#[test]
fn the_whole_state_comes_back_and_undoing_restores_the_present() {
    let s = home(7);
    let a =
        s.ok("remember", json!({ "text": "the gate opens at six", "confidence": 0.9, "pinned": true }))["id"]
            .clone();
    let b = s.remember("the gate is green");
    snapshot(&s, "v1");
    let then = in_force(&s);
    s.ok("update", json!({ "id": a, "confidence": 0.2, "pinned": false, "tier": "cold", "importance": 0.1 }));
    s.ok("forget", json!({ "id": b }));
    s.remember("the gate was painted red");
    let now = in_force(&s);
    let done = back(&s, "v1");
    assert_eq!(
        [&done["superseded"], &done["restored"], &done["changed"]].map(Value::as_u64),
        [Some(1), Some(1), Some(1)]
    );
    assert_eq!(in_force(&s), then);
    let undo = done["undo"].as_str().expect("a name").to_owned();
    back(&s, &undo);
    assert_eq!(in_force(&s), now);
    assert_eq!(s.ok("inspect", json!({ "id": b }))["status"], "trashed", "forgotten again, as it was");
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn topics_and_contents_that_were_taken_over_are_given_back() {
    let s = home(7);
    let old = s.ok("remember", json!({ "text": "port 5432", "topic_key": "db.port" }))["id"].clone();
    let twin = s.remember("said once");
    snapshot(&s, "v1");
    s.ok("remember", json!({ "text": "port 5433", "topic_key": "db.port" }));
    s.ok("forget", json!({ "id": twin }));
    let again = s.remember("said once");
    assert_ne!(again, twin);
    back(&s, "v1");
    let live: Vec<i64> = in_force(&s).iter().map(|row| row.number).collect();
    assert_eq!(live, [1, 2]);
    assert_eq!(s.ok("inspect", json!({ "id": old }))["status"], "active");
}

#[test]
fn a_rollback_that_touches_a_rule_is_refused_whole_to_an_agent_and_takes_a_human_the_secret() {
    let mut s = home(7);
    become_owner(&mut s);
    acting(&mut s, PrincipalKind::Agent, |s| s.remember("a fact from before"));
    snapshot(&s, "v1");
    s.ok("remember", json!({ "text": "never force-push", "kind": "rule" }));
    acting(&mut s, PrincipalKind::Agent, |s| s.remember("a fact from after"));
    let before = in_force(&s);
    for kind in [PrincipalKind::Agent, PrincipalKind::Tool, PrincipalKind::Cron, PrincipalKind::Gateway] {
        acting(&mut s, kind, |s| {
            assert_eq!(s.fails("snapshot_rollback", json!({ "version_id": "v1" })), ErrorKind::Refused);
            let dry = s.ok("snapshot_rollback", json!({ "version_id": "v1", "dry_run": true }));
            assert!(dry["verdict"].as_str().expect("said").starts_with("refused: P0"), "{dry}");
        });
        assert_eq!(in_force(&s), before, "nothing of it was done");
        let (action, outcome, who, layer) = audit(&s).remove(0);
        assert_eq!(
            (action.as_str(), outcome.as_str(), who, layer.as_deref()),
            ("rollback", "refused", format!("{}:test", kind.as_str()), Some("P0"))
        );
    }
    let secret = s.secret.take();
    let error = s.reply("snapshot_rollback", json!({ "version_id": "v1" })).expect_err("asks for the secret");
    assert_eq!(error.kind(), ErrorKind::ApprovalRequired);
    assert!(error.hint().contains("strata snapshot rollback v1"), "{}", error.hint());
    assert_eq!(in_force(&s), before);
    s.secret = secret;
    let done = back(&s, "v1");
    assert_eq!((done["superseded"].as_u64(), &done["layers"]), (Some(2), &json!(["P0", "P5"])));
    let (_, _, who, layer) = audit(&s).remove(0);
    assert_eq!((who.as_str(), layer.as_deref()), ("system:approval", Some("P0")));
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true, "the approval is signed");
}

#[test]
fn reviving_what_was_a_rule_in_between_counts_as_touching_the_rule() {
    let mut s = home(7);
    become_owner(&mut s);
    let id = s.remember("a habit");
    snapshot(&s, "v1");
    s.ok("update", json!({ "id": id, "layer": "P0" }));
    s.ok("forget", json!({ "id": id }));
    acting(&mut s, PrincipalKind::Agent, |s| {
        assert_eq!(s.fails("snapshot_rollback", json!({ "version_id": "v1" })), ErrorKind::Refused);
    });
}

#[test]
fn an_agent_does_not_reach_what_lies_outside_its_scope() {
    let mut s = home(7);
    s.scope = Scope::project("a");
    s.remember("the tests of a take a minute");
    snapshot(&s, "v1");
    s.remember("the tests of a are flaky");
    s.scope = Scope::project("b");
    s.remember("the tests of b are slow");
    let before = in_force(&s);
    assert_eq!(s.fails("snapshot_rollback", json!({ "version_id": "v1" })), ErrorKind::Refused);
    let dry = s.ok("snapshot_rollback", json!({ "version_id": "v1", "dry_run": true }));
    assert_eq!(dry["verdict"], "refused: outside your scope: 1 memory");
    assert!(!dry.to_string().contains("flaky"), "{dry}");
    let difference = s.ok("snapshot_compare", json!({ "version_id": "v1" }));
    assert_eq!((difference["added"]["count"].as_u64(), difference["hidden"].as_u64()), (Some(1), Some(1)));
    assert!(!difference.to_string().contains("flaky"));
    let shown = s.ok("snapshot_show", json!({ "version_id": "v1" }));
    assert_eq!((shown["entries"].as_u64(), shown["hidden"].as_u64()), (Some(1), Some(1)));
    assert!(!shown.to_string().contains("minute"));
    assert_eq!(in_force(&s), before);
    assert_eq!(audit(&s)[0].1, "refused");
    s.set_kind(PrincipalKind::Human);
    assert_eq!(back(&s, "v1")["superseded"], 2);
}

#[test]
fn a_comparison_names_what_was_added_is_gone_and_changed() {
    let s = home(7);
    let kept = s.ok("remember", json!({ "text": "the roof leaks", "confidence": 0.8 }))["id"].clone();
    let gone = s.remember("the door creaks");
    snapshot(&s, "v1");
    s.ok("update", json!({ "id": kept, "confidence": 0.5 }));
    s.ok("forget", json!({ "id": gone }));
    for n in 0..25 {
        s.remember(&format!("window number {n} is open"));
    }
    snapshot(&s, "v2");
    let now = s.ok("snapshot_compare", json!({ "version_id": "v1" }));
    let two = s.ok("snapshot_compare", json!({ "version_id": "v1", "with": "v2" }));
    for part in ["added", "gone", "changed"] {
        assert_eq!(now[part], two[part]);
    }
    assert_eq!(now["added"]["count"], 25);
    assert_eq!(
        (now["added"]["memories"].as_array().map(Vec::len), &now["added"]["more"]),
        (Some(20), &json!(5))
    );
    assert_eq!(
        (&now["gone"]["memories"][0]["id"], &now["gone"]["memories"][0]["text"]),
        (&json!(gone), &json!("the door creaks"))
    );
    assert_eq!(now["changed"]["memories"][0]["changes"], json!(["confidence 0.80 → 0.50"]));
    let text = s.text("snapshot_compare", json!({ "version_id": "v1" }));
    assert!(text.contains("v1 → now: 25 added, 1 gone, 1 changed") && text.contains("5 more"), "{text}");
    let reverse = s.ok("snapshot_compare", json!({ "version_id": "v2", "with": "v1" }));
    assert_eq!((&reverse["added"]["count"], &reverse["gone"]["count"]), (&json!(1), &json!(25)));
    let same = s.ok("snapshot_compare", json!({ "version_id": "v2" }));
    assert_eq!([&same["added"]["count"], &same["gone"]["count"], &same["changed"]["count"]], [&json!(0); 3]);
}

#[test]
fn a_dry_run_says_what_would_happen_and_does_nothing() {
    let s = home(7);
    let a = s.remember("one");
    snapshot(&s, "v1");
    s.ok("forget", json!({ "id": a }));
    s.remember("two");
    let before = (in_force(&s), audit(&s).len());
    let dry = s.ok("snapshot_rollback", json!({ "version_id": "v1", "dry_run": true }));
    assert_eq!((dry["superseded"].as_u64(), dry["restored"].as_u64()), (Some(1), Some(1)));
    assert_eq!(
        (&dry["would_go"][0]["text"], &dry["would_return"][0]["text"]),
        (&json!("two"), &json!("one"))
    );
    assert_eq!((dry["verdict"].as_str(), dry.get("undo")), (Some("allowed"), None));
    assert_eq!((in_force(&s), audit(&s).len()), before);
}

#[test]
fn what_was_purged_cannot_come_back_and_is_counted() {
    let mut s = home(7);
    become_owner(&mut s);
    let secret = s.remember("the alarm code is on the second page of the blue book");
    s.remember("the alarm rings at night");
    s.ok("snapshot_create", json!({ "version_id": "v1", "label": "alarm code is on the second page" }));
    s.ok("purge", json!({ "id": secret }));
    let later = s.remember("the alarm is off");
    let done = back(&s, "v1");
    assert_eq!((done["purged"].as_u64(), done["superseded"].as_u64()), (Some(1), Some(1)));
    assert!(s.text("snapshot_show", json!({ "version_id": "v1" })).contains("purged since"));
    assert!(!s.recall("alarm").contains(&later));
    assert_eq!(s.ok("snapshot_list", json!({}))["snapshots"][1]["label"], "", "the label repeated its text");
    assert!(crate::maintain_support::holding(s.home.path(), "second page").is_empty());
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn snapshots_are_listed_newest_first_and_secrets_in_labels_are_blacked_out() {
    let s = home(7);
    for n in 0..3 {
        let label = if n == 1 { "token ghp_0123456789abcdefghijABCDEFGHIJ012345" } else { "" };
        s.ok("snapshot_create", json!({ "version_id": format!("v{n}"), "label": label }));
    }
    let list = s.ok("snapshot_list", json!({ "limit": 2 }));
    let names: Vec<&str> = list["snapshots"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|l| l["version_id"].as_str().expect("a name"))
        .collect();
    assert_eq!((names, list["more"].as_u64()), (vec!["v2", "v1"], Some(1)));
    assert!(!list.to_string().contains("ghp_0123456789"), "{list}");
}

#[test]
fn a_rollback_among_writers_restores_the_set_at_its_own_place() {
    let s = home(7);
    for n in 0..20 {
        s.remember(&format!("boat number {n} is moored"));
    }
    snapshot(&s, "v1");
    let then = in_force(&s);
    let other = Session {
        engine: s.reopened(),
        principal: s.principal.clone(),
        scope: Scope::user(),
        secret: None,
        home: strata_testkit::home::TestHome::new().existing(),
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..60 {
                other.remember(&format!("gull number {n} was seen"));
            }
        });
        let mut done = 0;
        while done < 5 {
            // Too many writers at once is an answer, too: it is said, and nothing was done.
            match s.reply("snapshot_rollback", json!({ "version_id": "v1" })) {
                Ok(_) => done += 1,
                Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict),
            }
        }
    });
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let filter = AuditFilter { action: Some("rollback".into()), ..AuditFilter::default() };
    let places = ledger.read(&Control::default(), |r| r.audit(&filter)).expect("read");
    for place in places {
        let set = ledger.read(&Control::default(), |r| r.live_at(place.entry.seq)).expect("read");
        assert_eq!(set, then, "at {}", place.entry.seq);
    }
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn attributes_of_rules_are_compared_shown_and_brought_back() {
    let mut s = home(31);
    become_owner(&mut s);
    let add = |s: &Session, text: &str, priority: i64| {
        s.ok("rules_add", json!({ "text": text, "priority": priority, "layer": "P0" }))["rule"]["id"].clone()
    };
    let (first, second) = (add(&s, "never force-push", 10), add(&s, "run all tests", 20));
    snapshot(&s, "v1");
    s.ok("rules_edit", json!({ "id": first, "priority": 5, "condition": "on main" }));
    s.ok("rules_disable", json!({ "id": second }));
    let before = in_force(&s);
    let compared = s.ok("snapshot_compare", json!({ "version_id": "v1" }));
    let said = compared["changed"].to_string();
    assert_eq!(
        (&compared["changed"]["count"], &compared["added"]["count"]),
        (&json!(2), &json!(0)),
        "{said}"
    );
    for change in ["priority 10 → 5", "condition always → on main", "switch enabled → disabled"] {
        assert!(said.contains(change), "{change}: {said}");
    }
    let shown = s.ok("snapshot_show", json!({ "version_id": "v1" }));
    assert_eq!(shown["rules_changed"], 2, "{shown:#}");
    assert!(s.text("snapshot_show", json!({ "version_id": "v1" })).contains("priority 10 → 5"), "{shown:#}");
    acting(&mut s, PrincipalKind::Agent, |s| {
        assert_eq!(s.fails("snapshot_rollback", json!({ "version_id": "v1" })), ErrorKind::Refused);
    });
    let (action, outcome, who, layer) = audit(&s).remove(0);
    assert_eq!(
        (action.as_str(), outcome.as_str(), who.as_str(), layer.as_deref()),
        ("rollback", "refused", "agent:test", Some("P0")),
        "only attributes would change, and they are a rule's"
    );
    let listed = |s: &Session| s.ok("rules_list", json!({ "all": true }))["rules"].clone();
    assert_eq!((in_force(&s), &listed(&s)[0]["priority"]), (before, &json!(5)), "nothing of it was done");
    let done = back(&s, "v1");
    assert_eq!((&done["rules"], &done["changed"]), (&json!(2), &json!(0)), "{done:#}");
    let rules = listed(&s);
    let of = |id: &Value| rules.as_array().and_then(|all| all.iter().find(|r| r["id"] == *id)).cloned();
    let (first, second) = (of(&first).expect("the first"), of(&second).expect("the second"));
    assert_eq!((&first["priority"], &first["condition"]), (&json!(10), &Value::Null), "{rules:#}");
    assert_eq!(second["enabled"], true);
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
    assert_eq!(s.ok("snapshot_compare", json!({ "version_id": "v1" }))["changed"]["count"], 0);
    back(&s, done["undo"].as_str().expect("a way back"));
    assert_eq!(listed(&s)[0]["priority"], 5, "undone");
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn the_record_of_a_rollback_counts_the_rules_that_took_an_earlier_state() {
    let mut s = home(7);
    become_owner(&mut s);
    let rule =
        s.ok("rules_add", json!({ "text": "never push on Fridays", "priority": 10 }))["rule"]["id"].clone();
    snapshot(&s, "v1");
    s.ok("rules_disable", json!({ "id": rule }));
    let text = s.text("snapshot_rollback", json!({ "version_id": "v1" }));
    assert!(text.contains("1 took an earlier state"), "{text}");
    let lines = s.ok("memory_audit", json!({ "action": "rollback", "target": "v1" }));
    assert_eq!(lines["entries"][0]["detail"], "0 superseded, 0 restored, 1 changed", "{lines}");
}
