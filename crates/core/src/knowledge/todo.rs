//! Todos: their ids and states, what stamps a change of state sets, and when one is about a task.

use std::fmt;

use unicode_segmentation::UnicodeSegmentation;

use crate::{
    error::ParseError,
    id::{Id, IdKind},
    time::Timestamp,
};

/// Where a todo stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
    /// Given up.
    Cancelled,
}

impl Status {
    /// Every status, in documentation order.
    pub const ALL: [Self; 4] = [Self::Pending, Self::InProgress, Self::Completed, Self::Cancelled];

    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Whether there is still something to do.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::InProgress)
    }

    /// The stamps of a todo that goes from here to `to` at `now`. Every way is open, also back; the stamps follow
    /// the state it arrives in, and a todo that stays where it is keeps its own.
    pub fn stamps(self, to: Self, now: Timestamp, old: Stamps) -> Stamps {
        match to {
            _ if self == to => old,
            Self::Completed => Stamps { completed_at: Some(now), cancelled_at: None },
            Self::Cancelled => Stamps { completed_at: None, cancelled_at: Some(now) },
            Self::Pending | Self::InProgress => Stamps::default(),
        }
    }
}

/// When a todo was closed. At most one is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamps {
    /// When it was done.
    pub completed_at: Option<Timestamp>,
    /// When it was given up.
    pub cancelled_at: Option<Timestamp>,
}

/// How pressing a todo is. Ordered: the most pressing first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Priority {
    /// Other work stands still until it is done.
    Blocker,
    /// Soon.
    High,
    /// In its turn.
    #[default]
    Medium,
    /// When there is time.
    Low,
    /// Not before somebody else has done something.
    Waiting,
}

impl Priority {
    /// Every priority, the most pressing first.
    pub const ALL: [Self; 5] = [Self::Blocker, Self::High, Self::Medium, Self::Low, Self::Waiting];

    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Blocker => "blocker",
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
            Self::Waiting => "waiting",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|priority| priority.as_str() == word)
    }
}

/// Before the digits of an id that was made from a marker.
const MARKED: &str = "gov-";
/// Hexadecimal digits of such an id.
const MARKED_DIGITS: usize = 16;

/// The id of a todo: drawn (`todo_0123456789`), or made from the marker it was found by (`gov-` and sixteen
/// hexadecimal digits), so that the same marker makes it once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TodoId(String);

impl TodoId {
    /// Makes a drawn id from the low 50 bits of `bits`.
    pub fn from_bits(bits: u64) -> Self {
        Self(Id::from_bits(IdKind::Todo, bits).to_string())
    }

    /// Reads a whole id; case does not count, nor do look-alikes in a drawn one.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let lower = text.trim().to_ascii_lowercase();
        if let Some(digits) = lower.strip_prefix(MARKED) {
            if digits.len() == MARKED_DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                return Ok(Self(lower));
            }
        } else if let Ok(id) = Id::parse(text)
            && id.kind() == IdKind::Todo
        {
            return Ok(Self(id.to_string()));
        }
        Err(ParseError::new(
            "id of a todo",
            text,
            "todos have ids like todo_0123456789; list_todos shows them",
        ))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Id> for TodoId {
    /// The id under which a row of another store is known here.
    fn from(id: Id) -> Self {
        Self::from_bits(id.bits())
    }
}

impl fmt::Display for TodoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether the shares of two texts' terms say that a todo is about a task: two terms, or half of the shorter of
/// task and title, where that has fewer.
pub fn touches(shared: usize, task: usize, title: usize) -> bool {
    shared >= 2 || (shared == 1 && task.min(title) <= 2)
}

/// The longest title made of a content, in user-perceived characters.
pub const MAX_TITLE: usize = 50;

/// The title of a todo that was given none: the beginning of the first line that says something.
pub fn title(content: &str) -> String {
    let says = |line: &&str| line.chars().any(char::is_alphanumeric);
    let line = content.lines().map(str::trim).find(says).unwrap_or("Untitled");
    line.graphemes(true).take(MAX_TITLE).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_follow_the_state() {
        let (then, now) = (Timestamp(1), Timestamp(2));
        let done = Stamps { completed_at: Some(then), cancelled_at: None };
        let given_up = Stamps { completed_at: None, cancelled_at: Some(then) };
        for (from, to, old, expected) in [
            (Status::Pending, Status::InProgress, Stamps::default(), Stamps::default()),
            (
                Status::Pending,
                Status::Completed,
                Stamps::default(),
                Stamps { completed_at: Some(now), ..done },
            ),
            (Status::Completed, Status::Cancelled, done, Stamps { cancelled_at: Some(now), ..given_up }),
            (Status::Cancelled, Status::Completed, given_up, Stamps { completed_at: Some(now), ..done }),
            (Status::Cancelled, Status::Pending, given_up, Stamps::default()),
            (Status::Completed, Status::InProgress, done, Stamps::default()),
            (Status::Completed, Status::Completed, done, done),
        ] {
            assert_eq!(from.stamps(to, now, old), expected, "{from:?} to {to:?}");
        }
    }

    #[test]
    fn words_are_read_back_and_priorities_are_in_order() {
        assert!(Status::ALL.into_iter().all(|status| Status::parse(status.as_str()) == Some(status)));
        assert!(
            Priority::ALL.into_iter().all(|priority| Priority::parse(priority.as_str()) == Some(priority))
        );
        assert!(Priority::ALL.is_sorted());
        assert_eq!(Status::parse("done"), None);
        assert_eq!(Status::ALL.map(Status::is_open), [true, true, false, false]);
    }

    #[test]
    fn an_id_is_drawn_or_made_from_a_marker() {
        for text in ["todo_0123456789", "gov-0123456789abcdef"] {
            assert_eq!(TodoId::parse(text).map(|id| id.to_string()), Ok(text.to_owned()));
        }
        let forgiven = TodoId::parse(" GOV-0123456789ABCDEF ").map(|id| id.to_string());
        assert_eq!(forgiven, Ok("gov-0123456789abcdef".to_owned()));
        assert_eq!(TodoId::parse("todo_O1L3456789"), TodoId::parse("todo_0113456789"));
        for wrong in [
            "",
            "todo_",
            "todo_012345",
            "mem_0123456789",
            "gov-",
            "gov-0123456789abcdeg",
            "gov-0123456789abcdef0",
            "待办",
        ] {
            assert!(TodoId::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn one_word_touches_only_what_says_little() {
        assert!(touches(2, 9, 9));
        assert!(touches(1, 1, 9));
        assert!(touches(1, 9, 2));
        assert!(!touches(1, 3, 3));
        assert!(!touches(0, 1, 1));
    }

    #[test]
    fn a_title_is_the_beginning_of_the_content() {
        assert_eq!(title("\n---\n  write the guide \nmore"), "write the guide");
        assert_eq!(title(&"待".repeat(60)), "待".repeat(50));
        assert_eq!(title("  "), "Untitled");
    }
}
