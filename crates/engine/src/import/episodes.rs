//! Episodes as JSON Lines: `{id, session, at, speaker, role, text, metadata}`.
//!
//! A damaged file gives up its good objects: two objects joined on one line are two, a truncated last
//! line or a wrong field is reported by line number and the rest goes on.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use serde_json::Value;
use strata_core::{
    surrogates::without_lone_surrogates,
    time::{Timestamp, parse_range},
};

/// One raw event as read from a file, not yet stored.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EpisodeLine {
    /// The event's id in its source, used to import each event once.
    pub id: Option<String>,
    /// The conversation it belongs to.
    pub session: Option<String>,
    /// When it happened; the time of import when the source does not say.
    pub at: Option<Timestamp>,
    /// Who said it.
    pub speaker: Option<String>,
    /// `user`, `assistant`, `tool`, ...
    pub role: Option<String>,
    /// What was said.
    pub text: String,
    /// Anything else, as text.
    pub metadata: BTreeMap<String, String>,
}

/// A line that could not be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// 1-based line number.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// The good episodes with their line numbers, and the bad lines.
pub fn parse(text: &str, zone: &TimeZone) -> (Vec<(usize, EpisodeLine)>, Vec<BadLine>) {
    let mut good = Vec::new();
    let mut bad = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (number, line) in text.split('\n').enumerate().map(|(n, l)| (n + 1, l.trim())) {
        if line.is_empty() {
            continue;
        }
        let line = without_lone_surrogates(line);
        for item in serde_json::Deserializer::from_str(&line).into_iter::<Value>() {
            let read = item.map_err(|e| not_json(&e)).and_then(|v| episode(&v, zone));
            match read {
                Ok(episode) => good.push((number, episode)),
                Err(reason) => bad.push(BadLine { line: number, reason }),
            }
        }
    }
    (good, bad)
}

/// A line of its own has no line number inside.
fn not_json(error: &serde_json::Error) -> String {
    format!("not JSON: {error}").replace(" at line 1 column ", " at column ")
}

fn episode(value: &Value, zone: &TimeZone) -> Result<EpisodeLine, String> {
    let object = value.as_object().ok_or("not a JSON object")?;
    let text = match object.get("text") {
        Some(Value::String(text)) if !text.trim().is_empty() => text.clone(),
        Some(Value::String(_)) => return Err("`text` is empty".into()),
        Some(_) => return Err("`text` is not a string".into()),
        None => return Err("`text` is missing".into()),
    };
    let field = |name: &str| -> Result<Option<String>, String> {
        match object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(s)) if s.trim().is_empty() => Ok(None),
            Some(Value::String(s)) => Ok(Some(s.clone())),
            Some(Value::Number(n)) => Ok(Some(n.to_string())),
            Some(_) => Err(format!("`{name}` is not a string")),
        }
    };
    let at = match object.get("at") {
        None | Some(Value::Null) => None,
        Some(Value::String(s)) if s.trim().is_empty() => None,
        Some(Value::String(s)) => {
            Some(parse_range(s, zone).map_err(|e| format!("`at`: {e}; {}", e.allowed))?.from)
        }
        Some(Value::Number(n)) => Some(seconds(n.as_f64().unwrap_or(f64::NAN))?),
        Some(_) => return Err("`at` is neither a date nor seconds".into()),
    };
    let metadata = match object.get("metadata") {
        None | Some(Value::Null) => BTreeMap::new(),
        Some(Value::Object(map)) => map.iter().map(|(k, v)| (k.clone(), plain(v))).collect(),
        Some(_) => return Err("`metadata` is not an object".into()),
    };
    Ok(EpisodeLine {
        id: field("id")?,
        session: field("session")?,
        at,
        speaker: field("speaker")?,
        role: field("role")?,
        text,
        metadata,
    })
}

/// Seconds since 1970; milliseconds and microseconds are recognised by their size.
pub(super) fn seconds(n: f64) -> Result<Timestamp, String> {
    let micros = match n.abs() {
        a if a < 1e11 => n * 1e6,
        a if a < 1e14 => n * 1e3,
        _ => n,
    };
    let stamp = Timestamp(micros as i64);
    if n.is_finite() && stamp.to_jiff().is_some() {
        Ok(stamp)
    } else {
        Err(format!("`at`: {n} is no point in time"))
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_case_23_joined_objects_are_two_and_a_cut_line_is_reported() {
        let text = "{\"text\":\"a\",\"type\":\"relation\"}{\"text\":\"b\"}\n\n{\"id\":7,\"text\":\"c\",\"at\":\"2026-01-02T03:04:05+08:00\"}\n{\"text\":\"d";
        let (good, bad) = parse(text, &TimeZone::UTC);
        assert_eq!(
            good.iter().map(|(n, e)| (*n, e.text.as_str())).collect::<Vec<_>>(),
            [(1, "a"), (1, "b"), (3, "c")]
        );
        assert_eq!(good[2].1.id.as_deref(), Some("7"));
        assert_eq!(bad.iter().map(|b| b.line).collect::<Vec<_>>(), [4]);
    }

    #[test]
    fn half_a_character_is_replaced_as_it_is_for_clients() {
        let (good, bad) =
            parse(r#"{"text":"a \ud83d b","speaker":"\udc00"}{"text":"\ud83d\ude00"}"#, &TimeZone::UTC);
        assert!(bad.is_empty(), "{bad:?}");
        assert_eq!(
            good.iter().map(|(_, e)| e.text.as_str()).collect::<Vec<_>>(),
            ["a \u{fffd} b", "\u{1f600}"]
        );
    }

    #[test]
    fn wrong_fields_name_themselves() {
        let text = "[1]\n{\"text\":3}\n{\"text\":\" \"}\n{\"at\":\"soon\",\"text\":\"x\"}\n{\"session\":{},\"text\":\"x\"}\n{\"text\":\"x\",\"at\":1e300}";
        let (good, bad) = parse(text, &TimeZone::UTC);
        assert!(good.is_empty());
        for (bad, word) in bad.iter().zip(["object", "`text`", "`text`", "`at`", "`session`", "`at`"]) {
            assert!(bad.reason.contains(word), "{}", bad.reason);
        }
        assert_eq!(bad.len(), 6);
    }
}
