//! The model in the binary: one vector per vocabulary entry, a text is the sum of its entries.
//!
//! It reads English; texts in other scripts have no vector and are found by their words.
//!
//! Made by `cargo xtask distill` from all-MiniLM-L6-v2; see `model/NOTICE`.

use crate::embedder::Embedder;
use crate::error::EmbedError;
use crate::model::ModelKey;
use crate::table::{Table, Vocabulary};
use crate::wordpiece::WordPiece;

static TABLE: &[u8] = include_bytes!("../model/static.bin");
static VOCABULARY: &[u8] = include_bytes!("../model/vocabulary.bin");

/// The name of the model in the binary, as in its [`ModelKey`].
const BUILT_IN: &str = "static-minilm";

/// A static embedding model, read in place.
#[derive(Debug, Clone)]
pub struct StaticModel<'a> {
    key: ModelKey,
    table: Table<'a>,
    tokenizer: WordPiece<'a>,
}

impl StaticModel<'static> {
    /// The model in the binary. Constant time: nothing is parsed, copied or built.
    ///
    /// # Errors
    /// [`EmbedError::Model`] when the binary was built from damaged model files.
    pub fn built_in() -> Result<Self, EmbedError> {
        Self::open(BUILT_IN, TABLE, VOCABULARY)
    }
}

impl<'a> StaticModel<'a> {
    /// A model from the bytes of its two files, in the formats of [`crate::table`].
    ///
    /// # Errors
    /// [`EmbedError::Model`] when a file is damaged or the two do not belong together.
    pub fn open(id: &str, table: &'a [u8], vocabulary: &'a [u8]) -> Result<Self, EmbedError> {
        let (table, vocabulary) = (Table::open(table)?, Vocabulary::open(vocabulary)?);
        if table.rows() != vocabulary.len() {
            return Err(EmbedError::Model("table and vocabulary of different sizes"));
        }
        let key = ModelKey::new(id, table.revision(), table.dimension())?;
        Ok(Self { key, table, tokenizer: WordPiece::new(vocabulary) })
    }

    /// The unit vector of a text; `None` when no word of it is known or the model cannot read it.
    fn embed(&self, text: &str) -> Option<Vec<f32>> {
        if !reads(text) {
            return None;
        }
        let mut sum = vec![0.0_f32; self.table.dimension()];
        for entry in self.tokenizer.tokens(text) {
            self.table.add_row(entry, &mut sum);
        }
        let length = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length == 0.0 || !length.is_finite() {
            return None;
        }
        sum.iter_mut().for_each(|x| *x /= length);
        Some(sum)
    }
}

impl Embedder for StaticModel<'_> {
    fn model(&self) -> &ModelKey {
        &self.key
    }

    fn embed_passage(&self, text: &str) -> Result<Option<Vec<f32>>, EmbedError> {
        Ok(self.embed(text))
    }

    fn embed_query(&self, text: &str) -> Result<Option<Vec<f32>>, EmbedError> {
        Ok(self.embed(text))
    }
}

/// Whether at least half of the letters are Latin. The encoder learned English only: of other scripts it
/// knows single characters, whose vectors say nothing and would outvote the exact words.
fn reads(text: &str) -> bool {
    let (mut latin, mut other) = (0_usize, 0_usize);
    for character in text.chars().filter(|character| character.is_alphabetic()) {
        match character {
            'A'..='Z' | 'a'..='z' | '\u{C0}'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}' => latin += 1,
            // Full-width Latin.
            '\u{FF21}'..='\u{FF5A}' => latin += 1,
            _ => other += 1,
        }
    }
    latin >= other
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        let model = StaticModel::built_in().unwrap();
        let (a, b) = (model.embed(a).unwrap(), model.embed(b).unwrap());
        a.iter().zip(&b).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn the_model_in_the_binary_is_whole_and_says_what_it_is() {
        let model = StaticModel::built_in().unwrap();
        let (scales, rows) = TABLE[32..].split_at(4 * model.table.rows());
        let digest = blake3::Hasher::new().update(VOCABULARY).update(scales).update(rows).finalize().to_hex();
        assert_eq!(model.model().revision(), &digest[..16], "the revision is the digest of the contents");
        let vocabulary = Vocabulary::open(VOCABULARY).unwrap();
        for number in 0..vocabulary.len() {
            let entry = vocabulary.entry(number).unwrap();
            let (body, continues) = entry.strip_prefix("##").map_or((entry, false), |body| (body, true));
            let found = vocabulary.longest_prefix(body, continues);
            assert_eq!(found, Some((number, body.len())), "{entry}");
        }
    }

    #[test]
    fn the_notice_is_about_the_files_beside_it() {
        let notice = include_str!("../model/NOTICE");
        for (name, bytes) in [("static.bin", TABLE), ("vocabulary.bin", VOCABULARY)] {
            let line = format!("  {}  {name}\n", blake3::hash(bytes).to_hex());
            assert!(notice.contains(&line), "{name} was changed without its notice: run cargo xtask distill");
        }
        assert!(notice.contains("Apache License, Version 2.0"));
    }

    #[test]
    fn vectors_have_length_one_and_texts_without_a_known_word_have_none() {
        let model = StaticModel::built_in().unwrap();
        for text in [
            "hello",
            "The quick brown fox.",
            "port 5432",
            "5432",
            "naïve Café",
            "ＡＢＣ",
            "重跑gen-itgc后",
            "a\0b",
            &"word ".repeat(100_000),
        ] {
            let vector = model.embed_passage(text).unwrap().unwrap();
            assert_eq!(vector.len(), model.model().dimension());
            assert!((vector.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5, "{text}");
        }
        let unknown = [
            "",
            " \n\t",
            "\0\u{200B}",
            "\u{1F980}\u{1F980}",
            "ꙮ",
            "東京",
            "日本の新聞",
            "서울",
            "нет",
            "在 x 上",
        ];
        for text in unknown {
            assert_eq!(model.embed_passage(text), Ok(None), "{text:?}");
        }
    }

    #[test]
    fn what_means_the_same_is_nearer_than_what_does_not() {
        for (query, near, far) in [
            (
                "How do I sign in?",
                "Enter your password to log on to your account.",
                "The soup needs more salt.",
            ),
            (
                "our dog is ill",
                "The puppy was taken to the veterinarian.",
                "Invoices are due within thirty days.",
            ),
            (
                "read a file line by line",
                "opens the text file and iterates over its rows",
                "She plays the violin.",
            ),
            (
                "When is the wedding?",
                "The marriage ceremony takes place in June.",
                "The compiler rejects this cast.",
            ),
            ("salary increase", "She got a raise at work.", "Rain is expected over the mountains."),
        ] {
            assert!(
                cosine(query, near) > cosine(query, far) + 0.05,
                "{query}: {} {}",
                cosine(query, near),
                cosine(query, far)
            );
        }
    }

    #[test]
    fn files_that_do_not_belong_together_are_refused() {
        let other = Vocabulary::encode(&["a", "b"]).unwrap();
        let refused = StaticModel::open("x", TABLE, &other).map(|model| model.key);
        assert_eq!(refused, Err(EmbedError::Model("table and vocabulary of different sizes")));
        assert!(StaticModel::open("x", VOCABULARY, TABLE).is_err());
        assert!(StaticModel::open("not allowed", TABLE, VOCABULARY).is_err());
    }
}
