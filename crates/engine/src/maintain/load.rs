//! `load`: brings what `export` wrote into this home. Ids stay, nothing comes twice.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strata_core::{
    duplicate,
    error::ParseError,
    id::Id,
    memory::{Kind, Layer, Status},
    policy::Action,
    principal::{Principal, PrincipalKind},
    scope::Scope,
    time::Timestamp,
};
use strata_store::{
    error::StoreError,
    ledger::{
        EvidenceRow, LedgerWrite, NewAudit, NewEpisode, NewMemory, PurgedKind, ReviewRow, ReviewStatus, Seq,
        State,
    },
};

use super::{
    reindex::index_everything,
    transfer::{
        self, EpisodeLine, LOAD, Line, MemoryLine, PurgedLine, ReviewLine, ScopeFields, bad_line, record_of,
    },
};
use crate::{
    authority::{self, hexadecimal},
    engine::Engine,
    error::Error,
    gate::Gate,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    paths,
    render::{Block, Document, Mark, Render},
};

/// See the module.
pub struct Load;

/// Conflicts listed in the reply.
const LISTED: usize = 20;

/// Which file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Request {
    /// A file that `strata export` wrote.
    #[schemars(required)]
    pub path: String,
}

/// What came in.
#[derive(Debug, Default, Clone, Serialize)]
pub struct Response {
    /// Memories stored now.
    pub memories: usize,
    /// Raw events stored now.
    pub episodes: usize,
    /// Reviews stored now.
    pub reviews: usize,
    /// Tombstones stored now.
    pub purged: usize,
    /// Lines whose memory, event or review was here before.
    pub known: usize,
    /// Lines left out because this home has purged what they carry.
    pub refused_purged: usize,
    /// Memories and events that got another number, because theirs was taken.
    pub renumbered: usize,
    /// Memories that are kept but not in force, because something in force here says it already or otherwise.
    pub set_aside: usize,
    /// The first of those, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
    /// Families of secrets that were blacked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
    /// Whether the home held nothing, and so began a new epoch.
    pub was_empty: bool,
}

impl Operation for Load {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "load",
        cli: &["load"],
        positional: &["path"],
        title: "Load an export",
        about: "Brings a file that `strata export` wrote into this home: memories with ids, history and evidence, raw \
                events, reviews. All of it or, when a line is wrong, nothing. What is here already is left as it is, and \
                what was purged here stays out. Rules, identity and integrations in the file need a human's approval. For \
                conversations of other programs use `import`.",
        effect: Effect::Write,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let path = paths::reachable(engine, call, "path", &request.path)?;
        let bytes = std::fs::read(&path)
            .map_err(|source| Error::File { path: path.display().to_string(), source })?;
        let text = String::from_utf8(bytes).map_err(|_| {
            Error::argument("path", "is not UTF-8 text", "give a file that `strata export` wrote")
        })?;
        let file = transfer::parse(&text)?;
        let mut incoming = Incoming::default();
        for (number, line) in file.lines {
            let taken = incoming.take(engine, line);
            taken.map_err(|e| bad_line(number, &e.to_string()))?;
        }
        let actors = incoming.authorise(engine, call)?;
        let loaded = store(engine, call, &incoming, &actors)?;
        index_everything(engine, call, &mut |_, _| Ok(()))?;
        Ok(Response { redacted: incoming.gate.redacted.clone(), ..loaded })
    }
}

/// The file's content, through the gate.
#[derive(Default)]
struct Incoming {
    gate: Gate,
    projects: Vec<(String, String)>,
    memories: Vec<IncomingMemory>,
    episodes: Vec<(i64, NewEpisode)>,
    reviews: Vec<ReviewRow>,
    purged: Vec<(PurgedKind, PurgedLine)>,
}

struct IncomingMemory {
    number: i64,
    new: NewMemory,
    /// State, time it began, record.
    history: Vec<(State, i64, String)>,
    superseded_by: Option<String>,
    superseded_reason: Option<String>,
}

/// Who stores what.
struct Actors {
    /// Memories and the rest.
    owner: Principal,
    /// Raw events, which come in through an importer on somebody's behalf.
    gateway: Principal,
}

impl Incoming {
    fn take(&mut self, engine: &Engine, line: Line) -> Result<(), Error> {
        match line {
            // The parser lets only the first line be one.
            Line::StrataExport(_) => {}
            Line::Project(p) => {
                let name = self.gate.field("name", Some(&p.name))?.unwrap_or_else(|| p.key.clone());
                self.projects.push((p.key, name));
            }
            Line::Memory(m) => {
                let memory = self.memory(engine, *m)?;
                self.memories.push(memory);
            }
            Line::Episode(e) => {
                let episode = self.episode(*e)?;
                self.episodes.push(episode);
            }
            Line::Review(v) => {
                let review = self.review(*v)?;
                self.reviews.push(review);
            }
            Line::Purged(p) => {
                let kind = PurgedKind::parse(&p.kind).map_err(|e| Error::parse("kind", &e))?;
                whole_id(&p.id)?;
                self.purged.push((kind, p));
            }
        }
        Ok(())
    }

    fn memory(&mut self, engine: &Engine, line: MemoryLine) -> Result<IncomingMemory, Error> {
        let gate = &mut self.gate;
        let body = gate.body("text", &line.text)?;
        let mut salt = [0; 16];
        engine.ids().fill(&mut salt);
        let mut history = Vec::with_capacity(line.states.len());
        for state in &line.states {
            history.push((state.state()?, state.since, record_of(state)));
        }
        let first =
            history.first().ok_or_else(|| Error::argument("states", "is empty", "export the file again"))?.0;
        let evidence = line.evidence.into_iter().map(|e| {
            Ok(EvidenceRow {
                kind: gate.field("evidence", Some(&e.kind))?.unwrap_or_default(),
                reference: gate.field("evidence", Some(&e.reference))?.unwrap_or_default(),
                note: gate.field("evidence", Some(&e.note))?.unwrap_or_default(),
                at: Timestamp(e.at),
            })
        });
        let evidence = evidence.collect::<Result<Vec<_>, Error>>()?;
        let new = NewMemory {
            kind: Kind::parse(&line.kind).map_err(|e| Error::parse("kind", &e))?,
            title: gate.field("title", Some(&line.title))?.unwrap_or_default(),
            identity: duplicate::identity(&body),
            bands: duplicate::bands(&body).into_iter().map(u64::cast_signed).collect(),
            scope: scope(line.scope)?,
            branch_scope: line.branch_scope,
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
            ..NewMemory::new(whole_id(&line.id)?, &body, &line.writer, Timestamp(line.created_at), salt)
        };
        Ok(IncomingMemory {
            number: line.number,
            new,
            history,
            superseded_by: line.superseded_by.as_deref().map(whole_id).transpose()?.map(|id| id.to_string()),
            superseded_reason: gate.field("superseded_reason", line.superseded_reason.as_deref())?,
        })
    }

    fn episode(&mut self, line: EpisodeLine) -> Result<(i64, NewEpisode), Error> {
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
            scope: scope(line.scope)?,
            source: line.source,
            writer: line.writer,
        };
        Ok((line.number, new))
    }

    fn review(&mut self, line: ReviewLine) -> Result<ReviewRow, Error> {
        let gate = &mut self.gate;
        Ok(ReviewRow {
            id: whole_id(&line.id)?.to_string(),
            kind: line.kind,
            status: ReviewStatus::parse(&line.status).map_err(|e| Error::parse("status", &e))?,
            target: line.target,
            proposal: gate.body("proposal", &line.proposal)?,
            reason: gate.field("reason", Some(&line.reason))?.unwrap_or_default(),
            proposer: line.proposer,
            created_at: Timestamp(line.created_at),
            decided_at: line.decided_at.map(Timestamp),
            decided_by: line.decided_by,
            decision_note: gate.field("decision_note", line.decision_note.as_deref())?,
            seq: 0,
        })
    }

    /// Decides once for every layer that the file touches, before anything is stored. Raw sessions come
    /// in through an importer; the other layers are the caller's own doing.
    fn authorise(&self, engine: &Engine, call: &Call<'_>) -> Result<Actors, Error> {
        let gateway = Principal::new(PrincipalKind::Gateway, LOAD).on_behalf_of(call.principal);
        let mut layers: BTreeSet<Layer> =
            self.memories.iter().flat_map(|m| m.history.iter().map(|(state, ..)| state.layer)).collect();
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
            let actor = authority::authorise(engine, call, Action::Remember, layer, "")?;
            if actor.on_behalf_of.is_some() {
                owner = actor;
            }
        }
        Ok(Actors { owner, gateway })
    }
}

fn whole_id(text: &str) -> Result<Id, Error> {
    Id::parse(text).map_err(|e: ParseError| Error::parse("id", &e))
}

fn scope(fields: ScopeFields) -> Result<Scope, Error> {
    let ScopeFields { namespace, project, branch } = fields;
    if namespace.trim().is_empty() {
        return Err(Error::argument("scope", "has no namespace", "shared is the default one"));
    }
    Ok(Scope { namespace, project, branch })
}

/// Metadata as it is stored: short texts by name, each through the gate.
fn metadata(gate: &mut Gate, value: &Value) -> Result<String, Error> {
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

fn store(engine: &Engine, call: &Call<'_>, incoming: &Incoming, actors: &Actors) -> Result<Response, Error> {
    let mut epoch = [0; 8];
    engine.ids().fill(&mut epoch);
    let epoch = hexadecimal(&epoch);
    let ledger = engine.ledger(call)?;
    let now = engine.clock().now();
    // One transaction: the file is in or it is not.
    Ok(ledger.write(&engine.control(call), now, |w| {
        let mut loading = Loading { w, call, actors, loaded: Response::default() };
        loading.everything(incoming)?;
        if loading.loaded.was_empty {
            w.set_epoch(&epoch)?;
        }
        authority::seal(w, call, &actors.owner)?;
        Ok(loading.loaded)
    })?)
}

struct Loading<'a> {
    w: &'a LedgerWrite<'a>,
    call: &'a Call<'a>,
    actors: &'a Actors,
    loaded: Response,
}

impl Loading<'_> {
    fn everything(&mut self, incoming: &Incoming) -> Result<(), StoreError> {
        let totals = self.w.totals()?;
        self.loaded.was_empty =
            totals.memories == 0 && totals.episodes == 0 && totals.purged == 0 && totals.sources == 0;
        for (key, name) in &incoming.projects {
            self.w.ensure_project(key, name)?;
        }
        self.purged(&incoming.purged)?;
        self.memories(&incoming.memories)?;
        self.episodes(&incoming.episodes)?;
        self.reviews(&incoming.reviews)
    }

    fn memories(&mut self, memories: &[IncomingMemory]) -> Result<(), StoreError> {
        let mut wanted = Vec::new();
        for memory in memories {
            if self.is_wanted(memory.new.id.as_str(), self.w.memory(memory.new.id.as_str())?.is_some())? {
                wanted.push(memory);
            }
        }
        // Those whose number is free come first, so that nobody else is given it.
        let mut keyed = Vec::with_capacity(wanted.len());
        for memory in wanted {
            keyed.push((self.is_taken(PurgedKind::Memory, memory.number)?, memory));
        }
        keyed.sort_by_key(|(taken, _)| *taken);
        let wanted: Vec<&IncomingMemory> = keyed.into_iter().map(|(_, memory)| memory).collect();
        let records = self.records(&wanted)?;
        for (memory, seqs) in wanted.into_iter().zip(records) {
            let mut history: Vec<(Seq, State)> =
                seqs.into_iter().zip(memory.history.iter().map(|(state, ..)| *state)).collect();
            let successor = self.settle(memory, &mut history)?;
            let number = self.number(PurgedKind::Memory, memory.number)?;
            let by = successor.as_ref().map(|(by, _)| by.as_str()).or(memory.superseded_by.as_deref());
            let reason =
                successor.as_ref().map(|(_, why)| why.as_str()).or(memory.superseded_reason.as_deref());
            self.w.load_memory(number, &memory.new, &history, (by, reason))?;
            self.loaded.memories += 1;
        }
        Ok(())
    }

    /// An audit row for every state, in the order in which they came about where they come from.
    fn records(&self, memories: &[&IncomingMemory]) -> Result<Vec<Vec<Seq>>, StoreError> {
        let mut order: Vec<(i64, usize, usize)> = Vec::new();
        for (m, memory) in memories.iter().enumerate() {
            order.extend(memory.history.iter().enumerate().map(|(s, (_, since, _))| (*since, m, s)));
        }
        order.sort_unstable();
        let mut seqs: Vec<Vec<(usize, Seq)>> = memories.iter().map(|_| Vec::new()).collect();
        for (_, m, s) in order {
            let (state, _, record) = &memories[m].history[s];
            seqs[m].push((s, self.record(&memories[m].new, state, record)?));
        }
        // A file changed by hand may date a later state earlier; its sequence still comes later.
        let ordered = |mut of: Vec<(usize, Seq)>| {
            let mut places: Vec<Seq> = of.iter().map(|(_, seq)| *seq).collect();
            places.sort_unstable();
            of.sort_unstable_by_key(|(s, _)| *s);
            places
        };
        Ok(seqs.into_iter().map(ordered).collect())
    }

    fn record(&self, new: &NewMemory, state: &State, record: &str) -> Result<Seq, StoreError> {
        let actor = if state.layer == Layer::P2 { &self.actors.gateway } else { &self.actors.owner };
        self.w.record(&NewAudit {
            layer: Some(state.layer),
            reason: record,
            after_hash: Some(new.content_hash()),
            ..NewAudit::new(actor, self.call.face, LOAD, new.id.as_str())
        })
    }

    /// Lets what is in force here stay in force: a memory that would stand against it is kept, but as
    /// replaced (the same content) or as a candidate (another word on the same topic).
    fn settle(
        &mut self,
        memory: &IncomingMemory,
        history: &mut Vec<(Seq, State)>,
    ) -> Result<Option<(String, String)>, StoreError> {
        let Some((_, last)) = history.last().copied().filter(|(_, s)| s.status.is_live()) else {
            return Ok(None);
        };
        let new = &memory.new;
        let twin = self.w.live_by_content(&new.scope, &self.w.content_key(&new.identity)?)?;
        let rival = match &new.topic_key {
            Some(topic) => self.w.live_by_topic(&new.scope, topic)?,
            None => None,
        };
        let (status, reason, by) = match (twin, rival) {
            (Some(twin), _) => (Status::Superseded, "the same content is stored here already", twin.id),
            (None, Some(rival)) => {
                (Status::Candidate, "something else is in force here on the same topic", rival.id)
            }
            (None, None) => return Ok(None),
        };
        let row = NewAudit {
            layer: Some(last.layer),
            reason,
            ..NewAudit::new(&self.actors.owner, self.call.face, "set aside", new.id.as_str())
        };
        history.push((self.w.record(&row)?, State { status, pinned: false, ..last }));
        self.loaded.set_aside += 1;
        if self.loaded.conflicts.len() < LISTED {
            self.loaded.conflicts.push(format!("{}: {reason} ({by})", new.id));
        }
        Ok((status == Status::Superseded).then(|| (by, reason.to_owned())))
    }

    fn episodes(&mut self, episodes: &[(i64, NewEpisode)]) -> Result<(), StoreError> {
        let mut seq = None;
        let mut keyed = Vec::with_capacity(episodes.len());
        for (wanted, episode) in episodes {
            keyed.push((self.is_taken(PurgedKind::Episode, *wanted)?, wanted, episode));
        }
        keyed.sort_by_key(|(taken, ..)| *taken);
        for (_, wanted, episode) in keyed {
            let known = self.w.episode(episode.id.as_str())?.is_some() || self.w.knows_episode(episode)?;
            if !self.is_wanted(episode.id.as_str(), known)? {
                continue;
            }
            let seq = match seq {
                Some(seq) => seq,
                None => *seq.insert(self.w.record(&NewAudit {
                    layer: Some(Layer::P2),
                    ..NewAudit::new(
                        &self.actors.gateway,
                        self.call.face,
                        LOAD,
                        &format!("episodes:{}", episodes.len()),
                    )
                })?),
            };
            let number = self.number(PurgedKind::Episode, *wanted)?;
            self.w.load_episode(number, episode, seq)?;
            self.loaded.episodes += 1;
        }
        Ok(())
    }

    fn reviews(&mut self, reviews: &[ReviewRow]) -> Result<(), StoreError> {
        for review in reviews {
            if self.w.review(&review.id)?.is_some() {
                self.loaded.known += 1;
                continue;
            }
            let seq = self.w.record(&NewAudit::new(&self.actors.owner, self.call.face, LOAD, &review.id))?;
            self.w.load_review(review, seq)?;
            self.loaded.reviews += 1;
        }
        Ok(())
    }

    /// Tombstones keep ids and numbers from being given again. One for something that is here says
    /// nothing about it: purging takes a human's decision here, too.
    fn purged(&mut self, purged: &[(PurgedKind, PurgedLine)]) -> Result<(), StoreError> {
        for (kind, line) in purged {
            let present = match kind {
                PurgedKind::Memory => self.w.memory(&line.id)?.is_some(),
                PurgedKind::Episode => self.w.episode(&line.id)?.is_some(),
            };
            if present || self.w.is_purged(&line.id)? {
                self.loaded.known += 1;
                continue;
            }
            let seq = self.w.record(&NewAudit::new(&self.actors.owner, self.call.face, LOAD, &line.id))?;
            let number = self.number(*kind, line.number)?;
            self.w.load_tombstone(*kind, number, &line.id, Timestamp(line.at), seq)?;
            self.loaded.purged += 1;
        }
        Ok(())
    }

    fn is_wanted(&mut self, id: &str, known: bool) -> Result<bool, StoreError> {
        if known {
            self.loaded.known += 1;
            return Ok(false);
        }
        if self.w.is_purged(id)? {
            self.loaded.refused_purged += 1;
            return Ok(false);
        }
        Ok(true)
    }

    fn is_taken(&self, kind: PurgedKind, wanted: i64) -> Result<bool, StoreError> {
        Ok(self.w.free_number(kind, wanted)? != wanted)
    }

    fn number(&mut self, kind: PurgedKind, wanted: i64) -> Result<i64, StoreError> {
        let number = self.w.free_number(kind, wanted)?;
        self.loaded.renumbered += usize::from(number != wanted);
        Ok(number)
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let text = format!(
            "loaded {} memories, {} episodes, {} reviews and {} tombstones ({} known already)",
            self.memories, self.episodes, self.reviews, self.purged, self.known
        );
        let mut document = Document::new().note(Mark::Good, text);
        if self.renumbered > 0 {
            document = document
                .note(Mark::Info, format!("{} got another #number; their ids are the same", self.renumbered));
        }
        if self.refused_purged > 0 {
            document = document
                .note(Mark::Info, format!("{} were purged here before and stay out", self.refused_purged));
        }
        if self.set_aside > 0 {
            let text = format!(
                "{} are kept but not in force, so that what holds here goes on holding",
                self.set_aside
            );
            let rows = self.conflicts.iter().map(|c| vec![c.clone()]).collect();
            document = document
                .note(Mark::Warning, text)
                .with(Block::Table { columns: vec!["not in force".into()], rows });
        }
        if !self.redacted.is_empty() {
            document = document
                .note(Mark::Warning, format!("secrets were blacked out: {}", self.redacted.join(", ")));
        }
        document
    }
}
