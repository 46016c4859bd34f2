//! Several clients, each with a server of its own, on one store.

use std::thread;

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
