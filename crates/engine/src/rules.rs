//! Rules: memories of kind `rule` with a priority, a condition and a switch. The lower the layer the higher the
//! authority, whatever the priority; within a layer the lower priority goes first, then the older rule.

pub mod add;
pub mod disable;
pub mod edit;
pub mod enable;
pub mod list;

use jiff::tz::TimeZone;
use serde::Serialize;
use strata_core::memory::{Kind, Layer};
use strata_store::{
    error::StoreError,
    ledger::{DEFAULT_PRIORITY, LedgerRead, MemoryFilter, MemoryRow, RuleAttributes},
};

use crate::{
    engine::Engine,
    error::Error,
    memory::{forget::find, update::must_stand},
    operation::Call,
    project::anchors::{AnchorView, pins::Pins},
    recall::item::metadata,
    render::{Document, Mark, Record, Render},
};

/// The kind of a rule.
pub const RULE: &str = "rule";
/// The name under which a rule's metadata says what it is about, when that is no scope of ours.
const APPLIES_TO: &str = "applies_to";

/// Whether memories of this kind have priority, condition and switch.
pub fn is_rule(kind: &Kind) -> bool {
    kind.as_str() == RULE
}

/// Whether a memory has its place among the rules and identity rather than among what is known; of those that the
/// ledger lists, [`MemoryFilter::knowledge`] leaves these out.
pub fn is_authority(memory: &MemoryRow) -> bool {
    matches!(memory.state.layer, Layer::P0 | Layer::P1) || is_rule(&memory.kind)
}

/// A memory with its place among the rules.
#[derive(Debug, Clone)]
pub struct Ruled {
    /// The memory.
    pub memory: MemoryRow,
    /// Its attributes; the defaults for what is no rule.
    pub attributes: RuleAttributes,
}

/// The memories that `filter` chooses, in the order of their authority: layer, priority, age. Those that are
/// disabled are among them.
pub fn in_order(r: &LedgerRead<'_>, filter: &MemoryFilter) -> Result<Vec<Ruled>, StoreError> {
    let mut known = r.rules_now()?;
    let with_attributes = |memory: MemoryRow| {
        let attributes = known.remove(&memory.number).filter(|_| is_rule(&memory.kind)).unwrap_or_default();
        Ruled { memory, attributes }
    };
    let mut all: Vec<Ruled> = r.memories(filter)?.into_iter().map(with_attributes).collect();
    all.sort_by_key(|r| (r.memory.state.layer, r.attributes.priority, r.memory.number));
    Ok(all)
}

/// The same without those that are disabled.
pub fn in_force(r: &LedgerRead<'_>, filter: &MemoryFilter) -> Result<Vec<Ruled>, StoreError> {
    let mut all = in_order(r, filter)?;
    all.retain(|rule| rule.attributes.enabled);
    Ok(all)
}

impl Ruled {
    /// What a reader must know beside the text: when the rule applies, and its place if that is a special one.
    pub fn marks(&self) -> Vec<String> {
        let attributes = &self.attributes;
        let place =
            (attributes.priority != DEFAULT_PRIORITY).then(|| format!("priority {}", attributes.priority));
        let when = attributes.condition.as_ref().map(|condition| format!("when: {condition}"));
        let off = (!attributes.enabled).then(|| "disabled".to_owned());
        place.into_iter().chain(when).chain(off).collect()
    }
}

/// A rule as callers see it.
#[derive(Debug, Clone, Serialize)]
pub struct RuleView {
    /// Its id.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// Its layer.
    pub layer: String,
    /// Its place in its layer; the lower number goes first.
    pub priority: i64,
    /// Whether it is in force.
    pub enabled: bool,
    /// When it applies; always, if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// What it is about, in the writer's word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applies_to: Option<String>,
    /// Where it holds.
    pub scope: String,
    /// Its text.
    pub text: String,
    /// Where it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The day it was stored.
    pub date: String,
    /// The code that it is pinned to, and whether that has changed since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<AnchorView>,
}

impl RuleView {
    /// The view of a rule.
    pub(crate) fn new(rule: &Ruled, zone: &TimeZone, code: &Pins) -> Self {
        let Ruled { memory, attributes } = rule;
        Self {
            id: memory.id.clone(),
            number: memory.number,
            layer: memory.state.layer.to_string(),
            priority: attributes.priority,
            enabled: attributes.enabled,
            condition: attributes.condition.clone(),
            applies_to: metadata(&memory.metadata).remove(APPLIES_TO),
            scope: memory.scope.to_string(),
            text: memory.body.clone(),
            source: (!memory.source.is_empty()).then(|| memory.source.clone()),
            date: memory.created_at.to_date(zone),
            code: code.on(memory).to_vec(),
        }
    }

    /// The view as a record.
    pub fn record(&self) -> Record {
        let mut attributes =
            vec![format!("#{}", self.number), self.layer.clone(), format!("priority {}", self.priority)];
        attributes.extend(self.condition.as_ref().map(|c| format!("when: {c}")));
        attributes.extend(self.applies_to.as_ref().map(|a| format!("about: {a}")));
        attributes.extend((!self.enabled).then(|| "disabled".to_owned()));
        attributes.extend([self.scope.clone(), self.date.clone()]);
        attributes.extend(self.code.iter().map(AnchorView::in_words));
        Record { id: self.id.clone(), attributes, title: None, text: self.text.clone() }
    }
}

/// What became of a rule.
#[derive(Debug, Serialize)]
pub struct Changed {
    /// `added`, `edited`, `enabled`, `disabled`, or `unchanged`.
    pub status: &'static str,
    /// The rule as it is now.
    pub rule: RuleView,
    /// The id it had before, when its text changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
    /// Families of secrets that were blacked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
}

impl Render for Changed {
    fn render(&self) -> Document {
        let rule = &self.rule;
        let what = match self.status {
            "unchanged" => "already a rule:",
            "added" => "rule",
            other => other,
        };
        let mut text =
            format!("{what} #{} [{}] priority={} {}", rule.number, rule.layer, rule.priority, rule.id);
        if let Some(previous) = &self.previous {
            text.push_str(&format!(" (superseded {previous}; its history is kept)"));
        }
        Document::new().note(Mark::Good, text).note_redacted(&self.redacted)
    }
}

/// The rule that a change names, in force and as it is now; `seen` is the place of its attributes.
struct Target {
    memory: MemoryRow,
    attributes: RuleAttributes,
    seen: i64,
}

fn target(engine: &Engine, call: &Call<'_>, id: &str) -> Result<Target, Error> {
    let memory = find(engine, call, id)?;
    must_stand(&memory)?;
    if !is_rule(&memory.kind) {
        return Err(Error::Conflict {
            message: format!("{} is a memory of kind {}, not a rule", memory.id, memory.kind),
            hint: format!(
                "change it with `update`, or make it a rule with `strata update {} --kind rule`",
                memory.id
            ),
        });
    }
    let row = engine.ledger(call)?.read(&engine.control(call), |r| r.rule(memory.number))?;
    let seen = row.as_ref().map_or(0, |row| row.from_seq);
    Ok(Target { memory, attributes: row.map(|row| row.attributes).unwrap_or_default(), seen })
}

/// The rule with this number as it is now.
fn view(engine: &Engine, call: &Call<'_>, number: i64) -> Result<RuleView, Error> {
    let found = engine.ledger(call)?.read(&engine.control(call), |r| {
        let attributes = r.rule(number)?.map(|row| row.attributes).unwrap_or_default();
        Ok(r.memory_by_number(number)?.map(|memory| Ruled { memory, attributes }))
    })?;
    let rule = found.ok_or_else(|| Error::Internal(format!("rule #{number} was stored and is not there")))?;
    let code = Pins::of(engine, call, std::iter::once(&rule.memory))?;
    Ok(RuleView::new(&rule, &engine.settings().zone, &code))
}

/// A priority as callers give it.
pub(crate) fn priority(value: Option<i64>) -> Result<Option<i64>, Error> {
    match value {
        Some(n) if n < 0 => Err(Error::argument(
            "priority",
            format!("{n} is out of range"),
            format!("send 0 or more; the lower number goes first, {DEFAULT_PRIORITY} is the default"),
        )),
        value => Ok(value),
    }
}
