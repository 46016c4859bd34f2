//! Memories on branches, with real repositories.

use std::path::Path;

use serde_json::{Value, json};
use strata_core::{
    memory::Relation,
    principal::PrincipalKind,
    scope::Scope,
    signing::{DerivationParams, SecretKey},
    time::Timestamp,
};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    engine::Engine,
    project,
};
use strata_store::{ledger::MemoryRelation, sql::Control};

use crate::{
    repository::Checkout,
    support::{NOON, Session},
};

/// An agent in a checkout.
fn at(checkout: &Checkout) -> Session {
    let mut session = Session::with_settings(|settings| {
        settings.project_root = Some(checkout.root().to_owned());
    });
    stand(&mut session, checkout.root());
    session
}

/// The caller stands where a face would find it now.
fn stand(session: &mut Session, directory: &Path) {
    session.scope = project::resolve(directory, None).expect("a project").scope("shared");
}

/// The same home from another directory.
fn moved_to(mut session: Session, directory: &Path, seed: u64) -> Session {
    let mut settings = session.home.settings();
    settings.project_root = Some(directory.to_owned());
    let clock = ManualClock::at(Timestamp(NOON.0 + 60_000_000 * i64::try_from(seed).expect("small")));
    session.engine = Engine::with_sources(settings, Box::new(clock), Box::new(SeededIds::new(seed)));
    stand(&mut session, directory);
    session
}

/// Stores a text and gives its id.
fn learn(session: &Session, text: &str) -> String {
    session.ok("remember", json!({ "text": text }))["id"].as_str().expect("an id").to_owned()
}

/// The texts that a search finds, best first.
fn found(session: &Session, query: &str) -> Vec<String> {
    let reply = session.ok("recall", json!({ "query": query }));
    let hits = reply["hits"].as_array().expect("a list");
    hits.iter().map(|hit| hit["text"].as_str().expect("a text").to_owned()).collect()
}

/// Whether every way to read shows a text: a search, the pack, the hot page and the id.
fn is_seen(session: &Session, text: &str) -> bool {
    let searched = found(session, text).iter().any(|hit| hit == text);
    let packed = session.text("context", json!({ "task": text })).contains(text);
    let page = crate::support::with_call(session, |call| {
        strata_engine::context::hot::page(&session.engine, call).expect("a page")
    });
    assert_eq!(searched, packed, "{text}: search and pack differ");
    assert_eq!(searched, page.contains(text), "{text}: search and hot page differ: {page}");
    searched
}

fn audit(session: &Session, action: &str) -> Vec<Value> {
    let reply = session.ok("memory_audit", json!({ "action": action, "limit": 100 }));
    reply["entries"].as_array().cloned().expect("a list")
}

const FEATURE: &str = "The invoice exporter retries a failed upload three times.";

#[test]
fn memory_engine_c61_c63_what_is_learned_on_a_branch_says_so_and_a_checkout_is_noticed_at_once() {
    let checkout = Checkout::begun();
    let mut session = at(&checkout);
    let before = session.ok("remember", json!({ "text": "The API listens on port 8080." }));
    checkout.git(&["checkout", "-q", "-b", "feature/x"]);
    let commit = checkout.commit("a.rs", "fn a() {}\n");
    stand(&mut session, checkout.root());
    let id = learn(&session, FEATURE);
    let exported = exported(&mut session);
    let stored = exported.iter().find(|line| line["id"] == id.as_str()).expect("exported");
    assert_eq!(stored["scope"]["branch"], "feature/x");
    assert_eq!(stored["branch_scope"], "current_branch");
    assert_eq!(stored["commit"], commit.as_str());
    let on_main = exported.iter().find(|line| line["id"] == before["id"]).expect("exported");
    assert_eq!(on_main["scope"]["branch"], Value::Null);
    assert_eq!(on_main["branch_scope"], "mainline");
    assert!(on_main["commit"].is_string());
    let listed = session.ok("project_branches", json!({}));
    assert_eq!(listed["current"], "feature/x");
    assert_eq!(listed["branches"][0]["standing"], "here");
    checkout.git(&["checkout", "-q", "main"]);
    stand(&mut session, checkout.root());
    assert_eq!(session.ok("project_branches", json!({})).get("current"), None);
    assert!(!is_seen(&session, FEATURE));
    let asked = json!({ "task": FEATURE });
    for branch in ["feature/x", "main"] {
        checkout.git(&["checkout", "-q", branch]);
        stand(&mut session, checkout.root());
        assert_eq!(session.ok("memory_status", json!({}))["current_branch"], branch);
        let pack = session.ok("retrieve_agent_context", asked.clone());
        assert_eq!(pack["meta"]["current_branch"], branch);
        assert_eq!(pack["facts"].to_string().contains("invoice exporter"), branch == "feature/x", "{pack}");
    }
    let read = session.reply("inspect", json!({ "id": id }));
    assert!(read.is_err(), "a memory of another branch is not shown by its id either");
}

/// The lines of an export, which a person makes.
fn exported(session: &mut Session) -> Vec<Value> {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("all.jsonl");
    session.set_kind(PrincipalKind::Human);
    session.ok("export", json!({ "path": file }));
    session.set_kind(PrincipalKind::Agent);
    let text = std::fs::read_to_string(file).expect("a file");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn field_case_42_a_worktrees_memory_comes_to_main_with_its_merge_and_not_before() {
    let checkout = Checkout::begun();
    let tree = checkout.beside("feat");
    checkout.git(&["worktree", "add", "-q", "-b", "feat", tree.to_str().expect("UTF-8")]);
    let session = moved_to(at(&checkout), &tree, 2);
    let id = learn(&session, FEATURE);
    assert!(is_seen(&session, FEATURE));
    let session = moved_to(session, checkout.root(), 3);
    assert!(!is_seen(&session, FEATURE), "a branch without a commit of its own is not merged");
    checkout.git_in(&tree, &["commit", "-q", "--allow-empty", "-m", "work"]);
    checkout.commit("main.rs", "fn main() {}\n");
    assert!(!is_seen(&session, FEATURE), "nor is one that has gone on");
    checkout.git(&["merge", "-q", "--no-ff", "-m", "merge feat", "feat"]);
    assert!(is_seen(&session, FEATURE), "{:?}", session.ok("project_branches", json!({})));
    let folds = audit(&session, "branch_fold");
    assert_eq!(folds.len(), 1, "{folds:?}");
    checkout.git(&["worktree", "remove", "--force", tree.to_str().expect("UTF-8")]);
    checkout.git(&["branch", "-q", "-d", "feat"]);
    assert!(is_seen(&session, FEATURE));
    assert_eq!(audit(&session, "branch_fold").len(), 1, "once");
    let history = session.ok("memory_chain", json!({ "id": id }));
    assert!(history.to_string().contains(&id), "{history}");
}

#[test]
fn field_case_42_what_was_learned_on_a_branch_that_is_deleted_unmerged_is_archived() {
    let checkout = Checkout::begun();
    checkout.git(&["checkout", "-q", "-b", "feat"]);
    checkout.commit("a.rs", "fn a() {}\n");
    let mut session = at(&checkout);
    let id = learn(&session, FEATURE);
    checkout.git(&["checkout", "-q", "main"]);
    stand(&mut session, checkout.root());
    checkout.git(&["branch", "-q", "-D", "feat"]);
    assert!(!is_seen(&session, FEATURE));
    let given_up = audit(&session, "branch_abandon");
    assert_eq!(given_up.len(), 1, "{given_up:?}");
    let line = exported(&mut session).into_iter().find(|line| line["id"] == id.as_str()).expect("not lost");
    let states = line["states"].as_array().expect("states");
    assert_eq!(states.last().expect("a state")["status"], "archived");
}

#[test]
fn what_was_archived_with_its_branch_is_listed_and_stays_when_it_is_brought_back() {
    let checkout = Checkout::begun();
    checkout.git(&["checkout", "-q", "-b", "feat"]);
    checkout.commit("a.rs", "fn a() {}\n");
    let mut session = at(&checkout);
    let (id, other) = (learn(&session, FEATURE), learn(&session, "The exporter writes one file a day."));
    checkout.git(&["checkout", "-q", "main"]);
    stand(&mut session, checkout.root());
    checkout.git(&["branch", "-q", "-D", "feat"]);
    assert!(!is_seen(&session, FEATURE));
    let branch = |session: &Session| session.ok("project_branches", json!({}))["branches"][0].clone();
    let listed = branch(&session);
    assert_eq!((&listed["branch"], &listed["memories"]), (&json!("feat"), &json!(0)), "{listed}");
    assert_eq!((&listed["archived"], &listed["archived_ids"]), (&json!(2), &json!([other, id])), "{listed}");
    assert!(listed["archived_because"].as_str().is_some_and(|why| why.contains("was deleted")), "{listed}");
    let text = session.text("project_branches", json!({}));
    assert!(text.contains(&format!("strata restore {other}")) && text.contains(&id), "{text}");

    session.set_kind(PrincipalKind::Human);
    session.ok("restore", json!({ "id": id }));
    // The repository goes on, and everything is judged anew.
    checkout.commit("main.rs", "fn main() {}\n");
    assert!(!is_seen(&session, FEATURE), "it stands on its branch");
    let listed = branch(&session);
    assert_eq!((&listed["memories"], &listed["archived"]), (&json!(1), &json!(1)), "{listed}");
    session.ok("promote_to_mainline", json!({ "id": id, "confirm": true }));
    session.set_kind(PrincipalKind::Agent);
    assert!(is_seen(&session, FEATURE), "and now it holds for all");
    assert_eq!(audit(&session, "branch_abandon").len(), 2);
}

#[test]
fn a_rule_that_was_learned_on_a_branch_holds_everywhere_and_outlives_it() {
    const RULE: &str = "Invoices must never be deleted from the archive bucket.";
    let checkout = Checkout::begun();
    checkout.git(&["checkout", "-q", "-b", "feat"]);
    checkout.commit("a.rs", "fn a() {}\n");
    let mut session = at(&checkout);
    let learned = session.ok("remember", json!({ "text": RULE, "kind": "constraint" }));
    session.set_kind(PrincipalKind::Human);
    session.secret =
        Some(SecretKey::derive("correct horse", &[3; 16], DerivationParams::CHEAP).expect("derived"));
    session.ok("init", json!({}));
    let promoted = session.ok("promote_memory", json!({ "node": learned["id"] }));
    assert_eq!(promoted["layer"], "P0", "{promoted}");
    let evidence = json!({ "node": promoted["id"], "content": "the auditors asked for it in March" });
    for is_new in [true, false] {
        assert_eq!(session.ok("add_evidence", evidence.clone())["added"], is_new);
    }
    let line =
        exported(&mut session).into_iter().find(|line| line["id"] == promoted["id"]).expect("exported");
    assert_eq!((&line["scope"]["branch"], &line["branch_scope"]), (&Value::Null, &json!("global")), "{line}");
    checkout.git(&["checkout", "-q", "main"]);
    stand(&mut session, checkout.root());
    checkout.git(&["branch", "-q", "-D", "feat"]);
    assert!(session.text("context", json!({ "task": "clean up the bucket" })).contains(RULE));
    assert_eq!(audit(&session, "branch_abandon"), Vec::<Value>::new());
}

#[test]
fn squash_rebase_and_cherry_pick_bring_memories_along_and_half_a_branch_asks() {
    for way in ["squash", "rebase", "cherry-pick", "half"] {
        let checkout = Checkout::begun();
        checkout.git(&["checkout", "-q", "-b", "feat"]);
        let first = checkout.commit("a.rs", "fn a() {}\n");
        let second = checkout.commit("b.rs", "fn b() {}\n");
        let mut session = at(&checkout);
        learn(&session, FEATURE);
        checkout.git(&["checkout", "-q", "main"]);
        stand(&mut session, checkout.root());
        checkout.commit("main.rs", "fn main() {}\n");
        assert!(!is_seen(&session, FEATURE), "{way}");
        match way {
            "squash" => {
                checkout.git(&["merge", "-q", "--squash", "feat"]);
                checkout.git(&["commit", "-q", "-m", "all of feat"]);
            }
            "rebase" => {
                checkout.git(&["checkout", "-q", "feat"]);
                checkout.git(&["rebase", "-q", "main"]);
                stand(&mut session, checkout.root());
                assert!(is_seen(&session, FEATURE), "a rebased branch keeps its memories");
                checkout.git(&["checkout", "-q", "main"]);
                stand(&mut session, checkout.root());
                checkout.git(&["merge", "-q", "--ff-only", "feat"]);
            }
            "cherry-pick" => drop(checkout.git(&["cherry-pick", &first, &second])),
            _ => drop(checkout.git(&["cherry-pick", &first])),
        }
        if way == "half" {
            assert!(!is_seen(&session, FEATURE), "half a branch is not the branch");
            checkout.git(&["branch", "-q", "-D", "feat"]);
            assert!(!is_seen(&session, FEATURE));
            session.set_kind(PrincipalKind::Human);
            let asked = session.ok("review_list", json!({}));
            assert!(asked.to_string().contains("1 of its commits"), "{asked}");
            session.ok("project_merged", json!({ "branch": "feat" }));
            assert!(is_seen(&session, FEATURE));
            let left = session.ok("review_list", json!({ "status": "pending" }));
            assert!(!left.to_string().contains("1 of its commits"), "{left}");
        } else {
            checkout.git(&["branch", "-q", "-D", "feat"]);
            assert!(is_seen(&session, FEATURE), "{way}");
            assert_eq!(audit(&session, "branch_fold").len(), 1, "{way}");
        }
    }
}

#[test]
fn a_branch_sees_what_it_was_made_from_and_a_detached_head_what_it_stands_on() {
    let checkout = Checkout::begun();
    checkout.git(&["checkout", "-q", "-b", "feature/a"]);
    checkout.commit("a.rs", "fn a() {}\n");
    let mut session = at(&checkout);
    learn(&session, FEATURE);
    checkout.git(&["checkout", "-q", "-b", "feature/b"]);
    checkout.commit("b.rs", "fn b() {}\n");
    stand(&mut session, checkout.root());
    let other = "Uploads are signed with the tenant's own key.";
    learn(&session, other);
    assert!(is_seen(&session, FEATURE) && is_seen(&session, other));
    checkout.git(&["checkout", "-q", "feature/a"]);
    stand(&mut session, checkout.root());
    assert!(is_seen(&session, FEATURE) && !is_seen(&session, other));
    checkout.git(&["checkout", "-q", "--detach", "feature/b"]);
    stand(&mut session, checkout.root());
    assert!(is_seen(&session, FEATURE) && is_seen(&session, other));
    checkout.commit("c.rs", "fn c() {}\n");
    stand(&mut session, checkout.root());
    let apart = "The importer reads the archive in one pass.";
    learn(&session, apart);
    assert!(is_seen(&session, apart) && is_seen(&session, other));
    checkout.git(&["checkout", "-q", "-b", "feature/c"]);
    stand(&mut session, checkout.root());
    assert!(
        is_seen(&session, apart),
        "a branch begun where a commit was checked out has what was learned there"
    );
    checkout.git(&["checkout", "-q", "main"]);
    stand(&mut session, checkout.root());
    assert!(!is_seen(&session, FEATURE) && !is_seen(&session, other) && !is_seen(&session, apart));
}

#[test]
fn a_renamed_and_a_force_pushed_branch_keep_their_memories() {
    let checkout = Checkout::begun();
    checkout.git(&["checkout", "-q", "-b", "old-name"]);
    checkout.commit("a.rs", "fn a() {}\n");
    let mut session = at(&checkout);
    learn(&session, FEATURE);
    checkout.git(&["branch", "-m", "new-name"]);
    stand(&mut session, checkout.root());
    assert!(is_seen(&session, FEATURE), "renamed");
    assert_eq!(session.ok("project_branches", json!({}))["branches"][0]["branch"], "new-name");
    checkout.git(&["commit", "-q", "--amend", "-m", "another message"]);
    assert!(is_seen(&session, FEATURE), "amended");
    checkout.git(&["checkout", "-q", "main"]);
    stand(&mut session, checkout.root());
    assert!(!is_seen(&session, FEATURE));
}

#[test]
fn memory_engine_c62_of_equal_texts_the_own_branchs_and_the_projects_are_seen_and_no_others() {
    let checkout = Checkout::begun();
    let mut session = at(&checkout);
    for branch in ["feature/y", "feature/x"] {
        checkout.git(&["checkout", "-q", "-b", branch, "main"]);
        checkout.commit(&format!("{}.rs", branch.replace('/', "-")), "fn own() {}\n");
        stand(&mut session, checkout.root());
        learn(&session, &format!("{FEATURE} As of {branch}."));
    }
    checkout.git(&["checkout", "-q", "main"]);
    stand(&mut session, checkout.root());
    learn(&session, &format!("{FEATURE} As of main."));
    checkout.git(&["checkout", "-q", "feature/x"]);
    stand(&mut session, checkout.root());
    let hits = found(&session, "how often does the invoice exporter retry a failed upload");
    assert!(hits.iter().any(|hit| hit.contains("As of feature/x")), "{hits:?}");
    assert!(hits.iter().all(|hit| !hit.contains("feature/y")), "{hits:?}");
}

#[test]
fn memory_engine_c64_a_memory_is_promoted_by_hand_only_when_that_is_confirmed() {
    let checkout = Checkout::begun();
    checkout.git(&["checkout", "-q", "-b", "feat"]);
    checkout.commit("a.rs", "fn a() {}\n");
    let mut session = at(&checkout);
    let id = learn(&session, FEATURE);
    let asked = session.ok("promote_to_mainline", json!({ "id": id }));
    assert_eq!(asked["status"], "needs_confirmation");
    checkout.git(&["checkout", "-q", "main"]);
    stand(&mut session, checkout.root());
    assert!(!is_seen(&session, FEATURE));
    checkout.git(&["checkout", "-q", "feat"]);
    stand(&mut session, checkout.root());
    let done = session.ok("promote_to_mainline", json!({ "id": id, "confirm": true }));
    assert_eq!(done["status"], "promoted");
    let relations = session.engine.existing_ledger().expect("there").read(&Control::default(), |r| {
        r.memory_relations(r.memory(done["id"].as_str().expect("an id"))?.expect("stored").number)
    });
    let is_promotion = |r: &MemoryRelation| r.relation == Relation::PromotedToMainline;
    assert!(relations.expect("read").iter().any(is_promotion));
    checkout.git(&["checkout", "-q", "main"]);
    stand(&mut session, checkout.root());
    assert!(is_seen(&session, FEATURE));
}

#[test]
fn memory_engine_c66_neither_a_remote_nor_an_identity_is_in_any_answer() {
    let checkout = Checkout::begun();
    checkout.git(&["config", "remote.origin.url", "https://ana:hunter2secret@git.private.test/team/app.git"]);
    checkout.git(&["config", "user.email", "ana@private.test"]);
    checkout.git(&["checkout", "-q", "-b", "feat"]);
    checkout.commit("a.rs", "fn a() {}\n");
    let session = at(&checkout);
    learn(&session, FEATURE);
    let mut all = String::new();
    for (tool, request) in [
        ("project_branches", json!({})),
        ("recall", json!({ "query": FEATURE })),
        ("context", json!({ "task": FEATURE })),
        ("status", json!({})),
        ("memory_audit", json!({})),
        ("project_merged", json!({ "branch": "feat", "dry_run": true })),
    ] {
        let reply = session.reply(tool, request).unwrap_or_else(|e| panic!("{tool}: {e}"));
        all.push_str(&format!("{}{}", reply.json, reply.document.to_markdown()));
    }
    for (tool, request) in [
        ("memory_status", json!({})),
        ("retrieve_agent_context", json!({ "task": FEATURE, "trace": "full" })),
        ("project_learn", json!({ "dry_run": true })),
        ("project_check", json!({})),
    ] {
        all.push_str(&session.ok(tool, request).to_string());
    }
    for resource in strata_engine::resources::RESOURCES {
        let read = |call: &strata_engine::operation::Call<'_>| (resource.read)(&session.engine, call);
        all.push_str(&crate::support::with_call(&session, read).expect("text"));
    }
    assert!(all.contains("current_branch: feat"), "what git says is told");
    for word in ["hunter2secret", "git.private.test", "ana@private.test", "Ana Writer"] {
        assert!(!all.contains(word), "{word}");
    }
}

#[test]
fn field_case_40_nothing_of_one_repository_is_seen_from_another() {
    let (one, other) = (Checkout::begun(), Checkout::begun());
    other.git(&["config", "remote.origin.url", "https://git.example.test/team/other"]);
    one.git(&["config", "remote.origin.url", "https://git.example.test/team/one"]);
    let session = at(&one);
    learn(&session, FEATURE);
    let session = moved_to(session, other.root(), 2);
    assert!(!is_seen(&session, FEATURE));
    assert_ne!(session.scope, Scope::user());
}

#[test]
fn what_history_and_records_tell_is_proposed_once_and_never_in_force_by_itself() {
    let checkout = Checkout::begun();
    checkout.write(
        "docs/adr/001-retry.md",
        "# Retry uploads\n\n## Status\n\nAccepted\n\n## Decision\n\nAn upload is tried three times.\n",
    );
    checkout.git(&["add", "-A"]);
    checkout.git(&["commit", "-q", "-m", "fix: the gateway drops one upload in ten\n\nSeen under load.\n\nSigned-off-by: Ana Writer <ana@private.test>"]);
    let mut session = at(&checkout);
    let told = session.ok("project_learn", json!({ "dry_run": true }));
    assert_eq!(told["proposals"].as_array().map(Vec::len), Some(2), "{told}");
    assert!(session.ok("project_learn", json!({}))["proposals"][0]["review"].is_string());
    assert!(found(&session, "upload is tried three times").is_empty(), "only proposed");
    let again = session.ok("project_learn", json!({}));
    assert_eq!(
        (again["proposals"].as_array().map(Vec::len), &again["known"]),
        (Some(0), &json!(2)),
        "{again}"
    );
    session.set_kind(PrincipalKind::Human);
    let waiting = session.ok("review_list", json!({}));
    assert_eq!(waiting["reviews"].as_array().map(Vec::len), Some(2), "{waiting}");
    assert!(!format!("{told}{waiting}").contains("private.test"));
}
