//! U+0000 in a text: PostgreSQL has no place for it, so no store keeps it, and a home and a server say the same of it.

use crate::maintain_support::{Session, become_owner};
use serde_json::{Value, json};
use strata_core::{
    principal::{Principal, PrincipalKind},
    scope::Scope,
};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    engine::Engine,
};
use strata_testkit::{home::TestHome, store::TestStore};

use crate::maintain_support::{secret, support::NOON};

fn on(store: TestStore) -> Session {
    let home = TestHome::on(store).existing();
    let engine =
        Engine::with_sources(home.settings(), Box::new(ManualClock::at(NOON)), Box::new(SeededIds::new(77)));
    let principal = Principal::new(PrincipalKind::Human, "te\u{0}st");
    let mut s = Session { engine, principal, scope: Scope::user(), secret: None, home };
    s.secret = Some(secret("correct horse"));
    become_owner(&mut s);
    s
}

/// What a call came to, in words that do not name the place.
fn outcome(s: &Session, tool: &str, arguments: &Value) -> String {
    let place = s.home.path().display().to_string();
    let said = match s.reply(tool, arguments.clone()) {
        Ok(reply) => format!("ok {}", reply.document.to_markdown()),
        Err(error) => format!("{:?} {error} / {}", error.kind(), error.hint()),
    };
    assert!(!said.contains('\0'), "{tool}: {said:?}");
    format!("{tool} {arguments}: {said}").replace(&place, "HOME")
}

/// Every argument of every operation whose text is stored or looked up, with the character in it.
fn told(s: &Session) -> Vec<String> {
    let kept = s.remember("the kiln is fired with oak");
    let calls = [
        ("remember", json!({ "text": "the an\u{0}chor is granite" })),
        ("remember", json!({ "text": "\u{0}" })),
        ("remember", json!({ "text": "one", "tags": ["a\u{0}b"] })),
        ("remember", json!({ "text": "two", "title": "a\u{0}b" })),
        ("remember", json!({ "text": "three", "evidence": ["file: a\u{0}b"] })),
        ("remember", json!({ "text": "four", "metadata": { "k": "a\u{0}b" } })),
        ("remember", json!({ "text": "five", "metadata": { "a\u{0}b": "v" } })),
        ("remember", json!({ "text": "six", "session": "a\u{0}b" })),
        ("remember", json!({ "text": "seven", "topic_key": "a\u{0}b" })),
        ("update", json!({ "id": kept, "text": "the kiln is fired\u{0} with ash" })),
        ("inspect", json!({ "id": "mem_\u{0}" })),
        ("inspect", json!({ "id": "#\u{0}" })),
        ("recall", json!({ "query": "kiln\u{0} ash" })),
        ("recall", json!({ "query": "kiln", "session": "a\u{0}b" })),
        ("recall", json!({ "query": "kiln", "tags": ["a\u{0}b"] })),
        ("recall", json!({ "query": "kiln", "branch": "a\u{0}b" })),
        ("context", json!({ "query": "kiln\u{0}" })),
        ("reflect", json!({ "text": "fire\u{0} slowly", "layer": "P0" })),
        ("episode_record", json!({ "text": "the talk\u{0} of ten", "speaker": "Ana" })),
        ("episode_record", json!({ "text": "the talk", "session": "a\u{0}b" })),
        ("entity_add", json!({ "label": "ki\u{0}ln" })),
        ("entity_list", json!({ "query": "ki\u{0}ln" })),
        ("graph_explore", json!({ "query": "ki\u{0}ln" })),
        ("snapshot_create", json!({ "version_id": "a\u{0}b" })),
        ("snapshot_show", json!({ "version_id": "a\u{0}b" })),
        ("memory_audit", json!({ "principal": "a\u{0}b" })),
        ("jobs_list", json!({ "kind": "a\u{0}b" })),
        ("review_list", json!({ "kind": "a\u{0}b" })),
        ("knowledge_remember", json!({ "fact": "the mill\u{0} turns" })),
        ("maintain", json!({ "task": "a\u{0}b" })),
    ];
    calls.iter().map(|(tool, arguments)| outcome(s, tool, arguments)).collect()
}

/// Files with the character in every place, as they are imported, indexed and loaded.
fn from_files(s: &Session) -> Vec<String> {
    let line = |fields: Value| format!("{fields}\n");
    let lines = [
        line(
            json!({ "id": "e\u{0}1", "text": "the weir\u{0} is low", "session": "s\u{0}", "speaker": "A\u{0}na" }),
        ),
        line(json!({ "text": "the dam is high", "metadata": { "k\u{0}": "v\u{0}" } })),
        "{\"text\":\"a raw \0 byte\"}\n".to_owned(),
        line(json!({ "text": "\u{0}" })),
    ];
    let jsonl = s.home.file("talk.jsonl", lines.concat()).display().to_string();
    let paper = s.home.file("papers/kiln.md", "# The \0kiln\nIt cools\0 for two days.\n");
    let folder = paper.parent().expect("a folder").display().to_string();
    vec![
        outcome(s, "import", &json!({ "path": jsonl })),
        outcome(s, "import", &json!({ "path": paper.display().to_string() })),
        outcome(s, "index", &json!({ "path": folder })),
        outcome(s, "recall", &json!({ "query": "cools for two days" })),
        outcome(s, "recall", &json!({ "query": "weir low" })),
    ]
}

/// An export with the character put into its texts, loaded into a home of its own.
fn loaded(store: TestStore, text: &str) -> Vec<String> {
    let words = ["granite", "ash", "oak", "slowly", "weir", "turns"];
    let in_prose =
        |text: String, word: &str| text.replace(word, &format!("{}\\u0000{}", &word[..1], &word[1..]));
    let s = on(store);
    let path =
        s.home.file("in.jsonl", words.into_iter().fold(text.to_owned(), in_prose)).display().to_string();
    let mut all = vec![outcome(&s, "load", &json!({ "path": path }))];
    all.push(String::from_utf8(export(&s)).expect("text"));
    // In names, not in prose.
    for field in ["id", "writer", "namespace", "kind", "epoch", "session"] {
        let s = on(store);
        let wrong = text.replacen(&format!("\"{field}\":\""), &format!("\"{field}\":\"\\u0000"), 1);
        let path = s.home.file("in.jsonl", wrong).display().to_string();
        all.push(format!("{field}: {}", outcome(&s, "load", &json!({ "path": path }))));
    }
    all
}

fn export(s: &Session) -> Vec<u8> {
    let path = s.home.outside().join("out.jsonl");
    std::fs::remove_file(&path).ok();
    s.ok("export", json!({ "path": path.display().to_string() }));
    std::fs::read(path).expect("written")
}

#[test]
fn a_home_and_a_server_say_and_keep_the_same() {
    let stores: Vec<TestStore> =
        [TestStore::Sqlite, TestStore::Postgres].into_iter().filter(|store| store.is_there()).collect();
    let mut all = Vec::new();
    for store in stores {
        let s = on(store);
        let mut said = told(&s);
        said.extend(from_files(&s));
        let text = String::from_utf8(export(&s)).expect("text");
        assert!(!text.contains("\\u0000") && !text.contains('\0'), "nothing of it is kept");
        assert!(text.contains("the anchor is granite"), "the rest of the text is");
        assert!(said.iter().filter(|line| line.contains(": Invalid ")).count() >= 15, "{said:#?}");
        assert!(
            !said.iter().any(|line| line.contains("Internal") || line.contains(": Corrupt")),
            "{said:#?}"
        );
        said.extend(loaded(store, &text));
        assert_eq!(s.ok("doctor", json!({ "full": true }))["healthy"], true);
        all.push(said);
    }
    for (one, other) in all.first().into_iter().flatten().zip(all.get(1).into_iter().flatten()) {
        assert_eq!(one, other);
    }
}
