//! One line of the audit as it is shown and exported.

use serde::Serialize;
use strata_core::{
    chain::{LinkedEntry, Outcome},
    scope::Scope,
};
use strata_store::{
    error::StoreError,
    ledger::{AuditTarget, LedgerRead},
};

use super::Refusals;
use crate::{
    authority::hexadecimal,
    memory::reference::sees_scope,
    operation::Call,
    render::{neutral, one_line},
};

/// One line.
#[derive(Debug, Clone, Serialize)]
pub struct AuditView {
    /// Its place in the order of all changes.
    pub seq: i64,
    /// When, in microseconds since 1970 UTC: what the hash is over.
    pub at: i64,
    /// When, to be read.
    pub time: String,
    /// Who.
    pub who: String,
    /// For whom, when for somebody else.
    pub on_behalf_of: Option<String>,
    /// The way in.
    pub face: String,
    /// What.
    pub action: String,
    /// To what: an id or a name; empty when to nothing in particular. Of a file of the vault outside the caller's scope
    /// only the namespace.
    pub target: String,
    /// The number of the memory that it was done to.
    pub number: Option<i64>,
    /// In which layer.
    pub layer: Option<String>,
    /// `done` or `refused`.
    pub outcome: &'static str,
    /// Whether it was refused.
    pub denied: bool,
    /// Why; null when it was said about something outside the caller's scope.
    pub detail: Option<String>,
    /// How many times; above 1 for a refusal that was repeated.
    pub count: i64,
    /// The latest time of a repeated refusal.
    pub last_time: Option<String>,
    /// Hash of the text before, in hexadecimal.
    pub before_hash: Option<String>,
    /// Hash of the text after.
    pub after_hash: Option<String>,
    /// The hash of the line before.
    pub previous: String,
    /// The hash of this line, over `previous` and its own fields.
    pub hash: String,
}

impl AuditView {
    /// The views of some lines, in their order. What they were done to is looked up for all of them at once.
    pub(super) fn of(
        r: &LedgerRead<'_>,
        call: &Call<'_>,
        lines: Vec<LinkedEntry>,
        refusals: &Refusals,
    ) -> Result<Vec<Self>, StoreError> {
        let names: Vec<&str> = lines.iter().map(|line| line.entry.target.as_str()).collect();
        let targets = r.audit_targets(&names)?;
        let view = |line: LinkedEntry| {
            let target = targets.get(&line.entry.target);
            Self::new(call, line, target, refusals)
        };
        Ok(lines.into_iter().map(view).collect())
    }

    fn new(call: &Call<'_>, linked: LinkedEntry, target: Option<&AuditTarget>, refusals: &Refusals) -> Self {
        let entry = linked.entry;
        let hidden = hidden_file(call, &entry.target);
        let is_visible = hidden.is_none() && target.is_none_or(|target| sees_scope(call, &target.scope));
        let repeated = refusals.get(&entry.seq).filter(|refusal| refusal.count > 1);
        Self {
            seq: entry.seq,
            at: entry.at.0,
            time: entry.at.to_rfc3339(),
            who: entry.principal,
            on_behalf_of: entry.on_behalf_of,
            face: entry.face,
            action: entry.action,
            number: target.and_then(|target| target.number),
            target: hidden.unwrap_or(entry.target),
            layer: entry.layer,
            outcome: entry.outcome.as_str(),
            denied: entry.outcome == Outcome::Refused,
            detail: is_visible.then_some(entry.reason),
            count: repeated.map_or(1, |refusal| refusal.count),
            last_time: repeated.map(|refusal| refusal.last_at.to_rfc3339()),
            before_hash: entry.before_hash.map(|hash| hexadecimal(&hash)),
            after_hash: entry.after_hash.map(|hash| hexadecimal(&hash)),
            previous: hexadecimal(&linked.previous),
            hash: hexadecimal(&linked.hash),
        }
    }

    /// `DENIED` or `ok`, action, target, layer, who, `::` and why, each at its place.
    pub(super) fn text(&self) -> String {
        let mark = if self.denied { "DENIED" } else { "ok    " };
        let target = match (self.number, self.target.as_str()) {
            (Some(number), _) => format!("#{number}"),
            (None, "") => "-".to_owned(),
            (None, name) => name.to_owned(),
        };
        let layer = self.layer.as_deref().unwrap_or("-");
        let who = match &self.on_behalf_of {
            Some(other) => format!("{} for {other}", self.who),
            None => self.who.clone(),
        };
        let detail = self.detail.as_deref().unwrap_or("(outside your scope)");
        let times = if self.count > 1 { format!(" ({} times)", self.count) } else { String::new() };
        let line =
            format!("{mark} {:<16} {target} {layer} {who} :: {detail}{times} [{}]", self.action, self.time);
        // The columns stay apart; what somebody wrote keeps to its line and cannot end the block.
        let (columns, said) = line.split_once(" :: ").unwrap_or((&line, ""));
        format!("{} :: {}", neutral(columns), neutral(&one_line(said))).replace("```", "'''")
    }
}

/// What is said of a file of the vault whose name the caller may not see: `vault:claude/…`.
fn hidden_file(call: &Call<'_>, target: &str) -> Option<String> {
    let (namespace, _) = target.strip_prefix("vault:")?.split_once('/')?;
    let scope = Scope { namespace: namespace.to_owned(), ..Scope::user() };
    (!sees_scope(call, &scope)).then(|| format!("vault:{namespace}/…"))
}
