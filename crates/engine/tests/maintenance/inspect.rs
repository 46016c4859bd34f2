//! `inspect` inside a budget: whole parts, and what is left out is named.

use crate::support::Session;
use serde_json::{Value, json};
use strata_core::budget::estimate_tokens;

/// A memory with five versions, a digest's worth of facts and its place in the audit.
fn versions(s: &Session) -> String {
    let first = json!({ "text": "The mill has one wheel.", "evidence": ["survey of the mill"] });
    let mut id = s.ok("remember", first)["id"].as_str().expect("an id").to_owned();
    for wheels in ["two", "three", "four", "five"] {
        let next =
            json!({ "id": id, "text": format!("The mill has {wheels} wheels, as counted this year.") });
        id = s.ok("update", next)["id"].as_str().expect("an id").to_owned();
    }
    id
}

fn left_out(reply: &Value) -> Vec<&str> {
    reply["left_out"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn a_memory_leaves_out_whole_parts_until_it_fits_and_names_them() {
    let s = Session::new();
    let id = versions(&s);
    let look = |budget: u32| s.ok("inspect", json!({ "id": id, "budget_tokens": budget }));
    let whole = s.ok("inspect", json!({ "id": id }));
    let lines = whole["audit"].as_array().expect("lines").len();
    let size = estimate_tokens(&s.text("inspect", json!({ "id": id })));
    assert!(left_out(&whole).is_empty() && left_out(&look(size)).is_empty(), "what fits is whole");

    let shorter = look(size - 1);
    assert_eq!(left_out(&shorter), ["history (5)"]);
    assert_eq!(shorter["audit"].as_array().map(Vec::len), Some(lines), "a part leaves whole or not at all");
    let text = s.text("inspect", json!({ "id": id, "budget_tokens": size - 1 }));
    assert!(
        estimate_tokens(&text) < size && text.contains("left out for `budget_tokens`: history (5)"),
        "{text}"
    );

    let least = look(50);
    assert_eq!(least["text"], whole["text"]);
    let expected =
        ["history (5)", &format!("audit ({lines})"), "evidence (1)", "the text stays, though it is larger"];
    assert_eq!(left_out(&least), expected);
    for small in [0, 49] {
        let told = look(small);
        assert_eq!((left_out(&told), &told["out_of_range"][0]["taken"]), (expected.to_vec(), &json!(50)));
    }
}

#[test]
fn an_event_leaves_its_neighbours_out_and_stays() {
    let s = Session::new();
    let mut ids = Vec::new();
    for n in 0..5 {
        let text = format!("Turn {n}: the wheel was looked at again and again, and nothing was found.");
        ids.push(s.ok("episode_record", json!({ "text": text, "session": "talk" }))["id"].clone());
    }
    let whole = s.ok("inspect", json!({ "id": ids[2] }));
    assert_eq!((whole["around"].as_array().map(Vec::len), left_out(&whole)), (Some(5), vec![]));
    let size = estimate_tokens(&s.text("inspect", json!({ "id": ids[2] })));
    let short = s.ok("inspect", json!({ "id": ids[2], "budget_tokens": size - 1 }));
    assert_eq!(left_out(&short), ["turns around it (4)"], "{short}");
    assert_eq!((&short["around"][0]["id"], &short["text"]), (&ids[2], &whole["text"]));
}
