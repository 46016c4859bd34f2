//! Whose memory a directory sees, with real repositories.

use std::{fs, path::Path};

use serde_json::{Value, json};
use strata_core::{
    cancel::Cancel,
    principal::{Face, Principal, PrincipalKind},
    scope::Scope,
    signing::{DerivationParams, SecretKey},
    time::Timestamp,
};
use strata_engine::{
    engine::Engine,
    error::Error,
    operation::{Call, Toolset},
    project::{self, identity},
    registry,
};
use strata_testkit::home::TestHome;

use crate::repository::Checkout;

/// A person who works in a directory, as a face sets it up.
pub(crate) struct Desk {
    pub(crate) engine: Engine,
    scope: Scope,
}

impl Desk {
    pub(crate) fn at(home: &TestHome, root: &Path) -> Self {
        let mut settings = home.settings();
        settings.project_root = Some(root.to_owned());
        let engine = Engine::new(settings);
        let scope = identity::resolve(&engine, project::at(root).expect("a project").scope("shared"));
        Self { engine, scope }
    }

    pub(crate) fn key(&self) -> &str {
        self.scope.project.as_deref().expect("a project")
    }

    pub(crate) fn run_as(
        &self,
        kind: PrincipalKind,
        toolset: Toolset,
        tool: &str,
        arguments: Value,
    ) -> Result<Value, Error> {
        self.call(kind, None, toolset, tool, arguments)
    }

    /// By a person who gives the passphrase, after it was set.
    pub(crate) fn with_secret(&self, tool: &str, arguments: Value) -> Value {
        let secret = SecretKey::derive("correct horse", &[3; 16], DerivationParams::CHEAP).expect("derived");
        let init = self.call(PrincipalKind::Human, Some(&secret), Toolset::Admin, "init", json!({}));
        init.expect("set up");
        self.call(PrincipalKind::Human, Some(&secret), Toolset::Project, tool, arguments).expect(tool)
    }

    fn call(
        &self,
        kind: PrincipalKind,
        secret: Option<&SecretKey>,
        toolset: Toolset,
        tool: &str,
        arguments: Value,
    ) -> Result<Value, Error> {
        let principal = Principal::new(kind, "test");
        let cancel = Cancel::default();
        let call = Call {
            principal: &principal,
            scope: &self.scope,
            face: Face::Library,
            deadline: Timestamp::MAX,
            cancel: &cancel,
            progress: &|_, _| {},
            secret,
        };
        let entry = registry::find(toolset, tool).expect("an operation");
        (entry.run)(&self.engine, &call, arguments).map(|reply| reply.json)
    }

    pub(crate) fn run(&self, tool: &str, arguments: Value) -> Value {
        self.run_as(PrincipalKind::Human, Toolset::Project, tool, arguments).expect(tool)
    }

    pub(crate) fn remember(&self, text: &str) {
        self.run_as(PrincipalKind::Human, Toolset::Core, "remember", json!({ "text": text }))
            .expect("stored");
    }

    pub(crate) fn sees(&self, word: &str) -> bool {
        let found = self.run_as(PrincipalKind::Human, Toolset::Core, "recall", json!({ "query": word }));
        found.expect("found")["hits"].to_string().contains(word)
    }
}

#[test]
fn memory_engine_c11_a_project_is_known_after_a_rename_a_move_a_clone_and_in_a_worktree() {
    let (home, checkout) = (TestHome::new(), Checkout::begun());
    let first = Desk::at(&home, checkout.root());
    first.remember("The quokka queue drains at night.");
    let key = first.key().to_owned();
    checkout.git(&["worktree", "add", "-q", "../beside", "-b", "feature/x"]);
    let worktree = Desk::at(&home, &checkout.beside("beside"));
    assert_eq!((worktree.key(), worktree.scope.branch.as_deref()), (key.as_str(), Some("feature/x")));
    checkout.git(&["clone", "-q", ".", "../cloned"]);
    let clone = Desk::at(&home, &checkout.beside("cloned"));
    assert_eq!(clone.key(), key);
    assert!(clone.sees("quokka"));
    clone.remember("The wombat worker restarts by itself.");

    let moved = checkout.all().join("elsewhere/renamed");
    fs::create_dir(moved.parent().expect("a parent")).expect("a folder");
    fs::rename(checkout.root(), &moved).expect("renamed");
    let desk = Desk::at(&home, &moved);
    assert_eq!(desk.key(), key);
    assert!(desk.sees("quokka") && desk.sees("wombat"));
    // A remote that it gets, and a clone of that alone, whose history does not reach back.
    let url = "https://ana:hunter2hunter2@git.example.test/team/app.git";
    checkout.git_in(&moved, &["remote", "add", "origin", url]);
    Desk::at(&home, &moved).remember("The numbat gate opens first.");
    let shallow = checkout.all().join("shallow");
    fs::create_dir(&shallow).expect("a folder");
    checkout.git_in(&shallow, &["init", "-q"]);
    checkout.git_in(&shallow, &["remote", "add", "origin", "git@git.example.test:team/app.git"]);
    let shallow = Desk::at(&home, &shallow);
    assert_eq!(shallow.key(), key);
    assert!(shallow.sees("numbat"));
    let listed = shallow.run("project_list", json!({}));
    assert_eq!(listed["projects"].as_array().map(Vec::len), Some(1), "{listed:#}");
    let shown = listed.to_string();
    assert!(!shown.contains("example.test") && !shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("elsewhere/renamed") && shown.contains("commit:"), "{shown}");
    let agent =
        shallow.run_as(PrincipalKind::Agent, Toolset::Project, "project_alias", json!({ "name": "x" }));
    assert!(matches!(agent, Err(Error::Refused { .. })), "{agent:?}");
}

#[test]
fn a_fork_a_successor_in_the_same_place_and_a_part_are_projects_of_their_own() {
    let (home, checkout) = (TestHome::new(), Checkout::begun());
    checkout.git(&["remote", "add", "origin", "git@example.test:team/app.git"]);
    let whole = Desk::at(&home, checkout.root());
    whole.remember("The quokka queue drains at night.");
    checkout.write("part/package.json", "{}");
    let part = Desk::at(&home, &checkout.root().join("part"));
    assert_ne!(part.key(), whole.key());
    part.remember("The part prints potoroos.");
    let fork = checkout.beside("fork");
    checkout.git(&["clone", "-q", ".", "../fork"]);
    checkout.git_in(&fork, &["remote", "set-url", "origin", "git@example.test:ana/app.git"]);
    let fork = Desk::at(&home, &fork);
    assert_ne!(fork.key(), whole.key(), "the same history under another address");
    fork.remember("The fork feeds ferrets.");
    assert!(!whole.sees("ferrets") && !fork.sees("quokka") && !part.sees("quokka"));

    let local = Checkout::begun();
    let before = Desk::at(&home, local.root());
    // Another history than that of the first checkout, which was begun by the same commit.
    local.git(&["commit", "-q", "--amend", "-m", "other"]);
    let before = Desk::at(&home, before.engine.settings().project_root.as_deref().expect("a root"));
    before.remember("The dingo door is locked.");
    fs::remove_dir_all(local.root()).expect("gone");
    fs::create_dir(local.root()).expect("again");
    local.git(&["init", "-q", "-b", "main"]);
    local.commit("other.txt", "other\n");
    let after = Desk::at(&home, local.root());
    assert_ne!(after.key(), before.key());
    assert!(!after.sees("dingo"));
    after.remember("The emu engine hums.");
    assert_eq!(Desk::at(&home, local.root()).key(), after.key(), "and it stays that");
}

#[test]
fn what_older_versions_stored_is_seen_under_the_key_that_they_gave() {
    let (home, checkout) = (TestHome::new(), Checkout::begun());
    let older = Desk {
        engine: Engine::new(home.settings()),
        scope: project::at(checkout.root()).expect("a project").scope("shared"),
    };
    older.remember("The quokka queue drains at night.");
    let desk = Desk::at(&home, checkout.root());
    assert_eq!(desk.key(), older.key());
    assert!(desk.sees("quokka"));
    let listed = desk.run("project_list", json!({}));
    assert_eq!(listed["projects"][0]["memories"], 1, "{listed:#}");
    desk.remember("The wombat worker restarts by itself.");
    let renamed = checkout.beside("renamed");
    fs::rename(checkout.root(), &renamed).expect("renamed");
    assert!(Desk::at(&home, &renamed).sees("quokka"));
}

#[test]
fn names_are_given_and_taken_and_two_projects_become_one() {
    let home = TestHome::new();
    let (one, two) = (Checkout::new(), Checkout::new());
    one.commit("one.txt", "one\n");
    two.commit("two.txt", "two\n");
    let (first, second) = (Desk::at(&home, one.root()), Desk::at(&home, two.root()));
    first.remember("The quokka queue drains at night.");
    first.remember("Both say that ports are blue.");
    second.remember("The wombat worker restarts by itself.");
    second.remember("Both say that ports are blue.");
    let named = first.run("project_alias", json!({ "name": "shop" }));
    assert_eq!((&named["project"], &named["changed"]), (&json!(first.key()), &json!(true)));
    let by_name = identity::resolve(&second.engine, Scope::project("shop"));
    assert_eq!(by_name.project.as_deref(), Some(first.key()));
    let taken = first.run_as(
        PrincipalKind::Human,
        Toolset::Project,
        "project_alias",
        json!({ "name": second.key() }),
    );
    assert!(matches!(taken, Err(Error::Conflict { .. })), "{taken:?}");

    let request = json!({ "from": "shop", "into": second.key() });
    let told = second.run("project_merge", request);
    assert_eq!((&told["applied"], &told["carried"]), (&json!(false), &json!(2)), "{told:#}");
    assert!(!second.sees("quokka"));
    let done = second.run("project_merge", json!({ "from": "shop", "into": second.key(), "apply": true }));
    assert_eq!(
        (&done["carried"], &done["known"], &done["left"]),
        (&json!(2), &json!(1), &json!([])),
        "{done:#}"
    );
    assert!(second.sees("quokka"));
    let again = Desk::at(&home, one.root());
    assert_eq!(again.key(), second.key(), "the first directory is the second project now");
    assert!(again.sees("wombat"));

    let file = home.outside().join("all.jsonl").display().to_string();
    let admin = |desk: &Desk, tool: &str, arguments: Value| {
        desk.run_as(PrincipalKind::Human, Toolset::Admin, tool, arguments).expect(tool)
    };
    admin(&second, "export", json!({ "path": file }));
    let other = TestHome::new();
    let there = Desk::at(&other, &one.beside(""));
    admin(&there, "load", json!({ "path": file }));
    assert_eq!(Desk::at(&other, one.root()).key(), second.key(), "names go along with an export");
    second.run("project_alias", json!({ "name": "shop", "remove": true }));
    assert_eq!(identity::resolve(&second.engine, Scope::project("shop")).project.as_deref(), Some("shop"));
    let removed = second.run("project_remove", json!({ "of": second.key() }));
    assert_eq!(removed["project"], second.key());
    assert!(removed["kept"].to_string().contains("memories"), "{removed:#}");
}
