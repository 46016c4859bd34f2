//! The engines that p-layer's figures were measured with, to stand beside ours: BM25 over whole words in memory, as
//! SQLite's FTS5 ranks them. Nothing in the product searches with it.
//!
//! BM25 as FTS5 has it (k1 = 1.2, b = 0.75, the inverse document frequency never below a millionth); words are runs of
//! letters and digits, in small letters, without marks, as its `unicode61` tokenizer has them.

use std::collections::{BTreeMap, HashMap};

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

const K1: f64 = 1.2;
const B: f64 = 0.75;
const LEAST_IDF: f64 = 1e-6;

/// How a question becomes words to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// Double quotes taken out and blanks replaced by OR. Punctuation is then an error of syntax, and an error finds
    /// nothing.
    OrJoin,
    /// Everything but word characters taken out of each word, words of one character dropped.
    Sanitised,
}

/// Texts, searched by their words.
#[derive(Debug, Default)]
pub struct Baseline {
    /// Where each word occurs, and how often.
    postings: HashMap<String, Vec<(usize, f64)>>,
    lengths: Vec<f64>,
}

impl Baseline {
    /// An index of texts, each with a further word for its type, which is searched as well.
    pub fn new<'a>(texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut index = Self::default();
        for (at, (text, kind)) in texts.into_iter().enumerate() {
            let words: Vec<String> = words(text).into_iter().chain(words(kind)).collect();
            index.lengths.push(words.len() as f64);
            let mut counts: BTreeMap<String, f64> = BTreeMap::new();
            for word in words {
                *counts.entry(word).or_default() += 1.0;
            }
            for (word, count) in counts {
                index.postings.entry(word).or_default().push((at, count));
            }
        }
        index
    }

    /// The places of the best `limit` texts, best first.
    pub fn search(&self, question: &str, asking: Asking, limit: usize) -> Vec<usize> {
        let Some(phrases) = phrases(question, asking) else { return Vec::new() };
        // A phrase of several words is looked for by each of them.
        let words: Vec<String> = phrases.iter().flat_map(|phrase| words(phrase)).collect();
        let mut ranked: Vec<(usize, f64)> = self.scores(&words).into_iter().collect();
        // Stable: equals stay in the order of the texts.
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        ranked.into_iter().take(limit).map(|(at, _)| at).collect()
    }

    fn scores(&self, words: &[String]) -> BTreeMap<usize, f64> {
        let all = self.lengths.len() as f64;
        let average = self.lengths.iter().sum::<f64>() / all.max(1.0);
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        for word in words {
            let Some(postings) = self.postings.get(word) else { continue };
            let holding = postings.len() as f64;
            let idf = ((all - holding + 0.5) / (holding + 0.5)).ln().max(LEAST_IDF);
            for (at, count) in postings {
                let length = 1.0 - B + B * self.lengths[*at] / average.max(f64::MIN_POSITIVE);
                *scores.entry(*at).or_default() += idf * count * (K1 + 1.0) / (count + K1 * length);
            }
        }
        scores
    }
}

/// The words of a text.
fn words(text: &str) -> Vec<String> {
    let plain: String = text.nfd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect();
    plain.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_owned).collect()
}

/// What is looked for; `None` when the question is an error of syntax.
fn phrases(question: &str, asking: Asking) -> Option<Vec<String>> {
    match asking {
        Asking::OrJoin => {
            let plain = question.replace('"', "");
            let pieces: Vec<String> = plain.split(' ').map(str::to_owned).collect();
            pieces.iter().all(|piece| is_bare(piece)).then_some(pieces)
        }
        Asking::Sanitised => {
            let word = |piece: &str| -> String {
                piece.chars().filter(|c| c.is_alphanumeric() || *c == '_').collect()
            };
            let pieces: Vec<String> =
                question.split_whitespace().map(word).filter(|w| w.chars().nth(1).is_some()).collect();
            (!pieces.is_empty()).then_some(pieces)
        }
    }
}

/// Whether FTS5 takes a piece of a query without quotes around it, and not for an operator.
fn is_bare(piece: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii();
    !piece.is_empty() && piece.chars().all(plain) && !matches!(piece, "AND" | "OR" | "NOT")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> Baseline {
        Baseline::new([
            ("we switched to PortOne v2 for payments", "decision"),
            ("the café opens at nine", "fact"),
            ("payments fail on Friday, payments retry", "incident"),
        ])
    }

    #[test]
    fn whole_words_are_ranked_by_bm25() {
        let index = index();
        for asking in [Asking::OrJoin, Asking::Sanitised] {
            assert_eq!(index.search("payments", asking, 10), [2, 0], "twice is more");
            assert_eq!(index.search("payments PortOne", asking, 10), [0, 2], "rare is more");
            assert_eq!(index.search("Cafe", asking, 10), [1], "without marks and case");
            assert_eq!(index.search("decision", asking, 10), [0], "the type is searched too");
            assert!(index.search("payment", asking, 10).is_empty(), "nothing is stemmed");
            assert_eq!(index.search("payments", asking, 1), [2]);
        }
    }

    #[test]
    fn punctuation_ends_the_one_and_is_dropped_by_the_other() {
        let index = index();
        for (question, found) in [("payments?", vec![2, 0]), ("the café, nine!", vec![1]), ("a ?", vec![])] {
            assert!(index.search(question, Asking::OrJoin, 10).is_empty(), "{question}");
            assert_eq!(index.search(question, Asking::Sanitised, 10), found, "{question}");
        }
        for question in ["", "payments  PortOne", "payments OR"] {
            assert!(index.search(question, Asking::OrJoin, 10).is_empty(), "{question}");
        }
        assert_eq!(index.search("\"payments\"", Asking::OrJoin, 10), [2, 0]);
        assert!(Baseline::new([]).search("x", Asking::OrJoin, 10).is_empty());
    }

    /// The ranks that SQLite 3.46 gives the same five rows, with the sign turned.
    #[test]
    fn the_scores_are_those_of_fts5() {
        let index =
            Baseline::new([("a b", "k"), ("c d", "k"), ("e f g h", "k"), ("a a x y z", "k"), ("q", "k")]);
        let expected: [(&str, &[(usize, f64)]); 2] = [
            ("a", &[(3, 0.397_865_332_129_185), (0, 0.368_181_662_061_955)]),
            (
                "a e q",
                &[
                    (4, 1.362_670_435_202_581),
                    (2, 0.972_923_594_625_572),
                    (3, 0.397_865_332_129_185),
                    (0, 0.368_181_662_061_955),
                ],
            ),
        ];
        for (words, expected) in expected {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            let scores = index.scores(&words);
            assert_eq!(scores.len(), expected.len());
            for (at, score) in expected {
                assert!((scores[at] - score).abs() < 1e-9, "{at}: {}", scores[at]);
            }
        }
    }
}
