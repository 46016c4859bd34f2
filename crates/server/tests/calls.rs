//! The life of one call, in process: progress, cancel, deadline and room, over the real protocol.

use std::{
    sync::{Arc, Mutex, PoisonError, mpsc},
    time::Duration,
};

use serde_json::{Value, json};
use strata_core::scope::Scope;
use strata_engine::{engine::Engine, settings::Settings};
use strata_server::mcp::{Ended, EngineSource, Options, ScopeResolver, serve};
use tokio::{
    io::{
        AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex, split,
    },
    sync::oneshot,
};

/// Far above anything these tests wait for.
const PATIENCE: Duration = Duration::from_secs(30);

struct Client {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Client {
    async fn send(&mut self, message: Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.expect("the server reads");
    }

    async fn call(&mut self, id: u64, meta: Value) {
        let params = json!({ "name": "status", "arguments": {}, "_meta": meta });
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })).await;
    }

    async fn read(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.output.next_line()).await.expect("in time");
        serde_json::from_str(&line.expect("readable").expect("open")).expect("JSON")
    }
}

/// Runs `test` against a server whose calls take as long as `scope` does. The server's end is the end of the
/// client's output.
fn with_server<F: Future<Output = ()>>(
    options: &Options,
    scope: ScopeResolver,
    test: impl FnOnce(Client) -> F,
) -> Ended {
    let engine: EngineSource = Arc::new(|| Ok(Engine::new(Settings::for_home("/nowhere/at/all"))));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let (ours, theirs) = duplex(1 << 20);
        let (reader, writer) = split(theirs);
        let (output, input) = split(ours);
        let client = Client { input, output: BufReader::new(output).lines() };
        let (ended, ()) = tokio::join!(serve(engine, scope, options, reader, writer), test(client));
        ended
    })
}

/// Holds the first call until the sender is used or dropped; later ones go on at once.
fn first_is_held() -> (mpsc::Sender<()>, ScopeResolver) {
    let (release, _arrived, scope) = first_is_held_and_told();
    (release, scope)
}

/// The same, with a sign that the first call has arrived and is held.
fn first_is_held_and_told() -> (mpsc::Sender<()>, oneshot::Receiver<()>, ScopeResolver) {
    let (release, released) = mpsc::channel();
    let (arrive, arrived) = oneshot::channel();
    let first = Mutex::new(Some((released, arrive)));
    let scope = move || {
        let held = first.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((released, arrive)) = held {
            // Errors say that nobody listens any more, or that the test is over.
            arrive.send(()).ok();
            released.recv().ok();
        }
        Scope::user()
    };
    (release, arrived, Arc::new(scope))
}

#[test]
fn a_waiting_client_hears_of_progress_when_it_asked_to() {
    let (release, scope) = first_is_held();
    let ended = with_server(&Options::default(), scope, |mut client| async move {
        client.call(1, json!({ "progressToken": "tick" })).await;
        let mut told = Vec::new();
        loop {
            let message = client.read().await;
            if message["id"] == 1 {
                break;
            }
            assert_eq!(message["method"], "notifications/progress");
            assert_eq!(message["params"]["progressToken"], "tick");
            told.push(message["params"]["progress"].as_f64().expect("a number"));
            if told.len() == 2 {
                release.send(()).expect("the call is held");
            }
        }
        assert!(told.len() >= 2 && told.is_sorted_by(|a, b| a < b), "{told:?}");
        client.call(2, json!({})).await;
        assert_eq!(client.read().await["id"], 2, "nobody who did not ask is told");
    });
    assert_eq!(ended, Ended::Closed);
}

#[test]
fn a_call_past_its_deadline_is_answered_and_the_server_goes_on() {
    let options = Options { call_timeout: Duration::from_millis(300), ..Options::default() };
    let (release, scope) = first_is_held();
    with_server(&options, scope, |mut client| async move {
        client.call(1, json!({})).await;
        let answer = client.read().await;
        let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
        assert!(text.starts_with("error: deadline\n"), "{text}");
        client.call(2, json!({})).await;
        assert_eq!(client.read().await["result"]["isError"], false);
    });
    release.send(()).expect("the first call was held all the time");
}

#[test]
fn a_cancelled_call_gets_no_answer_and_holds_nobody_up() {
    let (release, arrived, scope) = first_is_held_and_told();
    with_server(&Options::default(), scope, |mut client| async move {
        client.call(1, json!({})).await;
        arrived.await.expect("the first call is held");
        client.send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } })).await;
        client.call(2, json!({})).await;
        assert_eq!(client.read().await["id"], 2, "the first was withdrawn");
    });
    release.send(()).expect("the first call was held all the time");
}

#[test]
fn a_panic_outside_the_operation_is_contained_too() {
    let scope: ScopeResolver = Arc::new(|| panic!("on purpose"));
    with_server(&Options::default(), scope, |mut client| async move {
        client.call(1, json!({})).await;
        let answer = client.read().await;
        let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
        assert!(text.starts_with("error: internal\n") && text.contains("on purpose"), "{text}");
        client.send(json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" })).await;
        assert_eq!(client.read().await["id"], 2);
    });
}

#[test]
fn a_client_that_says_nothing_for_too_long_is_left() {
    let options = Options { idle: Some(Duration::ZERO), ..Options::default() };
    let scope: ScopeResolver = Arc::new(Scope::user);
    let ended = with_server(&options, scope, |mut client| async move {
        let line = tokio::time::timeout(PATIENCE, client.output.next_line()).await.expect("in time");
        assert_eq!(line.expect("readable"), None, "the server left");
    });
    assert_eq!(ended, Ended::Idle);
}
