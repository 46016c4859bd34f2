//! Queries: what to search for, who and when is meant, and what kind of question it is.

use std::collections::HashSet;

use jiff::tz::TimeZone;

use super::{
    dates::{DateHints, find_dates},
    normalise::{fold, normalise},
    script::{Script, cjk_share, script},
    time_words::asks_when,
    tokens::{Role, Sink, cut_up, scan},
    words::{QUESTION_PHRASES, is_role, is_stop},
};
use crate::time::Timestamp;

/// Most distinct terms of a query; of a longer one the first are kept.
pub const MAX_QUERY_TERMS: usize = 96;

/// Bytes of a query that are read at all; [`MAX_QUERY_TERMS`] is reached long before in any language.
const MAX_QUERY_BYTES: usize = 16 * 1024;

/// What a query is read against.
#[derive(Debug, Clone)]
pub struct QueryContext<'a> {
    /// The people known in the searched collections, as they are written; the index in this list is their
    /// number in [`Query::people`].
    pub people: &'a [&'a str],
    /// The moment that `yesterday` is before; without it relative words are only words.
    pub now: Option<Timestamp>,
    /// The user's zone.
    pub zone: TimeZone,
}

impl Default for QueryContext<'_> {
    fn default() -> Self {
        Self { people: &[], now: None, zone: TimeZone::UTC }
    }
}

/// One term to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The text as the index has it.
    pub text: String,
    /// What it is to its unit.
    pub role: Role,
    /// The word, compound or CJK run of the query that it came from.
    pub unit: u32,
    /// Part of a known person's name: owned passages answer by their owner instead, see
    /// [`crate::rank`].
    pub is_name: bool,
}

impl Term {
    /// Whether it has Latin letters, as the names in code do.
    pub fn is_latin(&self) -> bool {
        self.text.chars().any(is_latin)
    }
}

/// A Latin letter, with or without marks.
fn is_latin(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '\u{c0}'..='\u{24f}')
}

/// An analysed query.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// Distinct terms in order of appearance, at most [`MAX_QUERY_TERMS`].
    pub terms: Vec<Term>,
    /// The known people it names, by their number in [`QueryContext::people`], in order of mention.
    pub people: Vec<u32>,
    /// The dates it names.
    pub dates: DateHints,
    /// The zone the dates are meant in.
    pub zone: TimeZone,
    /// Whether it asks for a time.
    pub asks_when: bool,
    /// Share of Han, kana and hangul among its letters, 0 to 1.
    pub cjk_share: f32,
    /// Whether something was left out because of the length.
    pub is_truncated: bool,
}

impl Query {
    /// Whether most letters are Han, kana or hangul.
    pub fn is_mostly_cjk(&self) -> bool {
        self.cjk_share > super::MOSTLY
    }

    /// Whether some of its words are in Latin letters and some in others.
    pub fn is_of_two_scripts(&self) -> bool {
        let is_other = |term: &Term| term.text.chars().any(|c| c.is_alphabetic() && !is_latin(c));
        self.terms.iter().any(Term::is_latin) && self.terms.iter().any(is_other)
    }
}

/// Analyses a query with the passage analyser and drops from it what only makes it a question: function
/// words (unless nothing else remains), and question phrases of Chinese, Japanese and Korean.
pub fn analyze_query(text: &str, context: &QueryContext<'_>) -> Query {
    let bounded = floor_boundary(text, MAX_QUERY_BYTES);
    let text = normalise(bounded.0);
    let names = Names::find(&text, context.people);
    let mut sink = QuerySink { terms: Vec::new(), seen: HashSet::new(), is_truncated: bounded.1 };
    scan(&without_question_phrases(&text), &mut sink);
    let searched = searched_terms(sink.terms, &names.words);
    Query {
        terms: searched,
        people: names.people,
        dates: find_dates(&text, context.now, &context.zone),
        zone: context.zone.clone(),
        asks_when: asks_when(&text),
        cjk_share: cjk_share(&text),
        is_truncated: sink.is_truncated,
    }
}

/// The longest prefix of at most `limit` bytes, and whether it is shorter than the text. A word that the
/// limit cuts in two is left out.
fn floor_boundary(text: &str, limit: usize) -> (&str, bool) {
    if text.len() <= limit {
        return (text, false);
    }
    let prefix = &text[..text.floor_char_boundary(limit)];
    let whole = prefix.rfind(char::is_whitespace).map_or(prefix, |space| &prefix[..space]);
    (whole, true)
}

struct QuerySink {
    terms: Vec<Term>,
    seen: HashSet<String>,
    is_truncated: bool,
}

impl Sink for QuerySink {
    fn term(&mut self, text: String, role: Role, unit: u32) {
        if self.is_full() {
            self.is_truncated = true;
        } else if self.seen.insert(text.clone()) {
            self.terms.push(Term { text, role, unit, is_name: false });
        }
    }

    fn word(&mut self, run: &str, unit: u32) {
        cut_up(run, unit, self);
    }

    fn is_full(&self) -> bool {
        self.terms.len() >= MAX_QUERY_TERMS
    }
}

/// Drops function words while something else remains, and marks the words of names.
fn searched_terms(mut terms: Vec<Term>, names: &HashSet<String>) -> Vec<Term> {
    if terms.iter().any(|t| t.role != Role::Stop) {
        terms.retain(|t| t.role != Role::Stop);
    }
    for term in &mut terms {
        term.is_name = names.contains(&term.text);
    }
    if terms.iter().all(|t| t.is_name) {
        terms.iter_mut().for_each(|t| t.is_name = false);
    }
    terms
}

/// A query of at most this many CJK characters is a term, not a question: `几何` stays whole.
const SHORT_CJK: usize = 4;

/// Blanks the question phrases of a query with CJK text, unless they are all of it.
fn without_question_phrases(text: &str) -> String {
    let is_cjk = |c: &char| matches!(script(*c), Script::Ideograph | Script::Hangul);
    let mut left = text.to_owned();
    if text.is_ascii() || text.chars().filter(is_cjk).count() <= SHORT_CJK {
        return left;
    }
    for phrase in QUESTION_PHRASES {
        if left.contains(phrase) {
            left = left.replace(phrase, " ");
        }
    }
    let has_words = left.chars().any(|c| script(c) != Script::Other);
    if has_words { left } else { text.to_owned() }
}

/// The people a query names and the terms their names are made of.
struct Names {
    people: Vec<u32>,
    words: HashSet<String>,
}

impl Names {
    fn find(text: &str, people: &[&str]) -> Self {
        let folded = fold(text);
        let mut found = Self { people: Vec::new(), words: HashSet::new() };
        let mut mentions: Vec<(usize, u32)> = Vec::new();
        for (number, person) in (0u32..).zip(people) {
            let person = normalise(person);
            let name = fold(person.trim());
            if name.is_empty() || is_role(&name) || is_stop(&name) {
                continue;
            }
            if let Some(at) = find_name(&folded, &name) {
                mentions.push((at, number));
                found.add_words(&person);
            } else if let Some((at, first)) = find_first_name(text, &person, people) {
                mentions.push((at, number));
                found.add_words(first);
            }
        }
        mentions.sort_unstable();
        found.people = mentions.into_iter().map(|(_, number)| number).collect();
        found
    }

    fn add_words(&mut self, name: &str) {
        let mut sink = QuerySink { terms: Vec::new(), seen: HashSet::new(), is_truncated: false };
        scan(name, &mut sink);
        self.words.extend(sink.terms.into_iter().map(|t| t.text));
    }
}

/// Where the first word of a name of several words stands, written with its capital, when no other person
/// begins with it.
fn find_first_name<'p>(text: &str, person: &'p str, people: &[&str]) -> Option<(usize, &'p str)> {
    let (first, _) = person.trim().split_once(' ')?;
    let is_name =
        first.chars().count() >= 3 && first.starts_with(char::is_uppercase) && !is_stop(&fold(first));
    let at = find_name(text, first).filter(|_| is_name)?;
    let begins = |other: &&&str| other.split_whitespace().next() == Some(first);
    let is_one_persons = people.iter().filter(begins).nth(1).is_none();
    is_one_persons.then_some((at, first))
}

/// Where `name` first stands in `text` as whole words; a name in a script without spaces, anywhere.
fn find_name(text: &str, name: &str) -> Option<usize> {
    let joins = |c: Option<char>, edge: Option<char>| {
        c.zip(edge).is_some_and(|(c, edge)| script(c) == Script::Word && script(edge) == Script::Word)
    };
    let stands = |at: usize| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !joins(before, name.chars().next()) && !joins(after, name.chars().next_back())
    };
    text.match_indices(name).map(|(at, _)| at).find(|at| stands(*at))
}
