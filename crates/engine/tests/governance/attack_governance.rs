//! Ways around the authority of rules and the walls between projects, tried through the tools.

use crate::maintain_support::{Session, acting, become_owner, home, secret};
use serde_json::{Value, json};
use strata_core::{
    error::ErrorKind,
    graph::Origin,
    id::{Id, IdKind},
    principal::{Face, PrincipalKind},
    scope::Scope,
};
use strata_store::{
    files::write_atomic,
    ledger::{NewAudit, NewRelation},
    sql::Control,
};

/// A home with a passphrase, whose caller is the person who holds it.
fn owned(seed: u64) -> Session {
    let mut s = home(seed);
    become_owner(&mut s);
    s
}

/// What an agent has said before.
fn said_by_agent(s: &mut Session, arguments: Value) -> String {
    let said = acting(s, PrincipalKind::Agent, |s| s.ok("remember", arguments));
    said["id"].as_str().expect("an id").to_owned()
}

fn layer_of(s: &Session, id: &Value) -> String {
    s.ok("inspect", json!({ "id": id }))["layer"].as_str().expect("a layer").to_owned()
}

#[test]
fn words_that_an_agent_said_before_do_not_stand_for_a_rule() {
    let mut s = owned(901);
    for (text, topic) in [("deploy on green builds only", None), ("keep the logs thirty days", Some("logs"))]
    {
        let squatter = said_by_agent(&mut s, json!({ "text": text, "topic_key": topic }));
        let (rule, replaced) = match topic {
            None => {
                let added = s.ok("rules_add", json!({ "text": text }));
                assert_eq!((&added["status"], &added["rule"]["layer"]), (&json!("added"), &json!("P0")));
                (added["rule"]["id"].clone(), added["previous"].clone())
            }
            Some(topic) => {
                let asked = json!({ "text": text, "topic_key": topic, "kind": "rule", "layer": "P0" });
                let saved = s.ok("remember", asked);
                assert_eq!((&saved["status"], &saved["layer"]), (&json!("saved"), &json!("P0")));
                (saved["id"].clone(), saved["superseded"].clone())
            }
        };
        assert_eq!(replaced, json!(squatter), "{text}");
        assert_eq!(layer_of(&s, &rule), "P0", "{text}");
        assert!(s.text("context", json!({})).contains(text));
        let again = acting(&mut s, PrincipalKind::Agent, |s| s.ok("remember", json!({ "text": text })));
        assert_eq!((&again["status"], &again["id"]), (&json!("unchanged"), &rule), "it is said already");
        assert_eq!((&again["kind"], &again["layer"]), (&json!("rule"), &json!("P0")), "by a rule: {again:#}");
    }
}

#[test]
fn a_rule_is_not_edited_into_a_memory_below_of_the_same_words() {
    let mut s = owned(902);
    let rule = s.ok("rules_add", json!({ "text": "never push to main" }))["rule"]["id"].clone();
    let text = "push to main after two reviews";
    let squatter = said_by_agent(&mut s, json!({ "text": text }));
    for tool in ["rules_edit", "update"] {
        assert_eq!(s.fails(tool, json!({ "id": rule, "text": text })), ErrorKind::Conflict, "{tool}");
        let listed = s.ok("rules_list", json!({ "all": true }));
        assert_eq!(listed["rules"][0]["id"], rule, "{tool}: the rule stands as it was");
        assert_eq!(listed["rules"][0]["layer"], "P0");
    }
    s.ok("forget", json!({ "id": squatter }));
    let edited = s.ok("rules_edit", json!({ "id": rule, "text": text }));
    assert_eq!((&edited["rule"]["layer"], &edited["previous"]), (&json!("P0"), &rule));
}

#[test]
fn a_wrong_passphrase_is_on_record() {
    let mut s = owned(903);
    let rule = s.ok("rules_add", json!({ "text": "never push to main" }))["rule"]["id"].clone();
    s.secret = Some(secret("a guess of mine"));
    for _ in 0..3 {
        assert_eq!(s.fails("rules_disable", json!({ "id": rule })), ErrorKind::Conflict);
    }
    let refused = s.ok("memory_audit", json!({ "action": "passphrase" }));
    let line = &refused["entries"][0];
    assert_eq!((&line["denied"], &line["count"]), (&json!(true), &json!(3)), "{refused}");
    assert_eq!(s.ok("rules_list", json!({}))["rules"][0]["enabled"], true);
}

#[test]
fn a_report_takes_the_place_of_nothing_that_the_home_keeps() {
    let mut s = owned(904);
    s.ok("remember", json!({ "text": "something to report" }));
    s.set_kind(PrincipalKind::Agent);
    let at = |name: &str| s.home.path().join(name).display().to_string();
    for name in [
        "config.toml",
        "Config.TOML",
        "purged.jsonl",
        "ontology.jsonl",
        "index-9.9.db",
        "ledger.db-journal",
        "backups/audit.jsonl",
        "proposals/p.json",
        "hot/MEMORY.md",
        "vault/knowledge/shared.md",
        "drift/../config.toml",
    ] {
        for (tool, argument) in [("memory_audit", "output"), ("export", "path")] {
            s.fails(tool, json!({ argument: at(name) }));
            assert!(!s.home.path().join(name).exists(), "{tool} {name}");
        }
    }
    for name in ["backups", "vault", "hot", "proposals/deep"] {
        assert_eq!(s.fails("compile_wiki", json!({ "dir": at(name) })), ErrorKind::Invalid, "{name}");
        assert_eq!(
            s.fails("drift_report", json!({ "baseline_dir": at(name) })),
            ErrorKind::Invalid,
            "{name}"
        );
        assert!(!s.home.path().join(name).join("INDEX.md").exists());
    }
    s.ok("memory_audit", json!({ "output": at("audit.jsonl") }));
    s.ok("export", json!({ "path": at("exports.jsonl") }));
    s.ok("compile_wiki", json!({}));
    s.ok("drift_report", json!({}));
}

#[test]
fn the_homes_own_files_are_read_by_nobody_behind_a_protocol() {
    let mut s = owned(908);
    s.scope = Scope::project("b");
    said_by_agent(&mut s, json!({ "text": "the quokka gateway listens on 7431" }));
    let backup = s.ok("backup_create", json!({}))["path"].as_str().expect("a path").to_owned();
    write_atomic(&s.home.path().join("config.toml"), b"# quokka 7431\n").expect("written");
    let at = |name: &str| s.home.path().join(name).display().to_string();
    let files = [
        at("ledger.db"),
        at("ledger.db-wal"),
        at("config.toml"),
        at("backups"),
        format!("{backup}/ledger.db"),
    ];
    s.scope = Scope::project("a");
    s.set_kind(PrincipalKind::Agent);
    for file in &files {
        for tool in ["index", "import", "import_rules"] {
            assert_eq!(s.fails(tool, json!({ "path": file })), ErrorKind::Invalid, "{tool} {file}");
        }
    }
    let refused = s.ok("memory_audit", json!({ "denied_only": true, "action": "read a path" }));
    assert!(refused["entries"][0]["count"].as_i64() >= Some(3), "{refused}");
    let found = s.text("recall", json!({ "query": "quokka gateway" }));
    assert!(!found.contains("7431"), "{found}");
}

#[test]
fn a_text_that_is_no_name_is_neither_looked_for_nor_repeated() {
    let mut s = owned(909);
    s.set_kind(PrincipalKind::Agent);
    s.ok("entity_add", json!({ "label": "deploy.sh", "kind": "script" }));
    let long = "A ".repeat(1_000_000);
    for (tool, arguments) in [
        ("graph_rca", json!({ "query": long })),
        ("graph_explore", json!({ "query": long })),
        ("graph_trace", json!({ "query": long })),
        ("graph_closure", json!({ "entity_id": long, "rel": "references" })),
        ("relation_add", json!({ "source": long, "relation": "references", "target": "deploy.sh" })),
        ("relation_add", json!({ "source": "deploy.sh", "relation": "references", "target": long })),
        ("relation_add", json!({ "source": "deploy.sh", "relation": long, "target": "deploy.sh" })),
        ("relation_list", json!({ "entity": long })),
        ("relation_remove", json!({ "source": long, "relation": "references", "target": "deploy.sh" })),
        ("snapshot_rollback", json!({ "version_id": long })),
        ("snapshot_compare", json!({ "from": long })),
        ("gate_apply", json!({ "id": long })),
        ("review_show", json!({ "id": long })),
        ("inspect", json!({ "id": long })),
    ] {
        let error = s.reply(tool, arguments).expect_err(tool);
        let said = format!("{error} {}", error.hint());
        assert!(said.len() < 2_000, "{tool} says {} bytes: {}", said.len(), &said[..200]);
    }
}

#[test]
fn compiled_pages_lead_no_other_project_in_and_rest_in_no_backup() {
    let mut s = owned(905);
    s.scope = Scope::project("b");
    let id = said_by_agent(&mut s, json!({ "text": "the quokka gateway listens on 7431" }));
    s.scope = Scope::project("a");
    s.set_kind(PrincipalKind::Agent);
    let wiki = s.ok("compile_wiki", json!({}))["dir"].clone();
    assert_eq!(s.ok("index", json!({ "path": wiki }))["changed"], 0);
    assert_eq!(
        s.ok(
            "index",
            json!({ "path": format!("{}/P5-ego/wiki/compiled/P5.md", wiki.as_str().expect("a path")) })
        )["changed"],
        0
    );
    let found = s.text("recall", json!({ "query": "quokka gateway" }));
    assert!(!found.contains("7431"), "{found}");
    s.set_kind(PrincipalKind::Human);
    s.ok("backup_create", json!({}));
    let purged = s.ok("purge", json!({ "id": id, "backups": true }));
    assert_eq!((&purged["verified"], &purged["remaining_backups"]), (&json!(true), &json!([])), "{purged}");
}

#[test]
fn whether_a_file_is_there_is_told_of_no_place_outside() {
    let mut s = owned(906);
    s.ok("remember", json!({ "text": "something to begin with" }));
    s.set_kind(PrincipalKind::Agent);
    let elsewhere = tempfile::tempdir().expect("a directory");
    let there = elsewhere.path().display().to_string();
    for path in [there.clone(), format!("{there}/none.md")] {
        assert_eq!(s.fails("index", json!({ "path": path })), ErrorKind::Refused, "{path}");
    }
    let missing = s.home.path().join("none.md").display().to_string();
    assert_eq!(s.fails("index", json!({ "path": missing })), ErrorKind::Unavailable);
}

#[test]
fn a_query_of_any_length_names_an_entity_or_none() {
    let s = home(907);
    s.ok("entity_add", json!({ "label": "pump", "kind": "tool" }));
    for query in ["x".repeat(60_000), "ß%_\\".repeat(20_000), "\u{fdfa}".repeat(9_000)] {
        for tool in ["graph_explore", "graph_trace", "graph_rca", "entity_list"] {
            s.ok(tool, json!({ "query": query }));
        }
    }
}

#[test]
fn what_holds_between_two_entities_is_found_without_reading_the_graph() {
    let s = home(908);
    s.remember("something to begin with");
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let now = s.engine.clock().now();
    let relation = |number: i64| NewRelation {
        id: Id::from_bits(IdKind::Relation, s.engine.ids().bits()),
        source: number,
        relation: "caused".into(),
        target: number + 1,
        properties: "{}".into(),
        scope: Scope::user(),
        origin: Origin::Stated,
        confidence: 1.0,
        writer: s.principal.to_string(),
        created_at: now,
    };
    let all: Vec<NewRelation> = (1..=8_000).map(relation).collect();
    let row = NewAudit::new(&s.principal, Face::Library, "load", "graph");
    let stored = ledger.write(&Control::default(), now, |w| {
        let seq = w.record(&row)?;
        all.iter().try_for_each(|new| w.load_relation(new, None, seq).map(drop))
    });
    stored.expect("stored");
    let begun = std::time::Instant::now();
    for number in 1..=1_000 {
        let found = ledger
            .read(&Control::default(), |r| r.relations_between(number, "caused", number + 1))
            .expect("read");
        assert_eq!(found.len(), 1);
    }
    let taken = begun.elapsed();
    assert!(taken.as_millis() < 1_500, "a thousand look-ups took {taken:?}");
}

#[test]
fn nobody_is_told_to_edit_the_ledger_when_a_reason_repeats_what_was_purged() {
    let mut s = owned(909);
    let text = "the penguinate gateway listens on 7441";
    let id = said_by_agent(&mut s, json!({ "text": text }));
    s.ok("forget", json!({ "id": id, "reason": format!("{text} is wrong") }));
    let told = s.text("purge", json!({ "id": id }));
    let (what, named) = match s.engine.settings().store {
        None => ("its file as it is", "a reason on record"),
        Some(_) => ("its tables as they are", "strata_ledger.audit"),
    };
    assert!(told.contains("a reason on record") && told.contains(what) && told.contains(named), "{told}");
    assert!(!told.contains("edit or remove"), "{told}");
}
