//! WordPiece: text into the entries of a vocabulary, as uncased BERT models do it.
//!
//! Text is decomposed (NFD), nonspacing marks are dropped, letters are lower-cased; white space
//! separates words, and every punctuation mark and every Han character is a word of its own. A word is
//! cut into the longest entries from the left; a word that cannot be cut completely is skipped.
//!
//! Two departures from the original, for text as people keep it: full-width forms count as their ASCII
//! counterparts, and control characters that are white space (form feed, next line) separate words.

use unicode_normalization::char::decompose_canonical;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::table::Vocabulary;

/// No more entries are taken from one text; what follows does not count. About 30 KB of English.
pub const TOKEN_LIMIT: usize = 8_192;

/// Longer words are skipped, as in the original. Bounds what is kept of an endless word.
const LONGEST_WORD: usize = 100;

/// A tokenizer over a vocabulary. Time is linear in the text, whatever the text.
#[derive(Debug, Clone, Copy)]
pub struct WordPiece<'a> {
    vocabulary: Vocabulary<'a>,
}

impl<'a> WordPiece<'a> {
    /// A tokenizer that cuts words into the entries of `vocabulary`.
    pub const fn new(vocabulary: Vocabulary<'a>) -> Self {
        Self { vocabulary }
    }

    /// The entries of a text in order, at most [`TOKEN_LIMIT`]; unknown words leave nothing.
    pub fn tokens(&self, text: &str) -> Vec<usize> {
        let mut tokens = Vec::with_capacity((text.len() / 4).min(TOKEN_LIMIT));
        let mut word = Word::default();
        for character in text.chars() {
            if tokens.len() >= TOKEN_LIMIT {
                break;
            }
            if character.is_ascii() {
                self.take(character, &mut word, &mut tokens);
            } else {
                decompose_canonical(fold_width(character), |part| self.take(part, &mut word, &mut tokens));
            }
        }
        self.finish(&mut word, &mut tokens);
        tokens.truncate(TOKEN_LIMIT);
        tokens
    }

    fn take(&self, character: char, word: &mut Word, tokens: &mut Vec<usize>) {
        match class(character) {
            Class::Letter => word.push(character),
            Class::Space => self.finish(word, tokens),
            Class::Alone => {
                self.finish(word, tokens);
                word.push(character);
                self.finish(word, tokens);
            }
            Class::Nothing => {}
        }
    }

    /// Ends a word: its entries, or nothing when some part of it is in no entry.
    fn finish(&self, word: &mut Word, tokens: &mut Vec<usize>) {
        let before = tokens.len();
        let mut at = 0;
        while word.characters <= LONGEST_WORD && at < word.text.len() {
            let Some((entry, length)) = self.vocabulary.longest_prefix(&word.text[at..], at > 0) else {
                tokens.truncate(before);
                break;
            };
            tokens.push(entry);
            at += length;
        }
        word.text.clear();
        word.characters = 0;
    }
}

#[derive(Default)]
struct Word {
    text: String,
    characters: usize,
}

impl Word {
    fn push(&mut self, character: char) {
        if character.is_ascii() {
            self.characters += 1;
            if self.characters <= LONGEST_WORD {
                self.text.push(character.to_ascii_lowercase());
            }
            return;
        }
        for lower in character.to_lowercase() {
            self.characters += 1;
            if self.characters <= LONGEST_WORD {
                self.text.push(lower);
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Part of a word.
    Letter,
    /// Between words.
    Space,
    /// A word of its own.
    Alone,
    /// Dropped without ending a word: marks above and below letters, control and format characters, what
    /// is private or unassigned.
    Nothing,
}

fn class(character: char) -> Class {
    match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' => Class::Letter,
        _ if character.is_whitespace() => Class::Space,
        _ if character.is_ascii_punctuation() || is_han(character) => Class::Alone,
        '\u{FFFD}' => Class::Nothing,
        _ => match character.general_category_group() {
            GeneralCategoryGroup::Other => Class::Nothing,
            GeneralCategoryGroup::Punctuation => Class::Alone,
            _ if character.general_category() == GeneralCategory::NonspacingMark => Class::Nothing,
            _ => Class::Letter,
        },
    }
}

/// The blocks that BERT's tokenizer cuts character by character (CJK unified ideographs, their
/// extensions A to E, and the compatibility ideographs).
fn is_han(character: char) -> bool {
    matches!(
        character,
        '\u{4E00}'..='\u{9FFF}'
            | '\u{3400}'..='\u{4DBF}'
            | '\u{20000}'..='\u{2A6DF}'
            | '\u{2A700}'..='\u{2B73F}'
            | '\u{2B740}'..='\u{2B81F}'
            | '\u{2B820}'..='\u{2CEAF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{2F800}'..='\u{2FA1F}'
    )
}

/// Full-width ASCII (U+FF01 to U+FF5E) lies 0xFEE0 above ASCII.
fn fold_width(character: char) -> char {
    match character {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(character as u32 - 0xFEE0).unwrap_or(character),
        _ => character,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ENTRIES: &[&str] = &[
        "a",
        "b",
        "un",
        "##aff",
        "##able",
        "able",
        "##s",
        "the",
        "cafe",
        "naive",
        "uber",
        "strasse",
        "ss",
        "重",
        "跑",
        "東",
        "か",
        "##な",
        "ᄒ",
        "##ᅡ",
        "##ᆫ",
        ",",
        ".",
        "!",
        "?",
        "-",
        "'",
        "。",
        "、",
        "…",
        "“",
        "1",
        "##2",
        "##3",
        "2",
        "i",
        "##i",
        "σ",
        "##σ",
        "don",
        "t",
        "_",
        "$",
        "+",
        "कि",
        "क",
        "##ि",
        "##x",
        "x",
        "\u{1F980}",
        "ﬁ",
    ];

    fn words(text: &str) -> Vec<&'static str> {
        let bytes = Vocabulary::encode(ENTRIES).unwrap();
        let tokens = WordPiece::new(Vocabulary::open(&bytes).unwrap()).tokens(text);
        tokens.into_iter().map(|token| ENTRIES[token]).collect()
    }

    #[test]
    fn words_are_cut_into_the_longest_entries_from_the_left() {
        assert_eq!(words("unaffable"), ["un", "##aff", "##able"]);
        assert_eq!(words("unable"), ["un", "##able"]);
        assert_eq!(words("able"), ["able"]);
        assert_eq!(words("123 2"), ["1", "##2", "##3", "2"]);
    }

    #[test]
    fn a_word_with_an_unknown_part_leaves_nothing_and_its_neighbours_stay() {
        assert_eq!(words("unaffz"), [""; 0]);
        assert_eq!(words("the zzz a"), ["the", "a"]);
        assert_eq!(words("the unaffz, a"), ["the", ",", "a"]);
        assert_eq!(words(""), [""; 0]);
        assert_eq!(words("\u{10FFFF}\u{E000}\u{200B}\u{FEFF}\0"), [""; 0]);
    }

    #[test]
    fn case_and_accents_do_not_matter() {
        for text in ["Café", "CAFÉ", "cafe\u{301}", "c\u{200D}afé", "ca\u{AD}fe", "ｃａｆé", "ＣＡＦＥ"]
        {
            assert_eq!(words(text), ["cafe"], "{text:?}");
        }
        assert_eq!(words("naïve Über"), ["naive", "uber"]);
        assert_eq!(words("İi"), ["i", "##i"], "the dot above is a mark and goes");
        assert_eq!(words("ΣΣ σς"), ["σ", "##σ"], "no special final sigma: the last word is unknown");
        assert_eq!(words("ﬁ"), ["ﬁ"], "compatibility forms other than width stay");
    }

    #[test]
    fn punctuation_and_han_stand_alone() {
        assert_eq!(words("a,b"), ["a", ",", "b"]);
        assert_eq!(words("don't"), ["don", "'", "t"]);
        assert_eq!(words("un_able$1+a…“b"), ["un", "_", "able", "$", "1", "+", "a", "…", "“", "b"]);
        assert_eq!(words("重跑a。"), ["重", "跑", "a", "。"]);
        assert_eq!(words("a重b"), ["a", "重", "b"]);
        assert_eq!(words("！？，"), ["!", "?", ","], "full-width forms are their ASCII counterparts");
        assert_eq!(
            words("東\u{FA0C}、"),
            ["東", "、"],
            "a compatibility ideograph is one word, here unknown"
        );
    }

    #[test]
    fn scripts_decompose_as_the_vocabulary_expects() {
        assert_eq!(words("한"), ["ᄒ", "##ᅡ", "##ᆫ"]);
        assert_eq!(words("かな"), ["か", "##な"]);
        assert_eq!(words("がな"), ["か", "##な"], "the voicing mark is a nonspacing mark");
        assert_eq!(words("कि"), ["कि"], "a spacing vowel sign stays");
        assert_eq!(words("\u{1F980}"), ["\u{1F980}"]);
        assert_eq!(words("\u{1F980}\u{FE0F}"), ["\u{1F980}"], "a variation selector goes");
    }

    #[test]
    fn every_kind_of_white_space_separates() {
        for space in [
            " ", "\t", "\n", "\r\n", "\u{A0}", "\u{3000}", "\u{2028}", "\u{2009}", "\u{B}", "\u{C}", "\u{85}",
        ] {
            assert_eq!(words(&format!("a{space}b")), ["a", "b"], "{space:?}");
        }
        for nothing in ["\0", "\u{7}", "\u{200B}", "\u{FEFF}", "\u{202E}", "\u{301}", "\u{FFFD}"] {
            assert_eq!(words(&format!("un{nothing}able")), ["un", "##able"], "{nothing:?}");
        }
    }

    #[test]
    fn words_beyond_the_longest_are_skipped() {
        assert_eq!(words(&"x".repeat(100)).len(), 100);
        assert_eq!(words(&"x".repeat(101)), [""; 0]);
        assert_eq!(words(&format!("a {} b", "x".repeat(1_000_000))), ["a", "b"]);
        assert_eq!(words(&"é\u{301}\u{302}".repeat(200_000)), [""; 0]);
    }

    #[test]
    fn no_more_than_the_limit_is_taken() {
        assert_eq!(words(&"a,".repeat(500_000)).len(), TOKEN_LIMIT);
        assert_eq!(words(&"1222222222 ".repeat(1_000)).len(), TOKEN_LIMIT);
    }

    /// The procedure as it is usually stated, without regard to time.
    fn plain(text: &str) -> Vec<&'static str> {
        let mut found = Vec::new();
        for word in text.split_whitespace() {
            let (before, mut rest, mut first) = (found.len(), word, true);
            while !rest.is_empty() {
                let bodies = ENTRIES.iter().filter_map(|entry| match (first, entry.strip_prefix("##")) {
                    (true, None) => Some((*entry, *entry)),
                    (false, Some(body)) => Some((body, *entry)),
                    _ => None,
                });
                let longest =
                    bodies.filter(|(body, _)| rest.starts_with(body)).max_by_key(|(body, _)| body.len());
                let Some((body, entry)) = longest else {
                    found.truncate(before);
                    break;
                };
                found.push(entry);
                (rest, first) = (&rest[body.len()..], false);
            }
        }
        found
    }

    proptest! {
        #[test]
        fn the_cut_is_the_plain_procedure(text in "(un|aff|able|s|the|x|i|[123]|z| ){0,30}") {
            prop_assert_eq!(words(&text), plain(&text));
        }

        #[test]
        fn any_text_is_safe_and_case_never_matters(text in "\\PC{0,200}") {
            let tokens = words(&text);
            prop_assert!(tokens.len() <= text.chars().count() * 4);
            if text.is_ascii() {
                prop_assert_eq!(words(&text.to_uppercase()), tokens);
            }
        }

        #[test]
        fn texts_put_together_with_a_space_give_the_tokens_of_both(a in "\\PC{0,60}", b in "\\PC{0,60}") {
            prop_assert_eq!(words(&format!("{a} {b}")), [words(&a), words(&b)].concat());
        }
    }
}
