//! The text of a digest.

use serde_json::Value;
use strata_core::{
    digest::{Background, pick},
    time::Timestamp,
};
use strata_store::ledger::RawKind;

use super::groups::Group;
use crate::{
    error::Error,
    judge::MAX_DIGEST,
    render::{counted, one_line},
    settings::Settings,
};

/// Characters of the sentences of a digest, with what stands beside them; with its first line a digest then
/// has at most 900.
const BUDGET: usize = 740;
/// Longest name of a speaker that is shown, in characters.
const MAX_SPEAKER: usize = 24;
/// The method of a digest without a summariser.
pub(super) const EXTRACTIVE: &str = "extractive";

/// Writes the digest of a group in its own words: a language model, when one is configured.
pub trait Summarise {
    /// What it is called in a digest's metadata.
    fn name(&self) -> &str;

    /// The gist of the texts, which are in order of time. An error or an empty text leaves the digest to
    /// extraction; nothing is lost.
    fn summarise(&self, title: &str, texts: &[String]) -> Result<String, Error>;

    /// How many of the texts with these lengths in characters, from the first on, it can take at once; at least one.
    fn takes(&self, lengths: &[usize]) -> usize {
        lengths.len()
    }
}

/// A piece of raw material with its text.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) kind: RawKind,
    pub(super) number: i64,
    pub(super) id: String,
    pub(super) at: Timestamp,
    pub(super) speaker: String,
    pub(super) text: String,
}

/// A digest to be stored.
#[derive(Debug)]
pub(super) struct Digest {
    pub(super) title: String,
    pub(super) body: String,
    pub(super) method: String,
    /// The pieces whose words it has, by place.
    pub(super) quoted: Vec<usize>,
}

/// Cuts a group into what the summariser can take at once, so that no text is left out of its digest.
pub(super) fn parts<'r>(mut raw: &'r [Raw], summariser: Option<&dyn Summarise>) -> Vec<&'r [Raw]> {
    let Some(summariser) = summariser else { return vec![raw] };
    let lengths: Vec<usize> = raw.iter().map(|piece| piece.text.chars().count()).collect();
    let mut parts = Vec::new();
    while !raw.is_empty() {
        let left = &lengths[lengths.len() - raw.len()..];
        let (part, rest) = raw.split_at(summariser.takes(left).clamp(1, raw.len()));
        parts.push(part);
        raw = rest;
    }
    parts
}

/// Makes the digest of a group, or of a part of one.
pub(super) fn digest(
    group: &Group,
    raw: &[Raw],
    background: &Background,
    summariser: Option<&dyn Summarise>,
    settings: &Settings,
) -> Digest {
    let what = format!("{}{}", counted(raw.len(), "episode"), span(raw, settings));
    let name = one_line(&group.short_key());
    let title = match group.session.trim() {
        "" => format!("Digest of {name}: {what}"),
        _ => format!("Digest of session {name}: {what}"),
    };
    let first_line =
        format!("[consolidated] {} [{name}]{}:", counted(raw.len(), "episode"), span(raw, settings));
    if let Some(summariser) = summariser {
        let texts: Vec<String> = raw.iter().map(|piece| piece.text.clone()).collect();
        let summary = summariser.summarise(&title, &texts).unwrap_or_default();
        let summary: String = summary.trim().chars().take(MAX_DIGEST).collect();
        if !summary.is_empty() {
            return Digest {
                title,
                body: format!("{first_line} (written by {})\n{summary}", one_line(summariser.name())),
                method: summariser.name().to_owned(),
                quoted: (0..raw.len()).collect(),
            };
        }
    }
    extracted(title, &first_line, raw, background)
}

fn extracted(title: String, first_line: &str, raw: &[Raw], background: &Background) -> Digest {
    let texts: Vec<&str> = raw.iter().map(|piece| piece.text.as_str()).collect();
    let beside = raw.iter().map(|piece| beside(piece).chars().count()).max().unwrap_or(0);
    let picked = pick(&texts, background, BUDGET, beside);
    let mut body = first_line.to_owned();
    for sentence in &picked {
        let piece = &raw[sentence.item];
        let speaker = speaker(piece);
        body.push_str(&format!("\n- {speaker}{} ({})", sentence.text, piece.id));
    }
    let mut quoted: Vec<usize> = picked.into_iter().map(|sentence| sentence.item).collect();
    quoted.dedup();
    Digest { title, body, method: EXTRACTIVE.to_owned(), quoted }
}

/// What stands beside a sentence, for its length.
fn beside(piece: &Raw) -> String {
    format!("\n- {} ({})", speaker(piece), piece.id)
}

fn speaker(piece: &Raw) -> String {
    match one_line(&piece.speaker).as_str() {
        "" => String::new(),
        name => format!("{}: ", name.chars().take(MAX_SPEAKER).collect::<String>()),
    }
}

/// `, 2026-05-01` or `, 2026-05-01 to 2026-05-03`.
fn span(raw: &[Raw], settings: &Settings) -> String {
    let date = |piece: Option<&Raw>| piece.map(|piece| piece.at.to_date(&settings.zone));
    match (date(raw.first()), date(raw.last())) {
        (Some(first), Some(last)) if first == last => format!(", {first}"),
        (Some(first), Some(last)) => format!(", {first} to {last}"),
        _ => String::new(),
    }
}

/// The text of an event to be read: of a JSON object what is said in it, never a mere file name.
pub(super) fn readable(text: &str) -> String {
    const SAID: [&str; 8] =
        ["title", "summary", "content", "text", "message", "body", "description", "resolution"];
    if !text.trim_start().starts_with('{') {
        return text.to_owned();
    }
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    let said: Vec<&str> = SAID.iter().filter_map(|name| fields.get(*name)?.as_str()).collect();
    if !said.is_empty() {
        return said.join("\n");
    }
    let is_place = |name: &str| matches!(name, "file" | "path" | "filename" | "id" | "schema");
    let rest = fields.iter().filter(|(name, _)| !is_place(name));
    rest.map(|(name, value)| match value {
        Value::String(text) => format!("{name}: {text}"),
        other => format!("{name}: {other}"),
    })
    .collect::<Vec<_>>()
    .join("\n")
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn of_an_object_what_is_said_counts_and_not_the_name_of_its_file() {
        assert_eq!(readable("plain {text}"), "plain {text}");
        let incident = r##"{"file": "2026-01-04.md", "content": "# Pump\nIt stopped."}"##;
        assert_eq!(readable(incident), "# Pump\nIt stopped.");
        assert_eq!(readable(r#"{"file":"a.md","state":"open","n":2}"#), "state: open\nn: 2");
        assert_eq!(readable("{broken"), "{broken");
    }
}
