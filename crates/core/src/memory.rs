//! The attributes of a memory: layer, kind, status, tier and the numbers that weigh it.

use std::fmt;

use crate::error::ParseError;

/// Declares an enum with a fixed word per variant, `ALL`, `as_str`, `parse` and `Display`.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident, $what:literal { $($(#[$vmeta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$vmeta])* $variant),+ }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word used in storage and on every face.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// Parses the word, ignoring ASCII case and surrounding space.
            pub fn parse(text: &str) -> Result<Self, $crate::error::ParseError> {
                let wanted = text.trim();
                Self::ALL.iter().copied().find(|v| v.as_str().eq_ignore_ascii_case(wanted)).ok_or_else(|| {
                    let words: Vec<_> = Self::ALL.iter().map(|v| v.as_str()).collect();
                    $crate::error::ParseError::new($what, text, format!("use one of {}", words.join(", ")))
                })
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use words;

words! {
    /// The seven layers of authority. Lower number, higher authority.
    Layer, "layer" {
        /// Rules: the constitution.
        P0 = "P0",
        /// Identity and persona.
        P1 = "P1",
        /// Raw sessions.
        P2 = "P2",
        /// Tool integrations.
        P3 = "P3",
        /// Skills and growth.
        P4 = "P4",
        /// Compiled knowledge.
        P5 = "P5",
        /// Incidents and fixes.
        P6 = "P6",
    }
}

impl Layer {
    /// 0 for P0 up to 6 for P6.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// One line on what lives in the layer.
    pub const fn about(self) -> &'static str {
        match self {
            Self::P0 => "rules",
            Self::P1 => "identity and persona",
            Self::P2 => "raw sessions",
            Self::P3 => "tool integrations",
            Self::P4 => "skills and growth",
            Self::P5 => "compiled knowledge",
            Self::P6 => "incidents and fixes",
        }
    }
}

words! {
    /// Where a memory stands in its life.
    Status, "status" {
        /// Proposed, waiting for review; not part of default recall.
        Candidate = "candidate",
        /// In force.
        Active = "active",
        /// In force, but what it rests on has changed.
        Stale = "stale",
        /// In force, disputed.
        NeedsReview = "needs_review",
        /// Replaced by a successor.
        Superseded = "superseded",
        /// Out of use, kept.
        Archived = "archived",
        /// Forgotten; restorable for 30 days.
        Trashed = "trashed",
    }
}

impl Status {
    /// Whether default recall and context may show it.
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Active | Self::Stale | Self::NeedsReview)
    }
}

words! {
    /// How a memory stands to another, beside the line of versions.
    Relation, "relation" {
        /// Holds only as long as the other does.
        DependsOn = "depends_on",
        /// Is about the same thing.
        RelatedTo = "related_to",
        /// Took the other's place.
        Supersedes = "supersedes",
        /// Says how the other is done.
        Implements = "implements",
        /// Is a reason to believe the other.
        Supports = "supports",
        /// Cannot hold together with the other.
        Contradicts = "contradicts",
        /// Was made of the other.
        DerivedFrom = "derived_from",
        /// Was made of the other, which was written on a branch.
        DerivedFromBranch = "derived_from_branch",
        /// Is on a branch what the other is on the mainline.
        InheritedFromMainline = "inherited_from_mainline",
        /// Was written on a branch, and is the other on the mainline.
        PromotedToMainline = "promoted_to_mainline",
        /// No longer holds because of what the other says of a branch.
        InvalidatedByBranchChange = "invalidated_by_branch_change",
        /// Is about what the other calls by an earlier name.
        RenamedSource = "renamed_source",
        /// Sums up the other among several.
        CompactionSource = "compaction_source",
    }
}

words! {
    /// How near at hand a memory is kept.
    Tier, "tier" {
        /// May stand on the hot page.
        Hot = "hot",
        /// Found by recall only.
        Cold = "cold",
    }
}

/// What a memory is: an open set of words, of which these are known.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind(String);

impl Kind {
    /// The known kinds, in documentation order.
    pub const KNOWN: [&'static str; 16] = [
        "rule",
        "constraint",
        "identity",
        "preference",
        "integration",
        "skill",
        "procedure",
        "fact",
        "decision",
        "pattern",
        "insight",
        "architecture",
        "module",
        "incident",
        "fix",
        "note",
    ];

    /// Parses a kind: a lower-case word of letters, digits, `_` or `-`, at most 32 characters.
    /// The seeds' words map onto the known ones.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let word = text.trim().to_lowercase();
        let fits = !word.is_empty()
            && word.chars().count() <= 32
            && word.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        if !fits {
            let hint = format!("a kind is one word of at most 32 letters; known: {}", Self::KNOWN.join(", "));
            return Err(ParseError::new("kind", text, hint));
        }
        let canonical = match word.as_str() {
            "semantic" | "knowledge" => "fact",
            "procedural" => "procedure",
            "guardrail" => "constraint",
            "persona" => "identity",
            "tool" => "integration",
            "bug" => "incident",
            _ => &word,
        };
        Ok(Self(canonical.to_owned()))
    }

    /// The word.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The layer a memory of this kind belongs to when the writer names none.
    pub fn default_layer(&self) -> Layer {
        match self.0.as_str() {
            "rule" => Layer::P0,
            "identity" => Layer::P1,
            "skill" | "procedure" => Layer::P4,
            "incident" | "fix" => Layer::P6,
            _ => Layer::P5,
        }
    }
}

impl Default for Kind {
    fn default() -> Self {
        Self("fact".to_owned())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_parse_and_say_what_is_allowed() {
        assert_eq!(Layer::parse("p5"), Ok(Layer::P5));
        let wrong = Layer::parse("P9").expect_err("no such layer");
        assert_eq!(wrong.to_string(), "`P9` is not a layer");
        assert_eq!(wrong.allowed, "use one of P0, P1, P2, P3, P4, P5, P6");
    }

    #[test]
    fn kinds_are_open_but_well_formed() {
        assert_eq!(Kind::parse("Decision").map(|k| k.to_string()), Ok("decision".into()));
        assert_eq!(Kind::parse("semantic").map(|k| k.to_string()), Ok("fact".into()));
        assert!(Kind::parse("release-note").is_ok());
        for wrong in ["", "two words", "a/b", &"x".repeat(33)] {
            assert!(Kind::parse(wrong).is_err(), "{wrong}");
        }
    }
}
