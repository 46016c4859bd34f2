//! Measures the router on labelled examples and prints every wrong one.

use std::collections::BTreeMap;

use serde_json::Value;
use strata_core::memory::Kind;
use strata_core::route::{Route, suggest};

const LABELLED: &str = include_str!("../testdata/route/labelled.jsonl");

#[test]
fn labelled_examples_are_routed() {
    let mut routes: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for line in LABELLED.lines() {
        let row: Value = serde_json::from_str(line).expect("corpus lines are JSON");
        let (label, text) =
            (row["route"].as_str().unwrap_or_default(), row["text"].as_str().unwrap_or_default());
        let suggestion = suggest(text, None);
        let given = suggestion.as_ref().map_or("none", |s| s.route.as_str());
        let count = routes.entry(label.to_owned()).or_default();
        count.0 += 1;
        if given == label {
            count.1 += 1;
        } else {
            println!("WRONG {label} -> {given} {:?}: {text:?}", suggestion.map(|s| s.reason));
        }
    }
    let (total, right) = routes.values().fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1));
    for (route, (total, right)) in &routes {
        println!("{route:<14} {right}/{total}");
    }
    println!("accuracy {right}/{total}");
    for route in ["todo", "ephemeral", "user_profile", "skill"] {
        assert!(routes[route].0 >= 15, "{route}");
    }
    assert!(right * 100 >= total * 90, "{right} of {total} right");
}

#[test]
fn a_reason_names_the_marker_and_the_kind_counts() {
    let todo = suggest("TODO write it down", None).expect("a marker");
    assert_eq!((todo.route, todo.reason.as_str()), (Route::Todo, "marker \"TODO\""));
    let preference = Kind::parse("preference").expect("a known kind");
    let profile = suggest("short answers, no lists", Some(&preference)).expect("the kind tells");
    assert_eq!((profile.route, profile.reason.as_str()), (Route::UserProfile, "kind preference"));
    assert_eq!(suggest("", None), None);
}

#[test]
fn odd_input_is_no_trouble() {
    for text in ["第", "第步", "step ", "[", "0", "- [", "$", "\u{0}", "é第1步", "step é"] {
        let _unused: Option<_> = suggest(text, None);
    }
    assert_eq!(Route::ALL.len(), 9);
}
