//! Key words and their values: `password = ...`, "the API key is ...", 密码是……, `/secret/<key>`.

use super::judge::{self, Separator, Value};
use super::vocabulary::{KeyWord, OTHER_MEANING, STRENGTHENING, SUFFIXES, Strength};
use super::{Family, Span, credentials, separator, shape, tokens, value};

/// An identifier that holds a key word is no longer than this on either side of the word.
const MAX_NAME_SIDE: usize = 64;
/// How far from the key word a random-looking value still belongs to it.
const NEARBY: usize = 80;

/// The name a key word was found in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    /// Where the identifier around the word begins and ends.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) strength: Strength,
    pub(super) cjk: bool,
    /// `pass` is a secret only behind `=` or `:`; elsewhere it is a verb.
    wants_equals: bool,
    /// SQL's "identified by" takes a quoted literal; elsewhere it is prose.
    wants_quotes: bool,
}

impl Key {
    /// Whether the name is written in capitals, as environment variables are.
    pub(super) fn is_upper(&self, text: &str) -> bool {
        let name = &text[self.start..self.end];
        name.bytes().any(|b| b.is_ascii_uppercase()) && !name.bytes().any(|b| b.is_ascii_lowercase())
    }

    /// Whether the name is a long command-line option.
    pub(super) fn is_flag(&self, text: &str) -> bool {
        text[self.start..self.end].starts_with("--") || text[..self.start].ends_with("--")
    }
}

/// The secret that the key word at `start..end` names, if there is one.
pub(super) fn value_of(text: &str, start: usize, end: usize, word: &KeyWord) -> Option<Span> {
    if let Some(segment) = path_segment(text, start, end) {
        return Some(segment);
    }
    let key = name_around(text, start, end, word)?;
    let assigned = separator::after(text, &key).and_then(|found| assigned_value(text, &key, found));
    assigned.or_else(|| nearby(text, &key))
}

fn assigned_value(text: &str, key: &Key, found: separator::Found) -> Option<Span> {
    let literal = value::literal(text, found.value_start)?;
    judged(text, key, found, literal).or_else(|| {
        let fallback = value::fallback(text, literal)?;
        judged(text, key, separator::Found { separator: Separator::Faint, ..found }, fallback)
    })
}

fn judged(text: &str, key: &Key, found: separator::Found, literal: value::Literal) -> Option<Span> {
    let content = &text[literal.start..literal.end];
    if (found.wants_quotes || key.wants_quotes) && !literal.quoted {
        return None;
    }
    if key.wants_equals && matches!(found.separator, Separator::Faint | Separator::Is) {
        return None;
    }
    if let Some(token) = known_token(text, &literal) {
        return Some(token);
    }
    let bare_weak = found.separator == Separator::Faint && key.strength == Strength::Weak && !literal.quoted;
    let value = Value {
        text: content,
        separator: found.separator,
        strength: key.strength,
        quoted: literal.quoted,
        alone: value::stands_alone(text, key, &literal, found.separator),
        ends_sentence: value::ends_sentence(text, &literal),
        key_capital: text[key.start..].starts_with(|c: char| c.is_ascii_uppercase()),
        cjk: key.cjk,
    };
    let secret = judge::is_secret(&value) && !(bare_weak && content.len() < 16);
    secret.then(|| Span { family: Family::Assignment, start: literal.start, end: literal.full_end(text) })
}

/// A vendor's token standing as the whole value keeps its own family. `sk-` keys do not: many vendors share
/// that form, and the key name says more than the shape.
fn known_token(text: &str, literal: &value::Literal) -> Option<Span> {
    let token = tokens::at(text, literal.start).filter(|token| token.end >= literal.end)?;
    let family = if token.family == Family::ModelKey { Family::Assignment } else { token.family };
    Some(Span { family, ..token })
}

/// The identifier around the word, unless the word is only a part of another word or names something else.
fn name_around(text: &str, start: usize, end: usize, word: &KeyWord) -> Option<Key> {
    if word.is_cjk {
        let strength = word.strength;
        return Some(Key { start, end, strength, cjk: true, wants_equals: false, wants_quotes: false });
    }
    let bytes = text.as_bytes();
    let in_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    let before = bytes[..start].iter().rev().take(MAX_NAME_SIDE).take_while(|b| in_name(b)).count();
    let after = bytes[end..].iter().take(MAX_NAME_SIDE).take_while(|b| in_name(b)).count();
    let (qualifier, suffix) = (&text[start - before..start], &text[end..end + after]);
    if !begins_word(qualifier, &text[start..end], word) || placeholder_name(text, start - before) {
        return None;
    }
    let is_plural = suffix == "s";
    if !is_plural && !suffix_fits(suffix) {
        return None;
    }
    let mut words = words_of(qualifier);
    if words.any(|w| OTHER_MEANING.contains(&w.as_str())) {
        return None;
    }
    let strength = strength(text, start, qualifier, suffix, word);
    let strength = if is_plural { Strength::Weak } else { strength };
    let suffix_end = end + suffix.trim_end_matches(['-', '_']).len();
    Some(Key {
        start: start - before,
        end: suffix_end,
        strength,
        cjk: false,
        wants_equals: word.word == "pass",
        wants_quotes: word.word == "identified by",
    })
}

fn placeholder_name(text: &str, name: usize) -> bool {
    text[..name].ends_with('[') && text[name..].starts_with("REDACTED")
}

/// `tokenPassword`, `db_password`, `dbpassword`, but not `secretary` nor `subtoken`.
fn begins_word(qualifier: &str, found: &str, word: &KeyWord) -> bool {
    match qualifier.bytes().last() {
        Some(last) if last.is_ascii_alphabetic() => {
            let camel = found.starts_with(|c: char| c.is_ascii_uppercase()) && last.is_ascii_lowercase();
            let joined = word.strength == Strength::Password && word.word.len() >= 6;
            let capitals = found == "PASS" && last.is_ascii_uppercase();
            camel || joined || capitals
        }
        _ => true,
    }
}

fn suffix_fits(suffix: &str) -> bool {
    if suffix.starts_with(|c: char| c.is_ascii_lowercase()) {
        return false;
    }
    words_of(suffix).all(|w| w.bytes().all(|b| b.is_ascii_digit()) || SUFFIXES.contains(&w.as_str()))
}

/// The lower-case words of an identifier, cut at `_`, `-` and capitals.
fn words_of(name: &str) -> impl Iterator<Item = String> {
    let mut words = Vec::new();
    for part in name.split(['_', '-']).filter(|part| !part.is_empty()) {
        let bytes = part.as_bytes();
        let mut begin = 0;
        for i in 1..bytes.len() {
            if bytes[i].is_ascii_uppercase() && !bytes[i - 1].is_ascii_uppercase() {
                words.push(part[begin..i].to_ascii_lowercase());
                begin = i;
            }
        }
        words.push(part[begin..].to_ascii_lowercase());
    }
    words.into_iter()
}

/// A word is stronger in company: `jwt_secret`, `secret_key` and "access token" say more than `token`.
fn strength(text: &str, start: usize, qualifier: &str, suffix: &str, word: &KeyWord) -> Strength {
    let qualified = !qualifier.trim_matches(['-', '_']).is_empty();
    let upper = !text[start..].starts_with(|c: char| c.is_ascii_lowercase());
    match word.strength {
        Strength::Strong if word.word == "pass" && qualified && upper => Strength::Password,
        Strength::Strong if word.word == "pwd" && (qualified || upper) => Strength::Password,
        Strength::Weak if qualified || suffix.to_ascii_lowercase().contains("key") => Strength::Strong,
        Strength::Weak if follows_strengthening(text, start) => Strength::Strong,
        other => other,
    }
}

fn follows_strengthening(text: &str, start: usize) -> bool {
    let window = text.floor_char_boundary(start.saturating_sub(16));
    let Some(before) = text[window..start].strip_suffix(' ') else { return false };
    let word = before.rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    STRENGTHENING.contains(&word.to_ascii_lowercase().as_str())
}

/// A random-looking run on the same line, near a key word that no separator joins to it. The search ends at
/// a placeholder, so that a second look finds nothing new.
fn nearby(text: &str, key: &Key) -> Option<Span> {
    let window = text.floor_char_boundary((key.end + NEARBY).min(text.len()));
    let line = text[key.end..window].split('\n').next().unwrap_or_default();
    let line = line.split(judge::PLACEHOLDER).next().unwrap_or_default();
    let mut at = 0;
    while let Some(offset) = line[at..].find(|c: char| shape::is_token_char(c) && c != '=') {
        at += offset;
        let start = key.end + at;
        let run = credentials::ahead(text, start);
        let len = run.find(|c: char| !shape::is_token_char(c)).unwrap_or(run.len());
        let lead = text[..start].chars().next_back();
        let free = !matches!(lead, Some('/' | '.' | '\\' | '@' | '#' | '$' | '%'));
        let joined = text[start + len..].starts_with(['(', '.', '/', ':', '[']);
        if free
            && !joined
            && shape::looks_random(&run[..len])
            && !judge::is_reference(&run[..len])
            && !judge::is_digest_or_path(&run[..len])
        {
            let end = credentials::end_of_run(text, start + len, shape::is_token_char);
            return Some(Span { family: Family::HighEntropy, start, end });
        }
        at += len;
        if at >= line.len() {
            break;
        }
    }
    None
}

/// The key-like segment behind a path segment that is a key word: `https://host/secret/k3y...`.
fn path_segment(text: &str, start: usize, end: usize) -> Option<Span> {
    if !text[..start].ends_with('/') {
        return None;
    }
    let rest = credentials::ahead(text, end);
    let segment = rest.strip_prefix('s').unwrap_or(rest).strip_prefix('/')?;
    let from = end + rest.len() - segment.len();
    let len = segment.find(|c: char| !shape::is_token_char(c) || c == '/').unwrap_or(segment.len());
    let candidate = &segment[..len];
    let is_file =
        segment[len..].starts_with('.') && segment[len + 1..].starts_with(|c: char| c.is_ascii_alphabetic());
    let known = tokens::at(text, from).is_some();
    let key_like = judge::is_generated(candidate) && candidate.len() >= 8 && !is_file;
    if !known && !key_like || judge::is_placeholder(candidate) || shape::is_masked(candidate) {
        return None;
    }
    let to = credentials::end_of_run(text, from + len, |c| shape::is_token_char(c) && c != '/');
    Some(Span { family: Family::UrlSecret, start: from, end: to })
}
