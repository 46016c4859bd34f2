//! The persistence router: where an item belongs, and why.
//!
//! Deterministic: markers from the [`Vocabulary`] and the structure of the lines, no model and no vector. The score is a sum of
//! the weights of rules, not a probability. What to do about a decision is the caller's business: by default it is a note.

pub(crate) mod reading;
mod score;
mod structure;

use std::{ops::Range, sync::LazyLock};

use crate::{memory::Kind, vocabulary::Vocabulary};

pub use reading::Router;

/// Where the router says an item belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Route {
    /// The derived table of contents. Strata writes it; the router never decides for it.
    L0Index,
    /// Knowledge files of the vault.
    L1Knowledge,
    /// The todo list.
    Todo,
    /// The agent's skills.
    Skill,
    /// The profile of the user.
    UserProfile,
    /// Another memory that the agent owns.
    AgentOther,
    /// The log of changes to the memory itself. Strata writes it; the router never decides for it.
    MemoryChangelog,
    /// Nothing tells.
    Undecided,
    /// Not worth keeping beyond the session.
    Ephemeral,
}

impl Route {
    /// Every route, in documentation order.
    pub const ALL: [Self; 9] = [
        Self::L0Index,
        Self::L1Knowledge,
        Self::Todo,
        Self::Skill,
        Self::UserProfile,
        Self::AgentOther,
        Self::MemoryChangelog,
        Self::Undecided,
        Self::Ephemeral,
    ];

    /// The routes that markers speak for. Of equal scores the earlier wins.
    pub const CLASSIFIED: [Self; 6] =
        [Self::Todo, Self::Skill, Self::UserProfile, Self::AgentOther, Self::Ephemeral, Self::L1Knowledge];

    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::L0Index => "l0_index",
            Self::L1Knowledge => "l1_knowledge",
            Self::Todo => "todo",
            Self::Skill => "skill",
            Self::UserProfile => "user_profile",
            Self::AgentOther => "agent_other",
            Self::MemoryChangelog => "memory_changelog",
            Self::Undecided => "undecided",
            Self::Ephemeral => "ephemeral",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|route| route.as_str() == word)
    }

    /// The route of this name, if markers can speak for it.
    pub fn classified(word: &str) -> Option<Self> {
        Self::CLASSIFIED.into_iter().find(|route| route.as_str() == word)
    }

    /// Who keeps what goes there.
    pub const fn ownership(self) -> Ownership {
        match self {
            Self::L0Index | Self::L1Knowledge | Self::Todo | Self::MemoryChangelog => Ownership::Framework,
            Self::Skill | Self::UserProfile | Self::AgentOther => Ownership::Agent,
            Self::Undecided | Self::Ephemeral => Ownership::None,
        }
    }
}

/// Who keeps what goes to a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ownership {
    /// Strata.
    Framework,
    /// The agent, in files of its own.
    Agent,
    /// Nobody.
    None,
}

impl Ownership {
    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Framework => "framework",
            Self::Agent => "agent",
            Self::None => "none",
        }
    }
}

/// An item to be routed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Item<'a> {
    /// The text.
    pub content: &'a str,
    /// The heading it is to stand under; its markers count, its structure does not.
    pub section: Option<&'a str>,
    /// The kind it was given. One that names a place by itself (preference, procedure, skill) counts as a marker.
    pub kind: Option<&'a Kind>,
}

/// What a signal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SignalKind {
    /// A word or phrase of the vocabulary.
    Marker,
    /// How the lines are built, or the kind.
    Structure,
    /// Something that spoke for a route and does not count, or counts less.
    Negative,
}

impl SignalKind {
    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Marker => "marker",
            Self::Structure => "structure",
            Self::Negative => "negative",
        }
    }
}

/// One thing that spoke for a route.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    /// What it is.
    pub kind: SignalKind,
    /// The marker, or the name of the structure.
    pub name: String,
    /// The route it speaks for.
    pub route: Route,
    /// What it adds to the route's score.
    pub weight: f64,
    /// Where the marker stands: bytes of the content, or of the section's heading when `in_section`.
    pub span: Option<Range<usize>>,
    /// The line of the content, counted from 1; 0 in the heading.
    pub line: usize,
    /// Whether the marker stands in the heading.
    pub in_section: bool,
}

impl Signal {
    /// For people: the marker in quotes, or the structure.
    pub fn describe(&self) -> String {
        match self.kind {
            SignalKind::Marker => format!("marker \"{}\"", self.name),
            SignalKind::Structure | SignalKind::Negative => self.name.replace('_', " "),
        }
    }
}

/// What a decision rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Basis {
    /// Markers alone.
    Markers,
    /// Structure alone.
    Structure,
    /// Both.
    Mixed,
    /// Nothing that tells.
    Insufficient,
}

impl Basis {
    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Markers => "markers",
            Self::Structure => "structure",
            Self::Mixed => "mixed",
            Self::Insufficient => "insufficient",
        }
    }
}

/// Where an item belongs, and everything that was weighed.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The route.
    pub route: Route,
    /// The sum of the weights for it, 0 to 1, three decimals.
    pub score: f64,
    /// What it rests on.
    pub basis: Basis,
    /// What decided, for people.
    pub reason: String,
    /// Everything that spoke for a route, in the order of the text.
    pub signals: Vec<Signal>,
    /// The other routes that something spoke for, the best first, with their scores.
    pub alternatives: Vec<(Route, f64)>,
    /// What a reader should know about a weak decision.
    pub warnings: Vec<String>,
}

impl Decision {
    /// What spoke for the decided route.
    pub fn deciding(&self) -> impl Iterator<Item = &Signal> {
        self.signals.iter().filter(|s| s.route == self.route && s.kind != SignalKind::Negative)
    }
}

/// A route, and the marker or structure that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The route.
    pub route: Route,
    /// What decided, for people.
    pub reason: String,
}

static BUILT_IN: LazyLock<Router> = LazyLock::new(|| Router::new(Vocabulary::built_in()));

/// The router over the languages that are built in.
pub fn built_in() -> &'static Router {
    &BUILT_IN
}

/// Suggests where `text` belongs, with the languages that are built in; `None` when nothing in it tells.
pub fn suggest(text: &str, kind: Option<&Kind>) -> Option<Suggestion> {
    let decision = built_in().classify(&Item { content: text, section: None, kind });
    let reason = decision.deciding().next()?.describe();
    Some(Suggestion { route: decision.route, reason })
}
