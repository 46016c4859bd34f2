//! What a model answered: read strictly, so that prose around a verdict is no verdict.

use serde::{Deserialize, de::DeserializeOwned};

use super::{Relation, Verdict};

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    relation: Relation,
    reason: String,
    confidence: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Digest {
    digest: String,
}

/// The verdict in an answer's body.
pub(super) fn verdict(body: &[u8]) -> Result<Verdict, String> {
    let Said { relation, reason, confidence } = content(body)?;
    if !(0.0..=1.0).contains(&confidence) {
        return Err(format!("its confidence {confidence} is not between 0 and 1"));
    }
    Ok(Verdict { relation, reason, confidence })
}

/// The digest in an answer's body.
pub(super) fn digest(body: &[u8]) -> Result<String, String> {
    content::<Digest>(body).map(|d| d.digest)
}

fn content<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    let completion: Completion =
        serde_json::from_slice(body).map_err(|_| "its answer is no chat completion".to_owned())?;
    let [choice] = completion.choices.as_slice() else {
        return Err("its answer does not hold one choice".into());
    };
    let text = choice.message.content.as_deref().unwrap_or_default();
    serde_json::from_str(unfenced(text))
        .map_err(|e| format!("its answer is not the JSON that was asked for: {e}"))
}

/// The inside of one code fence around everything: many models cannot leave it out.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inside = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inside.and_then(|t| t.strip_suffix("```")).map_or(text, str::trim)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn body(content: &str) -> Vec<u8> {
        json!({ "id": "x", "choices": [{ "index": 0, "message": { "role": "assistant", "content": content } }] })
            .to_string()
            .into_bytes()
    }

    #[test]
    fn a_verdict_is_read_with_or_without_a_fence() {
        let said = "{\"relation\": \"contradicts\", \"reason\": \"30 is not 60\", \"confidence\": 0.9}";
        for content in [said.to_owned(), format!("```json\n{said}\n```"), format!("```\n{said}\n```\n")] {
            let verdict = verdict(&body(&content)).expect("a verdict");
            assert_eq!((verdict.relation, verdict.confidence), (Relation::Contradicts, 0.9));
        }
        assert_eq!(digest(&body("{\"digest\": \"short\"}")), Ok("short".into()));
    }

    #[test]
    fn everything_else_is_no_verdict() {
        for content in [
            "",
            "They contradict.",
            "Sure! {\"relation\": \"same\", \"reason\": \"\", \"confidence\": 1}",
            "{\"relation\": \"maybe\", \"reason\": \"\", \"confidence\": 1}",
            "{\"relation\": \"same\", \"reason\": \"\", \"confidence\": 7}",
            "{\"relation\": \"same\", \"reason\": \"\", \"confidence\": \"high\"}",
            "{\"relation\": \"same\", \"confidence\": 1}",
            "{\"relation\": \"same\", \"reason\": \"\", \"confidence\": 1, \"delete\": true}",
            "[]",
        ] {
            assert!(verdict(&body(content)).is_err(), "{content}");
        }
        for raw in
            ["", "<html>", "{}", "{\"choices\": []}", "{\"choices\": [{\"message\": {\"content\": null}}]}"]
        {
            assert!(verdict(raw.as_bytes()).is_err() && digest(raw.as_bytes()).is_err(), "{raw}");
        }
    }
}
