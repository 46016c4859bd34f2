//! The index and the embedding model of one home, and the ledger as the index follows it.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    num::NonZero,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use strata_core::{analysis, memory::Layer, time::Timestamp};
use strata_embed::{self as embed, EmbedError, Semantic, StaticModel};
use strata_store::{
    error::StoreError,
    faults::FaultPlan,
    index::{
        CaughtUp, Change, CollectionKey, Embedded, Embedder, Group, Index, KeptParts, Mark, MissingVector,
        PackedVector, Preparer, Section, Source, SourceKind, Standing, Subject, TruthReader, Turn, WINDOW,
    },
    ledger::{
        self, ChangeCursor, Changed, EpisodeRow, LOCAL, Ledger, LedgerRead, MemoryRow, OPEN, SourceRow,
        SourceState, State,
    },
    sql::Control,
};

use crate::{
    documents,
    error::Error,
    model::Model,
    project::files::{Reader, SourceType, is_of_project},
    settings::{OFF, STATIC, Settings},
};

/// Bits of a mark's ordinal below the table's number.
const NUMBER_BITS: u32 = 48;

/// The index and the model.
pub struct Searcher {
    index: Index,
    tenant: String,
    wanted: String,
    words_only: bool,
    model: OnceLock<Result<Model, String>>,
    kept_parts: KeptParts,
    foreseen: Foreseen,
}

/// Files of the vault that were read before the ledger had them, by path: their texts, and their sections. They may be
/// forgotten at any time.
#[derive(Debug, Default)]
struct Foreseen(Mutex<HashMap<String, (String, Vec<Section>)>>);

/// Files that are read ahead of the ledger; with more all are forgotten, and read again when they are wanted.
const FORESEEN: usize = 64;
/// The longest text that is read ahead, in bytes.
const LONGEST_FORESEEN: usize = 128 << 10;

impl Foreseen {
    fn keep(&self, path: &str, text: &str, sections: Vec<Section>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= FORESEEN {
            kept.clear();
        }
        kept.insert(path.to_owned(), (text.to_owned(), sections));
    }

    /// The sections of this text, if it is the one that was foreseen.
    fn take(&self, path: &str, text: &str) -> Option<Vec<Section>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (foreseen, sections) = kept.remove(path)?;
        (foreseen == text).then_some(sections)
    }
}

/// Vectors for passages, and how many of those have no text any more. Those that the model gave no answer for are left
/// out.
type Filled = (Vec<(MissingVector, PackedVector)>, usize);

impl Searcher {
    /// Search in a home. Touches nothing.
    pub fn new(settings: &Settings, faults: FaultPlan) -> Self {
        let index = match &settings.store {
            None => Index::new(&settings.home, analysis::VERSION, faults),
            Some(server) => Index::on_server(server.clone(), analysis::VERSION, faults),
        };
        let tenant = settings.store.as_ref().map_or(LOCAL, |server| server.tenant()).to_owned();
        Self {
            index,
            tenant,
            wanted: settings.config.semantic.model.clone(),
            words_only: settings.words_only,
            model: OnceLock::new(),
            kept_parts: KeptParts::default(),
            foreseen: Foreseen::default(),
        }
    }

    /// Embeds with `model` instead of the one that is configured.
    pub(crate) fn embed_with(&mut self, model: Box<dyn embed::Embedder>) {
        self.model = OnceLock::from(Ok(Model::new(model)));
    }

    /// The index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Whether search goes by meaning too, and if not, why.
    pub fn semantic(&self) -> Semantic {
        match self.loaded() {
            Ok(_) if self.words_only => Semantic::Off { reason: "words alone were asked for".to_owned() },
            Ok(model) => match model.failure() {
                Some(error) => Semantic::Off { reason: error.to_string() },
                None if !self.is_answering(model.key()) => Semantic::Warming,
                None => Semantic::On,
            },
            Err(reason) => Semantic::Off { reason: reason.clone() },
        }
    }

    /// Why no text can be told by its meaning, if none can. That the vectors in the index are another model's is no reason.
    pub(crate) fn speechless(&self) -> Option<String> {
        match self.loaded() {
            Ok(_) if self.words_only => Some("words alone were asked for".to_owned()),
            Ok(_) => None,
            Err(reason) => Some(reason.clone()),
        }
    }

    /// Why the model gave no answer when it was asked last, if it gave none.
    pub fn failure(&self) -> Option<EmbedError> {
        self.loaded().as_ref().ok()?.failure()
    }

    /// Lets a model that gave no answer be asked again at once.
    pub(crate) fn wake(&self) {
        if let Ok(model) = self.loaded() {
            model.wake();
        }
    }

    /// Whether searches go by the vectors of this model: they do, unless those of another still do. An index that
    /// cannot be read is told of by whoever reads it.
    fn is_answering(&self, key: &str) -> bool {
        let sets = self.index.vector_sets(&self.tenant).unwrap_or_default();
        sets.iter().find(|set| set.is_active).is_none_or(|set| set.model == key)
    }

    /// The key of the model in use.
    pub fn model(&self) -> Option<&str> {
        self.loaded().as_ref().ok().map(Model::key)
    }

    /// How many components its vectors have.
    pub fn dimension(&self) -> Option<usize> {
        self.loaded().as_ref().ok().map(Model::dimension)
    }

    /// The vector of a query at `now`; none while the vectors of another model answer, because two models' are never
    /// compared, and none when the model does not answer: see [`Self::failure`].
    pub fn embed_query(&self, text: &str, now: Timestamp) -> Option<Vec<f32>> {
        if self.words_only {
            return None;
        }
        let model = self.loaded().as_ref().ok()?;
        if self.is_answering(model.key()) { model.query(text, now).ok()? } else { None }
    }

    /// The vector of a text as a passage, without the index; none of a text that says nothing to the model.
    ///
    /// # Errors
    /// There is no model, or it does not answer.
    pub(crate) fn passage_vector(&self, text: &str, now: Timestamp) -> Result<Option<Vec<f32>>, Error> {
        let model = self.loaded().as_ref().map_err(|reason| Error::Internal(reason.clone()))?;
        model.passage(text, now).map_err(|error| Error::Internal(error.to_string()))
    }

    /// The vector of a passage, as the index is told of it.
    fn embed_passage(&self, text: &str, control: &Control, now: Timestamp) -> Result<Embedded, StoreError> {
        control.check()?;
        let Ok(model) = self.loaded() else { return Ok(Embedded::Nothing) };
        Ok(model.passage(text, now).map_or(Embedded::Unanswered, Embedded::from))
    }

    /// The vectors that passages lack. One whose text is gone, or says nothing to the model, gets an empty one: it
    /// is found by its words. One that the model gives no answer for gets none: see [`Self::failure`].
    pub fn vectors_of(
        &self,
        ledger: &Ledger,
        control: &Control,
        missing: &[MissingVector],
        now: Timestamp,
    ) -> Result<Filled, Error> {
        let truth = LedgerTruth { ledger, control, foreseen: &self.foreseen };
        let mut sources: Vec<Source> = missing.iter().map(|place| place.source).collect();
        sources.sort_unstable();
        sources.dedup();
        let changes = sources.into_iter().map(|source| truth.now(source)).collect::<Result<Vec<_>, _>>()?;
        let embed = |text: &str| self.embed_passage(text, control, now);
        let embedder = self.model().map(|model| Embedder { model, embed: &embed });
        let preparer = Preparer { embedder, kept: None };
        let made: HashMap<Source, Vec<Option<PackedVector>>> = preparer
            .prepare(&truth, &changes)?
            .into_iter()
            .filter_map(|one| Some((one.source, one.passages?.parts.into_iter().map(|p| p.vector).collect())))
            .collect();
        let mut gone = 0;
        let vectors = missing.iter().filter_map(|place| {
            let part = made.get(&place.source).and_then(|parts| parts.get(place.part as usize));
            gone += usize::from(part.is_none());
            let vector = part.map_or(Some(PackedVector { values: Vec::new(), scale: 0.0 }), Clone::clone)?;
            Some((*place, vector))
        });
        Ok((vectors.collect(), gone))
    }

    /// Brings the index up to the ledger for at most about `budget`.
    pub fn follow(
        &self,
        ledger: &Ledger,
        control: &Control,
        budget: Duration,
        now: Timestamp,
    ) -> Result<CaughtUp, Error> {
        let truth = LedgerTruth { ledger, control, foreseen: &self.foreseen };
        let embed = |text: &str| self.embed_passage(text, control, now);
        let embedder = self.model().map(|model| Embedder { model, embed: &embed });
        let preparer = Preparer { embedder, kept: Some(&self.kept_parts) };
        match self.index.catch_up(control, ledger.tenant(), &truth, preparer, budget) {
            Err(StoreError::Corrupt { .. } | StoreError::Foreign { .. }) => {
                self.index.set_aside()?;
                Ok(self.index.catch_up(control, ledger.tenant(), &truth, preparer, budget)?)
            }
            outcome => Ok(outcome?),
        }
    }

    /// Reads a text that a file of the vault is about to hold, so that [`Self::follow`] finds the work done: it is called
    /// while the disk is waited for. What cannot be done now is done then.
    pub(crate) fn foresee(&self, ledger: &Ledger, control: &Control, now: Timestamp, path: &str, text: &str) {
        if text.len() > LONGEST_FORESEEN {
            return;
        }
        let embed = |text: &str| self.embed_passage(text, control, now);
        let embedder = self.model().map(|model| Embedder { model, embed: &embed });
        let preparer = Preparer { embedder, kept: Some(&self.kept_parts) };
        let subject = Subject {
            sections: documents::vault_sections(path, text),
            group: Group::Document(path.to_owned()),
            keep_text: true,
            has_numbered_titles: true,
            ..unknown_subject()
        };
        let source = Source { kind: SourceKind::Document, number: 0 };
        let change = Change { mark: Mark::default(), source, subject: Some(subject) };
        let truth = LedgerTruth { ledger, control, foreseen: &self.foreseen };
        drop(preparer.prepare(&truth, std::slice::from_ref(&change)));
        let sections = change.subject.map(|subject| subject.sections).unwrap_or_default();
        self.foreseen.keep(path, text, sections);
    }

    fn loaded(&self) -> &Result<Model, String> {
        self.model.get_or_init(|| match self.wanted.as_str() {
            STATIC => Ok(Model::new(Box::new(StaticModel::built_in().map_err(|e| e.to_string())?))),
            OFF => Err("switched off in the configuration".to_owned()),
            other => Err(format!("no model `{other}`; use {STATIC} or {OFF}")),
        })
    }
}

/// The ledger and the indexed files, as a stream of changes.
struct LedgerTruth<'a> {
    ledger: &'a Ledger,
    control: &'a Control,
    foreseen: &'a Foreseen,
}

impl LedgerTruth<'_> {
    /// Gives files the text they have now, on as many threads as there are cores.
    fn with_texts(&self, told: Vec<(Change, Option<File>)>) -> Vec<Change> {
        let files: Vec<&File> = told.iter().filter_map(|(_, file)| file.as_ref()).collect();
        let mut texts = self.subjects_of(&files).into_iter();
        let with_text = |(change, file): (Change, Option<File>)| {
            let read = file.and_then(|_| texts.next().flatten());
            Change { subject: change.subject.or(read), ..change }
        };
        told.into_iter().map(with_text).collect()
    }

    fn subjects_of(&self, files: &[&File]) -> Vec<Option<Subject>> {
        let tenant = self.ledger.tenant();
        let roots: BTreeSet<&str> = files.iter().map(|(row, _)| row.root.as_str()).collect();
        let readers: Readers<'_> =
            roots.into_iter().filter_map(|root| Some((root, Reader::of(root)?))).collect();
        let one = |file: &&File| document_subject(tenant, file, &readers, self.foreseen);
        let cores = || thread::available_parallelism().map_or(1, NonZero::get);
        let wanted = files.len() / FILES_PER_THREAD;
        let threads = if wanted > 1 { wanted.min(cores()) } else { 1 };
        if threads == 1 {
            return files.iter().map(one).collect();
        }
        // Files differ in size: each thread takes the next, so that none is left with all the large ones.
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            while let Some((at, file)) = at_next(&next, files) {
                done.push((at, one(file)));
            }
            done
        };
        let mut all: Vec<Option<Subject>> = vec![None; files.len()];
        thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            for worker in workers {
                match worker.join() {
                    Ok(done) => done.into_iter().for_each(|(at, subject)| all[at] = subject),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        all
    }

    fn read<T>(&self, job: impl FnOnce(&LedgerRead<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.ledger.read(self.control, job)
    }

    /// A source as it stands now, at no place of its own: nothing counts as earlier than it.
    fn now(&self, source: Source) -> Result<Change, StoreError> {
        let (subject, file) = self.read(|r| {
            Ok(match source.kind {
                SourceKind::Memory => (memory_at(r, source.number, OPEN - 1)?, None),
                SourceKind::Episode => {
                    (r.episode_by_number(source.number)?.map(|row| episode_subject(r.tenant(), row)), None)
                }
                SourceKind::Document => (None, file_of(r, source.number)?),
            })
        })?;
        let tenant = self.ledger.tenant();
        let subject = subject.or_else(|| {
            let file = file.as_ref()?;
            let readers = Reader::of(&file.0.root).map(|reader| (file.0.root.as_str(), reader));
            document_subject(tenant, file, &readers.into_iter().collect(), self.foreseen)
        });
        Ok(Change { mark: Mark::default(), source, subject })
    }

    /// Changes as the ledger alone can tell them, and the files whose text belongs to them.
    fn told(
        ledger: &LedgerRead<'_>,
        changes: &[ledger::Change],
    ) -> Result<Vec<(Change, Option<File>)>, StoreError> {
        let mut subjects = Subjects::of(ledger, changes)?;
        let tell = |change: &ledger::Change| {
            let (table, kind, number) = match change.what {
                Changed::Memory(n) => (0, SourceKind::Memory, n),
                Changed::Episode(n) => (1, SourceKind::Episode, n),
                Changed::Source(n) => (2, SourceKind::Document, n),
                Changed::PurgedMemory(n) => (3, SourceKind::Memory, n),
                Changed::PurgedEpisode(n) => (4, SourceKind::Episode, n),
            };
            let subject = subjects.take(ledger.tenant(), change);
            let file = if let Changed::Source(n) = change.what { file_of(ledger, n)? } else { None };
            let mark = Mark { seq: change.seq, ordinal: (table << NUMBER_BITS) | number };
            Ok((Change { mark, source: Source { kind, number }, subject }, file))
        };
        changes.iter().map(tell).collect()
    }
}

/// What memories and events say that have changed, looked up many at a time.
struct Subjects {
    memories: HashMap<i64, MemoryRow>,
    states: HashMap<(i64, i64), State>,
    episodes: HashMap<i64, EpisodeRow>,
}

impl Subjects {
    fn of(ledger: &LedgerRead<'_>, changes: &[ledger::Change]) -> Result<Self, StoreError> {
        let (mut memories, mut episodes) = (Vec::new(), Vec::new());
        for change in changes {
            match change.what {
                Changed::Memory(number) => memories.push((number, change.seq)),
                Changed::Episode(number) => episodes.push(number),
                Changed::Source(_) | Changed::PurgedMemory(_) | Changed::PurgedEpisode(_) => {}
            }
        }
        let numbers: BTreeSet<i64> = memories.iter().map(|(number, _)| *number).collect();
        let rows = ledger.memories_by_numbers(&numbers.into_iter().collect::<Vec<_>>())?;
        Ok(Self {
            memories: rows.into_iter().map(|row| (row.number, row)).collect(),
            states: ledger.states_at(&memories)?,
            episodes: ledger
                .episodes_by_numbers(&episodes)?
                .into_iter()
                .map(|row| (row.number, row))
                .collect(),
        })
    }

    /// What the change brought; `None` when it is in no search then.
    fn take(&mut self, tenant: &str, change: &ledger::Change) -> Option<Subject> {
        match change.what {
            Changed::Memory(number) => {
                let state = *self.states.get(&(number, change.seq)).filter(|state| state.status.is_live())?;
                Some(memory_subject(tenant, MemoryRow { state, ..self.memories.get(&number)?.clone() }))
            }
            Changed::Episode(number) => self.episodes.remove(&number).map(|row| episode_subject(tenant, row)),
            Changed::Source(_) | Changed::PurgedMemory(_) | Changed::PurgedEpisode(_) => None,
        }
    }
}

impl TruthReader for LedgerTruth<'_> {
    fn epoch(&self) -> Result<String, StoreError> {
        self.read(|r| r.epoch())
    }

    fn head(&self) -> Result<i64, StoreError> {
        Ok(self.read(|r| r.head())?.seq)
    }

    fn hash_at(&self, seq: i64) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.read(|r| r.hash_at(seq))?.map(|hash| hash.to_vec()))
    }

    fn standing(&self, seq: i64) -> Result<Standing, StoreError> {
        self.read(|r| r.standing(seq))
    }

    fn changes(&self, after: Mark, limit: usize) -> Result<Vec<Change>, StoreError> {
        let mut told: Vec<_> = self.read(|r| Self::told(r, &r.changes_behind(cursor(after), limit)?))?;
        told.truncate(bearable(&told, limit as u64 * BYTES_PER_CHANGE));
        // Files are read when no snapshot is held any more.
        Ok(self.with_texts(told))
    }

    fn changes_at_hand(&self, after: Mark, limit: usize) -> Result<Vec<Change>, StoreError> {
        let mut told = self.read(|r| Self::told(r, &r.changes_behind(cursor(after), limit)?))?;
        let (mut left, mut bytes) = (FILES_AT_HAND, BYTES_AT_HAND);
        told.retain(|(_, file)| {
            let size = file.as_ref().map_or(0, size_to_read);
            let is_light = size <= bytes && (size == 0 || left > 0);
            (left, bytes) = if is_light && size > 0 { (left - 1, bytes - size) } else { (left, bytes) };
            is_light
        });
        Ok(self.with_texts(told))
    }

    fn latest_of_memories(&self, after: Mark, limit: usize) -> Result<Vec<Change>, StoreError> {
        let told = self.read(|r| Self::told(r, &r.latest_of_memories(cursor(after), limit)?))?;
        // Memories have their text in the ledger.
        Ok(told.into_iter().map(|(change, _)| change).collect())
    }

    fn pending(&self, after: Mark) -> Result<u64, StoreError> {
        self.read(|r| r.count_behind(cursor(after)))
    }

    fn session_span(
        &self,
        collection: &CollectionKey,
        session: &str,
        first: Turn,
        last: Turn,
    ) -> Result<Vec<Change>, StoreError> {
        self.read(|r| {
            let scope = (collection.namespace.as_str(), collection.project.as_str());
            let turns = r.session_span(scope, session, first, last, WINDOW)?;
            Ok(turns.into_iter().map(|row| episode_change(r.tenant(), row)).collect())
        })
    }
}

fn cursor(mark: Mark) -> ChangeCursor {
    if mark.ordinal == i64::MAX {
        return ChangeCursor::after(mark.seq);
    }
    let number = mark.ordinal & ((1 << NUMBER_BITS) - 1);
    ChangeCursor { seq: mark.seq, table: mark.ordinal >> NUMBER_BITS, number }
}

fn episode_change(tenant: &str, row: EpisodeRow) -> Change {
    let mark = Mark { seq: row.seq, ordinal: (1 << NUMBER_BITS) | row.number };
    let source = Source { kind: SourceKind::Episode, number: row.number };
    Change { mark, source, subject: Some(episode_subject(tenant, row)) }
}

/// A memory as it stood from `seq` on; `None` when it was in no search then.
fn memory_at(ledger: &LedgerRead<'_>, number: i64, seq: i64) -> Result<Option<Subject>, StoreError> {
    let Some(row) = ledger.memory_by_number(number)? else { return Ok(None) };
    let state = ledger.state_at(number, seq)?;
    Ok(state
        .filter(|s| s.status.is_live())
        .map(|state| memory_subject(ledger.tenant(), MemoryRow { state, ..row })))
}

fn memory_subject(tenant: &str, row: MemoryRow) -> Subject {
    let speaker = serde_json::from_str::<serde_json::Value>(&row.metadata)
        .ok()
        .and_then(|m| m["speaker"].as_str().map(str::to_owned));
    Subject {
        collection: collection(tenant, &row.scope.namespace, row.scope.project.as_deref()),
        // Tags are words to find a memory by, so they are searched with its title.
        sections: vec![Section {
            title: [&[row.title], &row.tags[..]].concat().join(" ").trim().to_owned(),
            body: row.body,
            ..Section::default()
        }],
        group: row.session.map_or(Group::Alone, Group::From),
        owner: speaker.unwrap_or_default(),
        at: row.valid_from.unwrap_or(row.created_at).0,
        layer: row.state.layer,
        is_code: row.kind.as_str() == "code",
        kind: row.kind.to_string(),
        branch: row.scope.branch.unwrap_or_default(),
        confidence: row.state.confidence as f32,
        importance: row.state.importance as f32,
        ..unknown_subject()
    }
}

fn episode_subject(tenant: &str, row: EpisodeRow) -> Subject {
    Subject {
        collection: collection(tenant, &row.scope.namespace, row.scope.project.as_deref()),
        sections: vec![Section { body: row.text, ..Section::default() }],
        group: if row.session.is_empty() { Group::Alone } else { Group::Session(row.session) },
        order: row.at.0,
        owner: row.speaker,
        at: row.at.0,
        layer: Layer::P2,
        kind: "episode".to_owned(),
        branch: row.scope.branch.unwrap_or_default(),
        confidence: 1.0,
        ..unknown_subject()
    }
}

/// An indexed file, and its text where the ledger holds it.
type File = (SourceRow, Option<String>);

fn file_of(ledger: &LedgerRead<'_>, number: i64) -> Result<Option<File>, StoreError> {
    let Some(row) = ledger.source(number)? else { return Ok(None) };
    let text = match documents::is_of_vault(&row) {
        true => ledger.vault_head_text(number)?,
        false => None,
    };
    Ok(Some((row, text)))
}

/// Files read by one thread at least, before another one helps.
const FILES_PER_THREAD: usize = 4;

/// Bytes of files that are read for each change that was asked for, together: 8 KiB.
const BYTES_PER_CHANGE: u64 = 8 << 10;

/// Files, and their bytes, that a search reads itself because they are not indexed yet.
const FILES_AT_HAND: usize = 8;
const BYTES_AT_HAND: u64 = 128 << 10;

/// The readers of projects' roots.
type Readers<'r> = BTreeMap<&'r str, Reader>;

fn at_next<'f>(next: &AtomicUsize, files: &'f [&'f File]) -> Option<(usize, &'f &'f File)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    files.get(at).map(|file| (at, file))
}

/// The bytes that must be read of a file on the disk.
fn size_to_read((row, text): &File) -> u64 {
    let is_read = row.state == SourceState::Present && text.is_none() && !documents::is_of_vault(row);
    if is_read { u64::try_from(row.size).unwrap_or(0).max(1) } else { 0 }
}

/// How many of the changes have together no more bytes than `most` to read; one at least.
fn bearable(told: &[(Change, Option<File>)], most: u64) -> usize {
    let mut bytes = 0;
    let heavy = told.iter().position(|(_, file)| {
        bytes += file.as_ref().map_or(0, size_to_read);
        bytes > most
    });
    heavy.map_or(told.len(), |at| at.max(1))
}

/// An indexed file as it is now; `None` when it is gone or cannot be read.
fn document_subject(
    tenant: &str,
    (row, text): &File,
    readers: &Readers<'_>,
    foreseen: &Foreseen,
) -> Option<Subject> {
    if row.state != SourceState::Present {
        return None;
    }
    let path = documents::path_of(row);
    let (sections, kind) = match is_of_project(row) {
        true => readers.get(row.root.as_str())?.read(row).map(|read| (read.sections, Some(read.kind)))?,
        false => {
            let known = text.as_deref().and_then(|text| foreseen.take(&row.path, text));
            let read = || documents::sections_of(row, text.as_deref()).ok();
            (known.or_else(read)?, None)
        }
    };
    Some(Subject {
        collection: collection(tenant, &row.namespace, row.project.as_deref()),
        sections,
        is_code: kind == Some(SourceType::CodeFile),
        marks: kind.map_or(0, SourceType::mark),
        group: Group::Document(path.to_string_lossy().into_owned()),
        at: row.mtime.0,
        layer: Layer::P5,
        kind: "document".to_owned(),
        confidence: 0.5,
        keep_text: true,
        has_numbered_titles: documents::is_of_vault(row),
        ..unknown_subject()
    })
}

fn unknown_subject() -> Subject {
    Subject {
        collection: collection("", "", None),
        sections: Vec::new(),
        group: Group::Alone,
        order: 0,
        owner: String::new(),
        at: 0,
        layer: Layer::P5,
        kind: String::new(),
        branch: String::new(),
        confidence: 0.0,
        importance: 0.5,
        is_code: false,
        marks: 0,
        keep_text: false,
        has_numbered_titles: false,
    }
}

fn collection(tenant: &str, namespace: &str, project: Option<&str>) -> CollectionKey {
    CollectionKey::new(tenant, namespace, project.unwrap_or(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_foreseen_holds_for_its_text_alone_and_once() {
        let foreseen = Foreseen::default();
        let sections = || documents::vault_sections("net.md", "# net\n\n## Port\n\n8080\n");
        foreseen.keep("net.md", "one", sections());
        assert_eq!(foreseen.take("other.md", "one"), None);
        assert_eq!(foreseen.take("net.md", "one"), Some(sections()));
        assert_eq!(foreseen.take("net.md", "one"), None);
        foreseen.keep("net.md", "one", sections());
        assert_eq!(foreseen.take("net.md", "two"), None, "another text was stored");
        for number in 0..=FORESEEN {
            foreseen.keep(&format!("{number}.md"), "text", sections());
        }
        assert_eq!(foreseen.take("0.md", "text"), None, "only so many are kept");
        assert_eq!(foreseen.take(&format!("{FORESEEN}.md"), "text"), Some(sections()));
    }
}
