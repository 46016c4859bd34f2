//! Passages one after another, with the words of earlier ones known.
//!
//! Texts of one place have the same words again and again; each is folded, stemmed and cut into its pieces once. What a
//! passage is cut into does not depend on the passages before it.

use std::{collections::HashMap, rc::Rc};

use super::{
    Passage,
    fingerprint::fingerprint,
    is_question, normalise, script,
    time_words::has_time_expression,
    tokens::{self, Role, Sink},
};

/// Words and terms that are known at most, but for those of one passage; beyond, all are forgotten. Some 8 MB.
const MOST: usize = 32_768;

/// Longer words are cut anew each time, in bytes: they hardly come again.
const LONGEST: usize = 64;

/// Cuts passages into their terms; see the module.
#[derive(Debug, Default)]
pub struct Analyzer {
    known: Known,
    /// How often each term occurs in the passage, by its number.
    counts: Vec<u32>,
    /// Numbers of the passage's terms.
    met: Vec<u32>,
    /// Content words of the passage.
    length: u32,
}

impl Analyzer {
    /// Cuts a passage into its terms and notes what ranking needs to know of it.
    pub fn passage(&mut self, text: &str) -> Passage {
        if self.known.words.len().max(self.known.terms.len()) > MOST {
            *self = Self::default();
        }
        let text = normalise::normalise(text);
        tokens::scan(&text, self);
        let (terms, length) = self.take();
        Passage {
            fingerprint: fingerprint(&terms),
            terms,
            length,
            has_time_expression: has_time_expression(&text),
            is_question: is_question(&text),
            cjk_share: script::cjk_share(&text),
        }
    }

    /// The terms that were met with their counts, sorted, and the length; nothing is met then.
    fn take(&mut self) -> (Vec<(String, u32)>, u32) {
        let Self { known, counts, met, length } = self;
        let key = |number: &u32| &known.terms[*number as usize];
        met.sort_unstable_by(|a, b| key(a).cmp(key(b)));
        let counted = |number: u32| {
            let at = number as usize;
            (String::from(&*known.terms[at].1), std::mem::take(&mut counts[at]))
        };
        let terms = met.drain(..).map(counted).collect();
        (terms, std::mem::take(length))
    }

    fn count(&mut self, Cut { number, is_content }: Cut) {
        self.length += u32::from(is_content);
        self.counts.resize(self.known.terms.len(), 0);
        let count = &mut self.counts[number as usize];
        if *count == 0 {
            self.met.push(number);
        }
        *count += 1;
    }
}

impl Sink for Analyzer {
    fn term(&mut self, text: String, role: Role, _unit: u32) {
        let cut = self.known.cut(text, role);
        self.count(cut);
    }

    fn word(&mut self, run: &str, _unit: u32) {
        for cut in self.known.word(run).iter() {
            self.count(*cut);
        }
    }
}

/// A term of a word.
#[derive(Debug, Clone, Copy)]
struct Cut {
    number: u32,
    /// Whether it counts in a passage's length.
    is_content: bool,
}

/// Words, as they are written, and what they are cut into.
#[derive(Debug, Default)]
struct Known {
    words: HashMap<Box<str>, Rc<[Cut]>>,
    numbers: HashMap<Rc<str>, u32>,
    /// By number. The first eight bytes tell most of them apart, for less than a comparison of texts.
    terms: Vec<(u64, Rc<str>)>,
}

impl Known {
    fn word(&mut self, run: &str) -> Rc<[Cut]> {
        if let Some(cuts) = self.words.get(run) {
            return Rc::clone(cuts);
        }
        let mut new = New { known: self, cuts: Vec::new() };
        tokens::cut_up(run, 0, &mut new);
        let cuts: Rc<[Cut]> = new.cuts.into();
        if run.len() <= LONGEST {
            self.words.insert(run.into(), Rc::clone(&cuts));
        }
        cuts
    }

    fn cut(&mut self, text: String, role: Role) -> Cut {
        let is_content = role == Role::Word;
        if let Some(number) = self.numbers.get(text.as_str()) {
            return Cut { number: *number, is_content };
        }
        let number = u32::try_from(self.terms.len()).unwrap_or(u32::MAX);
        let text: Rc<str> = text.into();
        self.terms.push((first_bytes(&text), Rc::clone(&text)));
        self.numbers.insert(text, number);
        Cut { number, is_content }
    }
}

/// Receives the terms of a word that was not known.
struct New<'k> {
    known: &'k mut Known,
    cuts: Vec<Cut>,
}

impl Sink for New<'_> {
    fn term(&mut self, text: String, role: Role, _unit: u32) {
        self.cuts.push(self.known.cut(text, role));
    }

    fn word(&mut self, run: &str, _unit: u32) {
        let cuts = self.known.word(run);
        self.cuts.extend_from_slice(&cuts);
    }
}

/// In the order of texts, as far as it goes.
fn first_bytes(text: &str) -> u64 {
    let mut first = [0; 8];
    let length = text.len().min(8);
    first[..length].copy_from_slice(&text.as_bytes()[..length]);
    u64::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::analyze_passage, *};

    proptest! {
        #[test]
        fn earlier_passages_do_not_matter(
            texts in prop::collection::vec("([a-cA-C]{0,4}|[a-c0-9_./:@' -]{0,9}|don't|C\\+\\+|getUserName|\u{4ECA}\u{5929}|caf\u{E9}| |\u{1F980}){0,12}", 1..8)
        ) {
            let mut analyzer = Analyzer::default();
            for text in &texts {
                let passage = analyzer.passage(text);
                prop_assert!(passage.terms.is_sorted_by(|a, b| a.0 < b.0));
                prop_assert_eq!(passage, analyze_passage(text));
            }
        }
    }

    #[test]
    fn what_is_known_is_bounded() {
        let mut analyzer = Analyzer::default();
        for part in 0..9 {
            let text: String = (0..5_000).map(|n| format!("w{part}x{n} ")).collect();
            assert_eq!(analyzer.passage(&text), analyze_passage(&text));
        }
        assert!(analyzer.known.words.len() <= MOST + 5_000);
    }
}
