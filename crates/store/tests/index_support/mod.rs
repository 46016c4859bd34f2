//! A ledger in memory, a generated corpus in English and Chinese, and searches over both.
#![allow(dead_code, unreachable_pub, reason = "each test program compiles this and uses its own part")]

use std::{collections::BTreeMap, sync::Mutex, time::Duration};

use strata_core::{
    analysis::{QueryContext, analyze_query},
    memory::Layer,
    rank::Settings,
};
use strata_store::{
    Control, StoreError,
    faults::FaultPlan,
    index::{
        Answer, CaughtUp, Change, CollectionKey, Embedded, Embedder, Filter, Group, Index, Mark, Preparer,
        QueryVector, Request, Section, Source, SourceKind, Subject, TruthReader, Turn, WINDOW,
    },
};
pub use strata_testkit::home::TestHome;

pub const TENANT: &str = "local";
pub const MODEL: &str = "bag-of-words/24";
pub const LONG: Duration = Duration::from_secs(600);

/// A small generator of reproducible numbers (xorshift).
#[derive(Debug, Clone)]
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 11) % bound.max(1)
    }

    /// Small numbers are as likely as large ones on a logarithmic scale, like words of a language.
    pub fn skewed(&mut self, bound: u64) -> u64 {
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        ((bound as f64).powf(share) - 1.0) as u64
    }
}

const SYLLABLES: [&str; 16] =
    ["ba", "ro", "ti", "ken", "lu", "mar", "so", "vi", "dan", "pe", "gol", "ni", "zu", "fer", "ha", "qui"];

/// The `number`th made-up word.
pub fn word(number: u64) -> String {
    let mut number = number + 16;
    let mut word = String::new();
    while number > 0 {
        word.push_str(SYLLABLES[(number % 16) as usize]);
        number /= 16;
    }
    word
}

/// A text of `words` words; one in five is a run of Chinese.
pub fn text(numbers: &mut Numbers, words: u64) -> String {
    let chinese = numbers.below(5) == 0;
    let mut text = String::new();
    for at in 0..words {
        if chinese {
            let code = 0x4e00 + u32::try_from(numbers.skewed(3_000)).expect("small");
            text.extend(char::from_u32(code));
            if at % 7 == 6 {
                text.push('\u{3002}');
            }
        } else {
            text.push_str(&word(numbers.skewed(5_000)));
            text.push(' ');
        }
    }
    if numbers.below(9) == 0 {
        text.push('?');
    }
    text
}

/// The ledger: every change there ever was, in order.
#[derive(Debug, Default)]
pub struct Truth {
    pub epoch: String,
    pub history: String,
    pub log: Mutex<Vec<Change>>,
}

impl Truth {
    pub fn new(log: Vec<Change>) -> Self {
        Self { epoch: "first".into(), history: "one".into(), log: Mutex::new(log) }
    }

    /// The ledger as it was after `seq`.
    pub fn until(&self, seq: i64) -> Self {
        let log = self.log.lock().expect("no panic");
        Self::new(log.iter().filter(|change| change.mark.seq <= seq).cloned().collect())
    }

    pub fn push(&self, change: Change) {
        self.log.lock().expect("no panic").push(change);
    }

    /// What each source is now.
    fn present(&self) -> BTreeMap<Source, Change> {
        let log = self.log.lock().expect("no panic");
        log.iter().map(|change| (change.source, change.clone())).collect()
    }
}

impl TruthReader for Truth {
    fn epoch(&self) -> Result<String, StoreError> {
        Ok(self.epoch.clone())
    }

    fn head(&self) -> Result<i64, StoreError> {
        Ok(self.log.lock().expect("no panic").last().map_or(0, |change| change.mark.seq))
    }

    fn hash_at(&self, seq: i64) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(Some(format!("{}{seq}", self.history).into_bytes()))
    }

    fn changes(&self, after: Mark, limit: usize) -> Result<Vec<Change>, StoreError> {
        let log = self.log.lock().expect("no panic");
        let from = log.partition_point(|change| change.mark <= after);
        Ok(log[from..].iter().take(limit).cloned().collect())
    }

    fn latest_of_memories(&self, after: Mark, limit: usize) -> Result<Vec<Change>, StoreError> {
        let mut changes = self.changes(after, usize::MAX)?;
        changes.retain(|change| change.source.kind == SourceKind::Memory);
        Ok(changes.split_off(changes.len().saturating_sub(limit)))
    }

    fn pending(&self, after: Mark) -> Result<u64, StoreError> {
        let log = self.log.lock().expect("no panic");
        Ok((log.len() - log.partition_point(|change| change.mark <= after)) as u64)
    }

    fn session_span(
        &self,
        collection: &CollectionKey,
        session: &str,
        first: Turn,
        last: Turn,
    ) -> Result<Vec<Change>, StoreError> {
        let mut turns: Vec<(Turn, Change)> = Vec::new();
        for change in self.present().into_values() {
            let Some(subject) = &change.subject else { continue };
            if subject.collection == *collection && subject.group == Group::Session(session.to_owned()) {
                turns.push(((subject.order, change.source.number), change));
            }
        }
        turns.sort_by_key(|(turn, _)| *turn);
        let from = turns.partition_point(|(turn, _)| *turn < first).saturating_sub(WINDOW);
        let to = (turns.partition_point(|(turn, _)| *turn <= last) + WINDOW).min(turns.len());
        Ok(turns[from..to].iter().map(|(_, change)| change.clone()).collect())
    }
}

pub fn key(project: &str) -> CollectionKey {
    CollectionKey::new(TENANT, "shared", project)
}

pub fn subject(project: &str, body: String) -> Subject {
    Subject {
        collection: key(project),
        sections: vec![Section { body, ..Section::default() }],
        group: Group::Alone,
        order: 0,
        owner: String::new(),
        at: 1_700_000_000_000_000,
        layer: Layer::P5,
        kind: "fact".into(),
        branch: String::new(),
        confidence: 0.5,
        importance: 0.5,
        is_code: false,
        marks: 0,
        keep_text: false,
        has_numbered_titles: false,
    }
}

pub fn memory(number: i64) -> Source {
    Source { kind: SourceKind::Memory, number }
}

/// A history of `length` changes: turns of sessions (some inserted late), memories that are replaced and
/// forgotten, documents of several parts, in three collections.
pub fn history(seed: u64, length: i64) -> Vec<Change> {
    let mut numbers = Numbers::new(seed);
    let mut log = Vec::new();
    for seq in 1..=length {
        let mark = Mark { seq, ordinal: 0 };
        log.push(match numbers.below(10) {
            0..=4 => turn(&mut numbers, mark),
            5..=7 => fact(&mut numbers, mark, length),
            8 => gone(&mut numbers, mark, length),
            _ => document(&mut numbers, mark),
        });
    }
    log
}

fn turn(numbers: &mut Numbers, mark: Mark) -> Change {
    let words = 5 + numbers.below(30);
    let session = numbers.below(1 + mark.seq.unsigned_abs() / 40);
    let late = i64::try_from(numbers.below(20)).expect("small") / 15 * 5;
    let order = (mark.seq - late) * 60_000_000;
    let subject = Subject {
        group: Group::Session(format!("s{session}")),
        order,
        at: 1_700_000_000_000_000 + order,
        owner: ["Ada", "Grace", "\u{5c0f}\u{660e}"][numbers.below(3) as usize].to_owned(),
        layer: Layer::P2,
        kind: "episode".into(),
        ..subject("alpha", text(numbers, words))
    };
    let source = Source { kind: SourceKind::Episode, number: mark.seq };
    Change { mark, source, subject: Some(subject) }
}

fn some_memory(numbers: &mut Numbers, length: i64) -> Source {
    memory(i64::try_from(numbers.below(length.unsigned_abs() / 4 + 1)).expect("small"))
}

fn fact(numbers: &mut Numbers, mark: Mark, length: i64) -> Change {
    let source = some_memory(numbers, length);
    let words = 5 + numbers.below(20);
    let subject = Subject {
        layer: Layer::ALL[numbers.below(7) as usize],
        kind: ["fact", "decision", "rule"][numbers.below(3) as usize].into(),
        branch: ["", "", "feature"][numbers.below(3) as usize].into(),
        confidence: numbers.below(201) as f32 / 200.0,
        marks: numbers.below(4) as u32,
        // A memory keeps its collection, most of the time.
        ..subject(["alpha", "beta", ""][(source.number % 3) as usize], text(numbers, words))
    };
    Change { mark, source, subject: Some(titled(subject, word(numbers.skewed(5_000)))) }
}

fn titled(mut subject: Subject, title: String) -> Subject {
    subject.sections[0].title = title;
    subject
}

fn gone(numbers: &mut Numbers, mark: Mark, length: i64) -> Change {
    Change { mark, source: some_memory(numbers, length), subject: None }
}

fn document(numbers: &mut Numbers, mark: Mark) -> Change {
    let number = i64::try_from(numbers.below(60)).expect("small");
    let sections = (0..1 + numbers.below(4)).map(|place| {
        // Of a document that changes, some sections stay as they were.
        let mut own = Numbers::new(number.unsigned_abs() * 97 + place * 13 + numbers.below(3));
        let words = 5 + own.below(400);
        Section {
            title: format!("docs > {}", word(own.skewed(5_000))),
            body: text(&mut own, words),
            ..Section::default()
        }
    });
    let sections = sections.collect();
    let subject = Subject {
        sections,
        at: 1_700_000_000_000_000 + i64::try_from(numbers.below(400)).expect("small") * 86_400_000_000,
        group: Group::Document(format!("d{}", number / 4)),
        order: number,
        keep_text: true,
        ..subject("beta", String::new())
    };
    Change { mark, source: Source { kind: SourceKind::Document, number }, subject: Some(subject) }
}

/// Embeds as the sum of a pseudo-random vector per word.
pub fn embed(text: &str) -> Option<Vec<f32>> {
    let mut sum = [0.0_f32; 24];
    let mut words = 0;
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let seed = word.bytes().fold(7_u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let mut numbers = Numbers::new(seed);
        sum.iter_mut().for_each(|x| *x += numbers.below(2_001) as f32 / 1_000.0 - 1.0);
        words += 1;
    }
    let norm = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
    (words > 0 && norm > 0.0).then(|| sum.iter().map(|x| x / norm).collect())
}

pub fn semantic() -> Preparer<'static> {
    fn answer(text: &str) -> Result<Embedded, StoreError> {
        Ok(embed(text).into())
    }
    Preparer { embedder: Some(Embedder { model: MODEL, embed: &answer }), kept: None }
}

pub fn open(home: &TestHome) -> Index {
    home.index(1, FaultPlan::none())
}

/// Follows the ledger to its end.
pub fn follow(index: &Index, truth: &Truth) -> CaughtUp {
    let caught = index.catch_up(&Control::default(), TENANT, truth, semantic(), LONG).expect("catches up");
    assert_eq!(caught.behind, 0);
    caught
}

/// One result, to compare.
pub type Line = (Source, u32, usize, u32);

pub fn lines(answer: &Answer) -> Vec<Line> {
    let line = |found: &strata_store::index::Found| {
        (found.source, found.part, found.collection, found.hit.score.to_bits())
    };
    answer.found.iter().map(line).collect()
}

/// A question made of words of the corpus; every other one in Chinese, some naming a person.
pub fn question(numbers: &mut Numbers) -> String {
    let mut question = String::new();
    if numbers.below(3) == 0 {
        question.push_str("Grace ");
    }
    for _ in 0..1 + numbers.below(6) {
        if numbers.below(3) == 0 {
            let code = 0x4e00 + u32::try_from(numbers.skewed(3_000)).expect("small");
            question.extend(char::from_u32(code));
        } else {
            question.push_str(&word(numbers.skewed(5_000)));
            question.push(' ');
        }
    }
    question
}

/// A search over all collections.
pub struct Ask<'a> {
    pub index: &'a Index,
    pub filter: Filter,
    pub as_of: Option<i64>,
    pub is_semantic: bool,
    pub limit: usize,
}

impl<'a> Ask<'a> {
    pub fn new(index: &'a Index) -> Self {
        Self { index, filter: Filter::default(), as_of: None, is_semantic: true, limit: 20 }
    }

    pub fn answer(&self, question: &str, caught: &CaughtUp) -> Result<Answer, StoreError> {
        let collections = [key("alpha"), key("beta"), key("")];
        let people = ["Ada", "Grace", "\u{5c0f}\u{660e}"];
        let query = analyze_query(question, &QueryContext { people: &people, ..QueryContext::default() });
        let vector = embed(question).filter(|_| self.is_semantic);
        // The time of a passage counts, too.
        let settings =
            Settings { english_only_model: false, now: Some(1_720_000_000_000_000), ..Settings::default() };
        let request = Request {
            collections: &collections,
            query: &query,
            people: &people,
            vector: vector.as_deref().map(|values| QueryVector { model: MODEL, values }),
            filter: &self.filter,
            as_of: self.as_of,
            settings: &settings,
            limit: self.limit,
        };
        self.index.search(&Control::default(), &request, &caught.pending)
    }

    pub fn lines(&self, question: &str) -> Vec<Line> {
        lines(&self.answer(question, &CaughtUp::default()).expect("answers"))
    }
}

/// Asserts that two indexes answer `questions` generated questions alike.
pub fn assert_alike(one: &Index, other: &Index, questions: u64) {
    let mut numbers = Numbers::new(4_242);
    let mut answered = 0;
    for at in 0..questions {
        let question = question(&mut numbers);
        let ask = |index| Ask { is_semantic: at % 2 == 0, ..Ask::new(index) }.lines(&question);
        let lines = ask(one);
        answered += u64::from(!lines.is_empty());
        assert_eq!(lines, ask(other), "question {at}: {question}");
    }
    assert!(answered > questions / 2, "only {answered} of {questions} questions had an answer");
}

/// Scaled down where the code is not optimised.
pub const fn scaled(release: i64, debug: i64) -> i64 {
    if cfg!(debug_assertions) { debug } else { release }
}
