//! Making changes ready for the index: cutting, analysing, embedding. All of it happens outside
//! transactions, on as many threads as the machine has cores.

use std::{
    collections::BTreeMap,
    num::NonZero,
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use strata_core::{analysis::Analyzer, knowledge::family::steady_heading, rank::Flags, vector::quantize};

use crate::error::StoreError;

use super::{
    cut::cut,
    kept_parts::{self, KeptParts},
    passage::{Part, Passages, Prepared},
    truth::{Change, CollectionKey, Group, Mark, Section, Subject, TruthReader, Turn, UNPLACED, WINDOW},
    vector_block::PackedVector,
};

/// Changes that are worth another thread, and bytes of text that are.
const PER_THREAD: usize = 64;
const BYTES_PER_THREAD: usize = 32 << 10;

/// Most characters of an earlier turn that a turn's vector covers.
const CONTEXT_CHARS: usize = 1_200;

/// An embedding model as the index sees it.
#[derive(Clone, Copy)]
pub struct Embedder<'a> {
    /// The model's key; it must name everything that the vectors depend on.
    pub model: &'a str,
    /// Text to a vector of unit length. An error ends the preparation.
    pub embed: &'a (dyn Fn(&str) -> Result<Embedded, StoreError> + Sync),
}

/// What a model made of a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Embedded {
    /// Its vector, of unit length.
    Vector(Vec<f32>),
    /// The model has nothing for it, now or later: it is found by its words.
    Nothing,
    /// The model did not answer. It is found by its words until its vector is made: see [`super::Index::missing`].
    Unanswered,
}

impl std::fmt::Debug for Embedder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Embedder").field("model", &self.model).finish_non_exhaustive()
    }
}

impl From<Option<Vec<f32>>> for Embedded {
    fn from(vector: Option<Vec<f32>>) -> Self {
        vector.map_or(Self::Nothing, Self::Vector)
    }
}

/// How changes are made ready.
#[derive(Debug, Clone, Copy, Default)]
pub struct Preparer<'a> {
    /// The model, when semantic search is on.
    pub embedder: Option<Embedder<'a>>,
    /// Parts of documents that were made before.
    pub kept: Option<&'a KeptParts>,
}

impl Preparer<'_> {
    /// The passages of `changes`, and of turns indexed earlier whose vectors cover a new turn.
    pub fn prepare(&self, truth: &dyn TruthReader, changes: &[Change]) -> Result<Vec<Prepared>, StoreError> {
        let sessions = if self.embedder.is_some() { sessions(truth, changes)? } else { BTreeMap::new() };
        let mut tasks: Vec<Task<'_>> = Vec::with_capacity(changes.len());
        for change in changes {
            let turn = turn_of(change).and_then(|(key, turn)| Some((sessions.get(&key)?, turn)));
            let context = turn.map_or_else(String::new, |(span, turn)| context(span, turn));
            tasks.push(Task { change, mark: change.mark, context });
            if let Some((span, turn)) = turn {
                tasks.extend(disturbed(span, turn, changes, change.mark));
            }
        }
        // Of many changes hardly one is of a file made ready a moment ago; keeping them all costs memory and gains nothing.
        let kept = self.kept.filter(|_| tasks.len() <= PER_THREAD);
        Preparer { kept, ..*self }.run(&tasks)
    }

    /// What to embed for part `part` of a source, e.g. to fill a new vector set: see
    /// [`super::Index::missing`]. `before` are the turns before it, oldest first.
    pub fn embedded_text(subject: &Subject, before: &[Subject], part: usize) -> Option<String> {
        let context = if part == 0 { lines(before.iter()) } else { String::new() };
        pieces(subject).nth(part).map(|piece| embedded(subject, &context, piece.title, piece.body))
    }

    fn run(&self, tasks: &[Task<'_>]) -> Result<Vec<Prepared>, StoreError> {
        // The system is asked for its cores only where there is work for them: that takes as long as a small write.
        let cores = || thread::available_parallelism().map_or(1, NonZero::get);
        let wanted = (tasks.len() / PER_THREAD).max(bytes(tasks) / BYTES_PER_THREAD).min(tasks.len());
        let threads = if wanted > 1 { wanted.min(cores()) } else { 1 };
        if threads == 1 {
            let mut analyzer = Analyzer::default();
            return tasks.iter().map(|task| task.run(*self, &mut analyzer)).collect();
        }
        // Sources differ in size: each thread takes the next, so that none is left with all the large ones.
        let next = AtomicUsize::new(0);
        let work = || {
            let (mut done, mut analyzer) =
                (Vec::with_capacity(tasks.len() / threads + 1), Analyzer::default());
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(task) = tasks.get(at) else { return Ok::<_, StoreError>(done) };
                done.push((at, task.run(*self, &mut analyzer)?));
            }
        };
        let mut all = Vec::with_capacity(tasks.len());
        thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            for worker in workers {
                match worker.join() {
                    Ok(done) => all.extend(done?),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            Ok::<_, StoreError>(())
        })?;
        all.sort_unstable_by_key(|(at, _)| *at);
        Ok(all.into_iter().map(|(_, prepared)| prepared).collect())
    }
}

/// Bytes of text that tasks are about.
fn bytes(tasks: &[Task<'_>]) -> usize {
    let sections = tasks.iter().filter_map(|task| task.change.subject.as_ref()).flat_map(|s| &s.sections);
    sections.map(|section| section.body.len()).sum()
}

type SessionKey<'c> = (&'c CollectionKey, &'c str);

/// One source to make passages of.
struct Task<'c> {
    change: &'c Change,
    mark: Mark,
    context: String,
}

impl Task<'_> {
    fn run(&self, preparer: Preparer<'_>, analyzer: &mut Analyzer) -> Result<Prepared, StoreError> {
        let Change { source, subject, .. } = self.change;
        let passages =
            subject.as_ref().map(|subject| self.passages(subject, preparer, analyzer)).transpose()?;
        Ok(Prepared { mark: self.mark, source: *source, passages })
    }

    fn passages(
        &self,
        subject: &Subject,
        preparer: Preparer<'_>,
        analyzer: &mut Analyzer,
    ) -> Result<Passages, StoreError> {
        let pieces: Vec<_> = pieces(subject).collect();
        let group = match &subject.group {
            Group::Session(session) => format!("session {session}"),
            Group::From(session) => format!("from {session}"),
            Group::Document(document) => format!("document {document}"),
            Group::Alone if pieces.len() > 1 => {
                format!("{} {}", self.change.source.kind.code(), self.change.source.number)
            }
            Group::Alone => String::new(),
        };
        let numbered = pieces.iter().enumerate();
        let parts = numbered.map(|(at, piece)| self.part(subject, at, *piece, preparer, analyzer));
        Ok(Passages {
            collection: subject.collection.clone(),
            group,
            order: if matches!(subject.group, Group::From(_)) { UNPLACED } else { subject.order },
            owner: subject.owner.clone(),
            at: subject.at,
            layer: subject.layer,
            kind: subject.kind.clone(),
            branch: subject.branch.clone(),
            confidence: in_units(subject.confidence),
            importance: in_units(subject.importance),
            model: preparer.embedder.map(|embedder| embedder.model.to_owned()),
            parts: parts.collect::<Result<_, _>>()?,
        })
    }

    fn part(
        &self,
        subject: &Subject,
        at: usize,
        Piece { title, body: piece, place }: Piece<'_>,
        preparer: Preparer<'_>,
        analyzer: &mut Analyzer,
    ) -> Result<Part, StoreError> {
        let keep_text = subject.keep_text.then(|| Section {
            title: title.to_owned(),
            body: piece.to_owned(),
            place: place.to_owned(),
        });
        let Some(kept) = preparer.kept.filter(|_| subject.keep_text) else {
            let made = self.made(subject, at, (title, piece), preparer, analyzer)?;
            return Ok(Part { text: keep_text, ..made });
        };
        let model = preparer.embedder.map_or("", |embedder| embedder.model);
        let numbers =
            [subject.marks, u32::from(subject.is_code) | u32::from(subject.has_numbered_titles) << 1];
        let key = kept_parts::key([model, title, piece], numbers);
        if let Some(part) = kept.get(&key) {
            return Ok(Part { text: keep_text, ..part });
        }
        let made = self.made(subject, at, (title, piece), preparer, analyzer)?;
        // What the model did not answer for is asked again.
        if made.vector.is_some() || preparer.embedder.is_none() {
            kept.keep(key, &made);
        }
        Ok(Part { text: keep_text, ..made })
    }

    /// A part without its text, analysed and embedded.
    fn made(
        &self,
        subject: &Subject,
        at: usize,
        (title, piece): (&str, &str),
        preparer: Preparer<'_>,
        analyzer: &mut Analyzer,
    ) -> Result<Part, StoreError> {
        let searched = titled(title, piece);
        // Sentences of a text come in sessions too; a turn is somebody's.
        let is_turn = matches!(subject.group, Group::Session(_)) && !subject.owner.is_empty();
        let turn = if is_turn { Flags::TURN } else { 0 };
        let code = if subject.is_code { Flags::CODE } else { 0 };
        let mut part = Part::new(&analyzer.passage(&searched), turn | code, subject.marks);
        if let Some(embedder) = preparer.embedder {
            let context = if at == 0 { self.context.as_str() } else { "" };
            part.vector = match (embedder.embed)(&embedded(subject, context, title, piece))? {
                Embedded::Vector(vector) => {
                    let (values, scale) = quantize(&vector);
                    Some(PackedVector { values, scale })
                }
                Embedded::Nothing => Some(PackedVector { values: Vec::new(), scale: 0.0 }),
                Embedded::Unanswered => None,
            };
        }
        Ok(part)
    }
}

/// A piece of a section.
#[derive(Debug, Clone, Copy, Default)]
struct Piece<'s> {
    title: &'s str,
    body: &'s str,
    place: &'s str,
}

/// The parts of a source in order. A source without sections has one empty part.
fn pieces(subject: &Subject) -> impl Iterator<Item = Piece<'_>> {
    let none = subject.sections.is_empty().then(Piece::default);
    let parts = subject.sections.iter().flat_map(|Section { title, body, place }| {
        cut(body).into_iter().map(move |body| Piece { title, body, place })
    });
    none.into_iter().chain(parts)
}

fn titled(title: &str, piece: &str) -> String {
    if title.is_empty() { piece.to_owned() } else { format!("{title}\n{piece}") }
}

/// Turns are embedded as lines of a script, everything else under its title.
fn embedded(subject: &Subject, context: &str, title: &str, piece: &str) -> String {
    match subject.group {
        Group::Session(_) => format!("{context}{}", line(&subject.owner, piece)),
        _ if subject.has_numbered_titles => titled(&steady(title), piece),
        _ => titled(title, piece),
    }
}

/// A title without what varies in its heading.
fn steady(title: &str) -> String {
    match title.split_once(" > ") {
        Some((domain, heading)) => format!("{domain} > {}", steady_heading(heading)),
        None => title.to_owned(),
    }
}

fn line(owner: &str, text: &str) -> String {
    if owner.is_empty() { text.to_owned() } else { format!("{owner}: {text}") }
}

fn lines<'s>(turns: impl Iterator<Item = &'s Subject>) -> String {
    let mut out = String::new();
    for turn in turns {
        let body = turn.sections.first().map_or("", |section| section.body.as_str());
        let end = body.char_indices().nth(CONTEXT_CHARS).map_or(body.len(), |(at, _)| at);
        out.push_str(&line(&turn.owner, &body[..end]));
        out.push('\n');
    }
    out
}

/// Units of 1/200; what is not a number counts as 0.
fn in_units(share: f32) -> u8 {
    (share.clamp(0.0, 1.0) * 200.0).round() as u8
}

fn turn_of(change: &Change) -> Option<(SessionKey<'_>, Turn)> {
    let subject = change.subject.as_ref()?;
    match &subject.group {
        Group::Session(session) => {
            Some(((&subject.collection, session.as_str()), (subject.order, change.source.number)))
        }
        _ => None,
    }
}

/// The turns of every session in `changes`, with [`WINDOW`] more at either end, in order.
fn sessions<'c>(
    truth: &dyn TruthReader,
    changes: &'c [Change],
) -> Result<BTreeMap<SessionKey<'c>, Vec<Change>>, StoreError> {
    let mut spans: BTreeMap<SessionKey<'c>, (Turn, Turn)> = BTreeMap::new();
    for (key, turn) in changes.iter().filter_map(turn_of) {
        let span = spans.entry(key).or_insert((turn, turn));
        *span = (span.0.min(turn), span.1.max(turn));
    }
    let read = |(key, (first, last)): (SessionKey<'c>, (Turn, Turn))| {
        let mut turns = truth.session_span(key.0, key.1, first, last)?;
        turns.retain(|turn| turn_of(turn).is_some());
        turns.sort_by_key(|turn| turn_of(turn).map(|(_, turn)| turn));
        Ok((key, turns))
    };
    spans.into_iter().map(read).collect()
}

/// Places of the turns before `turn` that its vector covers, and of those after it.
fn around(span: &[Change], turn: Turn) -> (Range<usize>, Range<usize>) {
    let place = |change: &Change| turn_of(change).map_or((i64::MIN, 0), |(_, turn)| turn);
    let at = span.partition_point(|other| place(other) < turn);
    let next = span.partition_point(|other| place(other) <= turn);
    (at.saturating_sub(WINDOW)..at, next..(next + WINDOW).min(span.len()))
}

fn context(span: &[Change], turn: Turn) -> String {
    let (before, _) = around(span, turn);
    lines(span[before].iter().filter_map(|change| change.subject.as_ref()))
}

/// Turns after `turn` that were indexed without it. Those of this batch, and those still to come, see it.
fn disturbed<'s>(span: &'s [Change], turn: Turn, batch: &[Change], mark: Mark) -> Vec<Task<'s>> {
    let begin = batch.first().map_or(mark, |first| first.mark);
    let (_, after) = around(span, turn);
    let earlier = span[after].iter().filter(|other| other.mark < begin);
    let task = |other: &'s Change| {
        let context = turn_of(other).map_or_else(String::new, |(_, turn)| context(span, turn));
        Task { change: other, mark, context }
    };
    earlier.map(task).collect()
}
