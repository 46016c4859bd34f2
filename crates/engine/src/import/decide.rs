//! Rows of an older store beside what is here: which are new, which have changed since the last import.

use std::collections::HashMap;

use strata_core::{
    id::{Id, IdKind},
    memory::{Layer, Status},
    policy::Action,
    principal::{Principal, PrincipalKind},
};
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, MemoryRow, RuleAttributes, State},
};

use super::prepare::{Origin, Prepared, PreparedMemory};
use crate::{
    authority,
    engine::Engine,
    error::{Error, at_a_terminal},
    operation::Call,
    render::counted,
    rules::is_rule,
};

/// What has to be done. Rows are named by their places in [`Prepared`].
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Memories to be stored.
    pub(super) new: Vec<usize>,
    /// Memories whose row says something else now: a new version takes the place of the present one.
    pub(super) revised: Vec<(usize, MemoryRow, Id)>,
    /// Memories whose row has another layer or confidence now.
    pub(super) adjusted: Vec<(MemoryRow, State)>,
    /// Rules whose row has other attributes now.
    pub(super) rules: Vec<ChangedRule>,
    /// Memories whose row has ended since.
    pub(super) ended: Vec<(usize, MemoryRow)>,
    /// Rows that are here as they are there, or were changed here since.
    pub(super) known: usize,
    /// Rows whose memory or event was purged here, and stays out.
    pub(super) purged: usize,
    /// Events to be stored.
    pub(super) episodes: Vec<usize>,
    /// Events that are here.
    pub(super) episodes_known: usize,
    /// Entities, relations and links between them and memories that have to be stored.
    pub(super) graph: usize,
}

/// A rule that takes other attributes.
#[derive(Debug)]
pub(super) struct ChangedRule {
    pub(super) memory: MemoryRow,
    /// Since when it has those it has; 0 if it never had any but the defaults.
    pub(super) seen: i64,
    pub(super) held: RuleAttributes,
    pub(super) wanted: RuleAttributes,
}

impl Plan {
    /// Whether everything is here already.
    pub(super) fn is_empty(&self) -> bool {
        self.new.is_empty()
            && self.revised.is_empty()
            && self.adjusted.is_empty()
            && self.rules.is_empty()
            && self.ended.is_empty()
            && self.episodes.is_empty()
            && self.graph == 0
    }
}

/// Compares every row with what the ledger holds of it.
pub(super) fn decide(r: &LedgerRead<'_>, origin: &Origin, prepared: &Prepared) -> Result<Plan, StoreError> {
    let mut plan = Plan::default();
    for (place, row) in prepared.memories.iter().enumerate() {
        let id = row.new.id.as_str();
        match r.memory(id)? {
            None if r.is_purged(id)? => plan.purged += 1,
            None => plan.new.push(place),
            Some(stored) => compare(r, origin, row, (place, stored), &mut plan)?,
        }
    }
    for (place, (_, episode)) in prepared.episodes.iter().enumerate() {
        if r.episode(episode.id.as_str())?.is_some() {
            plan.episodes_known += 1;
        } else if r.is_purged(episode.id.as_str())? {
            plan.purged += 1;
        } else {
            plan.episodes.push(place);
        }
    }
    Ok(plan)
}

/// What a row that was imported before asks for now. What somebody did here since stays as they did it.
fn compare(
    r: &LedgerRead<'_>,
    origin: &Origin,
    row: &PreparedMemory,
    (place, stored): (usize, MemoryRow),
    plan: &mut Plan,
) -> Result<(), StoreError> {
    let key = r.content_key(&row.new.identity)?;
    let says_so = |m: &MemoryRow| m.content_key == key && m.kind == row.new.kind;
    let (head, said) = follow(r, stored, says_so)?;
    if !head.state.status.is_live() || !is_imported(&head, origin, row) {
        plan.known += 1;
        return Ok(());
    }
    if row.status() != Status::Active {
        plan.ended.push((place, head));
        return Ok(());
    }
    if !said {
        let id = version_id(key, origin, row);
        if r.memory(id.as_str())?.is_some() || r.is_purged(id.as_str())? {
            plan.known += 1;
        } else {
            plan.revised.push((place, head, id));
        }
        return Ok(());
    }
    let rule = changed_rule(r, row, &head)?;
    let has_rule_changed = rule.is_some();
    let state = State { layer: row.new.state.layer, confidence: row.new.state.confidence, ..head.state };
    let was_so = |s: &State| s.layer == state.layer && s.confidence == state.confidence;
    if r.states(head.number)?.iter().any(|s| was_so(&s.state)) {
        plan.known += usize::from(!has_rule_changed);
        plan.rules.extend(rule);
    } else {
        // With another layer it takes its attributes at the next import, when the rights for that are judged anew.
        plan.adjusted.push((head, state));
    }
    Ok(())
}

/// The attributes that a rule's row has and that the rule never had here.
fn changed_rule(
    r: &LedgerRead<'_>,
    row: &PreparedMemory,
    head: &MemoryRow,
) -> Result<Option<ChangedRule>, StoreError> {
    if !is_rule(&head.kind) {
        return Ok(None);
    }
    let wanted = row.new.rule.clone().unwrap_or_default();
    let history = r.rule_history(head.number)?;
    let began_with_defaults = history.first().is_none_or(|first| first.from_seq > head.seq);
    let had = history.iter().any(|row| row.attributes == wanted)
        || began_with_defaults && wanted == RuleAttributes::default();
    let latest = history.into_iter().next_back();
    let seen = latest.as_ref().map_or(0, |row| row.from_seq);
    let held = latest.map(|row| row.attributes).unwrap_or_default();
    Ok((!had).then(|| ChangedRule { memory: head.clone(), seen, held, wanted }))
}

/// The last version of a memory, and whether any of its versions is so.
fn follow(
    r: &LedgerRead<'_>,
    first: MemoryRow,
    is_so: impl Fn(&MemoryRow) -> bool,
) -> Result<(MemoryRow, bool), StoreError> {
    let mut found = is_so(&first);
    let mut head = first;
    while let Some(by) = &head.superseded_by {
        let Some(next) = r.memory(by)? else { break };
        found |= is_so(&next);
        head = next;
    }
    Ok((head, found))
}

/// Whether a memory is the row as it was imported, not what somebody here made of it: ids of imports follow
/// from their rows.
fn is_imported(memory: &MemoryRow, origin: &Origin, row: &PreparedMemory) -> bool {
    memory.id == row.new.id.as_str() || memory.id == version_id(memory.content_key, origin, row).as_str()
}

/// The id of a later version of a row, which says something else than the first one did.
fn version_id(content_key: [u8; 32], origin: &Origin, row: &PreparedMemory) -> Id {
    let version = blake3::Hash::from_bytes(content_key).to_hex();
    row.key.id(IdKind::Memory, &origin.source, &origin.scope, &version)
}

/// Who writes into each layer.
pub(super) struct Actors(HashMap<Layer, Principal>);

impl Actors {
    /// Whoever acts in `layer`.
    pub(super) fn of(&self, layer: Layer, origin: &Origin) -> Principal {
        self.0.get(&layer).unwrap_or(&origin.caller).clone()
    }

    /// Whether writing into `layer` was decided on, and allowed.
    pub(super) fn covers(&self, layer: Layer) -> bool {
        self.0.contains_key(&layer)
    }

    /// Whoever acts by a human's approval, if anybody does.
    pub(super) fn approved(&self) -> Option<&Principal> {
        self.0.values().find(|actor| actor.kind == PrincipalKind::System && actor.on_behalf_of.is_some())
    }
}

/// Decides for every layer that the plan touches, before anything is stored. Raw events come in through the
/// importer, the rest is the caller's doing; one approval covers all that needs one.
///
/// # Errors
/// `Refused`, or `ApprovalRequired` with how many rows need it.
pub(super) fn authorise(
    engine: &Engine,
    call: &Call<'_>,
    origin: &Origin,
    prepared: &Prepared,
    plan: &Plan,
    command: &str,
) -> Result<Actors, Error> {
    let mut wanted: Vec<(Layer, Action)> =
        plan.new.iter().map(|place| (prepared.memories[*place].new.state.layer, Action::Remember)).collect();
    for (place, head, _) in &plan.revised {
        wanted.push((prepared.memories[*place].new.state.layer, Action::Remember));
        wanted.push((head.state.layer, Action::Update));
    }
    for (head, state) in &plan.adjusted {
        wanted.extend([(state.layer, Action::Update), (head.state.layer, Action::Update)]);
    }
    wanted.extend(plan.rules.iter().map(|rule| (rule.memory.state.layer, Action::Update)));
    wanted.extend(plan.ended.iter().map(|(_, head)| (head.state.layer, Action::Forget)));
    wanted.extend(plan.episodes.iter().map(|_| (Layer::P2, Action::Remember)));
    wanted.extend((plan.graph > 0).then_some((Layer::P5, Action::Remember)));
    let mut rows: HashMap<(Layer, Action), usize> = HashMap::new();
    for want in wanted {
        *rows.entry(want).or_default() += 1;
    }
    let needs = |layer: &Layer| matches!(layer, Layer::P0 | Layer::P1 | Layer::P3);
    let needing: usize = rows.iter().filter(|((layer, _), _)| needs(layer)).map(|(_, n)| n).sum();
    let mut actors = HashMap::new();
    let mut layers: Vec<_> = rows.keys().copied().collect();
    layers.sort_by_key(|(layer, action)| (*layer, action.as_str()));
    for (layer, action) in layers {
        let principal = if layer == Layer::P2 { &origin.gateway } else { call.principal };
        let as_actor = Call { principal, ..*call };
        let actor = authority::authorise(engine, &as_actor, action, layer, "")
            .map_err(|error| count_rows(error, needing, command))?;
        actors.insert(layer, actor);
    }
    Ok(Actors(actors))
}

/// The approval that an import needs, in numbers and with its own command.
pub(super) fn count_rows(error: Error, rows: usize, command: &str) -> Error {
    match error {
        Error::ApprovalRequired { reason, .. } => Error::ApprovalRequired {
            action: format!("importing {} of P0, P1 or P3", counted(rows, "row")),
            reason,
            command: at_a_terminal(format_args!("strata {command}")),
        },
        other => other,
    }
}
