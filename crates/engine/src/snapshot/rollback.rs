//! `snapshot_rollback`: brings the memory back to a snapshot, as one step that can be undone.

use std::collections::{BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    memory::Layer,
    policy::{self, Action, Verdict},
    principal::Principal,
};
use strata_store::{
    error::StoreError,
    ledger::{
        LedgerRead, LedgerWrite, LiveRow, MemoryRow, NewAudit, RolledBack, RuleAttributes, SnapshotRow,
    },
};

use super::{Measured, Named, compare::Difference, files::FilesPlan, find, named, seen, take};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    knowledge::{
        l0,
        vault::{self, Joined},
    },
    memory::reference::sees_scope,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset, is_default},
    render::{Block, Document, Mark, Render, Trust, counted},
};

/// See the module.
pub struct Rollback;

/// How often the plan is made anew because somebody wrote in the meantime.
const ATTEMPTS: usize = 5;
/// Memories of each sort that a dry run lists.
const LISTED: usize = 20;

/// Where to go back to.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The snapshot's name.
    pub version_id: String,
    /// Only say what would happen.
    pub dry_run: Option<bool>,
}

/// What was done, or would be.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The snapshot.
    pub version_id: String,
    /// Whether nothing was done.
    pub dry_run: bool,
    /// Memories in force that no longer are.
    pub superseded: usize,
    /// Memories that are in force again.
    pub restored: usize,
    /// Memories that stayed in force and took their earlier state.
    pub changed: usize,
    /// Rules in force then that took their earlier priority, condition or switch.
    pub rules: usize,
    /// Files of the vault that hold again what they held then, or are gone again.
    #[serde(skip_serializing_if = "is_default")]
    pub files: usize,
    /// Files that stay as they are, because their text of then is no longer kept.
    #[serde(skip_serializing_if = "is_default")]
    pub files_lost: usize,
    /// Memories of the snapshot that were purged and cannot come back.
    pub purged: i64,
    /// The layers that are touched.
    pub layers: Vec<String>,
    /// The snapshot of what was there before, when anything changed: rolling back to it undoes this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// With `dry_run`: whether the caller may do it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// With `dry_run`: the first memories that would go.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub would_go: Vec<Named>,
    /// With `dry_run`: the first memories that would come back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub would_return: Vec<Named>,
}

impl Operation for Rollback {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "snapshot_rollback",
        cli: &["snapshot", "rollback"],
        positional: &["version_id"],
        title: "Roll back to a snapshot",
        about: "Brings back exactly the memories that were in force at a snapshot, each with its layer, tier, confidence, \
                importance and pin. What came later is superseded, what had gone returns; nothing is erased. It is one step: \
                the present is kept as a snapshot first, and rolling back to that one undoes it. It is refused as a whole when \
                it would touch a layer or scope that you may not write, and then a person does it. Try `dry_run` first, or \
                `snapshot_compare`. To correct single memories use `update` or `forget`.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        for _ in 0..ATTEMPTS {
            vault::look_everywhere(engine, call)?;
            let plan = Plan::make(engine, call, &request.version_id)?;
            if request.dry_run.unwrap_or(false) {
                return plan.preview(engine, call);
            }
            let actor = plan.authorise(engine, call)?;
            if plan.difference().is_empty() && plan.rules.is_empty() && plan.files.steps.is_empty() {
                return Ok(plan.response(false, &RolledBack::default(), None));
            }
            let mut files = plan.files.join(engine, call, &plan.snapshot.name)?;
            if let Some((done, undo)) = plan.carry_out(engine, call, &actor, &mut files)? {
                files.finish(engine, call, &actor)?;
                if !plan.files.steps.is_empty() {
                    l0::sync_everything(engine, call)?;
                }
                engine.index_what_was_stored(call);
                return Ok(plan.response(false, &done, Some(undo)));
            }
        }
        Err(Error::Conflict {
            message: "others kept writing while the rollback was prepared".into(),
            hint: "call again when less is going on".into(),
        })
    }
}

/// What a rollback would do, as of one place.
struct Plan {
    snapshot: SnapshotRow,
    purged: i64,
    measured: Measured,
    now: Vec<LiveRow>,
    then: Vec<LiveRow>,
    /// Every layer that a memory would leave or enter.
    layers: BTreeSet<Layer>,
    /// How many memories would be touched that the caller does not see.
    outside: usize,
    rules: Vec<Ruled>,
    files: FilesPlan,
}

impl Plan {
    fn make(engine: &Engine, call: &Call<'_>, name: &str) -> Result<Self, Error> {
        let ledger = engine.existing_ledger()?;
        ledger.read(&engine.control(call), |r| Ok(Self::read(r, call, name)))?
    }

    fn read(r: &LedgerRead<'_>, call: &Call<'_>, name: &str) -> Result<Self, Error> {
        let snapshot = find(r, name)?;
        let seq = r.head()?.seq;
        let (now, then) = (r.live_at(seq)?, r.live_at(snapshot.seq)?);
        let mut rules = Vec::new();
        for (number, attributes) in r.rules_to_bring_back(snapshot.seq)? {
            rules.extend(r.memory_by_number(number)?.map(|memory| (memory, attributes)));
        }
        let difference = Difference::new(&now, &then);
        let states = if difference.added.is_empty() { Vec::new() } else { r.as_of(seq)? };
        let resting = states.into_iter().filter(|row| !row.state.status.is_live());
        let resting = resting.map(|row| (row.number, row.state.layer)).collect();
        let files = FilesPlan::read(r, call, snapshot.at)?;
        let mut layers = layers(&difference, &rules, &resting);
        if !files.steps.is_empty() {
            layers.insert(Layer::P5);
        }
        Ok(Self {
            purged: r.snapshot_losses(&snapshot.name)?,
            snapshot,
            measured: Measured::of(seq, &now),
            layers,
            outside: outside(call, &difference, &rules) + files.outside,
            now,
            then,
            rules,
            files,
        })
    }

    /// From now to then: what is added comes back, what is gone goes.
    fn difference(&self) -> Difference<'_> {
        Difference::new(&self.now, &self.then)
    }

    /// The layer whose verdict is the most restrictive, of equal ones the highest in authority.
    fn deciding_layer(&self, principal: &Principal) -> Option<Layer> {
        let strictness = |layer: &Layer| match policy::decide(Action::Rollback, principal, *layer).verdict {
            Verdict::Refuse => 0,
            Verdict::NeedsApproval => 1,
            Verdict::Allow => 2,
        };
        self.layers.iter().copied().min_by_key(|layer| (strictness(layer), layer.index()))
    }

    /// Who acts, if the caller may touch all of it.
    fn authorise(&self, engine: &Engine, call: &Call<'_>) -> Result<Principal, Error> {
        let name = &self.snapshot.name;
        let layer = self.deciding_layer(call.principal);
        let outside = self.outside;
        if let Some(layer) = layer.filter(|_| outside > 0) {
            let reason = "the rollback reaches outside the caller's scope";
            authority::record_refusal(engine, call, Action::Rollback.as_str(), Some(layer), name, reason)?;
            return Err(Error::Refused {
                layer: layer.to_string(),
                action: Action::Rollback.as_str(),
                principal: call.principal.to_string(),
                reason: format!(
                    "it would touch what lies outside your scope: {}",
                    counted(outside, "memory")
                ),
                allowed: "human, system".to_owned(),
            });
        }
        let Some(layer) = layer else { return Ok(call.principal.clone()) };
        authority::authorise(engine, call, Action::Rollback, layer, name)
            .map_err(|e| e.with_command(format!("strata snapshot rollback {name}")))
    }

    /// Does it in one transaction; `None` when somebody wrote since the plan was made.
    fn carry_out(
        &self,
        engine: &Engine,
        call: &Call<'_>,
        actor: &Principal,
        files: &mut Joined<'_>,
    ) -> Result<Option<(RolledBack, String)>, Error> {
        let snapshot = &self.snapshot;
        let difference = self.difference();
        let account = format!(
            "{} superseded, {} restored, {} changed",
            difference.gone.len(),
            difference.added.len(),
            difference.changed.len() + self.rules.len()
        );
        let row = NewAudit {
            layer: self.layers.first().copied(),
            reason: &account,
            before_hash: Some(self.measured.hash),
            after_hash: Some(snapshot.hash),
            ..NewAudit::new(actor, call.face, Action::Rollback.as_str(), &snapshot.name)
        };
        let reason = format!("rollback:{}", snapshot.name);
        let label = format!("before the rollback to {}", snapshot.name);
        let ledger = engine.existing_ledger()?;
        Ok(ledger.write(&engine.control(call), engine.clock().now(), |w| {
            if w.head()?.seq != self.measured.seq {
                return Ok(None);
            }
            let undo = free_name(w)?;
            take(w, call, actor, (&undo, &label), &self.measured)?;
            let seq = w.record(&row)?;
            let done = w.roll_back(snapshot.seq, &reason, seq)?;
            self.bring_back_rules(w, call, actor, &reason)?;
            files.store(w, call, actor)?;
            authority::seal(w, call, actor)?;
            Ok(Some((done, undo)))
        })?)
    }

    fn bring_back_rules(
        &self,
        w: &LedgerWrite<'_>,
        call: &Call<'_>,
        actor: &Principal,
        reason: &str,
    ) -> Result<(), StoreError> {
        for (memory, attributes) in &self.rules {
            let seq = w.record(&NewAudit {
                layer: Some(memory.state.layer),
                reason,
                after_hash: Some(w.hash_with(memory.number, None, attributes)?),
                ..NewAudit::new(actor, call.face, Action::Rollback.as_str(), &memory.id)
            })?;
            w.set_rule(memory.number, None, attributes, seq)?;
        }
        Ok(())
    }

    fn preview(&self, engine: &Engine, call: &Call<'_>) -> Result<Response, Error> {
        let difference = self.difference();
        let (going, _) = seen(call, difference.gone.clone());
        let (returning, _) = seen(call, difference.added.clone());
        let ledger = engine.existing_ledger()?;
        let (would_go, would_return) = ledger.read(&engine.control(call), |r| {
            Ok((named(r, &going, LISTED)?.0, named(r, &returning, LISTED)?.0))
        })?;
        let done = RolledBack {
            ended: difference.gone.len(),
            revived: difference.added.len(),
            changed: difference.changed.len(),
        };
        let verdict = Some(self.verdict(call));
        Ok(Response { verdict, would_go, would_return, ..self.response(true, &done, None) })
    }

    fn verdict(&self, call: &Call<'_>) -> String {
        if self.outside > 0 {
            return format!("refused: outside your scope: {}", counted(self.outside, "memory"));
        }
        let Some(layer) = self.deciding_layer(call.principal) else { return "allowed".to_owned() };
        let decision = policy::decide(Action::Rollback, call.principal, layer);
        match decision.verdict {
            Verdict::Allow => "allowed".to_owned(),
            Verdict::NeedsApproval => format!("needs approval: {layer}: {}", decision.reason),
            Verdict::Refuse => format!("refused: {layer}: {}", decision.reason),
        }
    }

    fn response(&self, dry_run: bool, done: &RolledBack, undo: Option<String>) -> Response {
        Response {
            version_id: self.snapshot.name.clone(),
            dry_run,
            superseded: done.ended,
            restored: done.revived,
            changed: done.changed,
            rules: self.rules.len(),
            files: self.files.steps.len(),
            files_lost: self.files.lost,
            purged: self.purged,
            layers: self.layers.iter().map(ToString::to_string).collect(),
            undo,
            verdict: None,
            would_go: Vec::new(),
            would_return: Vec::new(),
        }
    }
}

/// A rule whose attributes would change, with those it would have.
type Ruled = (MemoryRow, RuleAttributes);

/// Every layer that a memory would leave or enter; `resting` has the present layers of those that are not in force.
fn layers(difference: &Difference<'_>, rules: &[Ruled], resting: &HashMap<i64, Layer>) -> BTreeSet<Layer> {
    let mut layers: BTreeSet<Layer> =
        difference.added.iter().chain(&difference.gone).map(|row| row.state.layer).collect();
    layers.extend(difference.added.iter().filter_map(|row| resting.get(&row.number)));
    layers.extend(difference.changed.iter().flat_map(|(a, b)| [a.state.layer, b.state.layer]));
    layers.extend(rules.iter().map(|(memory, _)| memory.state.layer));
    layers
}

/// How many memories would be touched that the caller does not see.
fn outside(call: &Call<'_>, difference: &Difference<'_>, rules: &[Ruled]) -> usize {
    let touched = difference.added.iter().chain(&difference.gone).copied();
    let changed = difference.changed.iter().map(|(_, row)| *row);
    let scopes = touched.chain(changed).map(|row| &row.scope);
    scopes.chain(rules.iter().map(|(memory, _)| &memory.scope)).filter(|s| !sees_scope(call, s)).count()
}

/// A name for the present that no snapshot has.
fn free_name(w: &LedgerWrite<'_>) -> Result<String, StoreError> {
    let mut number = w.head()?.seq + 1;
    loop {
        let name = format!("before-rollback-{number}");
        if w.snapshot(&name)?.is_none() {
            return Ok(name);
        }
        number += 1;
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let numbers = format!(
            "{} entry(ies) superseded, {} came back, {} took an earlier state",
            self.superseded,
            self.restored,
            self.changed + self.rules
        );
        let mut document = if self.dry_run {
            Document::new()
                .note(Mark::Info, format!("rolling back to '{}' would mean: {numbers}", self.version_id))
        } else {
            Document::new().note(Mark::Good, format!("rolled back to '{}': {numbers}", self.version_id))
        };
        if let Some(verdict) = &self.verdict {
            document = document.note(Mark::Info, format!("for you: {verdict}"));
        }
        if self.files > 0 {
            let text = format!("files of the vault as they were then: {}", self.files);
            document = document.note(Mark::Info, text);
        }
        if self.files_lost > 0 {
            let text =
                format!("files that stay, because their text of then is not kept: {}", self.files_lost);
            document = document.note(Mark::Warning, text);
        }
        if self.purged > 0 {
            let text = format!("purged since the snapshot, and not to be brought back: {}", self.purged);
            document = document.note(Mark::Warning, text);
        }
        match &self.undo {
            Some(undo) => {
                document = document.note(
                    Mark::Info,
                    format!("what was there before is kept; to undo: `snapshot rollback {undo}`"),
                );
            }
            None if !self.dry_run => {
                document = document.note(Mark::Info, "everything was as in the snapshot already");
            }
            None => {}
        }
        for (heading, memories) in [("Would go", &self.would_go), ("Would come back", &self.would_return)] {
            if !memories.is_empty() {
                let records = memories.iter().map(Named::record).collect();
                document = document
                    .with(Block::Heading(heading.into()))
                    .with(Block::Records { trust: Trust::Data, records });
            }
        }
        document
    }
}
