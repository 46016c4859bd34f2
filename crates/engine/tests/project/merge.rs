//! One project of two.

use serde_json::{Value, json};
use strata_core::{
    memory::{Relation, Status},
    principal::{Face, Principal, PrincipalKind},
    time::Timestamp,
};
use strata_engine::operation::Toolset;
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, LedgerWrite, MemoryFilter, MemoryRelation, NewAudit, ReviewFilter, Seq},
    sql::Control,
};
use strata_testkit::home::TestHome;

use crate::{identity::Desk, repository::Checkout};

fn read<T>(desk: &Desk, look: impl FnOnce(&LedgerRead<'_>) -> Result<T, StoreError>) -> T {
    let ledger = desk.engine.existing_ledger().expect("a ledger");
    ledger.read(&Control::default(), look).expect("read")
}

fn write(desk: &Desk, change: impl Fn(&LedgerWrite<'_>, Seq) -> Result<(), StoreError>) {
    let who = Principal::new(PrincipalKind::System, "test");
    let ledger = desk.engine.existing_ledger().expect("a ledger");
    let written = ledger.write(&Control::default(), desk.engine.clock().now(), |w| {
        let seq = w.record(&NewAudit::new(&who, Face::Library, "test", ""))?;
        change(w, seq)
    });
    written.expect("written");
}

#[test]
fn a_merge_carries_over_everything_and_leaves_the_source_empty() {
    let home = TestHome::new();
    let (one, two) = (Checkout::new(), Checkout::new());
    one.commit("src/queue.rs", "fn drain() -> bool {\n    true\n}\n");
    two.commit("two.txt", "two\n");
    let (first, second) = (Desk::at(&home, one.root()), Desk::at(&home, two.root()));
    second.remember("The wombat worker restarts by itself.");
    let agent = |tool: &str, arguments: Value| {
        first
            .run_as(PrincipalKind::Agent, Toolset::Project, tool, arguments)
            .unwrap_or_else(|e| panic!("{tool}: {e}"))
    };
    let node = |title: &str, summary: &str, parent: Value| {
        let node =
            json!({ "title": title, "summary": summary, "parent": parent, "evidence": ["seen in June"] });
        agent("add_memory_node", node)["id"].clone()
    };
    let top = node("Queue", "The quokka queue drains at night.", Value::Null);
    let below = node("Lock", "The queue takes a lock before it drains.", top.clone());
    let gone = node("Old", "The old queue had a length of nine.", Value::Null);
    agent("project_pin", json!({ "id": top, "code": ["src/queue.rs#drain"] }));
    let core = |tool: &str, arguments: Value| {
        first
            .run_as(PrincipalKind::Agent, Toolset::Core, tool, arguments)
            .unwrap_or_else(|e| panic!("{tool}: {e}"))
    };
    core(
        "reflect",
        json!({ "text": "Batches are written before the lock is given back.", "kind": "insight" }),
    );
    let numbers = |ids: [&Value; 2]| {
        ids.map(|id| {
            let id = id.as_str().expect("an id");
            read(&first, |r| r.memory(id)).expect("stored").number
        })
    };
    let [upper, lower] = numbers([&top, &below]);
    write(&first, |w, seq| {
        let relation = |relation| MemoryRelation { source: lower, relation, target: upper, at: Timestamp(1) };
        w.relate_memories(&[relation(Relation::DependsOn), relation(Relation::Contradicts)], seq)
    });
    core("forget", json!({ "id": gone }));
    let request = json!({ "from": first.key(), "into": second.key(), "apply": true });
    let done = second.run("project_merge", request);
    assert_eq!(
        (&done["carried"], &done["questions"], &done["left"]),
        (&json!(4), &json!(1), &json!([])),
        "{done:#}"
    );

    let all = read(&second, |r| {
        r.memories(&MemoryFilter { statuses: Status::ALL.to_vec(), limit: 100, ..MemoryFilter::default() })
    });
    let of =
        |key: &str| all.iter().filter(|row| row.scope.project.as_deref() == Some(key)).collect::<Vec<_>>();
    assert!(of(first.key()).iter().all(|row| row.state.status == Status::Superseded), "the source is empty");
    let now = of(second.key());
    let called = |title: &str| *now.iter().find(|row| row.title == title).expect("carried over");
    assert_eq!((called("Old").state.status, called("Old").writer.as_str()), (Status::Trashed, "agent:test"));
    assert_eq!(
        called("Lock").parent.as_deref(),
        Some(called("Queue").id.as_str()),
        "under the memory of now"
    );
    let evidence = read(&second, |r| r.evidence(called("Queue").number));
    let kinds: Vec<&str> = evidence.iter().map(|one| one.kind.as_str()).collect();
    assert_eq!(kinds, ["note", "code"], "{evidence:?}");
    let relations = read(&second, |r| r.memory_relations(called("Lock").number));
    for relation in [Relation::DependsOn, Relation::Contradicts] {
        let is_it = |r: &MemoryRelation| r.relation == relation && r.target == called("Queue").number;
        assert!(relations.iter().any(is_it), "{relations:?}");
    }
    let waiting = read(&second, |r| r.reviews(&ReviewFilter::default()));
    let [review] = &waiting[..] else { panic!("one question: {waiting:?}") };
    let candidate = now.iter().find(|row| row.state.status == Status::Candidate).expect("carried over");
    assert_eq!((&review.target, review.proposer.as_str()), (&candidate.id, "agent:test"));
    assert!(!second.sees("Batches"), "it waits on");
    assert_eq!(Desk::at(&home, one.root()).key(), second.key(), "an alias now");
    let healthy = second.run_as(PrincipalKind::Human, Toolset::Admin, "doctor", json!({})).expect("doctor");
    assert_eq!(healthy["healthy"], true, "{healthy:#}");
}
