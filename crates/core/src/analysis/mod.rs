//! Text to terms: the versioned analyser shared by index and query.
//!
//! [`analyze_passage`] and [`analyze_query`] cut text by the same code, so a term of the one is found by
//! the other. What a passage is cut into:
//! - words: NFKC, case folded, cut at the apostrophe, irregular forms mapped, Snowball English stems;
//! - identifiers (`getUserName`, `utf8`): whole and unstemmed, and in pieces;
//! - compounds (`blue-green`, `foo/bar.py`, `v2.1`, `api.example.com`): whole, by component, and as words;
//! - Han and kana: single characters and pairs; hangul and unspaced scripts: pairs;
//! - English function words, which a query drops unless nothing else remains.
//!
//! Any input is safe: the work is linear in its length and no term is longer than 96 characters
//! (160 bytes for a compound).

mod analyzer;
mod dates;
mod fingerprint;
mod normalise;
mod query;
mod script;
mod stem;
mod time_words;
mod tokens;
pub(crate) mod words;

use std::collections::BTreeSet;

pub use self::{
    analyzer::Analyzer,
    dates::{DateHints, DateScorer},
    fingerprint::Fingerprint,
    query::{MAX_QUERY_TERMS, Query, QueryContext, Term, analyze_query},
    tokens::Role,
};

/// The version of the analyser. An index is valid only for the version that built it; every change of the
/// terms or flags that some text gives raises it.
pub const VERSION: u32 = 1;

/// What the index keeps of a passage.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Passage {
    /// Distinct terms with their frequencies, sorted by term.
    pub terms: Vec<(String, u32)>,
    /// Number of content words: function words and the pieces of identifiers and compounds do not count;
    /// of CJK text, the number of pairs.
    pub length: u32,
    /// Whether the text names a point or span of time.
    pub has_time_expression: bool,
    /// Whether the text ends in a question mark.
    pub is_question: bool,
    /// Share of Han, kana and hangul among its letters, 0 to 1.
    pub cjk_share: f32,
    /// For telling near-duplicates.
    pub fingerprint: Fingerprint,
}

impl Passage {
    /// Whether most letters are Han, kana or hangul, so that an English-only embedding says nothing.
    pub fn is_mostly_cjk(&self) -> bool {
        self.cjk_share > MOSTLY
    }
}

/// Above this share of CJK letters a text counts as mostly CJK.
const MOSTLY: f32 = 0.5;

/// Cuts a passage into its terms and notes what ranking needs to know of it. Of many, an [`Analyzer`] is quicker.
pub fn analyze_passage(text: &str) -> Passage {
    Analyzer::default().passage(text)
}

/// The distinct terms that carry a text's meaning, sorted: words, pairs of CJK characters, whole identifiers;
/// no function words, no pieces of what stands whole.
pub fn content_terms(text: &str) -> Vec<String> {
    let mut sink = ContentSink::default();
    tokens::scan(&normalise::normalise(text), &mut sink);
    sink.0.into_iter().collect()
}

/// Whether a character is of a script that puts no spaces around names in other scripts: Han, kana, hangul, Thai.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(script::script(c), script::Script::Ideograph | script::Script::Hangul | script::Script::Unspaced)
}

/// Whether the text ends in a question mark, before a note in brackets at its end.
fn is_question(text: &str) -> bool {
    let text = text.trim_end();
    let said =
        text.strip_suffix(']').and_then(|t| t.rsplit_once('[')).map_or(text, |(said, _)| said.trim_end());
    said.ends_with(['?', '\u{FF1F}', '\u{061F}'])
}

#[derive(Default)]
struct ContentSink(BTreeSet<String>);

impl tokens::Sink for ContentSink {
    fn term(&mut self, text: String, role: Role, _unit: u32) {
        if matches!(role, Role::Word | Role::Whole) {
            self.0.insert(text);
        }
    }

    fn word(&mut self, run: &str, unit: u32) {
        tokens::cut_up(run, unit, self);
    }
}

#[cfg(test)]
mod tests;
