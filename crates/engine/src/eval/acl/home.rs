//! The throwaway home in which permissions are tried, and one attempt in it.

use serde_json::{Value, json};
use strata_core::{
    chain::Outcome,
    error::ErrorKind,
    id::{Id, IdKind},
    memory::Layer,
    principal::{Face, Principal, PrincipalKind},
    scope::Scope,
    signing::{DerivationParams, SecretKey},
};
use strata_store::ledger::{AuditFilter, NewAudit, NewReview};

use crate::{engine::Engine, error::Error, operation::Call, registry, settings::Settings};

/// A home of its own, whose owner has a passphrase.
pub(super) struct Trial<'a> {
    engine: Engine,
    call: &'a Call<'a>,
    secret: SecretKey,
    scope: Scope,
    /// Goes away with the trial.
    _home: tempfile::TempDir,
}

/// Who tries, and whether the secret is at hand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Actor {
    pub(super) kind: PrincipalKind,
    pub(super) has_secret: bool,
}

impl Actor {
    /// What tells a person with the secret from all others.
    pub(super) const fn word(self) -> &'static str {
        if self.has_secret { "secret" } else { "plain" }
    }
}

impl<'a> Trial<'a> {
    /// Makes the home. Words alone are indexed: nothing here is searched for.
    pub(super) fn new(engine: &Engine, call: &'a Call<'a>) -> Result<Self, Error> {
        let home =
            tempfile::tempdir().map_err(|source| Error::File { path: "a temporary home".into(), source })?;
        let mut settings =
            Settings { home: home.path().to_owned(), store: None, ..engine.settings().clone() };
        settings.config.semantic.model = "off".into();
        let secret =
            SecretKey::derive("a passphrase for a throwaway home", &[7; 16], DerivationParams::CHEAP)
                .map_err(|e| Error::Internal(e.to_string()))?;
        let trial = Self { engine: Engine::new(settings), call, secret, scope: Scope::user(), _home: home };
        trial.run(&Principal::new(PrincipalKind::Human, "owner"), true, "init", json!({}))?;
        Ok(trial)
    }

    /// Runs an operation as somebody, the way a protocol client would.
    pub(super) fn run(
        &self,
        principal: &Principal,
        has_secret: bool,
        tool: &str,
        arguments: Value,
    ) -> Result<Value, Error> {
        let call = Call {
            principal,
            scope: &self.scope,
            face: Face::Mcp,
            secret: has_secret.then_some(&self.secret),
            ..*self.call
        };
        let entry = registry::OPERATIONS
            .iter()
            .find(|entry| entry.spec.tool == tool)
            .ok_or_else(|| Error::Internal(format!("no operation `{tool}`")))?;
        Ok((entry.run)(&self.engine, &call, arguments)?.json)
    }

    /// Prepares something as the system, which may do anything but approve.
    pub(super) fn prepare(&self, tool: &str, arguments: Value) -> Result<Value, Error> {
        self.run(&Principal::new(PrincipalKind::System, "trial"), false, tool, arguments)
    }

    /// Files an arbitrary review about a memory, as a scan would.
    pub(super) fn file(&self, kind: &str, target: &str, proposal: &Value) -> Result<String, Error> {
        let system = Principal::new(PrincipalKind::System, "trial");
        let review = NewReview {
            id: Id::from_bits(IdKind::Review, self.engine.ids().bits()),
            kind: kind.to_owned(),
            target: target.to_owned(),
            proposal: proposal.to_string(),
            reason: "a trial".into(),
            proposer: system.to_string(),
            created_at: self.engine.clock().now(),
            salt: self.engine.ids().salt(),
        };
        let row = NewAudit::new(&system, Face::Library, "propose", target).asking(&review);
        let control = self.engine.control(self.call);
        self.engine.existing_ledger()?.write(&control, self.engine.clock().now(), |w| {
            let seq = w.record(&row)?;
            w.insert_review(&review, seq)
        })?;
        Ok(review.id.to_string())
    }

    /// Everything about a memory that a change would show, but for what is on record about it.
    pub(super) fn state_of(&self, id: &str) -> Result<Value, Error> {
        let control = self.engine.control(self.call);
        let (memory, rule) = self.engine.existing_ledger()?.read(&control, |r| {
            let memory = r.memory(id)?;
            let rule = match &memory {
                Some(memory) => r.rule(memory.number)?,
                None => None,
            };
            Ok((memory, rule))
        })?;
        Ok(json!(format!("{memory:?} {rule:?}")))
    }

    /// How many memories there are, of any status.
    pub(super) fn memories(&self) -> Result<i64, Error> {
        let control = self.engine.control(self.call);
        Ok(self.engine.existing_ledger()?.read(&control, |r| Ok(r.totals()?.memories))?)
    }

    /// Whether the audit has one refusal of this principal, in this layer.
    pub(super) fn has_on_record(&self, principal: &Principal, layer: Layer) -> Result<bool, Error> {
        let filter = AuditFilter {
            principal: Some(principal.to_string()),
            outcome: Some(Outcome::Refused),
            ..AuditFilter::default()
        };
        let control = self.engine.control(self.call);
        let rows = self.engine.existing_ledger()?.read(&control, |r| r.audit(&filter))?;
        Ok(rows.len() == 1 && rows[0].entry.layer.as_deref() == Some(layer.as_str()))
    }

    /// Whether the caller of the evaluation has withdrawn it.
    pub(super) fn goes_on(&self) -> Result<(), Error> {
        if self.call.cancel.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// What happened, in the words of the report.
pub(super) fn outcome(result: &Result<Value, Error>) -> String {
    match result {
        Ok(_) => "allow".to_owned(),
        Err(error) => match error.kind() {
            ErrorKind::Refused => "deny".to_owned(),
            ErrorKind::ApprovalRequired => "approval".to_owned(),
            _ => format!("{error}"),
        },
    }
}
