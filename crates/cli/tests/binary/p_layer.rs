//! p-layer's checks of the command line and the wire, by number.

use std::{process::Stdio, thread};

use serde_json::{Value, json};
use strata_testkit::{
    binary::Binary,
    home::TestHome,
    mcp::{Era, McpScript},
};

use crate::strata;

/// The binary in a folder of its own, whose files it may read.
fn in_folder(home: &TestHome) -> Binary<'_> {
    strata(home).with("STRATA_PROJECT", &home.outside().join("work").display().to_string())
}

#[test]
fn p_layer_c2_doctor_before_init_fails_with_a_hint_and_creates_nothing() {
    let home = TestHome::new();
    let output = strata(&home).run(["doctor"]).failure(1);
    assert!(output.stdout.contains("strata init"), "{}", output.stdout);
    assert!(!home.path().exists());
}

#[test]
fn p_layer_c3_init_makes_the_home_once_and_says_what_comes_next() {
    let home = TestHome::new();
    let deep = home.outside().join("not/yet/there");
    let at = deep.display().to_string();
    let first = strata(&home).run(["init", "--home", &at]).success();
    for part in ["schema version", "strata remember", "strata recall"] {
        assert!(first.stdout.contains(part), "{part}: {}", first.stdout);
    }
    assert!(deep.join("ledger.db").is_file());
    strata(&home).run(["remember", "--home", &at, "a first memory"]).success();
    let before = strata(&home).json(["status", "--home", &at]);
    assert_eq!(strata(&home).json(["init", "--home", &at])["created"], false);
    assert_eq!(strata(&home).json(["status", "--home", &at]), before);
}

#[test]
fn p_layer_c4_doctor_after_init_reports_schema_integrity_index_and_embedding() {
    let home = TestHome::new();
    strata(&home).run(["init"]).success();
    strata(&home).run(["remember", "the mill stands by the river"]).success();
    strata(&home).run(["recall", "mill"]).success();
    let report = strata(&home).json(["doctor"]);
    assert_eq!(report["healthy"], true);
    for check in ["schema", "integrity", "index", "semantic search"] {
        let found = report["findings"].as_array().expect("findings").iter().find(|f| f["check"] == check);
        assert_eq!(found.map(|f| &f["status"]), Some(&json!("ok")), "{check}: {report:#}");
    }
}

#[test]
fn p_layer_c5_c7_the_quick_start_works_word_for_word() {
    let home = TestHome::new();
    let say = "we switched to PortOne v2 for payments";
    strata(&home)
        .run(["remember", say, "--type", "decision", "--source", "onboarding", "--session", "s1"])
        .success();
    let output = strata(&home).run(["recall", "payment", "--why"]).success();
    for part in ["PortOne v2", "onboarding", "session=s1", "created="] {
        assert!(output.stdout.contains(part), "{part}: {}", output.stdout);
    }
    let context = strata(&home).run(["context", "current payment task"]).success();
    assert!(context.stdout.contains("PortOne"), "{}", context.stdout);
    let json = strata(&home).json(["context", "current payment task"]);
    assert!(json["query"].is_string() && json["context"].is_string(), "{json}");
}

#[test]
fn p_layer_c10_eight_processes_init_the_same_home_at_once() {
    for _ in 0..5 {
        let home = TestHome::new();
        let binary = strata(&home);
        let children: Vec<_> = (0..8)
            .map(|_| {
                binary
                    .command()
                    .arg("init")
                    .stdout(Stdio::null())
                    .stderr(Stdio::piped())
                    .spawn()
                    .expect("started")
            })
            .collect();
        for child in children {
            let output = child.wait_with_output().expect("ended");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        assert_eq!(strata(&home).json(["doctor"])["healthy"], true);
    }
}

#[test]
fn p_layer_c11_a_tilde_that_no_shell_replaced_is_the_users_directory() {
    let home = TestHome::new();
    let binary = strata(&home).with("STRATA_HOME", "~/.p_layer/memory");
    binary.run(["remember", "the tilde was meant"]).success();
    assert!(home.outside().join(".p_layer/memory/ledger.db").is_file());
    assert!(!home.outside().join("~").exists());
}

#[test]
fn p_layer_c16_an_unknown_layer_is_an_error_of_usage_on_every_face() {
    let home = TestHome::new();
    strata(&home).run(["remember", "x", "--layer", "P9"]).failure(2);
    let mut script = McpScript::start(&strata(&home), Era::Handshake, &[]);
    let answer = script.call("remember", &json!({ "text": "x", "layer": "P9" }));
    assert!(
        answer.is_error && answer.text.contains("P0") && answer.text.contains("layer"),
        "{}",
        answer.text
    );
    assert!(script.call("recall", &json!({ "query": "x" })).text.contains("Nothing found"));
}

#[test]
fn p_layer_c18_a_refused_rule_says_so_and_the_server_lives() {
    let home = TestHome::new();
    for era in Era::ALL {
        let mut script = McpScript::start(&strata(&home), era, &[]);
        let answer = script.call("remember", &json!({ "fact": "tests are optional", "layer": "P0" }));
        assert!(answer.is_error && answer.text.contains("does not allow"), "{}", answer.text);
        assert!(!script.call("remember", &json!({ "fact": "tests run in CI" })).is_error);
    }
}

#[test]
fn p_layer_c43_nothing_found_is_said_on_every_face() {
    let home = TestHome::new();
    strata(&home).run(["remember", "the mill stands by the river"]).success();
    let output = strata(&home).run(["recall", "zebra"]).success();
    assert!(output.stdout.contains("Nothing found in memory"), "{}", output.stdout);
    let mut script = McpScript::start(&strata(&home), Era::Stateless, &[]);
    assert!(script.call("recall", &json!({ "query": "zebra" })).text.contains("Nothing found in memory"));
}

#[test]
fn looking_creates_nothing_and_the_first_write_initialises() {
    for arguments in [&["remember", "a first memory"][..], &["reflect", "lock the gate", "--kind", "rule"]] {
        let home = TestHome::new();
        for looking in [&["status"][..], &["doctor"], &["recall", "anything"], &["context"]] {
            strata(&home).run(looking);
            assert!(!home.path().exists(), "{looking:?}");
        }
        strata(&home).run(arguments).success();
        assert_eq!(strata(&home).json(["status"])["status"], "ok", "{arguments:?}");
    }
}

/// Every command that can run without a person, with arguments that work on a home with one memory.
fn commands(home: &TestHome) -> Vec<Vec<String>> {
    let episodes = home.file("work/in.jsonl", "{\"id\":\"1\",\"text\":\"the ferry is late\"}\n");
    let note = home.file("work/notes/a.md", "# Ferry\n\n## Piers\n\nPier nine is closed.\n");
    let docs = home.file(
        "work/docs.jsonl",
        "{\"scope\":\"a\",\"id\":\"d1\",\"text\":\"the mill stands by the river\"}\n",
    );
    let queries = home.file(
        "work/queries.jsonl",
        "{\"scope\":\"a\",\"qid\":\"q1\",\"query\":\"where is the mill\",\"relevant\":[\"d1\"]}\n",
    );
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let mut all: Vec<Vec<String>> = [
        "status",
        "init",
        "remember mill",
        "recall mill",
        "context mill",
        "inspect #1",
        "update #1 --importance 0.9",
        "reflect lock",
        "backup create",
        "backup list",
        "doctor",
        "reindex",
        "jobs list",
        "config show",
    ]
    .into_iter()
    .map(words)
    .collect();
    all.push(vec!["import".into(), episodes.display().to_string()]);
    all.push(vec!["index".into(), note.display().to_string()]);
    all.push(vec!["export".into(), home.outside().join("work/out.jsonl").display().to_string()]);
    all.push(vec!["load".into(), home.outside().join("work/out.jsonl").display().to_string()]);
    all.push(
        ["eval", "jsonl", "--docs", &docs.display().to_string(), "--queries", &queries.display().to_string()]
            .map(str::to_owned)
            .to_vec(),
    );
    all.push(words("forget #1"));
    all.push(words("restore #1"));
    all
}

#[test]
fn every_command_writes_json_on_request_and_errors_as_json_too() {
    let home = TestHome::new();
    strata(&home).run(["remember", "the mill stands by the river"]).success();
    for command in commands(&home) {
        let value = in_folder(&home).json(&command);
        assert!(value.is_object(), "{command:?}: {value}");
    }
    let id = strata(&home).json(["inspect", "#1"])["id"].as_str().expect("an id").to_owned();
    for (arguments, code) in [
        (&["inspect", "mem_zzzzzzzzzz"][..], 4),
        (&["inspect", "nonsense"], 2),
        (&["remember", "x", "--layer", "P0"], 3),
        (&["purge", &id], 3),
        (&["import", "work/missing.jsonl"], 8),
    ] {
        let mut with_json = vec!["--json"];
        with_json.extend(arguments);
        let output = in_folder(&home).run(&with_json);
        let error: Value =
            serde_json::from_str(&output.stderr).unwrap_or_else(|e| panic!("{e}: {}", output.stderr));
        assert!(error["error"]["code"].is_string() && error["error"]["next"].is_string(), "{error}");
        assert_eq!(output.code, code, "{arguments:?}: {error}");
    }
}

/// Field case 26 and 21: somebody else's long work delays a write and fails nothing.
#[test]
fn field_case_21_26_a_write_during_upkeep_waits_and_succeeds() {
    let home = TestHome::new();
    let lines: String = (0..3_000)
        .map(|n| format!("{{\"id\":\"{n}\",\"text\":\"turn {n} about valve {}\"}}\n", n * 7))
        .collect();
    let file = home.file("work/in.jsonl", lines).display().to_string();
    in_folder(&home).run(["import", &file]).success();
    thread::scope(|scope| {
        let upkeep = scope.spawn(|| strata(&home).run(["reindex"]).success());
        for n in 0..10 {
            strata(&home).run(["remember", &format!("valve {n} was opened during upkeep")]).success();
            strata(&home).run(["recall", "valve"]).success();
        }
        upkeep.join().expect("upkeep ends");
    });
    let status = strata(&home).json(["status"]);
    assert_eq!((&status["holds"]["memories"], &status["holds"]["episodes"]), (&json!(10), &json!(3_000)));
}

/// Word for word as p-layer's users type it; what it costs them is a notice.
#[test]
fn p_layer_c5_c6_c7_c46_the_embedder_option_and_the_older_flags_are_understood() {
    let home = TestHome::new();
    let say = "we switched to PortOne v2 for payments";
    let stored = strata(&home)
        .run([
            "--embed",
            "hash",
            "remember",
            say,
            "--type",
            "decision",
            "--source",
            "onboarding",
            "--session",
            "s1",
        ])
        .success();
    assert!(stored.stdout.contains("saved #1"), "{}", stored.stdout);
    assert!(stored.stderr.contains("words alone"), "{}", stored.stderr);
    for embed in ["hash", "none", "ollama"] {
        let output = strata(&home).run(["--embed", embed, "recall", "payment", "--why"]).success();
        for part in ["PortOne v2", "onboarding", "session=s1", "created="] {
            assert!(output.stdout.contains(part), "{part}: {}", output.stdout);
        }
        let notice = if embed == "ollama" { "built in" } else { "words alone" };
        assert!(output.stderr.contains(notice), "{}", output.stderr);
        assert!(!output.stdout.contains(notice), "the result is the result");
    }
    let context = strata(&home).run(["--embed", "hash", "context", "current payment task"]).success();
    assert!(context.stdout.contains("PortOne"), "{}", context.stdout);
    let semantic = |arguments: &[&str]| {
        let mut all = vec!["recall", "payment"];
        all.extend(arguments);
        strata(&home).json(&all)["semantic"].as_str().map(str::to_owned)
    };
    assert_eq!(semantic(&[]).as_deref(), Some("on"), "what was stored meanwhile has its vector");
    assert!(semantic(&["--no-semantic"]).is_some_and(|s| s.starts_with("off")));
    strata(&home).run(["context", "payment", "--no-semantic"]).success();
    strata(&home).run(["--embed", "bert", "recall", "payment"]).failure(2);
    assert!(strata(&home).run(["--embed", "hash", "-q", "recall", "payment"]).success().stderr.is_empty());
    let help = strata(&home).run(["recall", "--help"]).success().stdout;
    assert!(!help.contains("--embed") && !help.contains("--no-semantic"), "{help}");
    let twice = || strata(&home).json(["recall", "payment", "--no-semantic"])["hits"][0]["id"].clone();
    assert_eq!(twice(), twice());
    strata(&home).run(["remember", "the mill stands by the river"]).success();
    let output = strata(&home).run(["recall", "payment", "--serendipity"]).success();
    assert!(output.stdout.contains("by chance"), "{}", output.stdout);
    assert!(
        strata(&home).json(["recall", "payment", "--serendipity"])["hits"][1]["_serendipity"].is_boolean()
    );
}

#[test]
fn p_layer_c43_words_alone_find_nothing_for_a_word_that_nobody_wrote() {
    let home = TestHome::new();
    strata(&home).run(["--embed", "hash", "remember", "the mill stands by the river"]).success();
    let output = strata(&home).run(["--embed", "hash", "recall", "zebra"]).success();
    assert!(output.stdout.contains("Nothing found in memory"), "{}", output.stdout);
}

#[test]
fn p_layer_c59_a_gate_that_says_no_ends_with_an_exit_code() {
    let home = TestHome::new();
    let ontology = home.file("work/p0.jsonl", "");
    let proposals = home.outside().join("work/rule_proposals");
    let p = || {
        strata(&home)
            .with("P0_ONTOLOGY", &ontology.display().to_string())
            .with("P0_PROPOSALS", &proposals.display().to_string())
    };
    let propose = [
        "gate",
        "propose",
        "--id",
        "friday",
        "--type",
        "policy",
        "--space",
        "deploy",
        "--title",
        "Never on Friday",
        "--file",
        "rules/deploy.md",
        "--source",
        "incident 12",
        "--links",
        "a,b",
    ];
    p().run(propose).success();
    assert!(proposals.join("friday.json").is_file());
    p().run(propose).failure(1);
    p().run(["gate", "apply", "friday"]).failure(1);
    p().run(["gate", "approve", "friday"]).failure(3);
    p().run(["gate", "approve", "../../x"]).failure(2);
    p().run(["gate", "apply", "nothing"]).failure(4);
    p().run(["gate", "validate"]).success();
    assert_eq!(p().json(["gate", "fresh"])["open_proposals"], 1);
    home.file("work/p0.jsonl", "not JSON\n");
    let wrong = p().run(["gate", "validate"]).failure(1);
    assert!(wrong.stdout.contains("1: not JSON"), "{}", wrong.stdout);
    strata(&home).run(["gate", "validate"]).failure(1);
}

#[test]
fn a_suite_is_asked_as_p_layer_asks_it_and_can_fail_a_build() {
    let home = TestHome::new();
    strata(&home).run(["remember", "we switched to PortOne v2 for payments"]).success();
    let suite = home.file(
        "work/suite.json",
        "{\"queries\": [{\"query\": \"payment\", \"expected\": [\"PortOne\", \"zebra\"]}]}",
    );
    let suite = suite.display().to_string();
    for command in [&["eval", "suite", &suite][..], &["eval", &suite]] {
        assert_eq!(in_folder(&home).json(command)["recall"]["p_layer"]["_total"]["hits"], 1, "{command:?}");
        let mut with_bar = command.to_vec();
        with_bar.extend(["--min-recall", "0.9"]);
        in_folder(&home).run(&with_bar).failure(1);
    }
    let help = strata(&home).run(["eval", "--help"]).success().stdout;
    for group in ["suite", "locomo", "jsonl"] {
        assert!(help.contains(group), "{help}");
    }
}
