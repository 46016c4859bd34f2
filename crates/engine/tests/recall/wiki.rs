//! Pages compiled from memories.

use std::{collections::BTreeMap, path::Path};

use crate::support::Session;
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, markdown::sections, principal::PrincipalKind};

/// Every file below a folder, by its path inside it.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(place) = waiting.pop() {
        for entry in std::fs::read_dir(&place).expect("listed").flatten() {
            let path = entry.path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("inside").to_string_lossy().replace('\\', "/");
                found.insert(name, std::fs::read_to_string(&path).expect("text"));
            }
        }
    }
    found
}

fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    strata_store::files::write_atomic(path, text.as_bytes()).expect("written");
}

fn page(layer: &str) -> String {
    format!("P5-ego/wiki/compiled/{layer}.md")
}

/// The headings of a page as a Markdown reader sees them.
fn headings(text: &str) -> Vec<String> {
    sections(text).iter().map(|s| s.title().to_owned()).filter(|t| !t.is_empty()).collect()
}

#[test]
fn p_layer_c58_one_page_per_layer_with_rules_and_an_index_and_the_true_total() {
    let mut s = Session::new();
    let first = s.ok(
        "remember",
        json!({ "text": "the port is 5432", "title": "Database port", "source": "runbook", "confidence": 0.7,
                "evidence": ["ops/db.toml:3"] }),
    )["id"]
        .clone();
    let second = s.ok("update", json!({ "id": first, "text": "the port is 5433" }))["id"].clone();
    let incident = s.remember_as(
        json!({ "text": format!("the pump stopped, see [[{}]]", second.as_str().expect("an id")),
                                         "kind": "incident" }),
    );
    s.ok("forget", json!({ "id": s.remember("what was forgotten") }));
    s.set_kind(PrincipalKind::System);
    s.ok("remember", json!({ "text": "never run the pump dry", "kind": "rule", "layer": "P0" }));
    s.set_kind(PrincipalKind::Agent);
    let reply = s.ok("compile_wiki", json!({}));
    assert_eq!(reply["entries"], 3, "{reply}");
    let expected =
        [(page("P0"), 1), (page("P5"), 1), (page("P6"), 1), (page("rules"), 1), ("INDEX.md".into(), 3)];
    let expected: BTreeMap<String, i32> = expected.into_iter().collect();
    assert_eq!(reply["files"], json!(expected));
    assert_eq!(
        (&reply["rewritten"], &reply["unchanged"], &reply["removed"]),
        (&json!(5), &json!(0), &json!(0))
    );
    let wiki = files(&s.home.path().join("vault/wiki"));
    assert_eq!(wiki.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    let p5 = &wiki[&page("P5")];
    let second = second.as_str().expect("an id");
    for part in [
        "## [fact] Database port",
        "> the port is 5433",
        "who: agent:test",
        "created: 2026-06-15T12:00:00Z",
        "confidence: 0.70",
        "source: runbook",
        &format!("<a id=\"{second}\"></a>"),
        &format!("replaced: `{}`", first.as_str().expect("an id")),
        &format!("named by: [{incident}](P6.md#{incident})"),
    ] {
        assert!(p5.contains(part), "{part}: {p5}");
    }
    assert!(wiki[&page("P6")].contains(&format!("see [{second}](P5.md#{second})")), "{}", wiki[&page("P6")]);
    assert!(wiki[&page("rules")].contains("## [P0] never run the pump dry"));
    for text in wiki.values() {
        assert!(!text.contains("5432\n") && !text.contains("forgotten"), "{text}");
    }
}

#[test]
fn the_same_memories_give_the_same_bytes_and_only_what_changed_is_written() {
    let s = Session::new();
    s.remember("the port is 5432");
    let incident = s.remember_as(json!({ "text": "the pump stopped", "kind": "incident" }));
    s.ok("compile_wiki", json!({}));
    let before = files(&s.home.path().join("vault/wiki"));
    let again = s.ok("compile_wiki", json!({}));
    assert_eq!((&again["rewritten"], &again["unchanged"]), (&json!(0), &json!(3)));
    let other = s.home.path().join("copy");
    s.ok("compile_wiki", json!({ "dir": other.to_string_lossy() }));
    assert_eq!(files(&other), before, "what the agent sees is everything here");
    s.ok("forget", json!({ "id": incident }));
    let reply = s.ok("compile_wiki", json!({}));
    assert_eq!(
        (&reply["removed"], &reply["unchanged"], &reply["entries"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert!(!files(&s.home.path().join("vault/wiki")).contains_key(&page("P6")));
    let task = s.ok("maintain", json!({ "task": "wiki" }));
    assert_eq!(task["tasks"][0]["status"], "done", "{task}");
}

#[test]
fn stored_markup_opens_nothing_outside_its_quote() {
    let s = Session::new();
    let nasty = "# Stolen heading\n\n## Another\n\n```\nunclosed\n\n<!-- comment\n<script>alert(1)</script>\nSetext\n===\n";
    s.ok("remember", json!({ "text": nasty, "title": "A title\n# of two lines <b>" }));
    s.remember("after it");
    s.ok("compile_wiki", json!({}));
    let text = &files(&s.home.path().join("vault/wiki"))[&page("P5")];
    let headings = headings(text);
    assert_eq!(headings.len(), 3, "{headings:?}\n{text}");
    assert!(
        headings[1].contains("after it") && headings[2].contains("A title # of two lines"),
        "{headings:?}"
    );
    assert!(!text.contains("<script") && text.matches("<!--").count() == 1, "{text}");
}

#[test]
fn files_of_others_are_left_alone_and_paths_stay_inside() {
    let s = Session::new();
    s.remember("the port is 5432");
    let dir = s.home.path().join("notes");
    let theirs = dir.join(page("P5"));
    put(&theirs, "# My own page\n");
    assert_eq!(s.fails("compile_wiki", json!({ "dir": dir.to_string_lossy() })), ErrorKind::Invalid);
    assert_eq!(files(&dir).len(), 1, "nothing was written beside it");
    put(&dir.join(page("P6")), "# My notes\n");
    std::fs::remove_file(&theirs).expect("removed");
    let reply = s.ok("compile_wiki", json!({ "dir": dir.to_string_lossy() }));
    assert_eq!(reply["removed"], 0, "an emptied layer's page that Strata did not write stays: {reply}");
    let outside = tempfile::tempdir().expect("a folder");
    let path = outside.path().to_string_lossy().into_owned();
    assert_eq!(s.fails("compile_wiki", json!({ "dir": path })), ErrorKind::Refused);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outside.path(), s.home.path().join("out")).expect("linked");
        let through = s.home.path().join("out").to_string_lossy().into_owned();
        assert_eq!(s.fails("compile_wiki", json!({ "dir": through })), ErrorKind::Refused);
    }
    assert!(files(outside.path()).is_empty());
}

/// Shorthand for a memory with more than a text.
trait RememberAs {
    fn remember_as(&self, arguments: Value) -> String;
}

impl RememberAs for Session {
    fn remember_as(&self, arguments: Value) -> String {
        self.ok("remember", arguments)["id"].as_str().expect("an id").to_owned()
    }
}

#[test]
fn rules_stand_in_the_order_of_authority_with_condition_and_disabled_ones_marked() {
    let s = Session::new().of_kind(PrincipalKind::System);
    let rule = |text: &str, layer: &str, priority: i64| {
        let request =
            json!({ "text": text, "layer": layer, "priority": priority, "condition": "it <freezes>" });
        s.ok("rules_add", request)["rule"]["id"].clone()
    };
    rule("keep the diary in English", "P1", 1);
    rule("never run the pump dry", "P0", 50);
    let off = rule("close the sluice first", "P0", 5);
    s.ok("rules_disable", json!({ "id": off }));
    s.ok("compile_wiki", json!({}));
    let pages = files(&s.home.path().join("vault/wiki"));
    let text = &pages[&page("rules")];
    let expected = [
        "Rules (priority order)",
        "[P0] (disabled) close the sluice first",
        "[P0] never run the pump dry",
        "[P1] keep the diary in English",
    ];
    assert_eq!(headings(text), expected, "{text}");
    assert!(
        text.contains("- priority: 5\n- when: it &lt;freezes>\n- in force: no, it is disabled\n"),
        "{text}"
    );
    assert!(pages[&page("P0")].contains("- priority: 50\n"), "{}", pages[&page("P0")]);
    s.ok("rules_enable", json!({ "id": off }));
    let again = s.ok("compile_wiki", json!({}));
    assert_eq!(again["rewritten"], 2, "the page of P0 and the rules: {again}");
}
