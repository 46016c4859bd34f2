//! Two tenants of one database: whatever one of them calls, with whatever it has learned of the other's ids and names,
//! it is told nothing of the other's and changes nothing there. The operations come from the table of operations, so
//! that a new one is looked at too.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use crate::maintain_support::{Session, become_owner, holding, secret, support, tell};
use serde_json::{Value, json};
use strata_core::{
    principal::{Principal, PrincipalKind},
    scope::Scope,
};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    engine::Engine,
    operation::{Effect, Entry},
    registry::OPERATIONS,
    settings::Settings,
};
use strata_store::Server;
use strata_testkit::{
    home::TestHome,
    store::{TestDatabase, TestStore},
};

/// What the other tenant asks for: it stands in every text and name of the first.
const ASKED: &str = "quillwater";
/// What it is never told: it stands beside it, and in no argument.
const TOLD: &str = "ambervale";

/// These make up what they measure, in a home or a tenant of their own.
const MEASURES: [&str; 5] = ["bench", "eval_locomo", "eval_jsonl", "eval_suite", "eval_acl"];

fn tenant(database: &TestDatabase, name: &str, seed: u64) -> Session {
    let home = TestHome::on(TestStore::Sqlite).existing();
    let store = Some(Server::parse(&database.url(), name).expect("an address"));
    let engine = Engine::with_sources(
        Settings { store, ..home.settings() },
        Box::new(ManualClock::at(support::NOON)),
        Box::new(SeededIds::new(seed)),
    );
    let principal = Principal::new(PrincipalKind::Human, "test");
    let mut s = Session { engine, principal, scope: Scope::user(), secret: None, home };
    s.secret = Some(secret("correct horse"));
    become_owner(&mut s);
    s
}

/// What somebody may have learned of a tenant: ids and names of everything it holds.
struct Known {
    ids: Vec<String>,
    names: Vec<String>,
}

/// Some of everything that a ledger holds.
fn furnished(s: &Session) -> (Vec<String>, Vec<String>) {
    let text = |what: &str| format!("the {ASKED} {what} is kept by the {TOLD} guild");
    let mut ids = Vec::new();
    let mut kept = |reply: &Value| ids.extend(reply["id"].as_str().map(str::to_owned));
    kept(&s.ok(
        "rules_add",
        json!({ "text": text("rule"), "condition": format!("{TOLD} work"), "priority": 3 }),
    ));
    let memory = s.ok(
        "remember",
        json!({
            "text": text("mill"), "title": format!("{ASKED} {TOLD}"), "tags": [ASKED, TOLD], "session": ASKED,
            "topic_key": ASKED, "kind": "decision", "source": format!("{ASKED} {TOLD}"),
            "evidence": [format!("note: {TOLD}")], "metadata": { "by": TOLD },
        }),
    );
    kept(&memory);
    kept(&s.ok("update", json!({ "id": memory["id"], "text": text("weir"), "reason": TOLD })));
    let gone = s.ok("remember", json!({ "text": text("barn") }));
    kept(&gone);
    s.ok("forget", json!({ "id": gone["id"], "reason": TOLD }));
    for (label, kind) in [(ASKED.to_owned(), "tool"), (format!("{TOLD} depot"), "service")] {
        s.ok("entity_add", json!({ "label": label, "kind": kind, "properties": { "note": TOLD } }));
    }
    s.ok(
        "relation_add",
        json!({ "source": ASKED, "relation": "relates_to", "target": format!("{TOLD} depot"), "properties": { "why": TOLD } }),
    );
    for turn in 0..3 {
        let said = format!("turn {turn} about the {ASKED} sluice and the {TOLD} guild");
        ids.push(tell(s, ASKED, &said));
    }
    s.ok("consolidate", json!({ "min_episodes": 2 }));
    let proposed = s.ok("reflect", json!({ "text": text("proposal"), "layer": "P0", "reason": TOLD }));
    ids.extend(["id", "review"].iter().filter_map(|f| proposed[*f].as_str().map(str::to_owned)));
    for said in ["at four", "at nine"] {
        s.ok(
            "remember",
            json!({ "text": format!("the {ASKED} bell of the {TOLD} guild rings {said} in the morning") }),
        );
    }
    s.ok("contradictions", json!({}));
    let todo = s.ok("add_todo", json!({ "content": text("gate"), "domain": ASKED, "notes": TOLD }));
    ids.extend(todo["id"].as_str().map(str::to_owned));
    s.ok("update_todo", json!({ "todo_id": todo["id"], "status": "in_progress" }));
    s.ok("snapshot_create", json!({ "version_id": ASKED, "label": TOLD }));
    let folder = s.home.path().join("papers");
    std::fs::create_dir_all(&folder).expect("a folder");
    s.home.file("papers/paper.md", format!("# {ASKED}\n{}\n", text("paper")));
    s.ok("index", json!({ "path": folder.display().to_string() }));
    s.ok("backup_create", json!({}));
    s.ok("recall", json!({ "query": ASKED }));
    let listed = |tool: &str, list: &str| -> Vec<String> {
        let reply = s.ok(tool, json!({}));
        let all = reply[list].as_array().cloned().unwrap_or_default();
        all.iter().filter_map(|one| one["id"].as_str().map(str::to_owned)).collect()
    };
    for (tool, list) in [("review_list", "reviews"), ("jobs_list", "jobs"), ("entity_list", "entities")] {
        ids.extend(listed(tool, list));
    }
    (ids, vec![ASKED.to_owned()])
}

impl Known {
    fn of(other: &Session) -> Self {
        let (mut ids, names) = furnished(other);
        assert!(ids.len() >= 10, "{ids:?}");
        // Two of each kind tell as much as all.
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        ids.retain(|id| {
            let seen = kinds.entry(id.chars().take_while(|c| *c != '_').collect()).or_default();
            *seen += 1;
            *seen <= 2
        });
        assert!(kinds.len() >= 5, "{kinds:?}");
        Self { ids, names }
    }

    /// Values that an argument may have, of somebody whose files lie in `home`.
    fn candidates(&self, home: &Path, name: &str, schema: &Value) -> Vec<Value> {
        let place = |name: &str| json!(home.join(name).display().to_string());
        let words = schema["enum"].as_array().or_else(|| schema["items"]["enum"].as_array());
        let texts = |texts: &[String]| texts.iter().map(|t| json!(t)).collect::<Vec<_>>();
        let one: Vec<Value> = match (schema["type"].as_str(), name) {
            _ if words.is_some() => words.cloned().unwrap_or_default(),
            (Some("integer"), "before" | "after") => vec![json!(1_000_000)],
            (Some("integer"), _) => vec![json!(3)],
            (Some("number"), _) => vec![json!(0.5)],
            // Whoever follows a file does so until called off.
            (Some("boolean"), "follow") => vec![json!(false)],
            (Some("boolean"), _) => vec![json!(true)],
            (Some("object"), _) => vec![json!({ "k": "v" })],
            (_, "id" | "supersedes" | "amends" | "memory" | "todo_id" | "blocked_by") => {
                texts(&[self.ids.as_slice(), &["1".to_owned(), "#2".to_owned()]].concat())
            }
            (_, "target" | "entity_id" | "entity") => {
                texts(&[self.names.as_slice(), &self.ids[..1]].concat())
            }
            (_, "version_id" | "with") => texts(&self.names),
            (_, "path" | "file" | "from") => vec![place("lines.jsonl")],
            (_, "output" | "dir" | "baseline_dir" | "to") => vec![place("out")],
            (_, "since" | "at") => vec![json!("2026-06-15")],
            (_, "until" | "as_of" | "valid_at" | "valid_from" | "valid_to") => vec![json!("2026-06-16")],
            _ => texts(&self.names),
        };
        if schema["type"] == "array" { one.into_iter().map(|v| json!([v])).collect() } else { one }
    }

    /// The calls to make of an operation: with what it cannot do without, in every form, and with each further argument.
    fn calls(&self, home: &Path, entry: &Entry) -> Vec<Value> {
        let schema = (entry.request_schema)();
        let all: Vec<(String, Vec<Value>)> = schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, of)| (name.clone(), self.candidates(home, name, of)))
            .collect();
        let needed: BTreeSet<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let most = all.iter().filter(|(name, _)| needed.contains(name.as_str())).map(|(_, c)| c.len()).max();
        let base = |at: usize| -> Value {
            let pairs = all.iter().filter(|(name, _)| needed.contains(name.as_str()));
            pairs
                .map(|(name, c)| (name.clone(), c[at % c.len()].clone()))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let mut calls: Vec<Value> = (0..most.unwrap_or(1)).map(base).collect();
        for (name, candidates) in all.iter().filter(|(name, _)| !needed.contains(name.as_str())) {
            calls.extend(candidates.iter().map(|value| {
                let mut call = base(0);
                call[name] = value.clone();
                call
            }));
        }
        calls
    }
}

/// Everything that a call says: its two forms, or its failure with the hint.
fn said(s: &Session, entry: &Entry, arguments: &Value) -> (bool, String) {
    match s.reply(entry.spec.tool, arguments.clone()) {
        Ok(reply) => (true, format!("{}\n{}", reply.json, reply.document.to_markdown())),
        Err(error) => (false, format!("{error}\n{}", error.hint())),
    }
}

/// Makes every call of the operations chosen and says which succeeded and which told of [`TOLD`].
fn ask(s: &Session, known: &Known, chosen: impl Fn(&Entry) -> bool) -> (BTreeSet<&'static str>, Vec<String>) {
    let (mut succeeded, mut told) = (BTreeSet::new(), Vec::new());
    for entry in OPERATIONS.iter().filter(|e| !MEASURES.contains(&e.spec.tool) && chosen(e)) {
        for arguments in known.calls(s.home.path(), entry) {
            let (is_ok, text) = said(s, entry, &arguments);
            if is_ok {
                succeeded.insert(entry.spec.tool);
            }
            if text.to_lowercase().contains(TOLD) {
                told.push(format!("{} {arguments}: {text}", entry.spec.tool));
            }
        }
    }
    (succeeded, told)
}

fn export(s: &Session, name: &str) -> Vec<u8> {
    let path = s.home.path().join(name);
    s.ok("export", json!({ "path": path.display().to_string() }));
    std::fs::read(path).expect("written")
}

#[test]
fn no_operation_tells_a_tenant_of_another_or_changes_anything_there() {
    let Some(database) = TestStore::Postgres.is_there().then(|| TestStore::Postgres.database()).flatten()
    else {
        return;
    };
    let (ann, ben) = (tenant(&database, "ann", 51), tenant(&database, "ben", 52));
    let known = Known::of(&ann);
    for s in [&ann, &ben] {
        s.home.file("lines.jsonl", "{\"text\":\"the ferry leaves at ten\"}\n");
    }
    ben.remember("the ferry leaves at nine");
    let is_read = |e: &Entry| matches!(e.spec.effect, Effect::Read | Effect::Files);

    // Those who may know are told by most of them, so that the question is a question.
    let before = export(&ann, "before.jsonl");
    assert!(String::from_utf8_lossy(&before).matches(TOLD).count() > 15);
    let (_, told) = ask(&ann, &known, |e| is_read(e) && e.spec.tool != "export");
    let tell: BTreeSet<&str> = told.iter().filter_map(|line| line.split(' ').next()).collect();
    assert!(tell.len() >= 15, "{tell:?}");
    let (text, rows) = (export(&ann, "again.jsonl"), database.digests_of("ann"));
    assert!(rows.len() >= 35, "{rows:?}");

    let (succeeded, told) = ask(&ben, &known, is_read);
    assert_eq!(told, Vec::<String>::new());
    assert!(succeeded.len() >= 15, "{succeeded:?}");
    let (succeeded, told) = ask(&ben, &known, |e| !is_read(e));
    assert_eq!(told, Vec::<String>::new());
    assert!(succeeded.len() >= 20, "{succeeded:?}");
    let (_, told) = ask(&ben, &known, is_read);
    assert_eq!(told, Vec::<String>::new(), "nor after all that");
    assert_eq!(holding(ben.home.path(), TOLD), Vec::<std::path::PathBuf>::new(), "nor in a file");

    assert_eq!(database.digests_of("ann"), rows, "no row of the other's changed");
    assert_eq!(export(&ann, "after.jsonl"), text);
    assert_eq!(ann.ok("doctor", json!({ "full": true }))["healthy"], true);
    assert_eq!(ben.ok("doctor", json!({ "full": true }))["healthy"], true);
}
