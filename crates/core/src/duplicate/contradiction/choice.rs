//! Another thing chosen for the same place: use pnpm, use yarn.

use super::{
    super::{
        exchange,
        reading::{Reading, Unit},
    },
    lexicon::{self, Sense},
    statement::Statement,
};

/// Words before an exchanged word that make it a circumstance, not what was chosen.
const CIRCUMSTANCE: [&str; 7] = ["for", "of", "when", "if", "during", "from", "and"];

/// How much of the wording around the two things has to be shared.
const SAME_FRAME: f64 = 0.6;

/// Content behind a name that was chosen: the verb. With more, or with a value, the name is what the statement is
/// about.
const MAX_AFTER: f64 = 1.0;

/// The two things, and how sure it is that they exclude each other.
pub(super) struct Choice {
    pub(super) a: String,
    pub(super) b: String,
    pub(super) certainty: f64,
}

/// What `b` puts in the one place where it differs from `a`, if only one thing can stand there.
pub(super) fn exclusive(a: &Statement, b: &Statement) -> Option<Choice> {
    if a.has(Sense::Inclusive) || b.has(Sense::Inclusive) {
        return None;
    }
    let alignment = exchange::align(&a.reading.units, &b.reading.units);
    let [(x, y)] = alignment.exchanges.as_slice() else { return None };
    let (x, y) = (content(x), content(y));
    if alignment.around_one_exchange() < SAME_FRAME {
        return None;
    }
    if x.is_empty() || y.is_empty() || weight(&x) > 3.0 || weight(&y) > 3.0 {
        return None;
    }
    let start = a.reading.units.iter().position(|unit| std::ptr::eq(unit, x[0]))?;
    let before = &a.reading.units[..start];
    if before.last().is_some_and(|unit| CIRCUMSTANCE.contains(&&*unit.shown)) {
        return None;
    }
    let (left, right) = (spelled(&x), spelled(&y));
    let named = x.iter().all(|u| is_name(&a.reading, u)) && y.iter().all(|u| is_name(&b.reading, u));
    let after =
        a.reading.units[start..].iter().filter(|u| !u.function && !x.iter().any(|v| std::ptr::eq(*v, *u)));
    let closes = after.map(|u| u.weight).sum::<f64>() <= MAX_AFTER && a.values.is_empty();
    let told = before.iter().filter(|u| !u.function).map(|u| u.weight).sum::<f64>() >= 1.0;
    let certainty = if lexicon::alternatives(&left, &right) {
        0.9
    } else if !told {
        return None;
    } else if a.has(Sense::Exclusive) && b.has(Sense::Exclusive) {
        0.85
    } else if named && closes {
        0.75
    } else {
        return None;
    };
    Some(Choice { a: left, b: right, certainty })
}

fn content<'a>(units: &[&'a Unit]) -> Vec<&'a Unit> {
    units.iter().filter(|unit| !unit.function && !lexicon::is_light(&unit.text)).copied().collect()
}

fn weight(units: &[&Unit]) -> f64 {
    units.iter().map(|unit| unit.weight).sum()
}

/// Words as written, in small letters.
fn spelled(units: &[&Unit]) -> String {
    let wide = units.iter().all(|unit| !unit.text.is_ascii());
    let words: Vec<&str> = units.iter().map(|unit| &*unit.shown).collect();
    words.join(if wide { "" } else { " " })
}

/// A name, or a word in Latin letters among Chinese, Japanese or Korean ones.
fn is_name(reading: &Reading, unit: &Unit) -> bool {
    let foreign = unit.text.is_ascii() && reading.units.iter().any(|u| !u.text.is_ascii());
    unit.name || foreign
}
