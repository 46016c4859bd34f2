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

/// Whether every statement of `old` is made again in `new`, be it with another value. One statement takes the place of one: what
/// two of `old` say of two things is not said by one of them with a new value. Of long texts it is not known.
pub(super) fn covers(new: &str, old: &str, readings: &Readings) -> bool {
    let new: Vec<Statement<'_>> = Statement::all(new).take(MAX_STATEMENTS.1 + 1).collect();
    let old: Vec<Statement<'_>> = Statement::all(old).take(MAX_STATEMENTS.1 + 1).collect();
    if new.len().max(old.len()) > MAX_STATEMENTS.1 {
        return false;
    }
    let mut taken = vec![false; new.len()];
    let mut changed = Vec::new();
    for old in &old {
        let likes = new
            .iter()
            .enumerate()
            .filter(|(_, new)| old.is_near(new))
            .filter_map(|(at, new)| Some((at, new.read(readings).compare_if_like(old.read(readings))?)));
        let likes: Vec<(usize, Comparison)> = likes.collect();
        match likes.iter().find(|(_, like)| matches!(like.verdict, Verdict::Same | Verdict::NearDuplicate)) {
            Some((at, _)) => taken[*at] = true,
            None => {
                let about_one = likes.iter().filter(|(_, like)| is_about_one_thing(&like.differences));
                changed.push(about_one.map(|(at, _)| *at).collect::<Vec<_>>());
            }
        }
    }
    let mut by = vec![None; new.len()];
    (0..changed.len()).all(|old| takes_place(old, &changed, &taken, &mut by, &mut vec![false; new.len()]))
}

/// Finds a new statement for an old one that has another value now, moving others to their second choices where that helps:
/// augmenting paths, as for any matching of two sides.
fn takes_place(
    old: usize,
    choices: &[Vec<usize>],
    taken: &[bool],
    by: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    choices[old].iter().any(|&new| {
        if taken[new] || std::mem::replace(&mut tried[new], true) {
            return false;
        }
        let is_free = by[new].is_none_or(|other| takes_place(other, choices, taken, by, tried));
        if is_free {
            by[new] = Some(old);
        }
        is_free
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn is_covered(new: &str, old: &str) -> bool {
        covers(new, old, &Readings::default())
    }

    #[test]
    fn one_statement_takes_the_place_of_one() {
        for (old, new) in [
            ("Staging has 20 connections. Production has 50 connections.", "Staging has 30 connections."),
            ("Alice is on call Monday. Bob is on call Tuesday.", "Alice is on call Friday."),
            ("EU region: 3 nodes. US region: 5 nodes. APAC region: 7 nodes.", "EU region: 4 nodes."),
            ("- eu timeout 30 s\n- us timeout 40 s", "- eu timeout 35 s"),
            ("Tokens live 15 minutes.\n\nRefresh tokens live 30 days.", "Tokens live 20 minutes."),
            ("Server a1 has 16 GB. Server b2 has 32 GB.", "Server a1 has 64 GB."),
            ("测试环境有20个连接。生产环境有50个连接。", "测试环境有30个连接。"),
        ] {
            assert!(!is_covered(new, old), "{old} | {new}");
        }
        for (old, new) in [
            ("Staging has 20 connections.", "Staging has 30 connections."),
            (
                "Staging has 20 connections. Production has 50 connections.",
                "Staging has 30 connections. Production has 50 connections.",
            ),
            ("- eu timeout 30 s\n- us timeout 40 s", "- eu timeout 35 s\n- us timeout 45 s"),
            ("测试环境有20个连接。生产环境有50个连接。", "生产环境有60个连接。测试环境有30个连接。"),
        ] {
            assert!(is_covered(new, old), "{old} | {new}");
        }
    }
}
