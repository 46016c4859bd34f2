//! Many callers, each with an engine of its own, that store what is nearly the same at the same time.

use std::sync::Barrier;

use serde_json::{Value, json};
use strata_engine::{
    clock::{ManualClock, SystemIds},
    engine::Engine,
    registry::OPERATIONS,
};

use crate::support::{NOON, Session, with_call};

const CALLERS: u64 = 8;

/// What `remember` answers each of so many callers that begin at the same moment.
fn all_at_once(s: &Session, request: &(dyn Fn(u64) -> Value + Sync)) -> Vec<Value> {
    let entry = OPERATIONS.iter().find(|entry| entry.spec.tool == "remember").expect("the tool");
    let engines: Vec<Engine> = (0..CALLERS)
        .map(|_| {
            Engine::with_sources(s.home.settings(), Box::new(ManualClock::at(NOON)), Box::new(SystemIds))
        })
        .collect();
    let start = Barrier::new(engines.len());
    std::thread::scope(|threads| {
        let (s, start) = (&s, &start);
        let store = |(n, engine)| {
            threads.spawn(move || {
                start.wait();
                with_call(s, |call| (entry.run)(engine, call, request(n)).expect("stored").json)
            })
        };
        let running: Vec<_> = (0..).zip(&engines).map(store).collect();
        running.into_iter().map(|one| one.join().expect("no panic")).collect()
    })
}

fn audited(s: &Session, action: &str) -> usize {
    let reply = s.ok("memory_audit", json!({ "action": action, "limit": 100 }));
    reply["entries"].as_array().map_or(0, Vec::len)
}

#[test]
fn of_many_that_say_nearly_the_same_at_once_one_alone_hears_of_no_other() {
    let s = Session::new();
    s.remember("The kitchen is painted on Mondays.");
    let texts: [fn(u64) -> String; 3] = [
        |n| format!("The gateway answers device {n} on the second channel within a minute."),
        |n| format!("Photographs of the harbour are renamed by worker {n} before the archive closes."),
        |n| format!("Nobody may open valve {n} while the boiler room is being swept."),
    ];
    for text in texts {
        let told = all_at_once(&s, &|n| json!({ "text": text(100 + n) }));
        let alone: Vec<&Value> = told.iter().filter(|reply| reply["similar"].is_null()).collect();
        assert_eq!(alone.len(), 1, "{alone:#?}");
    }
    assert_eq!(s.ok("status", json!({}))["holds"]["memories"], 3 * CALLERS + 1, "and nothing is lost");
}

#[test]
fn of_many_that_say_a_thing_and_its_opposite_at_once_one_side_is_in_force() {
    let s = Session::new();
    s.remember("The kitchen is painted on Mondays.");
    for city in ["Lisbon", "Bergen", "Kyoto"] {
        all_at_once(&s, &|n| {
            let not = if n.is_multiple_of(2) { "" } else { "not " };
            json!({ "text": format!("The gateway in {city} is {not}restarted after an update of its rules.") })
        });
        let found = s.ok("recall", json!({ "query": format!("gateway in {city}"), "limit": 50 }));
        let of_city = |hit: &&Value| hit["text"].as_str().is_some_and(|text| text.contains(city));
        let hits: Vec<&Value> = found["hits"].as_array().expect("hits").iter().filter(of_city).collect();
        assert_eq!(hits.len(), 1, "{hits:#?}");
    }
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn of_many_that_write_one_topic_at_once_each_replaces_the_one_before() {
    let s = Session::new();
    s.remember("The kitchen is painted on Mondays.");
    let towns = ["Bergen", "Lisbon", "Kyoto", "Oslo", "Graz", "Basel", "Turin", "Malmo"];
    let told = all_at_once(&s, &|n| {
        let town = towns[usize::try_from(n).expect("small")];
        json!({ "text": format!("Deliveries leave from {town}."), "topic_key": "deliveries" })
    });
    assert_eq!(told.iter().filter(|reply| reply["superseded"].is_null()).count(), 1, "{told:#?}");
    let found = s.ok("recall", json!({ "query": "where do deliveries leave from", "limit": 50 }));
    let leave = |hit: &&Value| hit["text"].as_str().is_some_and(|text| text.starts_with("Deliveries"));
    assert_eq!(found["hits"].as_array().expect("hits").iter().filter(leave).count(), 1, "{found}");
    assert_eq!(audited(&s, "remember"), towns.len() + 1);
}
