//! What a hit points at, read from truth.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use strata_core::{memory::Layer, redact::redact, time::Timestamp};
use strata_store::{
    error::StoreError,
    index::{Found, Section, Source, SourceKind},
    ledger::{EpisodeRow, LedgerRead, MemoryRow, SourceRow, SourceState},
};

use super::search::Query;
use crate::{documents, maintain::import::DERIVED, rules::is_authority};

/// A part of an indexed file: the file, the section as far as the index has it, and the part's number.
#[derive(Debug, Clone)]
pub struct DocumentPart {
    /// The file.
    pub file: SourceRow,
    /// The headings above the part, and its text.
    pub section: Section,
    /// Its number within the file.
    pub part: u32,
}

/// A memory, an episode or a section of a document.
#[derive(Debug, Clone)]
pub enum Item {
    /// A memory, in the state that was asked for.
    Memory(Box<MemoryRow>),
    /// A raw event.
    Episode(Box<EpisodeRow>),
    /// A part of an indexed file.
    Document(Box<DocumentPart>),
}

impl Item {
    /// Reads what a passage points at; `None` when it is not (or was not at `as_of`) in force.
    pub(super) fn load(
        ledger: &LedgerRead<'_>,
        known: &mut Known,
        found: &Found,
        as_of: Option<i64>,
    ) -> Result<Option<Self>, StoreError> {
        match found.source.kind {
            SourceKind::Memory => memory(ledger, known, found.source.number, as_of),
            SourceKind::Episode => {
                let row = match known.episodes.remove(&found.source.number) {
                    Some(row) => Some(row),
                    None => ledger.episode_by_number(found.source.number)?,
                };
                let row = row.filter(|r| as_of.is_none_or(|seq| r.seq <= seq));
                Ok(row.map(|r| Self::Episode(Box::new(r))))
            }
            SourceKind::Document => {
                let row = ledger.source(found.source.number)?.filter(|r| r.state == SourceState::Present);
                let part = row.zip(found.text.clone()).map(|(file, section)| DocumentPart {
                    file,
                    section,
                    part: found.part,
                });
                Ok(part.map(|p| Self::Document(Box::new(p))))
            }
        }
    }

    /// Whether it meets the parts of a query that the index cannot judge.
    pub fn passes(&self, query: &Query, now: Timestamp) -> bool {
        let session = query.session.as_deref().is_none_or(|s| self.session() == Some(s));
        let tags = query.tags.is_empty()
            || matches!(self, Self::Memory(m) if query.tags.iter().all(|t| m.tags.contains(t)));
        let sort = !query.knowledge || !matches!(self, Self::Memory(m) if is_authority(m));
        sort && session && tags && self.is_valid(query.valid_at, query.as_of.unwrap_or(now))
    }

    /// With `at`: whether it was true then. Without: whether it has not expired by `now`.
    fn is_valid(&self, at: Option<Timestamp>, now: Timestamp) -> bool {
        let Self::Memory(memory) = self else { return true };
        let begun = at.is_none_or(|at| memory.valid_from.is_none_or(|from| from <= at));
        begun && memory.valid_to.is_none_or(|to| at.unwrap_or(now) < to)
    }

    /// The id to use in further calls.
    pub fn id(&self) -> String {
        match self {
            Self::Memory(m) => m.id.clone(),
            Self::Episode(e) => e.id.clone(),
            Self::Document(d) => documents::id(d.file.number, d.part).to_string(),
        }
    }

    /// The session it comes from.
    pub fn session(&self) -> Option<&str> {
        match self {
            Self::Memory(m) => m.session.as_deref(),
            Self::Episode(e) => Some(e.session.as_str()).filter(|s| !s.is_empty()),
            Self::Document(..) => None,
        }
    }

    /// Its whole text, or for a document the section's part that was found.
    pub fn text(&self) -> &str {
        match self {
            Self::Memory(m) => &m.body,
            Self::Episode(e) => &e.text,
            Self::Document(d) => &d.section.body,
        }
    }

    /// Its headline.
    pub fn title(&self) -> Option<String> {
        match self {
            Self::Memory(m) => Some(m.title.clone()).filter(|t| !t.is_empty()),
            Self::Episode(_) => None,
            Self::Document(d) => Some(d.section.title.clone()).filter(|t| !t.is_empty()),
        }
    }

    /// When it happened, as far as is known.
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Memory(m) => m.valid_from.unwrap_or(m.created_at),
            Self::Episode(e) => e.at,
            Self::Document(d) => d.file.mtime,
        }
    }

    /// When a memory was stored, an event happened or a file last changed.
    pub fn created_at(&self) -> Timestamp {
        match self {
            Self::Memory(m) => m.created_at,
            Self::Episode(e) => e.at,
            Self::Document(d) => d.file.mtime,
        }
    }

    /// The id that an event had where it came from.
    pub fn external_id(&self) -> Option<&str> {
        let Self::Episode(e) = self else { return None };
        e.external_id.as_deref().filter(|id| !id.starts_with(DERIVED))
    }

    /// A memory's layer, as of the time asked for.
    pub fn layer(&self) -> Option<Layer> {
        if let Self::Memory(m) = self { Some(m.state.layer) } else { None }
    }

    /// A memory's kind.
    pub fn kind(&self) -> Option<String> {
        if let Self::Memory(m) = self { Some(m.kind.to_string()) } else { None }
    }

    /// Where it comes from, in a few words.
    pub fn origin(&self) -> String {
        match self {
            Self::Memory(m) if m.source.is_empty() => m.writer.clone(),
            Self::Memory(m) => m.source.clone(),
            Self::Episode(e) if e.speaker.is_empty() => e.session.clone(),
            Self::Episode(e) => format!("{}, {}", e.speaker, e.session),
            Self::Document(d) => redact(&d.file.path).text.into_owned(),
        }
    }
}

/// Rows that were read beforehand, many in one question.
#[derive(Debug, Default)]
pub(super) struct Known {
    memories: HashMap<i64, MemoryRow>,
    episodes: HashMap<i64, EpisodeRow>,
}

impl Known {
    /// The rows of `sources`.
    pub(super) fn of(
        ledger: &LedgerRead<'_>,
        sources: impl Iterator<Item = Source>,
    ) -> Result<Self, StoreError> {
        let (mut memories, mut episodes) = (BTreeSet::new(), BTreeSet::new());
        for Source { kind, number } in sources {
            match kind {
                SourceKind::Memory => memories.insert(number),
                SourceKind::Episode => episodes.insert(number),
                SourceKind::Document => false,
            };
        }
        let memories = ledger.memories_by_numbers(&memories.into_iter().collect::<Vec<_>>())?;
        let episodes = ledger.episodes_by_numbers(&episodes.into_iter().collect::<Vec<_>>())?;
        Ok(Self {
            memories: memories.into_iter().map(|row| (row.number, row)).collect(),
            episodes: episodes.into_iter().map(|row| (row.number, row)).collect(),
        })
    }
}

fn memory(
    ledger: &LedgerRead<'_>,
    known: &mut Known,
    number: i64,
    as_of: Option<i64>,
) -> Result<Option<Item>, StoreError> {
    let row = match known.memories.remove(&number) {
        Some(row) => Some(row),
        None => ledger.memory_by_number(number)?,
    };
    let Some(mut row) = row else { return Ok(None) };
    if let Some(seq) = as_of {
        let Some(state) = ledger.state_at(number, seq)? else { return Ok(None) };
        row.state = state;
        row.superseded_by = None;
        row.superseded_reason = None;
    }
    Ok(row.state.status.is_live().then(|| Item::Memory(Box::new(row))))
}

/// Metadata as stored, read back; damaged metadata is empty.
pub fn metadata(text: &str) -> BTreeMap<String, String> {
    serde_json::from_str(text).unwrap_or_default()
}
