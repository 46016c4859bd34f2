//! The static table and a small WordPiece, for measuring only.

use std::{collections::HashMap, fs, path::Path};

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// A table of one int8 vector per WordPiece.
pub(crate) struct StaticTable {
    vocabulary: HashMap<String, usize>,
    scales: Vec<f32>,
    rows: Vec<i8>,
    dimension: usize,
}

impl StaticTable {
    /// Loads `static_minilm.bin` and `vocab.txt` from the folder `models` beside the data; `None` (with a
    /// notice) when they are not there.
    pub(crate) fn load(data: &Path) -> Option<Self> {
        let folder = data.join("../models");
        let (Ok(bytes), Ok(words)) =
            (fs::read(folder.join("static_minilm.bin")), fs::read_to_string(folder.join("vocab.txt")))
        else {
            println!("skipped: no static table in {}", folder.display());
            return None;
        };
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let (size, dimension) = (number(4) as usize, number(8) as usize);
        let scales = (0..size).map(|row| f32::from_bits(number(12 + 4 * row))).collect();
        let rows = bytes[12 + 4 * size..].iter().map(|b| b.cast_signed()).collect();
        let vocabulary = words.lines().enumerate().map(|(at, word)| (word.to_owned(), at)).collect();
        Some(Self { vocabulary, scales, rows, dimension })
    }

    /// The unit vector of a text; all zero when no piece of it is known.
    pub(crate) fn embed(&self, text: &str) -> Vec<f32> {
        let mut sum = self.raw(text);
        let length = sum.iter().map(|s| s * s).sum::<f32>().sqrt() + 1e-9;
        sum.iter_mut().for_each(|s| *s /= length);
        sum
    }

    pub(crate) fn raw(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0f32; self.dimension];
        for word in words(text) {
            for piece in self.pieces(&word) {
                let row = &self.rows[piece * self.dimension..(piece + 1) * self.dimension];
                sum.iter_mut().zip(row).for_each(|(s, r)| *s += self.scales[piece] * f32::from(*r));
            }
        }
        sum
    }

    fn pieces(&self, word: &str) -> Vec<usize> {
        let mut pieces = Vec::new();
        let mut from = 0;
        while from < word.len() {
            let head = if from == 0 { "" } else { "##" };
            let ends = word[from..].char_indices().map(|(at, c)| from + at + c.len_utf8()).rev();
            let found = ends.map(|end| (end, format!("{head}{}", &word[from..end])));
            let Some((end, piece)) =
                found.into_iter().find_map(|(e, p)| Some((e, *self.vocabulary.get(&p)?)))
            else {
                return Vec::new();
            };
            pieces.push(piece);
            from = end;
        }
        pieces
    }
}

/// Lower case without accents, cut at space and around punctuation and ideographs.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in text.nfd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase) {
        let alone = (!c.is_alphanumeric() && !c.is_whitespace()) || ('\u{4E00}'..='\u{9FFF}').contains(&c);
        if alone || c.is_whitespace() {
            words.push(if alone { c.to_string() } else { String::new() });
        }
        if alone {
            words.push(String::new());
        } else if !c.is_whitespace()
            && let Some(word) = words.last_mut()
        {
            word.push(c);
        }
    }
    words.retain(|w| !w.is_empty() && w.chars().count() <= 100);
    words
}
