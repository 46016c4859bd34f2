//! The same memory finds the same on every database: ids and scores, bit for bit. An own set always runs; the
//! labelled sets run where `STRATA_DATA` names their folder: a part of them, or with `STRATA_RANKS=whole` all of them.

use std::{fmt::Write, path::Path};

use crate::support::Session;
use serde_json::{Value, json};
use strata_core::{
    cancel::Cancel,
    principal::{Face, Principal, PrincipalKind},
    scope::Scope,
    time::Timestamp,
};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    engine::Engine,
    operation::Call,
    recall::search::{Query, search},
};
use strata_testkit::{home::TestHome, store::TestStore};

/// (scope, kind, text) to store and (scope, question) to ask.
#[derive(Default)]
struct Set {
    items: Vec<(String, String, String)>,
    questions: Vec<(String, String)>,
}

fn session(store: TestStore) -> Session {
    let home = TestHome::on(store).existing();
    let engine = Engine::with_sources(
        home.settings(),
        Box::new(ManualClock::at(crate::support::NOON)),
        Box::new(SeededIds::new(7)),
    );
    let principal = Principal::new(PrincipalKind::Human, "test");
    Session { engine, principal, scope: Scope::user(), secret: None, home }
}

/// Stores what the gate lets through; tells what it did with each.
fn load(s: &mut Session, set: &Set) -> Vec<String> {
    let mut outcomes = Vec::new();
    for (scope, kind, text) in &set.items {
        s.scope = Scope::project(scope);
        let stored = s.reply("remember", json!({ "text": text, "kind": kind }));
        outcomes.push(stored.map_or_else(|e| e.to_string(), |reply| reply.json["id"].to_string()));
    }
    outcomes
}

/// The ten best of a question, each with the bits of its score.
fn best(s: &Session, scope: &str, question: &str) -> String {
    let scope = Scope::project(scope);
    let call = Call {
        principal: &s.principal,
        scope: &scope,
        face: Face::Library,
        deadline: Timestamp::MAX,
        cancel: &Cancel::default(),
        progress: &|_, _| {},
        secret: None,
    };
    let outcome = search(&s.engine, &call, &Query::new(question, &scope, 10)).expect("searched");
    let mut told = String::new();
    for hit in outcome.hits {
        writeln!(told, "{} {:08x}", hit.item.id(), hit.found.hit.score.to_bits()).expect("a text grows");
    }
    told
}

/// Demands the same answers on SQLite and on `store`. Returns how many questions had any.
fn compare(store: TestStore, set: &Set) -> usize {
    let (mut here, mut there) = (session(TestStore::Sqlite), session(store));
    assert_eq!(load(&mut here, set), load(&mut there, set));
    let mut answered = 0;
    for (scope, question) in &set.questions {
        let found = best(&here, scope, question);
        assert_eq!(found, best(&there, scope, question), "{question}");
        answered += usize::from(!found.is_empty());
    }
    // The tool does the same; a part of them shows that.
    for (scope, question) in set.questions.iter().step_by(7) {
        there.scope = Scope::project(scope);
        here.scope = Scope::project(scope);
        let recall = |s: &Session| s.ok("recall", json!({ "query": question }))["hits"].clone();
        assert_eq!(recall(&here), recall(&there), "{question}");
    }
    answered
}

/// Five languages, names, figures and code; no two texts alike and many nearly.
fn own() -> Set {
    let people = ["Ada", "Bruno", "陈静", "김민수", "佐藤"];
    let mut set = Set::default();
    for n in 0..60 {
        let who = people[n % people.len()];
        let text = match n % 6 {
            0 => format!("{who} moved the weekly planning of team {} to Thursday at {}:30", n / 6, 8 + n % 9),
            1 => format!("{who}决定第{n}号服务器的备份每晚{}点进行", n % 24),
            2 => format!("{who}는 {n}번 창고의 열쇠를 {}층에 보관한다", n % 12),
            3 => format!("{who}さんは第{n}会議室の予約を{}日に変更した", 1 + n % 28),
            4 => format!("fn retry_limit_{n}(attempts: u32) -> u32 {{ attempts.min({}) }}", n * 3),
            _ => format!("The cache of service {n} expires after {} minutes, {who} measured it", 5 + n),
        };
        let kind = if n % 6 == 4 { "code" } else { "fact" };
        let (beginning, end) = (text.chars().take(16).collect(), text.chars().skip(12).take(24).collect());
        set.items.push(("own".into(), kind.into(), text));
        let question = match n % 6 {
            0 => format!("when does team {} plan the week", n / 6),
            1 => format!("第{n}号服务器什么时候备份"),
            2 => format!("{n}번 창고 열쇠는 어디에 있나"),
            3 => format!("第{n}会議室の予約はいつ"),
            4 => format!("retry limit {n}"),
            _ => format!("cache expiry of service {n}"),
        };
        for asked in [format!("{who}: {question}"), format!("{question} {n}"), question, beginning, end] {
            set.questions.push(("own".into(), asked));
        }
    }
    for who in people {
        set.questions.push(("own".into(), who.into()));
        set.questions.push(("own".into(), format!("what did {who} decide")));
    }
    set
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("a labelled set");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// How much of a labelled set is compared: so many documents, and one question in so many.
#[derive(Clone, Copy)]
struct Part {
    documents: usize,
    one_in: usize,
}

impl Part {
    const WHOLE: Self = Self { documents: usize::MAX, one_in: 1 };

    /// On the second server fewer: what could differ from the first is its version and an extension that nothing uses.
    fn of(store: TestStore) -> Self {
        match (std::env::var("STRATA_RANKS").as_deref(), store) {
            (Ok("whole"), _) => Self::WHOLE,
            (_, TestStore::Pgvector) => Self { documents: 200, one_in: 4 },
            _ => Self { documents: 600, one_in: 1 },
        }
    }
}

/// A part of a labelled set.
fn labelled(folder: &Path, part: Part) -> Set {
    let text = |line: &Value, field: &str| line[field].as_str().unwrap_or_default().to_owned();
    let item = |line: &Value| {
        let kind = line["kind"].as_str().unwrap_or("fact").to_owned();
        (text(line, "scope"), kind, text(line, "text"))
    };
    Set {
        items: lines(&folder.join("docs.jsonl")).iter().take(part.documents).map(item).collect(),
        questions: lines(&folder.join("queries.jsonl"))
            .iter()
            .step_by(part.one_in)
            .map(|line| (text(line, "scope"), text(line, "query")))
            .collect(),
    }
}

#[test]
fn every_server_ranks_as_a_file_does() {
    for store in [TestStore::Postgres, TestStore::Pgvector] {
        if !store.is_there() {
            continue;
        }
        let mut set = own();
        if store == TestStore::Pgvector {
            set.questions = set.questions.into_iter().step_by(4).collect();
        }
        let answered = compare(store, &set);
        let asked = set.questions.len();
        println!("{store:?}: {asked} questions, {answered} answered, all alike");
        assert!(answered >= asked * 4 / 5, "only {answered} of {asked} found anything");
    }
}

/// Compares each labelled set, and says what was compared or why nothing was.
fn the_labelled_sets_rank_alike(store: TestStore) -> Vec<String> {
    let Some(folder) = std::env::var_os("STRATA_DATA") else {
        return vec!["skipped: set STRATA_DATA to the folder of the labelled sets".to_owned()];
    };
    if !store.is_there() {
        return Vec::new();
    }
    let told = ["cosqa", "locomo-facts", "cmrc"].map(|name| {
        let set = labelled(&Path::new(&folder).join(name), Part::of(store));
        let answered = compare(store, &set);
        let (documents, questions) = (set.items.len(), set.questions.len());
        format!(
            "{store:?}, {name}: {documents} documents, {questions} questions, {answered} answered, all alike"
        )
    });
    told.to_vec()
}

#[test]
fn the_labelled_sets_rank_alike_without_pgvector() {
    println!("{}", the_labelled_sets_rank_alike(TestStore::Postgres).join("\n"));
}

#[test]
fn the_labelled_sets_rank_alike_with_pgvector() {
    println!("{}", the_labelled_sets_rank_alike(TestStore::Pgvector).join("\n"));
}
