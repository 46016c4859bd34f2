//! The command line as people and scripts meet it.

use std::process::Stdio;

use serde_json::Value;
use strata_testkit::home::TestHome;

use crate::strata;

#[test]
fn p_layer_c1_status_before_init_says_so_and_creates_nothing() {
    let home = TestHome::new();
    let output = strata(&home).run(["status"]).success();
    assert!(output.stdout.contains("not_initialized"), "{}", output.stdout);
    assert!(!home.path().exists());
}

#[test]
fn results_are_json_on_request() {
    let home = TestHome::new();
    let value = strata(&home).json(["status"]);
    assert_eq!(value["status"], "not_initialized");
    assert_eq!(value["principal"], "agent:shell", "no terminal here");
}

#[test]
fn the_home_is_told_or_from_the_environment_and_never_guessed() {
    let home = TestHome::new();
    let told = home.outside().join("told");
    let value = strata(&home).json(["status", "--home", &told.display().to_string()]);
    assert_eq!(value["home"], told.display().to_string());
    let value = strata(&home).with("STRATA_HOME", "").json(["status"]);
    assert_eq!(value["home"], home.outside().join(".strata").display().to_string());
    strata(&home).run(["status", "--home", ""]).failure(2);
}

#[test]
fn errors_go_to_standard_error_with_a_next_step_and_an_exit_code() {
    let home = TestHome::new();
    home.file("home/config.toml", "nonsense = 1");
    let output = strata(&home).run(["status"]).failure(2);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.starts_with("error: "), "{}", output.stderr);
    assert!(output.stderr.contains("\nhint: "), "{}", output.stderr);
    let output = strata(&home).run(["--json", "status"]).failure(2);
    let error: Value = serde_json::from_str(&output.stderr).expect("JSON on standard error");
    assert_eq!(error["error"]["code"], "invalid");
}

#[test]
fn a_mistyped_command_is_answered_with_the_right_one() {
    let home = TestHome::new();
    let output = strata(&home).run(["statsu"]).failure(2);
    assert!(output.stderr.contains("'status'"), "{}", output.stderr);
    strata(&home).run(["status", "--no-such-flag"]).failure(2);
    strata(&home).run::<&str>([]).failure(2);
}

#[test]
#[cfg(unix)]
fn arguments_that_are_not_utf_8_are_refused_not_fatal() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let home = TestHome::new();
    let bad = OsStr::from_bytes(b"\xff\xfe");
    for arguments in [
        vec![OsStr::new("status"), bad],
        vec![bad],
        vec![OsStr::new("status"), OsStr::new("--namespace"), bad],
        vec![OsStr::new("completions"), bad],
    ] {
        let output = strata(&home).run(&arguments);
        assert_eq!(output.code, 2, "{arguments:?}: {}", output.stderr);
        assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let home = TestHome::new();
    for arguments in [&["status"][..], &["completions", "bash"], &["reference", "tools"], &["--help"]] {
        let mut child = strata(&home)
            .command()
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && stderr.is_empty(), "{arguments:?}: {stderr}");
    }
}

#[test]
fn every_command_has_help_and_every_shell_a_script() {
    let home = TestHome::new();
    let binary = strata(&home);
    for entry in strata_engine::registry::OPERATIONS {
        let mut arguments = entry.spec.cli.to_vec();
        arguments.push("--help");
        let output = binary.run(&arguments).success();
        assert!(output.stdout.contains(entry.spec.title), "{arguments:?}: {}", output.stdout);
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(binary.run(["completions", shell]).success().stdout.contains("strata"), "{shell}");
    }
}

#[test]
fn colour_is_a_choice() {
    let home = TestHome::new();
    let binary = strata(&home);
    let escape = |arguments: &[&str]| binary.run(arguments).success().stdout.contains('\u{1b}');
    assert!(!escape(&["status"]), "into a pipe");
    assert!(escape(&["status", "--color", "always"]));
    assert!(
        !strata(&home).with("CLICOLOR_FORCE", "1").run(["status", "--color=never"]).stdout.contains('\u{1b}')
    );
}

#[test]
fn settings_can_be_seen() {
    let home = TestHome::new();
    home.file("home/config.toml", "timezone = \"Asia/Shanghai\"\n[recall]\nlimit = 7\n");
    let value = strata(&home).with("STRATA_NAMESPACE", "codex").json(["config", "show"]);
    assert_eq!(
        (value["recall.limit"].as_str(), value["timezone"].as_str()),
        (Some("7"), Some("Asia/Shanghai"))
    );
    assert_eq!(value["scope"], "codex");
    let path = strata(&home).run(["config", "path"]).success().stdout;
    assert_eq!(path.trim_end(), home.path().join("config.toml").display().to_string());
    home.file("home/config.toml", "timezone = \"Mars/Olympus\"\n");
    let output = strata(&home).run(["config", "show"]).failure(2);
    assert!(output.stderr.contains("Mars/Olympus"), "{}", output.stderr);
}

#[test]
fn layered_04_a_broken_configuration_is_named_and_the_defaults_hold() {
    let home = TestHome::new();
    home.file("home/config.toml", ":\n - [bad");
    let output = strata(&home).run(["remember", "The gateway listens on 8443."]).success();
    assert!(output.stderr.contains("config.toml") && output.stderr.contains("defaults"), "{}", output.stderr);
    let status = strata(&home).json(["status"]);
    assert_eq!(status["configuration"].as_array().map(Vec::len), Some(1), "{status}");
    let doctor = strata(&home).run(["doctor"]);
    assert!(doctor.code == 1 && doctor.stdout.contains("the defaults hold"), "{}", doctor.stdout);
    home.file(
        "home/config.toml",
        "[routing]\nmode = \"enfroce\"\nmdoe = 1\n[access_log]\nlog_query = false\n",
    );
    let output = strata(&home).run(["config", "show"]).success();
    for told in ["`routing.mode` is `enfroce`", "`advisory` or `enforce`", "`routing.mdoe` is no setting"] {
        assert!(output.stdout.contains(told), "{}", output.stdout);
    }
    let shown = strata(&home).json(["config", "show"]);
    assert_eq!(
        (&shown["routing.mode"], &shown["access_log.log_query"]),
        (&"advisory".into(), &"false".into())
    );
    home.file("home/config.toml", "store = \"postgres://quokka@127.0.0.1:1/x\n[");
    let refused = strata(&home).run(["status"]).failure(2);
    assert!(
        !refused.stderr.contains("quokka") && refused.stderr.contains("until then"),
        "{}",
        refused.stderr
    );
}

#[test]
fn of_several_places_the_nearest_says_what_holds() {
    let home = TestHome::new();
    home.file("home/config.toml", "namespace = \"team\"\n[routing]\nmode = \"advisory\"\n");
    home.file("work/.strata/config.toml", "[routing]\nmode = \"enforce\"\nenabled = false\n");
    let project = home.outside().join("work").display().to_string();
    let binary = || strata(&home).with("STRATA_PROJECT", &project);
    let mode = |value: &Value| value["routing.mode"].as_str().unwrap_or_default().to_owned();
    assert_eq!(mode(&strata(&home).json(["config", "show"])), "advisory");
    let shown = binary().json(["config", "show"]);
    assert_eq!((mode(&shown).as_str(), &shown["routing.enabled"]), ("enforce", &"true".into()));
    let told = binary().run(["config", "show"]).success().stdout;
    assert!(told.contains("`routing.enabled`: a project cannot set it"), "{told}");
    let shown = binary().with("LAYERED_MEMORY_ROUTING_MODE", "advisory").json(["config", "show"]);
    assert_eq!(mode(&shown), "advisory");
    let namespace = |variables: &[(&str, &str)]| {
        let binary = variables.iter().fold(strata(&home), |binary, (name, value)| binary.with(name, value));
        binary.json(["config", "show"])["scope"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(namespace(&[]), "team");
    assert_eq!(namespace(&[("LAYERED_MEMORY_NAMESPACE", "Claude")]), "claude");
    assert_eq!(namespace(&[("LAYERED_MEMORY_NAMESPACE", "Claude"), ("STRATA_NAMESPACE", "codex")]), "codex");
    let refused = strata(&home).with("LAYERED_MEMORY_NAMESPACE", "../x").run(["remember", "x"]).failure(2);
    assert!(refused.stderr.contains("LAYERED_MEMORY_NAMESPACE"), "{}", refused.stderr);
}

#[test]
fn layered_05_the_older_home_is_never_ours() {
    let home = TestHome::new();
    let binary = || strata(&home).with("LAYERED_MEMORY_HOME", "relative");
    let output = binary().run(["remember", "The gateway listens on 8443."]).success();
    let lines: Vec<&str> = output.stderr.lines().filter(|l| l.contains("LAYERED_MEMORY_HOME")).collect();
    assert!(lines.len() == 1 && lines[0].contains("no absolute path"), "{}", output.stderr);
    assert!(!home.outside().join("relative").exists());
    assert_eq!(binary().json(["status"])["home"], home.path().display().to_string());
    let elsewhere = home.outside().join("older").display().to_string();
    let output = strata(&home).with("LAYERED_MEMORY_HOME", &elsewhere).run(["status"]).success();
    assert_eq!(output.stderr, "");
    assert!(!home.outside().join("older").exists());
}

#[test]
fn an_item_is_classified_at_a_terminal() {
    let home = TestHome::new();
    let output = strata(&home).run(["route", "classify", "TODO: wire up the exporter"]).success();
    assert!(output.stdout.contains("todo") && output.stdout.contains("0.65"), "{}", output.stdout);
    let shown = strata(&home).json(["route", "classify", "i prefer tabs", "--section", "Style"]);
    assert_eq!((&shown["surface"], &shown["echo"]["section"]), (&"user_profile".into(), &"Style".into()));
    let output = strata(&home).run(["route", "capabilities"]).success();
    assert!(
        output.stdout.contains("l1_knowledge") && output.stdout.contains("no_handler"),
        "{}",
        output.stdout
    );
    assert!(!home.path().join("ledger.db").exists(), "nothing was made");
}

#[test]
fn every_documented_setting_is_shown() {
    let home = TestHome::new();
    home.file(
        "home/config.toml",
        "[recall]\nfusion = \"rrf\"\n[graph.relations.owns]\nfrom = [\"team\"]\nto = [\"tool\"]\n",
    );
    let shown = strata(&home).json(["config", "show"]);
    let page = include_str!("../../../../docs/configuration.md");
    let documented = page.lines().filter_map(|line| line.strip_prefix("| `[")?.split_once("] "));
    let keys: Vec<String> = documented
        .map(|(table, rest)| format!("{table}.{}", rest.split('`').next().unwrap_or_default()))
        .map(|key| if key.starts_with("graph.relations") { "graph.relations".to_owned() } else { key })
        .filter(|key| !key.starts_with("judge."))
        .collect();
    assert!(keys.len() > 8, "{keys:?}");
    for key in keys {
        assert!(shown[&key].is_string(), "{key} in {shown:#}");
    }
    assert_eq!(shown["graph.relations"], "owns: team -> tool");
    assert_eq!(shown["maintain.idle"], "true");
}

#[test]
fn unknown_toolsets_are_named_with_the_known() {
    let home = TestHome::new();
    let output = strata(&home).run(["serve", "--toolsets", "core,nope"]).failure(2);
    assert!(
        output.stderr.contains("nope")
            && output.stderr.contains("core, governance, compat, layered, layered-daily, project, admin"),
        "{}",
        output.stderr
    );
    let output = strata(&home).with("STRATA_TOOLSETS", "nope").run(["serve"]).failure(2);
    assert!(output.stderr.contains("nope"), "{}", output.stderr);
}
