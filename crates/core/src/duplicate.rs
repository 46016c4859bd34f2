//! Near-duplicates, and what tells near-identical texts apart. No model is involved.
//!
//! [`identity`] is the form under which two texts are the same content. [`bands`] are the keys of an
//! indexed lookup that finds candidates, and [`compare`] judges one candidate: the same, a
//! near-duplicate, the same statement with another value, its opposite, or something else.
//!
//! The judgement rests on wording. A paraphrase in other words ("vegetarian" for "does not eat meat")
//! is `Different` here: texts are never taken as one on less than their words.

pub mod contradiction;
mod exchange;
mod polarity;
mod reading;
mod sample;
mod shingle;
mod values;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use polarity::Polar;
use reading::{Reading, Role, Token, Unit};
use sample::WHOLE_BYTES;
use values::Value;

use crate::composed::nfc;

/// How one text stands to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The same words in the same order; only case, punctuation, spacing or notation differ.
    Same,
    /// Nearly the same words, and no value, name or polarity differs.
    NearDuplicate,
    /// The same statement about another value: a number, version, host, date, name or other word.
    ChangedValue,
    /// The same statement with the opposite meaning.
    Opposed,
    /// Another statement.
    Different,
}

/// What sort of thing differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DifferenceKind {
    /// A number, with its unit where it has one. Ports are numbers.
    Number,
    /// A version.
    Version,
    /// A host name or IP address, with its port where it has one.
    Address,
    /// A URL.
    Url,
    /// A file path.
    Path,
    /// A date, weekday, month or relative day.
    Date,
    /// A time of day.
    Time,
    /// An identifier: `max_retries`, `JIRA-12`, a commit, an e-mail address, `--flag`.
    Identifier,
    /// An amount of money.
    Money,
    /// A percentage.
    Percent,
    /// A name, exchanged for another.
    Name,
    /// Another word or phrase in the same place.
    Word,
    /// A negation that only one of the two has.
    Negation,
    /// A word that stands against its antonym.
    Antonym,
    /// The same values or polar words, in another order within the same wording.
    Order,
}

/// One thing that differs, as written. A side that lacks it is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What it is.
    pub kind: DifferenceKind,
    /// In the first text.
    pub a: Option<String>,
    /// In the second text.
    pub b: Option<String>,
}

/// The judgement over two texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Weighted Jaccard overlap of words and word pairs, 0 to 1.
    pub similarity: f64,
    /// The same, of what remains when values, negations and antonyms are blanked.
    pub frame_similarity: f64,
    /// What differs, the first 64 of each sort. Never empty for `ChangedValue` and `Opposed`. A word that
    /// only one text has is an addition and not listed.
    pub differences: Vec<Difference>,
    /// The judgement.
    pub verdict: Verdict,
}

/// From this frame similarity on, a changed value or polarity is about the same statement.
/// Calibrated on testdata/duplicate.
const SAME_STATEMENT: f64 = 0.5;
/// From this similarity on, texts without any telling difference are near-duplicates.
const NEAR: f64 = 0.52;

/// Most differences of one sort that are paired and reported.
const MAX_DIFFERENCES: usize = 64;

/// The form under which two texts are the same content: NFC, `\n` line ends, no space at the end of
/// lines or of the text.
pub fn identity(text: &str) -> String {
    let unified = nfc(text).replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<&str> = unified.split('\n').map(str::trim_end).collect();
    let mut joined = lines.join("\n");
    joined.truncate(joined.trim_end().len());
    joined
}

/// Lookup keys: texts that share one are worth a [`compare`]. At most 16; none for a text without words.
///
/// Eight bands of three MinHash rows over words and word pairs find an overlap of .8 with
/// probability .997; another eight over the frame (values, negations and antonyms blanked) find the
/// same statement about another value or with the opposite meaning, however short it is. A text that
/// shares several keys is the likelier duplicate: rank candidates by the number of shared keys, and
/// bound how many are compared. Of texts over 64 KiB a content-defined sample of lines and
/// sentences is read. Keys are stable: they may be stored.
pub fn bands(text: &str) -> Vec<u64> {
    if text.len() > WHOLE_BYTES {
        return shingle::bands(&reading::read(&sample::by_content(text)));
    }
    shingle::bands(&reading::read(text))
}

/// A text that is compared with several others: it is read once.
#[derive(Debug)]
pub struct Prepared<'t> {
    text: &'t str,
    /// Of a text that is compared whole.
    read: Option<Arc<Read>>,
}

impl<'t> Prepared<'t> {
    /// Reads a text.
    pub fn new(text: &'t str) -> Self {
        Self { text, read: (text.len() <= WHOLE_BYTES).then(|| Arc::new(Read::new(text))) }
    }

    /// The text.
    pub const fn text(&self) -> &'t str {
        self.text
    }

    /// As [`bands`].
    pub fn bands(&self) -> Vec<u64> {
        self.read.as_ref().map_or_else(|| bands(self.text), |read| shingle::bands(&read.reading))
    }

    /// As [`compare`]; `None` when the two are different statements, which takes less to tell.
    pub fn compare_if_like(&self, other: &Prepared<'_>) -> Option<Comparison> {
        if let (Some(a), Some(b)) = (&self.read, &other.read)
            && is_surely_different(a, b)
        {
            return None;
        }
        Some(self.compare(other)).filter(|found| found.verdict != Verdict::Different)
    }

    /// As [`compare`].
    pub fn compare(&self, other: &Prepared<'_>) -> Comparison {
        match (&self.read, &other.read) {
            (Some(a), Some(b)) => judge(a, b, 0.0),
            _ => compare(self.text, other.text),
        }
    }
}

/// Texts that were read lately, for those that are compared with again and again. It may be forgotten at any time.
#[derive(Debug, Default)]
pub struct Readings(Mutex<KeptReadings>);

/// Those of now, and those of before, which are forgotten when these are too many.
#[derive(Debug, Default)]
struct KeptReadings {
    texts: HashMap<Box<str>, Arc<Read>>,
    bytes: usize,
    older: HashMap<Box<str>, Arc<Read>>,
}

/// Bytes of text whose reading is kept, and as many of before; a reading takes some thirty times as much.
const KEPT_BYTES: usize = 512 << 10;

impl Readings {
    /// As [`Prepared::new`].
    pub fn read<'t>(&self, text: &'t str) -> Prepared<'t> {
        if text.len() > WHOLE_BYTES {
            return Prepared::new(text);
        }
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept().get(text);
        let read = known.unwrap_or_else(|| {
            let read = Arc::new(Read::new(text));
            kept().keep(text, &read);
            read
        });
        Prepared { text, read: Some(read) }
    }
}

impl KeptReadings {
    fn get(&mut self, text: &str) -> Option<Arc<Read>> {
        if let Some(read) = self.texts.get(text) {
            return Some(Arc::clone(read));
        }
        // What is asked for again stays.
        let (text, read) = self.older.remove_entry(text)?;
        self.keep(&text, &read);
        Some(read)
    }

    fn keep(&mut self, text: &str, read: &Arc<Read>) {
        if self.bytes + text.len() > KEPT_BYTES {
            *self = Self { older: std::mem::take(&mut self.texts), ..Self::default() };
        }
        if self.texts.insert(text.into(), Arc::clone(read)).is_none() {
            self.bytes += text.len();
        }
    }
}

/// A text as it is compared.
#[derive(Debug)]
struct Read {
    reading: Reading,
    whole: Overlap,
    frame: Overlap,
}

impl Read {
    fn new(text: &str) -> Self {
        let reading = reading::read(text);
        let (whole, frame) = (Overlap::of(reading.tokens.iter()), Overlap::of(reading.frame()));
        Self { reading, whole, frame }
    }
}

/// Compares two texts.
///
/// When one of them exceeds 64 KiB, lines and sentences that both have are set aside first, and of
/// what remains the first 64 KiB on each side are read.
pub fn compare(a: &str, b: &str) -> Comparison {
    if a.len() <= WHOLE_BYTES && b.len() <= WHOLE_BYTES {
        return judge(&Read::new(a), &Read::new(b), 0.0);
    }
    let unshared = sample::unshared(a, b);
    judge(&Read::new(&unshared.a), &Read::new(&unshared.b), unshared.shared)
}

/// `shared` is the fraction of both texts that was set aside as equal.
fn judge(a: &Read, b: &Read, shared: f64) -> Comparison {
    let whole = |overlap: f64| shared + (1.0 - shared) * overlap;
    let similarity = whole(a.whole.with(&b.whole));
    let frame_similarity = whole(a.frame.with(&b.frame));
    let (a, b) = (&a.reading, &b.reading);
    let (differences, verdict) = if same_sequence(a, b) {
        (Vec::new(), Verdict::Same)
    } else {
        let mut found = Findings::of(a, b);
        let verdict = found.verdict(similarity, frame_similarity);
        found.values.append(&mut found.polarity);
        (found.values, verdict)
    };
    Comparison { similarity, frame_similarity, differences, verdict }
}

/// Whether too little of the wording is shared for any verdict but [`Verdict::Different`], whatever else differs.
fn is_surely_different(a: &Read, b: &Read) -> bool {
    a.whole.with(&b.whole) < NEAR
        && a.frame.with(&b.frame) < SAME_STATEMENT
        && exchange::align(&a.reading.units, &b.reading.units).around_one_exchange() < SAME_STATEMENT
        && !same_sequence(&a.reading, &b.reading)
}

fn same_sequence(a: &Reading, b: &Reading) -> bool {
    let equal = |(x, y): (&Token, &Token)| match (x.role, y.role) {
        (Role::Value(i), Role::Value(j)) => a.values[i].fields == b.values[j].fields,
        _ => x.surface == y.surface,
    };
    a.tokens.len() == b.tokens.len() && a.tokens.iter().zip(&b.tokens).all(equal)
}

/// The multiset of a text's words and of its neighbouring pairs (half weight).
#[derive(Debug)]
struct Overlap {
    /// Key, weight and count, by key.
    counted: Vec<(u64, f64, u32)>,
}

impl Overlap {
    fn of<'a>(tokens: impl Iterator<Item = &'a Token>) -> Self {
        let mut found: Vec<(u64, f64, u32)> = Vec::new();
        let mut before: Option<(u64, f64)> = None;
        for token in tokens {
            found.push((token.hash, token.weight, 1));
            if let Some((other, weight)) = before {
                let pair = other.rotate_left(17) ^ token.hash.wrapping_mul(3);
                found.push((pair, 0.5 * weight.min(token.weight), 1));
            }
            before = Some((token.hash, token.weight));
        }
        // Of two with one key the first tells the weight.
        found.sort_by_key(|(key, ..)| *key);
        found.dedup_by(|later, first| {
            let is_same = later.0 == first.0;
            first.2 += u32::from(is_same);
            is_same
        });
        Self { counted: found }
    }

    /// The weighted Jaccard overlap with another one. Two empty sides are alike.
    fn with(&self, other: &Self) -> f64 {
        let (mut common, mut all) = (0.0, 0.0);
        let (mut a, mut b) = (self.counted.iter().peekable(), other.counted.iter().peekable());
        loop {
            let (left, right) = (a.peek().map(|one| one.0), b.peek().map(|one| one.0));
            let key = match (left, right) {
                (Some(left), Some(right)) => left.min(right),
                (one, other) => match one.or(other) {
                    Some(key) => key,
                    None => break,
                },
            };
            let (in_a, in_b) = (a.next_if(|one| one.0 == key), b.next_if(|one| one.0 == key));
            let weight = in_a.or(in_b).map_or(0.0, |one| one.1);
            let [in_a, in_b] = [in_a, in_b].map(|one| one.map_or(0, |one| one.2));
            common += weight * f64::from(in_a.min(in_b));
            all += weight * f64::from(in_a.max(in_b));
        }
        if all == 0.0 { 1.0 } else { common / all }
    }
}

/// What tells two texts apart.
struct Findings {
    values: Vec<Difference>,
    polarity: Vec<Difference>,
    /// An odd number of negations and antonyms turns the meaning; an even one turns it back.
    flips: usize,
    /// Shared wording around a single small exchange.
    around_exchange: f64,
}

impl Findings {
    fn of(a: &Reading, b: &Reading) -> Self {
        let mut values = value_differences(&a.values, &b.values);
        let (left, right) = (leftover(a, b), leftover(b, a));
        let (mut polarity, mut flips) = polar_differences(&left, &right);
        let alignment = exchange::align(&a.units, &b.units);
        let plain = |(a, b): &&(Vec<&Unit>, Vec<&Unit>)| !is_prefixed(a, b);
        let exchanges = alignment.exchanges.iter().filter(plain).take(MAX_DIFFERENCES);
        values.extend(exchanges.map(exchange_difference));
        if a.frame().map(|t| &t.text).eq(b.frame().map(|t| &t.text)) {
            if values.is_empty() && order_differs(&value_sequence(a), &value_sequence(b)) {
                values.push(order_difference(&value_sequence(a), &value_sequence(b)));
            }
            if polarity.is_empty() && order_differs(&polar_sequence(a), &polar_sequence(b)) {
                polarity.push(order_difference(&polar_sequence(a), &polar_sequence(b)));
                flips += 1;
            }
        }
        Self { values, polarity, flips, around_exchange: alignment.around_one_exchange() }
    }

    fn verdict(&self, similarity: f64, frame: f64) -> Verdict {
        let opposed = self.flips % 2 == 1;
        // Another word and another polarity at once make another statement.
        let around = if self.flips == 0 { self.around_exchange } else { 0.0 };
        let same_statement = frame.max(around) >= SAME_STATEMENT || similarity >= NEAR;
        if same_statement && !self.values.is_empty() {
            Verdict::ChangedValue
        } else if same_statement && opposed {
            Verdict::Opposed
        } else if self.values.is_empty() && !opposed && similarity >= NEAR {
            Verdict::NearDuplicate
        } else {
            Verdict::Different
        }
    }
}

/// Pairs off the values that fit each other and reports the rest, kind by kind.
fn value_differences(a: &[Value], b: &[Value]) -> Vec<Difference> {
    let left = unequal(a, b);
    let mut right: Vec<&Value> = unequal(b, a);
    let (unpaired, _): (Vec<&Value>, Vec<&Value>) =
        left.into_iter().partition(|value| match right.iter().position(|other| other.fits(value)) {
            Some(at) => {
                right.remove(at);
                false
            }
            None => true,
        });
    let mut differences: Vec<Difference> = Vec::new();
    for value in unpaired {
        let partner = right.iter().position(|v| v.kind == value.kind).map(|at| right.remove(at));
        let b = partner.map(|v| v.shown.clone());
        differences.push(Difference { kind: value.kind, a: Some(value.shown.clone()), b });
    }
    let added = |v: &Value| Difference { kind: v.kind, a: None, b: Some(v.shown.clone()) };
    differences.extend(right.into_iter().map(added));
    differences
}

/// The first [`MAX_DIFFERENCES`] values of `a` beyond those that `b` has in the very same form.
fn unequal<'a>(a: &'a [Value], b: &'a [Value]) -> Vec<&'a Value> {
    let mut counts: HashMap<(DifferenceKind, &[String]), usize> = HashMap::new();
    for value in b {
        *counts.entry((value.kind, &value.fields)).or_default() += 1;
    }
    let spare = |value: &&'a Value| match counts.get_mut(&(value.kind, value.fields.as_slice())) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    a.iter().filter(spare).take(MAX_DIFFERENCES).collect()
}

/// The tokens of `a` beyond those that `b` has as well.
fn leftover<'a>(a: &'a Reading, b: &Reading) -> Vec<&'a Token> {
    let mut known: Vec<u64> = b.tokens.iter().map(|token| token.hash).collect();
    known.sort_unstable();
    // How many of each run of equal ones, told at its first, are used up.
    let mut used = vec![0_usize; known.len()];
    let spare = |token: &&Token| {
        let first = known.partition_point(|hash| *hash < token.hash);
        let count = known.partition_point(|hash| *hash <= token.hash) - first;
        let is_spare = count == 0 || used[first] == count;
        if !is_spare {
            used[first] += 1;
        }
        is_spare
    };
    a.tokens.iter().filter(spare).collect()
}

fn exchange_difference((a, b): &(Vec<&Unit>, Vec<&Unit>)) -> Difference {
    let shown = |units: &[&Unit]| {
        let east_asian = units.iter().all(|unit| !unit.text.is_ascii() && unit.text.chars().count() == 1);
        let words: Vec<&str> = units.iter().map(|unit| &*unit.shown).collect();
        Some(words.join(if east_asian { "" } else { " " }))
    };
    let name = a.iter().any(|unit| unit.name) && b.iter().any(|unit| unit.name);
    let kind = if name { DifferenceKind::Name } else { DifferenceKind::Word };
    Difference { kind, a: shown(a), b: shown(b) }
}

/// `stable` against `unstable` is a matter of polarity, not of another word.
fn is_prefixed(a: &[&Unit], b: &[&Unit]) -> bool {
    let ([a], [b]) = (a, b) else { return false };
    polarity::by_prefix(&a.shown).iter().any(|word| **word == *b.shown)
}

/// Negations that only one side has, and antonyms across: what differs, and how often it turns the meaning.
fn polar_differences(left: &[&Token], right: &[&Token]) -> (Vec<Difference>, usize) {
    let mut differences = antonyms(left, right);
    let mut flips = differences.len();
    let negations = |tokens: &[&Token]| -> Vec<String> {
        let negates = |t: &&&Token| t.role == Role::Polar(Polar::Negation);
        tokens.iter().filter(negates).map(|t| t.surface.to_string()).collect()
    };
    let (a, b) = (negations(left), negations(right));
    if a.len() != b.len() {
        flips += a.len().abs_diff(b.len());
        let shown = |words: &[String]| {
            let words = words.iter().take(MAX_DIFFERENCES).cloned().collect::<Vec<_>>();
            (!words.is_empty()).then(|| words.join(" "))
        };
        differences.push(Difference { kind: DifferenceKind::Negation, a: shown(&a), b: shown(&b) });
    }
    (differences, flips)
}

/// Pairs each token with an antonym on the other side, each used once.
fn antonyms(left: &[&Token], right: &[&Token]) -> Vec<Difference> {
    let mut sides: HashMap<(u16, bool), Vec<&Token>> = HashMap::new();
    let mut words: HashMap<&str, Vec<&Token>> = HashMap::new();
    for token in right.iter().rev() {
        match token.role {
            Role::Polar(Polar::Side(pair, side)) => sides.entry((pair, side)).or_default().push(token),
            _ => words.entry(&token.surface).or_default().push(token),
        }
    }
    let mut opposite = |token: &Token| match token.role {
        Role::Polar(Polar::Side(pair, side)) => sides.get_mut(&(pair, !side))?.pop(),
        Role::Word | Role::Name => {
            let candidates = polarity::by_prefix(&token.surface);
            candidates.iter().find_map(|word| words.get_mut(word.as_str())?.pop())
        }
        _ => None,
    };
    let difference = |token: &&Token| {
        let b = opposite(token)?.surface.to_string();
        Some(Difference { kind: DifferenceKind::Antonym, a: Some(token.surface.to_string()), b: Some(b) })
    };
    left.iter().filter_map(difference).collect()
}

fn value_sequence(reading: &Reading) -> Vec<&str> {
    reading.values.iter().map(|v| v.shown.as_str()).collect()
}

fn polar_sequence(reading: &Reading) -> Vec<&str> {
    let polar = |t: &&Token| matches!(t.role, Role::Polar(_));
    reading.tokens.iter().filter(polar).map(|t| &*t.surface).collect()
}

/// Whether both hold the same words in another order.
fn order_differs(a: &[&str], b: &[&str]) -> bool {
    let sorted = |words: &[&str]| {
        let mut words: Vec<String> = words.iter().map(|w| w.to_lowercase()).collect();
        words.sort_unstable();
        words
    };
    a != b && sorted(a) == sorted(b)
}

fn order_difference(a: &[&str], b: &[&str]) -> Difference {
    Difference { kind: DifferenceKind::Order, a: Some(a.join(", ")), b: Some(b.join(", ")) }
}
