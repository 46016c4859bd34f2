//! The attributes of rules: append-only, ordered by changes, and never set on a state that nobody saw.

use crate::fixture::{Fixture, agent};
use strata_core::{error::ErrorKind, memory::Kind, principal::Face};
use strata_store::{
    StoreError,
    ledger::{NewAudit, NewMemory, OPEN, RuleAttributes},
};

fn attributes(priority: i64, condition: Option<&str>) -> RuleAttributes {
    RuleAttributes { priority, condition: condition.map(str::to_owned), enabled: true }
}

/// A rule that is stored with attributes of its own.
fn stored(fixture: &Fixture, text: &str) -> i64 {
    let memory = NewMemory {
        kind: Kind::parse("rule").expect("a kind"),
        rule: Some(attributes(10, None)),
        ..fixture.memory(text)
    };
    let principal = agent();
    let number = fixture.write(|w| {
        let row = NewAudit {
            after_hash: Some(memory.audit_hash()),
            ..NewAudit::new(&principal, Face::Mcp, "rule_add", memory.id.as_str())
        };
        let seq = w.record(&row)?;
        w.insert_memory(&memory, seq)
    });
    number.expect("stored")
}

/// Sets attributes on record; returns the sequence of the change.
fn set(fixture: &Fixture, number: i64, seen: Option<i64>, to: &RuleAttributes) -> Result<i64, StoreError> {
    let principal = agent();
    fixture.write(|w| {
        let id = w.memory_by_number(number)?.expect("stored").id;
        let row = NewAudit {
            after_hash: Some(w.hash_with(number, None, to)?),
            ..NewAudit::new(&principal, Face::Mcp, "rule_edit", &id)
        };
        let seq = w.record(&row)?;
        w.set_rule(number, seen, to, seq)?;
        Ok(seq.get())
    })
}

#[test]
fn what_held_at_a_sequence_stays_known() {
    let fixture = Fixture::new();
    let number = stored(&fixture, "always review");
    let first = fixture.read(|r| Ok(r.rule(number)?.expect("attributes").from_seq));
    let second = set(&fixture, number, Some(first), &attributes(5, Some("on main"))).expect("set");
    let third = set(&fixture, number, Some(second), &attributes(5, Some(""))).expect("set");
    let held = |seq| fixture.read(|r| r.rule_at(number, seq)).map(|row| row.attributes);
    assert_eq!(held(first - 1), None);
    assert_eq!(held(first), Some(attributes(10, None)));
    assert_eq!(held(second), Some(attributes(5, Some("on main"))));
    assert_eq!(held(OPEN - 1), Some(attributes(5, Some(""))));
    let (history, then, wrong) =
        fixture.read(|r| Ok((r.rule_history(number)?, r.rules_as_of(second)?, r.verify_rules()?)));
    let ends: Vec<_> = history.iter().map(|row| (row.from_seq, row.to_seq)).collect();
    assert_eq!(ends, [(first, second), (second, third), (third, OPEN)]);
    assert_eq!((then.len(), then[0].from_seq, wrong), (1, second, Vec::new()));
}

#[test]
fn a_change_that_rests_on_an_older_one_is_a_conflict() {
    let fixture = Fixture::new();
    let number = stored(&fixture, "always review");
    let first = fixture.read(|r| Ok(r.rule(number)?.expect("attributes").from_seq));
    set(&fixture, number, Some(first), &attributes(5, None)).expect("set");
    for stale in [first, 0] {
        let error = set(&fixture, number, Some(stale), &attributes(1, None)).expect_err("stale");
        assert_eq!(error.kind(), ErrorKind::Conflict);
    }
    let error = set(&fixture, number, None, &attributes(-1, None)).expect_err("negative");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let held = fixture.read(|r| r.rule(number)).expect("attributes");
    assert_eq!(held.attributes.priority, 5, "nothing of a refused change remains");
}

#[test]
fn attributes_that_the_audit_does_not_know_are_named() {
    let fixture = Fixture::new();
    let (known, forged) = (stored(&fixture, "always review"), stored(&fixture, "always test"));
    let principal = agent();
    fixture
        .write(|w| {
            let id = w.memory_by_number(forged)?.expect("stored").id;
            // On record, but with the hash of something else.
            let row = NewAudit {
                after_hash: Some(w.hash_with(known, None, &attributes(1, None))?),
                ..NewAudit::new(&principal, Face::Mcp, "rule_edit", &id)
            };
            let seq = w.record(&row)?;
            w.set_rule(forged, None, &attributes(1, None), seq)
        })
        .expect("set");
    let (wrong, id) =
        fixture.read(|r| Ok((r.verify_rules()?, r.memory_by_number(forged)?.expect("stored").id)));
    assert_eq!(wrong.iter().map(|found| found.id.clone()).collect::<Vec<_>>(), [id]);
}
