//! The decision over a write to a knowledge file, as a pure function of the text that is there.
//!
//! It is made under the file's lock, so that what it says of the text still holds when it is written. A write that
//! could lose something is not made: the answer carries what is there and a token, and the caller sends one text for both.

mod commit;
mod provenance;

use std::borrow::Cow;

use super::{
    dedup::{self, Known, Likeness, Mode, Neighbour, Resolution},
    digest::{body_token, family_token},
    family,
    meaning::Meaning,
};
use crate::{
    duplicate::{Difference, Readings, Verdict},
    markdown::{
        Body, OpenBlock, Outline,
        edit::{EditError, Heading, Place, insert},
    },
};

pub use provenance::{Provenance, without_provenance};

/// What a caller wants written.
#[derive(Debug, Clone, Copy)]
pub struct Write<'a> {
    /// The title of the file, when it is new.
    pub domain: &'a str,
    /// The section.
    pub heading: &'a Heading,
    /// The text.
    pub content: &'a str,
    /// How it is to be joined with what is there.
    pub mode: Mode,
    /// The caller answers a handshake: the text replaces what the token stands for.
    pub fuse: bool,
    /// The token of the text that the caller has seen.
    pub expected_hash: Option<&'a str>,
    /// Who writes, when that is to be noted in the file.
    pub provenance: Option<&'a Provenance>,
    /// From how many sections on, this one included, headings that differ in a date or version only are to be made one; `None`: never.
    pub min_family: Option<usize>,
    /// What one text for a family may have of the bytes that it replaces, 0 to 1.
    pub size_ceiling: f64,
    /// How alike, 0 to 1, two texts must be at least for the caller to be asked for one text of both; `None`: what the comparison calls
    /// near. Values that differ are asked about in any case.
    pub least_alike: Option<f64>,
    /// Which sections are near in meaning.
    pub meaning: Meaning<'a>,
    /// What was read of the sections before.
    pub readings: &'a Readings,
}

impl Write<'_> {
    /// Whether a text that is called near is not near enough, neither in wording nor in meaning.
    fn leaves_apart(&self, like: &Likeness) -> bool {
        like.verdict == Verdict::NearDuplicate
            && self.least_alike.is_some_and(|least| like.similarity < least)
            && like.cosine.is_none_or(|cosine| cosine < self.meaning.bands.fuse)
    }
}

/// A section of another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elsewhere<'a> {
    /// The file.
    pub file: &'a str,
    /// Its heading.
    pub heading: &'a str,
}

/// The word for what was done, or why nothing was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// The file is new.
    Created,
    /// The section is new.
    SectionCreated,
    /// The text was added to the section.
    Appended,
    /// The lines that were missing were added.
    Merged,
    /// No line was missing.
    MergedNoChange,
    /// The block stands in the section already.
    AppendNoChange,
    /// The text of the section was replaced.
    Replaced,
    /// A family of sections became one.
    Consolidated,
    /// It is said already.
    Skipped,
    /// One text for both is asked for.
    DeferredFusion,
    /// One section for the family is asked for.
    DeferredConsolidate,
    /// The text for a family is not shorter than the family.
    ConsolidateRefused,
    /// What is there is not what the token stands for.
    FuseConflict,
}

impl Action {
    /// Every action, in documentation order.
    pub const ALL: [Self; 13] = [
        Self::Created,
        Self::SectionCreated,
        Self::Appended,
        Self::Merged,
        Self::MergedNoChange,
        Self::AppendNoChange,
        Self::Replaced,
        Self::Consolidated,
        Self::Skipped,
        Self::DeferredFusion,
        Self::DeferredConsolidate,
        Self::ConsolidateRefused,
        Self::FuseConflict,
    ];

    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::SectionCreated => "section_created",
            Self::Appended => "appended",
            Self::Merged => "merged",
            Self::MergedNoChange => "merged_no_change",
            Self::AppendNoChange => "append_no_change",
            Self::Replaced => "replaced",
            Self::Consolidated => "consolidated",
            Self::Skipped => "skipped",
            Self::DeferredFusion => "deferred_fusion",
            Self::DeferredConsolidate => "deferred_consolidate",
            Self::ConsolidateRefused => "consolidate_refused",
            Self::FuseConflict => "fuse_conflict",
        }
    }

    /// Whether the caller asked for something that is not done. A deferred write is none: it waits for an answer.
    pub const fn is_refusal(self) -> bool {
        matches!(self, Self::ConsolidateRefused | Self::FuseConflict)
    }
}

/// How a match was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatchKind {
    /// The lines stand there as they are.
    Exact,
    /// By wording.
    Fuzzy,
    /// By meaning.
    Semantic,
}

impl MatchKind {
    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Fuzzy => "fuzzy",
            Self::Semantic => "semantic",
        }
    }
}

/// What is like the new text.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// The other file it stands in; `None`: the file that is written to.
    pub file: Option<String>,
    /// The heading it stands under.
    pub heading: String,
    /// 0 to 1.
    pub similarity: f64,
    /// The cosine of the two, where it is known and says that they are near.
    pub cosine: Option<f64>,
    /// How it was found.
    pub kind: MatchKind,
    /// What the comparison says.
    pub verdict: Verdict,
    /// The values that differ: first as the new text has them, then as the old one has them.
    pub differences: Vec<Difference>,
}

/// A section as the caller of a handshake needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its heading.
    pub heading: String,
    /// Its text as it stands.
    pub body: String,
}

/// What the caller has to know to go on.
#[derive(Debug, Clone, PartialEq)]
pub enum Handshake {
    /// Nothing to do.
    None,
    /// To send one text for this section under the token.
    Fusion {
        /// The section as it is.
        hit: Member,
        /// Its token.
        expected_hash: String,
    },
    /// To send one text for these sections under the token.
    Consolidate {
        /// The sections as they are.
        family: Vec<Member>,
        /// Their token.
        expected_hash: String,
    },
    /// The token given and the one of what is there; `None` when the section is gone, or no token was given.
    Conflict {
        /// As given.
        expected_hash: Option<String>,
        /// What is there.
        current_hash: Option<String>,
    },
    /// The text is too long to stand for the family.
    TooLong {
        /// Sections.
        family_size: usize,
        /// Their texts together, in bytes.
        family_bytes: usize,
        /// The text that was sent, in bytes.
        submitted_bytes: usize,
        /// The share that it must stay below.
        ceiling: f64,
    },
}

/// The decision, and what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// What is done.
    pub action: Action,
    /// The text of the file from now on; `None` when it stays as it is.
    pub text: Option<String>,
    /// The heading it is about, as it stands in the file.
    pub section: String,
    /// The section's token before, when it was there; of a consolidation that of the family.
    pub before_hash: Option<String>,
    /// The section's token now.
    pub after_hash: Option<String>,
    /// What is like the text.
    pub likest: Option<Match>,
    /// How the caller goes on.
    pub handshake: Handshake,
    /// How many sections the family had that became one.
    pub family_size_before: Option<usize>,
    /// Whether this was the answer to a deferred fusion.
    pub is_fusion: bool,
    /// The text began with the heading, which was left out.
    pub dropped_heading: bool,
    /// By how many levels headings in the text were lowered.
    pub demoted: u8,
    /// What was added to close a block that the text leaves open.
    pub closed_with: Option<String>,
}

/// Why a text cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InjectError {
    /// Nothing remains beside the heading.
    #[error("the text says nothing beside its heading")]
    Empty,
    /// It ends in an open block.
    #[error(transparent)]
    Open(#[from] OpenBlock),
    /// The file does not take it.
    #[error(transparent)]
    Edit(#[from] EditError),
}

/// Decides a write. `text` is the file, `None` when there is none. `elsewhere` is a section of another file that has the
/// whole text already (see [`stands_in`]).
pub fn decide(
    text: Option<&str>,
    write: &Write<'_>,
    elsewhere: Option<&Elsewhere<'_>>,
) -> Result<Decided, InjectError> {
    let body = Body::fit(write.content, write.heading.as_str())?;
    if !body.as_str().chars().any(|c| !c.is_whitespace() && !c.is_control()) {
        return Err(InjectError::Empty);
    }
    let outline = Outline::parse(text.unwrap_or_default());
    let file = File { is_new: text.is_none(), target: outline.find(write.heading.as_str(), None), outline };
    let decided =
        if write.fuse { commit::commit(&file, write, &body) } else { file.resolve(write, &body, elsewhere) };
    let Body { dropped_heading, demoted, closed_with, .. } = body;
    Ok(Decided { dropped_heading, demoted, closed_with, ..decided? })
}

/// Shorter texts are never taken for a part of another file, in bytes: a port stands in many places.
const MIN_ELSEWHERE: usize = 40;

/// Whether `body` has all lines of `content` one after the other, and they are enough to say the same in another place.
pub fn stands_in(body: &str, content: &str) -> bool {
    let content = content.trim();
    content.len() >= MIN_ELSEWHERE
        && content.lines().next().is_some_and(|first| body.contains(first.trim()))
        && dedup::contains_block(body, content)
}

/// The file that is written to.
struct File<'t> {
    is_new: bool,
    target: Option<usize>,
    outline: Outline<'t>,
}

impl File<'_> {
    fn resolve(
        &self,
        write: &Write<'_>,
        body: &Body,
        elsewhere: Option<&Elsewhere<'_>>,
    ) -> Result<Decided, InjectError> {
        if let Some(conflict) = self.stale_token(write) {
            return Ok(conflict);
        }
        // Who says append has seen what is there, or wants it in any case.
        let asks = write.mode != Mode::Append;
        if let Some(deferred) = asks.then(|| self.family(write)).flatten() {
            return Ok(deferred);
        }
        let Resolution { mut action, likest } = self.compared(write, body);
        let asks_for_one = matches!(action, dedup::Action::DeferFusion(_));
        if asks_for_one && likest.as_ref().is_some_and(|like| write.leaves_apart(like)) {
            action = self.target.map_or(dedup::Action::Create, dedup::Action::Append);
        }
        if action == dedup::Action::Create && asks && elsewhere.is_some() {
            return Ok(skipped_for(write, elsewhere));
        }
        let is_skip = matches!(action, dedup::Action::Skip(_));
        let likest = likest.map(|like| self.matched(&like, is_skip));
        Ok(Decided { likest, ..self.carried_out(action, write, body)? })
    }

    /// What the sections that are there make of the text.
    fn compared(&self, write: &Write<'_>, body: &Body) -> Resolution {
        let known = self.known();
        let sections: Vec<Known<'_>> =
            known.iter().map(|(heading, body)| Known { heading, body: body.as_ref() }).collect();
        dedup::resolve(
            write.mode,
            write.heading.as_str(),
            body.as_str(),
            &sections,
            (&self.neighbours(&write.meaning), &write.meaning.bands),
            write.readings,
        )
    }

    fn carried_out(
        &self,
        action: dedup::Action,
        write: &Write<'_>,
        body: &Body,
    ) -> Result<Decided, InjectError> {
        Ok(match action {
            dedup::Action::Create => self.create(write, body)?,
            dedup::Action::Append(index) => {
                let text = self.outline.append_to_body(index, &signed(body.as_str(), write)?)?;
                self.changed(Action::Appended, index, text)
            }
            dedup::Action::Merge(index, lines) => {
                let text = self.outline.append_to_body(index, &signed(&lines, write)?)?;
                self.changed(Action::Merged, index, text)
            }
            dedup::Action::Replace(index) => {
                let text = self.outline.replace_body(index, &signed(body.as_str(), write)?)?;
                self.changed(Action::Replaced, index, text)
            }
            dedup::Action::Skip(index) => self.kept(write.mode, index),
            dedup::Action::DeferFusion(index) => self.deferred(index),
        })
    }

    /// The sections that are near in meaning, of those that still read as they did when that was found out.
    fn neighbours(&self, meaning: &Meaning<'_>) -> Vec<Neighbour> {
        let place = |heading: &str, body: &str| {
            let is_same =
                |index: &usize| self.heading(*index) == heading && self.outline.body(*index) == body;
            (0..self.outline.entries().len()).find(is_same)
        };
        let near = meaning.near.iter();
        near.filter_map(|near| {
            Some(Neighbour { index: place(near.heading, near.body)?, cosine: near.cosine })
        })
        .collect()
    }

    /// The sections as they are compared: without the notes on who wrote them.
    fn known(&self) -> Vec<(&str, Cow<'_, str>)> {
        let entries = self.outline.entries().iter().enumerate();
        entries
            .map(|(index, entry)| (entry.heading.as_str(), without_provenance(self.outline.body(index))))
            .collect()
    }

    fn create(&self, write: &Write<'_>, body: &Body) -> Result<Decided, InjectError> {
        let signed = signed(body.as_str(), write)?;
        let (action, text) = if self.is_new {
            let title = format!("# {}\n", write.domain);
            (Action::Created, insert(&title, Place::Last, write.heading, &signed)?)
        } else {
            (Action::SectionCreated, self.outline.insert(Place::Last, write.heading, &signed)?)
        };
        let after_hash = Some(body_token(signed.as_str()));
        Ok(Decided { text: Some(text), after_hash, ..about(action, write.heading.as_str()) })
    }

    /// The section at this position has changed in `text`.
    fn changed(&self, action: Action, index: usize, text: String) -> Decided {
        let after_hash = Some(body_token(self.outline.body_in(&text, index)));
        let is_same = text == self.outline.text();
        Decided {
            text: Some(text).filter(|_| !is_same),
            before_hash: Some(self.token(index)),
            after_hash,
            ..about(action, self.heading(index))
        }
    }

    fn kept(&self, mode: Mode, index: usize) -> Decided {
        let action = match mode {
            Mode::Merge => Action::MergedNoChange,
            Mode::Append => Action::AppendNoChange,
            Mode::Upsert => Action::Skipped,
        };
        about(action, self.heading(index))
    }

    fn deferred(&self, index: usize) -> Decided {
        let handshake = Handshake::Fusion { hit: self.member(index), expected_hash: self.token(index) };
        Decided { handshake, ..about(Action::DeferredFusion, self.heading(index)) }
    }

    /// Asks for one section when the new one would join others that differ in a date or version only.
    fn family(&self, write: &Write<'_>) -> Option<Decided> {
        if self.target.is_some() {
            return None;
        }
        let family = self.joined(write.heading.as_str(), write.min_family?);
        if family.is_empty() {
            return None;
        }
        let handshake = Handshake::Consolidate {
            family: family.iter().map(|index| self.member(*index)).collect(),
            expected_hash: self.family_token(&family),
        };
        Some(Decided { handshake, ..about(Action::DeferredConsolidate, write.heading.as_str()) })
    }

    fn joined(&self, heading: &str, min_family: usize) -> Vec<usize> {
        let headings: Vec<&str> = self.outline.entries().iter().map(|entry| entry.heading.as_str()).collect();
        family::joined(heading, &headings, min_family)
    }

    /// A token that comes with an ordinary write is a condition on the section.
    fn stale_token(&self, write: &Write<'_>) -> Option<Decided> {
        let expected = write.expected_hash?;
        let current = self.target.map(|index| self.token(index));
        (current.as_deref() != Some(expected)).then(|| conflict(write, self.current_token(write)))
    }

    /// The token of what a write would meet now: the section's, or that of the family which its heading would join.
    fn current_token(&self, write: &Write<'_>) -> Option<String> {
        if let Some(index) = self.target {
            return Some(self.token(index));
        }
        let family = self.joined(write.heading.as_str(), write.min_family?);
        (!family.is_empty()).then(|| self.family_token(&family))
    }

    fn token(&self, index: usize) -> String {
        body_token(self.outline.body(index))
    }

    fn family_token(&self, family: &[usize]) -> String {
        family_token(family.iter().map(|index| (self.heading(*index), self.outline.body(*index))))
    }

    fn heading(&self, index: usize) -> &str {
        self.outline.entries().get(index).map_or("", |entry| entry.heading.as_str())
    }

    fn member(&self, index: usize) -> Member {
        Member { heading: self.heading(index).to_owned(), body: self.outline.body(index).to_owned() }
    }

    fn matched(&self, like: &Likeness, is_skip: bool) -> Match {
        let kind = match like.verdict {
            Verdict::Same if like.similarity >= 1.0 => MatchKind::Exact,
            Verdict::Different => MatchKind::Semantic,
            // By wording alone nothing is a duplicate that is not the same.
            Verdict::NearDuplicate if is_skip => MatchKind::Semantic,
            _ => MatchKind::Fuzzy,
        };
        Match {
            file: None,
            heading: self.heading(like.index).to_owned(),
            similarity: like.similarity,
            cosine: like.cosine,
            kind,
            verdict: like.verdict,
            differences: like.differences.clone(),
        }
    }
}

/// Another file says it already: the answer names the place.
fn skipped_for(write: &Write<'_>, elsewhere: Option<&Elsewhere<'_>>) -> Decided {
    let found = elsewhere.map(|there| Match {
        file: Some(there.file.to_owned()),
        heading: there.heading.to_owned(),
        similarity: 1.0,
        cosine: None,
        kind: MatchKind::Exact,
        verdict: Verdict::Same,
        differences: Vec::new(),
    });
    Decided { likest: found, ..about(Action::Skipped, write.heading.as_str()) }
}

fn conflict(write: &Write<'_>, current_hash: Option<String>) -> Decided {
    let expected_hash = write.expected_hash.map(str::to_owned);
    let handshake = Handshake::Conflict { expected_hash, current_hash };
    Decided { handshake, ..about(Action::FuseConflict, write.heading.as_str()) }
}

fn about(action: Action, section: &str) -> Decided {
    Decided {
        action,
        text: None,
        section: section.to_owned(),
        before_hash: None,
        after_hash: None,
        likest: None,
        handshake: Handshake::None,
        family_size_before: None,
        is_fusion: false,
        dropped_heading: false,
        demoted: 0,
        closed_with: None,
    }
}

/// The text with the note on who wrote it.
fn signed(text: &str, write: &Write<'_>) -> Result<Body, OpenBlock> {
    let whole =
        write.provenance.map_or_else(|| text.to_owned(), |note| format!("{text}\n{}", note.comment()));
    Body::fit(&whole, "")
}

#[cfg(test)]
mod tests;
