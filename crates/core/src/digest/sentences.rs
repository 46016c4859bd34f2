//! Cutting text into sentences, in any of the languages that Strata's users write.

use std::borrow::Cow;

/// Longest sentence kept, in characters; what is longer is cut at a word.
const MAX_CHARS: usize = 240;
/// Text looked at, in bytes. Nobody's turn in a conversation is longer; a pasted log is.
const MAX_BYTES: usize = 64 << 10;

/// The sentences of a text, each on one line, without the marks of Markdown. Fenced code is left out.
///
/// A full stop ends a sentence before a space, the CJK marks do wherever they stand; a line break always does.
pub fn sentences(text: &str) -> Vec<Cow<'_, str>> {
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let mut found = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            in_code = !in_code;
        } else if !in_code {
            cut_line(without_marks(line), &mut found);
        }
    }
    found
}

/// A line without the marks of a heading, quote or list item before it.
fn without_marks(line: &str) -> &str {
    let mut rest = line.trim_start_matches(['#', '>', ' ', '\t']);
    for mark in ["- ", "* ", "+ ", "\u{2022} ", "[ ] ", "[x] "] {
        rest = rest.strip_prefix(mark).unwrap_or(rest).trim_start();
    }
    let number = rest.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=3).contains(&number)
        && let Some(item) = rest[number..].strip_prefix(". ").or_else(|| rest[number..].strip_prefix(") "))
    {
        rest = item;
    }
    rest
}

fn cut_line<'t>(line: &'t str, found: &mut Vec<Cow<'t, str>>) {
    let mut start = 0;
    let mut at = line.char_indices().peekable();
    while let Some((place, c)) = at.next() {
        let mut end = place + c.len_utf8();
        let stops = match c {
            '\u{3002}' | '\u{FF01}' | '\u{FF1F}' | '\u{FF61}' => true,
            '!' | '?' | '.' => {
                at.peek().is_none_or(|(_, next)| next.is_whitespace())
                    && !is_abbreviation(&line[start..place], c)
            }
            _ => false,
        };
        if !stops {
            continue;
        }
        while let Some((place, c)) = at.next_if(|(_, c)| is_closing(*c)) {
            end = place + c.len_utf8();
        }
        keep(&line[start..end], found);
        start = end;
    }
    keep(&line[start..], found);
}

/// Quotation marks, brackets and further marks that belong to the sentence before.
const fn is_closing(c: char) -> bool {
    matches!(
        c,
        '"' | ')'
            | '\''
            | '\u{300D}'
            | '\u{300F}'
            | '\u{201D}'
            | '\u{2019}'
            | '\u{FF09}'
            | '\u{FF01}'
            | '\u{FF1F}'
            | '\u{3002}'
    )
}

/// Whether the full stop after `before` ends a word only: an initial, a title, `e.g.`.
fn is_abbreviation(before: &str, mark: char) -> bool {
    const KNOWN: [&str; 14] =
        ["e.g", "i.e", "etc", "vs", "cf", "mr", "mrs", "ms", "dr", "no", "fig", "approx", "st", "ca"];
    let word = before.rsplit(char::is_whitespace).next().unwrap_or("").trim_start_matches(['(', '"']);
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    mark == '.' && (is_initial || KNOWN.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

fn keep<'t>(sentence: &'t str, found: &mut Vec<Cow<'t, str>>) {
    let sentence = sentence.trim();
    if !sentence.chars().any(char::is_alphanumeric) {
        return;
    }
    let is_plain =
        !sentence.contains("**") && !sentence.contains("  ") && sentence.chars().count() <= MAX_CHARS;
    found.push(if is_plain { Cow::Borrowed(sentence) } else { Cow::Owned(shortened(sentence)) });
}

/// The sentence without marks of emphasis and double spaces, cut at a word where it is too long.
fn shortened(sentence: &str) -> String {
    let plain = sentence.replace("**", "");
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if plain.chars().count() <= MAX_CHARS {
        return plain;
    }
    let end = plain.char_indices().nth(MAX_CHARS - 1).map_or(plain.len(), |(place, _)| place);
    let kept = &plain[..end];
    let is_break = |c: char| c.is_whitespace() || matches!(c, '\u{3001}' | '\u{FF0C}' | '\u{FF1B}' | ',');
    let cut = kept.rfind(is_break).filter(|at| *at > end / 2).unwrap_or(end);
    format!("{}\u{2026}", kept[..cut].trim_end())
}
