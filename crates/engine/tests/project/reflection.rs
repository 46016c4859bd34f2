//! What finished work leaves.

use serde_json::{Value, json};
use strata_core::{
    error::ErrorKind,
    memory::Kind,
    principal::{Principal, PrincipalKind},
    scope::Scope,
    time::{DAY, Timestamp},
};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    engine::Engine,
};
use strata_store::ledger::{MemoryFilter, MemoryRow};

use crate::support::{NOON, Session, with_call};

/// An agent in a project.
pub(crate) fn session() -> Session {
    let mut session = Session::new();
    session.scope = Scope::project("web");
    session
}

pub(crate) fn reflect(s: &Session, report: Value) -> Value {
    s.ok("reflect_and_write", report)
}

pub(crate) fn shown(s: &Session, id: &Value) -> Value {
    s.ok("inspect", json!({ "id": id }))
}

/// The titles of the memories in force of one kind.
pub(crate) fn titles(s: &Session, kind: &str) -> Vec<String> {
    let kinds = vec![Kind::parse(kind).expect("a kind")];
    let filter = MemoryFilter { kinds, ..MemoryFilter::default() };
    let rows = with_call(s, |call| s.engine.read(call, |r| r.memories(&filter)).expect("read"));
    let mut titles: Vec<String> = rows.into_iter().map(|row| row.title).collect();
    titles.sort();
    titles
}

/// A memory as the ledger has it.
fn stored(s: &Session, id: &Value) -> MemoryRow {
    let id = id.as_str().expect("an id");
    with_call(s, |call| s.engine.read(call, |r| r.memory(id)).expect("read")).expect("stored")
}

pub(crate) const LESSON: &str =
    "The worker read the queue before it took the lock, so two of them took one batch; now it locks first.";

pub(crate) fn bug(outcome: &str) -> Value {
    json!({
        "task": "Fix crash of the queue worker",
        "outcome": outcome,
        "verification_status": "tests_passed",
        "changed_files": ["src/queue/worker.py"],
    })
}

#[test]
fn memory_engine_c45_a_fixed_fault_becomes_one_incident() {
    let s = session();
    let reply = reflect(&s, bug(LESSON));
    assert_eq!(
        (&reply["outcome"], &reply["candidates_promoted"]),
        (&json!("persisted"), &json!(1)),
        "{reply}"
    );
    let kept = &reply["candidates"][0];
    assert_eq!((&kept["kind"], &kept["action"]), (&json!("debug"), &json!("create")));
    let memory = shown(&s, &kept["id"]);
    assert_eq!((&memory["importance"], &memory["layer"]), (&json!(0.85), &json!("P6")), "{memory}");
    assert_eq!(memory["title"], "Fix: crash of the queue worker");
    assert_eq!(titles(&s, "incident").len(), 1);
}

/// The same caller in a folder of his own.
fn rooted(folder: &tempfile::TempDir) -> Session {
    let root = folder.path().to_owned();
    let mut s = Session::with_settings(|settings| settings.project_root = Some(root));
    s.scope = Scope::project("web");
    s
}

#[test]
fn memory_engine_c45_c46_what_is_kept_is_told_next_time_and_counts_one_revision() {
    let folder = tempfile::tempdir().expect("a folder");
    let s = rooted(&folder);
    let revision = || s.ok("memory_status", json!({}))["memory_revision"].as_i64().expect("a number");
    let before = revision();
    let kept = reflect(&s, bug(LESSON))["candidates"][0]["id"].clone();
    assert_eq!(revision(), before + 1);
    let pack = s.ok("retrieve_agent_context", json!({ "task": "The queue worker crashes again" }));
    assert_eq!(
        (&pack["incidents"][0]["id"], &pack["incidents"][0]["kind"]),
        (&kept, &json!("debug")),
        "{pack}"
    );
    for (status, outcome) in
        [("tests_failed", LESSON), ("tests_passed", "rolled back"), ("unverified", "Looks good")]
    {
        let mut report = bug(outcome);
        report["verification_status"] = json!(status);
        assert_eq!(reflect(&s, report)["outcome"], "skipped", "{outcome}");
    }
    assert_eq!(reflect(&s, bug(LESSON))["outcome"], "skipped");
    assert_eq!(revision(), before + 1, "what is skipped is no change");
}

#[test]
fn memory_engine_c46_c47_c48_c49_the_gates_say_why() {
    let s = session();
    let long = "Improved error handling for callers so retries stop once the batch is done and written";
    for (status, outcome, skipped) in [
        ("tests_failed", LESSON, "task_failed"),
        ("tests_passed", "rolled back", "task_reverted"),
        ("tests_passed", "failed in production and was reverted", "task_reverted"),
        ("manual_check", "We could not reproduce it on any machine that we have here", "task_failed"),
        ("unverified", "Looks good", "unverified_low_confidence"),
    ] {
        let mut report = bug(outcome);
        report["verification_status"] = json!(status);
        let reply = reflect(&s, report);
        assert_eq!(
            (&reply["outcome"], &reply["skip_reason"]),
            (&json!("skipped"), &json!(skipped)),
            "{outcome}"
        );
        assert!(!reply["reasons"].as_array().expect("reasons").is_empty());
    }
    let typo = json!({ "task": "Fix typo in the page", "outcome": "Fixed the wrong word", "verification_status": "tests_passed" });
    assert_eq!(reflect(&s, typo)["skip_reason"], "trivial_change");
    assert!(titles(&s, "incident").is_empty(), "nothing of it is kept");
    let mut improved = bug(long);
    improved["verification_status"] = json!("manual_check");
    assert_eq!(reflect(&s, improved)["outcome"], "persisted");
    let mut said =
        bug("It was rolled back, says the log of the fault that this repairs, whenever two workers met");
    said["task_outcome"] = json!("completed");
    assert_eq!(reflect(&s, said)["outcome"], "persisted", "an explicit outcome wins over words");
    let mut sure =
        bug("The cache forgot a page when two of them had the same name; names are made of the path now.");
    (sure["verification_status"], sure["agent_confidence"]) = (json!("unverified"), json!(0.8));
    sure["task"] = json!("Fix pages of the same name");
    assert_eq!(reflect(&s, sure)["outcome"], "persisted", "whoever is sure may say so");
    let unknown = json!({ "task": "t", "outcome": "o", "verification_status": "by_faith" });
    assert_eq!(s.fails("reflect_and_write", unknown), ErrorKind::Invalid);
    let flagged = json!({ "task": "t", "outcome": LESSON, "user_instruction_flags": ["do_not_persist"] });
    assert_eq!(reflect(&s, flagged)["outcome"], "skipped");
    let nowhere = Session::new();
    assert_eq!(nowhere.fails("reflect_and_write", bug(LESSON)), ErrorKind::Invalid, "no project");
}

#[test]
fn memory_engine_c50_c57_constraints_and_procedures_rest_on_evidence() {
    let s = session();
    let reply = reflect(
        &s,
        json!({
            "task": "Look into the worker",
            "outcome": LESSON,
            "verification_status": "tests_passed",
            "discovered_constraints": ["A worker never reads the queue without the lock"],
            "discovered_procedures": ["To drain the queue, stop the producers, then the workers"],
            "test_summary": "47 passed",
            "task_summary": "Read the worker and its tests",
            "evidence_refs": ["src/queue/worker.py:41"],
            "module_path": "queue.worker",
            "touched_symbols": ["Worker.take"],
        }),
    );
    assert_eq!(reply["candidates_promoted"], 2, "{reply}");
    let of = |at: usize| shown(&s, &reply["candidates"][at]["id"]);
    let (constraint, procedure) = (of(0), of(1));
    assert_eq!((&constraint["kind"], &constraint["importance"]), (&json!("constraint"), &json!(0.92)));
    assert_eq!((&procedure["kind"], &procedure["importance"]), (&json!("procedure"), &json!(0.72)));
    assert_eq!(constraint["layer"], "P5", "no agent makes a rule");
    let evidence = constraint["evidence"].to_string();
    for told in ["47 passed", "tests_passed", "Read the worker", "src/queue/worker.py:41", "took one batch"] {
        assert!(evidence.contains(told), "{told}: {evidence}");
    }
    let inspected = s
        .ok("inspect_memory", json!({ "memory_id": reply["candidates"][0]["id"], "include_evidence": true }));
    let tests = &inspected["evidence_refs"][0];
    assert_eq!((&tests["content"], &tests["kind"]), (&json!("47 passed"), &json!("test")), "{inspected}");
    assert_eq!(tests["source"], "post_task_reflection: tests_passed");
}

#[test]
fn memory_engine_c51_a_report_again_stores_nothing_but_new_evidence() {
    let s = session();
    let first = reflect(&s, bug(LESSON));
    let head = s.ok("status", json!({}));
    let again = reflect(&s, bug(LESSON));
    assert_eq!(
        (&again["outcome"], &again["skip_reason"]),
        (&json!("skipped"), &json!("no_new_knowledge")),
        "{again}"
    );
    assert_eq!(again["candidates"][0]["action"], "discard");
    assert_eq!(again["candidates"][0]["id"], first["candidates"][0]["id"]);
    assert_eq!(s.ok("status", json!({}))["audit"], head["audit"], "nothing was written");
    let mut tested = bug(LESSON);
    tested["test_summary"] = json!("12 passed");
    assert_eq!(reflect(&s, tested)["candidates_discarded"], 1);
    assert!(shown(&s, &first["candidates"][0]["id"])["evidence"].to_string().contains("12 passed"));
    assert_eq!(titles(&s, "incident").len(), 1);
}

#[test]
fn memory_engine_c52_c53_different_facts_stand_beside_each_other() {
    let s = session();
    let feature = |file: &str, outcome: &str| json!({ "task": "Add paging", "outcome": outcome, "verification_status": "tests_passed", "changed_files": [file] });
    let backoff = "The page now waits a little longer after each answer that did not come";
    let metrics = "The page counts every answer, and shows how many came late in a table";
    for outcome in [backoff, metrics] {
        let reply = reflect(&s, feature("src/page.py", outcome));
        assert_eq!(reply["candidates"][0]["action"], "create", "{reply}");
    }
    assert_eq!(titles(&s, "module"), ["page — updated", "page — updated"]);
    for (file, outcome) in [
        ("ui.py", "Buttons of the page are round, and they are red where something is lost for good"),
        ("db.py", "Rows of the queue are locked by their number and never by their name any more"),
    ] {
        assert_eq!(reflect(&s, feature(file, outcome))["candidates"][0]["action"], "create", "{file}");
    }
    assert_eq!(titles(&s, "module").len(), 4);
}

#[test]
fn memory_engine_c54_both_sides_of_a_conflict_stay_until_a_person_decides() {
    let mut s = session();
    s.set_kind(PrincipalKind::Human);
    let rule = "Requests to the payment service must be retried";
    let kept = s.ok(
        "remember",
        json!({ "text": rule, "kind": "constraint", "title": "Payment retries", "confidence": 1.0 }),
    );
    s.set_kind(PrincipalKind::Agent);
    let against = json!({
        "task": "Look into payments",
        "outcome": "The payment service answers a second request with a second charge, so nothing may be sent twice.",
        "verification_status": "manual_check",
        "discovered_constraints": ["Requests to the payment service must not be retried"],
    });
    let reply = reflect(&s, against.clone());
    assert_eq!(
        (&reply["outcome"], &reply["candidates_needs_review"]),
        (&json!("needs_review"), &json!(1)),
        "{reply}"
    );
    let asked = &reply["candidates"][0];
    assert_eq!((&asked["action"], &asked["target"]), (&json!("needs_review"), &kept["id"]));
    for id in [&asked["id"], &kept["id"]] {
        assert_eq!(shown(&s, id)["status"], "needs_review", "marked, and in force");
    }
    let found = s.recall("Must requests to the payment service be retried?");
    assert!(found.len() >= 2, "both are found: {found:?}");
    let review = s.ok("review_show", json!({ "id": asked["review"] }));
    for id in [&asked["id"], &kept["id"]] {
        assert!(review.to_string().contains(id.as_str().expect("an id")), "{review}");
    }
    assert_eq!(reflect(&s, against)["candidates"][0]["action"], "discard", "asked once");

    s.set_kind(PrincipalKind::Human);
    s.ok("review_resolve", json!({ "id": asked["review"], "decision": "keep_b" }));
    assert_eq!(shown(&s, &asked["id"])["status"], "active");
    assert_eq!(shown(&s, &kept["id"])["status"], "superseded");
    let doctor = s.ok("doctor", json!({}));
    assert_eq!(doctor["healthy"], true, "{doctor}");
}

#[test]
fn memory_engine_c54_a_conflict_that_is_none_leaves_both_in_force() {
    let s = session();
    let of = |text: &str| {
        json!({
            "task": "Look into payments", "outcome": LESSON, "verification_status": "tests_passed",
            "discovered_constraints": [text],
        })
    };
    let first = reflect(&s, of("The gateway must cache every answer of the payment service"));
    let second = reflect(&s, of("The gateway must not cache every answer of the payment service"));
    let (a, b) = (&first["candidates"][0]["id"], &second["candidates"][0]);
    assert_eq!(b["action"], "needs_review", "{second}");
    let person = Session { principal: Principal::new(PrincipalKind::Human, "test"), ..s };
    person.ok("review_resolve", json!({ "id": b["review"], "decision": "keep_both" }));
    for id in [a, &b["id"]] {
        assert_eq!(shown(&person, id)["status"], "active");
    }
}

#[test]
fn memory_engine_c55_what_says_all_and_more_takes_the_place() {
    let s = session();
    let first = reflect(&s, bug(LESSON));
    let more = format!("{LESSON} It gives the lock back when the batch is written.");
    let reply = reflect(&s, bug(&more));
    let (old, new) = (&first["candidates"][0]["id"], &reply["candidates"][0]);
    assert_eq!((&new["action"], &new["target"]), (&json!("supersede"), old), "{reply}");
    let gone = shown(&s, old);
    assert_eq!((&gone["status"], &gone["superseded_by"]), (&json!("superseded"), &new["id"]));
    assert_eq!(titles(&s, "incident").len(), 1, "the old one is in no search");
    let chain = s.ok("memory_chain", json!({ "id": new["id"] }));
    assert!(chain.to_string().contains(old.as_str().expect("an id")), "{chain}");
    let relations = s.ok("memory_relations", json!({ "node": new["id"] }));
    let replaces = &relations["relations"][0];
    assert_eq!(
        (&replaces["relation_type"], &replaces["target_id"]),
        (&json!("supersedes"), old),
        "{relations}"
    );
}

/// Everything that lies in a folder, as bytes.
fn bytes_below(folder: &std::path::Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        all.extend(if path.is_dir() { bytes_below(&path) } else { std::fs::read(&path).expect("a file") });
    }
    all
}

#[test]
fn memory_engine_c58_secrets_are_in_no_byte_that_is_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let s = rooted(&folder);
    let token = format!("gh{}{}", "p_", "A1b2C3d4E5f6".repeat(3));
    let key = format!("sk{}{}", "-", "Q7w8E9r0T1y2".repeat(3));
    let aws = format!("AK{}{}", "IA", "IOSFODNN7ABCDEFG");
    let slack = format!("xo{}", "xb-123456789012-abcdefghijkl");
    let claims =
        format!("ey{}.ey{}.{}", "JhbGciOiJIUzI1NiJ9", "JzdWIiOiIxMjM0NTY3ODkwIn0", "dozjgNryP4J3jVmNHl0w5N");
    let inside = "MIIEowIBAAKCAQEAx1y2z3";
    let pem = format!("-----BEGIN RSA {0}-----\n{inside}\n-----END RSA {0}-----", "PRIVATE KEY");
    let secrets =
        [&token, &key, &aws, &slack, &claims, inside, "hunter2hunter2", "s3cretpw"].map(str::to_owned);
    let outcome = format!(
        "{LESSON} The log had {token}, {aws} and {slack}, api_key={key}, password: hunter2hunter2, {claims}, \
         postgres://app:s3cretpw@db/app.\n{pem}\n"
    );
    let mut report = bug(&outcome);
    report["test_summary"] = json!(format!("passed with token {token}"));
    report["task_summary"] = json!(format!("read with {slack}"));
    report["evidence_refs"] = json!([claims]);
    report["touched_symbols"] = json!([key]);
    report["task"] = json!(format!("Fix crash of the queue worker {token}"));
    report["discovered_constraints"] = json!([format!("Never log {token} again")]);
    report["discovered_procedures"] =
        json!([format!("Call the gateway with {aws} first, and then drain the queue")]);
    let reply = reflect(&s, report);
    assert_eq!(reply["outcome"], "persisted", "{reply}");
    assert!(!reply["redacted"].as_array().expect("told").is_empty());
    let mut shown_anywhere = reply.to_string();
    for candidate in reply["candidates"].as_array().expect("kept") {
        let whole = json!({ "memory_id": candidate["id"], "include_evidence": true });
        shown_anywhere += &format!("{} {}", shown(&s, &candidate["id"]), s.ok("inspect_memory", whole));
    }
    let asked = json!({ "task": "The queue worker logs a token before the gateway", "trace": "full" });
    shown_anywhere += &s.ok("retrieve_agent_context", asked).to_string();
    for resource in strata_engine::resources::RESOURCES {
        shown_anywhere += &with_call(&s, |call| (resource.read)(&s.engine, call)).expect("text");
    }
    assert!(shown_anywhere.contains("so two of them took one batch"), "prose stays");
    let kept = bytes_below(s.home.path());
    for secret in &secrets {
        assert!(!shown_anywhere.contains(secret.as_str()), "{secret} is shown");
        assert!(!kept.windows(secret.len()).any(|bytes| bytes == secret.as_bytes()), "{secret} is kept");
    }
}

#[test]
fn memory_engine_c61_what_is_learned_on_a_branch_says_so() {
    let mut s = session();
    s.scope.branch = Some("feature/x".into());
    let mut report = bug(LESSON);
    report["head_commit"] = json!("0123456789abcdef0123456789abcdef01234567");
    let on_branch = shown(&s, &reflect(&s, report.clone())["candidates"][0]["id"]);
    assert!(on_branch["scope"].to_string().contains("feature/x"), "{on_branch}");
    let memory = stored(&s, &on_branch["id"]);
    assert_eq!(memory.branch_scope, "current_branch");
    assert_eq!(memory.commit.as_deref(), Some("0123456789abcdef0123456789abcdef01234567"));
    report["current_branch"] = json!("main");
    let on_main = reflect(&s, report);
    assert_eq!(on_main["candidates"][0]["action"], "create", "the branch is not merged: {on_main}");
    let memory = stored(&s, &on_main["candidates"][0]["id"]);
    assert_eq!((memory.branch_scope.as_str(), memory.scope.branch), ("mainline", None));
}

#[test]
fn what_reflection_wrote_goes_out_and_comes_back() {
    let mut s = session();
    reflect(&s, bug(LESSON));
    reflect(&s, bug(&format!("{LESSON} It gives the lock back when the batch is written.")));
    let of = |text: &str| json!({ "task": "Look", "outcome": LESSON, "verification_status": "tests_passed", "discovered_constraints": [text] });
    reflect(&s, of("The gateway must cache every answer of the payment service"));
    assert_eq!(
        reflect(&s, of("The gateway must not cache every answer of the payment service"))["outcome"],
        "needs_review"
    );
    s.set_kind(PrincipalKind::Human);
    let place = s.home.outside().to_owned();
    let (first, second) = (place.join("first.jsonl"), place.join("second.jsonl"));
    s.ok("export", json!({ "path": first }));
    let text = std::fs::read_to_string(&first).expect("written");
    assert!(
        text.contains("\"relation\":\"supersedes\"") && text.contains("\"relation\":\"contradicts\""),
        "{text}"
    );
    let mut other = Session::new().of_kind(PrincipalKind::Human);
    other.scope = Scope::user();
    other.ok("load", json!({ "path": first }));
    other.ok("export", json!({ "path": second }));
    assert_eq!(std::fs::read_to_string(&second).expect("written"), text);
    assert_eq!(other.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn memory_engine_c56_c80_a_memory_tells_of_what_is_below_it() {
    let s = session();
    let scheduler = s.ok(
        "add_memory_node",
        json!({
            "title": "Scheduler", "summary": "Runs tasks by their time. Includes: a clock, a queue.", "kind": "module",
            "module_path": "scheduler", "importance": 0.7,
        }),
    );
    let report = json!({
        "task": "Add exponential retry backoff without breaking terminal task state semantics.",
        "outcome": "Retry waits twice as long after each failure, and a guard leaves tasks in a terminal state alone.",
        "verification_status": "tests_passed",
        "changed_files": ["src/scheduler/retry.py", "src/scheduler/worker.py"],
        "module_path": "scheduler.retry",
    });
    let reply = reflect(&s, report.clone());
    assert_eq!(
        (&reply["outcome"], &reply["candidates_promoted"]),
        (&json!("persisted"), &json!(2)),
        "{reply}"
    );
    let kinds: Vec<_> =
        reply["candidates"].as_array().expect("two").iter().map(|c| c["kind"].clone()).collect();
    assert_eq!(kinds, ["module", "decision"]);
    assert!(reply["consolidation_notes"].to_string().contains("Scheduler"), "{reply}");
    let above = shown(&s, &scheduler["id"]);
    assert_eq!(
        above["text"], "Runs tasks by their time. Includes: a clock, a queue.",
        "the text is its writer's"
    );
    let told = above["consolidated"].as_str().expect("told").to_owned();
    assert!(
        told.starts_with("- scheduler.retry — updated: Retry waits") && told.lines().count() == 1,
        "{told}"
    );
    assert_eq!(reflect(&s, report)["candidates_discarded"], 2);
    assert_eq!(shown(&s, &scheduler["id"])["consolidated"], told, "the same again");
    let other = session();
    let parent =
        json!({ "title": "Core", "summary": "Runs tasks.", "kind": "module", "module_path": "scheduler" });
    other.ok("add_memory_node", parent);
    let mut by_files = json!({
        "task": "Add exponential retry backoff without breaking terminal task state semantics.",
        "outcome": "Retry waits twice as long after each failure, and a guard leaves tasks in a terminal state alone.",
        "verification_status": "tests_passed",
    });
    by_files["changed_files"] = json!(["src/scheduler/retry.py", "src/scheduler/worker.py"]);
    let reply = reflect(&other, by_files);
    assert_eq!(
        (&reply["outcome"], &reply["candidates_promoted"]),
        (&json!("persisted"), &json!(2)),
        "{reply}"
    );
    assert!(reply["consolidation_notes"].to_string().contains("Core"), "by the files alone: {reply}");
    let corrected =
        s.ok("update", json!({ "id": scheduler["id"], "text": "Runs tasks when their time has come." }));
    assert_eq!(
        shown(&s, &corrected["id"])["consolidated"],
        told,
        "a new version has what is below the old one"
    );
}

#[test]
#[expect(clippy::disallowed_methods, reason = "fixtures need no atomic writes")]
fn memory_engine_c69_a_project_is_told_of_itself_once() {
    let home = tempfile::tempdir().expect("a folder");
    let readme = "# Ferry\n\nFerry moves files between two sites, without a server between them.\n\n\
                  ## Security rules\n- Keys never leave the machine they were made on\n\n## Why\n- One binary is easier to ship\n";
    std::fs::write(home.path().join("README.md"), readme).expect("written");
    let root = home.path().to_owned();
    let mut s = Session::with_settings(|settings| settings.project_root = Some(root));
    s.scope = Scope::project("ferry");
    let seed = json!({
        "tech_stack": ["Rust", "SQLite"],
        "decisions": ["Files are compared by hash, because clocks differ"],
        "conventions": ["Every change has a test", "Names are whole words"],
    });
    let first = s.ok("seed_project_context", seed.clone());
    assert_eq!(
        [
            &first["nodes_created"],
            &first["module_nodes"],
            &first["constraint_nodes"],
            &first["decision_nodes"],
            &first["procedure_nodes"]
        ],
        [&json!(4), &json!(1), &json!(1), &json!(1), &json!(1)],
        "{first}"
    );
    let overview = s.recall("Which stack does Ferry move files with?");
    assert!(
        shown(&s, &json!(overview[0]))["text"].as_str().expect("text").ends_with("Tech stack: Rust, SQLite.")
    );
    let again = s.ok("seed_project_context", seed);
    assert_eq!(again["nodes_created"], 0, "{again}");
    assert_eq!(again["skipped_reason"], "all of it is known already");
    let rule = s.ok(
        "seed_project_context",
        json!({ "constraints": ["Keys never leave the machine they were made on"] }),
    );
    assert_eq!(rule["constraint_nodes"], 0, "what the README said, said again");
    let nothing = s.ok("seed_project_context", json!({ "skip_auto_extract": true }));
    assert!(nothing["skipped_reason"].is_string(), "{nothing}");
    #[cfg(unix)]
    {
        let secret = tempfile::tempdir().expect("a folder");
        std::fs::write(secret.path().join("x"), readme.replace("Keys", "Outside keys")).expect("written");
        std::fs::remove_file(home.path().join("README.md")).expect("removed");
        std::os::unix::fs::symlink(secret.path().join("x"), home.path().join("README.md")).expect("linked");
        assert_eq!(s.ok("seed_project_context", json!({}))["nodes_created"], 0, "no link is followed");
    }
}

/// The same session, days later.
pub(crate) fn later(mut s: Session, days: i64) -> Session {
    let clock = ManualClock::at(Timestamp(NOON.0 + days * DAY));
    let settings = s.engine.settings().clone();
    s.engine = Engine::with_sources(settings, Box::new(clock), Box::new(SeededIds::new(1_000_003)));
    s
}

#[test]
fn memory_engine_c67_c68_old_memories_are_summed_up_and_none_is_lost() {
    let s = session();
    let lessons = [
        "The worker read the queue before it took the lock, so two of them took one batch",
        "The page forgot its place when the window was made smaller than its own heading",
        "A name with a blank in it was cut in half by the script that renames the pictures",
        "The clock of the meter ran backwards in autumn and the sums of an hour were counted twice",
    ];
    let ids: Vec<Value> = lessons
        .iter()
        .enumerate()
        .map(|(n, lesson)| {
            let title = format!("Lesson {n}");
            s.ok("add_memory_node", json!({ "title": title, "summary": lesson, "kind": "debug", "evidence": [format!("note {n}")] }))["id"].clone()
        })
        .collect();
    let rule = s.ok(
        "add_memory_node",
        json!({ "title": "Rule", "summary": "Nothing is deleted, ever", "kind": "constraint" }),
    );
    let stale = s.ok(
        "add_memory_node",
        json!({ "title": "Old", "summary": "The old queue had a length of nine", "kind": "procedure" }),
    );
    s.ok("mark_stale", json!({ "node": stale["id"], "reason": "the queue is another" }));
    s.ok("mark_stale", json!({ "node": rule["id"], "reason": "to see whether it stays" }));
    let s = later(s, 1000);
    let look = s.ok("retention_run", json!({}));
    assert_eq!((&look["dry_run"], &look["archived"]), (&json!(true), &json!(0)), "{look}");
    assert_eq!(look["report"]["compaction_groups_found"], 1);
    assert_eq!(shown(&s, &ids[0])["status"], "active", "only a look");
    let done = s.ok("retention_run", json!({ "dry_run": false }));
    assert_eq!(
        (&done["archived"], done["compacted"].as_array().map(Vec::len)),
        (&json!(1), Some(1)),
        "{done}"
    );
    let sum = &done["compacted"][0];
    let shown_sum = shown(&s, sum);
    let text = shown_sum["text"].as_str().expect("text");
    assert!(lessons.iter().all(|lesson| text.contains(lesson)), "{text}");
    assert!(shown_sum["evidence"].to_string().contains("note 3"));
    assert!(
        s.recall("Why did the worker take one batch twice?").contains(&sum.as_str().expect("id").to_owned())
    );
    for id in &ids {
        assert_eq!(shown(&s, id)["status"], "archived", "nothing is deleted");
    }
    let lineage = s.ok("memory_relations", json!({ "node": sum }));
    assert_eq!(lineage["relations"].as_array().map(Vec::len), Some(4), "{lineage}");
    assert!(lineage["relations"].to_string().contains("compaction_source"));
    assert_eq!(shown(&s, &rule["id"])["status"], "stale", "protected");
    assert_eq!(shown(&s, &stale["id"])["status"], "archived");
    let again = s.ok("retention_run", json!({ "dry_run": false }));
    assert_eq!((&again["archived"], &again["compacted"]), (&json!(0), &json!([])), "{again}");
    assert_eq!(reflect(&s, bug(LESSON))["outcome"], "persisted", "work goes on");
    s.ok("retention_restore", json!({ "id": ids[1] }));
    assert_eq!(shown(&s, &ids[1])["status"], "active");
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn evidence_is_added_once_and_a_constraint_is_promoted_by_a_person_alone() {
    let s = session();
    let node = s.ok(
        "add_memory_node",
        json!({ "title": "No locks", "summary": "No lock is held over a request", "kind": "constraint" }),
    );
    let evidence = json!({ "node": node["id"], "content": "12 passed", "source": "tests/locks.py" });
    assert_eq!(s.ok("add_evidence", evidence.clone())["added"], true);
    assert_eq!(s.ok("add_evidence", evidence)["added"], false);
    assert_eq!(shown(&s, &node["id"])["evidence"], json!(["12 passed (tests/locks.py)"]));
    assert_eq!(s.fails("promote_memory", json!({ "node": node["id"] })), ErrorKind::Refused);
    assert_eq!(shown(&s, &node["id"])["layer"], "P5");
    assert_eq!(
        s.fails("add_memory_node", json!({ "title": "t", "summary": "s", "kind": "song" })),
        ErrorKind::Invalid
    );
    assert_eq!(s.fails("mark_stale", json!({ "node": "mem_zzzzzz", "reason": "r" })), ErrorKind::Invalid);
}

#[test]
fn a_person_with_the_passphrase_makes_a_rule_of_what_an_agent_reported() {
    let mut s = crate::maintain_support::home(7);
    crate::maintain_support::become_owner(&mut s);
    s.scope = Scope::project("web");
    let secret = s.secret.take();
    s.set_kind(PrincipalKind::Agent);
    let report = json!({
        "task": "Look", "outcome": LESSON, "verification_status": "tests_passed",
        "discovered_constraints": ["A worker never reads the queue without the lock"],
        "changed_files": [s.home.outside().join("elsewhere/worker.py")],
    });
    let reported = reflect(&s, report)["candidates"][0]["id"].clone();
    assert_eq!(stored(&s, &reported).source, "post_task_reflection: worker.py", "no path of the machine");
    let proposed = s.ok(
        "reflect",
        json!({ "text": "Batches are written before the lock is given back", "kind": "insight" }),
    );
    (s.principal, s.secret) = (Principal::new(PrincipalKind::Human, "test"), secret);
    let rule = s.ok("promote_memory", json!({ "node": reported, "reason": "it holds" }));
    assert_eq!((&rule["action"], &rule["id"]), (&json!("rule"), &reported), "{rule}");
    assert_eq!(shown(&s, &reported)["layer"], "P0");
    let approved = s.ok("promote_memory", json!({ "node": proposed["id"] }));
    assert_eq!(
        (&approved["action"], &approved["beside"]),
        (&json!("approved"), &json!("create")),
        "{approved}"
    );
    assert_eq!(shown(&s, &proposed["id"])["status"], "active");
    assert_eq!(s.fails("promote_memory", json!({ "node": proposed["id"] })), ErrorKind::Conflict);
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}
