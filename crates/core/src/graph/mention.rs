//! Which names a text mentions: those that are known, and those that look like names.
//!
//! Everything here is rules over the shape of words and what stands beside them; nothing is learned. A name
//! that a rule sees gets a kind, which is a guess, and the confidence of the rule.

mod cjk;
mod phrases;
mod quoted;
mod shapes;
mod tokens;
mod vocabulary;

use std::collections::BTreeSet;

use super::label;

/// From this confidence on a name is worth an entity of its own.
pub const CONFIDENT: f64 = 0.8;
/// How much of a text is looked at, in bytes: names that matter stand early.
pub const MAX_TEXT: usize = 16 * 1024;
/// Most names taken from one text.
pub const MAX_NAMES: usize = 32;

/// A name that a text mentions.
#[derive(Debug, Clone, PartialEq)]
pub struct Noticed {
    /// As the text writes it.
    pub label: String,
    /// What it seems to be: tool, file, package, host, ticket, service, person, ...
    pub kind: &'static str,
    /// How sure the rule is, 0 to 1.
    pub confidence: f64,
}

/// The names that a text mentions, in order of first sight within each sort of rule, each once.
pub fn notice(text: &str) -> Vec<Noticed> {
    let text = beginning(text);
    let mut names = Names::default();
    quoted::scan(text, &mut names);
    for line in text.lines() {
        let tokens = tokens::tokens(line);
        for token in &tokens {
            if let Some((name, kind, confidence)) = shapes::shape(token) {
                names.add(&name, kind, confidence);
            }
        }
        phrases::scan(line, &tokens, &mut names);
        cjk::scan(line, &mut names);
    }
    names.found
}

/// The part of a text that is looked at.
pub fn beginning(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Names in the making.
#[derive(Default)]
struct Names {
    found: Vec<Noticed>,
    keys: BTreeSet<String>,
}

impl Names {
    fn add(&mut self, name: &str, kind: &'static str, confidence: f64) {
        let name = name.trim();
        let length = name.chars().count();
        // What the gate blacked out stands in brackets and names nothing.
        let fits = (2..=label::MAX_LABEL).contains(&length) && !name.contains(['[', ']']);
        if fits && self.found.len() < MAX_NAMES && self.keys.insert(label::key(name)) {
            self.found.push(Noticed { label: name.to_owned(), kind, confidence });
        }
    }
}

/// Those of the labels that the text names, all as [`label::key`] gives them, in the order in which they
/// first stand there. Where one name lies within another, the longer one is meant.
pub fn known<'a>(text: &str, labels: &[&'a str]) -> Vec<&'a str> {
    let mut longest_first: Vec<&'a str> = labels.to_vec();
    longest_first.sort_by_key(|label| std::cmp::Reverse(label.len()));
    let mut taken: Vec<std::ops::Range<usize>> = Vec::new();
    let mut named: Vec<(usize, &'a str)> = Vec::new();
    for label in longest_first {
        let free = label::occurrences(text, label)
            .into_iter()
            .filter(|range| !taken.iter().any(|t| t.start < range.end && range.start < t.end))
            .collect::<Vec<_>>();
        if let Some(first) = free.first() {
            named.push((first.start, label));
            taken.extend(free);
        }
    }
    named.sort_unstable();
    named.into_iter().map(|(_, label)| label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_name_is_meant() {
        let text = label::key("The payment service calls payment twice");
        assert_eq!(known(&text, &["payment", "payment service", "ledger"]), ["payment service", "payment"]);
        let text = label::key("only the payment service");
        assert_eq!(known(&text, &["payment", "payment service"]), ["payment service"]);
    }

    #[test]
    fn any_text_is_safe() {
        let long = "Ａ-1 `".repeat(9_000);
        for text in ["", "`", "「", "《》", "@", "/", "://", "-1", "a@", "金", "김", "()", "::", "=", &long]
        {
            assert!(notice(text).len() <= MAX_NAMES, "{text}");
        }
    }

    #[test]
    fn what_was_blacked_out_is_no_name() {
        assert_eq!(notice("the key is `[redacted:token]`"), []);
    }
}
