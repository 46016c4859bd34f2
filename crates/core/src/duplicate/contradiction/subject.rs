//! What two statements are about: whether it is the same thing.

use std::collections::HashMap;

use super::{super::reading::Unit, Axis, Contradiction, lexicon, polar::Polarity, statement::Statement};

/// What two statements are about, and what only one of them is about.
pub(super) struct Subject {
    words: String,
    /// Weight of the content both have.
    pub(super) shared: f64,
    /// Weight of the content that only the first has, and only the second.
    own: (f64, f64),
}

impl Subject {
    /// Words that stand against each other as antonyms belong to neither side's subject.
    pub(super) fn of(a: &Statement, b: &Statement, polar: &Polarity) -> Self {
        let content = |s| content(s).filter(|unit: &&Unit| !polar.holds(&unit.shown));
        let mut counts: HashMap<String, i32> = HashMap::new();
        for unit in content(b) {
            *counts.entry(key(unit)).or_default() += 1;
        }
        let mut common: Vec<&Unit> = Vec::new();
        let mut left: Vec<&Unit> = Vec::new();
        for unit in content(a) {
            match counts.get_mut(&key(unit)) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    common.push(unit);
                }
                _ => left.push(unit),
            }
        }
        let mut right: Vec<&Unit> = Vec::new();
        for unit in content(b) {
            if let Some(count) = counts.get_mut(&key(unit)).filter(|count| **count > 0) {
                *count -= 1;
                right.push(unit);
            }
        }
        drop_inflections(&mut left, &mut right, &mut common);
        let weight = |units: &[&Unit]| units.iter().map(|u| u.weight).sum::<f64>();
        let heavy = |units: &[&Unit]| -> f64 {
            units.iter().filter(|u| !lexicon::is_light(&u.text)).map(|u| u.weight).sum()
        };
        Self { words: words(a, &common), shared: weight(&common), own: (heavy(&left), heavy(&right)) }
    }

    /// Whether both statements are about one thing. `strict` admits no word that only one of them has.
    pub(super) fn is_same(&self, strict: bool) -> bool {
        let (less, more) = (self.own.0.min(self.own.1), self.own.0.max(self.own.1));
        let allowed = if strict { 0.0 } else { self.shared * ONE_SIDED };
        self.shared >= MIN_SHARED && less <= 0.0 && more <= allowed
    }

    pub(super) fn contradiction(&self, axis: Axis, a: &str, b: &str, certainty: f64) -> Contradiction {
        let whole = self.shared + self.own.0 + self.own.1;
        let overlap = if whole > 0.0 { self.shared / whole } else { 0.0 };
        let score = (certainty * (0.5 + 0.5 * overlap) * 100.0).round() / 100.0;
        Contradiction { axis, subject: self.words.clone(), a: a.to_owned(), b: b.to_owned(), score }
    }
}

/// Less shared content than one Chinese character is no subject; an English word weighs 1.
pub(super) const MIN_SHARED: f64 = 0.45;
/// How much content one of the statements may have alone, against what both share.
const ONE_SIDED: f64 = 0.24;

fn content(statement: &Statement) -> impl Iterator<Item = &Unit> {
    statement.reading.units.iter().filter(|unit| !unit.function)
}

/// Hangul syllables count without their final consonant, which belongs to the ending as often as to the word.
fn key(unit: &Unit) -> String {
    let mut chars = unit.text.chars();
    match (chars.next(), chars.next()) {
        (Some(c @ '\u{ac00}'..='\u{d7a3}'), None) => {
            let open = (c as u32 - 0xac00) / 28 * 28 + 0xac00;
            char::from_u32(open).unwrap_or(c).to_string()
        }
        // Who does a thing is not the thing: an indexer and an index.
        _ if is_agent(unit) => format!("{}er", unit.text),
        _ => unit.text.to_string(),
    }
}

fn is_agent(unit: &Unit) -> bool {
    let one = unit.shown.strip_suffix('s').unwrap_or(&unit.shown);
    one.is_ascii() && one.ends_with("er") && !unit.text.ends_with("er")
}

/// Moves forms of one word from what differs to what is common.
fn drop_inflections<'a>(left: &mut Vec<&'a Unit>, right: &mut Vec<&'a Unit>, common: &mut Vec<&'a Unit>) {
    const MOST: usize = 16;
    if left.len() > MOST || right.len() > MOST {
        return;
    }
    left.retain(|a| {
        let same = right.iter().position(|b| {
            let shared = a.text.chars().zip(b.text.chars()).take_while(|(x, y)| x == y).count();
            shared >= 4 && is_agent(a) == is_agent(b) && a.text.len().max(b.text.len()) <= shared + 3
        });
        if let Some(at) = same {
            right.remove(at);
            common.push(a);
        }
        same.is_none()
    });
}

/// The shared words in order. Characters that only carry grammar stay where they stand between two of them.
fn words(statement: &Statement, shared: &[&Unit]) -> String {
    let is_shared = |unit: &Unit| shared.iter().any(|s| std::ptr::eq(*s, unit));
    let wide = |text: &str| text.chars().next_back().is_some_and(|c| !c.is_ascii());
    let mut out = String::new();
    let mut between = String::new();
    for unit in &statement.reading.units {
        if is_shared(unit) {
            let joins = wide(&out) && wide(&unit.text);
            if joins {
                out.push_str(&between);
            } else if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(&unit.shown);
            between.clear();
        } else if unit.function && wide(&unit.text) {
            between.push_str(&unit.shown);
        } else {
            between.clear();
        }
    }
    out
}
