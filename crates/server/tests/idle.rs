//! Upkeep in the silence of a client, over the real protocol.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use strata_core::{
    cancel::Cancel,
    principal::{Face, Principal, PrincipalKind},
    scope::Scope,
    time::Timestamp,
};
use strata_engine::{engine::Engine, operation::Call, registry::OPERATIONS, settings::Settings};
use strata_server::mcp::{EngineSource, Options, serve};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};

fn run(engine: &Engine, tool: &str, arguments: Value) -> Value {
    let entry = OPERATIONS.iter().find(|e| e.spec.tool == tool).expect("there");
    let principal = Principal::new(PrincipalKind::Agent, "test");
    let call = Call {
        principal: &principal,
        scope: &Scope::user(),
        face: Face::Library,
        deadline: Timestamp::MAX,
        cancel: &Cancel::default(),
        progress: &|_, _| {},
        secret: None,
    };
    (entry.run)(engine, &call, arguments).expect("done").json
}

/// How many events wait, after a server was asked once and then left alone for at most `patience`.
fn left_after_silence(idle: bool, patience: Duration) -> i64 {
    let home = tempfile::tempdir().expect("a folder");
    let engine = Engine::new(Settings::for_home(home.path()));
    for text in ["The mill stopped.", "The wheel broke because of ice.", "We decided to heat the wheel."] {
        run(&engine, "episode_record", json!({ "text": text, "session": "talk" }));
    }
    let mut settings = Settings::for_home(home.path());
    settings.config.maintain.idle = idle;
    let source: EngineSource = Arc::new(move || Ok(Engine::new(settings.clone())));
    let options = Options { upkeep_after: Duration::from_millis(300), ..Options::default() };
    let waiting = || {
        let look = run(&engine, "consolidate", json!({ "dry_run": true }));
        look["episodes_covered"].as_i64().expect("a number")
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let (ours, theirs) = duplex(1 << 20);
        let (reader, writer) = split(theirs);
        let (output, mut input) = split(ours);
        let test = async move {
            let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                               "params": { "name": "status", "arguments": {} } });
            input.write_all(format!("{call}\n").as_bytes()).await.expect("sent");
            let mut lines = BufReader::new(output).lines();
            lines.next_line().await.expect("readable").expect("an answer");
            let begun = std::time::Instant::now();
            while waiting() > 0 && begun.elapsed() < patience {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            drop((input, lines));
            waiting()
        };
        let scope = Arc::new(Scope::user);
        let (_, left) = tokio::join!(serve(source, scope, &options, reader, writer), test);
        left
    })
}

#[test]
fn a_silent_client_gives_time_for_what_is_due() {
    assert_eq!(left_after_silence(true, Duration::from_secs(60)), 0);
}

#[test]
fn no_upkeep_when_the_configuration_says_so() {
    assert_eq!(left_after_silence(false, Duration::from_millis(1_500)), 3);
}
