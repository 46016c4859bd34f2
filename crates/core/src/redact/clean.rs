//! Cleaning of text that comes from outside: control characters, escape sequences, our own injected blocks.

use std::borrow::Cow;

/// A text without characters that do harm on a terminal or in a file, and what was taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleaned<'t> {
    /// The cleaned text; borrowed when nothing had to go.
    pub text: Cow<'t, str>,
    /// Number of C0 and C1 control characters and DEL removed, NUL included, or made line feeds.
    pub controls: usize,
    /// Number of terminal escape sequences removed.
    pub escapes: usize,
    /// Number of bidirectional overrides and isolates removed.
    pub bidi: usize,
}

impl Cleaned<'_> {
    /// Whether anything was removed.
    pub fn is_changed(&self) -> bool {
        self.controls + self.escapes + self.bidi > 0
    }
}

/// A text without Strata's injected blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripped<'t> {
    /// The text without the blocks; borrowed when there were none.
    pub text: Cow<'t, str>,
    /// Whether a block was removed.
    pub removed: bool,
}

/// Removes NUL and the other C0 and C1 controls except line feed, tab and the carriage return of a CRLF, ANSI
/// escape sequences, and the bidirectional overrides U+202A..U+202E and U+2066..U+2069. Controls that end a line, such as
/// the lone carriage return of older systems, become line feeds: without them the words beside would be one.
///
/// Linear and idempotent: removing an escape sequence never makes another one, because every escape
/// character goes.
pub fn clean_text(text: &str) -> Cleaned<'_> {
    let mut cleaned = Cleaned { text: Cow::Borrowed(text), controls: 0, escapes: 0, bidi: 0 };
    if !text.chars().any(|c| is_suspect(c) || is_bidi(c)) {
        return cleaned;
    }
    let mut output = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let tail = &rest[c.len_utf8()..];
        rest = tail;
        match c {
            '\u{1b}' | '\u{9b}' | '\u{9d}' | '\u{90}' => {
                let len = escape_len(c, tail);
                (cleaned.escapes, cleaned.controls) = if len > 0 {
                    (cleaned.escapes + 1, cleaned.controls)
                } else {
                    (cleaned.escapes, cleaned.controls + 1)
                };
                rest = &tail[len..];
            }
            '\r' if tail.starts_with('\n') => output.push(c),
            '\r' | '\u{b}' | '\u{c}' | '\u{85}' => {
                cleaned.controls += 1;
                output.push('\n');
            }
            _ if is_suspect(c) => cleaned.controls += 1,
            _ if is_bidi(c) => cleaned.bidi += 1,
            _ => output.push(c),
        }
    }
    if cleaned.is_changed() {
        cleaned.text = Cow::Owned(output);
    }
    cleaned
}

fn is_suspect(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

fn is_bidi(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character leaves no trace of its own on a screen: formats, joiners, variation selectors, tags
/// and combining marks. Between the letters of a word they hide it from a comparison, not from a reader.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        | '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Bytes behind the introducer that belong to the sequence; 0 when the character stands alone.
fn escape_len(introducer: char, tail: &str) -> usize {
    let bytes = tail.as_bytes();
    let (kind, offset) = match (introducer, bytes.first()) {
        ('\u{1b}', Some(&first)) => (first, 1),
        ('\u{9b}', _) => (b'[', 0),
        ('\u{9d}' | '\u{90}', _) => (b']', 0),
        _ => return 0,
    };
    match kind {
        b'[' => {
            let parameters = bytes[offset..].iter().take_while(|b| (0x20..=0x3f).contains(*b)).count();
            let last = bytes.get(offset + parameters).filter(|b| (0x40..=0x7e).contains(*b));
            offset + parameters + usize::from(last.is_some())
        }
        b']' | b'P' | b'X' | b'^' | b'_' => string_len(tail, offset),
        0x20..=0x2f => {
            let intermediates = bytes.iter().take_while(|b| (0x20..=0x2f).contains(*b)).count();
            intermediates + usize::from(bytes.get(intermediates).is_some_and(|b| (0x30..=0x7e).contains(b)))
        }
        0x30..=0x7e => 1,
        _ => 0,
    }
}

/// The length of a string sequence (title, hyperlink) up to and including BEL or the string terminator; without
/// one before the line ends or another escape begins, only the introducer's own byte.
fn string_len(tail: &str, offset: usize) -> usize {
    let stop = |c: char| matches!(c, '\u{7}' | '\u{1b}' | '\u{9c}' | '\u{9b}' | '\u{9d}' | '\u{90}' | '\n');
    let Some(at) = tail[offset..].find(stop).map(|at| offset + at) else { return offset };
    let rest = &tail[at..];
    match rest.chars().next() {
        Some('\u{7}') => at + 1,
        Some('\u{9c}') => at + '\u{9c}'.len_utf8(),
        Some('\u{1b}') if rest[1..].starts_with('\\') => at + 2,
        _ => offset,
    }
}

const OPEN: &str = "<strata-memory";
const CLOSE: &str = "</strata-memory>";
/// Taking a block out can join the halves of another mark; after so many rounds the rest is defused instead.
const MAX_ROUNDS: usize = 4;

/// Removes the blocks Strata itself delivered, `<strata-memory ...>` to `</strata-memory>`, so that a memory is
/// not stored again because an agent pasted its context. Blocks nest; one without an end reaches to the end
/// of its paragraph. A closing mark without a block goes too.
pub fn strip_injected(text: &str) -> Stripped<'_> {
    let mut current = Cow::Borrowed(text);
    for _ in 0..MAX_ROUNDS {
        let marks = marks(&current);
        if marks.is_empty() {
            let removed = matches!(current, Cow::Owned(_));
            return Stripped { text: current, removed };
        }
        current = Cow::Owned(without_blocks(&current, &marks));
    }
    let defused = current.replace(OPEN, "\u{2039}strata-memory").replace(CLOSE, "\u{2039}/strata-memory>");
    Stripped { text: Cow::Owned(defused), removed: true }
}

/// An opening or closing mark; an opening one knows the end of the closing one that belongs to it.
struct Mark {
    start: usize,
    end: usize,
    is_open: bool,
    block_end: Option<usize>,
}

fn marks(text: &str) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    let mut open = Vec::new();
    for (start, _) in text.match_indices('<') {
        let rest = &text[start..];
        let tag = |r: &str| r.is_empty() || r.starts_with(['>', ' ', '\n', '\t', '/', '\r']);
        if rest.strip_prefix(OPEN).is_some_and(tag) {
            open.push(marks.len());
            marks.push(Mark { start, end: start + OPEN.len(), is_open: true, block_end: None });
        } else if rest.starts_with(CLOSE) {
            let end = start + CLOSE.len();
            if let Some(index) = open.pop() {
                marks[index].block_end = Some(end);
            }
            marks.push(Mark { start, end, is_open: false, block_end: None });
        }
    }
    marks
}

fn without_blocks(text: &str, marks: &[Mark]) -> String {
    let mut output = String::with_capacity(text.len());
    let mut copied = 0;
    for mark in marks {
        if mark.start < copied {
            continue;
        }
        output.push_str(&text[copied..mark.start]);
        copied = match mark.block_end {
            Some(end) => end,
            None if mark.is_open => paragraph_end(text, mark.end),
            None => mark.end,
        };
    }
    output.push_str(&text[copied..]);
    output
}

/// Where the next empty line begins.
fn paragraph_end(text: &str, start: usize) -> usize {
    let mut breaks = text[start..].match_indices('\n').map(|(at, _)| start + at);
    let is_empty_line = |at: &usize| text[at + 1..].starts_with('\n') || text[at + 1..].starts_with("\r\n");
    breaks.find(is_empty_line).unwrap_or(text.len())
}
