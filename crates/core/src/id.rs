//! Typed identifiers: a prefix that names the type and ten Crockford base32 characters (50 random bits).

use std::fmt;

use crate::error::ParseError;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const CHARS: usize = 10;
/// A read accepts any unique prefix with at least this many characters after the type prefix.
pub const MIN_PREFIX: usize = 6;

/// The types of things that carry an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IdKind {
    /// A memory (`mem_`).
    Memory,
    /// An episode (`ep_`).
    Episode,
    /// A document chunk (`doc_`); derived from path and heading, not random.
    Document,
    /// A review (`rev_`).
    Review,
    /// A job (`job_`).
    Job,
    /// A backup (`bak_`).
    Backup,
    /// An entity (`ent_`).
    Entity,
    /// A relation between entities (`rel_`).
    Relation,
    /// A todo (`todo_`).
    Todo,
}

impl IdKind {
    /// All kinds of id.
    pub const ALL: [Self; 9] = [
        Self::Memory,
        Self::Episode,
        Self::Document,
        Self::Review,
        Self::Job,
        Self::Backup,
        Self::Entity,
        Self::Relation,
        Self::Todo,
    ];

    /// The prefix, underscore included.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Memory => "mem_",
            Self::Episode => "ep_",
            Self::Document => "doc_",
            Self::Review => "rev_",
            Self::Job => "job_",
            Self::Backup => "bak_",
            Self::Entity => "ent_",
            Self::Relation => "rel_",
            Self::Todo => "todo_",
        }
    }
}

/// A complete, well-formed id.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id {
    kind: IdKind,
    text: String,
}

impl Id {
    /// Makes an id of `kind` from the low 50 bits of `bits`.
    pub fn from_bits(kind: IdKind, bits: u64) -> Self {
        let mut text = String::with_capacity(kind.prefix().len() + CHARS);
        text.push_str(kind.prefix());
        for place in (0..CHARS).rev() {
            let digit = (bits >> (5 * place)) & 31;
            text.push(char::from(ALPHABET[digit as usize]));
        }
        Self { kind, text }
    }

    /// Parses a whole id; upper case and the look-alikes I, L, O are accepted.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let partial = PartialId::parse(text)?;
        if partial.text.len() == partial.kind.prefix().len() + CHARS {
            return Ok(Self { kind: partial.kind, text: partial.text });
        }
        Err(ParseError::new("whole id", text, "give the id in full, e.g. mem_0123456789"))
    }

    /// The 50 bits that the id was made from.
    pub fn bits(&self) -> u64 {
        let digits = self.text[self.kind.prefix().len()..].bytes();
        digits.fold(0, |bits, digit| {
            let value = ALPHABET.iter().position(|c| *c == digit).unwrap_or(0);
            (bits << 5) | value as u64
        })
    }

    /// What the id names.
    pub fn kind(&self) -> IdKind {
        self.kind
    }

    /// The id as text, prefix included.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The start of an id, long enough to look up: what reads accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialId {
    /// What the id names.
    pub kind: IdKind,
    /// Normalised text, prefix included.
    pub text: String,
}

impl PartialId {
    /// Parses a type prefix and 6 to 10 base32 characters.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let hint = "ids look like mem_0123456789; reads accept the first 6 characters after the underscore";
        let wrong = || ParseError::new("id", text, hint);
        let lower = text.trim().to_ascii_lowercase();
        let kind = IdKind::ALL.into_iter().find(|k| lower.starts_with(k.prefix())).ok_or_else(wrong)?;
        let mut normal = String::from(kind.prefix());
        for c in lower[kind.prefix().len()..].chars() {
            let c = match c {
                'i' | 'l' => '1',
                'o' => '0',
                c => c,
            };
            if !c.is_ascii() || !ALPHABET.contains(&(c as u8)) {
                return Err(wrong());
            }
            normal.push(c);
        }
        let chars = normal.len() - kind.prefix().len();
        if (MIN_PREFIX..=CHARS).contains(&chars) { Ok(Self { kind, text: normal }) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_round_trip_through_text() {
        for bits in [0, 1, 31, 32, u64::MAX, 0x2_5A5A_5A5A_5A5A] {
            let id = Id::from_bits(IdKind::Memory, bits);
            assert_eq!(id.as_str().len(), 14);
            assert_eq!(id.bits(), bits & ((1 << 50) - 1));
            assert_eq!(Id::parse(id.as_str()), Ok(id));
        }
    }

    #[test]
    fn look_alikes_and_case_are_forgiven() {
        assert_eq!(Id::parse("MEM_O1L3456789").map(|i| i.to_string()), Ok("mem_0113456789".to_owned()));
    }

    #[test]
    fn prefixes_need_six_characters_and_ids_need_all() {
        assert!(PartialId::parse("mem_abcde").is_err());
        assert!(PartialId::parse("mem_abcdef").is_ok());
        assert!(Id::parse("mem_abcdef").is_err());
        for wrong in
            ["", "mem_", "mem_0123456789a", "xyz_0123456789", "mem_u123456789", "mem_設備設備設備", "#12"]
        {
            assert!(PartialId::parse(wrong).is_err(), "{wrong}");
        }
    }
}
