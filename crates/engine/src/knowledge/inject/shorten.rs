//! The answers of a batch, short enough to be sent: what a caller must know stays longest.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{error::Error, knowledge::room::REPLY, render::shortened};

/// Characters of a text, and of a name, that stay when there is little room.
const TEXT: usize = 400;
const NAME: usize = 40;
/// What says nothing that the other keys do not say.
const ASIDES: [&str; 8] = [
    "l0_pointer",
    "auto_maintain",
    "vector_sync_ok",
    "is_new_file",
    "file_size_bytes",
    "hint",
    "thresholds_source",
    "fitted",
];
/// What remains at last.
const LAST: [&str; 8] =
    ["index", "success", "error", "action", "domain", "section", "needs_fusion", "expected_hash"];

/// The answers as JSON, and whether they were shortened.
///
/// # Errors
/// One that is no JSON: a fault of ours.
pub(super) fn fitted(answers: &[impl Serialize]) -> Result<(Vec<Value>, bool), Error> {
    let whole = answers.iter().map(serde_json::to_value).collect::<Result<Vec<Value>, _>>();
    let mut told = whole.map_err(|error| Error::Internal(error.to_string()))?;
    let mut is_shortened = false;
    for shorten in [without_asides, without_texts, to_the_last] {
        if length(&told) <= REPLY {
            break;
        }
        is_shortened = true;
        told.iter_mut().filter_map(Value::as_object_mut).for_each(shorten);
    }
    Ok((told, is_shortened))
}

/// Characters, indented as the reply is.
fn length(answers: &[Value]) -> usize {
    answers
        .iter()
        .map(|answer| format!("{answer:#}").lines().map(|line| line.chars().count() + 5).sum::<usize>())
        .sum()
}

fn without_asides(answer: &mut Map<String, Value>) {
    let asks = answer.contains_key("expected_hash");
    answer.retain(|key, _| !ASIDES.contains(&key.as_str()) || (asks && key == "hint"));
    if let Some(Value::Object(routing)) = answer.get_mut("routing") {
        routing.retain(|key, _| ["surface", "ownership", "score"].contains(&key.as_str()));
    }
}

fn without_texts(answer: &mut Map<String, Value>) {
    for key in ["suggested_action", "todo_candidate", "routing_enforcement"] {
        answer.remove(key);
    }
    if let Some(Value::Object(dedup)) = answer.get_mut("dedup") {
        dedup.retain(|key, _| ["similar_found", "similarity", "matched_section"].contains(&key.as_str()));
    }
    answer.values_mut().for_each(cut);
}

/// Cuts every text below a value.
fn cut(value: &mut Value) {
    match value {
        Value::String(text) => *text = shortened(text, TEXT),
        Value::Array(items) => items.iter_mut().for_each(cut),
        Value::Object(object) => object.values_mut().for_each(cut),
        _ => {}
    }
}

fn to_the_last(answer: &mut Map<String, Value>) {
    answer.retain(|key, _| LAST.contains(&key.as_str()));
    for key in ["error", "domain", "section"] {
        if let Some(Value::String(text)) = answer.get_mut(key) {
            *text = shortened(text, NAME);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(text: &str) -> Value {
        json!({
            "index": 7, "success": true, "action": "deferred_fusion", "domain": "infra", "section": "## Pool", "error": null,
            "expected_hash": "0123456789abcdef", "hint": text, "fusion": { "old_body": text, "new_content": text },
            "routing": { "surface": "skill", "signals": [text, text], "score": 0.8 }, "l0_pointer": text,
        })
    }

    #[test]
    fn a_short_batch_is_told_whole_and_a_long_one_keeps_what_the_caller_needs() {
        let (told, is_shortened) = fitted(&[answer("x")]).expect("JSON");
        assert_eq!((told, is_shortened), (vec![answer("x")], false));
        let many = vec![answer(&"字".repeat(3_000)); 100];
        let (told, is_shortened) = fitted(&many).expect("JSON");
        assert!(is_shortened && length(&told) <= 32_000, "{}", length(&told));
        assert_eq!(told[99]["expected_hash"], "0123456789abcdef");
        assert_eq!((&told[99]["action"], &told[99]["index"]), (&json!("deferred_fusion"), &json!(7)));
        let few = vec![answer(&"字".repeat(3_000)); 2];
        let (told, _) = fitted(&few).expect("JSON");
        assert_eq!(told[0]["fusion"]["old_body"].as_str().map(|text| text.chars().count()), Some(3_000));
        assert_eq!((told[0].get("l0_pointer"), &told[0]["routing"]["surface"]), (None, &json!("skill")));
    }
}
