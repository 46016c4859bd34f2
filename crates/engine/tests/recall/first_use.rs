//! What somebody who meets the product for the first time reads: refusals, hints and numbers.

use crate::maintain_support::{Session, become_owner, home};
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, principal::PrincipalKind};

/// A home with a passphrase, whose caller is the person who holds it.
fn owned(seed: u64) -> Session {
    let mut s = home(seed);
    become_owner(&mut s);
    s
}

fn rule(s: &Session, text: &str) -> Value {
    s.ok("rules_add", json!({ "text": text }))["rule"]["id"].clone()
}

#[test]
fn a_refusal_is_on_record_under_the_name_of_what_was_tried() {
    let mut s = owned(11);
    let id = rule(&s, "never log card numbers");
    s.set_kind(PrincipalKind::Agent);
    let attempts = [
        ("rules_add", "rule_add", json!({ "text": "log everything" })),
        ("rules_edit", "rule_edit", json!({ "id": id, "text": "log card numbers" })),
        ("rules_edit", "rule_edit", json!({ "id": id, "priority": 900 })),
        ("rules_disable", "rule_disable", json!({ "id": id })),
        ("rules_enable", "rule_enable", json!({ "id": id })),
        ("update", "update", json!({ "id": id, "text": "log card numbers" })),
        ("remember", "remember", json!({ "text": "log card numbers", "layer": "P0" })),
        ("forget", "forget", json!({ "id": id })),
    ];
    for (tool, action, arguments) in attempts {
        let count = |s: &Session| {
            let asked = json!({ "action": action, "outcome": "refused" });
            let lines = s.ok("memory_audit", asked)["entries"].as_array().expect("entries").clone();
            lines.iter().map(|line| line["count"].as_i64().unwrap_or(1)).sum::<i64>()
        };
        let before = count(&s);
        let error = s.reply(tool, arguments).expect_err("refused").to_string();
        assert_eq!(count(&s), before + 1, "{tool}: {error}");
        assert!(error.contains(&format!("does not allow {action} by")), "{error}");
    }
}

#[test]
fn a_refusal_speaks_of_proposing_only_where_there_is_something_to_propose() {
    let mut s = owned(12);
    let id = rule(&s, "never log card numbers");
    s.ok("snapshot_create", json!({ "version_id": "strict" }));
    s.ok("rules_disable", json!({ "id": id }));
    s.set_kind(PrincipalKind::Agent);
    let hint = |tool: &str, arguments: Value| s.reply(tool, arguments).expect_err("refused").hint();
    for (tool, arguments) in [
        ("forget", json!({ "id": id })),
        ("rules_enable", json!({ "id": id })),
        ("snapshot_rollback", json!({ "version_id": "strict" })),
    ] {
        let said = hint(tool, arguments);
        assert!(said.contains("a person") && !said.contains("reflect"), "{tool}: {said}");
    }
    let change = hint("update", json!({ "id": id, "text": "log card numbers" }));
    assert!(change.contains("`reflect`") && change.contains("`amends`"), "{change}");
    let raw = hint("remember", json!({ "text": "user: hello", "layer": "P2" }));
    assert!(raw.contains("P5") && raw.contains("`episode_record`"), "{raw}");
}

/// A client knows tools; a command is for it only where a person has to run it.
#[test]
fn hints_name_tools_where_there_are_tools() {
    let s = owned(13);
    let id = s.remember("the port is 8443");
    s.ok("snapshot_create", json!({ "version_id": "v1" }));
    s.ok("forget", json!({ "id": id }));
    let rule = rule(&s, "never log card numbers");
    s.remember("the webhook port is 8443");
    s.remember("the webhook port is 9443");
    let mut said = vec![s.text("contradictions", json!({})), s.text("review_list", json!({}))];
    let review = s.ok("review_list", json!({}))["reviews"][0]["id"].clone();
    said.push(s.text("review_show", json!({ "id": review })));
    for (tool, arguments) in [
        ("snapshot_create", json!({ "version_id": "v1" })),
        ("snapshot_rollback", json!({ "version_id": "nope" })),
        ("rules_enable", json!({ "id": rule })),
        ("review_approve", json!({ "id": review })),
    ] {
        said.push(s.reply(tool, arguments).expect_err("an error").hint());
    }
    said.push(s.text("snapshot_rollback", json!({ "version_id": "v1" })));
    for text in said {
        for command in ["snapshot", "review show", "review resolve", "rules list", "govern", "graph"] {
            assert!(!text.contains(&format!("`strata {command}")), "{text}");
        }
    }
}

#[test]
fn nothing_is_said_twice_in_a_pack() {
    let s = owned(14);
    let file = s.home.path().join("rules-to-import.md");
    let text = "## [P0] Never ship on Friday\npriority: 5\n\nNobody is there on Saturday.\n";
    strata_store::files::write_atomic(&file, text.as_bytes()).expect("written");
    s.ok("import_rules", json!({ "path": file.display().to_string() }));
    s.ok("remember", json!({ "text": "# Port\nThe port is 8443.", "title": "Port" }));
    s.ok("remember", json!({ "text": "The mill grinds rye.", "title": "About the mill" }));
    for tool in ["context", "assemble"] {
        let pack = s.text(tool, json!({}));
        let mut seen = std::collections::BTreeSet::new();
        let lines = pack.lines().map(|line| line.trim().to_lowercase());
        for line in lines.filter(|l| !l.is_empty() && !l.contains("strata-memory")) {
            assert!(seen.insert(line.clone()), "`{line}` twice in {pack}");
        }
        assert_eq!(pack.matches("Never ship on Friday").count(), 1, "{pack}");
        assert_eq!(pack.matches("Port").count(), 1, "{pack}");
        assert!(pack.contains("About the mill"), "a title that adds something stays: {pack}");
    }
}

#[test]
fn a_rule_that_clients_are_given_is_alive() {
    let s = owned(15);
    rule(&s, "never log card numbers");
    let idle = s.ok("drift_report", json!({}));
    assert_eq!(idle["rules"]["used_7d"], 0);
    assert!(idle["alerts"].to_string().contains("no rule was"), "{idle}");
    s.text("context", json!({ "query": "card payments" }));
    s.remember("uses go along with the next memory");
    let alive = s.ok("drift_report", json!({}));
    assert_eq!((&alive["rules"]["used_7d"], &alive["alerts"]), (&json!(1), &json!([])), "{alive}");
}

#[test]
fn the_drift_report_answers_its_three_questions_on_every_face() {
    let s = owned(16);
    let first = s.text("drift_report", json!({}));
    assert!(first.contains("the first report"), "{first}");
    let second = s.text("drift_report", json!({}));
    assert!(!second.contains("the first report"), "{second}");
    for question in ["being distilled?", "rules alive?", "silent failures?"] {
        assert!(second.contains(question), "{second}");
    }
}

#[test]
fn one_is_not_said_as_many() {
    let s = owned(17);
    s.ok("graph_rca", json!({ "query": "nothing" }));
    s.ok("entity_add", json!({ "label": "PortOne", "kind": "tool" }));
    s.remember("the mill grinds rye and wheat, and on Sundays nothing at all");
    let said = [
        s.text("memory_stats", json!({})),
        s.text("contradictions", json!({})),
        s.text("assemble", json!({ "budget_chars": 60 })),
    ]
    .concat();
    for wrong in ["1 entities", "1 relations", "1 memories", "1 refusals", "1 lines"] {
        let padded = format!(" {said}").replace('\n', " ");
        assert!(!padded.contains(&format!(" {wrong}")), "`{wrong}` in {said}");
    }
    assert!(said.contains("1 entity") && said.contains("1 memory did not fit"), "{said}");
}

#[test]
fn a_folder_of_incidents_that_is_not_there_is_told() {
    let s = owned(18);
    let text = s.text("import_incidents", json!({ "path": "/nowhere/at/all" }));
    assert!(text.contains("no folder") && text.contains("/nowhere/at/all"), "{text}");
}

#[test]
fn what_nobody_can_see_is_no_text() {
    let s = owned(19);
    for blank in ["", " \n\t", "\u{3000}", "\u{200b}", "\u{feff}", "\u{200b} \u{200d}\u{3164}"] {
        for (tool, field) in [
            ("remember", "text"),
            ("rules_add", "text"),
            ("episode_record", "text"),
            ("reflect", "text"),
            ("snapshot_create", "version_id"),
        ] {
            let error = s.reply(tool, json!({ field: blank })).expect_err("nothing to store");
            assert_eq!(error.kind(), ErrorKind::Invalid, "{tool} {blank:?}: {error}");
        }
    }
    assert_eq!(s.ok("memory_stats", json!({}))["knowledge"], 0);
    s.remember("नमस्ते ✔️ ‌visible words with marks stay");
}

#[test]
fn an_argument_under_two_names_is_not_dropped_in_silence() {
    let s = owned(20);
    for arguments in [json!({ "fact": "one", "text": "two" }), json!({ "content": "one", "fact": "two" })] {
        let error = s.reply("remember", arguments).expect_err("which of them?");
        assert!(error.to_string().contains("`text`: is given twice"), "{error}");
    }
    s.ok("remember", json!({ "fact": "the same", "text": "the same", "kind": "fact", "type": "fact" }));
}
