//! Figures of the audit: how long it takes to write 50 000 lines of it to a file.
//!
//! `cargo run --profile fast -p strata-engine --example audit_figures`
#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use std::time::Instant;

use serde_json::json;
use strata_core::{
    cancel::Cancel,
    id::{Id, IdKind},
    memory::Layer,
    principal::{Face, Principal, PrincipalKind},
    scope::Scope,
    time::Timestamp,
};
use strata_engine::{
    engine::Engine, error::Error, operation::Call, registry::OPERATIONS, settings::Settings,
};
use strata_store::{
    ledger::{NewAudit, NewMemory},
    sql::Control,
};

const MEMORIES: u64 = 10_000;
/// Lines about each memory.
const LINES: u64 = 5;

fn main() -> Result<(), Error> {
    let home = tempfile::tempdir().map_err(|source| Error::File { path: "temporary".into(), source })?;
    let engine = Engine::new(Settings::for_home(home.path()));
    call(&engine, "remember", json!({ "text": "the home is made" }))?;
    fill(&engine)?;
    let output = home.path().join("audit.jsonl");
    for _ in 0..3 {
        let began = Instant::now();
        call(&engine, "memory_audit", json!({ "output": output }))?;
        println!("{} lines to a file: {:.2} s", MEMORIES * LINES, began.elapsed().as_secs_f64());
    }
    Ok(())
}

/// Memories, and what is on record about each.
fn fill(engine: &Engine) -> Result<(), Error> {
    let agent = Principal::new(PrincipalKind::Agent, "figures");
    let now = engine.clock().now();
    for first in (0..MEMORIES).step_by(1_000) {
        engine.existing_ledger()?.write(&Control::default(), now, |w| {
            for n in first..first + 1_000 {
                let id = Id::from_bits(IdKind::Memory, n.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                let text = format!("note {n}: the lights were counted {} times", n * 31);
                let mut salt = [0; 16];
                salt[..8].copy_from_slice(&n.to_le_bytes());
                let new = NewMemory::new(id.clone(), &text, &agent.to_string(), now, salt);
                let line = NewAudit {
                    layer: Some(Layer::P5),
                    ..NewAudit::new(&agent, Face::Cli, "remember", id.as_str())
                };
                let seq = w.record(&NewAudit { after_hash: Some(new.content_hash()), ..line.clone() })?;
                w.insert_memory(&new, seq)?;
                (1..LINES)
                    .try_for_each(|_| w.record(&NewAudit { action: "update", ..line.clone() }).map(drop))?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn call(engine: &Engine, tool: &str, arguments: serde_json::Value) -> Result<(), Error> {
    let entry = OPERATIONS.iter().find(|e| e.spec.tool == tool);
    let entry = entry.ok_or_else(|| Error::Internal(format!("no tool {tool}")))?;
    let call = Call {
        principal: &Principal::new(PrincipalKind::Human, "figures"),
        scope: &Scope::user(),
        face: Face::Cli,
        deadline: Timestamp::MAX,
        cancel: &Cancel::default(),
        progress: &|_, _| {},
        secret: None,
    };
    (entry.run)(engine, &call, arguments).map(drop)
}
