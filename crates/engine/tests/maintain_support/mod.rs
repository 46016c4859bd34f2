//! Homes for the tests of upkeep: with a seed of their own, a person with a secret, and raw events.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::{Path, PathBuf};

use serde_json::json;
use strata_core::{
    id::{Id, IdKind},
    memory::Layer,
    principal::{Face, Principal, PrincipalKind},
    scope::Scope,
    signing::{DerivationParams, SecretKey},
};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    engine::Engine,
};
use strata_store::{
    faults::FaultPlan,
    ledger::{NewAudit, NewEpisode},
    sql::Control,
};
use strata_testkit::home::TestHome;

pub(crate) use crate::support::{self, Session};

/// A fresh home whose ids come from `seed`.
pub(crate) fn home(seed: u64) -> Session {
    with_faults(seed, &FaultPlan::none())
}

/// The same, with faults scripted.
pub(crate) fn with_faults(seed: u64, faults: &FaultPlan) -> Session {
    let home = TestHome::new().existing();
    let engine = Engine::with_faults(
        home.settings(),
        Box::new(ManualClock::at(support::NOON)),
        Box::new(SeededIds::new(seed)),
        faults,
    );
    let principal = Principal::new(PrincipalKind::Agent, "test");
    Session { engine, principal, scope: Scope::user(), secret: None, home }
}

/// Opens the home of a session anew, with faults scripted.
pub(crate) fn reopen(mut s: Session, seed: u64, faults: &FaultPlan) -> Session {
    s.engine = Engine::with_faults(
        s.home.settings(),
        Box::new(ManualClock::at(strata_core::time::Timestamp(support::NOON.0 + 60_000_000))),
        Box::new(SeededIds::new(seed)),
        faults,
    );
    s
}

/// Opens the home of a session anew, so many hours after it was made.
pub(crate) fn later(mut s: Session, hours: i64) -> Session {
    s.engine = Engine::with_sources(
        s.home.settings(),
        Box::new(ManualClock::at(strata_core::time::Timestamp(support::NOON.0 + hours * 3_600_000_000))),
        Box::new(SeededIds::new(100 + hours.unsigned_abs())),
    );
    s
}

/// A key that costs nothing to derive.
pub(crate) fn secret(passphrase: &str) -> SecretKey {
    SecretKey::derive(passphrase, &[3; 16], DerivationParams::CHEAP).expect("derived")
}

/// Makes the caller a person at a terminal who has set a passphrase.
pub(crate) fn become_owner(s: &mut Session) {
    s.set_kind(PrincipalKind::Human);
    s.secret = Some(secret("correct horse"));
    assert_eq!(s.ok("init", json!({}))["has_secret"], true);
}

/// Runs `work` as another kind of caller.
pub(crate) fn acting<T>(s: &mut Session, kind: PrincipalKind, work: impl FnOnce(&Session) -> T) -> T {
    let actor = std::mem::replace(&mut s.principal, Principal::new(kind, "test"));
    let out = work(s);
    s.principal = actor;
    out
}

/// Stores a raw event as an importer would and returns its id.
pub(crate) fn tell(s: &Session, session: &str, text: &str) -> String {
    store_events(s, session, &[text.to_owned()]).swap_remove(0)
}

/// Stores many raw events at once.
pub(crate) fn tell_many(s: &Session, texts: &[String]) {
    store_events(s, "long talk", texts);
}

/// Stores a raw event of somebody who says nothing else.
pub(crate) fn tell_as(s: &Session, speaker: &str, session: &str, text: &str) -> String {
    events_of(s, speaker, session, &[text.to_owned()]).swap_remove(0)
}

fn store_events(s: &Session, session: &str, texts: &[String]) -> Vec<String> {
    events_of(s, "ana", session, texts)
}

fn events_of(s: &Session, speaker: &str, session: &str, texts: &[String]) -> Vec<String> {
    let gateway = Principal::new(PrincipalKind::Gateway, "test");
    let now = s.engine.clock().now();
    let event = |text: &String| NewEpisode {
        id: Id::from_bits(IdKind::Episode, s.engine.ids().bits()),
        external_id: None,
        session: session.to_owned(),
        at: s.engine.clock().now(),
        speaker: speaker.to_owned(),
        role: "user".into(),
        text: text.clone(),
        metadata: json!({ "mood": "good" }).to_string(),
        scope: Scope::user(),
        source: "test".into(),
        writer: gateway.to_string(),
        salt: s.engine.ids().salt(),
    };
    let new: Vec<NewEpisode> = texts.iter().map(event).collect();
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let row =
        NewAudit { layer: Some(Layer::P2), ..NewAudit::new(&gateway, Face::Library, "import", "episodes") };
    let added = ledger.write(&Control::default(), now, |w| w.store_episodes(&new, &row));
    added.expect("stored").into_iter().map(|e| e.id).collect()
}

/// The files below `directory` that hold the bytes, in any case of letters.
pub(crate) fn holding(directory: &Path, needle: &str) -> Vec<PathBuf> {
    let needle = needle.to_lowercase().into_bytes();
    let mut found = Vec::new();
    let mut waiting = vec![directory.to_path_buf()];
    while let Some(place) = waiting.pop() {
        for entry in std::fs::read_dir(&place).expect("listed").flatten() {
            let path = entry.path();
            if path.is_dir() {
                waiting.push(path);
            } else if let Ok(mut bytes) = std::fs::read(&path) {
                bytes.make_ascii_lowercase();
                if bytes.windows(needle.len()).any(|w| w == needle) {
                    found.push(path);
                }
            }
        }
    }
    found
}
