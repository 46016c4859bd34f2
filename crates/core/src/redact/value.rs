//! The literal that follows a separator: where it begins and ends, quoted or bare.

use super::credentials::{ahead, end_of_run};
use super::judge::Separator;
use super::keyword::Key;
use super::vocabulary::CJK_ENDINGS;

/// A literal without its quotes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Literal {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) quoted: bool,
    /// Whether it was longer than what is looked at before it is known to be a secret.
    cut: bool,
}

impl Literal {
    /// Where the literal really ends. Unbounded: only for what is going to be consumed.
    pub(super) fn full_end(&self, text: &str) -> usize {
        if self.cut { end_of_run(text, self.end, |c| !ends_bare(c)) } else { self.end }
    }
}

/// So much of a value is judged; a longer one is a secret when its beginning is.
const MAX_JUDGED: usize = 128;

/// Opening quotes and what closes them.
const QUOTES: [(&str, &str); 10] = [
    ("\\\"", "\\\""),
    ("\\'", "\\'"),
    ("\"", "\""),
    ("'", "'"),
    ("`", "`"),
    ("“", "”"),
    ("‘", "’"),
    ("「", "」"),
    ("『", "』"),
    ("【", "】"),
];

/// Constructors around a string literal that change nothing about its being one.
const WRAPPERS: [&str; 9] = [
    "String::from(",
    "Some(",
    "SecretString::from(",
    "SecretString::new(",
    "Secret::new(",
    "str(",
    "String(",
    "new String(",
    "Ok(",
];

/// The literal at `start`.
pub(super) fn literal(text: &str, start: usize) -> Option<Literal> {
    let rest = ahead(text, start);
    let rest = &rest[..rest.floor_char_boundary(MAX_JUDGED)];
    let unwrapped =
        WRAPPERS.iter().find_map(|w| rest.strip_prefix(w)).filter(|r| r.starts_with('"')).unwrap_or(rest);
    let content = strip_string_prefix(unwrapped);
    let from = start + rest.len() - content.len();
    for (open, close) in QUOTES {
        if let Some(inner) = content.strip_prefix(open) {
            let inner_start = from + open.len();
            return Some(quoted(inner, inner_start, close).unwrap_or_else(|| bare(text, inner, inner_start)));
        }
    }
    let bold = content.trim_start_matches('*');
    let literal = bare(text, bold, from + content.len() - bold.len());
    (literal.end > literal.start).then_some(literal)
}

/// The literal behind the first one that counts when the first is a variable or a user name:
/// `env.SECRET || "..."`, `admin / ...`.
pub(super) fn fallback(text: &str, first: Literal) -> Option<Literal> {
    let rest = ahead(text, first.end);
    let marks = [" || ", " ?? ", " or ", ") || ", ") ?? ", ") or ", " / "];
    let mark = marks.iter().find(|mark| rest.starts_with(**mark))?;
    literal(text, first.end + mark.len()).filter(|literal| literal.quoted || *mark == " / ")
}

/// Drops the letter of `b"..."`, `r'...'`, `f"..."`, `@"..."`, `N'...'`.
fn strip_string_prefix(rest: &str) -> &str {
    let tail = rest.trim_start_matches(['b', 'r', 'f', 'u', 'B', 'R', 'F', 'N', '@', '$']);
    let prefix = rest.len() - tail.len();
    if (1..=2).contains(&prefix) && tail.starts_with(['"', '\'']) { tail } else { rest }
}

/// The content up to the closing quote on the same line; `None` when there is none.
fn quoted(inner: &str, start: usize, close: &str) -> Option<Literal> {
    let line = &inner[..inner.find('\n').unwrap_or(inner.len())];
    let mut from = 0;
    while let Some(offset) = line[from..].find(close) {
        let at = from + offset;
        let escapes = line[..at].bytes().rev().take_while(|&b| b == b'\\').count();
        if escapes % 2 == 0 || close.len() == 2 {
            return Some(Literal { start, end: start + at, quoted: true, cut: false });
        }
        from = at + close.len();
    }
    None
}

/// Whether a bare value cannot go on with this character.
fn ends_bare(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '"' | '\'' | '`' | ';' | '<' | '”' | '’')
        || matches!(c, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}' | '\u{2018}'..='\u{201f}')
        || matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

fn bare(text: &str, rest: &str, start: usize) -> Literal {
    let starts_template = rest.starts_with(['<', '$', '{']);
    let ends = |c: char| if starts_template { c.is_whitespace() || c == '"' } else { ends_bare(c) };
    let run = rest.find(ends).unwrap_or(rest.len());
    let run = unbalanced(&rest[..run]).unwrap_or(run);
    let (joint, _) = joint_or_all(&rest[..run]);
    let value = trim_punctuation(joint);
    let cut = run == rest.len() && value.len() == run && start + run < text.len();
    Literal { start, end: start + value.len(), quoted: false, cut }
}

/// Where a bracket closes that was not opened inside and no letter follows: `(token=abc)](https...`.
fn unbalanced(run: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in run.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' if depth > 0 => depth -= 1,
            ')' | ']' if !run[at + 1..].starts_with(|c: char| c.is_ascii_alphanumeric()) => return Some(at),
            _ => {}
        }
    }
    None
}

/// Cuts at a `,` or `&` that begins the next `name=value`, and at a comma before a space.
fn joint_or_all(run: &str) -> (&str, bool) {
    for (at, _) in run.match_indices([',', '&', '|']) {
        let next = &run[at + 1..];
        let name =
            next.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')).count();
        if next.is_empty() || (name > 0 && next[name..].starts_with(['=', ':'])) {
            return (&run[..at], true);
        }
    }
    (run, false)
}

/// Sentence and bracket characters at the end belong to the sentence; a bracket stays when it was opened inside.
fn trim_punctuation(run: &str) -> &str {
    let mut value = run.trim_end_matches(['.', ',', ';', ':', '?', '\\', '*', '|']);
    for (open, close) in [('(', ')'), ('[', ']'), ('{', '}')] {
        while value.ends_with(close) && value.matches(open).count() < value.matches(close).count() {
            value = value[..value.len() - 1].trim_end_matches(['.', ',', ';', ':', '?']);
        }
    }
    value
}

/// Whether key and value are all that stands on their line, or the syntax says that the value is a literal.
pub(super) fn stands_alone(text: &str, key: &Key, literal: &Literal, separator: Separator) -> bool {
    let after = ahead(text, literal.end);
    let closes = after.is_empty() || after.starts_with(char::is_whitespace) || after.starts_with('<');
    if separator == Separator::Tight {
        let in_list = text[..key.start].ends_with(';') && after.starts_with(';');
        let joined = in_list
            || after
                .strip_prefix([';', '&'])
                .is_some_and(|n| n.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '"'));
        if joined || (closes && (key.is_upper(text) || key.is_flag(text) || after.starts_with("</"))) {
            return true;
        }
    }
    let window = text.floor_char_boundary(key.start.saturating_sub(80));
    let before = text[window..key.start].rsplit('\n').next().unwrap_or_default();
    let lead = before.trim_matches([' ', '\t', '-', '*', '"', '\'', '`', '#', '>', '+', '•', '|']);
    let words = lead.split_whitespace().all(|w| w.bytes().all(|b| b.is_ascii_alphabetic()));
    let lead_fits = matches!(lead, "" | "export" | "ENV" | "set" | "SET" | "ARG" | "setenv")
        || (separator == Separator::Colon && words && lead.len() <= 24 && !is_declaration(lead));
    let line = &after[..after.find('\n').unwrap_or(after.len())];
    let tail = line.trim_matches([' ', '\t', '\r', '"', '\'', '`', '*', '.', '\\', '|']);
    lead_fits && (tail.is_empty() || tail.starts_with('#'))
}

/// Words that declare a variable, so that a type follows the colon.
fn is_declaration(lead: &str) -> bool {
    let words = [
        "let", "var", "val", "const", "pub", "mut", "readonly", "private", "public", "static", "def", "fn",
        "lateinit",
    ];
    lead.split_whitespace().any(|w| words.contains(&w))
}

/// Whether the sentence or the line is over behind the literal.
pub(super) fn ends_sentence(text: &str, literal: &Literal) -> bool {
    let after = ahead(text, literal.end);
    let unquoted = after.trim_start_matches(['"', '\'', '`', '”', '’', '」', '*']);
    let trimmed = unquoted.trim_start_matches([' ', '\t', '\r']);
    let stop = trimmed.starts_with(['.', '!', ';', ',', '\n', ')']) && unquoted.len() == trimmed.len();
    trimmed.is_empty()
        || trimmed.starts_with('\n')
        || stop
        || CJK_ENDINGS.iter().any(|e| trimmed.starts_with(e))
}
