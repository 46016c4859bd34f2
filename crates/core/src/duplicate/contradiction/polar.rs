//! Antonyms across two statements.

use super::{
    super::{
        leftover,
        polarity::{self, Polar},
        reading::{Role, Token},
    },
    statement::Statement,
};

/// Antonyms that stand between two statements.
pub(super) struct Polarity {
    pub(super) pairs: Vec<(String, String)>,
    /// Polar words without a counterpart.
    pub(super) unmatched: usize,
}

impl Polarity {
    pub(super) fn of(a: &Statement, b: &Statement) -> Self {
        let (left, right) = (leftover(&a.reading, &b.reading), leftover(&b.reading, &a.reading));
        let sides = |tokens: &[&Token]| -> Vec<(u16, bool, String)> {
            let side = |t: &&Token| match t.role {
                Role::Polar(Polar::Side(pair, side)) => Some((pair, side, t.surface.to_string())),
                _ => None,
            };
            tokens.iter().filter_map(side).collect()
        };
        let (left_sides, mut right_sides) = (sides(&left), sides(&right));
        let mut found = Self { pairs: Vec::new(), unmatched: 0 };
        for (pair, side, word) in left_sides {
            match right_sides.iter().position(|(other, ..)| *other == pair) {
                Some(at) => {
                    let (_, other_side, other) = right_sides.remove(at);
                    if other_side != side {
                        found.pairs.push((word, other));
                    }
                }
                None => found.unmatched += usize::from(!is_preposition(&word)),
            }
        }
        found.unmatched += right_sides.iter().filter(|(.., word)| !is_preposition(word)).count();
        found.prefixed(&left, &right);
        found
    }

    /// stable, unstable
    fn prefixed(&mut self, left: &[&Token], right: &[&Token]) {
        let plain = |t: &&&Token| matches!(t.role, Role::Word | Role::Name);
        for token in left.iter().filter(plain) {
            let opposites = polarity::by_prefix(&token.surface);
            let other =
                right.iter().filter(plain).find(|o| opposites.iter().any(|word| **word == *o.surface));
            self.pairs.extend(other.map(|o| (token.surface.to_string(), o.surface.to_string())));
        }
    }

    pub(super) fn holds(&self, word: &str) -> bool {
        self.pairs.iter().any(|(a, b)| a == word || b == word)
    }

    pub(super) fn turned(&self) -> bool {
        self.pairs.len() % 2 == 1
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.unmatched == 0
    }
}

/// "on" is a state only beside "off", and other such words are mere prepositions too.
fn is_preposition(word: &str) -> bool {
    matches!(word, "on" | "up" | "over" | "before" | "after" | "under" | "most" | "least" | "first" | "last")
}
