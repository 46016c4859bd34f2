//! Passwords in tables: what stands in the column of a Markdown table or of comma-separated values whose heading names a
//! password.

use std::ops::Range;

use super::judge::{self, Separator, Value};
use super::vocabulary::{KEY_WORDS, OTHER_MEANING, Strength};
use super::{Family, Span};

/// Words of a heading, at most.
const MAX_WORDS: usize = 3;
/// Characters of a heading, at most.
const MAX_HEADING: usize = 40;
/// What makes of a password a question or an act, whose cells are no passwords, or of a heading a part of a sentence.
const ABOUT: [&str; 24] = [
    "a", "and", "change", "changed", "forgot", "has", "is", "my", "needs", "no", "or", "require", "required",
    "requires", "reset", "set", "show", "that", "the", "then", "this", "uses", "without", "your",
];
/// What stands around the content of a cell.
const DECORATION: [char; 6] = ['*', '_', '`', '"', '\'', ' '];

/// The passwords that stand in columns of tables. Every line is looked at once as a heading and once as a row.
pub(super) fn find(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut lines = lines(text).peekable();
    while let Some(line) = lines.next() {
        let Some(next) = lines.peek() else { break };
        let Some(table) = Table::headed(text, &line, next) else { continue };
        if table.separator == '|' {
            // The line below the headings.
            lines.next();
        }
        while let Some(row) = lines.next_if(|row| table.goes_on(text, row)) {
            spans.extend(table.secrets(text, &row));
        }
    }
    spans
}

/// Where the lines stand, without what ends them.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut from = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = from;
        from += line.len();
        start..start + line.trim_end_matches(['\n', '\r']).len()
    })
}

/// A table with a column of passwords.
struct Table {
    separator: char,
    /// How many cells a row has.
    many: usize,
    /// The columns, and whether their headings are Chinese, Japanese or Korean.
    columns: Vec<(usize, bool)>,
}

impl Table {
    /// The table whose headings are at `line`, where `next` is the line behind them.
    fn headed(text: &str, line: &Range<usize>, next: &Range<usize>) -> Option<Self> {
        let (head, below) = (&text[line.clone()], &text[next.clone()]);
        let separator = match () {
            () if head.contains('|') => Some('|').filter(|_| is_rule(below)),
            () => ['\t', ';', ','].into_iter().find(|c| head.contains(*c)),
        }?;
        let cells = cells(text, line, separator);
        // Two points of a list that have commas are no table.
        if separator != '|' && head.trim_start().starts_with(['-', '*', '+', '>']) {
            return None;
        }
        let is_heading = |cell: &Range<usize>| separator == '|' || is_plain(&text[cell.clone()]);
        if cells.len() < 2 || head.len() > cells.len() * (MAX_HEADING + 8) || !cells.iter().all(is_heading) {
            return None;
        }
        let key = |(at, cell): (usize, &Range<usize>)| Some((at, names_password(&text[cell.clone()])?));
        let columns: Vec<_> = cells.iter().enumerate().filter_map(key).collect();
        (!columns.is_empty()).then_some(Self { separator, many: cells.len(), columns })
    }

    /// Whether a line is a row of the table.
    fn goes_on(&self, text: &str, row: &Range<usize>) -> bool {
        match self.separator {
            '|' => text[row.clone()].contains('|'),
            _ => !text[row.clone()].trim().is_empty(),
        }
    }

    fn secrets(&self, text: &str, row: &Range<usize>) -> Vec<Span> {
        let cells = cells(text, row, self.separator);
        // A row with a comma too many, or a remark, is passed over; the rows below it are none the less rows.
        if self.separator != '|' && cells.len() != self.many {
            return Vec::new();
        }
        let secret = |(at, is_cjk): &(usize, bool)| {
            let cell = cells.get(*at)?;
            // With a space behind each comma it may be a sentence: a word of letters alone is one there.
            let is_loose = self.separator == ',' && text[cell.clone()].starts_with(' ');
            let is_word = text[cell.clone()].trim().chars().all(char::is_alphabetic);
            if is_loose && is_word { None } else { secret(text, cell, *is_cjk) }
        };
        self.columns.iter().filter_map(secret).collect()
    }
}

/// The line between the headings and the rows of a Markdown table, or of one that a database's shell draws.
fn is_rule(line: &str) -> bool {
    line.contains('-')
        && line.contains(['|', '+'])
        && line.chars().all(|c| matches!(c, '|' | '+' | '-' | ':' | ' ' | '\t' | '>'))
}

/// Where the cells of a line stand. A bar behind a backslash and a separator within quotes end none.
fn cells(text: &str, line: &Range<usize>, separator: char) -> Vec<Range<usize>> {
    let (mut cells, mut start) = (Vec::new(), line.start);
    let (mut is_escaped, mut is_quoted) = (false, false);
    for (at, c) in text[line.clone()].char_indices() {
        let at = line.start + at;
        if c == separator && !is_escaped && !is_quoted {
            cells.push(start..at);
            start = at + c.len_utf8();
        }
        is_quoted ^= separator != '|' && c == '"';
        is_escaped = separator == '|' && c == '\\' && !is_escaped;
    }
    cells.push(start..line.end);
    cells
}

/// Whether a cell of comma-separated values may be a heading: a name of few words.
fn is_plain(cell: &str) -> bool {
    let name = cell.trim_matches(['"', ' ', '\u{feff}']);
    let is_fit = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.');
    !name.is_empty()
        && !name.ends_with('.')
        && name.split_whitespace().count() <= MAX_WORDS
        && name.chars().all(is_fit)
}

/// Whether a heading names passwords, and then whether it is Chinese, Japanese or Korean.
fn names_password(cell: &str) -> Option<bool> {
    let heading = cell.split(['(', '\u{ff08}']).next()?.trim_matches(DECORATION).trim();
    if heading.len() > MAX_HEADING {
        return None;
    }
    let lower = heading.to_lowercase();
    let one = lower.strip_suffix('s').filter(|one| one.ends_with("password")).unwrap_or(&lower);
    let word = KEY_WORDS.iter().find(|word| {
        let is_password = word.strength == Strength::Password || word.word == "pwd";
        is_password && one.ends_with(word.word)
    })?;
    let before: Vec<&str> = one[..one.len() - word.word.len()].split([' ', '_', '-', '.']).collect();
    let is_other = |word: &&str| ABOUT.contains(word) || OTHER_MEANING.contains(word);
    (before.len() <= MAX_WORDS && !before.iter().any(is_other)).then_some(word.is_cjk)
}

/// The secret in a cell below such a heading.
fn secret(text: &str, cell: &Range<usize>, is_cjk: bool) -> Option<Span> {
    let whole = text[cell.clone()].trim();
    let bare = whole.trim_matches(['`', '"', '\'', '*']);
    let start = cell.start + text[cell.clone()].find(bare).filter(|_| !bare.is_empty())?;
    let value = Value {
        text: bare,
        separator: Separator::Colon,
        strength: Strength::Password,
        quoted: whole.len() > bare.len() && whole.starts_with(['`', '"', '\'']),
        alone: true,
        ends_sentence: true,
        key_capital: true,
        cjk: is_cjk,
    };
    let is_words = !value.quoted && bare.contains(char::is_whitespace);
    let is_secret = !is_words && judge::is_secret(&value);
    is_secret.then(|| Span { family: Family::Assignment, start, end: start + bare.len() })
}
