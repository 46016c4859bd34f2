//! Texts in their composed forms. Most are in them already, and are told so at a glance.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

/// Accents composed (NFC).
pub(crate) fn nfc(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfc().collect())
}

/// The same, and what only looks different made the same (NFKC).
pub(crate) fn nfkc(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfkc().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_composed_whether_it_is_so_already_or_not() {
        for text in [
            "",
            "plain",
            "é",
            "e\u{301}",
            "数据库",
            "ＡＢ１",
            "ﬁ",
            "각",
            "\u{1100}\u{1161}",
            "q\u{323}\u{307}",
        ] {
            assert_eq!(nfc(text), text.nfc().collect::<String>(), "{text:?}");
            assert_eq!(nfkc(text), text.nfkc().collect::<String>(), "{text:?}");
        }
        assert!(
            matches!(nfc("数据库 v1"), Cow::Borrowed(_)) && matches!(nfkc("数据库 v1"), Cow::Borrowed(_))
        );
    }
}
