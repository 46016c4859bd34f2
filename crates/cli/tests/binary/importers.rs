//! Importers of older stores on the command line, and the variables of the older programs.

use std::{
    io::Read,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::json;
use strata_testkit::{home::TestHome, older::OlderStore, store::TestStore};

use crate::strata;

fn knowledge(store: &OlderStore, text: &str) {
    store.put_texts(
        "knowledge",
        &[("type", "fact"), ("content", text), ("created_at", "2026-01-01T00:00:00.000001Z")],
    );
}

#[test]
fn p_layer_c11_the_variable_with_a_tilde_names_the_old_database() {
    let home = TestHome::new();
    let old = OlderStore::p_layer(home.outside().join(".p_layer/memory.db"), 4);
    knowledge(&old, "밸브 7은 왼쪽으로 돈다");
    let old = old.close();
    let before = std::fs::read(&old).expect("read");
    for (name, value) in [("P_LAYER_DB", "~/.p_layer/memory.db"), ("KNOWLEDGE_DB_DIR", "~/.p_layer")] {
        let binary = strata(&home).with(name, value);
        if name == "P_LAYER_DB" {
            let output = binary.run(["import-p-layer"]).success();
            assert!(output.stdout.contains("imported 1 memory"), "{}", output.stdout);
            assert!(binary.run(["recall", "밸브"]).success().stdout.contains("왼쪽"));
        } else {
            let output = binary.run(["import-p-layer"]).failure(2);
            assert!(output.stderr.contains("knowledge.db"), "{}", output.stderr);
        }
    }
    let without = strata(&home).json(["import-p-layer"]);
    assert_eq!((&without["added"], &without["known"]), (&json!(0), &json!(1)), "the default place");
    assert!(!home.outside().join("~").exists());
    assert_eq!(std::fs::read(&old).expect("read"), before, "only read");
    assert_eq!(std::fs::read_dir(old.parent().expect("a folder")).expect("read").count(), 1, "nothing made");
}

#[test]
fn an_older_programs_settings_are_obeyed_or_said() {
    let home = TestHome::new();
    strata(&home).run(["init"]).success();
    for (value, model, notice) in
        [("none", "off", ""), ("hash", "off", "hash"), ("voyage", "static", "voyage")]
    {
        let output = strata(&home).with("P_LAYER_EMBED", value).run(["--json", "config", "show"]).success();
        let shown: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
        assert_eq!(shown["semantic.model"], model, "{value}");
        assert!(output.stderr.contains(notice) && output.stderr.is_empty() == notice.is_empty(), "{value}");
    }
    // Where `STRATA_STORE` says the same, nothing needs to be said.
    let home = TestHome::on(TestStore::Sqlite);
    let output =
        strata(&home).with("P_LAYER_PG_DSN", "postgres://u:pw@h/d").run(["config", "show"]).success();
    assert!(output.stderr.contains("P_LAYER_PG_DSN"), "{}", output.stderr);
    assert!(!(output.stderr + &output.stdout).contains("pw@"), "a password is not shown");
}

#[test]
fn the_importers_say_what_the_older_commands_said() {
    let home = TestHome::new();
    home.file("incidents/1-a.md", "# 503\n");
    home.file("incidents/a.md", "# disk full\n");
    for (count, _) in [(2, "first"), (0, "again")] {
        let output = strata(&home).run(["import-incidents", "incidents"]).success();
        assert!(output.stdout.contains(&format!("✓ imported {count} incident(s)")), "{}", output.stdout);
    }
    let none = strata(&home).run(["import-incidents", "nowhere"]).success();
    assert!(none.stdout.contains("imported 0 incident(s)"), "{}", none.stdout);
    home.file("rules.md", "## [P5] Prefer small commits\n\n## [P4] Write tests first\n");
    for count in [2, 0] {
        let output = strata(&home).run(["import-rules", "rules.md"]).success();
        assert!(output.stdout.contains(&format!("✓ imported {count} rule(s)")), "{}", output.stdout);
    }
    home.file("p0.md", "## Never force-push\n");
    strata(&home).run(["import-rules", "p0.md"]).failure(3);
    let old = OlderStore::drewgent(home.outside().join("knowledge.db"));
    knowledge(&old, "the ferry leaves at nine");
    let output = strata(&home).run(["import-drewgent", "knowledge.db", "--no-embed"]).success();
    for part in ["imported 1 memory, 0 sessions", "into shared from ", "knowledge.db"] {
        assert!(output.stdout.contains(part), "{part}: {}", output.stdout);
    }
    assert!(!output.stdout.contains('{'), "JSON comes with --json: {}", output.stdout);
    let again = strata(&home).json(["import-drewgent", "knowledge.db", "--no-embed"]);
    assert_eq!((&again["knowledge_imported"], &again["reembedded"]), (&0.into(), &0.into()), "{again}");
    home.file("letter.txt", "Dear Sir or Madam");
    let wrong = strata(&home).run(["import-p-layer", "letter.txt"]).failure(9);
    assert!(wrong.stderr.contains("another file") && !wrong.stderr.contains("doctor"), "{}", wrong.stderr);
    assert!(strata(&home).run(["recall", "ferry"]).success().stdout.contains("nine"));
}

/// Following goes on until Ctrl-C, which is its proper end.
#[cfg(unix)]
#[test]
fn following_ends_with_its_result_on_an_interrupt() {
    let home = TestHome::new();
    let old = OlderStore::drewgent(home.outside().join("knowledge.db"));
    knowledge(&old, "said before");
    let mut child = strata(&home)
        .command()
        .args(["--json", "import-drewgent", "knowledge.db", "--follow", "--interval", "0.1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let stored = |text: &str| {
        let started = Instant::now();
        while !strata(&home).json(["recall", text])["hits"].to_string().contains(text) {
            assert!(started.elapsed() < Duration::from_secs(60), "{text}");
            thread::sleep(Duration::from_millis(50));
        }
    };
    stored("said before");
    knowledge(&old, "written meanwhile");
    stored("written meanwhile");
    let interrupted =
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(interrupted.success());
    let status = child.wait().expect("it ends");
    let mut said = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut said).expect("read");
    assert_eq!(status.code(), Some(0), "{said}");
    let reply: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(reply["knowledge_imported"], 2, "{reply:#}");
}
