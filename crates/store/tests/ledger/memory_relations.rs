//! Relations between memories.

use crate::fixture::{Fixture, audited};
use strata_core::{
    memory::{Relation, Status},
    time::Timestamp,
};
use strata_store::{
    StoreError,
    ledger::{MemoryRelation, PurgedKind},
};

fn relation(source: i64, relation: Relation, target: i64) -> MemoryRelation {
    MemoryRelation { source, relation, target, at: Timestamp(7) }
}

/// Four memories, numbered from 1.
fn four() -> (Fixture, Vec<String>) {
    let fixture = Fixture::new();
    let ids = ["one", "two", "three", "four"].map(|body| {
        let memory = fixture.memory(body);
        fixture.remember(&memory).expect("stored");
        memory.id.to_string()
    });
    (fixture, ids.to_vec())
}

fn relate(fixture: &Fixture, relations: &[MemoryRelation]) -> Result<(), StoreError> {
    fixture.write(|w| {
        let seq = audited(w, "relate", "1")?;
        w.relate_memories(relations, seq)
    })
}

#[test]
fn relations_are_read_from_both_ends_and_put_down_once() {
    let (fixture, _) = four();
    let all = [
        relation(1, Relation::DependsOn, 2),
        relation(1, Relation::Supports, 2),
        relation(3, Relation::Contradicts, 1),
    ];
    relate(&fixture, &all).expect("related");
    relate(&fixture, &[MemoryRelation { at: Timestamp(9), ..all[0] }]).expect("there already");
    assert_eq!(fixture.read(|r| r.memory_relations(1)), all);
    assert_eq!(fixture.read(|r| r.memory_relations(2)), all[..2]);
    assert_eq!(fixture.read(|r| r.memory_relations_of(&[2, 3, 4])), all);
    assert!(fixture.read(|r| r.memory_relations(4)).is_empty());
    assert!(relate(&fixture, &[relation(1, Relation::RelatedTo, 1)]).is_err(), "to itself");
}

#[test]
fn a_version_takes_over_what_speaks_of_the_matter() {
    let (fixture, _) = four();
    let before = [
        relation(1, Relation::DependsOn, 3),
        relation(1, Relation::RelatedTo, 2),
        relation(1, Relation::Supersedes, 4),
        relation(3, Relation::Contradicts, 1),
        relation(4, Relation::Supports, 1),
    ];
    relate(&fixture, &before).expect("related");
    fixture
        .write(|w| {
            let seq = audited(w, "update", "1")?;
            w.carry_memory_relations(1, 2, seq)
        })
        .expect("carried");
    let carried: Vec<_> =
        fixture.read(|r| r.memory_relations(2)).into_iter().filter(|r| r.source != 1).collect();
    assert_eq!(carried, [relation(2, Relation::DependsOn, 3), relation(4, Relation::Supports, 2)]);
    assert_eq!(fixture.read(|r| r.memory_relations(1)), before, "the earlier version keeps its own");
}

#[test]
fn a_purge_takes_the_relations_and_a_lost_end_is_found() {
    let (fixture, ids) = four();
    let stays = relation(2, Relation::DependsOn, 4);
    relate(&fixture, &[relation(1, Relation::DependsOn, 3), stays, relation(4, Relation::Supports, 1)])
        .expect("related");
    fixture
        .write(|w| {
            let seq = audited(w, "purge", &ids[0])?;
            w.purge(PurgedKind::Memory, &ids[0], seq)
        })
        .expect("purged");
    assert_eq!(fixture.read(|r| r.memory_relations_of(&[1, 2, 3, 4])), [stays]);
    assert!(fixture.read(|r| r.dangling_memory_relations(9)).is_empty());
    fixture.tamper("UPDATE memory_relations SET target = 99");
    let lost = fixture.read(|r| r.dangling_memory_relations(9));
    assert_eq!(lost, [MemoryRelation { target: 99, ..stays }]);
    let live = fixture.read(|r| r.memory(&ids[1])).expect("there");
    assert_eq!(live.state.status, Status::Active);
}
