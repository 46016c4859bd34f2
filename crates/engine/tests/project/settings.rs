//! What every setting of project memory does: two values, and the difference that shows.

use serde_json::{Value, json};
use strata_core::{
    error::ErrorKind,
    principal::PrincipalKind,
    scope::Scope,
    time::{DAY, Timestamp},
};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    engine::Engine,
    project,
    settings::{
        Settings,
        project::{FeatureScope, ProjectConfig, VectorBackend},
    },
};

use crate::{
    repository::Checkout,
    support::{NOON, Session},
};

type Change = fn(&mut ProjectConfig);

/// An agent in a checkout, under these settings.
fn at_checkout(checkout: &Checkout, change: Change) -> Session {
    let mut session = Session::with_settings(|settings| {
        settings.project_root = Some(checkout.root().to_owned());
        change(&mut settings.config.project);
    });
    stand(&mut session, checkout);
    session
}

/// The caller stands where a face would find it now.
fn stand(session: &mut Session, checkout: &Checkout) {
    session.scope = project::resolve(checkout.root(), None).expect("a project").scope("shared");
}

/// The same home days later, under other settings.
fn later(mut session: Session, days: i64, change: Change) -> Session {
    let mut settings: Settings = session.engine.settings().clone();
    settings.config.project = ProjectConfig::default();
    change(&mut settings.config.project);
    let clock = ManualClock::at(Timestamp(NOON.0 + days * DAY));
    let seed = 1_000_003 + days.unsigned_abs();
    session.engine = Engine::with_sources(settings, Box::new(clock), Box::new(SeededIds::new(seed)));
    session
}

fn is_found(session: &Session, text: &str) -> bool {
    let reply = session.ok("recall", json!({ "query": text }));
    reply["hits"].as_array().expect("hits").iter().any(|hit| hit["text"] == text)
}

fn retrieve(session: &Session, request: Value) -> Value {
    session.ok("retrieve_agent_context", request)
}

/// The ids that are due to be archived.
fn due(session: &Session) -> Vec<String> {
    let look = session.ok("retention_run", json!({}));
    let due = look["report"]["archive_candidates"].as_array().expect("a list");
    due.iter().map(|one| one["id"].as_str().expect("an id").to_owned()).collect()
}

fn status(session: &Session, id: &str) -> String {
    session.ok("inspect", json!({ "id": id }))["status"].as_str().expect("a status").to_owned()
}

fn learn(session: &Session, text: &str) -> String {
    session.ok("remember", json!({ "text": text }))["id"].as_str().expect("an id").to_owned()
}

fn audited(session: &Session, action: &str) -> usize {
    let reply = session.ok("memory_audit", json!({ "action": action, "limit": 100 }));
    reply["entries"].as_array().map_or(0, Vec::len)
}

const FEATURE: &str = "The invoice exporter retries a failed upload three times.";
const OTHER: &str = "Thumbnails are rendered by the night worker alone.";

#[test]
fn upkeep_tidies_the_branches_of_a_project_in_every_namespace_at_once() {
    let checkout = on_branch("feat");
    let mut session = at_checkout(&checkout, |_| {});
    let shared = learn(&session, FEATURE);
    session.scope.namespace = "kim".to_owned();
    let own = learn(&session, OTHER);
    session.scope.namespace = "shared".to_owned();
    let mut session = later(session, 41, |c| c.memory.branch_memory_retention_days = Some(40));
    session.set_kind(PrincipalKind::Human);
    let run = |force: bool| session.ok("maintain", json!({ "task": "branches", "force": force }));
    let done = run(false);
    assert_eq!((&done["tasks"][0]["status"], &done["failed"]), (&json!("done"), &json!(0)), "{done}");
    assert_eq!(done["tasks"][0]["detail"], "2 memories archived", "{done}");
    assert_eq!((status(&session, &shared), status(&session, &own)), ("archived".into(), "archived".into()));
}

/// A checkout on a branch with a commit of its own.
fn on_branch(name: &str) -> Checkout {
    let checkout = Checkout::begun();
    checkout.git(&["checkout", "-q", "-b", name]);
    checkout.commit("a.rs", "fn a() {}\n");
    checkout
}

#[test]
fn memories_of_branches_that_are_gone_are_shown_where_the_settings_say_so() {
    let checkout = on_branch("feat");
    let mut session = at_checkout(&checkout, |_| {});
    learn(&session, FEATURE);
    checkout.git(&["checkout", "-q", "main"]);
    checkout.git(&["branch", "-q", "-D", "feat"]);
    stand(&mut session, &checkout);
    let session =
        later(session, 0, |c| c.memory_retention.branch_cleanup.archive_deleted_branch_memories = false);
    assert!(!is_found(&session, FEATURE), "kept, and not shown");
    let session = later(session, 1, |c| {
        c.memory_retention.branch_cleanup.archive_deleted_branch_memories = false;
        c.retrieval.include_historical_branch_memory_by_default = true;
    });
    assert!(is_found(&session, FEATURE));
    let session = later(session, 2, |c| c.memory_retention.branch_cleanup.enabled = false);
    assert!(!is_found(&session, FEATURE));
    assert_eq!(audited(&session, "branch_abandon"), 0);
    let session = later(session, 3, |c| c.retrieval.include_historical_branch_memory_by_default = true);
    checkout.commit("b.rs", "fn b() {}\n");
    assert!(!is_found(&session, FEATURE), "archived after all");
    assert_eq!(audited(&session, "branch_abandon"), 1);
}

#[test]
fn what_stands_on_a_branch_for_long_is_archived_where_the_settings_say_so() {
    let checkout = on_branch("feat");
    let session = at_checkout(&checkout, |_| {});
    let id = learn(&session, FEATURE);
    let rule = session.ok("add_memory_node", json!({ "title": "R", "summary": OTHER, "kind": "decision" }));
    let session = later(session, 400, |_| {});
    assert_eq!(due(&session), [""; 0], "never without the setting");
    let with: Change = |c| c.memory.branch_memory_retention_days = Some(40);
    let session = later(session, 39, with);
    assert_eq!(due(&session), [""; 0]);
    // The clock went on a little before it was stored.
    let session = later(session, 41, with);
    assert_eq!(due(&session), [id.as_str()]);
    assert_eq!(status(&session, &id), "active", "only a look");
    let off = later(session, 42, |c| {
        c.memory.branch_memory_retention_days = Some(40);
        c.memory_retention.enabled = false;
    });
    assert_eq!(off.ok("retention_run", json!({ "dry_run": false }))["archived"], 0);
    let look = off.ok("retention_status", json!({}));
    assert_eq!(look["enabled"], false, "{look}");
    let shown = off.text("retention_status", json!({}));
    assert!(shown.contains("nothing of this is done: `enabled` under `[memory_retention]`"), "{shown}");
    let session = later(off, 43, with);
    assert_eq!(session.ok("retention_status", json!({}))["enabled"], true);
    assert_eq!(session.ok("retention_run", json!({ "dry_run": false }))["archived"], 1);
    assert_eq!(status(&session, &id), "archived");
    assert_eq!(status(&session, rule["id"].as_str().expect("an id")), "active", "a protected kind");
}

/// A home in which a branch was merged and one of its memories could not come along, with the ids of what came, and of what stayed.
fn merged() -> (Checkout, Session, String, String) {
    let checkout = Checkout::begun();
    let mut session = at_checkout(&checkout, |_| {});
    let topic = |text: &str| json!({ "text": text, "topic_key": "upload.limit" });
    session.set_kind(PrincipalKind::Human);
    session.ok("remember", topic("Uploads are limited to nine megabytes."));
    session.set_kind(PrincipalKind::Agent);
    checkout.git(&["checkout", "-q", "-b", "feat"]);
    checkout.commit("a.rs", "fn a() {}\n");
    stand(&mut session, &checkout);
    let came = learn(&session, FEATURE);
    let stayed = session.ok("remember", topic("Uploads are limited to five megabytes."))["id"].clone();
    checkout.git(&["checkout", "-q", "main"]);
    checkout.git(&["merge", "-q", "--no-ff", "-m", "merge", "feat"]);
    stand(&mut session, &checkout);
    assert!(is_found(&session, FEATURE));
    (checkout, session, came, stayed.as_str().expect("an id").to_owned())
}

#[test]
fn what_did_not_fold_is_archived_in_time_and_the_question_about_it_is_taken_back() {
    let (checkout, session, _, stayed) = merged();
    let waiting = |s: &mut Session| {
        s.set_kind(PrincipalKind::Human);
        let told = s.ok("review_list", json!({}));
        s.set_kind(PrincipalKind::Agent);
        told.to_string().contains("not all could be folded")
    };
    let mut session = later(session, 29, |_| {});
    assert!(waiting(&mut session), "somebody is asked");
    assert_eq!(due(&session), [""; 0]);
    let session = later(session, 31, |_| {});
    assert_eq!(due(&session), [stayed.as_str()]);
    let session = later(session, 31, |c| {
        c.memory_retention.branch_cleanup.archive_merged_branch_memories_after_days = 31;
    });
    assert_eq!(due(&session), [""; 0]);
    let session = later(session, 32, |c| c.memory_retention.branch_cleanup.enabled = false);
    assert_eq!(due(&session), [""; 0]);
    let idle = session.ok("maintain", json!({ "task": "branches", "force": true }));
    assert_eq!(idle["tasks"], json!([]), "no upkeep where the settings want none");
    // Upkeep does what is due by itself.
    let mut session = later(session, 33, |_| {});
    let done = session.ok("maintain", json!({ "task": "branches" }));
    assert_eq!((&done["tasks"][0]["status"], &done["failed"]), (&json!("done"), &json!(0)), "{done}");
    assert!(done["tasks"][0]["detail"].as_str().is_some_and(|said| said.starts_with('1')), "{done}");
    assert!(!waiting(&mut session), "the question is gone with what it was about");
    checkout.git(&["checkout", "-q", "feat"]);
    stand(&mut session, &checkout);
    assert!(!is_found(&session, "Uploads are limited to five megabytes."));
    let healthy = session.ok("doctor", json!({}));
    assert_eq!(healthy["healthy"], true, "{healthy:#}");
}

#[test]
fn what_came_to_the_mainline_stays_unless_the_settings_give_it_up() {
    let (_checkout, session, came, stayed) = merged();
    let chain = session.ok("memory_chain", json!({ "id": came })).to_string();
    let session = later(session, 31, |_| {});
    assert_eq!(due(&session), [stayed.as_str()]);
    let session = later(session, 31, |c| {
        c.memory_retention.branch_cleanup.preserve_promoted_mainline_knowledge = false;
    });
    let due = due(&session);
    assert_eq!(due.len(), 2, "{due:?}");
    assert!(due.iter().any(|id| *id != stayed && chain.contains(id.as_str())), "{due:?} of {chain}");
}

#[test]
fn what_is_folded_stays_its_writers() {
    let (checkout, session, ..) = merged();
    let hits = session.ok("recall", json!({ "query": FEATURE }));
    assert!(!hits.to_string().contains("system:branches"), "{hits}");
    let shown = session.ok("inspect", json!({ "id": hits["hits"][0]["id"] }));
    assert_eq!(shown["writer"], "agent:test", "{shown}");
    let fold = session.ok("memory_audit", json!({ "action": "branch_fold" }));
    assert_eq!(fold["entries"].as_array().map(Vec::len), Some(1), "{fold}");
    assert!(fold["entries"][0]["who"] == "system:branches", "{fold}");
    drop(checkout);
}

#[test]
fn memory_engine_c65_the_index_is_behind_the_head_until_it_is_refreshed() {
    let checkout = Checkout::begun();
    let session = at_checkout(&checkout, |_| {});
    session.ok("refresh_project_knowledge", json!({}));
    let told = || (session.ok("memory_status", json!({})), resource(&session, "sync-status"));
    let (before, text) = told();
    let head = checkout.git(&["rev-parse", "HEAD"]);
    assert_eq!((&before["index_behind_head"], &before["last_indexed_commit"]), (&json!(false), &json!(head)));
    assert!(text.contains("index_behind_head: false") && text.contains(&head), "{text}");
    let next = checkout.commit("b.md", "# More\n");
    let (behind, text) = told();
    assert_eq!((&behind["index_behind_head"], &behind["last_indexed_commit"]), (&json!(true), &json!(head)));
    assert!(text.contains("index_behind_head: true"), "{text}");
    session.ok("refresh_project_knowledge", json!({}));
    let (after, text) = told();
    assert_eq!((&after["index_behind_head"], &after["last_indexed_commit"]), (&json!(false), &json!(next)));
    assert!(text.contains("index_behind_head: false"), "{text}");
    // Without the setting, git has no part in it.
    let session = later(session, 1, |c| c.runtime.git_aware_sync = false);
    checkout.commit("c.md", "# Still more\n");
    session.ok("refresh_project_knowledge", json!({}));
    let apart = session.ok("memory_status", json!({}));
    assert_eq!(apart["index_behind_head"], false);
    assert!(apart.get("last_indexed_commit").is_none() && apart.get("last_git_sync_at").is_none(), "{apart}");
}

fn resource(session: &Session, name: &str) -> String {
    let uri = format!("memory://project/current/{name}");
    let resource = strata_engine::resources::RESOURCES.iter().find(|one| one.uri == uri).expect("listed");
    crate::support::with_call(session, |call| (resource.read)(&session.engine, call)).expect("read")
}

#[test]
fn a_retrieval_looks_for_what_is_not_committed_where_the_settings_say_so() {
    let checkout = Checkout::begun();
    checkout.write("src/upload.rs", "/// Sends invoices to the gateway.\npub fn upload() {}\n");
    checkout.commit("src/gateway.rs", "/// Takes invoices at the gateway.\npub fn take() {}\n");
    checkout.write("src/gateway.rs", "/// Takes invoices at the gateway.\npub fn take() -> u8 { 1 }\n");
    let asked = json!({ "task": "invoices at the gateway", "trace": "full" });
    let session = at_checkout(&checkout, |_| {});
    let pack = retrieve(&session, asked.clone());
    assert_eq!(pack["meta"]["uncommitted_files_count"], 1, "{pack}");
    let touched = |pack: &Value| -> Vec<String> {
        let trace = pack["retrieval_trace"].as_array().expect("a trace");
        let is_touched = |one: &&Value| one["score_breakdown"]["working_tree_source_match"] == json!(1.0);
        let paths = trace.iter().filter(is_touched).filter_map(|one| one["path"].as_str().map(str::to_owned));
        let mut paths: Vec<String> = paths.collect();
        paths.dedup();
        paths
    };
    assert_eq!(touched(&pack), ["src/gateway.rs"], "{pack}");
    let session = later(session, 1, |c| c.runtime.check_git_status_on_retrieval = false);
    let pack = retrieve(&session, asked);
    assert!(pack["meta"].get("uncommitted_files_count").is_none(), "{pack}");
    assert_eq!(touched(&pack), [""; 0]);
}

#[test]
fn what_a_reader_on_a_branch_sees_and_in_which_order_follows_the_settings() {
    let checkout = on_branch("feature/a");
    let mut session = at_checkout(&checkout, |_| {});
    let text = |where_from: &str| format!("{FEATURE} Said {where_from}.");
    learn(&session, &text("on a"));
    checkout.git(&["checkout", "-q", "-b", "feature/b"]);
    checkout.commit("b.rs", "fn b() {}\n");
    stand(&mut session, &checkout);
    let node = json!({ "title": "Upload", "summary": text("on b"), "kind": "module" });
    session.ok("add_memory_node", node);
    checkout.git(&["checkout", "-q", "main"]);
    stand(&mut session, &checkout);
    let node = json!({ "title": "Upload", "summary": text("on main"), "kind": "module" });
    session.ok("add_memory_node", node);
    checkout.git(&["checkout", "-q", "feature/b"]);
    stand(&mut session, &checkout);
    assert!(is_found(&session, &text("on a")));
    let asked = json!({ "task": "invoice exporter failed upload", "trace": "full" });
    let modules = |s: &Session| -> Vec<String> {
        let pack = retrieve(s, asked.clone());
        let list = pack["modules"].as_array().expect("a list");
        list.iter().map(|one| one["summary"].as_str().expect("text").to_owned()).collect()
    };
    let affinity = |s: &Session| retrieve(s, asked.clone()).to_string().contains("\"branch_affinity\":1.0");
    assert_eq!(modules(&session), [text("on b"), text("on main")]);
    assert!(affinity(&session));
    let session = later(session, 1, |c| c.retrieval.include_ancestor_branch_memory = false);
    assert!(!is_found(&session, &text("on a")) && is_found(&session, &text("on b")));
    let session = later(session, 2, |c| c.retrieval.include_mainline_fallback = false);
    assert_eq!(modules(&session), [text("on b")]);
    let session = later(session, 3, |c| c.retrieval.prefer_current_branch = false);
    assert!(!affinity(&session));
    let session = later(session, 4, |c| c.retrieval.branch_aware_ranking = false);
    assert!(!affinity(&session));
    assert_eq!(retrieve(&session, asked.clone())["meta"]["branch_aware_ranking"], false);
    let session = later(session, 5, |c| c.memory.branch_scope_on_feature_work = FeatureScope::Global);
    learn(&session, OTHER);
    let id = session.ok("recall", json!({ "query": text("on b") }))["hits"][0]["id"].clone();
    assert_eq!(session.ok("promote_to_mainline", json!({ "id": id }))["status"], "needs_confirmation");
    let session = later(session, 6, |c| c.memory.mainline_promotion_requires_confirmation = false);
    assert_eq!(session.ok("promote_to_mainline", json!({ "id": id }))["status"], "promoted");
    let mut session = session;
    checkout.git(&["checkout", "-q", "main"]);
    stand(&mut session, &checkout);
    assert!(is_found(&session, OTHER), "it went to the whole project");
}

#[test]
fn how_files_are_followed_and_searched_follows_the_settings() {
    let checkout = Checkout::begun();
    let session = at_checkout(&checkout, |c| c.runtime.auto_incremental_sync = false);
    let passages = |s: &Session, task: &str| {
        let pack = retrieve(s, json!({ "task": task }));
        (pack["knowledge_chunks"].as_array().map_or(0, Vec::len), pack)
    };
    checkout.write("docs/quokka.md", "# Quokka\n\nThe quokka queue drains at night.\n");
    assert_eq!(passages(&session, "quokka queue").0, 0, "nothing is noticed unasked");
    let session = later(session, 1, |c| c.runtime.auto_bootstrap = false);
    assert_eq!(passages(&session, "quokka queue").0, 0, "nothing is read before somebody asks");
    let session = later(session, 2, |_| {});
    let (found, pack) = passages(&session, "quokka queue");
    assert!(found > 0, "{pack}");
    let mode = |pack: &Value| pack["meta"]["retrieval_mode"].clone();
    assert_eq!(mode(&pack), "hybrid");
    assert_eq!(pack["token_budget"], 6000);
    assert_eq!(passages(&session, "quokka queue").1["cache_hit"], true);
    let session = later(session, 3, |c| {
        c.retrieval.default_token_budget = 900;
        c.retrieval.cache_enabled = false;
        c.retrieval.vector_backend = VectorBackend::None;
    });
    let (_, pack) = passages(&session, "quokka queue");
    assert_eq!((&pack["token_budget"], mode(&pack)), (&json!(900), json!("lexical_structured_fallback")));
    assert_eq!(passages(&session, "quokka queue").1["cache_hit"], false);
    // A file with the size and time of before is read again only where the settings want every file read.
    let at = checkout.root().join("docs/quokka.md");
    let before = std::fs::metadata(&at).expect("a file").modified().expect("a time");
    checkout.write("docs/quokka.md", "# Quokka\n\nThe wombat queue drains at night.\n");
    let file = std::fs::File::options().write(true).open(&at).expect("open");
    file.set_modified(before).expect("set");
    drop(file);
    let changed = |s: &Session| s.ok("refresh_project_knowledge", json!({}))["changes"]["changed"].clone();
    assert_eq!(changed(&session), 0);
    let session = later(session, 4, |c| c.runtime.incremental_indexing = false);
    assert_eq!(changed(&session), 1);
    let mut session = later(session, 5, |_| {});
    let mut settings = session.engine.settings().clone();
    settings.config.semantic.model = "some-model-nobody-has".to_owned();
    for may in [true, false] {
        settings.config.project.retrieval.allow_degraded_fallback = may;
        let clock = ManualClock::at(NOON);
        session.engine = Engine::with_sources(settings.clone(), Box::new(clock), Box::new(SeededIds::new(5)));
        let asked = json!({ "task": "wombat queue" });
        match may {
            true => assert_eq!(retrieve(&session, asked)["meta"]["semantic_status"], "unavailable"),
            false => assert_eq!(session.fails("retrieve_agent_context", asked), ErrorKind::Conflict),
        }
    }
    let session = later(session, 6, |c| {
        c.name = Some("Orders".to_owned());
        c.files.include = vec!["docs/**".to_owned()];
    });
    session.ok("refresh_project_knowledge", json!({}));
    let told = session.ok("memory_status", json!({}));
    assert_eq!(
        (&told["project_name"], &told["knowledge_documents"]),
        (&json!("Orders"), &json!(1)),
        "{told}"
    );
    let policy = |s: &Session| resource(s, "agent-policy");
    let asks = policy(&later(session, 7, |_| {}));
    let checkout = Checkout::begun();
    let quiet = at_checkout(&checkout, |c| (c.runtime.auto_recall, c.runtime.auto_reflect) = (false, false));
    assert_ne!(asks, policy(&quiet));
}

#[test]
fn what_is_put_away_and_summed_up_follows_the_settings() {
    let mut s = Session::with_settings(|_| {});
    s.scope = Scope::project("web");
    let node = |title: &str, summary: &str, kind: &str, parent: Option<&str>| {
        let evidence = [format!("seen in {title}")];
        let node = json!({ "title": title, "summary": summary, "kind": kind, "parent": parent, "evidence": evidence });
        s.ok("add_memory_node", node)["id"].as_str().expect("an id").to_owned()
    };
    let top = node("Scheduler", "Runs the tasks of the night in order", "architecture", None);
    let lessons = [
        node("L1", "The page forgot its place when the window shrank", "debug", None),
        node("L2", "A name with a blank was cut in half by the script", "debug", None),
        node("L3", "The clock of the meter ran backwards in autumn", "debug", Some(&top)),
    ];
    let how = node("P1", "Pictures are renamed by the night worker", "procedure", None);
    let stale = node("P2", "The old queue had a length of nine", "procedure", Some(&top));
    s.ok("mark_stale", json!({ "node": stale, "reason": "another queue" }));
    let old = node("M1", "The gateway takes invoices in batches of ten", "module", Some(&top));
    s.ok("update", json!({ "id": old, "text": "The gateway takes invoices in batches of twenty" }));
    s.ok(
        "reflect",
        json!({ "text": "Batches are written before the lock is given back", "kind": "procedure" }),
    );
    let look = |s: &Session| s.ok("retention_run", json!({}))["report"].clone();
    let groups = |s: &Session| look(s)["compaction_groups"].clone();
    let count = |s: &Session, list: &str| look(s)[list].as_array().map_or(0, Vec::len);

    let s = later(s, 200, |_| {});
    assert_eq!(groups(&s), json!([]), "two of a parent are too few");
    assert_eq!((count(&s, "archive_candidates"), count(&s, "expiry_candidates")), (2, 1), "{}", look(&s));
    let s = later(s, 200, |c| {
        let retention = &mut c.memory_retention;
        (retention.stale_archive_days, retention.inactive_archive_days) = (300, 300);
        retention.candidate_expiry_days = 300;
    });
    assert_eq!((count(&s, "archive_candidates"), count(&s, "expiry_candidates")), (0, 0));
    let s = later(s, 200, |c| c.memory_retention.compaction.min_related_memories = 2);
    assert_eq!(groups(&s), json!([["L1", "L2"]]));
    let s = later(s, 200, |c| {
        c.memory_retention.compaction.min_related_memories = 2;
        c.memory_retention.compaction.min_age_days = 300;
    });
    assert_eq!(groups(&s), json!([]));
    let s = later(s, 200, |c| c.memory_retention.compaction.require_same_memory_type = false);
    assert_eq!(groups(&s), json!([["L1", "L2", "P1"]]));
    let wide: Change = |c| c.memory_retention.compaction.require_same_parent_scope = false;
    let s = later(s, 200, wide);
    assert_eq!(groups(&s), json!([["L1", "L2", "L3"]]));
    let s = later(s, 200, |c| {
        c.memory_retention.compaction.require_same_parent_scope = false;
        c.memory_retention.compaction.enabled = false;
    });
    assert_eq!(groups(&s), json!([]));
    let s = later(s, 200, |c| {
        c.memory_retention.compaction.require_same_parent_scope = false;
        c.memory_retention.protected_memory_types.push("debug".to_owned());
    });
    assert_eq!(groups(&s), json!([]));
    let s = later(s, 200, |c| {
        let compaction = &mut c.memory_retention.compaction;
        compaction.require_same_parent_scope = false;
        compaction.preserve_original_evidence = false;
        compaction.auto_archive_source_memories = false;
    });
    let done = s.ok("retention_run", json!({ "dry_run": false }));
    let sum = s.ok("inspect", json!({ "id": done["compacted"][0] }));
    assert!(!sum.to_string().contains("seen in"), "{sum}");
    assert!(lessons.iter().all(|id| status(&s, id) == "active") && status(&s, &how) == "active");
    // The defaults of both, which the other tests of retention show too.
    let s = later(s, 201, wide);
    let again = s.ok("retention_run", json!({ "dry_run": false }));
    assert_eq!(again["compacted"].as_array().map(Vec::len), Some(0), "the same sum is in force: {again}");
}

#[test]
fn memory_engine_c45_c46_the_revision_of_memories_rises_with_a_change_and_with_nothing_else() {
    let checkout = Checkout::begun();
    let session = at_checkout(&checkout, |_| {});
    let revision = || session.ok("memory_status", json!({}))["memory_revision"].as_i64().expect("a number");
    let report = |verified: &str, outcome: &str| {
        json!({
            "task": "Fix crash of the queue worker",
            "outcome": outcome,
            "verification_status": verified,
            "changed_files": ["README.md"],
        })
    };
    let lesson =
        "The worker read the queue before it took the lock, so two of them took one batch of invoices.";
    let mut before = revision();
    let mut step = |request: Value, outcome: &str, rises: bool| {
        assert_eq!(session.ok("reflect_and_write", request)["outcome"], outcome);
        let now = revision();
        assert_eq!(now > before, rises, "{outcome}: {before} and {now}");
        before = now;
    };
    step(report("tests_failed", lesson), "skipped", false);
    step(report("tests_passed", lesson), "persisted", true);
    step(
        report("tests_passed", "It was rolled back in production after an hour of faults."),
        "skipped",
        false,
    );
    session.ok("refresh_project_knowledge", json!({}));
    assert_eq!(revision(), before, "files are no memories");
}
