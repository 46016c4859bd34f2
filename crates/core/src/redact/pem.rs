//! Private key blocks. Public keys and certificates are no secret and stay.

use super::{Family, Span, shape};

const DASHES: &str = "-----";
/// Attribute lines that may stand between a PEM or PGP header and its body.
const ATTRIBUTES: [&str; 6] = ["Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:"];
/// The shortest run that counts as key material; shorter ones are words of a sentence about keys.
const MIN_KEY_RUN: usize = 12;
/// Body lines are 64 or 70 characters; only the last one is shorter.
const FULL_LINE: usize = 32;
/// An attribute line longer than this is none.
const MAX_ATTRIBUTE: usize = 200;

/// The private key block whose header's label begins at `label`.
///
/// The search for the end stops at the next five dashes, which are the next header at the latest, so
/// many unterminated headers cost no more than their own length.
pub(super) fn block(text: &str, start: usize, label: usize) -> Option<Span> {
    let rest = &text[label..];
    let label_len = rest
        .bytes()
        .take(48)
        .take_while(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b' ')
        .count();
    let name = rest[..label_len].trim_end();
    let is_private = name.ends_with("PRIVATE KEY") || name.ends_with("PRIVATE KEY BLOCK");
    if !is_private || !rest[label_len..].starts_with(DASHES) {
        return None;
    }
    let body = label + label_len + DASHES.len();
    let end = terminated(text, body, name).or_else(|| unterminated(text, body))?;
    Some(Span { family: Family::PrivateKey, start, end })
}

fn terminated(text: &str, body: usize, name: &str) -> Option<usize> {
    let dashes = body + text[body..].find(DASHES)?;
    let closing =
        text[dashes + DASHES.len()..].strip_prefix("END ")?.strip_prefix(name)?.trim_start_matches(' ');
    let tail = closing.strip_prefix(DASHES)?;
    let between = &text[body..dashes];
    let is_code = between.contains(['(', ')', '{', '}', ';']);
    (!is_code && longest_run(between) >= MIN_KEY_RUN).then_some(text.len() - tail.len())
}

fn longest_run(text: &str) -> usize {
    text.split(|c: char| !shape::is_base64(c)).map(str::len).max().unwrap_or(0)
}

/// The end of a key body that has no closing line: whatever still looks like key material.
fn unterminated(text: &str, body: usize) -> Option<usize> {
    let (mut at, mut end, mut last_run) = (body, None, FULL_LINE);
    loop {
        at = skip_filler(text, at);
        let rest = &text[at..];
        if ATTRIBUTES.iter().any(|name| rest.starts_with(name)) {
            match rest.bytes().take(MAX_ATTRIBUTE).position(|b| b == b'\n') {
                Some(line) => at += line,
                None => return end,
            }
            continue;
        }
        let run = rest.find(|c: char| !shape::is_base64(c)).unwrap_or(rest.len());
        let is_first = end.is_none() && run >= MIN_KEY_RUN;
        let continues =
            end.is_some() && last_run >= FULL_LINE && (run >= FULL_LINE || is_last_line(text, at, run));
        if !is_first && !continues {
            return end;
        }
        (at, last_run) = (at + run, run);
        end = Some(at);
    }
}

/// Passes over what may stand between the lines of a key: space, the quotes and escapes of a string
/// literal, comment marks.
fn skip_filler(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let filler = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '#' | '>' | '|' | '*');
        let trimmed = rest.trim_start_matches(filler);
        let trimmed = trimmed.strip_prefix("\\n").or_else(|| trimmed.strip_prefix("\\r")).unwrap_or(trimmed);
        if trimmed.len() == rest.len() {
            return at;
        }
        at = text.len() - trimmed.len();
    }
}

fn is_last_line(text: &str, at: usize, run: usize) -> bool {
    let before = text[..at].trim_end_matches([' ', '\t', '"', '\'']);
    let starts_line = before.ends_with('\n') || before.ends_with("\\n");
    let after = &text[at + run..];
    let ends_line = after.is_empty() || after.starts_with(['\n', '\r', '"', '\'', '\\']);
    run > 0 && (text[at..at + run].ends_with('=') || (starts_line && ends_line))
}

/// The key lines after PuTTY's `Private-Lines: N`.
pub(super) fn putty(text: &str, after: usize) -> Option<Span> {
    let line = after + text[after..].find('\n')? + 1;
    let end = unterminated(text, line)?;
    Some(Span { family: Family::PrivateKey, start: line, end })
}
