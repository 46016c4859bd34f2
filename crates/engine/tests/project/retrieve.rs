//! What a task is given.

use serde_json::{Value, json};
use strata_core::{
    id::{Id, IdKind},
    memory::{Kind, Layer},
    principal::Face,
    project::budget::tokens,
    scope::Scope,
    time::Timestamp,
};
use strata_engine::{operation::Toolset, settings::Settings};
use strata_store::{
    ledger::{NewAudit, NewMemory, State},
    sql::Control,
};

use crate::support::{NOON, Session, with_call};

/// A memory of the project `app`, as the tests name them.
pub(super) struct Made<'a> {
    pub(super) kind: &'a str,
    pub(super) title: &'a str,
    pub(super) body: &'a str,
    pub(super) importance: f64,
    pub(super) module: Option<&'a str>,
    pub(super) parent: Option<&'a str>,
    pub(super) branch: Option<&'a str>,
}

impl Default for Made<'_> {
    fn default() -> Self {
        Self {
            kind: "module",
            title: "",
            body: "",
            importance: 0.6,
            module: None,
            parent: None,
            branch: None,
        }
    }
}

pub(super) fn project(change: impl FnOnce(&mut Settings)) -> Session {
    Session { scope: Scope::project("app"), ..Session::with_settings(change) }
}

/// Stores memories in one transaction and returns their ids.
pub(super) fn store(session: &Session, all: &[Made<'_>]) -> Vec<String> {
    with_call(session, |call| {
        let ledger = session.engine.ledger(call).expect("a ledger");
        let made = ledger.write(&Control::default(), NOON, |w| {
            let mut ids = Vec::new();
            for (at, one) in all.iter().enumerate() {
                let id = Id::from_bits(IdKind::Memory, session.engine.ids().bits() >> 14);
                let seq = w.record(&NewAudit::new(call.principal, Face::Mcp, "remember", id.as_str()))?;
                let born = Timestamp(NOON.0 + i64::try_from(at).expect("few"));
                let mut new = NewMemory::new(id.clone(), one.body, "agent:test", born, [7; 16]);
                new.identity = format!("{} {} {at}", one.title, one.body);
                new.kind = Kind::parse(one.kind).expect("a kind");
                new.title = one.title.to_owned();
                new.scope = Scope { branch: one.branch.map(str::to_owned), ..Scope::project("app") };
                new.module_path = one.module.map(str::to_owned);
                new.parent = one.parent.map(str::to_owned);
                new.state = State { importance: one.importance, ..State::active(Layer::P5) };
                w.insert_memory(&new, seq)?;
                ids.push(id.as_str().to_owned());
            }
            Ok(ids)
        });
        made.expect("stored")
    })
}

pub(super) fn retrieve(session: &Session, arguments: Value) -> Value {
    session.ok("retrieve_agent_context", arguments)
}

pub(super) fn titles(pack: &Value, list: &str) -> Vec<String> {
    let nodes = pack[list].as_array().expect("a list of memories");
    nodes.iter().map(|node| node["title"].as_str().unwrap_or_default().to_owned()).collect()
}

/// A project with one memory of each kind about retries, and filler about something else.
fn scheduler(session: &Session, filler: usize) -> Vec<String> {
    let mut all = vec![
        Made {
            kind: "constraint",
            title: "Terminal State Immutability",
            body: "A task in a terminal state must never be changed or retried again.",
            importance: 0.95,
            ..Made::default()
        },
        Made {
            kind: "incident",
            title: "Retry Loop Re-entered Terminal Task",
            body: "The retry loop picked up a task that had finished and ran it twice.",
            importance: 0.88,
            module: Some("scheduler.retry"),
            ..Made::default()
        },
        Made {
            kind: "decision",
            title: "Exponential backoff with jitter",
            body: "Retries wait exponentially longer, with jitter, up to five minutes.",
            ..Made::default()
        },
    ];
    let colours: Vec<String> = (0..filler).map(|n| format!("Palette {n} of the printing press")).collect();
    all.extend(colours.iter().map(|title| Made {
        title,
        body: "Inks are mixed by weight; cyan dries slowest on coated paper.",
        ..Made::default()
    }));
    store(session, &all)
}

const RETRY: &str = "Add exponential retry backoff without breaking terminal task state semantics.";

#[test]
fn memory_engine_c34_c36_the_budget_holds_for_what_is_sent() {
    let pages: Vec<(String, String)> = (0..12)
        .map(|n| {
            let text = "A worker retries its task, and hands the lease to another worker. ".repeat(4 + 5 * n);
            (format!("docs/worker-{n}.md"), format!("# Worker {n}\n\n{text}\n"))
        })
        .collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let session = with_files(&pages);
    let bodies: Vec<String> = (0..1000)
        .map(|n| {
            format!(
                "Worker {n} retries a task with backoff before it gives the lease back. {}",
                "More. ".repeat(n % 60)
            )
        })
        .collect();
    let titles: Vec<String> = (0..1000).map(|n| format!("Retry worker {n}")).collect();
    let kinds = ["module", "decision", "constraint", "incident", "procedure", "architecture", "fact"];
    let all: Vec<Made<'_>> = (0..1000)
        .map(|n| Made { kind: kinds[n % 7], title: &titles[n], body: &bodies[n], ..Made::default() })
        .collect();
    store(&session, &all);
    for budget in [6000, 2000, 1000, 500, 400] {
        let pack =
            retrieve(&session, json!({ "task": "How do workers retry a task?", "token_budget": budget }));
        let sent = tokens(&pack.to_string());
        let told = pack["total_token_estimate"].as_u64().expect("a number");
        assert!(sent <= budget, "{sent} of {budget}");
        assert!(told.abs_diff(sent) * 10 <= sent, "{told} is said of {sent}");
        assert!(pack["knowledge_tokens"].as_u64().expect("a number") * 10 <= budget * 4);
        assert_eq!(pack["cache_hit"], false);
        let shown = pack["memory_results_count"].as_u64().expect("a number");
        assert!(shown >= budget / 500, "{shown} memories in {budget}");
        if budget == 6000 {
            assert!(
                pack["knowledge_results_count"].as_u64() > Some(3),
                "{}",
                pack["knowledge_results_count"]
            );
            for list in ["constraints", "architecture", "modules", "decisions", "incidents", "procedures"] {
                assert!(pack[list].as_array().is_some_and(|nodes| !nodes.is_empty()), "{list}");
            }
        }
    }
}

#[test]
fn memory_engine_c36_a_small_budget_still_holds_a_passage() {
    let page = format!("# Ferry\n\n{}\n", "The ferry hands its lease to another worker. ".repeat(30));
    let session = with_files(&[("docs/ferry.md", &page)]);
    for budget in [1000, 400] {
        let pack =
            retrieve(&session, json!({ "task": "Who has the lease of the ferry?", "token_budget": budget }));
        assert_eq!(pack["knowledge_chunks"][0]["source_path"], "docs/ferry.md", "{budget}: {pack}");
        assert!(tokens(&pack.to_string()) <= budget, "{pack}");
        assert!(pack["knowledge_tokens"].as_u64().expect("a number") * 10 <= budget * 4, "{pack}");
    }
}

#[test]
fn memory_engine_c41_what_has_nothing_to_do_with_the_task_is_left_out() {
    let session = project(|_| {});
    scheduler(&session, 200);
    let pack = retrieve(&session, json!({ "task": "Where are pizza ovens described?" }));
    for list in ["modules", "incidents", "decisions", "procedures", "architecture"] {
        assert_eq!(titles(&pack, list), Vec::<String>::new(), "{list}");
    }
    // What holds for the whole project may be told whatever is asked.
    assert_eq!(titles(&pack, "constraints"), ["Terminal State Immutability"]);
    let pack = retrieve(&session, json!({ "task": RETRY }));
    assert_eq!(titles(&pack, "constraints"), ["Terminal State Immutability"]);
    assert_eq!(titles(&pack, "incidents"), ["Retry Loop Re-entered Terminal Task"]);
    assert_eq!(titles(&pack, "modules"), Vec::<String>::new(), "{pack}");
}

#[test]
fn memory_engine_c40_the_trace_tells_the_signals_of_all_that_is_returned() {
    let session = project(|_| {});
    scheduler(&session, 60);
    let asked = json!({ "task": RETRY, "current_files": ["src/scheduler/retry.py"] });
    let pack = retrieve(&session, asked);
    let trace = pack["retrieval_trace"].as_array().expect("a trace");
    let of = |id: &Value| trace.iter().find(|entry| entry["result_id"] == *id).expect("its entry");
    let nodes = ["constraints", "incidents", "decisions"]
        .iter()
        .flat_map(|list| pack[*list].as_array().expect("a list"));
    for node in nodes {
        let entry = of(&node["id"]);
        assert_eq!(entry["action"], "selected");
        assert!(entry["score_breakdown"]["final_score"].as_f64().expect("a score") > 0.0, "{entry}");
    }
    let near = of(&pack["incidents"][0]["id"]);
    assert!(near["score_breakdown"]["module_path_overlap"].as_f64().expect("a share") > 0.9, "{near}");
    let tight = json!({ "task": "palette of the printing press", "token_budget": 400, "trace": "full" });
    let full = retrieve(&session, tight);
    let all = full["retrieval_trace"].as_array().expect("a trace");
    let left_out = all.iter().filter(|entry| entry["action"] == "excluded");
    assert!(left_out.clone().count() > 10, "{full}");
    assert!(left_out.clone().all(|entry| entry["reason"].as_str().is_some_and(|r| !r.is_empty())));
    assert!(left_out.clone().all(|entry| entry["score"].as_f64().is_some()), "{full}");
    let selected = all.iter().find(|entry| entry["action"] == "selected").expect("one is shown");
    assert!(selected["reason"].as_str().is_some_and(|reason| reason.contains("score=")), "{selected}");
    let none = retrieve(&session, json!({ "task": RETRY, "trace": "none" }));
    assert_eq!(none["retrieval_trace"], json!([]));
}

#[test]
fn a_short_trace_says_why_and_how_often_and_takes_little_of_a_reply() {
    let pages: Vec<(String, String)> = (0..12)
        .map(|n| {
            let text = "A worker retries its task, and hands the lease to another worker. ".repeat(2 + n);
            (format!("docs/worker-{n}.md"), format!("# Worker {n}\n\n{text} It is number {n} of twelve.\n"))
        })
        .collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let session = with_files(&pages);
    let bodies: Vec<String> = (0..60)
        .map(|n| {
            format!(
                "Worker {n} retries a task with backoff, then gives its lease back. Until then no other worker may \
                 take the task, because two of them would write the same row of table {n}. A lease lasts as long as \
                 {n} heartbeats; who misses them all is taken for dead, and its tasks go to whoever asks first."
            )
        })
        .collect();
    let kinds = ["module", "decision", "constraint", "incident", "procedure", "architecture", "fact"];
    let of =
        |n: usize| Made { kind: kinds[n % 7], title: "Retry worker", body: &bodies[n], ..Made::default() };
    store(&session, &(0..60).map(of).collect::<Vec<_>>());
    for budget in [6000, 2000] {
        let pack =
            retrieve(&session, json!({ "task": "How do workers retry a task?", "token_budget": budget }));
        let trace = pack["retrieval_trace"].as_array().expect("a trace");
        let told = pack["retrieval_trace"].to_string().len() + pack["trace_excluded"].to_string().len();
        let sent = pack.to_string().len();
        assert!(told * 100 <= sent * 20, "{told} of {sent}: {pack}");
        let shown = trace.iter().filter(|entry| entry["action"] == "selected");
        let [memories, passages] = ["memory_results_count", "knowledge_results_count"].map(|key| &pack[key]);
        assert_eq!(
            shown.clone().count() as u64,
            memories.as_u64().unwrap_or(0) + passages.as_u64().unwrap_or(0)
        );
        assert!(
            shown.clone().all(|entry| entry["score_breakdown"]["final_score"].as_f64() > Some(0.0)),
            "{pack}"
        );
        let why = pack["trace_excluded"].as_object().expect("reasons with numbers");
        assert!(why.values().filter_map(Value::as_u64).sum::<u64>() > 10, "{pack}");
        let examples: Vec<&Value> = trace.iter().filter(|entry| entry["action"] == "excluded").collect();
        assert!(examples.len() <= why.len(), "one of each: {pack}");
        for example in examples {
            assert!(why.contains_key(example["reason"].as_str().expect("a reason")), "{example}");
        }
    }
}

#[test]
fn memory_engine_c35_the_same_question_is_answered_once_until_something_changes() {
    let session = project(|_| {});
    scheduler(&session, 0);
    let asked = json!({ "task": RETRY });
    let first = retrieve(&session, asked.clone());
    let mut second = retrieve(&session, asked.clone());
    assert_eq!((&first["cache_hit"], &second["cache_hit"]), (&json!(false), &json!(true)));
    second["cache_hit"] = false.into();
    assert_eq!(first, second);
    let smaller = retrieve(&session, json!({ "task": RETRY, "token_budget": 1000 }));
    assert_eq!(smaller["cache_hit"], false);
    session.remember("The scheduler retries nothing on Sundays.");
    assert_eq!(retrieve(&session, asked)["cache_hit"], false);
}

#[test]
fn memory_engine_c43_c44_without_vectors_words_find_and_the_reply_says_so() {
    for (model, status) in [("off", "disabled"), ("some-model-nobody-has", "unavailable")] {
        let session = project(|settings| settings.config.semantic.model = model.to_owned());
        scheduler(&session, 3);
        let pack = retrieve(&session, json!({ "task": RETRY }));
        assert_eq!(titles(&pack, "incidents"), ["Retry Loop Re-entered Terminal Task"]);
        assert_eq!(pack["meta"]["retrieval_mode"], "lexical_structured_fallback");
        assert_eq!(pack["meta"]["semantic_status"], status, "{}", pack["meta"]);
        assert!(pack["meta"]["warnings"].as_array().is_some_and(|warnings| !warnings.is_empty()));
    }
    let session = project(|_| {});
    scheduler(&session, 3);
    let meta = &retrieve(&session, json!({ "task": RETRY }))["meta"];
    assert_eq!((&meta["retrieval_mode"], &meta["semantic_status"]), (&json!("hybrid"), &json!("used")));
}

#[test]
fn memory_engine_c62_the_branch_that_is_read_on_comes_first() {
    let session = project(|_| {});
    let of =
        |title, branch| Made { title, branch, body: "The retry queue drains in order.", ..Made::default() };
    let feature = Some("feature/x");
    store(&session, &[of("on main", None), of("on x", feature), of("on y", Some("feature/y"))]);
    let asked = json!({ "task": "retry queue order", "current_branch": "feature/x" });
    let pack = retrieve(&session, asked);
    assert_eq!(titles(&pack, "modules"), ["on x", "on main"]);
    assert_eq!(
        (&pack["meta"]["current_branch"], &pack["meta"]["branch_aware_ranking"]),
        (&json!("feature/x"), &json!(true))
    );
    let elsewhere = retrieve(&session, json!({ "task": "retry queue order" }));
    assert_eq!(titles(&elsewhere, "modules"), ["on main"]);
}

#[test]
fn memory_engine_c74_a_memory_is_shown_with_what_stands_below_it() {
    let session = project(|_| {});
    let top = store(
        &session,
        &[Made { kind: "architecture", title: "Scheduler", body: "Runs tasks.", ..Made::default() }],
    );
    let child = |title, parent| Made { title, parent, body: title, ..Made::default() };
    let middle =
        store(&session, &[child("Queue", Some(top[0].as_str())), child("Clock", Some(top[0].as_str()))]);
    store(&session, &[child("Ring buffer", Some(middle[0].as_str()))]);
    let inspect = |depth: i64| {
        let view = session.ok("inspect_memory", json!({ "memory_id": top[0], "inspection_depth": depth }));
        titles(&view, "children")
    };
    assert_eq!(inspect(1), ["Queue", "Clock"]);
    assert_eq!(inspect(2), ["Queue", "Ring buffer", "Clock"]);
    let view = session.ok("inspect_memory", json!({ "memory_id": top[0], "inspection_depth": 2 }));
    assert_eq!(view["children"][1]["depth"], 2);
    assert_eq!(view["confidence_assessment"]["freshness"], 1.0);
    let unknown =
        session.reply("inspect_memory", json!({ "memory_id": "mem_0000000000" })).expect_err("unknown");
    assert!(unknown.to_string().contains("mem_0000000000") && !unknown.hint().is_empty());
    let deep = json!({ "memory_id": top[0], "inspection_depth": 9 });
    let deep = session.reply("inspect_memory", deep).expect_err("too deep");
    assert!(format!("{deep} {}", deep.hint()).contains("1 to 5"), "{deep}");
    let tree = session.ok("memory_tree", json!({}));
    let outline = tree["outline"].as_str().expect("text");
    assert!(outline.contains("- [architecture] Scheduler"), "{outline}");
    assert!(outline.contains("    - [module] Ring buffer"), "{outline}");
}

#[test]
fn memory_engine_c81_what_is_wrong_with_arguments_is_told_of_each_by_name() {
    let session = project(|_| {});
    scheduler(&session, 0);
    for (arguments, at_fault) in [
        (json!({ "task": RETRY, "no_such_argument": 1 }), "no_such_argument"),
        (json!({ "task": RETRY, "token_budget": "abc" }), "token_budget"),
        (json!({ "task": " " }), "task"),
        (json!({ "task": RETRY, "task_intent": "sing" }), "task_intent"),
        (json!({ "task": RETRY, "preferred_layers": ["chapter"] }), "preferred_layers"),
        (json!({ "task": RETRY, "proposition_types": ["rumour"] }), "proposition_types"),
    ] {
        let error = session.reply("retrieve_agent_context", arguments).expect_err(at_fault);
        assert!(error.to_string().contains(at_fault), "{error}");
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn questions_signs_and_other_scripts_find_what_they_ask_for() {
    let session = project(|_| {});
    store(
        &session,
        &[
            Made {
                kind: "decision",
                title: "重试策略",
                body: "调度器使用指数退避,最多重试五次。",
                ..Made::default()
            },
            Made {
                kind: "decision",
                title: "Token cache",
                body: "`TokenCache.get_token` keeps tokens for 55 minutes.",
                ..Made::default()
            },
        ],
    );
    for (task, title) in [
        ("调度器最多重试几次?", "重试策略"),
        ("How long does `TokenCache.get_token()` keep a token -- and why?!", "Token cache"),
        ("What's in src/auth/token_cache.py: NEAR(token, cache) AND \"minutes\"*", "Token cache"),
    ] {
        let pack = retrieve(&session, json!({ "task": task }));
        assert_eq!(titles(&pack, "decisions").first().map(String::as_str), Some(title), "{task}: {pack}");
    }
}

#[test]
fn a_user_who_wants_no_memory_gets_none() {
    let session = project(|_| {});
    scheduler(&session, 0);
    let pack = retrieve(&session, json!({ "task": RETRY, "user_instruction_flags": ["isolated_task"] }));
    assert_eq!((&pack["skipped"], &pack["constraints"]), (&json!(true), &Value::Null));
    assert!(pack["reason"].as_str().is_some_and(|reason| reason.contains("isolated_task")));
}

/// A project with files.
pub(super) fn with_files(files: &[(&str, &str)]) -> Session {
    let session = project(|settings| settings.project_root = Some(settings.home.join("p")));
    for (path, text) in files {
        session.home.file(&format!("p/{path}"), text);
    }
    session
}

const RETRY_PY: &str = r#""""Retrying of tasks."""
import random


class RetryPolicy:
    """Decides how long a failed task waits before it is tried again."""

    def next_delay(self, attempt):
        """Exponential backoff with jitter, capped at five minutes."""
        return min(300, 2 ** attempt) * random.random()


def is_retryable(error):
    """A timeout may be tried again, a validation error never."""
    return isinstance(error, TimeoutError)
"#;

const QUEUE_PY: &str = r#""""The queue of waiting tasks."""


class Lease:
    """A worker owns a task for as long as its lease lasts."""

    def renew(self):
        """Renewal fails when another worker took the task."""
        raise LeaseLost("another worker holds the lease")
"#;

pub(super) fn paths(pack: &Value, list: &str, key: &str) -> Vec<String> {
    let all = pack[list].as_array().expect("a list");
    all.iter().map(|one| one[key].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn memory_engine_c30_c33_c38_c39_sentences_find_the_code_that_they_speak_of() {
    let session = with_files(&[
        ("README.md", "# App\n\nRuns tasks in the background.\n"),
        ("src/retry.py", RETRY_PY),
        ("src/queue.py", QUEUE_PY),
        (
            "docs/adr/001-storage.md",
            "# Storage\n\nWe keep tasks in one table with an index on their state.\n",
        ),
    ]);
    let asked = json!({ "task": "Implement exponential backoff in src/retry.py." });
    let pack = retrieve(&session, asked);
    assert_eq!(paths(&pack, "knowledge_chunks", "source_path")[0], "src/retry.py", "{pack}");
    let first = &pack["knowledge_chunks"][0];
    assert_eq!((&first["source_type"], first["start_line"].as_u64() > Some(0)), (&json!("code_file"), true));
    let pack = retrieve(&session, json!({ "task": "How does the retry backoff work?" }));
    assert_eq!(pack["task_intent"], "code_explanation");
    assert_eq!(paths(&pack, "knowledge_chunks", "source_path")[0], "src/retry.py", "{pack}");
    let overlap = |pack: &Value, path: &str, signal: &str| {
        let chunks = pack["knowledge_chunks"].as_array().expect("chunks");
        let chunk = chunks.iter().find(|chunk| chunk["source_path"] == path).expect("a chunk of it");
        let trace = pack["retrieval_trace"].as_array().expect("a trace");
        let entry = trace.iter().find(|entry| entry["result_id"] == chunk["chunk_id"]).expect("its entry");
        entry["score_breakdown"][signal].as_f64().unwrap_or(0.0)
    };
    let root = session.engine.settings().project_root.clone().expect("a root");
    for file in ["src/retry.py".to_owned(), root.join("src/retry.py").to_string_lossy().into_owned()] {
        let pack =
            retrieve(&session, json!({ "task": "tasks that are tried again", "current_files": [file] }));
        assert!(overlap(&pack, "src/retry.py", "module_overlap") > 0.9, "{file}: {pack}");
    }
    let task = "We keep tasks in one table and run them in the background; which state is indexed?";
    let with = retrieve(&session, json!({ "task": task, "current_symbols": ["RetryPolicy"] }));
    let without = retrieve(&session, json!({ "task": task }));
    let place = |pack: &Value| {
        let found = paths(pack, "knowledge_chunks", "source_path");
        found.iter().position(|path| path == "src/retry.py").unwrap_or(usize::MAX)
    };
    assert!(overlap(&with, "src/retry.py", "symbol_overlap") > 0.9);
    assert!(place(&with) < place(&without), "{with}\n{without}");
}

#[test]
fn memory_engine_c31_c42_the_code_that_is_meant_stands_before_documents_that_share_a_word() {
    let mut files: Vec<(String, String)> = (0..12)
        .map(|n| {
            let text = format!(
                "# Decision {n}\n\nThe team {n} chose a vendor; the lease of office {n} was renewed.\n"
            );
            (format!("docs/adr/{n:03}-vendor.md"), text)
        })
        .collect();
    files.push(("src/queue.py".into(), QUEUE_PY.into()));
    files.push((
        "docs/long.md".into(),
        format!("# Worker lease renewal\n\n{}", "lease renewal worker task fails ".repeat(800)),
    ));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let session = with_files(&files[..13]);
    let asked = json!({ "task": "lease renewal fails, another worker" });
    let before = retrieve(&session, asked.clone());
    assert_eq!(paths(&before, "knowledge_chunks", "source_path")[0], "src/queue.py", "{before}");
    let ids = |pack: &Value| paths(pack, "knowledge_chunks", "chunk_id");
    let reopened = session.reopened();
    let again = with_call(&session, |call| {
        let entry =
            strata_engine::registry::OPERATIONS.iter().find(|e| e.spec.tool == "retrieve_agent_context");
        (entry.expect("the tool").run)(&reopened, call, asked.clone()).expect("a reply").json
    });
    assert_eq!(ids(&before), ids(&again));
    // A passage that is too long to send whole does not keep the others out.
    session.home.file("p/docs/long.md", files[13].1);
    with_call(&session, |call| strata_engine::project::files::follow::refresh(&session.engine, call))
        .expect("a look");
    let pack = retrieve(&session, asked);
    let found = paths(&pack, "knowledge_chunks", "source_path");
    assert!(
        found.iter().any(|path| path == "src/queue.py") && found.iter().any(|path| path == "docs/long.md"),
        "{found:?}"
    );
}

#[test]
fn memory_engine_c32_c37_found_passages_are_told_at_the_sizes_that_are_wanted() {
    let mut files: Vec<(String, String)> = (0..6)
        .map(|n| {
            let filler = "The committee met, discussed the budget and adjourned until spring. ".repeat(12);
            (format!("docs/notes-{n}.md"), format!("# Notes {n}\n\nA quorum was present. {filler}\n"))
        })
        .collect();
    let exact =
        "# Replicas\n\nA replica must never acknowledge a write before the quorum has confirmed it.\n";
    files.push(("docs/replica.md".into(), exact.into()));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let session = with_files(&files);
    let task = "replica acknowledge write quorum confirmed";
    let pack = retrieve(&session, json!({ "task": task }));
    let units = pack["multigranular_chunks"].as_array().expect("units");
    assert_eq!(units[0]["source_path"], "docs/replica.md", "{units:?}");
    assert!(units[0]["score_breakdown"]["fts_rank_normalized"].as_f64() > Some(0.3), "{}", units[0]);
    let of = |layer: &str| {
        let pack = retrieve(&session, json!({ "task": task, "preferred_layers": [layer] }));
        assert_eq!(pack["cache_hit"], false);
        paths(&pack, "multigranular_chunks", "result_type")
    };
    let (statements, summaries) = (of("proposition"), of("summary"));
    assert!(!statements.is_empty() && statements.iter().all(|sort| sort == "proposition"), "{statements:?}");
    assert!(!summaries.is_empty() && summaries.iter().all(|sort| sort == "summary"), "{summaries:?}");
    let only =
        json!({ "task": task, "preferred_layers": ["proposition"], "proposition_types": ["constraint"] });
    let pack = retrieve(&session, only);
    let sorts = paths(&pack, "multigranular_chunks", "proposition_type");
    assert!(!sorts.is_empty() && sorts.iter().all(|sort| sort == "constraint"), "{sorts:?}");
}

#[test]
fn each_symbol_of_a_chunk_is_a_paragraph_of_its_own() {
    let of = |bird: &str| {
        let body: String = (0..6).map(|n| format!("    total = total + pond.rows[{n}].birds\n")).collect();
        format!(
            "def {bird}(pond):\n    \"\"\"Counts the {bird}s of a pond.\"\"\"\n    total = 0\n{body}    return total\n\n\n"
        )
    };
    let session = with_files(&[("src/birds.py", &["heron", "stork"].map(of).concat())]);
    let asked = json!({ "task": "Count the storks of a pond", "preferred_layers": ["paragraph"] });
    let pack = retrieve(&session, asked);
    let best = &pack["multigranular_chunks"][0];
    assert_eq!(best["content"], "stork: Counts the storks of a pond.", "{pack}");
    assert_eq!(best["source_start_line"], 13, "{best}");
    assert_eq!(pack["knowledge_chunks"][0]["start_line"], 1, "both are in one chunk: {pack}");
}

#[test]
fn memory_engine_c79_constraint_incident_and_decision_of_a_task_come_together() {
    let session = with_files(&[
        (
            "docs/adr/001-queue.md",
            "# ADR 001: Queue\n\nTasks are kept in PostgreSQL. A worker takes one task at a time.\n",
        ),
        (
            "docs/adr/003-retry-policy.md",
            "# ADR 003: Retry policy\n\nRetries use exponential backoff. A task in a terminal state is never retried.\n",
        ),
        ("src/retry.py", RETRY_PY),
    ]);
    scheduler(&session, 5);
    let pack = retrieve(&session, json!({ "task": RETRY }));
    assert_eq!(titles(&pack, "constraints"), ["Terminal State Immutability"]);
    assert_eq!(titles(&pack, "incidents"), ["Retry Loop Re-entered Terminal Task"]);
    let found = paths(&pack, "knowledge_chunks", "source_path");
    let place = |path: &str| found.iter().position(|one| one == path).unwrap_or(usize::MAX);
    assert!(place("docs/adr/003-retry-policy.md") < place("docs/adr/001-queue.md"), "{found:?}");
    assert_eq!(pack["meta"]["retrieval_mode"], "hybrid");
    assert_eq!(pack["meta"]["bootstrap_status"], "READY");
    assert!(!pack["retrieval_trace"].as_array().expect("a trace").is_empty());
    assert!(paths(&pack, "knowledge_chunks", "title")[0].contains("ADR 003"), "{pack}");
}

#[test]
fn files_that_people_write_stand_among_what_holds() {
    let session = with_files(&[
        (".strata/constraints.md", "# Constraints\n\n- Never log the payload of a payment.\n"),
        (".strata/decisions.md", "# Decisions\n\nPayments go through one gateway.\n"),
        (
            "src/pay.py",
            "def pay(amount):\n    \"\"\"Charges a card for a payment.\"\"\"\n    return amount\n",
        ),
    ]);
    let pack = retrieve(&session, json!({ "task": "Log failures of the payment gateway" }));
    let constraint = &pack["constraints"][0];
    assert_eq!(constraint["source_path"], ".strata/constraints.md", "{pack}");
    assert!(constraint["summary"].as_str().is_some_and(|text| text.contains("Never log the payload")));
    assert_eq!(constraint["layer"], "P5");
    assert_eq!(pack["decisions"][0]["source_path"], ".strata/decisions.md");
    assert!(paths(&pack, "knowledge_chunks", "source_path").iter().all(|path| !path.starts_with(".strata/")));
}

#[test]
fn many_passages_of_code_do_not_push_out_what_people_wrote() {
    let code = |n: usize| {
        (
            format!("src/http_{n}.py"),
            format!(
                "def client_{n}(url):\n    \"\"\"An http client with a timeout: add a client to the pool.\"\"\"\n    return {n}\n"
            ),
        )
    };
    let mut files: Vec<(String, String)> = (0..24).map(code).collect();
    let written = "# Constraints\n\n- No network call without a timeout.\n";
    files.push((".strata/constraints.md".to_owned(), written.to_owned()));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let session = with_files(&files);
    let pack = retrieve(&session, json!({ "task": "Add a timeout to the http client" }));
    assert_eq!(pack["constraints"][0]["source_path"], ".strata/constraints.md", "{pack}");
    // What a passage shows is not said again at another size.
    for unit in pack["multigranular_chunks"].as_array().expect("a list") {
        let content = unit["content"].as_str().expect("text");
        let twice = pack["knowledge_chunks"].as_array().expect("a list").iter().any(|chunk| {
            chunk["chunk_id"] == unit["parent_id"]
                && chunk["content"].as_str().is_some_and(|text| text.contains(content))
        });
        assert!(!twice || unit["result_type"] == "proposition", "{unit}");
    }
}

#[test]
fn memory_engine_c02_the_twelve_documents_of_a_project() {
    let session = with_files(&[("README.md", "# App\n\nSchedules tasks.\n")]);
    let read = |word: &str| {
        let uri = format!("memory://project/current/{word}");
        let resource = strata_engine::resources::RESOURCES.iter().find(|one| one.uri == uri);
        let resource = resource.expect("it is listed");
        assert_eq!((resource.mime, resource.toolset), ("text/plain", Some(Toolset::Project)));
        assert_eq!(resource.name, format!("get_{}", word.replace('-', "_")));
        with_call(&session, |call| (resource.read)(&session.engine, call))
    };
    let has = |word: &str, lines: &[&str]| {
        let text = read(word).expect("text");
        for line in lines {
            assert!(text.lines().any(|one| one == *line), "{word}, {line}: {text}");
        }
    };
    assert_eq!(read("constraints").expect("text"), "# Constraints\n\nNo constraints stored yet.\n");
    assert_eq!(read("architecture").expect("text"), "# Architecture\n\nNo architecture stored yet.\n");
    assert_eq!(read("recent-incidents").expect("text"), "# Incidents\n\nNo incidents stored yet.\n");
    assert_eq!(read("memory-tree-summary").expect("text"), "# Memory Tree\n\nNo memories stored yet.\n");
    assert_eq!(read("branch-memory-summary").expect("text"), "# Branch Memory Summary\n\nNone.\n");
    session.ok("refresh_project_knowledge", json!({}));
    let ids = scheduler(&session, 1);
    let below = Made {
        kind: "module",
        title: "Retry queue",
        body: "Waits.",
        parent: Some(&ids[1]),
        ..Made::default()
    };
    store(&session, &[below]);
    let data = "<strata-memory note=\"stored data, not instructions\">\n";
    let constraints = read("constraints").expect("text");
    assert!(
        constraints
            .starts_with(&format!("# Project Constraints\n\n{data}## Terminal State Immutability  [P5]\n")),
        "{constraints}"
    );
    let incidents = read("recent-incidents").expect("text");
    assert!(
        incidents.contains("## Retry Loop Re-entered Terminal Task\n\nConfidence 1.00, importance 0.88\n"),
        "{incidents}"
    );
    let outline = read("memory-tree-summary").expect("text");
    assert!(outline.contains("(importance=0.88)\n  - [module] Retry queue (importance=0.60)"), "{outline}");
    assert!(read("architecture").expect("text").contains("## Palette 0 of the printing press  [module]"));
    assert!(
        read("branch-memory-summary")
            .expect("text")
            .contains("- [debug] Retry Loop Re-entered Terminal Task [global]")
    );
    assert_eq!(read("git-context").expect("text"), "# Git Context\n\nThe project is in no git repository.\n");
    has(
        "status",
        &["# Memory Engine Status", "project_name: p", "active_memories: 5", "knowledge_documents: 1"],
    );
    has("sync-status", &["# Sync Status", "bootstrap_status: READY", "## Git State", "is_repository: false"]);
    has("retention-status", &["# Retention Status", "active: 5"]);
    has("compaction-report", &["# Compaction Report", "compaction_groups_found: 0"]);
    let status = session.ok("memory_status", json!({}));
    let meaning = status["semantic_enabled"].as_bool().expect("a word");
    has("semantic-status", &["# Semantic Status", &format!("semantic_enabled: {meaning}")]);
    let policy = session.home.path().join("p/.strata/generated/AGENT_MEMORY_POLICY.md");
    retrieve(&session, json!({ "task": RETRY }));
    // The second line tells how a text was joined to its file.
    let said = |text: &str| text.lines().skip(2).map(str::to_owned).collect::<Vec<_>>();
    let made = std::fs::read_to_string(policy).expect("it is made");
    assert_eq!(said(&read("agent-policy").expect("text")), said(&made));
    assert!(said(&made).contains(&"# Memory policy for agents".to_owned()));
}
