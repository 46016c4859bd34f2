//! The findings of a check in the Static Analysis Results Interchange Format, version 2.1.0 (OASIS).

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::{
    Anchor, Freshness,
    check::{Finding, Response},
};

/// What an address does not have as it is; a colon would make a folder the name of a scheme.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

impl Response {
    /// The findings; see the module.
    pub fn sarif(&self) -> Value {
        let rule = |id: &str, text: &str| json!({ "id": id, "shortDescription": { "text": text } });
        let rules = [
            rule("drifted", "Code that a memory is pinned to says something else now"),
            rule("gone", "Code that a memory is pinned to is no longer there"),
        ];
        let results: Vec<Value> = self.findings.iter().map(result).collect();
        let driver = json!({ "name": "strata", "version": env!("CARGO_PKG_VERSION"), "rules": rules });
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{ "tool": { "driver": driver }, "results": results }],
        })
    }
}

fn result(finding: &Finding) -> Value {
    let code = &finding.code;
    let place = code.now.as_ref().unwrap_or(&code.code);
    let path = Anchor::parse(&format!("code:{place}")).map_or_else(|| place.clone(), |anchor| anchor.path);
    let uri = utf8_percent_encode(&path, ENCODED).to_string();
    let mut physical = json!({ "artifactLocation": { "uri": uri } });
    if let Some(lines) = &finding.lines {
        physical["region"] = json!({ "startLine": lines.start(), "endLine": lines.end() });
    }
    let Finding { id, number, title, .. } = finding;
    json!({
        "ruleId": code.state.as_str(),
        "level": if code.state == Freshness::Gone { "error" } else { "warning" },
        "message": { "text": format!("memory #{number} {id}: {title} ({})", code.in_words()) },
        "locations": [{ "physicalLocation": physical }],
    })
}
