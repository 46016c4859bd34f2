//! Which kinds of entity a type of relation may join: a table, which a configuration may extend.

use std::collections::BTreeMap;

use crate::error::ParseError;

/// The kinds that the built-in relations speak of. Kinds are an open set; these are the known ones.
pub const KINDS: [&str; 9] =
    ["tool", "script", "skill", "incident", "pattern", "decision", "preference", "paper", "concept"];

/// The longest name of a kind or of a type of relation, in characters.
const MAX_WORD: usize = 40;

/// The kinds that an end of a relation admits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ends {
    /// Whatever it is.
    Any,
    /// Only these.
    Only(Vec<String>),
}

impl Ends {
    fn of(kinds: &[&str]) -> Self {
        if kinds.is_empty() { Self::Any } else { Self::Only(kinds.iter().map(|k| (*k).to_owned()).collect()) }
    }

    /// Whether an entity of `kind` may stand here.
    pub fn admits(&self, kind: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Only(kinds) => kinds.iter().any(|k| k == kind),
        }
    }

    /// What is admitted, in words.
    pub fn words(&self) -> String {
        match self {
            Self::Any => "any kind".to_owned(),
            Self::Only(kinds) => kinds.join(", "),
        }
    }
}

/// What a type of relation may join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The kinds it may start from.
    pub from: Ends,
    /// The kinds it may lead to.
    pub to: Ends,
}

/// An end of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Where it starts.
    Source,
    /// Where it leads.
    Target,
}

/// Why a relation may not be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// No such type of relation.
    #[error("unknown relation type: {name}")]
    Unknown {
        /// As given.
        name: String,
        /// The types there are.
        known: String,
    },
    /// The entity's kind does not fit.
    #[error("{label}({kind}) not allowed as {} of {relation}", end.word())]
    Kind {
        /// The entity.
        label: String,
        /// Its kind.
        kind: String,
        /// Which end it would be.
        end: End,
        /// The type of relation.
        relation: String,
        /// The kinds admitted there.
        allowed: String,
    },
}

impl End {
    const fn word(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Target => "target",
        }
    }
}

impl Misfit {
    /// What would be allowed.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { known, .. } => {
                format!("use one of {known}; `[graph.relations.NAME]` in config.toml adds others")
            }
            Self::Kind { end, allowed, .. } => {
                format!("allowed as {}: {allowed}; `entity_add` changes the kind of an entity", end.word())
            }
        }
    }
}

/// An entity as the table looks at it.
#[derive(Debug, Clone, Copy)]
pub struct Party<'a> {
    /// Its label, for messages.
    pub label: &'a str,
    /// Its kind.
    pub kind: &'a str,
}

/// The table of relations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraints {
    rules: BTreeMap<String, Rule>,
}

/// The built-in table: name, kinds to start from, kinds to lead to; none is any.
const BUILT_IN: [(&str, &[&str], &[&str]); 11] = [
    ("belongs_to", &[], &[]),
    ("caused", &["decision", "pattern"], &["incident"]),
    ("cites", &["paper"], &["paper"]),
    ("contradicts", &["decision", "pattern", "preference"], &["decision", "pattern", "preference"]),
    ("depends_on", &[], &["tool", "script", "skill"]),
    ("fixed_by", &["incident"], &["pattern", "decision"]),
    ("implements", &["script"], &["pattern", "decision"]),
    ("led_to", &["decision", "pattern", "preference"], &["decision", "pattern", "preference"]),
    ("references", &[], &[]),
    ("relates_to", &[], &[]),
    ("subtype_of", &[], &[]),
];

impl Default for Constraints {
    fn default() -> Self {
        let rule = |(name, from, to): &(&str, &[&str], &[&str])| {
            ((*name).to_owned(), Rule { from: Ends::of(from), to: Ends::of(to) })
        };
        Self { rules: BUILT_IN.iter().map(rule).collect() }
    }
}

impl Constraints {
    /// The rule of a type of relation.
    pub fn rule(&self, relation: &str) -> Option<&Rule> {
        self.rules.get(relation)
    }

    /// All types of relation with their rules, by name.
    pub fn rules(&self) -> impl Iterator<Item = (&str, &Rule)> {
        self.rules.iter().map(|(name, rule)| (name.as_str(), rule))
    }

    /// Adds a type of relation, or kinds of one's own to a built-in one; no kinds at an end is any kind.
    ///
    /// What the built-in table says about the kinds it knows holds: a built-in relation may be opened to kinds
    /// that are not among [`KINDS`], never to one of those that the table keeps out, and never to all.
    ///
    /// # Errors
    /// When a word is not well formed, or the built-in table would be loosened.
    pub fn extend(&mut self, relation: &str, from: &[String], to: &[String]) -> Result<(), ParseError> {
        let name = relation_word(relation)?;
        let (from, to) = (kinds(from)?, kinds(to)?);
        let built_in = BUILT_IN.iter().any(|(known, ..)| *known == name);
        if let (true, Some(rule)) = (built_in, self.rules.get_mut(&name)) {
            open(&name, &mut rule.from, from)?;
            return open(&name, &mut rule.to, to);
        }
        let ends = |kinds: Vec<String>| if kinds.is_empty() { Ends::Any } else { Ends::Only(kinds) };
        self.rules.insert(name, Rule { from: ends(from), to: ends(to) });
        Ok(())
    }

    /// Whether `source` may be related so to `target`.
    pub fn check(&self, relation: &str, source: Party<'_>, target: Party<'_>) -> Result<(), Misfit> {
        let rule = self.rules.get(relation).ok_or_else(|| Misfit::Unknown {
            name: relation.to_owned(),
            known: self.rules.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
        })?;
        for (end, party, ends) in [(End::Source, source, &rule.from), (End::Target, target, &rule.to)] {
            if !ends.admits(party.kind) {
                return Err(Misfit::Kind {
                    label: party.label.to_owned(),
                    kind: party.kind.to_owned(),
                    end,
                    relation: relation.to_owned(),
                    allowed: ends.words(),
                });
            }
        }
        Ok(())
    }
}

/// Adds kinds to an end of a built-in relation.
fn open(relation: &str, ends: &mut Ends, added: Vec<String>) -> Result<(), ParseError> {
    let Ends::Only(kinds) = ends else { return Ok(()) };
    for kind in added {
        if kinds.contains(&kind) {
            continue;
        }
        if KINDS.contains(&kind.as_str()) {
            let hint = format!(
                "the built-in `{relation}` keeps `{kind}` out; it may be opened to kinds of your own, or name a relation \
                 of your own"
            );
            return Err(ParseError::new("kind for this end of a built-in relation", &kind, hint));
        }
        kinds.push(kind);
    }
    Ok(())
}

fn kinds(words: &[String]) -> Result<Vec<String>, ParseError> {
    words.iter().map(|word| kind_word(word)).collect()
}

/// Parses the kind of an entity: one lower-case word of letters, digits, `_` or `-`.
pub fn kind_word(text: &str) -> Result<String, ParseError> {
    let hint = format!("a kind is one word of at most {MAX_WORD} letters; known: {}", KINDS.join(", "));
    word(text, "kind of entity", hint)
}

/// Parses the name of a type of relation, by the same rule.
pub fn relation_word(text: &str) -> Result<String, ParseError> {
    word(
        text,
        "relation type",
        format!("a relation type is one word of at most {MAX_WORD} letters, such as caused"),
    )
}

fn word(text: &str, what: &'static str, hint: String) -> Result<String, ParseError> {
    let word = text.trim().to_lowercase();
    let fits = !word.is_empty()
        && word.chars().count() <= MAX_WORD
        && word.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if fits { Ok(word) } else { Err(ParseError::new(what, text, hint)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn party(kind: &str) -> Party<'_> {
        Party { label: "it", kind }
    }

    #[test]
    fn the_table_is_as_published() {
        let table = Constraints::default();
        for (relation, from, to, fits) in [
            ("fixed_by", "incident", "pattern", true),
            ("fixed_by", "tool", "pattern", false),
            ("fixed_by", "incident", "tool", false),
            ("depends_on", "pattern", "tool", true),
            ("depends_on", "pattern", "incident", false),
            ("caused", "pattern", "incident", true),
            ("caused", "incident", "incident", false),
            ("relates_to", "anything", "else", true),
        ] {
            assert_eq!(table.check(relation, party(from), party(to)).is_ok(), fits, "{from} {relation} {to}");
        }
        let wrong = table.check("fixed_by", party("tool"), party("pattern")).expect_err("not a source");
        assert_eq!(wrong.to_string(), "it(tool) not allowed as source of fixed_by");
        assert!(wrong.hint().contains("incident"));
        let unknown = table.check("likes", party("tool"), party("tool")).expect_err("no such type");
        assert_eq!(unknown.to_string(), "unknown relation type: likes");
        assert!(unknown.hint().contains("depends_on"));
    }

    #[test]
    fn a_configuration_adds_and_never_loosens() {
        let mut table = Constraints::default();
        let list = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        table.extend("runs_on", &list(&["service"]), &list(&["host"])).expect("a new type");
        assert!(table.check("runs_on", party("service"), party("host")).is_ok());
        assert!(table.check("runs_on", party("host"), party("host")).is_err());
        table.extend("depends_on", &[], &list(&["service"])).expect("a kind of one's own");
        assert!(table.check("depends_on", party("tool"), party("service")).is_ok());
        assert!(table.check("depends_on", party("tool"), party("incident")).is_err());
        assert!(table.extend("depends_on", &[], &list(&["incident"])).is_err());
        assert!(table.extend("caused", &[], &[]).is_ok());
        assert!(table.check("caused", party("tool"), party("incident")).is_err(), "no kinds loosen nothing");
        assert!(table.extend("two words", &[], &[]).is_err());
    }
}
