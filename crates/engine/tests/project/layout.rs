//! What lies in a project, what a person trusts of it, and the policy in clients' files.

use std::fs;

use serde_json::json;
use strata_core::principal::PrincipalKind;
use strata_engine::{
    engine::Engine,
    error::Error,
    operation::Toolset,
    project::layout::{self, trust::Trusted},
    settings::Config,
};
use strata_testkit::home::TestHome;

use crate::{identity::Desk, repository::Checkout};

#[test]
fn memory_engine_c08_c09_the_folder_is_made_once_and_again_when_it_was_deleted() {
    let (home, checkout) = (TestHome::new(), Checkout::begun());
    let desk = Desk::at(&home, checkout.root());
    let made = desk.run("project_init", json!({}));
    let policy = ".strata/generated/AGENT_MEMORY_POLICY.md";
    assert_eq!(made["made"], json!([".strata/.gitignore", policy, ".strata/config.toml"]), "{made:#}");
    assert_eq!(checkout.git(&["status", "--porcelain", "-uall"]), "?? .strata/config.toml");
    let config = checkout.root().join(".strata/config.toml");
    let template = fs::read_to_string(&config).expect("made");
    let mut read = Config::default();
    read.narrow_by_project(checkout.root(), home.path());
    assert_eq!(read, Config::default(), "a template sets nothing");
    // Every line without its sign is what holds anyway.
    let bare: String =
        template.lines().skip(2).map(|line| format!("{}\n", line.trim_start_matches("# "))).collect();
    let bare = bare.lines().filter(|line| !line.ends_with('=')).collect::<Vec<_>>().join("\n");
    checkout.write(".strata/config.toml", &bare);
    read.narrow_by_project(checkout.root(), home.path());
    assert_eq!(read, Config::default(), "{bare}");

    checkout.write(
        ".strata/config.toml",
        "# mine\n[knowledge]\nexclude = ['docs/private.md']\nmax_file_size_mb = 1\n",
    );
    assert_eq!(desk.run("project_init", json!({}))["made"], json!([]));
    assert!(fs::read_to_string(&config).expect("kept").starts_with("# mine\n"));
    read.narrow_by_project(checkout.root(), home.path());
    let files = &read.project.files;
    assert!(files.max_bytes() == 1 << 20 && files.exclude.contains(&"docs/private.md".to_owned()));
    fs::remove_dir_all(layout::folder(checkout.root())).expect("deleted");
    assert_eq!(desk.run("project_init", json!({}))["made"].as_array().map(Vec::len), Some(3));
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_that_came_with_a_clone() {
    let (home, checkout) = (TestHome::new(), Checkout::begun());
    let outside = checkout.beside("outside");
    fs::create_dir(&outside).expect("a folder");
    let link = |name: &str| std::os::unix::fs::symlink(&outside, checkout.root().join(name)).expect("a link");
    link(".strata");
    link(".cursor");
    std::os::unix::fs::symlink(outside.join("notes.md"), checkout.root().join("CLAUDE.md")).expect("a link");
    let desk = Desk::at(&home, checkout.root());
    let refused = |tool: &str, arguments| {
        let said = desk.run_as(PrincipalKind::Human, Toolset::Project, tool, arguments);
        assert!(matches!(said, Err(Error::Conflict { .. })), "{tool}: {said:?}");
    };
    refused("project_init", json!({}));
    refused("policy_generate", json!({}));
    fs::remove_file(checkout.root().join(".strata")).expect("removed");
    refused("policy_install", json!({ "client": "claude-code" }));
    refused("policy_install", json!({ "client": "cursor" }));
    assert_eq!(fs::read_dir(&outside).expect("a folder").count(), 0);
}

#[test]
fn a_projects_settings_count_after_a_person_trusted_them_and_until_they_change() {
    let (home, checkout) = (TestHome::new(), Checkout::begun());
    let desk = Desk::at(&home, checkout.root());
    let wide = "[memory_retention]\nstale_archive_days = 3\n[semantic]\nmodel = 'off'\n";
    checkout.write(".strata/config.toml", wide);
    checkout.write(".strata/constraints.md", "# Rules\n\n- Never push to main.\n");
    let days = || {
        let mut config = Config::default();
        config.narrow_by_project(checkout.root(), home.path());
        assert_eq!(config.semantic, Config::default().semantic, "what is searched is the user's to say");
        config.project.memory_retention.stale_archive_days
    };
    assert_eq!(days(), 180);
    for kind in [PrincipalKind::Agent, PrincipalKind::Tool, PrincipalKind::Cron] {
        let said = desk.run_as(kind, Toolset::Project, "project_trust", json!({}));
        assert!(matches!(said, Err(Error::Refused { .. })), "{said:?}");
    }
    // Without the passphrase a person may not either.
    let said = desk.run_as(PrincipalKind::Human, Toolset::Project, "project_trust", json!({}));
    assert!(matches!(said, Err(Error::ApprovalRequired { .. })), "{said:?}");
    assert_eq!(days(), 180);
    let shown = desk.with_secret("project_trust", json!({}));
    let status = |n: usize| shown["files"][n]["status"].as_str().unwrap_or_default().to_owned();
    assert_eq!([status(0), status(1), status(2)], ["trusted", "trusted", "absent"], "{shown:#}");
    assert_eq!(days(), 3);
    let rules = fs::read(checkout.root().join(".strata/constraints.md")).expect("rules");
    assert!(Trusted::read(home.path()).has(layout::CONSTRAINTS, &rules));
    assert!(!Trusted::read(home.path()).has(layout::DECISIONS, &rules));
    checkout.write(".strata/config.toml", &format!("{wide}# changed\n"));
    assert_eq!(days(), 180);
    let shown = desk.run("project_trust", json!({ "show": true }));
    assert_eq!(shown["files"][0]["status"], "changed", "{shown:#}");
    // To look is for everybody.
    let agent = desk.run_as(PrincipalKind::Agent, Toolset::Project, "project_trust", json!({ "show": true }));
    assert_eq!(agent.expect("shown"), shown);
    desk.run("project_trust", json!({ "revoke": true }));
    assert!(!Trusted::read(home.path()).has(layout::CONSTRAINTS, &rules));
}

#[test]
fn what_people_wrote_counts_after_a_person_trusted_it_and_until_it_changes() {
    let (home, checkout) = (TestHome::new(), Checkout::begun());
    let rules = "# Rules\n\nNever log the payload of a payment.\n";
    checkout.write(".strata/constraints.md", rules);
    checkout.write(".strata/decisions.md", "# Decisions\n\nPayments go through one gateway.\n");
    let desk = Desk::at(&home, checkout.root());
    // How the constraint stands among what a task is given: its tags and how sure it is, and the warnings.
    let given = || {
        let pack = desk.run("retrieve_agent_context", json!({ "task": "Log a payment" }));
        let node = &pack["constraints"][0];
        assert_eq!(node["source_path"], ".strata/constraints.md", "{pack:#}");
        (node["tags"].clone(), node["confidence"].clone(), pack["meta"]["warnings"].to_string())
    };
    let recalled = || {
        let asked = json!({ "query": "log the payload of a payment" });
        let found = desk.run_as(PrincipalKind::Human, Toolset::Core, "recall", asked).expect("found");
        found["hits"][0]["written"].as_str().map(str::to_owned)
    };
    let context = || {
        let asked = json!({ "query": "log the payload of a payment" });
        let pack = desk.run_as(PrincipalKind::Human, Toolset::Core, "context", asked).expect("packed");
        pack["context"].as_str().expect("text").to_owned()
    };
    let unconfirmed = (json!(["human_file", "unconfirmed"]), json!(0.7));
    let (tags, confidence, warnings) = given();
    assert_eq!((tags, confidence), unconfirmed);
    assert!(!warnings.contains("constraints.md"), "{warnings}");
    assert_eq!(recalled().as_deref(), Some("unconfirmed"));
    assert!(context().contains("written by people, unconfirmed"), "{}", context());

    desk.with_secret("project_trust", json!({ "files": ["constraints.md"] }));
    let (tags, confidence, _) = given();
    assert_eq!((tags, confidence), (json!(["human_file", "trusted"]), json!(1.0)));
    assert_eq!(recalled().as_deref(), Some("trusted"));
    assert!(context().contains("written by people, trusted"), "{}", context());
    let asked = json!({ "task": "Which gateway do payments use?" });
    let other = desk.run("retrieve_agent_context", asked);
    assert_eq!(other["decisions"][0]["tags"], json!(["human_file", "unconfirmed"]), "only what was named");

    // What is trusted as a constraint holds whatever is asked, and comes before passages of code.
    let asked = json!({ "task": "Which gateway do invoices use?" });
    let pack = desk.run("retrieve_agent_context", asked);
    assert_eq!(pack["constraints"][0]["tags"], json!(["human_file", "trusted"]), "{pack:#}");

    checkout.write(".strata/constraints.md", &rules.replace("Never", "Always"));
    // The index may be behind the file: what it has is not shown as trusted either.
    assert_eq!(recalled().as_deref(), Some("changed"));
    let (tags, confidence, warnings) = given();
    assert_eq!((tags, confidence), (json!(["human_file", "unconfirmed", "changed"]), json!(0.7)));
    assert!(
        warnings.contains("constraints.md changed") && warnings.contains("strata project trust"),
        "{warnings}"
    );
    assert!(context().contains("changed since it was trusted"), "{}", context());
    checkout.write(".strata/constraints.md", rules);
    assert_eq!(given().0, json!(["human_file", "trusted"]));
    desk.run("project_trust", json!({ "revoke": true }));
    assert_eq!(given().0, json!(["human_file", "unconfirmed"]));
}

#[test]
fn what_people_write_is_seen_at_once_where_a_look_at_all_files_takes_long() {
    let (home, checkout) = (TestHome::new(), Checkout::begun());
    // A look at so many takes longer than is waited for at every call.
    for n in 0..3_000 {
        checkout.write(&format!("pictures/{}/{n}.png", n % 50), "");
    }
    let rules = "# Rules\n\nNever log the payload of a payment.\n";
    checkout.write(".strata/constraints.md", rules);
    let desk = Desk::at(&home, checkout.root());
    desk.with_secret("project_trust", json!({ "files": ["constraints.md"] }));
    let given = || {
        let pack = desk.run("retrieve_agent_context", json!({ "task": "Log a payment" }));
        let node = &pack["constraints"][0];
        (node["summary"].as_str().unwrap_or_default().to_owned(), node["tags"].clone())
    };
    assert_eq!(given().1, json!(["human_file", "trusted"]));
    for (word, tags) in [
        ("Always", json!(["human_file", "unconfirmed", "changed"])),
        ("Never", json!(["human_file", "trusted"])),
        ("Seldom", json!(["human_file", "unconfirmed", "changed"])),
        ("Never", json!(["human_file", "trusted"])),
    ] {
        checkout.write(".strata/constraints.md", &rules.replace("Never", word));
        let (text, told) = given();
        assert!(text.contains(word), "{word}: {text}");
        assert_eq!(told, tags, "{word}");
    }
}

#[test]
fn memory_engine_c76_the_policy_is_put_into_clients_files_once_and_leaves_no_trace() {
    let (home, checkout) = (TestHome::new(), Checkout::begun());
    let desk = Desk::at(&home, checkout.root());
    let read = |path: &str| fs::read_to_string(checkout.root().join(path)).ok();
    let mine = "# Ours\r\n\r\nUse tabs. Gr\u{fc}\u{df}e.";
    let cursor = ".cursor/rules/agent-memory-policy.mdc";
    for existing in [Some(mine), None] {
        for (path, client) in [("CLAUDE.md", "claude-code"), (cursor, "cursor"), ("AGENTS.md", "agents-md")] {
            if let Some(text) = existing {
                checkout.write(path, text);
            }
            for changed in [true, false] {
                let done = desk.run("policy_install", json!({ "client": client }));
                assert_eq!(done["changed"], changed, "{client} {done:#}");
                let text = read(path).expect("installed");
                assert!(text.starts_with(existing.unwrap_or_default()), "{text}");
                assert_eq!(text.matches("BEGIN:").count(), 1, "{text}");
                assert!(
                    text.contains("retrieve_agent_context") && text.contains("reflect_and_write"),
                    "{text}"
                );
            }
            let key = client.replace('-', "_");
            let stands = || desk.run("policy_status", json!({}))[&key].clone();
            assert_eq!((&stands()["installed"], &stands()["is_current"]), (&json!(true), &json!(true)));
            // What somebody wrote into the block is told, and put right by another install.
            let installed = read(path).expect("installed");
            checkout.write(path, &installed.replace("reflect_and_write", "guess"));
            assert_eq!((&stands()["installed"], &stands()["is_current"]), (&json!(true), &json!(false)));
            desk.run("policy_install", json!({ "client": client }));
            assert_eq!(stands()["is_current"], true);
            assert_eq!(read(path).map(|text| text.lines().count()), Some(installed.lines().count()));
            for changed in [true, false] {
                assert_eq!(desk.run("policy_remove", json!({ "client": client }))["changed"], changed);
                assert_eq!(read(path).as_deref(), existing, "{client}");
            }
            fs::remove_file(checkout.root().join(path)).ok();
        }
    }
    let status = desk.run("policy_status", json!({}));
    assert_eq!(status["policy"]["has_markers"], true, "{status:#}");
    assert_eq!(status["policy"]["policy_version"], "1.1");
    let agent =
        desk.run_as(PrincipalKind::Agent, Toolset::Project, "policy_install", json!({ "client": "cursor" }));
    assert!(matches!(agent, Err(Error::Refused { .. })), "{agent:?}");
}

#[test]
fn the_policy_asks_for_what_the_settings_want() {
    let (home, checkout) = (TestHome::new(), Checkout::begun());
    let mut settings = home.settings();
    settings.project_root = Some(checkout.root().to_owned());
    settings.config.project.runtime.auto_reflect = false;
    let page = strata_engine::project::policy::page(&Engine::new(settings));
    assert!(page.contains("when a person asks for it") && page.contains("current_files"), "{page}");
}

#[test]
fn a_list_of_trust_that_cannot_be_read_is_not_written_over() {
    let (home, checkout) = (TestHome::new(), Checkout::begun());
    checkout.write(".strata/constraints.md", "- Never log card numbers.\n");
    let desk = Desk::at(&home, checkout.root());
    desk.with_secret("project_trust", json!({}));
    let list = home.path().join("trust.json");
    let whole = fs::read_to_string(&list).expect("a list");
    let damaged = &whole[..whole.len() / 2];
    strata_store::files::write_atomic(&list, damaged.as_bytes()).expect("damaged");
    checkout.write(".strata/decisions.md", "- We use PortOne.\n");
    let said =
        desk.run_as(PrincipalKind::Human, Toolset::Project, "project_trust", json!({ "revoke": true }));
    assert!(
        matches!(&said, Err(Error::Conflict { message, .. }) if message.contains("trust.json")),
        "{said:?}"
    );
    assert_eq!(fs::read_to_string(&list).expect("a list"), damaged);
}
