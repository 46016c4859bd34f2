//! The fields of a file's frontmatter: read, and set without touching anything else.
//!
//! The block is edited line by line, never parsed and written anew: keys that nobody asked for, their order, comments and the
//! way they are quoted stay. What is read is the part of YAML that people write there; anything else is [`Value::Other`].

use std::ops::Range;

use super::{byte_order_mark, edit::line_break, frontmatter, toml_end};

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// One value on its line; without quotes.
    Text(String),
    /// A list of values, in brackets or one on each line.
    List(Vec<String>),
    /// Anything else, as it is written.
    Other(String),
}

/// Why fields cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// The block is TOML.
    #[error("the frontmatter is TOML, and only YAML is edited")]
    Toml,
    /// Not a plain word.
    #[error("`{0}` is no key: use letters, digits, `_` and `-`")]
    Key(String),
    /// A value with a line break or control character.
    #[error("the value of `{0}` is not one line of text")]
    Control(String),
}

/// The fields of the frontmatter, in order. Those of TOML are not read.
pub fn fields(text: &str) -> Vec<(String, Value)> {
    let Some(front) = frontmatter(text) else { return Vec::new() };
    let yaml = &text[front.yaml];
    items(yaml)
        .into_iter()
        .map(|item| (item.key.to_owned(), read(&yaml[item.value], &yaml[item.rest])))
        .collect()
}

/// One field; the last of several with this key, as YAML readers take it.
pub fn field(text: &str, key: &str) -> Option<Value> {
    fields(text).into_iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// Sets fields: those that are there get the new value in their place, others are added at the end of the block. Without a block
/// one is made. Every other byte stays.
pub fn set_fields(text: &str, changes: &[(&str, Value)]) -> Result<String, FieldError> {
    if toml_end(text).is_some() {
        return Err(FieldError::Toml);
    }
    let mut edited = text.to_owned();
    for (key, value) in changes {
        let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        if key.is_empty() || key.starts_with('-') || !key.chars().all(is_plain) {
            return Err(FieldError::Key((*key).to_owned()));
        }
        let written = written(value).ok_or_else(|| FieldError::Control((*key).to_owned()))?;
        edited = set(&edited, key, &written);
    }
    Ok(edited)
}

fn set(text: &str, key: &str, value: &str) -> String {
    let broken = line_break(text, 0);
    let Some(front) = frontmatter(text) else {
        let at = byte_order_mark(text);
        let gap = if text[at..].is_empty() || text[at..].starts_with(['\n', '\r']) { "" } else { broken };
        let block = format!("---{broken}{key}: {value}{broken}---{broken}{gap}");
        return format!("{}{block}{}", &text[..at], &text[at..]);
    };
    let yaml = &text[front.yaml.clone()];
    let same = items(yaml).into_iter().rev().find(|item| item.key == key);
    let Some(item) = same else {
        let (before, after) = text.split_at(front.yaml.end);
        return format!("{before}{key}: {value}{broken}{after}");
    };
    let line = &yaml[item.value.clone()];
    let bare = line.trim_end_matches(['\n', '\r']);
    let end = &line[bare.len()..];
    let comment =
        comment_at(bare).filter(|_| yaml[item.rest.clone()].is_empty()).map_or("", |at| &bare[at..]);
    let (start, stop) = (front.yaml.start + item.value.start, front.yaml.start + item.rest.end);
    format!("{} {value}{comment}{end}{}", &text[..start], &text[stop..])
}

/// A key with its value.
struct Item<'t> {
    key: &'t str,
    /// What follows the colon on the key's line, with its line break.
    value: Range<usize>,
    /// The lines after it that belong to it.
    rest: Range<usize>,
}

fn items(yaml: &str) -> Vec<Item<'_>> {
    let mut found: Vec<Item<'_>> = Vec::new();
    let mut at = 0;
    // Blank lines and comments belong to a value only when more of it follows.
    let mut open_brackets = 0_i64;
    for line in yaml.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let is_part = line.starts_with([' ', '\t', '-']) || open_brackets > 0;
        if let Some(last) = found.last_mut().filter(|_| is_part && !line.trim().is_empty()) {
            last.rest.end = end;
            open_brackets += brackets(line);
        } else if let Some((key, after)) = key_of(line) {
            let value = start + after..end;
            open_brackets = brackets(&line[after..]);
            found.push(Item { key, value, rest: end..end });
        }
    }
    found
}

/// The key of a line `key: ...`, and where its colon ends.
fn key_of(line: &str) -> Option<(&str, usize)> {
    if line.starts_with(['#', ' ', '\t', '-']) {
        return None;
    }
    let colon = line.match_indices(':').map(|(at, _)| at).find(|at| {
        let after = line[at + 1..].chars().next();
        after.is_none_or(char::is_whitespace)
    })?;
    let key = line[..colon].trim();
    let bare = key.strip_prefix('"').and_then(|key| key.strip_suffix('"'));
    let bare = bare.or_else(|| key.strip_prefix('\'').and_then(|key| key.strip_suffix('\'')));
    Some((bare.unwrap_or(key), colon + 1)).filter(|(key, _)| !key.is_empty())
}

/// How many brackets a line leaves open, those in quotes and comments left out.
fn brackets(line: &str) -> i64 {
    let line = &line[..comment_at(line).unwrap_or(line.len())];
    let marks = outside_quotes(line).into_iter().map(|(_, c)| match c {
        '[' | '{' => 1,
        ']' | '}' => -1,
        _ => 0,
    });
    let open: i64 = marks.sum();
    // A bracket inside a plain text is none: only a value that begins with one is a collection.
    if line.trim_start().starts_with(['[', '{']) || open < 0 { open } else { 0 }
}

/// Where a comment begins, with the space before it. Quoted text has none.
fn comment_at(line: &str) -> Option<usize> {
    let begins = |at: usize| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    let found = outside_quotes(line).into_iter().find(|(at, c)| *c == '#' && begins(*at));
    found.map(|(at, _)| line[..at].trim_end().len())
}

/// The characters that are not in quotes. A quote opens at the beginning of a value only.
fn outside_quotes(line: &str) -> Vec<(usize, char)> {
    let mut outside = Vec::new();
    let (mut quote, mut before, mut is_escaped) = (None, ' ', false);
    for (at, c) in line.char_indices() {
        match quote {
            None if ['"', '\''].contains(&c) && (before.is_whitespace() || "[{,".contains(before)) => {
                quote = Some(c);
            }
            None => outside.push((at, c)),
            Some('"') if is_escaped => is_escaped = false,
            Some('"') if c == '\\' => is_escaped = true,
            Some(mark) if mark == c => quote = None,
            Some(_) => {}
        }
        before = c;
    }
    outside
}

fn read(value: &str, rest: &str) -> Value {
    let other = || Value::Other(format!("{value}{rest}").trim().to_owned());
    let line = value[..comment_at(value).unwrap_or(value.len())].trim();
    let joined = format!("{line} {}", rest.lines().map(str::trim).collect::<Vec<_>>().join(" "));
    if let Some(inner) = joined.trim().strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
        return list_in_brackets(inner).map_or_else(other, Value::List);
    }
    if rest.trim().is_empty() {
        let is_plain = !line.starts_with(['{', '|', '>', '&', '*', '!']);
        return if is_plain { unquoted(line).map_or_else(other, Value::Text) } else { other() };
    }
    let lines = rest.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let items = lines.map(|line| {
        let item = line.strip_prefix('-').filter(|item| item.is_empty() || item.starts_with(' '))?;
        let item = item[..comment_at(item).unwrap_or(item.len())].trim();
        let is_nested = item.contains(": ") || item.starts_with(['[', '{', '-', '|', '>']);
        if is_nested && !item.starts_with(['"', '\'']) { None } else { unquoted(item) }
    });
    let whole: Option<Vec<String>> = if line.is_empty() { items.collect() } else { None };
    whole.map_or_else(other, Value::List)
}

fn list_in_brackets(inner: &str) -> Option<Vec<String>> {
    let outside = outside_quotes(inner);
    if outside.iter().any(|(_, c)| ['[', '{'].contains(c)) {
        return None;
    }
    let commas = outside.iter().filter(|(_, c)| *c == ',').map(|(at, _)| *at);
    let mut items = Vec::new();
    let mut from = 0;
    for comma in commas {
        items.push(inner[from..comma].trim());
        from = comma + 1;
    }
    items.push(inner[from..].trim());
    // A comma at the end adds nothing.
    items.into_iter().filter(|item| !item.is_empty()).map(unquoted).collect()
}

/// A value without its quotes; `None` when they are not closed.
fn unquoted(text: &str) -> Option<String> {
    if let Some(inner) = text.strip_prefix('\'') {
        return Some(inner.strip_suffix('\'')?.replace("''", "'"));
    }
    let Some(inner) = text.strip_prefix('"') else { return Some(text.to_owned()) };
    let mut plain = String::new();
    let mut chars = inner.strip_suffix('"')?.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => plain.push('\n'),
            ('\\', Some('t')) => plain.push('\t'),
            ('\\', Some(other)) => plain.push(other),
            ('\\', None) => return None,
            (other, _) => plain.push(other),
        }
    }
    Some(plain)
}

/// The value as it is written on the line of its key; `None` when it is not one line.
fn written(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => quoted(text, false),
        Value::List(items) => {
            let items: Option<Vec<String>> = items.iter().map(|item| quoted(item, true)).collect();
            Some(format!("[{}]", items?.join(", ")))
        }
        Value::Other(raw) => (!raw.chars().any(char::is_control)).then(|| raw.clone()),
    }
}

/// In quotes where YAML would read something else than the text.
fn quoted(text: &str, in_list: bool) -> Option<String> {
    if text.chars().any(|c| c.is_control() || ['\u{2028}', '\u{2029}', '\u{feff}'].contains(&c)) {
        return None;
    }
    let marks = "-?:,[]{}#&*!|>'\"%@`~=<";
    let is_word = matches!(
        text.to_ascii_lowercase().as_str(),
        "" | "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    let is_plain = !is_word
        && !text.starts_with(|c| marks.contains(c))
        && text.trim() == text
        && !text.contains(": ")
        && !text.ends_with(':')
        && !text.contains(" #")
        && !text.contains(['"', '\'', '\\'])
        && !(in_list && text.contains([',', '[', ']', '{', '}']));
    if is_plain {
        return Some(text.to_owned());
    }
    Some(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Value {
        Value::Text(value.to_owned())
    }

    fn list(items: &[&str]) -> Value {
        Value::List(items.iter().map(|item| (*item).to_owned()).collect())
    }

    const NOTE: &str = "---\ntitle: \"A: b\" # shown\n# kept\ntype: litnote\ntags:\n  - a b\n  - 'c''d'\ncitekey: knuth84\nsource:\n  type: session\n\nnames: [x, \"y, z\",\n  w]\nlong: |\n  one\n\n  two\n---\n# Note\n";

    #[test]
    fn fields_are_read_as_people_write_them() {
        let found = fields(NOTE);
        let expected = [
            ("title", text("A: b")),
            ("type", text("litnote")),
            ("tags", list(&["a b", "c'd"])),
            ("citekey", text("knuth84")),
            ("source", Value::Other("type: session".to_owned())),
            ("names", list(&["x", "y, z", "w"])),
            ("long", Value::Other("|\n  one\n\n  two".to_owned())),
        ];
        assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value)));
        assert_eq!(field(NOTE, "none"), None);
        assert_eq!(field("+++\nid = 1\n+++\n", "id"), None);
        assert_eq!(field("---\nurl: http://x\n---\n", "url"), Some(text("http://x")));
    }

    #[test]
    fn field_case_53_keys_go_into_the_one_block_and_all_else_stays() {
        let changes = [("type", text("fact")), ("id", text("k-1")), ("tags", list(&["x", "y: z"]))];
        let edited = set_fields(NOTE, &changes).expect("it is YAML");
        let expected = NOTE
            .replace("type: litnote", "type: fact")
            .replace("tags:\n  - a b\n  - 'c''d'\n", "tags: [x, \"y: z\"]\n")
            .replace("  two\n---", "  two\nid: k-1\n---");
        assert_eq!(edited, expected);
        assert_eq!(set_fields(&edited, &changes), Ok(expected), "again changes nothing");
        let titled = set_fields(NOTE, &[("title", text("New"))]).expect("it is YAML");
        assert_eq!(titled, NOTE.replace("\"A: b\" # shown", "New # shown"));
        let long = set_fields(NOTE, &[("long", text("short"))]).expect("it is YAML");
        assert_eq!(long, NOTE.replace("|\n  one\n\n  two\n", "short\n"));
    }

    #[test]
    fn a_block_is_made_when_there_is_none() {
        let made =
            set_fields("\u{feff}# A\r\n\r\n---\r\nx: y\r\n---\r\n", &[("id", text("1"))]).expect("made");
        assert_eq!(made, "\u{feff}---\r\nid: 1\r\n---\r\n\r\n# A\r\n\r\n---\r\nx: y\r\n---\r\n");
        assert_eq!(set_fields("", &[("id", text("true"))]).as_deref(), Ok("---\nid: \"true\"\n---\n"));
        assert_eq!(set_fields("+++\na = 1\n+++\n", &[("id", text("1"))]), Err(FieldError::Toml));
        assert_eq!(set_fields("", &[("a b", text("1"))]), Err(FieldError::Key("a b".to_owned())));
        assert_eq!(set_fields("", &[("a", text("1\n---"))]), Err(FieldError::Control("a".to_owned())));
        assert_eq!(set_fields("---\n---\nx", &[("a", text("b"))]).as_deref(), Ok("---\na: b\n---\nx"));
    }
}
