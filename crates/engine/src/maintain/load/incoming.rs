//! The lines of an export on their way in: through the gate, and past the policy.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;
use strata_core::{
    duplicate,
    error::ParseError,
    id::Id,
    knowledge::name::{Name, NameError, VaultPath},
    memory::{Kind, Layer, Relation, Status},
    policy::{self, Action, Verdict},
    principal::{Principal, PrincipalKind},
    scope::Scope,
    time::Timestamp,
};
use strata_store::ledger::{
    EvidenceRow, NewEpisode, NewL0Entry, NewMemory, NewReview, PurgedKind, ReviewDecision, ReviewStatus,
    RuleAttributes, State, is_vault_text_id,
};

use super::{
    graph::IncomingGraph,
    todos::{self, IncomingTodo},
    vault::IncomingVault,
};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    gate::Gate,
    maintain::transfer::{
        EpisodeLine, EvidenceLine, L0EntryLine, LOAD, Line, MemoryLine, MemoryRelationLine, ProjectLine,
        PurgedLine, ReviewLine, RuleLine, ScopeFields, SnapshotLine, StateLine, record_of,
    },
    operation::Call,
    snapshot,
};

/// The file's content, through the gate.
#[derive(Default)]
pub(super) struct Incoming {
    pub(super) gate: Gate,
    pub(super) projects: Vec<ProjectLine>,
    pub(super) memories: Vec<IncomingMemory>,
    pub(super) episodes: Vec<(i64, NewEpisode)>,
    pub(super) reviews: Vec<(NewReview, ReviewDecision)>,
    pub(super) snapshots: Vec<SnapshotLine>,
    pub(super) graph: IncomingGraph,
    pub(super) todos: Vec<IncomingTodo>,
    pub(super) l0_entries: Vec<NewL0Entry>,
    pub(super) vault: IncomingVault,
    pub(super) purged: Vec<(PurgedKind, PurgedLine)>,
}

pub(super) struct IncomingMemory {
    pub(super) number: i64,
    pub(super) new: NewMemory,
    /// State, time it began, record.
    pub(super) history: Vec<(State, i64, String)>,
    /// Attributes of a rule, record.
    pub(super) rules: Vec<(RuleAttributes, String)>,
    pub(super) superseded_by: Option<String>,
    pub(super) superseded_reason: Option<String>,
    /// What it distils: ids, and whether it quotes them.
    pub(super) distils: Vec<(String, bool)>,
    /// How it stands to others, by their ids, and since when.
    pub(super) relations: Vec<(Relation, String, Timestamp)>,
}

/// A state that a memory had, since when, and who brought it.
fn past_state(gate: &mut Gate, line: &StateLine) -> Result<(State, i64, String), Error> {
    let record = gate.field("by", Some(&record_of(line.since, &line.by)))?.unwrap_or_default();
    Ok((line.state()?, line.since, record))
}

fn evidence(gate: &mut Gate, line: &EvidenceLine) -> Result<EvidenceRow, Error> {
    let mut passed = |text: &str| gate.field("evidence", Some(text)).map(Option::unwrap_or_default);
    Ok(EvidenceRow {
        kind: passed(&line.kind)?,
        reference: passed(&line.reference)?,
        note: passed(&line.note)?,
        at: Timestamp(line.at),
    })
}

/// Who stores what.
pub(super) struct Actors {
    /// Memories and the rest.
    pub(super) owner: Principal,
    /// Raw events, which come in through an importer on somebody's behalf.
    pub(super) gateway: Principal,
}

impl Incoming {
    pub(super) fn take(&mut self, engine: &Engine, line: Line) -> Result<(), Error> {
        match line {
            // The parser lets only the first line be one.
            Line::StrataExport(_) => {}
            Line::Project(p) => {
                let name = self.gate.field("name", Some(&p.name))?.unwrap_or_else(|| p.key.clone());
                let key = self.needed("key", &p.key)?;
                let aliases =
                    p.aliases.iter().map(|alias| self.needed("aliases", alias)).collect::<Result<_, _>>()?;
                self.projects.push(ProjectLine { key, name, aliases });
            }
            Line::Memory(m) => {
                let memory = self.memory(engine, &m)?;
                self.memories.push(memory);
            }
            Line::Episode(e) => {
                let episode = self.episode(engine, &e)?;
                self.episodes.push(episode);
            }
            Line::Review(v) => {
                let review = self.review(engine, &v)?;
                self.reviews.push(review);
            }
            Line::Snapshot(s) => {
                let name = snapshot::new_name("name", &s.name)?;
                let label = self.gate.field("label", Some(&s.label))?.unwrap_or_default();
                let who = writer(&mut self.gate, &s.who)?;
                self.snapshots.push(SnapshotLine { name, label, who, ..s });
            }
            Line::Entity(e) => self.graph.entity(&mut self.gate, &e)?,
            Line::Relation(r) => self.graph.relation(&mut self.gate, &r)?,
            Line::Mention(m) => self.graph.mention(&m)?,
            Line::Todo(t) => {
                let todo = todos::incoming(engine, &mut self.gate, &t)?;
                self.todos.push(todo);
            }
            Line::L0Entry(e) => {
                let entry = self.l0_entry(engine, &e)?;
                self.l0_entries.push(entry);
            }
            Line::VaultFile(f) => self.vault.file(engine, &mut self.gate, &f)?,
            Line::VaultChange(c) => self.vault.change(&mut self.gate, &c)?,
            Line::Purged(p) => {
                let kind = PurgedKind::parse(&p.kind).map_err(|e| Error::parse("kind", &e))?;
                match kind {
                    PurgedKind::Todo => drop(todos::whole_id(&p.id)?),
                    PurgedKind::VaultText if is_vault_text_id(&p.id) => {}
                    _ => drop(whole_id(&p.id)?),
                }
                self.purged.push((kind, p));
            }
        }
        Ok(())
    }

    fn l0_entry(&mut self, engine: &Engine, line: &L0EntryLine) -> Result<NewL0Entry, Error> {
        let wrong = |error: NameError| Error::argument("path", error.to_string(), "export the file again");
        Ok(NewL0Entry {
            namespace: Name::parse(&line.namespace).map_err(wrong)?.to_string(),
            path: VaultPath::parse(&line.path).map_err(wrong)?.to_string(),
            summary: self.gate.field("summary", Some(&line.summary))?.unwrap_or_default(),
            writer: writer(&mut self.gate, &line.writer)?,
            at: Timestamp(line.at),
            salt: engine.ids().salt(),
        })
    }

    fn needed(&mut self, field: &str, text: &str) -> Result<String, Error> {
        let passed = self.gate.field(field, Some(text))?;
        passed.ok_or_else(|| Error::argument(field, "is empty", "export the file again"))
    }

    fn memory(&mut self, engine: &Engine, line: &MemoryLine) -> Result<IncomingMemory, Error> {
        let gate = &mut self.gate;
        let body = gate.body("text", &line.text)?;
        let salt = engine.ids().salt();
        let history =
            line.states.iter().map(|state| past_state(gate, state)).collect::<Result<Vec<_>, _>>()?;
        let first =
            history.first().ok_or_else(|| Error::argument("states", "is empty", "export the file again"))?.0;
        let rules = line.rules.iter().map(|rule| rule_attributes(gate, rule)).collect::<Result<_, _>>()?;
        let evidence = line.evidence.iter().map(|e| evidence(gate, e)).collect::<Result<_, _>>()?;
        let writer = writer(gate, &line.writer)?;
        let new = NewMemory {
            kind: Kind::parse(&line.kind).map_err(|e| Error::parse("kind", &e))?,
            title: gate.field("title", Some(&line.title))?.unwrap_or_default(),
            identity: duplicate::identity(&body),
            bands: duplicate::bands(&body).into_iter().map(u64::cast_signed).collect(),
            scope: scope(gate, &line.scope)?,
            branch_scope: gate.field("branch_scope", Some(&line.branch_scope))?.unwrap_or_default(),
            commit: gate.field("commit", line.commit.as_deref())?,
            module_path: gate.field("module_path", line.module_path.as_deref())?,
            parent: gate.field("parent", line.parent.as_deref())?,
            topic_key: gate.field("topic_key", line.topic_key.as_deref())?,
            tags: gate.list("tags", &line.tags)?,
            source: gate.field("source", Some(&line.source))?.unwrap_or_default(),
            session: gate.field("session", line.session.as_deref())?,
            valid_from: line.valid_from.map(Timestamp),
            valid_to: line.valid_to.map(Timestamp),
            supersedes: line.supersedes.as_deref().map(whole_id).transpose()?,
            metadata: metadata(gate, &line.metadata)?,
            state: first,
            evidence,
            ..NewMemory::new(whole_id(&line.id)?, &body, &writer, Timestamp(line.created_at), salt)
        };
        Ok(IncomingMemory {
            number: line.number,
            new,
            history,
            rules,
            superseded_by: line.superseded_by.as_deref().map(whole_id).transpose()?.map(|id| id.to_string()),
            superseded_reason: gate.field("superseded_reason", line.superseded_reason.as_deref())?,
            relations: line.relations.iter().map(relation).collect::<Result<_, Error>>()?,
            distils: line
                .distils
                .iter()
                .map(|d| Ok((whole_id(&d.id)?.to_string(), d.quoted)))
                .collect::<Result<_, Error>>()?,
        })
    }

    fn episode(&mut self, engine: &Engine, line: &EpisodeLine) -> Result<(i64, NewEpisode), Error> {
        let gate = &mut self.gate;
        let new = NewEpisode {
            id: whole_id(&line.id)?,
            external_id: gate.field("external_id", line.external_id.as_deref())?,
            session: gate.field("session", Some(&line.session))?.unwrap_or_default(),
            at: Timestamp(line.at),
            speaker: gate.field("speaker", Some(&line.speaker))?.unwrap_or_default(),
            role: gate.field("role", Some(&line.role))?.unwrap_or_default(),
            text: gate.body("text", &line.text)?,
            metadata: metadata(gate, &line.metadata)?,
            scope: scope(gate, &line.scope)?,
            source: gate.field("source", Some(&line.source))?.unwrap_or_default(),
            writer: writer(gate, &line.writer)?,
            salt: engine.ids().salt(),
        };
        Ok((line.number, new))
    }

    fn review(&mut self, engine: &Engine, line: &ReviewLine) -> Result<(NewReview, ReviewDecision), Error> {
        let gate = &mut self.gate;
        let asked = NewReview {
            id: whole_id(&line.id)?,
            kind: gate.field("kind", Some(&line.kind))?.unwrap_or_default(),
            target: gate.field("target", Some(&line.target))?.unwrap_or_default(),
            proposal: gate.body("proposal", &line.proposal)?,
            reason: gate.field("reason", Some(&line.reason))?.unwrap_or_default(),
            proposer: writer(gate, &line.proposer)?,
            created_at: Timestamp(line.created_at),
            salt: engine.ids().salt(),
        };
        let decision = ReviewDecision {
            status: ReviewStatus::parse(&line.status).map_err(|e| Error::parse("status", &e))?,
            at: line.decided_at.map(Timestamp),
            by: gate.field("decided_by", line.decided_by.as_deref())?,
            note: gate.field("decision_note", line.decision_note.as_deref())?,
        };
        Ok((asked, decision))
    }

    /// Keeps callers other than people to what they may say: nothing outside their scope, and nothing in
    /// somebody else's name. Whoever can edit the file could have put any name there.
    pub(super) fn restrict(&mut self, engine: &Engine, call: &Call<'_>) -> Result<(), Error> {
        if matches!(call.principal.kind, PrincipalKind::Human | PrincipalKind::System) {
            return Ok(());
        }
        let scopes = self.memories.iter().map(|m| &m.new.scope);
        let scopes = scopes.chain(self.episodes.iter().map(|(_, e)| &e.scope)).chain(self.graph.scopes());
        let scopes = scopes.chain(self.todos.iter().map(|t| &t.origin.scope));
        let scopes = scopes.chain(self.vault.scopes());
        if let Some(foreign) = scopes.into_iter().find(|scope| !call.scope.sees(scope)) {
            let message = format!("holds things of {foreign}, outside your scope");
            authority::record_refusal(
                engine,
                call,
                LOAD,
                None,
                "",
                "the file reaches outside the caller's scope",
            )?;
            return Err(Error::argument("path", message, "export less, or ask a person to run the command"));
        }
        self.cut_foreign_links(engine, call)?;
        let name = call.principal.to_string();
        let ids: HashSet<String> = self.memories.iter().map(|memory| memory.new.id.to_string()).collect();
        for memory in &mut self.memories {
            memory.new.writer.clone_from(&name);
            // What counts as distilled is for the night to say.
            memory.distils.clear();
            // Nor may it stand beside what is here already, which others wrote.
            memory.relations.retain(|(_, target, _)| ids.contains(target));
        }
        self.episodes.iter_mut().for_each(|(_, e)| e.writer.clone_from(&name));
        self.snapshots.iter_mut().for_each(|s| s.who.clone_from(&name));
        self.graph.write_as(&name);
        for (version, _) in self.todos.iter_mut().flat_map(|t| &mut t.versions) {
            version.writer.clone_from(&name);
        }
        self.vault.write_as(&name);
        for (asked, decision) in &mut self.reviews {
            asked.proposer.clone_from(&name);
            *decision = ReviewDecision::default();
        }
        Ok(())
    }

    /// Takes out links to memories here that the caller may not update: they would put versions of the
    /// caller's making into the history of a rule. Tombstones speak of purges, which are a person's.
    fn cut_foreign_links(&mut self, engine: &Engine, call: &Call<'_>) -> Result<(), Error> {
        let ledger = engine.ledger(call)?;
        let control = engine.control(call);
        let is_foreign = |id: &str| -> Result<bool, Error> {
            let known = ledger.read(&control, |r| r.memory(id))?;
            let verdict = |layer| policy::decide(Action::Update, call.principal, layer).verdict;
            Ok(known.is_some_and(|m| verdict(m.state.layer) != Verdict::Allow))
        };
        for memory in &mut self.memories {
            if let Some(id) = &memory.new.supersedes
                && is_foreign(id.as_str())?
            {
                memory.new.supersedes = None;
            }
            if let Some(id) = &memory.superseded_by
                && is_foreign(id)?
            {
                (memory.superseded_by, memory.superseded_reason) = (None, None);
            }
        }
        self.purged.clear();
        Ok(())
    }

    /// Decides once for every layer that the file touches, before anything is stored. Raw sessions come
    /// in through an importer; the other layers are the caller's own doing.
    pub(super) fn authorise(&self, engine: &Engine, call: &Call<'_>) -> Result<Actors, Error> {
        let gateway = Principal::new(PrincipalKind::Gateway, LOAD).on_behalf_of(call.principal);
        let states = || self.memories.iter().flat_map(|m| m.history.iter().map(|(state, ..)| state));
        let is_candidate = |state: &&State| state.status == Status::Candidate;
        if let Some(candidate) = states().find(is_candidate) {
            authority::authorise(engine, call, Action::Propose, candidate.layer, "")?;
        }
        let mut layers: BTreeSet<Layer> = states().filter(|s| !is_candidate(s)).map(|s| s.layer).collect();
        if !(self.graph.is_empty() && self.todos.is_empty() && self.vault.is_empty()) {
            layers.insert(Layer::P5);
        }
        if layers.remove(&Layer::P2) || !self.episodes.is_empty() {
            authority::authorise(
                engine,
                &Call { principal: &gateway, ..*call },
                Action::Remember,
                Layer::P2,
                "",
            )?;
        }
        let mut owner = call.principal.clone();
        for layer in layers {
            let actor = authority::authorise(engine, call, Action::Remember, layer, "")
                .map_err(|e| e.with_command("strata load FILE"))?;
            if actor.on_behalf_of.is_some() {
                owner = actor;
            }
        }
        Ok(Actors { owner, gateway })
    }
}

/// Who an export says wrote something.
pub(super) fn writer(gate: &mut Gate, name: &str) -> Result<String, Error> {
    Ok(gate.field("writer", Some(name))?.unwrap_or_else(|| "unknown".into()))
}

pub(super) fn whole_id(text: &str) -> Result<Id, Error> {
    Id::parse(text).map_err(|e: ParseError| Error::parse("id", &e))
}

pub(super) fn scope(gate: &mut Gate, fields: &ScopeFields) -> Result<Scope, Error> {
    let namespace = gate.field("namespace", Some(&fields.namespace))?;
    Ok(Scope {
        namespace: namespace
            .ok_or_else(|| Error::argument("scope", "has no namespace", "shared is the default one"))?,
        project: gate.field("project", fields.project.as_deref())?,
        branch: gate.field("branch", fields.branch.as_deref())?,
        ancestors: Vec::new(),
    })
}

fn relation(line: &MemoryRelationLine) -> Result<(Relation, String, Timestamp), Error> {
    let word = Relation::parse(&line.relation).map_err(|e| Error::parse("relation", &e))?;
    Ok((word, whole_id(&line.target)?.to_string(), Timestamp(line.at)))
}

/// What a rule had, with its record.
fn rule_attributes(gate: &mut Gate, line: &RuleLine) -> Result<(RuleAttributes, String), Error> {
    if line.priority < 0 {
        let message = format!("priority {} is out of range", line.priority);
        return Err(Error::argument("rules", message, "export the file again"));
    }
    let condition = gate.field("condition", line.condition.as_deref())?;
    let record = gate.field("by", Some(&record_of(line.since, &line.by)))?.unwrap_or_default();
    Ok((RuleAttributes { priority: line.priority, condition, enabled: line.enabled }, record))
}

/// Metadata as it is stored: short texts by name, each through the gate.
pub(super) fn metadata(gate: &mut Gate, value: &Value) -> Result<String, Error> {
    let plain = value.as_object().map(|object| {
        object.iter().map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned()))).collect::<Option<_>>()
    });
    if let Some(Some(map)) = plain {
        let passed = gate.map("metadata", &map)?;
        return serde_json::to_string(&passed).map_err(|e| Error::Internal(e.to_string()));
    }
    let passed = gate.body("metadata", &value.to_string())?;
    if serde_json::from_str::<Value>(&passed).is_err() {
        return Err(Error::argument(
            "metadata",
            "is not JSON once secrets are blacked out",
            "take the secret out",
        ));
    }
    Ok(passed)
}
