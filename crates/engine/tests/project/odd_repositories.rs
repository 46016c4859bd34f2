//! Repositories that are not as most are: the project works in each, and says what it cannot read.

use std::{fs, path::Path, sync::Barrier, thread};

use serde_json::{Value, json};
use strata_core::{principal::PrincipalKind, time::Timestamp};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    engine::Engine,
    project,
    vcs::{Fault, Repository},
};

use crate::{
    repository::Checkout,
    support::{NOON, Session, with_call},
};

fn at(root: &Path) -> Session {
    let mut session = Session::with_settings(|settings| settings.project_root = Some(root.to_owned()));
    session.scope = project::at(root).expect("a project").scope("shared");
    session
}

const LESSON: &str =
    "The worker read the queue before it took the lock, so two of them took one batch of invoices.";

/// Everything that a session does, in a project that is in whatever repository. Gives what was said of git.
fn works(root: &Path) -> Value {
    let session = at(root);
    let refreshed = session.ok("refresh_project_knowledge", json!({}));
    assert!(refreshed["ingested"].as_u64().is_some_and(|n| n > 0), "{refreshed}");
    session.remember("The quokka queue drains at night.");
    assert_eq!(session.recall("quokka queue").len(), 1);
    let report = json!({
        "task": "Fix crash of the queue worker",
        "outcome": LESSON,
        "verification_status": "tests_passed",
        "changed_files": ["README.md"],
    });
    assert_eq!(session.ok("reflect_and_write", report)["outcome"], "persisted");
    let pack = session.ok("retrieve_agent_context", json!({ "task": "the queue worker and the lock" }));
    assert_eq!(pack["incidents"].as_array().map(Vec::len), Some(1), "{pack}");
    for (tool, request) in [("project_branches", json!({})), ("project_check", json!({}))] {
        drop(session.reply(tool, request));
    }
    for name in ["git-context", "sync-status", "branch-memory-summary"] {
        let uri = format!("memory://project/current/{name}");
        let resource = strata_engine::resources::RESOURCES.iter().find(|one| one.uri == uri).expect("listed");
        with_call(&session, |call| (resource.read)(&session.engine, call)).expect("read");
    }
    let status = session.ok("memory_status", json!({}));
    assert_eq!(
        (&status["bootstrap_status"], &status["active_memories"]),
        (&json!("READY"), &json!(2)),
        "{status}"
    );
    status
}

/// The same where git cannot be read: memories hold in the whole project, and both replies say what is the matter.
fn works_without_git(root: &Path, notice: &str) {
    let status = works(root);
    assert_eq!(status["is_repository"], false, "{status}");
    assert!(status["warnings"].to_string().contains(notice), "{status}");
    let session = at(root);
    let pack = session.ok("retrieve_agent_context", json!({ "task": "the queue" }));
    assert!(pack["meta"]["warnings"].to_string().contains(notice), "{pack}");
    let report = json!({
        "task": "Fix crash of the gateway",
        "outcome": "The gateway dropped one upload in ten, because its buffer was never given back after a fault.",
        "verification_status": "tests_passed",
        "changed_files": ["README.md"],
    });
    let reported = session.ok("reflect_and_write", report);
    let id = reported["candidates"][0]["id"].as_str().expect("an id").to_owned();
    let row = with_call(&session, |call| session.engine.read(call, |r| r.memory(&id)).expect("read"));
    let row = row.expect("stored");
    assert_eq!((row.scope.branch.as_deref(), row.branch_scope.as_str()), (None, "global"));
}

fn branch(status: &Value) -> Option<&str> {
    assert_eq!((&status["is_repository"], &status["warnings"]), (&json!(true), &json!([])), "{status}");
    status["current_branch"].as_str()
}

#[test]
fn a_git_directory_that_lies_apart_is_read_once_it_knows_of_the_checkout() {
    let checkout = Checkout::new();
    let (tree, git) = (checkout.beside("tree"), checkout.beside("apart.git"));
    fs::create_dir(&tree).expect("a folder");
    checkout.git_in(&tree, &["init", "-q", "-b", "main", "--separate-git-dir", git.to_str().expect("UTF-8")]);
    write(&tree.join("README.md"), b"# App\n\nIt sends invoices.\n");
    checkout.git_in(&tree, &["add", "-A"]);
    checkout.git_in(&tree, &["commit", "-q", "-m", "first"]);
    assert_eq!(Repository::open(&tree).map(|_| ()), Err(Fault::Elsewhere));
    works_without_git(&tree, "does not know of this directory");
    checkout.git_in(&tree, &["config", "core.worktree", tree.to_str().expect("UTF-8")]);
    assert_eq!(branch(&works(&tree)), Some("main"));
    // Whoever else points there is not what it names.
    let stranger = checkout.beside("stranger");
    fs::create_dir(&stranger).expect("a folder");
    write(&stranger.join(".git"), format!("gitdir: {}\n", git.display()).as_bytes());
    assert_eq!(Repository::open(&stranger).map(|_| ()), Err(Fault::Elsewhere));
}

#[cfg(unix)]
#[test]
fn a_link_to_a_git_directory_is_followed_once_that_knows_of_the_checkout() {
    use std::os::unix::fs::symlink;
    let checkout = Checkout::begun();
    let (root, git) = (checkout.root(), checkout.beside("apart.git"));
    fs::rename(root.join(".git"), &git).expect("moved");
    symlink(&git, root.join(".git")).expect("a link");
    assert_eq!(Repository::open(root).map(|_| ()), Err(Fault::Elsewhere));
    checkout.git(&["config", "core.worktree", root.to_str().expect("UTF-8")]);
    assert_eq!(branch(&works(root)), Some("main"));
    let stranger = checkout.beside("stranger");
    fs::create_dir(&stranger).expect("a folder");
    for target in [git, root.join(".git"), root.join("README.md"), checkout.beside("nothing")] {
        symlink(&target, stranger.join(".git")).expect("a link");
        assert_eq!(Repository::open(&stranger).map(|_| ()), Err(Fault::Elsewhere), "{}", target.display());
        fs::remove_file(stranger.join(".git")).expect("removed");
    }
}

#[cfg(unix)]
#[test]
fn a_repository_of_another_user_is_read_all_the_same() {
    use std::os::unix::fs::{MetadataExt, chown};
    let checkout = Checkout::begun();
    // Only the superuser gives files away; for others it is their own repository.
    let nobody = 65_534;
    for path in
        [checkout.root().to_owned(), checkout.root().join(".git"), checkout.root().join(".git/config")]
    {
        let is_given = chown(&path, Some(nobody), Some(nobody)).is_ok();
        assert_eq!(is_given, fs::metadata(&path).expect("there").uid() == nobody);
    }
    assert_eq!(branch(&works(checkout.root())), Some("main"));
}

#[test]
fn a_submodule_and_a_shallow_clone_are_projects_of_their_own() {
    let (whole, part) = (Checkout::begun(), Checkout::begun());
    part.commit("docs/part.md", "# Part\n");
    let url = format!("file://{}", part.root().display());
    whole.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", &url, "part"]);
    whole.git(&["commit", "-q", "-m", "with a part"]);
    let inside = whole.root().join("part");
    assert_eq!(branch(&works(&inside)), Some("main"));
    assert_ne!(at(&inside).scope.project, at(whole.root()).scope.project);
    whole.git(&["clone", "-q", "--depth", "1", &url, "../shallow"]);
    let shallow = whole.beside("shallow");
    assert!(shallow.join(".git/shallow").is_file());
    assert_eq!(branch(&works(&shallow)), Some("main"));
}

#[test]
fn a_worktree_of_a_bare_repository_is_read() {
    let checkout = Checkout::begun();
    checkout.git(&["clone", "-q", "--bare", ".", "../app.git"]);
    let (bare, tree) = (checkout.beside("app.git"), checkout.beside("tree"));
    checkout.git_in(&bare, &["worktree", "add", "-q", "-b", "feat", tree.to_str().expect("UTF-8")]);
    assert_eq!(branch(&works(&tree)), Some("feat"));
    assert_eq!(at(&tree).ok("project_branches", json!({}))["current"], "feat");
}

#[test]
fn a_repository_without_a_commit_and_one_at_a_commit_are_read() {
    let checkout = Checkout::new();
    checkout.write("README.md", "# App\n");
    let status = works(checkout.root());
    assert_eq!(branch(&status), Some("main"));
    assert!(status.get("head_commit").is_none() && status["index_behind_head"] == false, "{status}");
    let commit = checkout.commit("a.md", "# A\n");
    checkout.git(&["checkout", "-q", "--detach"]);
    let status = works(checkout.root());
    assert_eq!((branch(&status), &status["head_commit"]), (None, &json!(commit)));
}

#[test]
fn what_cannot_be_read_is_a_plain_directory_with_a_notice() {
    let checkout = Checkout::new();
    let longer = checkout.beside("longer");
    fs::create_dir(&longer).expect("a folder");
    checkout.git_in(&longer, &["init", "-q", "-b", "feat", "--object-format=sha256"]);
    write(&longer.join("README.md"), b"# App\n\nIt sends invoices.\n");
    checkout.git_in(&longer, &["add", "-A"]);
    checkout.git_in(&longer, &["commit", "-q", "-m", "first"]);
    works_without_git(&longer, "named by SHA-256");

    let damaged = Checkout::begun();
    damaged.git(&["checkout", "-q", "-b", "feat"]);
    damaged.git(&["pack-refs", "--all"]);
    write(&damaged.root().join(".git/HEAD"), b"");
    works_without_git(damaged.root(), "the git repository cannot be read");
    write(&damaged.root().join(".git/HEAD"), b"ref: refs/heads/feat\n");
    write(&damaged.root().join(".git/packed-refs"), &b"\x00garbage".repeat(100));
    works_without_git(damaged.root(), "the git repository cannot be read");
    let packed = fs::File::create(damaged.root().join(".git/packed-refs")).expect("a file");
    packed.set_len(50 << 20).expect("grown");
    works_without_git(damaged.root(), "`packed-refs` is larger than 32 MiB");
}

#[test]
fn two_servers_that_see_a_merge_at_once_fold_once() {
    let checkout = Checkout::begun();
    checkout.git(&["checkout", "-q", "-b", "feat"]);
    checkout.commit("a.rs", "fn a() {}\n");
    let mut session = at(checkout.root());
    let texts = [
        "The invoice exporter retries a failed upload three times.",
        "Thumbnails are rendered by the night worker alone.",
        "The importer reads the archive in one pass.",
    ];
    for text in texts {
        session.remember(text);
    }
    checkout.git(&["checkout", "-q", "main"]);
    checkout.git(&["merge", "-q", "--no-ff", "-m", "merge", "feat"]);
    let servers: Vec<Session> = (0..2)
        .map(|n| {
            let clock = ManualClock::at(Timestamp(NOON.0 + 60_000_000));
            let settings = session.engine.settings().clone();
            let engine = Engine::with_sources(settings, Box::new(clock), Box::new(SeededIds::new(100 + n)));
            let mut other = Session::new();
            other.engine = engine;
            other.scope = project::at(checkout.root()).expect("a project").scope("shared");
            other
        })
        .collect();
    let together = Barrier::new(servers.len());
    thread::scope(|scope| {
        for server in &servers {
            scope.spawn(|| {
                together.wait();
                server.recall(texts[0]);
            });
        }
    });
    for text in texts {
        assert_eq!(servers[0].recall(text).len(), 1, "{text}");
    }
    session.set_kind(PrincipalKind::Human);
    session.scope = servers[0].scope.clone();
    let folds = session.ok("memory_audit", json!({ "action": "branch_fold", "limit": 100 }));
    assert_eq!(folds["entries"].as_array().map(Vec::len), Some(texts.len()), "one line each: {folds}");
    let asked = session.ok("review_list", json!({}));
    assert_eq!(asked["reviews"], json!([]), "nobody is asked");
    let healthy = session.ok("doctor", json!({}));
    assert_eq!(healthy["healthy"], true, "{healthy:#}");
}

#[expect(clippy::disallowed_methods, reason = "fixtures need no atomic writes")]
fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("a file");
}
