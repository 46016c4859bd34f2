//! Several clients, each with a server of its own, on one store.

use std::{
    collections::{HashMap, HashSet},
    thread,
};

use serde_json::json;
use strata_testkit::{
    home::TestHome,
    mcp::{Era, McpScript},
};

use crate::strata;

const CLIENTS: usize = 4;
const WRITES: usize = 100;

#[test]
fn field_case_19_four_servers_write_at_once_and_nothing_is_lost() {
    let home = TestHome::bare();
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let home = &home;
            scope.spawn(move || {
                let era = Era::ALL[client % 2];
                let mut script = McpScript::start(&strata(home), era, &[]);
                for n in 0..WRITES {
                    let text = format!(
                        "Client {client} found that device {} answers on channel {n}.",
                        client * 1000 + n
                    );
                    let answer = script.call("remember", &json!({ "text": text }));
                    assert!(!answer.is_error, "{}", answer.text);
                }
                assert!(script.finish().status.success());
            });
        }
    });
    let status = strata(&home).json(["status"]);
    assert_eq!(status["holds"]["memories"], CLIENTS * WRITES, "{status:#}");
}

/// Three commands find the same contradictions at the same time: each is filed by one of them, and three questions at
/// most wait about a memory.
#[test]
fn processes_that_file_contradictions_at_once_file_each_pair_once() {
    let home = TestHome::new();
    let mut script = McpScript::start(&strata(&home), Era::ALL[0], &[]);
    for n in 0..60 {
        let text = format!("The billing service listens on port {}.", 8000 + n);
        assert!(!script.call("remember", &json!({ "text": text })).is_error);
    }
    assert!(script.finish().status.success());
    let filed: u64 = thread::scope(|scope| {
        let command =
            || strata(&home).json(["govern", "contradictions"])["filed"].as_u64().expect("a number");
        let runs = [(); 3].map(|()| scope.spawn(command));
        runs.into_iter().map(|run| run.join().expect("no panic")).sum()
    });
    let queue = strata(&home).json(["review", "list", "--limit", "200"]);
    let queue = queue["reviews"].as_array().expect("reviews");
    assert_eq!(u64::try_from(queue.len()).expect("small"), filed, "each counts what it filed itself");
    assert!((1..=90).contains(&queue.len()), "{} filed", queue.len());
    let mut pairs = HashSet::new();
    let mut waiting: HashMap<String, usize> = HashMap::new();
    for review in queue {
        let reason = review["reason"].as_str().expect("a reason");
        let mut pair: Vec<String> =
            reason.split(' ').filter(|word| word.starts_with("mem_")).map(str::to_owned).collect();
        assert_eq!(pair.len(), 2, "{reason}");
        pair.iter().for_each(|memory| *waiting.entry(memory.clone()).or_default() += 1);
        pair.sort();
        assert!(pairs.insert(pair), "a pair was filed twice: {reason}");
    }
    assert!(waiting.values().all(|count| *count <= 3), "{waiting:?}");
}
