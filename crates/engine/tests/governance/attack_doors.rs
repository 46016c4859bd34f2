//! Files that an agent names, and what it may bring in with them.

use std::{fs, path::Path};

use crate::maintain_support::{Session, acting, become_owner, holding, home};
use serde_json::{Value, json};
use strata_core::principal::PrincipalKind;

const TOKEN: &str = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";

fn put(s: &Session, name: &str, text: &str) -> String {
    let path = s.home.path().join(name);
    strata_store::files::write_atomic(&path, text.as_bytes()).expect("a fixture");
    path.display().to_string()
}

#[test]
fn a_secret_in_a_file_name_a_source_or_an_indexed_file_is_blacked_out() {
    let s = home(1);
    s.remember("something to begin with");
    let elsewhere = tempfile::tempdir().expect("a directory");
    let mut s = s;
    s.set_kind(PrincipalKind::Human);
    let line = json!({ "text": "the spindle turns", "id": "1" }).to_string();
    let write = |name: &str, text: &str| {
        let path = elsewhere.path().join(name);
        strata_store::files::write_atomic(&path, text.as_bytes()).expect("a fixture");
        path.display().to_string()
    };
    s.ok("import", json!({ "path": write(&format!("{TOKEN}.jsonl"), &line) }));
    s.ok("import", json!({ "path": write("plain.jsonl", &line), "source": TOKEN }));
    let markdown = format!("# Keys {TOKEN}\n\nthe lathe uses {TOKEN}\u{1b}[2J\u{202e} today\n");
    s.ok("index", json!({ "path": write("notes.md", &markdown) }));
    let named =
        s.ok("index", json!({ "path": write(&format!("about-{TOKEN}.md"), "# The mill\n\ngrinds\n") }));
    assert!(named["problems"][0].as_str().is_some_and(|p| p.contains("secret in its name")), "{named}");
    assert_eq!(holding(s.home.path(), TOKEN), Vec::<std::path::PathBuf>::new());
    let shown = s.text("recall", json!({ "query": "lathe" }));
    assert!(shown.contains("lathe uses") && !shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
    assert!(!shown.contains(TOKEN), "{shown}");
}

#[test]
#[cfg(unix)]
fn a_pipe_is_refused_and_not_waited_for() {
    let s = home(2);
    s.remember("something to begin with");
    let pipe = s.home.path().join("pipe.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    s.fails("import", json!({ "path": pipe.display().to_string() }));
    s.fails("export", json!({ "path": pipe.display().to_string() }));
    s.fails("load", json!({ "path": pipe.display().to_string() }));
}

/// The lines of an export with other memories in it.
fn doctored(exported: &Path, change: impl Fn(&mut Value) -> bool) -> String {
    let text = fs::read_to_string(exported).expect("an export");
    let mut lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    let mut header = lines.remove(0);
    lines.retain_mut(|line| change(line));
    header["lines"] = lines.len().into();
    std::iter::once(&header).chain(&lines).map(|l| format!("{l}\n")).collect()
}

#[test]
fn a_doctored_export_neither_takes_the_last_number_nor_enters_the_history_of_a_rule() {
    let mut s = home(3);
    become_owner(&mut s);
    let rule = s.ok("remember", json!({ "text": "Never push without a review", "kind": "rule" }));
    let rule = rule["id"].as_str().expect("an id").to_owned();
    s.remember("the pump runs at night");
    let exported = put(&s, "all.jsonl", "");
    s.ok("export", json!({ "path": exported }));
    let text = doctored(Path::new(&exported), |line| {
        let wanted = line["text"] == "the pump runs at night";
        line["id"] = "mem_1111111111".into();
        line["number"] = i64::MAX.into();
        line["text"] = "the pump runs by day".into();
        line["superseded_by"] = rule.clone().into();
        line["states"][0]["status"] = "superseded".into();
        wanted
    });
    let file = put(&s, "doctored.jsonl", &text);
    acting(&mut s, PrincipalKind::Agent, |s| s.ok("load", json!({ "path": file })));
    s.remember("there is a number left for this");
    assert!(!s.ok("inspect", json!({ "id": rule })).to_string().contains("by day"));
    assert!(s.ok("inspect", json!({ "id": "mem_1111111111" }))["text"] == "the pump runs by day");
}

#[test]
fn a_path_outside_is_refused_and_the_refusal_is_on_record() {
    let s = home(2);
    s.remember("something to begin with");
    let elsewhere = tempfile::tempdir().expect("a directory");
    let path = elsewhere.path().join("talk.jsonl").display().to_string();
    strata_store::files::write_atomic(Path::new(&path), b"{\"text\":\"hello\"}\n").expect("a fixture");
    for (tool, arguments) in [("import", json!({ "path": path })), ("export", json!({ "path": path }))] {
        let error = s.reply(tool, arguments).expect_err("refused");
        assert_eq!(error.kind().code(), "refused", "{tool}: {error}");
        assert!(error.hint().contains("on record"), "{}", error.hint());
    }
    let audit =
        s.engine.existing_ledger().expect("a ledger").read(&strata_store::sql::Control::default(), |r| {
            r.audit(&strata_store::ledger::AuditFilter::default())
        });
    let refusals = audit.expect("readable").iter().filter(|l| l.entry.reason.contains("outside")).count();
    assert_eq!(refusals, 2);
}

#[test]
fn a_dry_run_of_an_import_leaves_no_job_behind() {
    let s = home(3);
    let path = put(&s, "talk.jsonl", "{\"text\":\"hello there\",\"id\":\"1\"}\n");
    let told = s.ok("import", json!({ "path": path, "dry_run": true }));
    assert_eq!((told["added"].as_u64(), told["dry_run"].as_bool()), (Some(1), Some(true)), "{told}");
    s.remember("something that makes a ledger");
    let told = s.ok("import", json!({ "path": path, "dry_run": true }));
    assert_eq!(told["added"], 1, "{told}");
    assert_eq!(s.ok("jobs_list", json!({}))["jobs"].as_array().map(Vec::len), Some(0));
    s.ok("import", json!({ "path": path }));
    assert_eq!(s.ok("import", json!({ "path": path, "dry_run": true }))["known"], 1);
}
