//! The scorer against the prototype that it was built from, hit by hit: the same tokens, owners, dates and
//! cosines go into both.
//!
//! The prototype runs as a child from the folder that `STRATA_REFERENCE` names, or else from `../reference`
//! beside `STRATA_DATA`. Its weights are those of the guide; ours differ on purpose (they serve more kinds of
//! data), so they are set to the guide's here.

#![expect(clippy::print_stdout, reason = "a skipped test and its figures are there to be read")]

#[path = "../retrieval_bars/data.rs"]
#[allow(dead_code, reason = "of the sets only conversations are read here")]
mod data;

use std::{
    collections::{BTreeMap, HashMap},
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use data::{Doc, Scope};
use serde_json::{Value, json};
use strata_core::{
    analysis::{Query, QueryContext, Role, Term, analyze_passage, analyze_query},
    rank::{
        Columns, ColumnsBuilder, Diversity, Flags, Floor, NO_TIME, Part, Row, Settings, TermPostings,
        Weights, rank,
    },
};

/// Largest difference of two scores: the prototype counts in f64, we in f32.
const TOLERANCE: f64 = 2e-6;
/// The prototype finds candidates with another engine's BM25, so at the edge it looks at turns that we do not. Of
/// its best so many, that may happen once in five hundred.
const BEST: usize = 10;
/// Every so many questions are asked; all of them would take minutes in the prototype.
const STRIDE: usize = 4;

/// The weights of the guide, section 5; what it does not know is 0.
fn weights() -> Weights {
    Weights {
        lexical: 0.40,
        dense: 0.60,
        lexical_alone: 0.45,
        previous: 0.145,
        second_previous: 0.10,
        next: 0.035,
        next_dense: 0.095,
        answer: 0.0,
        group_best: 0.165,
        group_lexical: 0.14,
        group_dense: 0.195,
        owner: 0.44,
        date: 0.73,
        when: 0.41,
        question: -0.11,
        length: 0.04,
        authority: 0.0,
        confidence: 0.0,
        importance: 0.0,
        recency: 0.0,
        ..Weights::default()
    }
}

fn settings() -> Settings {
    Settings {
        weights: weights(),
        english_only_model: false,
        floor: Floor::OFF,
        collapse: false,
        diversity: Diversity { largest_share: 1.0, ..Diversity::default() },
        ..Settings::default()
    }
}

/// The folder of the prototype, or `None` (with a notice) when there is none.
fn reference() -> Option<PathBuf> {
    let named = std::env::var_os("STRATA_REFERENCE").map(PathBuf::from);
    let beside = || Some(PathBuf::from(std::env::var_os("STRATA_DATA")?).parent()?.join("reference"));
    let folder = named.or_else(beside).filter(|folder| folder.join("pipeline.py").is_file());
    if folder.is_none() {
        println!("skipped: set STRATA_REFERENCE to the folder of the prototype");
    }
    folder
}

/// Words as both sides get them. Any cut will do, as long as it is the same.
fn tokens(text: &str, names: &[&str]) -> Vec<String> {
    let lower = text.to_ascii_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| w.len() > 2);
    words.filter(|w| !names.iter().any(|n| n.eq_ignore_ascii_case(w))).map(str::to_owned).collect()
}

/// A conversation as the scorer reads it.
struct Talk<'a> {
    docs: &'a [Doc],
    tokens: Vec<Vec<String>>,
    flags: Vec<Flags>,
    people: Vec<&'a str>,
    columns: Columns,
    postings: HashMap<String, TermPostings>,
}

impl<'a> Talk<'a> {
    fn of(docs: &'a [Doc]) -> Self {
        let mut talk = Self {
            docs,
            tokens: Vec::new(),
            flags: Vec::new(),
            people: Vec::new(),
            columns: Columns::default(),
            postings: HashMap::new(),
        };
        let mut builder = ColumnsBuilder::default();
        let mut groups: Vec<&str> = Vec::new();
        for (stable, doc) in (0u64..).zip(docs) {
            let words = tokens(&doc.text, &[]);
            let passage = analyze_passage(&doc.text);
            let flags = Flags::of(&passage, Flags::TURN);
            let slot = builder.push(&Row {
                length: u32::try_from(words.len()).expect("a short turn"),
                group: number(&mut groups, doc.group.as_deref().expect("a session")),
                follows: true,
                owner: number(&mut talk.people, doc.owner.as_deref().expect("a speaker")),
                at: doc.at.unwrap_or(NO_TIME),
                flags,
                layer: 5,
                confidence: 100,
                importance: 100,
                source: 0,
                stable,
                fingerprint: passage.fingerprint,
            });
            let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
            words.iter().for_each(|word| *counts.entry(word).or_default() += 1);
            for (word, frequency) in counts {
                let postings = talk.postings.entry(word.to_owned()).or_default();
                postings.slots.push(slot);
                postings.frequencies.push(frequency);
            }
            talk.flags.push(flags);
            talk.tokens.push(words);
        }
        talk.columns = builder.finish();
        talk
    }

    fn json(&self) -> Vec<Value> {
        let rows = self.docs.iter().zip(&self.tokens).zip(&self.flags);
        rows.map(|((doc, tokens), flags)| {
            json!({
                "tokens": tokens, "session": doc.group, "speaker": doc.owner, "at": doc.at,
                "question": flags.has(Flags::QUESTION), "timed": flags.has(Flags::TIME_EXPRESSION),
            })
        })
        .collect()
    }

    /// The question in the tokens that both sides get. Where several people are named the prototype gives the
    /// owner up and we take the first: nobody is named to either then.
    fn query(&self, text: &str) -> Query {
        let mut query =
            analyze_query(text, &QueryContext { people: &self.people, ..QueryContext::default() });
        let mut seen: Vec<String> = tokens(text, &self.people);
        let mut distinct = Vec::new();
        seen.retain(|word| {
            !distinct.contains(word) && {
                distinct.push(word.clone());
                true
            }
        });
        query.terms = (0u32..)
            .zip(seen)
            .map(|(unit, text)| Term { text, role: Role::Word, unit, is_name: false })
            .collect();
        if query.people.len() > 1 {
            query.people.clear();
        }
        query
    }

    /// Our score of every candidate, by its number.
    fn scores(&self, query: &Query, cosines: Option<&[f32]>) -> HashMap<usize, f64> {
        let found = |term: &Term| self.postings.get(&term.text).cloned().unwrap_or_default();
        let postings: Vec<TermPostings> = query.terms.iter().map(found).collect();
        let people: Vec<u32> = (0..).take(self.people.len()).collect();
        let part = Part { columns: &self.columns, postings: &postings, cosines, people: &people };
        let ranking = rank(query, &[part], &|_, _| true, &settings(), self.docs.len());
        ranking.hits.iter().map(|hit| (hit.place.slot as usize, f64::from(hit.score))).collect()
    }

    /// What the prototype adds to every score of a query, and we do not: half the owner's weight when nobody is
    /// named or somebody else spoke, and the length itself instead of the length against the average.
    fn offset(&self) -> f64 {
        let words: usize = self.tokens.iter().map(Vec::len).sum();
        let average = words as f64 / self.docs.len() as f64;
        0.5 * f64::from(weights().owner) + f64::from(weights().length) * (1.0 + average).ln()
    }
}

fn number<'a>(known: &mut Vec<&'a str>, name: &'a str) -> u32 {
    let at = known.iter().position(|k| *k == name).unwrap_or_else(|| {
        known.push(name);
        known.len() - 1
    });
    u32::try_from(at).expect("few")
}

/// Cosines that look like those of a model: mostly small, some high, none alike.
fn cosines(question: usize, docs: usize) -> Vec<f32> {
    let value = |doc: usize| {
        let bits = (question as u64 * 1_000_003 + doc as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let bits = (bits ^ (bits >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40;
        let unit = bits as f32 / (1u64 << 24) as f32;
        unit * unit * unit - 0.1
    };
    (0..docs).map(value).collect()
}

/// One question, with or without cosines.
struct Asked {
    talk: usize,
    query: Query,
    cosines: Option<Vec<f32>>,
}

fn questions(talks: &[Talk<'_>], scopes: &[Scope]) -> Vec<Asked> {
    let mut asked = Vec::new();
    for (talk, (known, scope)) in talks.iter().zip(scopes).enumerate() {
        for (at, question) in scope.questions.iter().enumerate().step_by(STRIDE) {
            let query = known.query(&question.text);
            asked.push(Asked { talk, query: query.clone(), cosines: None });
            asked.push(Asked { talk, query, cosines: Some(cosines(at, known.docs.len())) });
        }
    }
    asked
}

/// What the prototype makes of the questions: for each, the score of every candidate.
fn prototype(folder: &Path, talks: &[Talk<'_>], asked: &[Asked]) -> Vec<Vec<(usize, f64)>> {
    let of = |at: usize| asked.iter().filter(move |a| a.talk == at);
    let scopes: Vec<Value> = talks
        .iter()
        .enumerate()
        .map(|(at, talk)| {
            let queries = of(at).map(|a| {
                let terms: Vec<&str> = a.query.terms.iter().map(|t| t.text.as_str()).collect();
                json!({
                    "tokens": terms, "cosines": a.cosines, "when": a.query.asks_when,
                    "person": a.query.people.first().map(|p| talk.people[*p as usize]),
                    "months": a.query.dates.months, "years": a.query.dates.years, "days": a.query.dates.days,
                })
            });
            json!({ "docs": talk.json(), "queries": queries.collect::<Vec<_>>() })
        })
        .collect();
    let input = json!({ "scopes": scopes }).to_string();
    let empty = tempfile::tempdir().expect("a temporary directory");
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/retrieval_prototype/driver.py");
    let mut child = Command::new("python3")
        .arg(driver)
        .args([folder, empty.path()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python 3 starts");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("the driver reads");
    let output = child.wait_with_output().expect("the driver ends");
    assert!(output.status.success(), "{}", output.status);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("scores")).collect()
}

#[test]
fn every_score_equals_the_prototypes() {
    let (Some(folder), Some(sets)) = (reference(), data::folder()) else { return };
    let scopes = data::locomo(&sets.join("locomo-dev.json"));
    let talks: Vec<Talk<'_>> = scopes.iter().map(|scope| Talk::of(&scope.docs)).collect();
    let asked = questions(&talks, &scopes);
    let answers = prototype(&folder, &talks, &asked);
    assert_eq!(answers.len(), asked.len());
    let (mut compared, mut unseen, mut unseen_best, mut largest) = (0usize, 0usize, 0usize, 0.0f64);
    for (asked, mut theirs) in asked.iter().zip(answers) {
        let talk = &talks[asked.talk];
        let ours = talk.scores(&asked.query, asked.cosines.as_deref());
        let words: Vec<&str> = asked.query.terms.iter().map(|t| t.text.as_str()).collect();
        theirs.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (rank, (doc, score)) in theirs.into_iter().enumerate() {
            let Some(own) = ours.get(&doc) else {
                unseen += 1;
                unseen_best += usize::from(rank < BEST);
                continue;
            };
            let difference = (own + talk.offset() - score).abs();
            assert!(
                difference <= TOLERANCE,
                "{words:?}, turn {doc}: {own} + {} is not {score}",
                talk.offset()
            );
            largest = largest.max(difference);
            compared += 1;
        }
    }
    let questions = asked.len();
    println!(
        "{compared} scores of {questions} questions, largest difference {largest:.1e}; no candidates of ours: {unseen}, \
         of the best ten {unseen_best}"
    );
    assert!(compared > 20_000, "enough was compared: {compared}");
    assert!(unseen * 30 < compared, "we score what the prototype scores");
    assert!(unseen_best * 500 < questions * BEST, "and all but a few of its best");
}
