//! What a write does to the sections that are there: the answer depends on texts alone.
//!
//! A value that changed is never a duplicate, and text that would be lost is never replaced: then the caller is
//! asked to fuse the two.

use std::cell::OnceCell;

use super::{meaning::Bands, words::Words};
use crate::{
    duplicate::{Comparison, Difference, DifferenceKind, Prepared, Readings, Verdict},
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
        Mode::Upsert => upsert(target, content, known, likest.as_ref(), bands),
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
    target: Option<usize>,
    content: &str,
    known: &[Known<'_>],
    likest: Option<&Likeness>,
    bands: &Bands,
) -> Action {
    let fresh = target.map_or(Action::Create, Action::Append);
    let Some(like) = likest else { return fresh };
    let is_target = target == Some(like.index);
    match like.verdict {
        Verdict::Same => Action::Skip(like.index),
        Verdict::ChangedValue | Verdict::Opposed
            if is_target
                && is_about_one_thing(&like.differences)
                && covers(content, known[like.index].body) =>
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

/// The section that is most like the text: the target before others, wording before meaning.
fn likest(
    target: Option<usize>,
    content: &str,
    known: &[Known<'_>],
    (neighbours, bands): (&[Neighbour], &Bands),
    readings: &Readings,
) -> Option<Likeness> {
    let text = Prepared::new(content);
    let cosine_of = |index: usize| {
        let near = neighbours.iter().find(|near| near.index == index)?;
        (near.cosine >= bands.merge).then_some(near.cosine)
    };
    let read = |index: usize| {
        let found = text.compare(&readings.read(known[index].body));
        Likeness { cosine: cosine_of(index), ..like(index, &found) }
    };
    let clash = |index: usize| {
        let found = changed_statement(content, known[index].body)?;
        Some(Likeness { cosine: cosine_of(index), ..like(index, &found) })
    };
    let of_target = target.map(read).filter(|like| like.verdict != Verdict::Different);
    if let Some(found) = of_target.or_else(|| target.and_then(clash)) {
        return Some(found);
    }
    let worded = nearest(target, content, known)
        .into_iter()
        .map(read)
        .filter(|like| like.verdict != Verdict::Different);
    let by_words = worded.max_by(|a, b| rank(a).cmp(&rank(b)).then(a.similarity.total_cmp(&b.similarity)));
    by_words.or_else(|| {
        let mut near: Vec<Likeness> = by_meaning(target, known.len(), neighbours, bands)
            .into_iter()
            .map(|near| Likeness { similarity: near.cosine, verdict: Verdict::Different, ..read(near.index) })
            .collect();
        let one = near.iter().position(|like| !names_two_things(&like.differences));
        (!near.is_empty()).then(|| near.swap_remove(one.unwrap_or(0)))
    })
}

/// Most sections near in meaning that are looked at.
const MOST_NEAR: usize = 4;

/// The sections that are near in meaning, the nearest first; the target before others where a fusion is to be asked for.
fn by_meaning(
    target: Option<usize>,
    count: usize,
    neighbours: &[Neighbour],
    bands: &Bands,
) -> Vec<Neighbour> {
    let is_near = |near: &&Neighbour| near.index < count && near.cosine >= bands.merge;
    let mut near: Vec<Neighbour> = neighbours.iter().filter(is_near).copied().collect();
    let is_first = |near: &Neighbour| Some(near.index) == target && near.cosine >= bands.fuse;
    near.sort_by(|a, b| is_first(b).cmp(&is_first(a)).then(b.cosine.total_cmp(&a.cosine)));
    near.truncate(MOST_NEAR);
    near
}

/// The share of words in common from which on a section is compared in full. A text that stands whole in one four times as
/// long shares .4 of all their words with it.
const LEAST_SHARE: f64 = 0.2;

/// Most sections beside the target that are compared in full.
const MOST_COMPARED: usize = 12;

/// The sections that share most words with the text, those of quite another length left out.
fn nearest(target: Option<usize>, content: &str, known: &[Known<'_>]) -> Vec<usize> {
    let words = Words::of(content);
    let is_other = |index: &usize| Some(*index) != target && is_comparable(content, known[*index].body);
    let shares = (0..known.len()).filter(is_other).map(|index| (index, words.shared_with(known[index].body)));
    let mut near: Vec<(usize, f64)> = shares.filter(|(_, share)| *share >= LEAST_SHARE).collect();
    near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    near.truncate(MOST_COMPARED);
    near.into_iter().map(|(index, _)| index).collect()
}

/// Whether two texts are of about the same length: with four times as many words, one says more than the other.
fn is_comparable(a: &str, b: &str) -> bool {
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    short > 0 && long / short < 4
}

fn like(index: usize, found: &Comparison) -> Likeness {
    let Comparison { similarity, verdict, differences, .. } = found.clone();
    Likeness { index, similarity, cosine: None, verdict, differences }
}

impl Likeness {
    /// Whether the two are at least this near in meaning.
    fn is_from(&self, least: f64) -> bool {
        self.cosine.is_some_and(|cosine| cosine >= least)
    }
}

fn rank(like: &Likeness) -> u8 {
    match like.verdict {
        Verdict::Same => 3,
        Verdict::NearDuplicate => 2,
        Verdict::ChangedValue | Verdict::Opposed => 1,
        Verdict::Different => 0,
    }
}

/// Whether the two texts differ in values of the same thing. With another name, word, path or identifier they are about two.
fn is_about_one_thing(differences: &[Difference]) -> bool {
    use DifferenceKind::{Identifier, Name, Order, Path, Word};
    differences.iter().all(|found| ![Identifier, Name, Order, Path, Word].contains(&found.kind))
}

/// Whether a text that stands under another heading speaks of another host, name or identifier in the same words: then both are
/// facts of their own.
fn is_of_another_thing(differences: &[Difference]) -> bool {
    use DifferenceKind::{Address, Identifier, Name, Path, Url, Word};
    differences.iter().any(|found| [Address, Identifier, Name, Path, Url, Word].contains(&found.kind))
}

/// Whether each of two texts in quite other words has a host, name or identifier that stands in the other's place: then each is
/// about its own, however near they are.
fn names_two_things(differences: &[Difference]) -> bool {
    use DifferenceKind::{Address, Identifier, Name, Path, Url};
    let both = |found: &&Difference| found.a.is_some() && found.b.is_some();
    differences.iter().filter(both).any(|found| [Address, Identifier, Name, Path, Url].contains(&found.kind))
}

/// Most statements of the new and of the old text that are compared one by one.
const MAX_STATEMENTS: (usize, usize) = (24, 96);

/// A statement of `old` that `new` makes again with another value, where the texts as wholes are different.
fn changed_statement(new: &str, old: &str) -> Option<Comparison> {
    let old: Vec<Statement<'_>> = Statement::all(old).take(MAX_STATEMENTS.1).collect();
    let new: Vec<Statement<'_>> = Statement::all(new).take(MAX_STATEMENTS.0).collect();
    let near =
        |new| old.iter().filter(move |old: &&Statement<'_>| old.is_near(new)).map(move |old| (new, old));
    let pairs = new.iter().flat_map(near);
    pairs.map(|(new, old)| new.read().compare(old.read())).find(|found| {
        let changed = matches!(found.verdict, Verdict::ChangedValue | Verdict::Opposed);
        changed && is_about_one_thing(&found.differences)
    })
}

/// Whether every statement of `old` is made again in `new`, be it with another value. Of long texts it is not known.
fn covers(new: &str, old: &str) -> bool {
    let new: Vec<Statement<'_>> = Statement::all(new).take(MAX_STATEMENTS.1 + 1).collect();
    let old: Vec<Statement<'_>> = Statement::all(old).take(MAX_STATEMENTS.1 + 1).collect();
    if new.len().max(old.len()) > MAX_STATEMENTS.1 {
        return false;
    }
    let says = |new: &Statement<'_>, old: &Statement<'_>| {
        old.is_near(new) && new.read().compare(old.read()).verdict != Verdict::Different
    };
    old.iter().all(|old| new.iter().any(|new| says(new, old)))
}

/// A statement with its words, so that only likely pairs are compared in full.
struct Statement<'t> {
    text: &'t str,
    words: Words,
    read: OnceCell<Prepared<'t>>,
}

impl<'t> Statement<'t> {
    fn all(text: &'t str) -> impl Iterator<Item = Self> {
        statements(text).into_iter().map(|text| Self { text, words: Words::of(text), read: OnceCell::new() })
    }

    fn read(&self) -> &Prepared<'t> {
        self.read.get_or_init(|| Prepared::new(self.text))
    }

    /// Two statements that a comparison does not call different have more than a third of their words in common.
    fn is_near(&self, other: &Statement<'_>) -> bool {
        self.text == other.text || self.words.shared(&other.words) >= LEAST_SHARED
    }
}

/// Statements that share less are not compared.
const LEAST_SHARED: f64 = 0.25;

/// Lines, and the sentences of a line.
fn statements(text: &str) -> Vec<&str> {
    let lines = text.lines();
    let sentences = lines.flat_map(|line| {
        let narrow = line.split(". ").flat_map(|part| part.split("; "));
        narrow.flat_map(|part| part.split(['。', '；', '！', '？']))
    });
    sentences.map(str::trim).filter(|part| part.chars().any(char::is_alphanumeric)).collect()
}

/// Whether the lines of `block` stand one after the other in `body`. Space at the ends of lines does not count.
pub fn contains_block(body: &str, block: &str) -> bool {
    let block = lines_key(block);
    block.trim().is_empty() || lines_key(body).contains(&block)
}

/// The lines without space at their ends, between line breaks, and without the blank ones around.
fn lines_key(text: &str) -> String {
    let mut key = String::with_capacity(text.len() + 2);
    key.push('\n');
    for line in text.trim_end().lines().skip_while(|line| line.trim().is_empty()) {
        key.push_str(line.trim_end());
        key.push('\n');
    }
    key
}

/// The parts of `content` that `body` lacks, in order: lines, compared without list marks, heading marks and letter case. A fenced
/// block or a table is one part; it is added whole when it does not stand in `body` as it is.
pub fn missing_lines(body: &str, content: &str) -> String {
    let key = |part: &str| if part.contains('\n') { lines_key(part) } else { line_key(part) };
    let known: std::collections::HashSet<String> = parts(body).iter().map(|part| key(part)).collect();
    let mut kept = String::new();
    let mut is_parted = false;
    for part in parts(content) {
        if part.trim().is_empty() {
            is_parted = true;
        } else if !known.contains(&key(&part)) {
            if !kept.is_empty() {
                kept.push_str(if is_parted { "\n\n" } else { "\n" });
            }
            kept.push_str(&part);
            is_parted = false;
        }
    }
    kept
}

/// Lines, but fenced blocks and tables whole.
fn parts(content: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut fence: Option<String> = None;
    let mut in_table = false;
    for line in content.lines() {
        let trimmed = line.trim();
        let is_row = fence.is_none() && trimmed.starts_with('|');
        let goes_on = fence.is_some() || (in_table && is_row);
        match fence.take() {
            Some(open) if closes(trimmed, &open) => {}
            Some(open) => fence = Some(open),
            None => fence = opened(trimmed),
        }
        in_table = is_row;
        match parts.last_mut() {
            Some(last) if goes_on => {
                last.push('\n');
                last.push_str(line);
            }
            _ => parts.push(line.to_owned()),
        }
    }
    parts
}

/// The run of marks that a line opens a fenced block with.
fn opened(line: &str) -> Option<String> {
    let mark = line.chars().next().filter(|c| ['`', '~'].contains(c))?;
    let run: String = line.chars().take_while(|c| *c == mark).collect();
    let is_inline = mark == '`' && line[run.len()..].contains('`');
    (run.len() >= 3 && !is_inline).then_some(run)
}

fn closes(line: &str, open: &str) -> bool {
    line.len() >= open.len() && line.starts_with(open) && line.trim_start_matches(&open[..1]).is_empty()
}

fn line_key(line: &str) -> String {
    let mut rest = line.trim().trim_start_matches('#').trim_start();
    let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if let Some(after) = rest.strip_prefix(['-', '*', '+']).filter(|after| after.starts_with(' ')) {
        rest = after;
    } else if digits.len() < rest.len() {
        rest = digits.strip_prefix(['.', ')', '、']).unwrap_or(rest);
    }
    rest.trim().to_lowercase()
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

    #[test]
    fn fences_and_tables_are_merged_whole() {
        let body = "intro\n```sh\nmake\n```";
        let content = "Intro\n\n```sh\nmake\nmake test\n```\n| a |\n|---|\n| 1 |\n";
        assert_eq!(missing_lines(body, content), "```sh\nmake\nmake test\n```\n| a |\n|---|\n| 1 |");
        assert_eq!(missing_lines(content, content), "");
        assert_eq!(missing_lines("", "a\n\nb"), "a\n\nb");
    }
}
