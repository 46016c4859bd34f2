//! The gate before the ontology: no way around a person's approval, and files that stay whole.

#![allow(clippy::needless_pass_by_value, reason = "calls read best with `json!` as they stand")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::maintain_support::{acting, become_owner, home, secret, support::Session};
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, principal::PrincipalKind};
use strata_store::files::write_atomic;

fn owner() -> Session {
    let mut s = home(59);
    become_owner(&mut s);
    s
}

fn ontology(s: &Session) -> PathBuf {
    s.home.path().join("ontology.jsonl")
}

fn proposal_file(s: &Session, id: &str) -> PathBuf {
    s.home.path().join(format!("proposals/{id}.json"))
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).expect("a readable file")
}

fn put(path: &Path, text: &str) {
    write_atomic(path, text.as_bytes()).expect("written");
}

fn propose(s: &Session, id: &str, more: Value) -> Value {
    let mut arguments = json!({
        "id": id, "type": "policy", "space": "deploy", "title": "Never deploy on Friday", "file": "rules/deploy.md",
        "source": "incident 12",
    });
    arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    s.ok("gate_propose", arguments)
}

fn step(s: &Session, step: &str, id: &str) -> bool {
    let reply = s.reply(&format!("gate_{step}"), json!({ "id": id })).expect("a verdict");
    assert_eq!(reply.json["ok"] == false, reply.is_alarming, "a refusal ends with exit code 1");
    reply.json["ok"].as_bool().expect("a verdict")
}

fn lines(s: &Session) -> usize {
    text(&ontology(s)).lines().count()
}

fn audited(s: &Session, id: &str) -> Vec<String> {
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let filter = strata_store::ledger::AuditFilter { target: Some(id.into()), ..Default::default() };
    let rows = ledger.read(&strata_store::sql::Control::default(), |r| r.audit(&filter)).expect("rows");
    rows.into_iter().rev().map(|r| format!("{} {}", r.entry.action, r.entry.outcome.as_str())).collect()
}

#[test]
fn p_layer_c59_propose_approve_apply_deprecate() {
    let s = owner();
    assert_eq!(propose(&s, "friday", json!({ "links": ["a", "b"] }))["ok"], true);
    assert_eq!(propose(&s, "friday", json!({}))["ok"], false, "not proposed twice");
    assert!(!step(&s, "apply", "friday"), "not before it is approved");
    assert!(!step(&s, "deprecate", "friday"), "not before it is approved");
    assert!(!ontology(&s).exists());
    assert!(step(&s, "approve", "friday"));
    assert!(step(&s, "approve", "friday"), "again changes nothing");
    assert_eq!(s.ok("gate_fresh", json!({}))["open_proposals"], 1);
    assert!(step(&s, "apply", "friday"));
    assert!(step(&s, "apply", "friday"), "again changes nothing");
    assert_eq!(lines(&s), 1);
    let entry: Value = serde_json::from_str(&text(&ontology(&s))).expect("one line of JSON");
    assert_eq!((&entry["id"], &entry["links"]), (&json!("friday"), &json!(["a", "b"])));
    assert!(!step(&s, "approve", "friday"), "applied is settled");
    assert!(step(&s, "deprecate", "friday"));
    assert!(step(&s, "deprecate", "friday"), "again changes nothing");
    assert!(!step(&s, "approve", "friday") && !step(&s, "apply", "friday"), "it never comes back");
    assert_eq!(lines(&s), 1, "the ontology is as it was");
    assert_eq!(
        audited(&s, "friday"),
        ["gate_propose done", "gate_approve done", "gate_apply done", "gate_deprecate done"]
    );
    let good = s.ok("gate_validate", json!({}));
    assert_eq!((&good["ok"], &good["count"]), (&json!(true), &json!(1)));
    let file = text(&ontology(&s));
    for (damage, what) in
        [("{broken\n", "2: not JSON"), (file.as_str(), "2: duplicate id 'friday' (first at 1)")]
    {
        put(&ontology(&s), &format!("{file}{damage}"));
        let reply = s.reply("gate_validate", json!({})).expect("a verdict");
        assert!(reply.is_alarming && reply.json["ok"] == false);
        assert!(reply.json["errors"][0].as_str().is_some_and(|e| e.starts_with(what)), "{}", reply.json);
        assert_eq!(s.ok("gate_fresh", json!({}))["status"], "failure");
    }
}

#[test]
fn p_layer_c60_no_id_leaves_the_folder_and_no_missing_line_end_spoils_a_line() {
    let s = owner();
    let outside = s.home.path().join("x.json");
    put(&outside, "{\"status\": \"proposed\"}");
    for id in ["../../x", "../x", "..\\x", "/etc/x", "a\u{0}b", "CON", ".", ""] {
        for step in ["approve", "apply", "deprecate", "retire"] {
            assert_eq!(
                s.fails(&format!("gate_{step}"), json!({ "id": id })),
                ErrorKind::Invalid,
                "{step} {id:?}"
            );
        }
        let arguments =
            json!({ "id": id, "type": "policy", "space": "s", "title": "t", "file": "f", "source": "x" });
        assert_eq!(s.fails("gate_propose", arguments), ErrorKind::Invalid, "{id:?}");
    }
    assert_eq!(text(&outside), "{\"status\": \"proposed\"}");
    let first = "{\"id\":\"a\",\"type\":\"policy\",\"space\":\"s\",\"title\":\"t\",\"file\":\"f\"}";
    put(&ontology(&s), first);
    propose(&s, "b", json!({}));
    assert!(step(&s, "approve", "b") && step(&s, "apply", "b"));
    let file = text(&ontology(&s));
    assert!(file.starts_with(&format!("{first}\n")) && file.ends_with('\n'), "{file}");
    assert_eq!(s.ok("gate_validate", json!({}))["count"], 2);
}

#[test]
fn only_a_person_with_the_secret_approves_gives_up_and_retires() {
    let mut s = owner();
    propose(&s, "friday", json!({}));
    for kind in [PrincipalKind::Agent, PrincipalKind::Tool, PrincipalKind::Cron, PrincipalKind::Gateway] {
        acting(&mut s, kind, |s| {
            for step in ["approve", "deprecate", "retire"] {
                let refused = s.fails(&format!("gate_{step}"), json!({ "id": "friday" }));
                let told_how = step == "approve";
                assert_eq!(refused, if told_how { ErrorKind::ApprovalRequired } else { ErrorKind::Refused });
            }
            assert!(!step(s, "apply", "friday"));
        });
    }
    let secret = s.secret.take();
    for step in ["approve", "deprecate", "retire"] {
        assert_eq!(s.fails(&format!("gate_{step}"), json!({ "id": "friday" })), ErrorKind::ApprovalRequired);
    }
    s.secret = secret;
    let refusals = audited(&s, "friday").into_iter().filter(|row| row.ends_with("refused")).count();
    assert!(refusals >= 12, "each is on record: {:?}", audited(&s, "friday"));
    assert!(step(&s, "approve", "friday"));
    // What a person approved the system applies, whoever asks.
    acting(&mut s, PrincipalKind::Agent, |s| assert!(step(s, "apply", "friday")));
    assert_eq!(lines(&s), 1);
}

/// An agent can edit the file; that moves nothing.
#[test]
fn an_approval_written_by_hand_or_borrowed_is_none() {
    let mut s = owner();
    propose(&s, "good", json!({}));
    propose(&s, "bad", json!({ "title": "Always deploy on Friday" }));
    assert!(step(&s, "approve", "good"));
    let signed: Value = serde_json::from_str(&text(&proposal_file(&s, "good"))).expect("JSON");
    let honest: Value = serde_json::from_str(&text(&proposal_file(&s, "bad"))).expect("JSON");
    acting(&mut s, PrincipalKind::Agent, |s| {
        let mut forged = honest.clone();
        forged["status"] = json!("approved");
        let mut borrowed = forged.clone();
        borrowed["approval"] = signed["approval"].clone();
        let mut applied = honest.clone();
        applied["status"] = json!("applied");
        for attempt in [&forged, &borrowed, &applied] {
            put(&proposal_file(s, "bad"), &attempt.to_string());
            assert!(!step(s, "apply", "bad"), "{attempt}");
        }
        let mut changed = signed.clone();
        changed["entry"]["title"] = json!("Always deploy on Friday");
        put(&proposal_file(s, "good"), &changed.to_string());
        assert!(!step(s, "apply", "good"), "it does not say what was approved");
    });
    assert!(!ontology(&s).exists());
    // Another key is not this home's.
    let mut other = home(60);
    other.secret = Some(secret("another passphrase"));
    other.set_kind(PrincipalKind::Human);
    other.ok("init", json!({}));
    propose(&other, "bad", json!({}));
    assert!(step(&other, "approve", "bad"));
    put(&proposal_file(&s, "bad"), &text(&proposal_file(&other, "bad")));
    assert!(!step(&s, "apply", "bad"));
    put(&proposal_file(&s, "good"), &signed.to_string());
    assert!(step(&s, "apply", "good"), "what was approved still applies");
}

/// Between proposing and approving an agent can edit the file; a person signs what was proposed or nothing.
#[test]
fn what_was_changed_after_it_was_proposed_is_not_approved() {
    let s = owner();
    propose(&s, "friday", json!({}));
    let honest = text(&proposal_file(&s, "friday"));
    for (from, to) in [
        ("Never deploy", "Always deploy"),
        ("incident 12", "everybody wants it"),
        ("human:test", "human:somebody"),
        ("rules/deploy.md", "rules/other.md"),
    ] {
        let changed = honest.replace(from, to);
        assert_ne!(changed, honest, "{from}");
        put(&proposal_file(&s, "friday"), &changed);
        let refused = s.reply("gate_approve", json!({ "id": "friday" })).expect_err("refused");
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{from}");
        assert!(refused.to_string().contains("changed after it was proposed"), "{refused}");
        assert!(refused.hint().contains("propose again"), "{}", refused.hint());
        assert_eq!(text(&proposal_file(&s, "friday")), changed, "nothing is signed");
    }
    assert!(!audited(&s, "friday").contains(&"gate_approve done".to_owned()));
    put(&proposal_file(&s, "friday"), &honest);
    assert!(step(&s, "approve", "friday") && step(&s, "apply", "friday"));

    // Nor an earlier proposal of the same id in place of the one that waits.
    propose(&s, "again", json!({ "title": "Always deploy" }));
    let earlier = text(&proposal_file(&s, "again"));
    fs::remove_file(proposal_file(&s, "again")).expect("removed");
    propose(&s, "again", json!({}));
    put(&proposal_file(&s, "again"), &earlier);
    assert_eq!(s.fails("gate_approve", json!({ "id": "again" })), ErrorKind::Conflict);
}

/// What was written by another program has no proposal on record to differ from.
#[test]
fn a_proposal_from_elsewhere_can_still_be_approved() {
    let s = owner();
    propose(&s, "friday", json!({}));
    let foreign = text(&proposal_file(&s, "friday")).replace("\"friday\"", "\"monday\"");
    put(&proposal_file(&s, "monday"), &foreign);
    assert!(step(&s, "approve", "monday") && step(&s, "apply", "monday"));
}

#[test]
fn what_was_given_up_or_applied_cannot_be_brought_back_by_its_old_file() {
    let s = owner();
    propose(&s, "a", json!({}));
    step(&s, "approve", "a");
    let approved = text(&proposal_file(&s, "a"));
    assert!(step(&s, "deprecate", "a"));
    put(&proposal_file(&s, "a"), &approved);
    assert!(!step(&s, "apply", "a") && !step(&s, "approve", "a"));
    // Nor by changing it before it is given up, and back afterwards.
    propose(&s, "c", json!({}));
    step(&s, "approve", "c");
    let approved = text(&proposal_file(&s, "c"));
    put(&proposal_file(&s, "c"), &approved.replace("Never deploy", "Rarely deploy"));
    assert!(step(&s, "deprecate", "c"));
    put(&proposal_file(&s, "c"), &approved);
    assert!(!step(&s, "apply", "c") && !step(&s, "approve", "c"));
    std::fs::remove_file(proposal_file(&s, "c")).expect("removed");
    propose(&s, "c", json!({}));
    assert!(step(&s, "approve", "c") && step(&s, "apply", "c"), "a new proposal of that id is another");
    put(&ontology(&s), "");
    propose(&s, "b", json!({}));
    step(&s, "approve", "b");
    let approved = text(&proposal_file(&s, "b"));
    assert!(step(&s, "apply", "b"));
    put(&ontology(&s), "");
    put(&proposal_file(&s, "b"), &approved);
    assert!(!step(&s, "apply", "b"), "it was applied, and somebody took it out");
}

#[test]
fn an_entry_that_exists_is_not_replaced_but_retired_by_its_own_proposal() {
    let s = owner();
    put(
        &ontology(&s),
        "{\"id\":\"x\",\"type\":\"policy\",\"space\":\"s\",\"title\":\"old\",\"file\":\"f\"}\n",
    );
    propose(&s, "new-x", json!({ "target": "x" }));
    assert!(step(&s, "approve", "new-x"));
    assert!(!step(&s, "apply", "new-x"), "refused, not silently kept");
    assert!(step(&s, "retire", "new-x"));
    assert_eq!(text(&ontology(&s)), "");
    assert!(step(&s, "retire", "new-x"), "again changes nothing");
    propose(&s, "ghost", json!({ "target": "nowhere" }));
    step(&s, "approve", "ghost");
    assert!(!step(&s, "retire", "ghost"));
    // A step that was cut off after the line was added is completed, not doubled.
    propose(&s, "y", json!({}));
    step(&s, "approve", "y");
    let approved = text(&proposal_file(&s, "y"));
    step(&s, "apply", "y");
    assert!(!step(&s, "retire", "y"), "what added it does not remove it, and does not say that all is done");
    put(&proposal_file(&s, "y"), &approved);
    assert!(step(&s, "apply", "y"));
    assert_eq!(lines(&s), 1);
    assert_eq!(audited(&s, "y").iter().filter(|row| *row == "gate_apply done").count(), 1);
}

#[test]
fn broken_files_are_errors_and_nothing_is_written_over_them() {
    let s = owner();
    assert_eq!(s.fails("gate_approve", json!({ "id": "none" })), ErrorKind::NotFound);
    propose(&s, "a", json!({}));
    step(&s, "approve", "a");
    put(&ontology(&s), "{broken\n");
    assert!(!step(&s, "apply", "a"));
    assert_eq!(text(&ontology(&s)), "{broken\n");
    put(&proposal_file(&s, "a"), "not JSON");
    assert_eq!(s.fails("gate_apply", json!({ "id": "a" })), ErrorKind::Conflict);
    assert_eq!(s.ok("gate_fresh", json!({}))["ok"], false);
    put(&proposal_file(&s, "b"), &text(&proposal_file(&s, "a")));
    assert!(write_atomic(&ontology(&s), b"\xff\xfe").is_ok());
    assert_eq!(s.fails("gate_validate", json!({})), ErrorKind::Invalid);
    #[cfg(unix)]
    {
        let target = s.home.path().join("elsewhere.json");
        put(&target, "{}");
        std::os::unix::fs::symlink(&target, proposal_file(&s, "link")).expect("linked");
        assert_eq!(s.fails("gate_approve", json!({ "id": "link" })), ErrorKind::Conflict);
        assert_eq!(text(&target), "{}");
    }
}

#[test]
fn secrets_in_a_proposal_are_blacked_out() {
    let s = owner();
    let key = format!("ghp_{}", "a1B2c3D4".repeat(5));
    propose(&s, "a", json!({ "title": format!("use {key}"), "source": key, "links": [key] }));
    assert!(!text(&proposal_file(&s, "a")).contains(&key));
}

#[test]
fn the_places_are_configured() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut s = Session::with_settings(|settings| {
        settings.config.gate.ontology = Some(folder.path().join("deep/p0.jsonl"));
        settings.config.gate.proposals = Some(folder.path().join("rule_proposals"));
    });
    become_owner(&mut s);
    propose(&s, "a", json!({}));
    assert!(step(&s, "approve", "a") && step(&s, "apply", "a"));
    assert!(
        folder.path().join("deep/p0.jsonl").is_file()
            && folder.path().join("rule_proposals/a.json").is_file()
    );
}
