//! What a write does to the sections that are there: the answer depends on texts alone.
//!
//! A value that changed is never a duplicate, and text that would be lost is never replaced: then the caller is
//! asked to fuse the two.

mod likest;
mod lines;
mod statements;
mod things;

pub use self::lines::{contains_block, missing_lines};
use self::{
    likest::likest,
    statements::covers,
    things::{is_about_one_thing, is_of_another_thing, names_two_things},
};
use super::{meaning::Bands, words::Words};
use crate::{
    duplicate::{Difference, Readings, Verdict},
    markdown::heading_key,
};

/// How a caller wants its text written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Replace what says the same, add what is new.
    Upsert,
    /// Add in any case; only a block that is there already is not added twice.
    Append,
    /// Add the lines that are missing.
    Merge,
}

impl Mode {
    /// Reads the word of the interface.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Upsert, Self::Append, Self::Merge].into_iter().find(|mode| mode.as_str() == word)
    }

    /// The word of the interface.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Upsert => "upsert",
            Self::Append => "append",
            Self::Merge => "merge",
        }
    }
}

/// A section that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known<'a> {
    /// Its heading without marks.
    pub heading: &'a str,
    /// Its text.
    pub body: &'a str,
}

/// A neighbour by meaning that a model found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// Its position among the known sections.
    pub index: usize,
    /// Cosine of the two vectors.
    pub cosine: f64,
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Add a section at the end of the file.
    Create,
    /// Add the text to the section at this position.
    Append(usize),
    /// Add these lines to the section at this position.
    Merge(usize, String),
    /// Replace the text of the section at this position: everything it says is said again, or has a new value.
    Replace(usize),
    /// Nothing: the section at this position says it already.
    Skip(usize),
    /// Ask for one text that says what both say: nothing is written until the caller sends it.
    DeferFusion(usize),
}

/// The decision over a write, and what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolution {
    /// What to do.
    pub action: Action,
    /// The likest section, when one is like the new text at all.
    pub likest: Option<Likeness>,
}

/// How a known section stands to the new text.
#[derive(Debug, Clone, PartialEq)]
pub struct Likeness {
    /// Its position among the known sections.
    pub index: usize,
    /// 0 to 1: the overlap of words, or the cosine when meaning found it.
    pub similarity: f64,
    /// The cosine of the two, where it is known and says that they are near.
    pub cosine: Option<f64>,
    /// By wording; [`Verdict::Different`] when only meaning found it.
    pub verdict: Verdict,
    /// The values that differ.
    pub differences: Vec<Difference>,
}

/// Resolves a write of `content` under `heading` against the sections of the same file.
///
/// Wording goes before meaning. `neighbours` may be empty: then wording alone decides. A comparison takes some 50 µs for a
/// few lines, most of it for reading them; `readings` keeps what was read.
pub fn resolve(
    mode: Mode,
    heading: &str,
    content: &str,
    known: &[Known<'_>],
    (neighbours, bands): (&[Neighbour], &Bands),
    readings: &Readings,
) -> Resolution {
    let key = heading_key(heading);
    let target = known.iter().position(|section| heading_key(section.heading) == key);
    if let Some(index) = target.filter(|index| contains_block(known[*index].body, content)) {
        let similarity = 1.0;
        let (verdict, differences) = (Verdict::Same, Vec::new());
        let likest = Likeness { index, similarity, cosine: None, verdict, differences };
        return Resolution { action: Action::Skip(index), likest: Some(likest) };
    }
    let likest = likest(target, content, known, (neighbours, bands), readings);
    let action = match mode {
        Mode::Append => target.map_or(Action::Create, Action::Append),
        Mode::Merge => merge(target, content, known, likest.as_ref(), bands),
        Mode::Upsert => upsert((target, content), known, likest.as_ref(), bands, readings),
    };
    Resolution { action, likest }
}

fn merge(
    target: Option<usize>,
    content: &str,
    known: &[Known<'_>],
    likest: Option<&Likeness>,
    bands: &Bands,
) -> Action {
    let Some(index) = target else {
        let same = |like: &&Likeness| like.verdict == Verdict::Same || is_said(like, content, known, bands);
        return likest.filter(same).map_or(Action::Create, |like| Action::Skip(like.index));
    };
    merge_into(index, content, known)
}

fn merge_into(index: usize, content: &str, known: &[Known<'_>]) -> Action {
    let missing = missing_lines(known[index].body, content);
    if missing.is_empty() { Action::Skip(index) } else { Action::Merge(index, missing) }
}

fn upsert(
    (target, content): (Option<usize>, &str),
    known: &[Known<'_>],
    likest: Option<&Likeness>,
    bands: &Bands,
    readings: &Readings,
) -> Action {
    let fresh = target.map_or(Action::Create, Action::Append);
    let Some(like) = likest else { return fresh };
    let is_target = target == Some(like.index);
    match like.verdict {
        Verdict::Same => Action::Skip(like.index),
        Verdict::ChangedValue | Verdict::Opposed
            if is_target
                && is_about_one_thing(&like.differences)
                && covers(content, known[like.index].body, readings) =>
        {
            Action::Replace(like.index)
        }
        Verdict::ChangedValue if !is_target && is_of_another_thing(&like.differences) => fresh,
        Verdict::NearDuplicate | Verdict::Different if is_said(like, content, known, bands) => {
            Action::Skip(like.index)
        }
        Verdict::ChangedValue | Verdict::Opposed | Verdict::NearDuplicate => Action::DeferFusion(like.index),
        Verdict::Different if names_two_things(&like.differences) => fresh,
        Verdict::Different if like.is_from(bands.fuse) => Action::DeferFusion(like.index),
        Verdict::Different if is_target && like.is_from(bands.merge) => {
            merge_into(like.index, content, known)
        }
        Verdict::Different => fresh,
    }
}

/// Whether the section says the text already: it means the same, has its every word, and no value, name or negation
/// differs. A text that brings a word of its own may say something new, however near it is.
fn is_said(like: &Likeness, content: &str, known: &[Known<'_>], bands: &Bands) -> bool {
    like.is_from(bands.skip)
        && like.differences.is_empty()
        && Words::of(known[like.index].body).has_all_of(&Words::of(content))
}

impl Likeness {
    /// Whether the two are at least this near in meaning.
    fn is_from(&self, least: f64) -> bool {
        self.cosine.is_some_and(|cosine| cosine >= least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POOL: &str = "PostgreSQL 15 on prod-db:5432, connection pool: 20 max";

    fn action(mode: Mode, heading: &str, content: &str, known: &[(&str, &str)]) -> Action {
        let known: Vec<Known<'_>> = known.iter().map(|(heading, body)| Known { heading, body }).collect();
        resolve(mode, heading, content, &known, (&[], &Bands::default()), &Readings::default()).action
    }

    #[test]
    fn the_same_text_again_is_skipped_in_every_mode() {
        for mode in [Mode::Upsert, Mode::Append, Mode::Merge] {
            let known = [
                ("Cache", "Redis 7"),
                ("Database", "intro\n\nPostgreSQL 15 on prod-db:5432, connection pool: 20 max  "),
            ];
            assert_eq!(action(mode, "database", POOL, &known), Action::Skip(1), "{mode:?}");
        }
    }

    #[test]
    fn a_short_text_is_no_duplicate_of_a_longer_one() {
        assert_eq!(action(Mode::Upsert, "Port", "5432", &[("Database", POOL)]), Action::Create);
        assert_eq!(action(Mode::Upsert, "Database", "5432", &[("Database", POOL)]), Action::Append(0));
    }

    /// Of a list of values nothing but its name is shared: with four of them that is a fifth of the words.
    #[test]
    fn texts_that_share_less_than_a_fifth_of_their_words_are_not_compared() {
        let values = |from: usize, count: usize| {
            let values: Vec<String> = (from..from + count).map(|value| value.to_string()).collect();
            format!("limits {}", values.join(" "))
        };
        let found = |count: usize| {
            let known = values(11, count);
            action(Mode::Upsert, "New", &values(51, count), &[("Old", &known)])
        };
        assert_eq!(found(4), Action::DeferFusion(0));
        assert_eq!(found(5), Action::Create);
    }

    #[test]
    fn append_appends_and_merge_adds_what_is_missing() {
        let similar = "PostgreSQL 15 on prod-db:5432, with a connection pool: 20 max";
        assert_eq!(action(Mode::Append, "Database", similar, &[("Database", POOL)]), Action::Append(0));
        let known = [("Hosts", "- alpha\n- Beta\n")];
        let merged = action(Mode::Merge, "hosts", "* beta\n1. gamma\n2) ALPHA\ndelta", &known);
        assert_eq!(merged, Action::Merge(0, "1. gamma\ndelta".to_owned()));
        assert_eq!(action(Mode::Merge, "hosts", "beta\n\n# alpha", &known), Action::Skip(0));
        assert_eq!(action(Mode::Merge, "New", "x", &known), Action::Create);
    }

    #[test]
    fn likeness_to_one_section_does_not_replace_another() {
        let known = [("Database", POOL), ("Cache", "Redis 7 keeps sessions for 30 minutes.")];
        let like_database = "PostgreSQL 15 on prod-db:5432, its connection pool: 20 max";
        let found = action(Mode::Upsert, "Cache", like_database, &known);
        assert!(matches!(found, Action::DeferFusion(0) | Action::Append(1)), "{found:?}");
    }

    #[test]
    fn a_changed_value_replaces_only_what_is_said_again() {
        let changed = POOL.replace("20", "40");
        assert_eq!(action(Mode::Upsert, "Database", &changed, &[("Database", POOL)]), Action::Replace(0));
        let more = format!("{POOL}\nBackups run nightly to the archive bucket.");
        assert_eq!(
            action(Mode::Upsert, "Database", &changed, &[("Database", &more)]),
            Action::DeferFusion(0)
        );
        let both = format!("{changed}\nBackups run nightly to the archive bucket.");
        assert_eq!(action(Mode::Upsert, "Database", &both, &[("Database", &more)]), Action::Replace(0));
        assert_eq!(action(Mode::Upsert, "Pool", &changed, &[("Database", POOL)]), Action::DeferFusion(0));
    }

    #[test]
    fn another_name_is_another_thing() {
        let known = [("Ports", "PostgreSQL listens on db-1:5432")];
        let found = action(Mode::Upsert, "Ports", "Redis listens on cache-1:6379", &known);
        assert!(matches!(found, Action::DeferFusion(0) | Action::Append(0)), "{found:?}");
    }

    #[test]
    fn nearly_the_same_text_asks_for_a_fusion() {
        let near = "The PostgreSQL 15 on prod-db:5432 has a connection pool: 20 max";
        assert_eq!(action(Mode::Upsert, "Database", near, &[("Database", POOL)]), Action::DeferFusion(0));
    }

    /// What is done about a text under another heading than the one that stands there, when the two have this cosine.
    fn near(content: &str, body: &str, cosine: f64) -> Action {
        let known = [Known { heading: "Diet", body }];
        let hit = [Neighbour { index: 0, cosine }];
        resolve(Mode::Upsert, "Food", content, &known, (&hit, &Bands::default()), &Readings::default()).action
    }

    #[test]
    fn what_is_near_in_meaning_asks_for_a_fusion() {
        let (old, new) = ("The user is vegetarian.", "Meat is never on the menu here.");
        assert_eq!(near(new, old, 0.81), Action::DeferFusion(0));
        assert_eq!(near(new, old, 0.99), Action::DeferFusion(0), "it has words of its own");
        assert_eq!(near(new, old, 0.71), Action::Create);
        let known = [Known { heading: "Diet", body: old }];
        let under_it = |cosine| {
            let hit = [Neighbour { index: 0, cosine }];
            resolve(Mode::Upsert, "diet", new, &known, (&hit, &Bands::default()), &Readings::default())
        };
        assert_eq!(under_it(0.54).action, Action::Append(0));
        assert_eq!(under_it(0.6).action, Action::Merge(0, new.to_owned()));
        assert_eq!(under_it(0.8).action, Action::DeferFusion(0));
        assert_eq!(under_it(0.8).likest.and_then(|like| like.cosine), Some(0.8));
    }

    #[test]
    fn meaning_makes_no_duplicate_of_another_value_or_thing() {
        let old = "The gateway listens on port 8080 and trusts the proxy.";
        let other = "The gateway listens on port 8081 and trusts the proxy.";
        assert_eq!(near(other, old, 1.0), Action::DeferFusion(0));
        assert_eq!(near("It is port 8081 that the gateway has.", old, 0.97), Action::DeferFusion(0));
        let (one, two) =
            ("Nightly dumps of orders go to db-7:5432.", "For customers, db-9:5432 takes each dump.");
        assert_eq!(near(two, one, 0.9), Action::Create, "each names a host of its own");
    }

    #[test]
    fn a_text_without_a_word_of_its_own_is_said_already() {
        let old = "Invoices are sent on Mondays by the mailer. Receipts are kept by the archive.";
        let new = "Receipts are kept by the archive. Invoices are sent by the mailer on Mondays.";
        assert_eq!(near(new, old, 0.97), Action::Skip(0));
        assert_eq!(near(new, old, 0.9), Action::DeferFusion(0));
        assert_eq!(near(&new.replace("kept", "safely kept"), old, 0.97), Action::DeferFusion(0));
        let known = [Known { heading: "Diet", body: old }];
        let hit = [Neighbour { index: 0, cosine: 0.97 }];
        let found =
            resolve(Mode::Merge, "Food", new, &known, (&hit, &Bands::default()), &Readings::default());
        assert_eq!(found.action, Action::Skip(0));
    }

    #[test]
    fn chinese_values_count_too() {
        let known = [("端口", "网关监听 8080 端口")];
        assert_eq!(action(Mode::Upsert, "端口", "网关监听 9090 端口", &known), Action::Replace(0));
        assert_eq!(action(Mode::Upsert, "端口", "日志保留三十天", &known), Action::Append(0));
    }
}
