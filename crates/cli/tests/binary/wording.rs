//! What a person reads can be typed as it stands.

use strata_testkit::home::TestHome;

use crate::strata;

#[test]
fn usage_errors_are_json_where_json_was_asked_for() {
    let home = TestHome::new();
    for arguments in [["recall", "--json"], ["--json", "nonsense"], ["--json", "snapshot"]] {
        let output = strata(&home).run(arguments);
        assert_eq!(output.code, 2, "{}", output.stderr);
        let error: serde_json::Value = serde_json::from_str(&output.stderr).expect("one JSON object");
        assert_eq!(error["error"]["code"], "invalid");
        assert!(!error["error"]["next"].as_str().expect("a next step").is_empty(), "{error}");
    }
}

#[test]
fn the_menu_is_aligned_and_older_names_come_last() {
    let home = TestHome::new();
    let help = strata(&home).run(["--help"]).success().stdout;
    let column = |name: &str, about: &str| {
        let line = help.lines().find(|l| l.trim_start().starts_with(&format!("{name} "))).expect("listed");
        line.find(about).expect("its description")
    };
    assert_eq!(column("recall", "Find"), column("import-incidents", "Import"));
    assert!(help.find("Under older names:") > help.find("Server and set-up:"), "{help}");
    assert!(help.contains("create, list, show, compare, rollback"), "{help}");
    assert!(!help.contains("Snapshot: "), "{help}");
}

#[test]
fn hints_and_notes_name_commands_and_options() {
    let home = TestHome::new();
    let run = |arguments: &[&str]| strata(&home).run(arguments);
    let text = |arguments: &[&str]| {
        let output = run(arguments);
        format!("{}{}", output.stdout, output.stderr)
    };
    assert!(text(&["graph", "explore", "nobody"]).contains("`strata graph entities`"));
    assert!(text(&["graph", "relate", "a", "caused", "b"]).contains("`strata graph entity`"));
    assert!(text(&["rules", "add", "Never force-push."]).contains("`strata reflect`"));
    assert!(text(&["recall", "x", "--limit", "many"]).contains("`--limit`"));
    let help = text(&["graph", "relate", "--help"]);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("`strata graph unrelate`") && !help.contains("`relation_remove`"), "{help}");
    run(&["remember", "The gateway waits thirty seconds before it gives up on the payment provider."])
        .success();
    assert!(text(&["assemble", "--budget", "120"]).contains("raise `--budget-chars`"));
    assert!(text(&["context", "--budget-tokens", "10"]).contains("raise `--budget-tokens`"));
    // What a note says can be typed: a switch takes its value joined.
    let root = home.outside().join("app");
    home.file("app/README.md", "# App\n");
    let on = |arguments: &[&str]| text(&[&["--project-root", &root.to_string_lossy()], arguments].concat());
    let said = on(&["project", "retention", "run"]);
    assert!(said.contains("`--dry-run=false` does it"), "{said}");
    assert!(!on(&["project", "retention", "run", "--dry-run=false"]).contains("unexpected"));
    assert!(on(&["project", "status"]).contains("`strata project index` reads"));
    let made = on(&["project", "add", "Waiting", "The gateway waits thirty seconds."]);
    assert!(made.contains("created #2 "), "{made}");
    let said = on(&["project", "pin", "2", "nowhere.rs"]);
    assert!(said.contains("`CODE`: `nowhere.rs`") && said.contains("PATH#SYMBOL, from"), "{said}");
    let help = on(&["project", "init", "--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("A server with toolset `project`"), "{help}");
}

#[test]
fn commands_to_copy_mean_the_home_that_was_named() {
    let home = TestHome::new();
    let other = home.outside().join("an other");
    let made = strata(&home).run(["--home", other.to_str().expect("UTF-8"), "init"]).success().stdout;
    assert!(made.contains(&format!("strata recall --home '{}' ", other.display())), "{made}");
    assert!(strata(&home).run(["init"]).success().stdout.contains("\nstrata recall"));
}

#[test]
fn the_gate_and_the_graph_say_what_to_do_next() {
    let home = TestHome::new();
    let run = |arguments: &[&str]| strata(&home).run(arguments);
    let none = run(&["gate", "validate"]).stdout;
    assert!(none.contains("ontology file missing") && none.contains("`strata gate propose`"), "{none}");
    assert!(!none.contains("well formed"), "{none}");
    let proposal = ["--type", "policy", "--space", "ops", "--title", "T", "--file", "f.md", "--source", "s"];
    let proposed = run(&[&["gate", "propose", "--id", "p-1"][..], &proposal].concat()).success().stdout;
    assert!(proposed.contains("`strata gate approve p-1`"), "{proposed}");
    let refused = run(&["gate", "approve", "p-1"]).failure(3).stderr;
    assert!(
        refused.contains("a human runs: strata gate approve p-1") && !refused.contains("reflect"),
        "{refused}"
    );
    let id = strata(&home).json(["remember", "A fact that nobody needs."])["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let purge = run(&["purge", &id]).failure(3).stderr;
    assert!(purge.contains("allowed: human, with the passphrase") && !purge.contains("reflect"), "{purge}");
    run(&["graph", "entity", "redis", "--kind", "tool"]).success();
    run(&["graph", "entity", "shop"]).success();
    run(&["graph", "relate", "shop", "depends_on", "redis"]).success();
    run(&["graph", "unrelate", "shop", "depends_on", "redis"]).success();
    let ended = run(&["graph", "relations", "--ended"]).success().stdout;
    assert!(ended.contains("taken back") && !ended.contains("taken back:"), "{ended}");
}

#[test]
fn a_conflict_is_not_approved_by_anybody() {
    let home = TestHome::new();
    let run = |arguments: &[&str]| strata(&home).run(arguments);
    run(&["remember", "The API server listens on port 8080"]).success();
    run(&["remember", "The API server listens on port 9090"]).success();
    run(&["govern", "contradictions"]).success();
    let list = strata(&home).json(["review", "list"]);
    let id = list["reviews"][0]["id"].as_str().expect("a conflict");
    let refused = run(&["review", "approve", id]).failure(5).stderr;
    assert!(refused.contains(&format!("strata review resolve {id} keep_a")), "{refused}");
}

#[test]
fn what_is_not_there_is_not_healthy_and_a_bad_line_has_one_number() {
    let home = TestHome::new();
    let looked = strata(&home).run(["doctor"]).failure(1).stdout;
    assert!(looked.contains("nothing to look over") && !looked.contains("healthy"), "{looked}");
    let file = home.outside().join("talk.jsonl");
    #[expect(clippy::disallowed_methods, reason = "a test fixture needs no atomic write")]
    std::fs::write(&file, "{\"text\": \"good\"}\n{\"text\" bad\n").expect("fixture");
    let imported = strata(&home).run(["import", file.to_str().expect("UTF-8")]).stdout;
    assert!(imported.contains("line 2: not JSON") && !imported.contains("line 1"), "{imported}");
    let found = strata(&home).run(["recall", "good"]).success().stdout;
    assert!(!found.contains("from  ") && !found.contains("from \n"), "{found}");
}
