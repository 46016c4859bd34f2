//! What the audit and the changelog say of a change to the vault.

use serde_json::{Map, Value};
use strata_core::{
    knowledge::changelog::{MAX_METADATA, MAX_REASON, MAX_SUMMARY, MAX_VALUE, Operation, clip},
    time::Timestamp,
};
use strata_store::ledger::VaultChange;

use super::{Change, Place};
use crate::{authority::hexadecimal, engine::Engine, error::Error, gate::Gate};

/// What happens to a file, in the words of the changelog. Never a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// What is done; its word is the audit's action.
    pub operation: Operation,
    /// The section's heading.
    pub section: Option<String>,
    /// What happened, in a few words.
    pub summary: String,
    /// Why.
    pub reason: String,
    /// The token of the text before (`knowledge::digest`).
    pub before: Option<String>,
    /// The token of the text after.
    pub after: Option<String>,
    /// Further values: texts, numbers, booleans.
    pub metadata: Map<String, Value>,
}

impl Event {
    /// An event with nothing but its operation and summary.
    pub fn new(operation: Operation, summary: impl Into<String>) -> Self {
        Self {
            operation,
            section: None,
            summary: summary.into(),
            reason: String::new(),
            before: None,
            after: None,
            metadata: Map::new(),
        }
    }

    /// The same about a section.
    #[must_use]
    pub fn section(self, heading: &str) -> Self {
        Self { section: Some(heading.to_owned()), ..self }
    }

    /// The same with a reason.
    #[must_use]
    pub fn because(self, reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), ..self }
    }

    /// The same with the tokens of the text before and after.
    #[must_use]
    pub fn tokens(self, before: Option<String>, after: Option<String>) -> Self {
        Self { before, after, ..self }
    }

    /// The same with one more value.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.to_owned(), value.into());
        self
    }

    /// The row of the changelog, its texts let through the gate and cut to their limits.
    pub(super) fn row(
        &self,
        engine: &Engine,
        change: &Change<'_>,
        place: &Place,
    ) -> Result<VaultChange, Error> {
        let mut gate = Gate::default();
        let mut short = |field: &str, text: &str, max: usize| -> Result<String, Error> {
            Ok(gate.field(field, Some(&clip(text, max)))?.unwrap_or_default())
        };
        let section = self.section.as_deref().map(|text| short("section", text, MAX_SUMMARY)).transpose()?;
        let agent_id = change.agent_id.map(|text| short("agent_id", text, MAX_VALUE)).transpose()?;
        let source_ref = change.source_ref.map(|text| short("source_ref", text, MAX_VALUE)).transpose()?;
        let mut metadata = Map::new();
        for (key, value) in self.metadata.iter().take(MAX_METADATA) {
            let value = match value {
                Value::Array(_) | Value::Object(_) => continue,
                Value::String(text) => Value::String(short("metadata", text, MAX_VALUE)?),
                other => other.clone(),
            };
            metadata.insert(key.clone(), value);
        }
        let mut id = [0; 16];
        engine.ids().fill(&mut id);
        Ok(VaultChange {
            seq: 0,
            ordinal: 0,
            id: hexadecimal(&id),
            at: Timestamp(0),
            operation: self.operation,
            namespace: place.namespace.to_string(),
            domain: place.domain().to_owned(),
            number: None,
            section,
            agent_id,
            tool: change.tool.to_owned(),
            summary: short("summary", &self.summary, MAX_SUMMARY)?,
            reason: short("reason", &self.reason, MAX_REASON)?,
            source_ref,
            before: self.before.clone(),
            after: self.after.clone(),
            metadata: Value::Object(metadata).to_string(),
        })
    }
}
