//! A line as tokens: runs of letters, digits and the signs that names are made with.

use crate::graph::label::{Class, class};

/// A piece of a line that may be a name or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// Its text, without the punctuation around it.
    pub(super) text: &'a str,
    /// Whether a sentence begins with it.
    pub(super) starts: bool,
    /// Whether only one space stands between it and the token before.
    pub(super) joined: bool,
    /// Whether `()` stands right behind it.
    pub(super) called: bool,
}

const SIGNS: &[char] = &['.', '/', '@', ':', '-', '+', '#', '~', '=', '&', '%', '$', '\'', '\u{2019}'];

/// The tokens of a line, in order.
pub(super) fn tokens(line: &str) -> Vec<Token<'_>> {
    let mut found: Vec<Token<'_>> = Vec::new();
    let mut end = 0;
    let mut start = None;
    let bounds = line.char_indices().map(|(at, c)| (at, Some(c))).chain([(line.len(), None)]);
    for (at, c) in bounds {
        let belongs = c.is_some_and(|c| class(c) == Class::Word || SIGNS.contains(&c));
        match (belongs, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                start = None;
                if let Some((text, first)) = trimmed(&line[from..at], from) {
                    let gap = &line[end..first];
                    found.push(Token {
                        text,
                        starts: end == 0 || gap.contains(ENDS) || found.is_empty(),
                        joined: gap == " ",
                        called: line[first + text.len()..].starts_with("()"),
                    });
                    end = first + text.len();
                }
            }
            _ => {}
        }
    }
    found
}

/// What ends a sentence, or begins something like one.
const ENDS: &[char] =
    &['.', '!', '?', ';', ':', '。', '！', '？', '；', '：', '"', '“', '(', '（', '|', '•', '*', '>'];

/// A run without the signs that only end it, and where it then begins.
fn trimmed(run: &str, at: usize) -> Option<(&str, usize)> {
    let kept = run.trim_start_matches(['\'', '\u{2019}', '-', '+', ':', '=', '%', '&', '#', '$']);
    let at = at + run.len() - kept.len();
    let kept = kept.trim_end_matches(['.', ':', '-', '\'', '\u{2019}', '=', '&', '+', '#', '@', '~', '$']);
    kept.chars().any(char::is_alphanumeric).then_some((kept, at))
}
