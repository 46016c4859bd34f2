//! Texts compared statement by statement.

use std::cell::OnceCell;

use super::things::is_about_one_thing;
use crate::{
    duplicate::{Comparison, Prepared, Readings, Verdict},
    knowledge::words::Words,
};

/// Most statements of the new and of the old text that are compared one by one.
const MAX_STATEMENTS: (usize, usize) = (24, 96);

/// A statement of `old` that `new` makes again with another value, where the texts as wholes are different.
pub(super) fn changed_statement(new: &str, old: &str, readings: &Readings) -> Option<Comparison> {
    let old: Vec<Statement<'_>> = Statement::all(old).take(MAX_STATEMENTS.1).collect();
    let new: Vec<Statement<'_>> = Statement::all(new).take(MAX_STATEMENTS.0).collect();
    let near =
        |new| old.iter().filter(move |old: &&Statement<'_>| old.is_near(new)).map(move |old| (new, old));
    let pairs = new.iter().flat_map(near);
    pairs.filter_map(|(new, old)| new.read(readings).compare_if_like(old.read(readings))).find(|found| {
        let changed = matches!(found.verdict, Verdict::ChangedValue | Verdict::Opposed);
        changed && is_about_one_thing(&found.differences)
    })
}

/// Whether every statement of `old` is made again in `new`, be it with another value. Of long texts it is not known.
pub(super) fn covers(new: &str, old: &str, readings: &Readings) -> bool {
    let new: Vec<Statement<'_>> = Statement::all(new).take(MAX_STATEMENTS.1 + 1).collect();
    let old: Vec<Statement<'_>> = Statement::all(old).take(MAX_STATEMENTS.1 + 1).collect();
    if new.len().max(old.len()) > MAX_STATEMENTS.1 {
        return false;
    }
    let says = |new: &Statement<'_>, old: &Statement<'_>| {
        old.is_near(new) && new.read(readings).compare_if_like(old.read(readings)).is_some()
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

    fn read(&self, readings: &Readings) -> &Prepared<'t> {
        self.read.get_or_init(|| readings.read(self.text))
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
