//! The vault as documents: its files, one of them, and how it is doing.

use serde_json::{Value, json};
use strata_core::{markdown::sections, redact::redact};

use crate::{
    engine::Engine,
    error::Error,
    knowledge::{
        access,
        vault::{self, FileHead, FileState},
    },
    operation::Call,
};

/// Files that a document lists; more say nothing new to a model.
const LISTED: usize = 200;
/// Characters of the first line of a file.
const HINT: usize = 100;

/// What the status says of the vault, under the older system's keys. A vault that cannot be looked at is a part of the
/// answer.
pub(super) fn status(engine: &Engine, call: &Call<'_>) -> Value {
    let knowledge = match vault::list(engine, call) {
        Ok(files) => json!({
            "total_files": files.len(),
            "total_size_bytes": files.iter().map(|head| head.size).sum::<u64>(),
            "files": files.iter().take(LISTED).map(file).collect::<Vec<_>>(),
        }),
        Err(error) => {
            json!({ "total_files": 0, "total_size_bytes": 0, "files": [], "error": error.to_string() })
        }
    };
    json!({
        "l1_knowledge": knowledge,
        "l0_index": index(engine),
        "sessions": { "available": false },
    })
}

/// The index of knowledge, if it has been written.
fn index(engine: &Engine) -> Value {
    let path = engine.home().join("vault").join("L0.md");
    match std::fs::read_to_string(&path) {
        Ok(text) => json!({
            "configured": true,
            "path": path.display().to_string(),
            "size_bytes": text.len(),
            "lines": text.lines().count(),
        }),
        Err(_) => json!({ "configured": false }),
    }
}

fn file(head: &FileHead) -> Value {
    json!({ "file": head.path.to_string(), "size_bytes": head.size })
}

/// `knowledge://files`: every file, with its first line, and what lies there and is none.
pub(super) fn files(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let files = vault::list(engine, call)?;
    let mut listed: Vec<Value> =
        files.iter().take(LISTED).map(|head| described(engine, call, head)).collect();
    let (mut folders, mut others) = (Vec::new(), 0);
    for namespace in vault::namespaces(engine, call)? {
        let mut problems = vault::look(engine, call, &namespace)?.problems;
        // One that could be read once is listed already.
        problems.retain(|of| files.iter().all(|head| head.path.to_string() != of.place));
        others += problems.len();
        listed.extend(problems.iter().take(LISTED).map(|of| json!({ "file": of.place, "error": of.reason })));
        folders.push(match engine.settings().store {
            None => engine.home().join("vault/knowledge").join(namespace.as_str()).display().to_string(),
            Some(_) => namespace.as_str().to_owned(),
        });
    }
    text(&json!({ "knowledge_dirs": folders, "total_files": files.len() + others, "files": listed }))
}

fn described(engine: &Engine, call: &Call<'_>, head: &FileHead) -> Value {
    let failed = |reason: &str| json!({ "file": head.path.to_string(), "error": reason });
    match &head.state {
        FileState::Unavailable(reason) | FileState::Unreadable(reason) => return failed(reason),
        FileState::Present | FileState::Gone => {}
    }
    match vault::parsed(engine, call, head) {
        Ok(parsed) => {
            let mut described = file(head);
            described["title_hint"] = redact(&first_line(parsed.text())).text.into();
            described
        }
        Err(error) => failed(&error.to_string()),
    }
}

/// The first line that says something, without the mark of a heading.
fn first_line(text: &str) -> String {
    let heading = sections(text).into_iter().find(|section| section.level > 0).map(|s| s.title().to_owned());
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && *line != "---").unwrap_or("");
    let line = line.trim_start_matches('\u{feff}').trim_start_matches('#').trim();
    heading.filter(|title| !title.is_empty()).unwrap_or_else(|| line.to_owned()).chars().take(HINT).collect()
}

/// `knowledge://{domain}`: one file, as it is but for secrets that hands wrote into it.
pub(super) fn one(engine: &Engine, call: &Call<'_>, name: &str) -> Result<String, Error> {
    let place = vault::locate(engine, call, "domain", &decoded(name))?;
    let read = vault::read(engine, call, &place)?;
    access::log_read(engine, call, &read.head);
    Ok(redact(read.file.text()).text.into_owned())
}

/// A part of an address with its `%E4%B8...` read. What is no UTF-8 then stays as it was.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).filter(|_| byte == b'%');
        let value =
            digits.and_then(|d| std::str::from_utf8(d).ok()).and_then(|d| u8::from_str_radix(d, 16).ok());
        out.push(value.unwrap_or(byte));
        at += if value.is_some() { 3 } else { 1 };
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// A document of JSON, for reading.
pub(super) fn text(value: &Value) -> Result<String, Error> {
    serde_json::to_string_pretty(value).map_err(|e| Error::Internal(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_in_either_spelling() {
        assert_eq!(decoded("%E5%9F%BA%E7%A1%80"), "基础");
        for same in ["基础", "infra/proxy", "100%", "a%zz", "%ff"] {
            assert_eq!(decoded(same), same);
        }
    }

    #[test]
    fn the_hint_is_the_first_heading_or_line() {
        assert_eq!(first_line("# Proxy\n\n## Ports\n"), "Proxy");
        assert_eq!(first_line("\n  plain words\nmore"), "plain words");
        assert_eq!(first_line(""), "");
        assert_eq!(first_line(&"待".repeat(200)).chars().count(), 100);
    }
}
