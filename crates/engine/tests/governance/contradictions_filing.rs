//! How contradictions reach the review queue when there are many, and when somebody else files or changes memories at the
//! same time.

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, PoisonError},
};

use crate::support::{NOON, Session};
use serde_json::{Value, json};
use strata_core::{
    duplicate,
    id::{Id, IdKind},
    principal::{Face, Principal, PrincipalKind},
    time::Timestamp,
};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    contradictions::file::WAITING,
    engine::Engine,
    error::Error,
    judge::{Judge, Outgoing, Relation, Verdict},
};
use strata_store::{
    faults::FaultPlan,
    ledger::{NewAudit, NewMemory, ReviewFilter, ReviewRow, ReviewStatus},
    sql::Control,
};
use strata_testkit::store::TestStore;

fn reviews(session: &Session) -> Vec<ReviewRow> {
    let all =
        ReviewFilter { status: None, kind: None, target: None, limit: usize::MAX, ..ReviewFilter::default() };
    let ledger = session.engine.existing_ledger().expect("a ledger");
    ledger.read(&Control::default(), |r| r.reviews(&all)).expect("reviews")
}

/// How many questions about each memory wait; every pair stands once.
fn waiting(session: &Session) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    let mut pairs = Vec::new();
    for review in reviews(session) {
        let proposal: Value = serde_json::from_str(&review.proposal).expect("JSON");
        let mut pair = [&proposal["a"], &proposal["b"]].map(|id| id.as_str().expect("an id").to_owned());
        if review.status == ReviewStatus::Pending {
            pair.iter().for_each(|id| *counts.entry(id.clone()).or_default() += 1);
        }
        pair.sort();
        pairs.push(pair);
    }
    let filed = pairs.len();
    pairs.sort();
    pairs.dedup();
    assert_eq!(pairs.len(), filed, "a pair was filed twice");
    counts
}

fn head(session: &Session) -> i64 {
    let ledger = session.engine.existing_ledger().expect("a ledger");
    ledger.read(&Control::default(), |r| Ok(r.head()?.seq)).expect("a head")
}

/// Memories that all name another port of one service, stored without a look at one another.
fn crowd(session: &Session, memories: u64) {
    session.remember("The mailer is written in Go.");
    let writer = Principal::new(PrincipalKind::System, "test");
    let ledger = session.home.ledger(FaultPlan::none());
    for first in (0..memories).step_by(500) {
        ledger
            .write(&Control::default(), NOON, |w| {
                for serial in first..memories.min(first + 500) {
                    let id = Id::from_bits(IdKind::Memory, serial + 1);
                    let text = format!("The billing service listens on port {}.", 1024 + serial);
                    let seq = w.record(&NewAudit::new(&writer, Face::Cli, "remember", id.as_str()))?;
                    let identity = duplicate::identity(&text);
                    let new = NewMemory::new(id, &text, "system:test", Timestamp(NOON.0), [7; 16]);
                    w.insert_memory(&NewMemory { identity, ..new }, seq)?;
                }
                Ok(())
            })
            .expect("stored");
    }
}

fn number(reply: &Value, key: &str) -> usize {
    reply[key].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
}

/// Every pair of them would be four and a half million; `contradictions_bench` has ten thousand. On a server they are fewer,
/// because every memory of the fixture takes its round trips.
#[test]
fn thousands_about_one_subject_are_compared_and_filed_in_bounded_numbers() {
    let session = Session::new();
    let memories = TestStore::times(3_000, 1_000);
    crowd(&session, memories as u64);
    let before = head(&session);
    let reply = session.ok("contradictions", json!({}));
    let [total, compared, filed, left_out] =
        ["total", "compared", "filed", "left_out"].map(|key| number(&reply, key));
    assert!(compared <= 16 * (memories + 1), "{compared} compared");
    assert!((1..=memories * WAITING / 2).contains(&filed), "{filed} filed");
    assert_eq!(total, filed + left_out);
    let counts = waiting(&session);
    assert_eq!(counts.values().sum::<usize>(), 2 * filed);
    assert!(counts.values().all(|count| *count <= WAITING));
    assert_eq!(head(&session) - before, i64::try_from(filed).expect("small"), "one line for each question");
    let again = session.ok("contradictions", json!({}));
    assert_eq!(["filed", "known", "left_out"].map(|key| number(&again, key)), [0, filed, left_out]);
    assert_eq!(head(&session) - before, i64::try_from(filed).expect("small"), "nothing is written");
}

#[test]
fn a_severer_finding_is_not_a_fourth_question_about_a_memory() {
    let mut session = Session::new();
    session.remember("API keys are kept for 10 days.");
    for days in [20, 30, 40] {
        session.remember(&format!("API keys are kept for {days} days."));
    }
    session.ok("contradictions", json!({}));
    let asked = waiting(&session);
    let full: Vec<&String> = asked.iter().filter(|(_, count)| **count == WAITING).map(|(id, _)| id).collect();
    assert_eq!(full.len(), 4, "each against each other: {asked:?}");
    session.set_kind(PrincipalKind::System);
    session.ok("remember", json!({ "text": "API keys are kept for 90 days.", "kind": "rule" }));
    session.set_kind(PrincipalKind::Agent);
    let reply = session.ok("contradictions", json!({}));
    assert_eq!(reply["findings"][0]["severity"], "high", "the severest comes first: {reply:#}");
    assert_eq!((number(&reply, "filed"), number(&reply, "left_out")), (0, 4), "{reply:#}");
    assert!(waiting(&session).values().all(|count| *count <= WAITING));
    // Who decides one about a memory is asked the next about it.
    session.set_kind(PrincipalKind::Human);
    for review in reviews(&session) {
        session.ok("review_resolve", json!({ "id": review.id, "decision": "keep_both" }));
    }
    session.set_kind(PrincipalKind::Agent);
    let next = session.ok("contradictions", json!({}));
    assert_eq!((number(&next, "filed"), number(&next, "left_out")), (3, 1), "three about the rule: {next:#}");
}

/// The same home, opened by another process as it were.
fn another(session: &Session, seed: u64) -> Engine {
    Engine::with_sources(
        session.home.settings(),
        Box::new(ManualClock::at(NOON)),
        Box::new(SeededIds::new(seed)),
    )
}

fn beside(session: &Session, seed: u64) -> Beside {
    Beside { engine: another(session, seed), principal: Principal::new(PrincipalKind::Agent, "other") }
}

/// Somebody else on the same home.
struct Beside {
    engine: Engine,
    principal: Principal,
}

impl fmt::Debug for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.principal)
    }
}

impl Beside {
    fn ok(&self, tool: &str, arguments: Value) -> Value {
        let scope = strata_core::scope::Scope::user();
        let call = strata_engine::operation::Call {
            principal: &self.principal,
            scope: &scope,
            face: Face::Mcp,
            deadline: Timestamp::MAX,
            cancel: &strata_core::cancel::Cancel::default(),
            progress: &|_, _| {},
            secret: None,
        };
        let operations = strata_engine::registry::OPERATIONS;
        let entry = operations.iter().find(|entry| entry.spec.tool == tool).expect("a tool");
        (entry.run)(&self.engine, &call, arguments).expect("done").json
    }
}

#[test]
fn two_that_file_at_once_file_each_pair_once_and_at_most_three_about_a_memory() {
    let session = Session::new();
    crowd(&session, 300);
    let others: Vec<Beside> = (11..14).map(|seed| beside(&session, seed)).collect();
    let filed: usize = std::thread::scope(|threads| {
        let runs: Vec<_> =
            others.iter().map(|other| threads.spawn(|| other.ok("contradictions", json!({})))).collect();
        runs.into_iter().map(|run| number(&run.join().expect("no panic"), "filed")).sum()
    });
    assert_eq!(reviews(&session).len(), filed, "each counts what it filed itself");
    assert!(waiting(&session).values().all(|count| *count <= WAITING));
    assert_eq!(number(&session.ok("contradictions", json!({})), "filed"), 0, "nothing was missed");
}

/// A judge that is asked after the queue was read and before anything is filed: meanwhile something happens.
#[derive(Debug)]
struct Meanwhile {
    other: Beside,
    deeds: Mutex<Vec<(&'static str, Value)>>,
}

impl Judge for Meanwhile {
    fn name(&self) -> String {
        "slow".into()
    }

    fn compare(&self, _: &Outgoing, _: &Outgoing) -> Result<Verdict, Error> {
        for (tool, arguments) in self.deeds.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            self.other.ok(tool, arguments);
        }
        Ok(Verdict { relation: Relation::Unsure, reason: "who knows".into(), confidence: 0.9 })
    }

    fn summarise(&self, _: &[Outgoing]) -> Result<String, Error> {
        Ok(String::new())
    }
}

/// Two that differ in what was chosen, of which a judge is asked; their ids.
fn doubtful(session: &Session) -> [String; 2] {
    ["LaunchDarkly", "Unleash"].map(|tool| session.remember(&format!("Feature toggles are kept in {tool}.")))
}

fn while_judged(session: Session, deeds: Vec<(&'static str, Value)>) -> Session {
    let judge = Meanwhile { other: beside(&session, 99), deeds: Mutex::new(deeds) };
    Session { engine: another(&session, 1_234).with_judge(Box::new(judge)), ..session }
}

#[test]
fn a_pair_that_somebody_filed_meanwhile_is_known() {
    let session = Session::new();
    doubtful(&session);
    session.remember("The mailer keeps at most 20 connections open.");
    session.remember("The mailer keeps at most 50 connections open.");
    let session = while_judged(session, vec![("contradictions", json!({}))]);
    let reply = session.ok("contradictions", json!({}));
    assert_eq!((number(&reply, "filed"), number(&reply, "known")), (0, 2), "{reply:#}");
    assert_eq!(waiting(&session).len(), 4);
}

#[test]
fn a_memory_that_went_meanwhile_is_not_asked_about() {
    let session = Session::new();
    let [older, _] = doubtful(&session);
    session.remember("The mailer keeps at most 20 connections open.");
    session.remember("The mailer keeps at most 50 connections open.");
    let session = while_judged(session, vec![("forget", json!({ "id": older }))]);
    let reply = session.ok("contradictions", json!({}));
    assert_eq!((number(&reply, "filed"), number(&reply, "total")), (1, 1), "{reply:#}");
    assert!(!reviews(&session).iter().any(|review| review.proposal.contains(&older)));
}

#[test]
fn what_others_write_meanwhile_does_not_keep_a_scan_from_filing() {
    let session = Session::new();
    doubtful(&session);
    let deeds = vec![("remember", json!({ "text": "The scheduler runs at night." }))];
    let session = while_judged(session, deeds);
    let reply = session.ok("contradictions", json!({}));
    assert_eq!((number(&reply, "filed"), number(&reply, "known")), (1, 0), "{reply:#}");
}
