//! A memory about to be stored: every field read, checked and let through the gate.

use std::collections::BTreeMap;

use strata_core::{
    duplicate,
    memory::{Kind, Layer, Tier},
    policy::Action,
    principal::PrincipalKind,
    scope::Scope,
    time::{DAY, Timestamp},
};
use strata_store::ledger::{EvidenceRow, MemoryRow, RuleAttributes, State};

use super::remember::{Request, ScopeName};
use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    knowledge::routing,
    operation::Call,
    project::{anchors, branches},
    request::{moment, unit},
};

/// The longest time to live: a century.
const MAX_TTL_DAYS: u32 = 36_525;

/// Where in a project a memory belongs, beside its scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placing {
    /// How it follows branches: `current_branch`, `mainline`, `global`, ...; empty for the default.
    pub branch_scope: String,
    /// The commit it was made at.
    pub commit: Option<String>,
    /// The part of the project it is about.
    pub module_path: Option<String>,
    /// The id of the memory it belongs under.
    pub parent: Option<String>,
}

impl Placing {
    /// That of a stored memory.
    pub fn of(memory: &MemoryRow) -> Self {
        Self {
            branch_scope: memory.branch_scope.clone(),
            commit: memory.commit.clone(),
            module_path: memory.module_path.clone(),
            parent: memory.parent.clone(),
        }
    }
}

/// What will be stored, secrets already blacked out.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The text, word for word but for what the gate took out.
    pub text: String,
    /// Its kind.
    pub kind: Kind,
    /// Its headline.
    pub title: Option<String>,
    /// Its layer.
    pub layer: Layer,
    /// What it is about.
    pub topic_key: Option<String>,
    /// The memory it replaces, as the caller named it.
    pub supersedes: Option<String>,
    /// Why it replaces that one.
    pub supersede_reason: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// 0 to 1.
    pub importance: f64,
    /// Where it comes from.
    pub source: Option<String>,
    /// The session it comes from.
    pub session: Option<String>,
    /// What it rests on.
    pub evidence: Vec<String>,
    /// The same, where the sort is known and what it shows.
    pub grounds: Vec<EvidenceRow>,
    /// First instant it is true.
    pub valid_from: Option<Timestamp>,
    /// First instant it is no longer true.
    pub valid_to: Option<Timestamp>,
    /// Where it holds.
    pub scope: Scope,
    /// Where in a project it belongs.
    pub placing: Placing,
    /// Whether it stands on the hot page.
    pub pinned: bool,
    /// How near at hand it is kept.
    pub tier: Tier,
    /// Further facts.
    pub metadata: BTreeMap<String, String>,
    /// Families of secrets that were blacked out.
    pub redacted: Vec<&'static str>,
    /// Where it might belong better.
    pub route: Option<String>,
    /// Keys for finding near-duplicates.
    pub bands: Vec<u64>,
    /// Priority, condition and the like, for a rule that is given any.
    pub rule: Option<RuleAttributes>,
    /// The word under which storing it goes on record.
    pub action: &'static str,
    /// Who wrote it, where that is not who stores it: what is only put elsewhere stays its writer's. The audit names who did that.
    pub writer: Option<String>,
}

impl Draft {
    /// Lets it hold in the whole project, whatever branch it was learned on.
    pub(super) fn hold_everywhere(&mut self) {
        self.scope.branch = None;
        self.placing.branch_scope = branches::GLOBAL.to_owned();
    }

    /// Reads a request.
    pub fn from_request(engine: &Engine, call: &Call<'_>, request: &Request) -> Result<Self, Error> {
        let mut gate = Gate::default();
        let text = gate.body("text", &request.text)?;
        let kind = match &request.kind {
            Some(word) => Kind::parse(word).map_err(|e| Error::parse("kind", &e))?,
            None => Kind::default(),
        };
        let (valid_from, valid_to) = validity(engine, request)?;
        let layer = request.layer.map_or_else(|| kind.default_layer(), Layer::from);
        let wanted = request.scope.or((!branches::follows_branches(layer)).then_some(ScopeName::Project));
        let wanted = wanted.filter(|_| call.scope.project.is_some() || request.scope.is_some());
        let (scope, placing) = branches::place(engine, call, wanted)?;
        Ok(Self {
            layer,
            title: gate.field("title", request.title.as_deref())?,
            topic_key: gate.field("topic_key", request.topic_key.as_deref())?,
            supersedes: request.supersedes.clone(),
            supersede_reason: None,
            tags: gate.list("tags", &request.tags)?,
            confidence: unit("confidence", request.confidence)?.unwrap_or_else(|| default_confidence(call)),
            importance: unit("importance", request.importance)?.unwrap_or(0.5),
            source: gate.field("source", request.source.as_deref())?,
            session: gate.field("session", request.session.as_deref())?,
            evidence: anchors::pin_all(engine, call, gate.list("evidence", &request.evidence)?)?,
            grounds: Vec::new(),
            valid_from,
            valid_to,
            scope,
            placing,
            pinned: request.pinned.unwrap_or(false),
            tier: Tier::Hot,
            metadata: gate.map("metadata", &request.metadata)?,
            route: routing::note(engine, &text, &kind),
            bands: duplicate::bands(&text),
            redacted: gate.redacted,
            text,
            kind,
            rule: None,
            action: Action::Remember.as_str(),
            writer: None,
        })
    }

    /// The next version of `old`, which it replaces, in `state`: all that is not changed stays. `grounds` is
    /// what the old version rests on.
    pub fn version_of(old: &MemoryRow, text: String, state: &State, grounds: Vec<EvidenceRow>) -> Self {
        Self {
            bands: duplicate::bands(&text),
            text,
            kind: old.kind.clone(),
            title: (!old.title.is_empty()).then(|| old.title.clone()),
            layer: state.layer,
            topic_key: old.topic_key.clone(),
            supersedes: Some(old.id.clone()),
            supersede_reason: None,
            tags: old.tags.clone(),
            confidence: state.confidence,
            importance: state.importance,
            source: (!old.source.is_empty()).then(|| old.source.clone()),
            session: old.session.clone(),
            evidence: Vec::new(),
            grounds,
            valid_from: old.valid_from,
            valid_to: old.valid_to,
            scope: old.scope.clone(),
            placing: Placing::of(old),
            pinned: state.pinned,
            tier: state.tier,
            metadata: serde_json::from_str(&old.metadata).unwrap_or_default(),
            redacted: Vec::new(),
            route: None,
            rule: None,
            action: Action::Update.as_str(),
            writer: None,
        }
    }
}

fn validity(engine: &Engine, request: &Request) -> Result<(Option<Timestamp>, Option<Timestamp>), Error> {
    let zone = &engine.settings().zone;
    let from = moment(zone, "valid_from", request.valid_from.as_deref())?.map(|range| range.from);
    let mut to = moment(zone, "valid_to", request.valid_to.as_deref())?.map(|range| range.to);
    if let Some(days) = request.ttl_days {
        if days == 0 || days > MAX_TTL_DAYS {
            return Err(Error::argument(
                "ttl_days",
                format!("{days} is out of range"),
                format!("send 1 to {MAX_TTL_DAYS}, or leave it out"),
            ));
        }
        let end = Timestamp(engine.clock().now().0.saturating_add(i64::from(days) * DAY));
        to = Some(to.map_or(end, |t| t.min(end)));
    }
    match (from, to) {
        (Some(from), Some(to)) if from >= to => {
            Err(Error::argument("valid_to", "ends before `valid_from` begins", "swap the two dates"))
        }
        range => Ok(range),
    }
}

fn default_confidence(call: &Call<'_>) -> f64 {
    match call.principal.kind {
        PrincipalKind::Human | PrincipalKind::System => 1.0,
        _ => 0.8,
    }
}

/// Where a write goes that follows no branch by itself: the project when one is known, unless told otherwise.
pub(crate) fn placed(standing: &Scope, wanted: Option<ScopeName>) -> Result<Scope, Error> {
    let project = standing.whole_project();
    let user = Scope { project: None, ..project.clone() };
    match wanted {
        None => Ok(project),
        Some(ScopeName::User) => Ok(user),
        Some(ScopeName::Project) if standing.project.is_some() => Ok(project),
        Some(ScopeName::Branch) if standing.project.is_some() && standing.branch.is_some() => {
            Ok(standing.place())
        }
        Some(ScopeName::Project) => Err(Error::argument(
            "scope",
            "no project is known here",
            "start Strata inside a repository, pass --project, or use scope user",
        )),
        Some(ScopeName::Branch) => Err(Error::argument(
            "scope",
            "no branch is known here",
            "start Strata inside a checkout, or use scope project or user",
        )),
    }
}
