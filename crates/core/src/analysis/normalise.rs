//! Unicode normalisation and case folding.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// NFKC with typographic quotes and hyphens made plain and invisible characters removed. ASCII text is
/// returned as it is. Case is kept: the identifier splitter needs it.
pub(super) fn normalise(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfkc().filter(|c| !is_invisible(*c)).map(plain).collect())
}

/// Case folding for matching: lower case, `ß` as `ss`, final sigma as sigma, Latin letters without their
/// accents, digits of other scripts as ASCII digits.
pub(super) fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(word.len());
    for c in word.chars().flat_map(char::to_lowercase) {
        match c {
            'ß' => folded.push_str("ss"),
            'ς' => folded.push('σ'),
            '\u{0300}'..='\u{036F}' if folded.ends_with(|p: char| p.is_ascii_alphabetic()) => {}
            '\u{00C0}'..='\u{024F}' | '\u{1E00}'..='\u{1EFF}' => folded.push(unaccented(c)),
            '\u{0660}'..='\u{0669}' => folded.push(digit(c, 0x0660)),
            '\u{06F0}'..='\u{06F9}' => folded.push(digit(c, 0x06F0)),
            '\u{0966}'..='\u{096F}' => folded.push(digit(c, 0x0966)),
            _ => folded.push(c),
        }
    }
    folded
}

fn unaccented(c: char) -> char {
    let mut base = c;
    unicode_normalization::char::decompose_canonical(c, |part| {
        if !is_combining_mark(part) {
            base = part;
        }
    });
    base
}

fn digit(c: char, zero: u32) -> char {
    char::from_digit(u32::from(c) - zero, 10).unwrap_or(c)
}

fn plain(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{02BC}' | '\u{0060}' | '\u{00B4}' => '\'',
        '\u{2010}' | '\u{2011}' | '\u{2043}' | '\u{FE63}' | '\u{FF0D}' => '-',
        other => other,
    }
}

/// Soft hyphens, joiners, direction marks, variation selectors and byte order marks: they change how a
/// word looks, never which word it is.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{061C}' | '\u{200C}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_case_and_accents_do_not_matter() {
        assert_eq!(fold(&normalise("ＡＢＣ１２３")), "abc123");
        assert_eq!(fold(&normalise("Café")), "cafe");
        assert_eq!(fold(&normalise("Cafe\u{301}")), "cafe");
        assert_eq!(fold("Straße"), "strasse");
        assert_eq!(fold("ΟΔΟΣ"), fold("οδος"));
        assert_eq!(fold("İstanbul"), "istanbul");
        assert_eq!(fold("٢٠٢٣"), "2023");
    }

    #[test]
    fn invisible_characters_are_dropped_and_scripts_keep_their_marks() {
        assert_eq!(normalise("so\u{AD}ft\u{200E}"), "soft");
        assert_eq!(normalise("が"), "が", "kana marks belong to the letter");
        assert_eq!(fold(&normalise("й")), "й");
    }
}
