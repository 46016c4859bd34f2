//! Homes of files and homes whose memory lies on a server, and what a memory holds.

#![allow(dead_code, reason = "each test file uses its own part")]

use serde_json::{Value, json};
use strata_core::{
    id::{Id, IdKind},
    principal::{Principal, PrincipalKind},
    scope::Scope,
};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    engine::Engine,
    settings::Settings,
};
use strata_store::{
    Control, Server,
    ledger::{BranchSeen, LOCAL, NewJob},
};
use strata_testkit::{
    home::TestHome,
    store::{TestDatabase, TestStore},
};

use crate::maintain_support::{Session, acting, become_owner, secret, support, tell};

pub(crate) const QUESTIONS: [&str; 6] = [
    "where is the blue ledger",
    "备份几点开始",
    "열쇠는 어디에 있나",
    "会議室の予約",
    "retry limit",
    "review before a push",
];

pub(crate) fn session(settings: Settings, home: TestHome, seed: u64) -> Session {
    let engine = Engine::with_sources(
        settings,
        Box::new(ManualClock::at(support::NOON)),
        Box::new(SeededIds::new(seed)),
    );
    let mut s = Session {
        engine,
        principal: Principal::new(PrincipalKind::Human, "test"),
        scope: Scope::user(),
        secret: None,
        home,
    };
    s.secret = Some(secret("correct horse"));
    s
}

/// A home of files, and its owner.
pub(crate) fn at_home(seed: u64) -> Session {
    let home = TestHome::on(TestStore::Sqlite).existing();
    session(home.settings(), home, seed)
}

/// Another home, whose memory lies in `database`.
pub(crate) fn on_server(database: &TestDatabase, seed: u64) -> Session {
    let home = TestHome::on(TestStore::Sqlite).existing();
    at(home, &database.url(), LOCAL, seed)
}

/// The home with a tenant's memory at an address.
pub(crate) fn at(home: TestHome, url: &str, tenant: &str, seed: u64) -> Session {
    let store = Some(Server::parse(url, tenant).expect("an address"));
    session(Settings { store, ..home.settings() }, home, seed)
}

/// Some of everything that a ledger holds. Returns the id of one memory.
pub(crate) fn fill(s: &mut Session) -> String {
    become_owner(s);
    s.ok("rules_add", json!({ "text": "Never push to main without a review", "priority": 10 }));
    let kept = s.remember("the blue ledger is under the stairs");
    let todo = s.ok("add_todo", json!({ "content": "창고의 열쇠를 복사한다", "priority": "blocker" }));
    s.ok("update_todo", json!({ "todo_id": todo["id"], "status": "in_progress" }));
    for text in [
        "备份每晚两点开始",
        "창고의 열쇠는 삼층에 있다",
        "会議室の予約は火曜日に変更した",
        "fn retry_limit(attempts: u32) -> u32 { attempts.min(5) }",
    ] {
        s.remember(text);
    }
    tell(s, "a talk", "Ana said that the river cabin is sold");
    s.ok("update", json!({ "id": kept, "text": "the blue ledger is in the attic" }));
    let gone = s.remember("the code of the old safe is on the yellow card");
    s.ok("purge", json!({ "id": gone }));
    s.ok("snapshot_create", json!({ "version_id": "before-the-move" }));
    kept
}

pub(crate) fn export(s: &Session, name: &str) -> String {
    let path = s.home.path().join(name);
    s.ok("export", json!({ "path": path }));
    std::fs::read_to_string(path).expect("an export")
}

/// What the questions find, with scores.
pub(crate) fn ranks(s: &Session) -> Vec<Value> {
    let hits = |q: &&str| s.ok("recall", json!({ "query": q }))["hits"].clone();
    QUESTIONS.iter().map(hits).collect()
}

pub(crate) fn assert_healthy(s: &Session) {
    let report = s.ok("doctor", json!({ "full": true }));
    assert_eq!(report["healthy"], true, "{report:#}");
}

/// Rows of a table that moved.
pub(crate) fn count(reply: &Value, table: &str) -> u64 {
    let tables = reply["tables"].as_array().expect("tables");
    let found = tables.iter().find(|t| t["table"] == table).expect("the table");
    found["rows"].as_u64().expect("a number")
}

/// Something in every table that there is.
pub(crate) fn fill_every_table(s: &mut Session) {
    fill(s);
    s.ok(
        "remember",
        json!({ "text": "the deploy key rotates every 90 days", "tags": ["deploy", "鍵"], "topic_key": "deploy/key",
            "evidence": ["src/deploy.rs:12", "https://example.org/a?b=c#d"] }),
    );
    let entity = |label: &str| s.ok("entity_add", json!({ "label": label, "kind": "tool" }))["id"].clone();
    let (one, other, third) = (entity("PortOne"), entity("结算服务"), entity("창고"));
    s.ok("relation_add", json!({ "source": one, "relation": "depends_on", "target": other }));
    let gone = s.ok("relation_add", json!({ "source": other, "relation": "depends_on", "target": third }));
    s.ok("relation_remove", json!({ "id": gone["id"] }));
    s.remember("PortOne is asked by 结算服务 once an hour");
    acting(s, PrincipalKind::Agent, |s| {
        s.ok(
            "reflect",
            json!({ "text": "always review migrations twice", "layer": "P0", "reason": "two incidents" }),
        );
        s.fails("rules_add", json!({ "text": "an agent's own rule", "priority": 1 }));
        s.recall("blue ledger");
    });
    for n in 0..5 {
        tell(s, "talk", &format!("turn {n}: the harbour lights were counted"));
    }
    assert_eq!(s.ok("consolidate", json!({}))["digests"], 1);
    let lost = s.remember("the number of the old account is on the green card");
    s.ok("snapshot_create", json!({ "version_id": "before-a-loss" }));
    s.ok("purge", json!({ "id": lost }));
    s.ok(
        "inject_knowledge",
        json!({ "domain": "端口", "section": "Proxy", "content": "it listens on 8443" }),
    );
    s.ok(
        "manage_l0_entry",
        json!({ "action": "replace", "domain": "端口", "summary": "where what listens" }),
    );
    s.ok("get_knowledge_file", json!({ "filename": "端口.md" }));
    s.ok("get_access_stats", json!({}));
    s.scope = Scope::project("atlas");
    s.remember("atlas builds on Tuesdays");
    let lesson = "The worker read the queue before it took the lock, so two of them took one batch; now it locks first.";
    for outcome in [lesson.to_owned(), format!("{lesson} It gives the lock back when the batch is written.")]
    {
        let report = json!({ "task": "Fix crash of the queue worker", "outcome": outcome, "verification_status": "tests_passed" });
        s.ok("reflect_and_write", report);
    }
    s.scope = Scope::user();
    s.home.file("notes/mill.md", "# The mill\n\ngrinds 小麦\n");
    s.ok("index", json!({ "path": s.home.outside().join("notes") }));
    let job = NewJob {
        id: Id::from_bits(IdKind::Job, s.engine.ids().bits()),
        kind: "import".into(),
        total: 7,
        message: "later".into(),
    };
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let told = ledger.write(&Control::default(), s.engine.clock().now(), |w| {
        w.queue_job(&job)?;
        w.ensure_project("atlas", "Atlas")?;
        let (tip, none) = ("1a2b3c".to_owned(), String::new());
        w.note_branch(
            "atlas",
            "feature",
            &BranchSeen { tip, own_tip: none.clone(), judged: none.clone(), review: none },
        )?;
        w.alias_project("the old atlas", "atlas")
    });
    told.expect("written");
}

/// Moves a memory, and says what was moved.
pub(crate) fn moved(s: &Session, from: &str, to: &str) -> Value {
    s.ok("migrate_store", json!({ "from": from, "to": to }))
}

/// Databases are there, or the test has nothing to do.
pub(crate) fn server() -> Option<TestDatabase> {
    TestStore::Postgres.is_there().then(|| TestStore::Postgres.database()).flatten()
}
