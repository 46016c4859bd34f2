//! Contradictions: two texts that say of one thing what cannot both hold.
//!
//! Each text is read as the statements it makes; questions, headings, code, and what others are reported to say make
//! none. Two statements contradict each other when they are about the same (their words agree but for those that say
//! little), hold in the same place and at the same time, and differ on exactly one axis: a number, a version, a date,
//! a negation, how often, what one must or may, a state, or which of several things was chosen.
//!
//! It rests on wording and knows no world: "vegetarian" and "eats meat" are not seen to oppose each other. When two
//! things differ at once, nothing is reported. Calibrated on the development half of `testdata/contradiction`.

mod amount;
mod candidates;
mod choice;
mod lexicon;
mod polar;
mod stance;
mod statement;
mod subject;

use std::collections::HashMap;

pub use candidates::{Candidates, candidates};

use super::{
    reading::{Role, Token},
    values::Value,
};
use lexicon::Sense;
use polar::Polarity;
use stance::Stance;
use statement::Statement;
use subject::{MIN_SHARED, Subject};

/// What two statements differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Axis {
    /// A number, with its unit where it has one.
    Number,
    /// A version.
    Version,
    /// One denies what the other asserts.
    Negation,
    /// Always, never, or how often.
    Frequency,
    /// Must, must not, may, need not.
    Deontic,
    /// A date or time of day.
    Date,
    /// Enabled or disabled, open or closed.
    State,
    /// Another thing chosen for the same place.
    Choice,
}

impl Axis {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Version => "version",
            Self::Negation => "negation",
            Self::Frequency => "frequency",
            Self::Deontic => "deontic",
            Self::Date => "date",
            Self::State => "state",
            Self::Choice => "choice",
        }
    }
}

/// What cannot both hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    /// What differs.
    pub axis: Axis,
    /// The words both statements share: what they are about.
    pub subject: String,
    /// What the first text says.
    pub a: String,
    /// What the second text says.
    pub b: String,
    /// How sure it is, 0 to 1: how much of the wording is shared, and how plainly the values exclude each other.
    pub score: f64,
}

impl Contradiction {
    fn swapped(self) -> Self {
        Self { a: self.b, b: self.a, ..self }
    }
}

/// A text, read once for many comparisons.
#[derive(Debug)]
pub struct Claims {
    statements: Vec<Statement>,
    /// Decides which of two is looked at first, so that both orders give one answer.
    rank: u64,
}

impl Claims {
    /// Reads a text. Its first 32 statements count.
    pub fn of(text: &str) -> Self {
        Self { statements: statement::statements(text), rank: super::shingle::hash(text.as_bytes()) }
    }
}

/// What two texts contradict each other in; the surest, if there are several.
pub fn find(a: &str, b: &str) -> Option<Contradiction> {
    between(&Claims::of(a), &Claims::of(b))
}

/// Statements of the second text that one of the first is compared with: those that share most words.
const COMPARED: usize = 2;

/// The same as [`find`], of texts that were read before.
pub fn between(a: &Claims, b: &Claims) -> Option<Contradiction> {
    if a.rank > b.rank {
        return between(b, a).map(Contradiction::swapped);
    }
    let mut by_word: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, statement) in b.statements.iter().enumerate() {
        for key in keys(statement) {
            by_word.entry(key).or_default().push(at);
        }
    }
    let mut best: Option<Contradiction> = None;
    for statement in &a.statements {
        let mut shared = vec![0_usize; b.statements.len()];
        for at in keys(statement).iter().filter_map(|key| by_word.get(key)).flatten() {
            shared[*at] += 1;
        }
        let mut order: Vec<usize> = (0..shared.len()).filter(|at| shared[*at] > 0).collect();
        order.sort_by_key(|at| (std::cmp::Reverse(shared[*at]), *at));
        for at in order.into_iter().take(COMPARED) {
            let found = judge(statement, &b.statements[at]);
            if found.as_ref().is_some_and(|f| best.as_ref().is_none_or(|b| f.score > b.score)) {
                best = found;
            }
        }
    }
    best
}

/// Distinct hashes of the words a statement is about.
fn keys(statement: &Statement) -> Vec<u64> {
    let mut keys: Vec<u64> = statement.reading.units.iter().filter(|u| !u.function).map(|u| u.hash).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn judge(a: &Statement, b: &Statement) -> Option<Contradiction> {
    if a.places() != b.places() || a.times() != b.times() || a.numbered != b.numbered {
        return None;
    }
    let conditional = (a.has(Sense::Condition), b.has(Sense::Condition));
    if conditional.0 != conditional.1 {
        return None;
    }
    let polar = Polarity::of(a, b);
    let subject = Subject::of(a, b, &polar);
    let values = Values::of(a, b);
    let strict = conditional.0;
    opposed_values(a, b, &subject, &polar, &values, strict)
        .or_else(|| opposed_periods(a, b, &subject, &polar, &values))
        .or_else(|| opposed_stance(a, b, &subject, &polar, &values, strict))
        .or_else(|| opposed_choice(a, b, &subject, &polar, &values))
}

/// Two values of one sort, and nothing else that differs.
fn opposed_values(
    a: &Statement,
    b: &Statement,
    subject: &Subject,
    polar: &Polarity,
    values: &Values<'_>,
    strict: bool,
) -> Option<Contradiction> {
    let ([x], [y]) = (values.a.as_slice(), values.b.as_slice()) else { return None };
    let same =
        stance::opposition(a, b, polar.turned()).is_none() && polar.unmatched == 0 && polar.pairs.is_empty();
    if !same || !subject.is_same(strict) || a.periods() != b.periods() {
        return None;
    }
    let axis = amount::conflict((a, x), (b, y))?;
    if axis == Axis::Choice && !(follows(a, x) && follows(b, y)) {
        return None;
    }
    let certainty = if axis == Axis::Choice { 0.85 } else { 0.95 };
    Some(subject.contradiction(axis, &x.shown, &y.shown, certainty))
}

/// Whether the value stands behind what it is said of: a name in front is what the statement is about.
fn follows(statement: &Statement, value: &Value) -> bool {
    let tokens = &statement.reading.tokens;
    let is_it =
        |t: &&Token| matches!(t.role, Role::Value(n) if statement.reading.values[n].span == value.span);
    let before = tokens.iter().take_while(|t| !is_it(t));
    before.filter(|t| matches!(t.role, Role::Word | Role::Name) && t.weight >= 1.0).count() > 0
}

/// Another interval.
fn opposed_periods(
    a: &Statement,
    b: &Statement,
    subject: &Subject,
    polar: &Polarity,
    values: &Values<'_>,
) -> Option<Contradiction> {
    let (x, y) = (a.periods(), b.periods());
    let ([x], [y]) = (x.as_slice(), y.as_slice()) else { return None };
    let alone = values.is_empty() && polar.is_empty() && stance::opposition(a, b, false).is_none();
    if x == y || !alone || !subject.is_same(false) {
        return None;
    }
    Some(subject.contradiction(Axis::Frequency, &format!("every {x} h"), &format!("every {y} h"), 0.95))
}

/// The one demands or asserts what the other forbids, denies or leaves free.
fn opposed_stance(
    a: &Statement,
    b: &Statement,
    subject: &Subject,
    polar: &Polarity,
    values: &Values<'_>,
    strict: bool,
) -> Option<Contradiction> {
    if !values.is_empty() || polar.unmatched > 0 || polar.pairs.len() > 1 || !subject.is_same(strict) {
        return None;
    }
    let axis = stance::opposition(a, b, polar.turned())?;
    let (x, y) = match polar.pairs.first() {
        Some((x, y)) => (x.clone(), y.clone()),
        None if axis == Axis::Frequency => (often(a), often(b)),
        None => (Stance::of(a).word().to_owned(), Stance::of(b).word().to_owned()),
    };
    Some(subject.contradiction(axis, &x, &y, 0.9))
}

fn often(statement: &Statement) -> String {
    if statement.has(Sense::Never) {
        return "never".to_owned();
    }
    let always = statement.has(Sense::Always);
    if always { "always".to_owned() } else { Stance::of(statement).word().to_owned() }
}

/// Another thing in the same place.
fn opposed_choice(
    a: &Statement,
    b: &Statement,
    subject: &Subject,
    polar: &Polarity,
    values: &Values<'_>,
) -> Option<Contradiction> {
    let agree = stance::opposition(a, b, polar.turned()).is_none() && Stance::of(a) == Stance::of(b);
    if !values.is_empty() || !polar.is_empty() || !agree || a.has(Sense::Condition) {
        return None;
    }
    let choice = choice::exclusive(a, b)?;
    (subject.shared >= MIN_SHARED)
        .then(|| subject.contradiction(Axis::Choice, &choice.a, &choice.b, choice.certainty))
}

/// Values that only one of two statements has.
struct Values<'a> {
    a: Vec<&'a Value>,
    b: Vec<&'a Value>,
}

impl<'a> Values<'a> {
    fn of(a: &'a Statement, b: &'a Statement) -> Self {
        let mut right: Vec<&Value> = b.values.iter().collect();
        let mut left: Vec<&Value> = Vec::new();
        for value in &a.values {
            match right.iter().position(|other| other.fits(value)) {
                Some(at) => {
                    right.remove(at);
                }
                None => left.push(value),
            }
        }
        Self { a: left, b: right }
    }

    fn is_empty(&self) -> bool {
        self.a.is_empty() && self.b.is_empty()
    }
}
