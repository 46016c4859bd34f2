//! `doctor`: looks a home over, says what is wrong and what to do. Creates nothing; repairs only on request.

mod covered;
mod home;
mod index;
mod ledger;
mod links;
mod tenants;
mod todos;
mod upkeep;
mod vault;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::{Control, error::StoreError};

use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Render, counted},
};

/// See the module.
pub struct Doctor;

/// How closely to look, and whether to repair.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Also compare every database index with its table, and every backup with its audit; slow for large homes.
    pub full: Option<bool>,
    /// Also do what is safe: rebuild a damaged index, remove leftovers, end dead jobs, complete purges that were cut short.
    pub fix: Option<bool>,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// All is well.
    Ok,
    /// Works, but wants attention.
    Warn,
    /// Wrong.
    Bad,
}

/// One finding.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// What was looked at.
    pub check: &'static str,
    /// How it is.
    pub status: Verdict,
    /// What was found.
    pub detail: String,
    /// What to do; empty when nothing is to be done.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub hint: String,
}

/// The examination.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Whether nothing is wrong; warnings do not count.
    pub healthy: bool,
    /// Whether there is a store at all.
    pub initialized: bool,
    /// The home.
    pub home: String,
    /// In the order of the checks.
    pub findings: Vec<Finding>,
    /// What was repaired.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<String>,
}

impl Operation for Doctor {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "doctor",
        cli: &["doctor"],
        positional: &[],
        title: "Look the home over",
        about: "Checks the home: permissions and disk, what keeps tenants apart, schema, integrity, the audit with its signatures, texts, events, reviews, states, rules, links, \
                snapshots, graph, todos, index, indexed files, the vault, configuration, leftovers, jobs, purges and backups. Each finding says what to do. Use \
                it when something looks wrong or after a crash. It changes nothing unless `fix` is given, which does only \
                what cannot lose anything.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["memory", "semantic", "doctor"]];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let mut patient = Examination {
            engine,
            call,
            full: request.full.unwrap_or(false),
            fix: request.fix.unwrap_or(false),
            findings: Vec::new(),
            fixed: Vec::new(),
            left_out: Vec::new(),
        };
        patient.examine()?;
        let Examination { findings, fixed, .. } = patient;
        Ok(Response {
            healthy: findings.iter().all(|f| f.status != Verdict::Bad),
            initialized: engine.is_initialised().unwrap_or(false),
            home: engine.home().display().to_string(),
            findings,
            fixed,
        })
    }
}

/// What a check may have spent before it came to wait.
const A_MOMENT: Duration = Duration::from_secs(1);

/// Whether all the patience there is was spent on the store. The next check would spend as much.
fn waited_in_vain(error: &Error) -> bool {
    match error {
        Error::Store(StoreError::Busy { waited }) => *waited + A_MOMENT >= Control::default().patience,
        Error::Store(error) => matches!(error, StoreError::TooManyConnections { .. }),
        _ => false,
    }
}

/// An examination going on.
struct Examination<'a> {
    engine: &'a Engine,
    call: &'a Call<'a>,
    full: bool,
    fix: bool,
    findings: Vec<Finding>,
    fixed: Vec<String>,
    /// Checks that were not begun, because an earlier one found that somebody keeps the store to himself.
    left_out: Vec<&'static str>,
}

impl Examination<'_> {
    fn examine(&mut self) -> Result<(), Error> {
        self.configuration();
        self.semantic();
        self.judge();
        self.place();
        if self.engine.settings().store.is_some() {
            self.ok("store", format!("{}, tenant {}", self.engine.place(), self.engine.tenant()));
            self.attempt("tenants", Self::tenants)?;
        }
        let initialised = match self.engine.is_initialised() {
            Ok(initialised) => initialised,
            Err(error) => {
                self.bad("store", error.to_string(), error.hint());
                return Ok(());
            }
        };
        if !initialised {
            self.warn("ledger", "nothing is stored here yet", "run `strata init`, or just store something");
            return Ok(());
        }
        if !self.schema()? {
            return Ok(());
        }
        // A check that cannot be made is a finding; only a withdrawn call ends the examination.
        self.attempt("integrity", Self::integrity)?;
        self.attempt("audit", Self::audit)?;
        self.attempt("texts", Self::texts)?;
        self.attempt("events", Self::events)?;
        self.attempt("reviews", Self::questions)?;
        self.attempt("l0", Self::l0_entries)?;
        self.attempt("states", Self::states)?;
        self.attempt("rules", Self::rules)?;
        self.attempt("successors", Self::successors)?;
        self.attempt("links", Self::links)?;
        self.attempt("snapshots", Self::snapshots)?;
        self.attempt("digests", Self::digests)?;
        self.attempt("relations", Self::memory_relations)?;
        self.attempt("graph", Self::graph)?;
        self.attempt("todos", Self::todos)?;
        self.attempt("index", Self::index)?;
        self.attempt("documents", Self::documents)?;
        self.attempt("vault", Self::vault)?;
        self.attempt("leftovers", Self::leftovers)?;
        self.attempt("jobs", Self::jobs)?;
        self.attempt("purges", Self::open_purges)?;
        self.attempt("purges", Self::purges)?;
        self.attempt("backups", Self::backups)?;
        if self.left_out.len() > 1 {
            self.left_out.dedup();
            let names = self.left_out[1..].join(", ");
            self.warn(
                "checks",
                format!("not made: {names}"),
                "run `strata doctor` again when the store is free",
            );
        }
        Ok(())
    }

    fn attempt(
        &mut self,
        check: &'static str,
        work: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if !self.left_out.is_empty() {
            self.left_out.push(check);
            return Ok(());
        }
        match work(self) {
            Ok(()) => Ok(()),
            Err(error) if self.call.cancel.is_cancelled() => Err(error),
            Err(error) => {
                self.bad(check, format!("could not be checked: {error}"), error.hint());
                if waited_in_vain(&error) {
                    self.left_out.push(check);
                }
                Ok(())
            }
        }
    }

    fn ok(&mut self, check: &'static str, detail: impl Into<String>) {
        self.add(check, Verdict::Ok, detail.into(), String::new());
    }

    fn warn(&mut self, check: &'static str, detail: impl Into<String>, hint: impl Into<String>) {
        self.add(check, Verdict::Warn, detail.into(), hint.into());
    }

    fn bad(&mut self, check: &'static str, detail: impl Into<String>, hint: impl Into<String>) {
        self.add(check, Verdict::Bad, detail.into(), hint.into());
    }

    fn add(&mut self, check: &'static str, status: Verdict, detail: String, hint: String) {
        self.findings.push(Finding { check, status, detail, hint });
    }
}

impl Render for Response {
    /// Nothing to look at is no good news for a script that relies on it.
    fn is_alarming(&self) -> bool {
        !self.healthy || !self.initialized
    }

    fn render(&self) -> Document {
        let count = |status| self.findings.iter().filter(|f| f.status == status).count();
        let (bad, warn) = (count(Verdict::Bad), count(Verdict::Warn));
        let row = |f: &Finding| {
            let mark = match f.status {
                Verdict::Ok => Mark::Good,
                Verdict::Warn => Mark::Warning,
                Verdict::Bad => Mark::Bad,
            };
            vec![mark.sign().to_owned(), f.check.to_owned(), f.detail.clone(), f.hint.clone()]
        };
        let columns = ["", "check", "found", "what to do"].map(str::to_owned).to_vec();
        let mut document = Document::new()
            .with(Block::Pairs(vec![("home".into(), self.home.clone())]))
            .with(Block::Table { columns, rows: self.findings.iter().map(row).collect() });
        for done in &self.fixed {
            document = document.note(Mark::Good, format!("fixed: {done}"));
        }
        match (bad, warn) {
            (0, _) if !self.initialized => {
                document.note(Mark::Warning, "nothing is stored here yet, so there is nothing to look over")
            }
            (0, 0) => document.note(Mark::Good, "all is well"),
            (0, warn) => document.note(Mark::Warning, format!("healthy, with {}", counted(warn, "warning"))),
            (bad, _) => document.note(Mark::Bad, format!("{} failed", counted(bad, "check"))),
        }
    }
}
