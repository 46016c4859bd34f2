//! Words that stand where the other text has different ones.
//!
//! "Elena is on call" and "Viktor is on call" share nearly all their words and say different things;
//! "is on call" and "is currently on call" do not. The two frames are aligned, and a gap that holds
//! content on both sides is an exchange; a gap on one side only is an addition.

use super::reading::Unit;

/// Most cells of the alignment table; beyond that the whole of what differs counts as one gap.
const MAX_CELLS: usize = 1 << 20;
/// An exchange up to this weight on each side, about two words, may be the value of the statement.
const SMALL: f64 = 2.0;

/// The alignment of two frames.
#[derive(Debug, Default)]
pub(super) struct Alignment<'a> {
    /// What stands against what, in order.
    pub(super) exchanges: Vec<(Vec<&'a Unit>, Vec<&'a Unit>)>,
    /// Weight of what both have, in the same order.
    matched: f64,
    /// Weight of what only one has, exchanges not counted.
    added: f64,
}

impl Alignment<'_> {
    /// How much of the wording is shared when a single small exchange is blanked; 0 if there is none
    /// such, or if more was exchanged than is shared.
    pub(super) fn around_one_exchange(&self) -> f64 {
        let [(a, b)] = self.exchanges.as_slice() else { return 0.0 };
        let larger = content(a).max(content(b));
        if larger > SMALL || larger > self.matched {
            return 0.0;
        }
        self.matched / (self.matched + self.added)
    }
}

/// Aligns by the longest common subsequence.
pub(super) fn align<'a>(a: &'a [Unit], b: &'a [Unit]) -> Alignment<'a> {
    let head = a.iter().zip(b).take_while(|(x, y)| x.text == y.text).count();
    let (rest_a, rest_b) = (&a[head..], &b[head..]);
    let tail = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(x, y)| x.text == y.text).count();
    let (middle_a, middle_b) = (&rest_a[..rest_a.len() - tail], &rest_b[..rest_b.len() - tail]);
    let mut alignment = Alignment::default();
    let ends = a[..head].iter().chain(&rest_a[rest_a.len() - tail..]);
    alignment.matched = ends.map(|unit| unit.weight).sum();
    let pairs = common(middle_a, middle_b);
    let mut from = (0, 0);
    for (i, j) in pairs.into_iter().chain([(middle_a.len(), middle_b.len())]) {
        gap(&mut alignment, &middle_a[from.0..i], &middle_b[from.1..j]);
        alignment.matched += middle_a.get(i).map_or(0.0, |unit| unit.weight);
        from = (i + 1, j + 1);
    }
    alignment
}

fn gap<'a>(alignment: &mut Alignment<'a>, a: &'a [Unit], b: &'a [Unit]) {
    let (a, b): (Vec<&Unit>, Vec<&Unit>) = (a.iter().collect(), b.iter().collect());
    if content(&a) > 0.0 && content(&b) > 0.0 && !is_inflection(&a, &b) {
        alignment.exchanges.push((a, b));
    } else {
        alignment.added += a.iter().chain(&b).map(|unit| unit.weight).sum::<f64>();
    }
}

fn content(units: &[&Unit]) -> f64 {
    units.iter().filter(|unit| !unit.function).map(|unit| unit.weight).sum()
}

/// Two forms of one word: a long common beginning in Latin script, the same first consonant and vowel
/// in hangul.
fn is_inflection(a: &[&Unit], b: &[&Unit]) -> bool {
    let (Some(first), Some(second)) = (a.first(), b.first()) else { return false };
    if let (Some(x), Some(y)) = (syllable(&first.text), syllable(&second.text)) {
        return x == y && a.len() <= 3 && b.len() <= 3;
    }
    if a.len() > 1 || b.len() > 1 || first.name || second.name {
        return false;
    }
    let shared = first.text.chars().zip(second.text.chars()).take_while(|(x, y)| x == y).count();
    shared >= 5 && first.text.chars().count().max(second.text.chars().count()) <= shared + 3
}

/// Initial consonant and vowel of a hangul syllable, without its final (Unicode 16, section 3.12).
fn syllable(text: &str) -> Option<u32> {
    let mut chars = text.chars();
    let c = chars.next().filter(|_| chars.next().is_none())?;
    ('\u{ac00}'..='\u{d7a3}').contains(&c).then(|| (c as u32 - 0xac00) / 28)
}

/// Index pairs of a longest common subsequence, in order.
fn common(a: &[Unit], b: &[Unit]) -> Vec<(usize, usize)> {
    let width = b.len() + 1;
    if a.is_empty() || b.is_empty() || a.len().saturating_mul(b.len()) > MAX_CELLS {
        return Vec::new();
    }
    let mut longest = vec![0_u16; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i * width + j] = if a[i].hash == b[j].hash {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let mut pairs = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i].hash == b[j].hash {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}
