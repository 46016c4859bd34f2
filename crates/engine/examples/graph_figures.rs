//! Figures of the knowledge graph: root causes and walks on 10 000 relations and around an entity with 100 000, and what
//! noticing costs a write, also among 20 000 names that begin alike.
//!
//! `cargo run --profile fast -p strata-engine --example graph_figures`
#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use std::time::Instant;

use serde_json::{Value, json};
use strata_core::{
    cancel::Cancel,
    graph::Origin,
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
    ledger::{NewAudit, NewEntity, NewRelation},
    sql::Control,
};

const ENTITIES: u64 = 3_000;
const RELATIONS: u64 = 10_000;
const RUNS: usize = 50;
/// Names that begin alike.
const CROWD: u64 = 20_000;

fn main() -> Result<(), Error> {
    let home = tempfile::tempdir().map_err(|source| Error::File { path: "temporary".into(), source })?;
    let engine = Engine::new(Settings::for_home(home.path()));
    call(&engine, "remember", json!({ "text": "the home is made" }))?;
    grow(&engine)?;
    println!("{ENTITIES} entities, {RELATIONS} relations, depth 6, {RUNS} runs each");
    for tool in ["graph_rca", "graph_trace", "graph_explore"] {
        let times = measure(|n| {
            call(&engine, tool, json!({ "query": format!("incident {}", n % 100 + 100), "depth": 6 }))
        })?;
        report(tool, &times);
    }
    report(
        "graph_closure",
        &measure(|n| {
            call(
                &engine,
                "graph_closure",
                json!({ "entity_id": format!("pattern {}", n % 100 + 1_000), "depth": 6 }),
            )
        })?,
    );
    let names =
        ["Redis", "Kafka", "db-01", "payment-service", "src/main.rs", "PAY-12", "Ana Silva", "OrderService"];
    report(
        "remember with names",
        &measure(|n| {
            let (a, b) = (names[n % 8], names[(n + 3) % 8]);
            call(
                &engine,
                "remember",
                json!({ "text": format!("Note {n}: {a} was seen with {b} at step {n} of the plan {}.", n * 7919) }),
            )
        })?,
    );
    report(
        "remember without",
        &measure(|n| {
            call(
                &engine,
                "remember",
                json!({ "text": format!("note {n}: the harbour lights were counted {} times before {} people left", n * 31, n * 7919) }),
            )
        })?,
    );
    crowd(&engine)?;
    println!("{CROWD} more names that begin alike, {} relations of one entity", CROWD * 5);
    for tool in ["graph_rca", "graph_explore", "graph_trace"] {
        report(
            &format!("{tool} of the hub"),
            &measure(|_| call(&engine, tool, json!({ "query": "the hub", "depth": 6 })))?,
        );
    }
    report(
        "remember one of them",
        &measure(|n| {
            let text = format!(
                "Step {n}: service {:05} waits for service {:05} as service does.",
                n * 397,
                n * 211 + 7
            );
            call(&engine, "remember", json!({ "text": text }))
        })?,
    );
    Ok(())
}

/// Names that begin alike, all related to one entity in five ways.
fn crowd(engine: &Engine) -> Result<(), Error> {
    let agent = Principal::new(PrincipalKind::Agent, "figures");
    let now = engine.clock().now();
    engine.existing_ledger()?.write(&Control::default(), now, |w| {
        let row =
            NewAudit { layer: Some(Layer::P5), ..NewAudit::new(&agent, Face::Cli, "entity_add", "many") };
        let seq = w.record(&row)?;
        let entity = |n: u64, label: String, kind: &str| NewEntity {
            id: Id::from_bits(IdKind::Entity, ENTITIES + n),
            label,
            kind: kind.into(),
            properties: "{}".into(),
            scope: Scope::user(),
            origin: Origin::Stated,
            confidence: 1.0,
            writer: agent.to_string(),
            created_at: now,
        };
        let hub = w.insert_entity(&entity(0, "the hub".into(), "pattern"), seq)?;
        for n in 0..CROWD {
            let target = w.insert_entity(&entity(n + 1, format!("service {n:05}"), "service"), seq)?;
            for (place, relation) in (0..).zip(["depends_on", "references", "caused", "led_to", "part_of"]) {
                let new = NewRelation {
                    id: Id::from_bits(IdKind::Relation, RELATIONS + 1 + n * 5 + place),
                    source: hub,
                    relation: relation.into(),
                    target,
                    properties: "{}".into(),
                    scope: Scope::user(),
                    origin: Origin::Stated,
                    confidence: 1.0,
                    writer: agent.to_string(),
                    created_at: now,
                };
                w.insert_relation(&new, seq)?;
            }
        }
        Ok(())
    })?;
    Ok(())
}

fn call(engine: &Engine, tool: &str, arguments: Value) -> Result<Value, Error> {
    let entry = OPERATIONS.iter().find(|e| e.spec.tool == tool);
    let entry = entry.ok_or_else(|| Error::Internal(format!("no tool {tool}")))?;
    let call = Call {
        principal: &Principal::new(PrincipalKind::Agent, "figures"),
        scope: &Scope::user(),
        face: Face::Cli,
        deadline: Timestamp::MAX,
        cancel: &Cancel::default(),
        progress: &|_, _| {},
        secret: None,
    };
    Ok((entry.run)(engine, &call, arguments)?.json)
}

/// Incidents, patterns and tools, related at random but always alike.
fn grow(engine: &Engine) -> Result<(), Error> {
    let agent = Principal::new(PrincipalKind::Agent, "figures");
    let mut random = 1_u64;
    let mut draw = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let now = engine.clock().now();
    engine.existing_ledger()?.write(&Control::default(), now, |w| {
        let row =
            NewAudit { layer: Some(Layer::P5), ..NewAudit::new(&agent, Face::Cli, "entity_add", "many") };
        let seq = w.record(&row)?;
        let mut first = None;
        for n in 0..ENTITIES {
            let kind = ["incident", "pattern", "tool"][(n / 1_000) as usize % 3];
            let number = w.insert_entity(
                &NewEntity {
                    id: Id::from_bits(IdKind::Entity, n),
                    label: format!("{kind} {n}"),
                    kind: kind.into(),
                    properties: "{}".into(),
                    scope: Scope::user(),
                    origin: Origin::Stated,
                    confidence: 1.0,
                    writer: agent.to_string(),
                    created_at: now,
                },
                seq,
            )?;
            first.get_or_insert(number);
        }
        let first = first.unwrap_or(1).unsigned_abs();
        let mut made = std::collections::HashSet::new();
        let mut n = 0;
        while n < RELATIONS {
            let (source, relation, target) = match n % 5 {
                0 => (1_000 + draw(1_000), "caused", draw(1_000)),
                1 => (1_000 + draw(1_000), "led_to", 1_000 + draw(1_000)),
                2 => (1_000 + draw(1_000), "depends_on", 2_000 + draw(1_000)),
                3 => (draw(1_000), "fixed_by", 1_000 + draw(1_000)),
                _ => (draw(2_000), "references", 2_000 + draw(1_000)),
            };
            if !made.insert((source, relation, target)) {
                continue;
            }
            n += 1;
            let end = |place: u64| (first + place).cast_signed();
            let new = NewRelation {
                id: Id::from_bits(IdKind::Relation, n),
                source: end(source),
                relation: relation.into(),
                target: end(target),
                properties: "{}".into(),
                scope: Scope::user(),
                origin: Origin::Stated,
                confidence: 1.0,
                writer: agent.to_string(),
                created_at: now,
            };
            w.insert_relation(&new, seq)?;
        }
        Ok(())
    })?;
    Ok(())
}

fn measure(mut work: impl FnMut(usize) -> Result<Value, Error>) -> Result<Vec<f64>, Error> {
    let mut times = Vec::with_capacity(RUNS);
    for n in 0..RUNS {
        let began = Instant::now();
        work(n)?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

fn report(what: &str, times: &[f64]) {
    let at =
        |share: usize| times.get((times.len() * share / 100).min(times.len() - 1)).copied().unwrap_or(0.0);
    println!("{what:<20} p50 {:>7.2} ms  p95 {:>7.2} ms  max {:>7.2} ms", at(50), at(95), at(100));
}
