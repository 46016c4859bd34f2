//! An embedding model that fails while it is in use, in a home and on a server: what is stored is stored whole, words find
//! it, the fault is told, and nothing is held when the call is over.

#![allow(clippy::panic, reason = "a model that panics")]

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::support::{NOON, Session};
use serde_json::{Value, json};
use strata_core::{
    cancel::Cancel,
    error::ErrorKind,
    principal::{Face, Principal, PrincipalKind},
    scope::Scope,
    time::Timestamp,
};
use strata_embed::{EmbedError, Embedder, ModelKey};
use strata_engine::{
    clock::{Clock, ManualClock, SeededIds},
    engine::Engine,
    operation::Call,
    registry::OPERATIONS,
};
use strata_testkit::{home::TestHome, store::TestStore};

/// Longer than a model that failed is left alone.
const LATER: i64 = 31_000_000;
/// Connections that one process may keep.
const KEPT: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    Well,
    /// Gives up after its own time limit.
    TimesOut,
    /// Another model is served under its name.
    TooShort,
    TooLong,
    NotANumber,
    Endless,
    Panics,
    /// Answers so many times, and then no more.
    Dies(usize),
    /// Answers, each time after so many milliseconds.
    Slow(u64),
}

const ILL: [Health; 6] = [
    Health::TimesOut,
    Health::TooShort,
    Health::TooLong,
    Health::NotANumber,
    Health::Endless,
    Health::Panics,
];

/// Knows how often three letters occur.
#[derive(Clone)]
struct Letters {
    key: ModelKey,
    health: Arc<Mutex<Health>>,
    asked: Arc<AtomicUsize>,
}

impl Letters {
    fn set(&self, health: Health) {
        *self.health.lock().expect("no test panicked in it") = health;
        self.asked.store(0, Ordering::Relaxed);
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Embedder for Letters {
    fn model(&self) -> &ModelKey {
        &self.key
    }

    fn embed_passage(&self, text: &str) -> Result<Option<Vec<f32>>, EmbedError> {
        let count = |letter| text.chars().filter(|c| *c == letter).count() as f32 + 0.1;
        let counts = [count('e'), count('r'), count('t')];
        let length = counts.iter().map(|c| c * c).sum::<f32>().sqrt();
        let vector = counts.map(|c| c / length).to_vec();
        let health = *self.health.lock().expect("no test panicked in it");
        let before = self.asked.fetch_add(1, Ordering::Relaxed);
        let silent = || Err(EmbedError::Unanswered("timed out after 30 s".to_owned()));
        match health {
            Health::Well => Ok(Some(vector)),
            Health::TimesOut => silent(),
            Health::TooShort => Ok(Some(vec![1.0])),
            Health::TooLong => Ok(Some([vector, vec![0.0]].concat())),
            Health::NotANumber => Ok(Some(vec![f32::NAN, 0.0, 1.0])),
            Health::Endless => Ok(Some(vec![f32::INFINITY, 0.0, 1.0])),
            Health::Panics => panic!("out of memory on the other side"),
            Health::Dies(answers) if before >= answers => silent(),
            Health::Dies(_) => Ok(Some(vector)),
            Health::Slow(milliseconds) => {
                thread::sleep(Duration::from_millis(milliseconds));
                Ok(Some(vector))
            }
        }
    }

    fn embed_query(&self, text: &str) -> Result<Option<Vec<f32>>, EmbedError> {
        self.embed_passage(text)
    }
}

struct SharedClock(Arc<ManualClock>);

impl Clock for SharedClock {
    fn now(&self) -> Timestamp {
        self.0.now()
    }
}

/// A home with a model of ours, and what the test holds in its hand.
struct Patient {
    s: Session,
    model: Letters,
    clock: Arc<ManualClock>,
}

impl Patient {
    fn new(store: TestStore) -> Self {
        let home = TestHome::on(store).existing();
        let model = Letters {
            key: ModelKey::new("letters", "1", 3).expect("a key"),
            health: Arc::new(Mutex::new(Health::Well)),
            asked: Arc::default(),
        };
        let clock = Arc::new(ManualClock::at(NOON));
        let engine = Engine::with_sources(
            home.settings(),
            Box::new(SharedClock(Arc::clone(&clock))),
            Box::new(SeededIds::new(31)),
        )
        .with_embedder(Box::new(model.clone()));
        let principal = Principal::new(PrincipalKind::Human, "test");
        Self { s: Session { engine, principal, scope: Scope::user(), secret: None, home }, model, clock }
    }

    fn semantic(&self) -> String {
        self.s.ok("status", json!({}))["semantic"].as_str().expect("a word").to_owned()
    }

    fn missing(&self) -> usize {
        let searcher = self.s.engine.searcher();
        let model = searcher.model().expect("there is one").to_owned();
        searcher.index().missing(self.s.engine.tenant(), &model, usize::MAX).expect("listed").len()
    }

    /// Nothing waits, no lock is held, and no more connections are open than are kept.
    fn assert_nothing_leaks(&self) {
        let index = self.s.engine.searcher().index();
        assert!(
            index.writer(&strata_store::Control::default()).expect("opens").is_some(),
            "the index's lock is free"
        );
        if let Some(database) = self.s.home.database() {
            database.wait_for_rest(KEPT);
        }
    }
}

/// Where there is a server, on it too.
fn everywhere(test: impl Fn(Patient)) {
    for store in [TestStore::Sqlite, TestStore::Postgres] {
        if store.is_there() {
            test(Patient::new(store));
        }
    }
}

#[test]
fn field_case_63_a_model_that_fails_costs_no_memory_and_is_told_each_time() {
    everywhere(|p| {
        p.s.remember("the anchor stone is granite");
        p.s.ok("reembed", json!({}));
        for (round, health) in ILL.into_iter().enumerate() {
            p.model.set(health);
            p.clock.advance(LATER);
            for n in 0..20 {
                let text = format!("attempt {n} of round {round}");
                let id = p.s.remember(&text);
                assert_eq!(p.s.ok("inspect", json!({ "id": id }))["text"], text, "{health:?}");
                assert!(p.semantic().starts_with("off: the embedding model"), "{health:?}: {}", p.semantic());
            }
            assert!(p.model.asked() <= 2, "it is left alone for a while: {}", p.model.asked());
            let reply = p.s.ok("recall", json!({ "query": format!("attempt 19 of round {round}") }));
            assert!(
                reply["semantic"].as_str().is_some_and(|s| s.starts_with("off: the embedding model")),
                "{reply:#}"
            );
            assert!(
                reply.to_string().contains(&format!("attempt 19 of round {round}")),
                "by words: {reply:#}"
            );
            let told = p.s.text("recall", json!({ "query": "anchor stone" }));
            assert!(
                told.contains("granite") && told.contains("by words alone: the embedding model"),
                "{told}"
            );
        }
        p.assert_nothing_leaks();
        assert_eq!(p.missing(), 20 * ILL.len(), "each waits for its vector");
        let report = p.s.ok("doctor", json!({}));
        assert_eq!(report["healthy"], true, "{report:#}");

        p.model.set(Health::Well);
        p.clock.advance(LATER);
        assert!(p.s.recall("anchor stone").len() == 1);
        assert_eq!(p.semantic(), "on");
        let named = p.s.ok("doctor", json!({})).to_string();
        assert!(named.contains("have none by letters") && named.contains("strata reembed"), "{named}");
        assert_eq!(p.s.ok("reembed", json!({}))["embedded"], 20 * ILL.len());
        assert_eq!(p.missing(), 0);
        p.assert_nothing_leaks();
    });
}

#[test]
fn a_model_that_dies_in_the_middle_of_a_batch_keeps_what_it_made() {
    everywhere(|p| {
        p.model.set(Health::TimesOut);
        for n in 0..12 {
            p.s.remember(&format!("the river has weir number {n}"));
        }
        assert_eq!(p.missing(), 12);
        p.model.set(Health::Dies(5));
        assert_eq!(p.s.fails("reembed", json!({})), ErrorKind::Unavailable);
        assert_eq!(p.missing(), 7, "five are made");
        assert_eq!(p.s.fails("reembed", json!({})), ErrorKind::Unavailable, "each time");
        let reply = p.s.ok("reindex", json!({}));
        assert!(reply["semantic"].as_str().is_some_and(|s| s.starts_with("off: ")), "{reply}");
        assert_eq!(p.s.recall("weir number 11").len().min(1), 1, "a rebuilt index is searched by words");
        p.assert_nothing_leaks();

        p.model.set(Health::Well);
        let reply = p.s.ok("reembed", json!({}));
        assert_eq!((&reply["total"], &reply["failed"]), (&json!(12), &json!(0)), "{reply}");
        assert_eq!((p.missing(), p.semantic().as_str()), (0, "on"));
        let jobs = p.s.ok("jobs_list", json!({})).to_string();
        assert!(jobs.contains("does not answer: timed out"), "the failed runs say why: {jobs}");
        assert_eq!(p.s.ok("doctor", json!({}))["healthy"], true);
    });
}

#[test]
fn a_model_that_is_slow_keeps_no_call_beyond_its_deadline() {
    everywhere(|p| {
        p.model.set(Health::TimesOut);
        for n in 0..60 {
            p.s.remember(&format!("the tower has bell number {n}"));
        }
        p.s.home.lose_indexes();
        p.model.set(Health::Slow(100));
        p.clock.advance(LATER);
        let engine = Engine::with_sources(
            p.s.home.settings(),
            Box::new(SharedClock(Arc::clone(&p.clock))),
            Box::new(SeededIds::new(32)),
        )
        .with_embedder(Box::new(p.model.clone()));
        let started = Instant::now();
        let outcome = within(&engine, &p, 1_000_000);
        let took = started.elapsed();
        assert_eq!(outcome.expect_err("sixty take six seconds").kind(), ErrorKind::Deadline);
        assert!(took < Duration::from_secs(4), "{took:?}");
        p.model.set(Health::Well);
        assert!(within(&engine, &p, 60_000_000).expect("in time").to_string().contains("bell number 7"));
        drop(engine);
        p.assert_nothing_leaks();
    });
}

/// A recall that may take so many microseconds.
fn within(engine: &Engine, p: &Patient, microseconds: i64) -> Result<Value, strata_engine::error::Error> {
    let recall = OPERATIONS.iter().find(|e| e.spec.tool == "recall").expect("there is one");
    let call = Call {
        principal: &p.s.principal,
        scope: &p.s.scope,
        face: Face::Mcp,
        deadline: Timestamp(engine.clock().now().0 + microseconds),
        cancel: &Cancel::default(),
        progress: &|_, _| {},
        secret: None,
    };
    (recall.run)(engine, &call, json!({ "query": "bell number 7" })).map(|reply| reply.json)
}
