//! The drift report: change and failure told apart, and numbers that answer whether memory is alive.

use crate::support::{NOON, Session};
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, principal::PrincipalKind, time::Timestamp};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    engine::Engine,
};
use strata_store::{
    ledger::{OpenPurge, PurgedKind},
    sql::Control,
};

const DAY: i64 = 86_400_000_000;

fn on_day(mut s: Session, day: i64) -> Session {
    s.engine = Engine::with_sources(
        s.home.settings(),
        Box::new(ManualClock::at(Timestamp(NOON.0 + day * DAY + DAY / 24))),
        Box::new(SeededIds::new(500 + day.unsigned_abs())),
    );
    s
}

fn delta_of<'r>(report: &'r Value, metric: &str) -> Option<&'r Value> {
    report["deltas"]
        .as_array()
        .expect("deltas")
        .iter()
        .find(|d| d["metric"] == metric)
        .map(|d| &d["delta_pct"])
}

fn alarming(s: &Session, arguments: Value) -> (Value, bool) {
    let reply = s.reply("drift_report", arguments).expect("a report");
    (reply.json, reply.is_alarming)
}

#[test]
fn p_layer_c61_the_first_report_makes_the_baseline_and_growth_is_drift() {
    let s = Session::new();
    for n in ["one", "two", "three", "four"] {
        s.remember(&format!("the mill has a wheel named {n}"));
    }
    let first = s.ok("drift_report", json!({}));
    assert_eq!((&first["status"], &first["deltas"]), (&json!("no change"), &json!([])), "{first}");
    let folder = s.home.path().join("drift");
    assert!(folder.join("baseline.json").is_file() && folder.join("weekly-2026-06-15.md").is_file());
    assert_eq!(s.ok("drift_report", json!({}))["status"], "no change");
    for n in ["five", "six", "seven"] {
        s.remember(&format!("the mill has a sail named {n}"));
    }
    s.engine
        .existing_ledger()
        .expect("a ledger")
        .database()
        .checkpoint(&Default::default())
        .expect("emptied");
    let bytes = std::fs::read(s.home.path().join("ledger.db")).expect("read");
    let totals = s.ok("status", json!({}));
    let second = s.ok("drift_report", json!({}));
    assert_eq!(second["status"], "drift");
    assert_eq!(delta_of(&second, "knowledge_total"), Some(&json!(75.0)), "{second}");
    assert_eq!(std::fs::read(s.home.path().join("ledger.db")).expect("read"), bytes);
    assert_eq!(s.ok("status", json!({})), totals);
    let text = std::fs::read_to_string(second["path"].as_str().expect("a path")).expect("written");
    assert!(text.contains("+75.0 % from 4") && text.contains("Are the rules alive?"), "{text}");
    let json = std::fs::read_to_string(folder.join("weekly-2026-06-15.json")).expect("written");
    assert_eq!(serde_json::from_str::<Value>(&json).expect("JSON")["status"], "drift");

    assert_eq!(
        s.ok("drift_report", json!({ "refresh": true }))["status"],
        "drift",
        "compared before it is renewed"
    );
    assert_eq!(s.ok("drift_report", json!({}))["status"], "no change");
}

#[test]
fn p_layer_c61_what_cannot_be_read_is_a_failure_and_stays_as_it_is() {
    let s = Session::new();
    let (report, alarms) = alarming(&s, json!({}));
    assert_eq!((&report["status"], alarms), (&json!("failure"), true), "no store is no good news");
    assert!(!s.home.path().join("drift").exists());
    s.remember("the mill stands by the river");
    s.ok("drift_report", json!({}));
    let baseline = s.home.path().join("drift/baseline.json");
    strata_store::files::write_atomic(&baseline, b"{\"created_at\": \"x\", \"metr").expect("damaged");
    let (report, alarms) = alarming(&s, json!({}));
    assert_eq!((&report["status"], alarms, &report["path"]), (&json!("failure"), true, &Value::Null));
    assert!(report["unreadable"][0].as_str().is_some_and(|why| why.contains("`refresh`")), "{report}");
    assert!(std::fs::read(&baseline).expect("read").ends_with(b"metr"), "not replaced silently");
    assert_eq!(s.ok("drift_report", json!({ "refresh": true }))["status"], "no change");
    assert_eq!(s.ok("drift_report", json!({}))["status"], "no change");

    let s = Session { engine: s.reopened(), ..s };
    strata_store::files::write_atomic(&s.home.path().join("ledger.db"), &[7; 5000]).expect("damaged");
    let (report, alarms) = alarming(&s, json!({}));
    assert_eq!((&report["status"], alarms), (&json!("failure"), true), "{report}");
}

#[test]
fn the_three_questions_are_answered_with_numbers() {
    let mut s = Session::new();
    for n in 0..3 {
        s.ok(
            "episode_record",
            json!({ "text": format!("The wheel number {n} broke because of ice."), "session": "a" }),
        );
    }
    s.ok("episode_record", json!({ "text": "A lonely remark.", "session": "b" }));
    s.ok("consolidate", json!({}));
    for _ in 0..6 {
        assert_eq!(
            s.fails("remember", json!({ "text": "I make the rules", "layer": "P0" })),
            ErrorKind::Refused
        );
    }
    s.set_kind(PrincipalKind::System);
    s.ok("remember", json!({ "text": "never run the pump dry", "kind": "rule", "layer": "P0" }));
    s.set_kind(PrincipalKind::Agent);
    let report = s.ok("drift_report", json!({}));
    assert_eq!(
        report["distilling"],
        json!({ "episodes_7d": 4, "digests_7d": 1, "distilled": 3, "backlog": 1, "oldest_undistilled_days": 0 })
    );
    assert_eq!((&report["rules"]["enabled"], &report["rules"]["refusals_7d"]), (&json!(1), &json!(6)));
    assert_eq!(report["failures"]["repeated_refusals_7d"], 1);
    let s = on_day(s, 20);
    let report = s.ok("drift_report", json!({}));
    assert_eq!(report["distilling"]["oldest_undistilled_days"], 20);
    let alerts = report["alerts"].to_string();
    for word in ["not distilled", "no rule was recalled", "upkeep is overdue"] {
        assert!(alerts.contains(word), "{word}: {alerts}");
    }
    let done = s.ok("maintain", json!({ "task": "drift" }));
    assert_eq!(done["tasks"][0]["status"], "done", "{done}");
}

#[test]
fn an_agent_writes_reports_only_inside() {
    let s = Session::new();
    s.remember("the mill stands by the river");
    let outside = tempfile::tempdir().expect("a folder");
    let path = outside.path().to_string_lossy().into_owned();
    assert_eq!(s.fails("drift_report", json!({ "baseline_dir": path })), ErrorKind::Refused);
    assert_eq!(std::fs::read_dir(outside.path()).expect("listed").count(), 0);
    let inside = s.home.path().join("elsewhere").to_string_lossy().into_owned();
    assert_eq!(s.ok("drift_report", json!({ "baseline_dir": inside }))["status"], "no change");
    assert!(s.home.path().join("elsewhere/baseline.json").is_file());
}

#[test]
fn the_graph_the_rules_and_the_queue_are_measured_and_an_older_baseline_stays_readable() {
    let s = Session::new().of_kind(PrincipalKind::System);
    s.ok("entity_add", json!({ "label": "pump", "kind": "tool" }));
    s.ok("entity_add", json!({ "label": "dry run", "kind": "incident" }));
    s.ok("relation_add", json!({ "source": "dry run", "relation": "relates_to", "target": "pump" }));
    for text in ["never run the pump dry", "close the sluice first"] {
        s.ok("rules_add", json!({ "text": text }));
    }
    s.ok("rules_disable", json!({ "id": s.recall("sluice")[0] }));
    s.remember("The default branch is main.");
    s.remember("The default branch is develop.");
    s.ok("contradictions", json!({}));
    let report = s.ok("drift_report", json!({}));
    let figures = ["rules", "rules_enabled", "conflicts_pending", "entities", "relations"];
    let figures = figures.map(|name| report["metrics"][name].as_i64().expect("a number"));
    assert_eq!((figures, &report["rules"]["enabled"]), ([2, 1, 1, 2, 1], &json!(1)), "{report}");
    assert_eq!(report["failures"]["open_purges"], 0);

    let path = s.home.path().join("drift/baseline.json");
    let mut baseline: Value =
        serde_json::from_slice(&std::fs::read(&path).expect("a baseline")).expect("JSON");
    let metrics = baseline["metrics"].as_object_mut().expect("metrics");
    for name in ["rules_enabled", "conflicts_pending", "entities", "relations"] {
        assert!(metrics.remove(name).is_some(), "{name}");
    }
    strata_store::files::write_atomic(&path, baseline.to_string().as_bytes()).expect("written");
    let older = s.ok("drift_report", json!({}));
    assert_eq!((&older["status"], &older["deltas"]), (&json!("no change"), &json!([])), "{older}");
    s.ok("drift_report", json!({ "refresh": true }));
    s.ok("entity_add", json!({ "label": "sluice", "kind": "tool" }));
    assert_eq!(delta_of(&s.ok("drift_report", json!({})), "entities"), Some(&json!(50.0)));
}

#[test]
fn a_purge_that_was_cut_short_is_a_silent_failure_that_is_told() {
    let s = Session::new();
    let id = s.remember("the mill stands by the river");
    let open = OpenPurge { kind: PurgedKind::Memory, id, backups: false };
    let ledger = s.engine.existing_ledger().expect("a ledger");
    ledger.write(&Control::default(), NOON, |w| w.open_purge(&open)).expect("noted");
    let report = s.ok("drift_report", json!({}));
    assert_eq!(report["failures"]["open_purges"], 1);
    assert!(report["alerts"].to_string().contains("purge cut short: 1;"), "{report}");
}
