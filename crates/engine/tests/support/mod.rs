//! One caller on one throwaway home, through the operation table.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#![allow(clippy::panic, reason = "a session that cannot go on fails its test")]
#![allow(clippy::needless_pass_by_value, reason = "calls read best with `json!` as they stand")]

use std::sync::Arc;

use serde_json::Value;
use strata_core::{
    cancel::Cancel,
    error::ErrorKind,
    principal::{Face, Principal, PrincipalKind},
    scope::Scope,
    signing::SecretKey,
    time::Timestamp,
};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    engine::Engine,
    error::Error,
    judge::{Judge, Outgoing, Scripted, Verdict},
    operation::{Call, Reply},
    registry::OPERATIONS,
    settings::Settings,
};
use strata_testkit::home::TestHome;

/// 2026-06-15T12:00:00Z.
pub(crate) const NOON: Timestamp = Timestamp(1_781_524_800_000_000);

pub(crate) struct Session {
    pub(crate) engine: Engine,
    pub(crate) principal: Principal,
    pub(crate) scope: Scope,
    pub(crate) secret: Option<SecretKey>,
    pub(crate) home: TestHome,
}

/// Does something as the session's caller would.
pub(crate) fn with_call<T>(session: &Session, job: impl FnOnce(&Call<'_>) -> T) -> T {
    job(&Call {
        principal: &session.principal,
        scope: &session.scope,
        face: Face::Mcp,
        deadline: Timestamp::MAX,
        cancel: &Cancel::default(),
        progress: &|_, _| {},
        secret: session.secret.as_ref(),
    })
}

impl Session {
    /// An agent at the user level of a fresh home.
    pub(crate) fn new() -> Self {
        Self::with_settings(|_| {})
    }

    pub(crate) fn with_settings(change: impl FnOnce(&mut Settings)) -> Self {
        let home = TestHome::new().existing();
        let mut settings = home.settings();
        change(&mut settings);
        let engine =
            Engine::with_sources(settings, Box::new(ManualClock::at(NOON)), Box::new(SeededIds::new(7)));
        Self {
            engine,
            principal: Principal::new(PrincipalKind::Agent, "test"),
            scope: Scope::user(),
            secret: None,
            home,
        }
    }

    /// The same caller with a judge that says what it was told.
    pub(crate) fn advised(mut self, verdicts: Vec<Verdict>, digests: Vec<String>) -> (Self, Arc<Scripted>) {
        let judge = Arc::new(Scripted::new(verdicts, digests));
        self.engine = self.engine.with_judge(Box::new(Shared(Arc::clone(&judge))));
        (self, judge)
    }

    pub(crate) fn of_kind(mut self, kind: PrincipalKind) -> Self {
        self.principal = Principal::new(kind, "test");
        self
    }

    pub(crate) fn set_kind(&mut self, kind: PrincipalKind) {
        self.principal = Principal::new(kind, "test");
    }

    /// Runs a tool and returns the whole reply.
    pub(crate) fn reply(&self, tool: &str, arguments: Value) -> Result<Reply, Error> {
        let entry =
            OPERATIONS.iter().find(|e| e.spec.tool == tool).unwrap_or_else(|| panic!("no tool `{tool}`"));
        with_call(self, |call| (entry.run)(&self.engine, call, arguments))
    }

    /// Runs a tool that must succeed and returns its JSON.
    pub(crate) fn ok(&self, tool: &str, arguments: Value) -> Value {
        match self.reply(tool, arguments.clone()) {
            Ok(reply) => reply.json,
            Err(e) => panic!("{tool} {arguments}: {e} ({})", e.hint()),
        }
    }

    /// Runs a tool that must succeed and returns its Markdown.
    pub(crate) fn text(&self, tool: &str, arguments: Value) -> String {
        self.reply(tool, arguments).unwrap_or_else(|e| panic!("{tool}: {e}")).document.to_markdown()
    }

    /// Runs a tool that must fail and returns the kind of failure.
    pub(crate) fn fails(&self, tool: &str, arguments: Value) -> ErrorKind {
        match self.reply(tool, arguments.clone()) {
            Ok(reply) => panic!("{tool} {arguments} must fail but said {}", reply.json),
            Err(e) => {
                assert!(!e.hint().is_empty(), "{e} has no hint");
                e.kind()
            }
        }
    }

    /// Stores a text and returns its id.
    pub(crate) fn remember(&self, text: &str) -> String {
        self.ok("remember", serde_json::json!({ "text": text }))["id"].as_str().expect("an id").to_owned()
    }

    /// The ids that a recall returns, best first.
    pub(crate) fn recall(&self, query: &str) -> Vec<String> {
        ids(&self.ok("recall", serde_json::json!({ "query": query })))
    }

    /// The same home as somebody else would see it.
    pub(crate) fn reopened(&self) -> Engine {
        Engine::with_sources(
            Settings { home: self.home.path().to_owned(), ..self.engine.settings().clone() },
            Box::new(ManualClock::at(NOON)),
            Box::new(SeededIds::new(1_000_003)),
        )
    }
}

/// The ids of a recall's hits.
pub(crate) fn ids(reply: &Value) -> Vec<String> {
    reply["hits"]
        .as_array()
        .expect("hits")
        .iter()
        .map(|h| h["id"].as_str().expect("an id").to_owned())
        .collect()
}

/// A scripted judge that the test keeps an eye on.
#[derive(Debug)]
struct Shared(Arc<Scripted>);

impl Judge for Shared {
    fn name(&self) -> String {
        self.0.name()
    }

    fn compare(&self, a: &Outgoing, b: &Outgoing) -> Result<Verdict, Error> {
        self.0.compare(a, b)
    }

    fn summarise(&self, texts: &[Outgoing]) -> Result<String, Error> {
        self.0.summarise(texts)
    }
}
