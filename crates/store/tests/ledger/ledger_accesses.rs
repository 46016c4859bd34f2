//! The access log, and the entries of the index of knowledge that are written by hand.

use crate::fixture::{Fixture, agent};
use strata_core::{principal::Face, time::Timestamp};
use strata_store::ledger::{AccessFilter, AccessKind, AccessRow, NewAudit, NewL0Entry, PurgedKind};

fn access(at: i64, namespace: &str, path: &str, score: Option<f64>) -> AccessRow {
    AccessRow {
        at: Timestamp(at),
        reader: "shared".into(),
        namespace: namespace.into(),
        path: path.into(),
        kind: if score.is_some() { AccessKind::Recall } else { AccessKind::GetFile },
        query: Some("端口".into()),
        rank: Some(1),
        score,
    }
}

#[test]
fn accesses_are_told_by_file_and_kind_and_forgotten_by_age() {
    let fixture = Fixture::new();
    let first = [access(10, "shared", "db.md", Some(2.0)), access(20, "shared", "db.md", Some(3.0))];
    let then = [access(30, "shared", "db.md", None), access(30, "claude", "db.md", None)];
    let last = [access(40, "codex", "secret.md", None), access(5, "shared", "old.md", None)];
    for batch in [&first, &then, &last] {
        fixture.write(|w| w.add_accesses(batch)).expect("written");
    }
    let seen = |since: i64| AccessFilter { namespaces: ["claude", "shared"], since: Timestamp(since) };
    let files = fixture.read(|r| r.accesses_by_file(&seen(10)));
    let told: Vec<_> = files.iter().map(|f| (f.namespace.as_str(), f.hits, f.score)).collect();
    assert_eq!(told, [("shared", 3, Some(2.5)), ("claude", 1, None)]);
    assert_eq!((files[0].first, files[0].last), (Timestamp(10), Timestamp(30)));
    let kinds = fixture.read(|r| r.accesses_by_kind(&seen(0)));
    assert_eq!(kinds, [(AccessKind::GetFile, 3), (AccessKind::Recall, 2)]);
    let of = fixture.read(|r| r.accesses_of(&seen(0), "db.md"));
    assert_eq!(of.iter().map(|a| a.at.0).collect::<Vec<_>>(), [30, 30, 20, 10]);
    assert_eq!(of[3], first[0]);
    assert_eq!(fixture.write(|w| w.forget_accesses(Timestamp(20))).expect("pruned"), 2);
    assert_eq!(fixture.read(|r| r.accesses_of(&seen(0), "db.md")).len(), 3);
    assert_eq!(fixture.read(|r| r.head()).seq, 0, "statistics are not audited");
}

#[test]
fn a_purge_takes_what_was_looked_for() {
    let fixture = Fixture::new();
    let lost = fixture.memory("x");
    fixture.remember(&lost).expect("stored");
    fixture.write(|w| w.add_accesses(&[access(10, "shared", "db.md", None)])).expect("written");
    fixture
        .write(|w| {
            let seq = w.record(&NewAudit::new(&agent(), Face::Library, "purge", lost.id.as_str()))?;
            w.purge(PurgedKind::Memory, lost.id.as_str(), seq)
        })
        .expect("purged");
    let seen = AccessFilter { namespaces: ["shared", "shared"], since: Timestamp(0) };
    let left = fixture.read(|r| r.accesses_of(&seen, "db.md"));
    assert_eq!((left.len(), left[0].query.as_deref()), (1, None));
}

#[test]
fn entries_by_hand_are_replaced_removed_and_covered() {
    let fixture = Fixture::new();
    let put = |summary: &str, digest: Option<[u8; 32]>| {
        let new = NewL0Entry {
            namespace: "shared".into(),
            path: "team.md".into(),
            summary: summary.into(),
            writer: "human:ana".into(),
            at: Timestamp(5),
            salt: [7; 16],
        };
        let principal = agent();
        let row = NewAudit {
            after_hash: Some(digest.unwrap_or_else(|| new.digest())),
            ..NewAudit::new(&principal, Face::Library, "l0_entry_added", &new.path)
        };
        fixture.write(|w| {
            let seq = w.record(&row)?;
            w.put_l0_entry(&new, seq)
        })
    };
    put("who does what", None).expect("stored");
    put("谁做什么", None).expect("replaced");
    let entries = fixture.read(|r| r.l0_entries(["claude", "shared"]));
    assert_eq!(entries.len(), 1);
    assert_eq!((entries[0].summary.as_str(), entries[0].seq), ("谁做什么", 2));
    assert!(fixture.read(|r| r.l0_entries(["claude", "codex"])).is_empty());
    assert!(fixture.read(|r| r.altered_l0_entries()).is_empty());
    put("edited behind the audit's back", Some([0; 32])).expect("stored");
    let altered = fixture.read(|r| r.altered_l0_entries());
    assert_eq!(altered, [("shared".to_owned(), "team.md".to_owned())]);
    assert!(fixture.write(|w| w.remove_l0_entry("shared", "team.md")).expect("removed"));
    assert!(!fixture.write(|w| w.remove_l0_entry("shared", "team.md")).expect("nothing there"));
}
