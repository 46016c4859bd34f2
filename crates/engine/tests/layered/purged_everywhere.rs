//! A purge leaves no copy: neither in an entry that somebody wrote into the index by hand, nor in copies of files that
//! older programs left in the vault.

use std::fs;

use crate::knowledge_support::{index, index_file, on_disk, write};
use crate::maintain_support::{become_owner, home, later};
use crate::support::Session;
use serde_json::{Value, json};
use strata_store::files::write_atomic;

const SECRET: &str = "The zeppelin hangar opens with the code seven four two.";

fn owner(seed: u64) -> Session {
    let mut s = home(seed);
    become_owner(&mut s);
    s
}

fn entry(s: &Session, domain: &str, summary: &str) {
    s.ok("manage_l0_entry", json!({ "action": "replace", "domain": domain, "summary": summary }));
}

/// Puts a file into the vault's folder as another program does.
fn put(s: &Session, place: &str, text: &str) {
    let path = s.home.path().join("vault").join(place);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    write_atomic(&path, text.as_bytes()).expect("written");
}

fn read(s: &Session, place: &str) -> Option<String> {
    fs::read_to_string(s.home.path().join("vault").join(place)).ok()
}

fn purge(s: &Session, id: &str) -> Value {
    let done = s.ok("purge", json!({ "id": id, "backups": true }));
    assert_eq!((&done["verified"], &done["remaining"]), (&json!(true), &json!([])), "{done}");
    assert_eq!(done["remaining_backups"], json!([]), "{done}");
    done
}

#[test]
fn an_entry_by_hand_that_repeats_a_purged_text_goes_with_it_and_others_stay() {
    let s = owner(1);
    for name in ["people", "infra", "typed"] {
        write(&s, name, &format!("# {name}\n\n## Notes\n\nBees and quokkas.\n"));
    }
    let id = s.remember(SECRET);
    entry(&s, "people", "zeppelin HANGAR opens with the code: seven-four-two");
    entry(&s, "infra", "a hangar and what it is for");
    s.ok("backup_create", json!({}));
    let mut gone = vec!["shared/people.md"];
    if on_disk(&s) {
        let typed = format!("{}[L0] typed: {SECRET} → knowledge/typed.md\n", index(&s));
        write_atomic(&index_file(&s, "L0.md"), typed.as_bytes()).expect("written");
        gone.push("shared/typed.md");
    }
    let done = purge(&s, &id);
    assert_eq!(done["index_entries_removed"], json!(gone), "{done}");
    assert!(
        index(&s).contains("a hangar and what it is for") && !index(&s).contains("seven"),
        "{}",
        index(&s)
    );
    assert!(index(&s).contains("[L0] people: people"), "its file stands in the index: {}", index(&s));
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
    let s = later(s, 1);
    s.ok("sync_l0_index", json!({}));
    assert!(!index(&s).contains("seven"), "{}", index(&s));
}

#[test]
fn copies_in_the_vault_lose_a_purged_text_or_go() {
    let s = owner(2);
    let people = format!("# people\n\n## Ada\n\n{SECRET}\n\n## Bob\n\nBob tends quokkas.\n");
    write(&s, "people", &people);
    put(&s, "backups/shared/people.md.bak", &people);
    put(&s, "backups/shared/people.md.legacy.bak", &SECRET.to_uppercase());
    put(&s, "backups/shared/other.md.bak", "# other\n\nA hangar.\n");
    put(&s, "knowledge/shared/old.md.bak", &people);
    put(&s, "knowledge/shared/.tmpaB3dE6", &people);
    let hit = s.ok("recall", json!({ "query": "zeppelin hangar code" }));
    let done = purge(&s, hit["hits"][0]["id"].as_str().expect("an id"));
    let rewritten = ["vault/backups/shared/people.md.bak", "vault/knowledge/shared/old.md.bak"];
    assert_eq!(done["copies_rewritten"], json!(rewritten), "{done}");
    assert_eq!(done["copies_removed"], json!(["vault/backups/shared/people.md.legacy.bak"]), "{done}");
    let rest = "# people\n\n## Bob\n\nBob tends quokkas.\n";
    for place in ["backups/shared/people.md.bak", "knowledge/shared/old.md.bak", "knowledge/shared/people.md"]
    {
        assert_eq!(read(&s, place).as_deref(), Some(rest), "{place}");
    }
    assert_eq!(read(&s, "backups/shared/other.md.bak").as_deref(), Some("# other\n\nA hangar.\n"));

    entry(&s, "people", "who tends what");
    let done = purge(&s, "vault:shared/people.md");
    assert_eq!(done["index_entries_removed"], json!(["shared/people.md"]), "{done}");
    assert_eq!(read(&s, "backups/shared/people.md.bak"), None, "{done}");
    assert!(s.home.path().join("vault/backups/shared/other.md.bak").exists());
}
