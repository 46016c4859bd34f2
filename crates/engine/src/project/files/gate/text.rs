//! Bytes as text: what is text, and what of it is handed on.

use std::borrow::Cow;

use strata_core::redact::{clean_text, redact};

/// So many first bytes are looked at.
const START: usize = 8 << 10;

/// How many in a hundred of the first characters may be no text.
const ODD: usize = 10;

/// Whether bytes are no text, by what they are.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(START)];
    if wide(bytes).is_some() {
        return false;
    }
    if start.contains(&0) || start.starts_with(b"%PDF-") || start.starts_with(b"\x1f\x8b") {
        return true;
    }
    let text = String::from_utf8_lossy(start);
    let is_odd = |c: char| {
        c == char::REPLACEMENT_CHARACTER
            || (c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}' | '\u{1b}'))
    };
    let (odd, all) = text.chars().fold((0, 0), |(odd, all), c| (odd + usize::from(is_odd(c)), all + 1));
    odd * 100 > all * ODD
}

/// The characters of a text file; `None` for what is none. Bytes that belong to no character become U+FFFD.
pub(super) fn decode(bytes: &[u8]) -> Option<Cow<'_, str>> {
    if is_binary(bytes) {
        return None;
    }
    if let Some(big_endian) = wide(bytes) {
        let pair = |pair: &[u8]| {
            let pair = [pair[0], pair.get(1).copied().unwrap_or(0)];
            if big_endian { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
        };
        let units = bytes[2..].chunks(2).map(pair);
        return Some(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect());
    }
    Some(String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)))
}

/// Whether a mark at the beginning says that characters have two bytes, and then whether the higher comes first.
fn wide(bytes: &[u8]) -> Option<bool> {
    match bytes {
        [0xff, 0xfe, rest @ ..] if !rest.starts_with(&[0, 0]) => Some(false),
        [0xfe, 0xff, ..] => Some(true),
        _ => None,
    }
}

/// A text without secrets and control characters, and how many secrets it had. Its lines are those of `text`: what
/// replaces a secret of several lines has as many, and marks of pages end no line.
pub(super) fn clean(text: Cow<'_, str>) -> (String, usize) {
    let text = match text.contains(['\u{b}', '\u{c}']) {
        true => Cow::Owned(text.replace(['\u{b}', '\u{c}'], " ")),
        false => text,
    };
    let text = match text.contains("\r\n") {
        true => Cow::Owned(text.replace("\r\n", "\n")),
        false => text,
    };
    let text = clean_text(&text).text;
    let found = redact(&text);
    if !found.is_redacted() {
        return (text.into_owned(), 0);
    }
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for secret in &found.findings {
        out.push_str(&text[copied..secret.start]);
        out.push_str(secret.placeholder);
        let lines = text[secret.start..secret.end].matches('\n').count();
        out.extend(std::iter::repeat_n('\n', lines));
        copied = secret.end;
    }
    out.push_str(&text[copied..]);
    (out, found.findings.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_told_by_its_bytes() {
        for text in [
            &b"fn main() {}\n"[..],
            b"",
            "\u{6587}\u{5b57}".as_bytes(),
            b"caf\xe9 cr\xe8me au lait, s'il vous pla\xeet",
            b"\xff\xfea\0b\0",
        ] {
            assert!(!is_binary(text), "{text:?}");
        }
        for binary in
            [&b"\x89PNG\r\n\x1a\n\0\0"[..], b"%PDF-1.7 text", b"\x1f\x8b\x08", b"\x01\x02\x03\x04ab", b"ab\0"]
        {
            assert!(is_binary(binary), "{binary:?}");
        }
        assert_eq!(decode(b"\xff\xfea\0b\0").as_deref(), Some("ab"));
    }

    #[test]
    fn lines_stay_where_they_are() {
        let begin = ["-----BEGIN ", "PRIVATE KEY-----"].concat();
        let end = ["-----END ", "PRIVATE KEY-----"].concat();
        let text =
            format!("one\r\n{begin}\r\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\r\n{end}\r\nfive\u{c}\r\nsix\r\n");
        let (clean, secrets) = clean(Cow::Borrowed(&text));
        assert_eq!(secrets, 1);
        assert_eq!(clean.lines().count(), text.lines().count(), "{clean}");
        assert_eq!(clean.lines().nth(4), Some("five "));
        assert!(!clean.contains("MIIE"));
    }
}
