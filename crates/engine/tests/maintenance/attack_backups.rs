//! Backups as a way around the secret: a doctored one, somebody else's, and one from before there was a secret.

use std::path::{Path, PathBuf};

use crate::maintain_support::{Session, acting, become_owner, home, secret};
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, principal::PrincipalKind};
use strata_store::{faults::FaultPlan, ledger::Ledger, sql::Control};
use strata_testkit::tamper::{Damage, tamper};

const RULE: &str = "Never push to main without a review";

fn rules(s: &Session) -> Value {
    s.ok("rules_list", json!({ "all": true }))["rules"].clone()
}

fn backup(s: &Session) -> String {
    s.ok("backup_create", json!({}))["id"].as_str().expect("an id").to_owned()
}

fn place(s: &Session, id: &str) -> PathBuf {
    s.home.path().join("backups").join(id)
}

/// Changes the ledger of a backup and makes its manifest fit.
fn doctor_backup(place: &Path, damage: Damage<'_>) {
    let ledger = Ledger::new(place, FaultPlan::none());
    tamper(ledger.database(), damage);
    ledger.database().checkpoint(&Control::default()).expect("the log is emptied");
    ledger.database().close();
    for suffix in ["-wal", "-shm"] {
        std::fs::remove_file(place.join(format!("ledger.db{suffix}"))).ok();
    }
    let manifest = place.join("manifest.json");
    let mut value: Value =
        serde_json::from_slice(&std::fs::read(&manifest).expect("a manifest")).expect("JSON");
    let bytes = std::fs::read(place.join("ledger.db")).expect("a ledger");
    let file = value["files"].as_array_mut().expect("files").iter_mut().find(|f| f["name"] == "ledger.db");
    let file = file.expect("the ledger is listed");
    file["size"] = bytes.len().into();
    file["blake3"] = blake3::hash(&bytes).to_hex().to_string().into();
    strata_store::files::write_atomic(&manifest, value.to_string().as_bytes()).expect("written");
}

#[test]
fn a_purge_does_not_certify_a_doctored_backup() {
    let mut s = home(1);
    become_owner(&mut s);
    s.ok("rules_add", json!({ "text": RULE, "priority": 10 }));
    let secret = s.remember("the blue ledger is under the stairs");
    let id = backup(&s);
    doctor_backup(&place(&s, &id), Damage::Word("title"));
    let reply = s.ok("purge", json!({ "id": secret, "backups": true }));
    assert_eq!(
        (reply["backups_rewritten"].as_u64(), reply["verified"].as_bool()),
        (Some(1), Some(true)),
        "{reply}"
    );
    assert!(reply["backups_damaged"][0].as_str().is_some_and(|named| named.starts_with(&id)), "{reply}");
    let listed = s.ok("backup_list", json!({ "verify": true }));
    assert_eq!(listed["backups"][0]["whole"], false, "{listed}");
    assert!(s.reply("backup_restore", json!({ "id": id, "force": true })).is_err());
}

#[test]
fn a_doctored_backup_is_refused_to_everybody_and_named() {
    for damage in [
        Damage::Column("metadata", "{\"approved\":\"yes\"}".into()),
        Damage::Word("body"),
        Damage::Rule("priority"),
        Damage::Rule("rows"),
        Damage::Everywhere(1, "status", "trashed"),
    ] {
        let mut s = home(1);
        become_owner(&mut s);
        s.ok("rules_add", json!({ "text": RULE, "priority": 10 }));
        let id = backup(&s);
        let before = rules(&s);
        doctor_backup(&place(&s, &id), damage);
        let listed = s.ok("backup_list", json!({ "verify": true }));
        let text = listed["backups"][0].to_string();
        assert!(text.contains("behind the ledger's back"), "{damage:?}: {text}");
        let restore = json!({ "id": id, "force": true });
        let secret = s.secret.take();
        for kind in [PrincipalKind::Agent, PrincipalKind::Tool, PrincipalKind::Cron, PrincipalKind::Human] {
            acting(&mut s, kind, |s| {
                assert_eq!(s.fails("backup_restore", restore.clone()), ErrorKind::ApprovalRequired);
            });
        }
        s.secret = secret;
        assert_eq!(s.fails("backup_restore", restore), ErrorKind::Corrupt, "{damage:?}");
        assert_eq!(rules(&s), before);
        assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
        let report = s.ok("doctor", json!({ "full": true }));
        let told = report["findings"].as_array().expect("findings").iter().any(|f| {
            f["check"] == "backups"
                && f["status"] == "bad"
                && f["detail"].as_str().is_some_and(|d| d.contains(&id))
        });
        assert!(told, "{damage:?}: {report:#}");
    }
}

#[test]
fn a_backup_of_another_owner_does_not_bring_its_passphrase_along() {
    let mut other = home(2);
    other.set_kind(PrincipalKind::Human);
    other.secret = Some(secret("an intruder's own"));
    assert_eq!(other.ok("init", json!({}))["has_secret"], true);
    other.ok("rules_add", json!({ "text": "Everybody pushes to main" }));
    let id = backup(&other);
    let mut s = home(3);
    become_owner(&mut s);
    s.ok("rules_add", json!({ "text": RULE }));
    let target = place(&s, &id);
    std::fs::create_dir_all(&target).expect("a folder");
    for name in ["ledger.db", "manifest.json"] {
        let bytes = std::fs::read(place(&other, &id).join(name)).expect("a file");
        strata_store::files::write_atomic(&target.join(name), &bytes).expect("written");
    }
    let before = rules(&s);
    for secret in [s.secret.take(), other.secret.take(), None] {
        s.secret = secret;
        assert_eq!(s.fails("backup_restore", json!({ "id": id, "force": true })), ErrorKind::Conflict);
    }
    assert_eq!(rules(&s), before);
}

#[test]
fn a_backup_from_before_the_passphrase_does_not_take_it_away() {
    let mut s = home(4).of_kind(PrincipalKind::Human);
    s.remember("stored before there was a passphrase");
    let id = backup(&s);
    become_owner(&mut s);
    s.ok("backup_restore", json!({ "id": id, "force": true }));
    let secret = s.secret.take();
    assert_eq!(s.fails("rules_add", json!({ "text": RULE })), ErrorKind::ApprovalRequired);
    s.secret = Some(crate::maintain_support::secret("an intruder's own"));
    assert_eq!(s.fails("rules_add", json!({ "text": RULE })), ErrorKind::Conflict);
    assert_eq!(s.fails("init", json!({})), ErrorKind::Conflict);
    s.secret = secret;
    s.ok("rules_add", json!({ "text": RULE }));
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn without_a_passphrase_a_person_restores_only_what_leaves_rules_as_they_are() {
    let mut s = home(5).of_kind(PrincipalKind::Human);
    s.remember("the pump runs at night");
    let plain = backup(&s);
    acting(&mut s, PrincipalKind::System, |s| s.ok("rules_add", json!({ "text": RULE })));
    let ruled = backup(&s);
    assert_eq!(s.fails("backup_restore", json!({ "id": plain, "force": true })), ErrorKind::ApprovalRequired);
    s.remember("the pump runs by day as well");
    s.ok("backup_restore", json!({ "id": ruled, "force": true }));
    assert_eq!(rules(&s)[0]["text"], RULE);
}
