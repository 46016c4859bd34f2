//! A limit counts what the reader may see and asked for: what is left out does not use it up.

use crate::support::Session;
use serde_json::{Value, json};
use strata_core::scope::Scope;

fn labels(rows: &Value) -> Vec<String> {
    let rows = rows.as_array().into_iter().flatten();
    rows.map(|row| row["label"].as_str().expect("a label").to_owned()).collect()
}

/// Does something in another project, which the user level does not see.
fn elsewhere<T>(s: &mut Session, work: impl FnOnce(&Session) -> T) -> T {
    let here = std::mem::replace(&mut s.scope, Scope::project("elsewhere"));
    let out = work(s);
    s.scope = here;
    out
}

#[test]
fn names_of_other_projects_do_not_crowd_out_those_mentioned_together() {
    let mut s = Session::new();
    let once = s.remember("the harbour lights were counted before people left");
    let twice = s.remember("nobody counted the boats that came in later");
    let link = |s: &Session, label: &str, memory: &str| {
        s.ok("entity_add", json!({ "label": label, "kind": "tool", "memory": memory }));
    };
    link(&s, "pier", &once);
    link(&s, "pier", &twice);
    elsewhere(&mut s, |s| {
        for n in 0..25 {
            link(s, &format!("hidden {n}"), &once);
            link(s, &format!("hidden {n}"), &twice);
        }
    });
    for label in ["crane", "ferry", "buoy"] {
        link(&s, label, &once);
    }
    let explored = s.ok("graph_explore", json!({ "query": "pier" }));
    assert_eq!(labels(&explored["entities"][0]["mentioned_with"]), ["crane", "ferry", "buoy"]);
}

#[test]
fn texts_of_other_projects_do_not_hide_what_says_the_same() {
    let mut s = Session::new();
    let text = |n: &str| {
        format!(
            "The nightly export of invoices to the archive server begins at four and takes {n} minutes in all"
        )
    };
    elsewhere(&mut s, |s| {
        for n in 0..40 {
            s.ok("remember", json!({ "text": text(&format!("{}", 20 + n)) }));
        }
    });
    let mine = s.remember(&text("about twenty"));
    let again = s.ok("remember", json!({ "text": text("nearly twenty") }));
    let said = again.to_string();
    assert!(said.contains(&mine), "the nearly equal one of this project is named: {said}");
}

#[test]
fn tools_do_not_crowd_out_the_incidents_that_a_query_names() {
    let s = Session::new();
    for n in 0..25 {
        s.ok("entity_add", json!({ "label": format!("gateway {n:02}"), "kind": "tool" }));
    }
    s.ok("entity_add", json!({ "label": "gateway zz outage", "kind": "incident" }));
    let causes = s.ok("graph_rca", json!({ "query": "gateway" }));
    assert_eq!(causes["root_causes"][0]["incident"]["label"], "gateway zz outage", "{causes}");
}

#[test]
fn rules_do_not_crowd_out_the_newest_and_the_pinned() {
    let s = Session::new();
    let note = s.remember("the tide table hangs beside the north door");
    s.ok("update", json!({ "id": note, "pinned": true }));
    for n in 0..12 {
        s.ok("remember", json!({ "text": format!("log every landing of class {n} in the book"), "kind": "rule", "layer": "P4" }));
    }
    let pack = s.text("context", json!({ "limit": 10 }));
    assert!(pack.contains("the tide table hangs"), "{pack}");
}
