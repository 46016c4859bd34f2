//! The knowledge graph's rules: what may be related to what, when two labels name one thing, and which
//! names a text mentions. Storing and walking are for the crates above.

pub mod constraints;
pub mod label;
pub mod mention;

use crate::error::ParseError;

/// How something came into the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// Somebody said so.
    Stated,
    /// It was noticed in a text.
    Inferred,
}

impl Origin {
    /// The stored word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stated => "stated",
            Self::Inferred => "inferred",
        }
    }

    /// Parses the stored word.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        match text {
            "stated" => Ok(Self::Stated),
            "inferred" => Ok(Self::Inferred),
            _ => Err(ParseError::new("origin", text, "use stated or inferred")),
        }
    }
}

/// The way a relation is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From source to target.
    Out,
    /// From target to source.
    In,
}

impl Direction {
    /// Parses `out` or `in`.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        match text.trim().to_ascii_lowercase().as_str() {
            "out" => Ok(Self::Out),
            "in" => Ok(Self::In),
            _ => Err(ParseError::new("direction", text, "use out or in")),
        }
    }
}

/// The least and the greatest number of steps that a walk takes.
pub const DEPTHS: std::ops::RangeInclusive<u32> = 1..=10;

/// A depth as asked for, brought into [`DEPTHS`].
pub fn depth(asked: u32) -> u32 {
    asked.clamp(*DEPTHS.start(), *DEPTHS.end())
}
