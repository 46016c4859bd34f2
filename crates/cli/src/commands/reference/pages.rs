//! The pages about tools, environment variables and errors.

use std::fmt::Write;

use serde_json::Value;
use strata_core::error::ErrorKind;
use strata_engine::{
    operation::{Audience, Effect, Entry, Toolset},
    registry::OPERATIONS,
    settings::{keys::KEYS, project_keys::PROJECT_KEYS},
};
use strata_server::mcp::with_format;

use crate::environment::{AGENT_SIGNS, VARIABLES};

/// The first lines of every page.
pub(super) fn head(title: &str) -> String {
    format!("# {title}\n\n<!-- Made by `cargo xtask docs`. Change the source, not this page. -->\n")
}

/// Every tool with its arguments, by toolset.
pub(super) fn tools() -> String {
    let mut page = head("MCP tools");
    page.push_str(
        "\n`strata serve --toolsets NAMES` chooses what a client is shown; the default is `core`. A call chooses the \
         form of its reply with `format`; each tool says which is its own.\n",
    );
    for toolset in Toolset::ALL {
        let entries: Vec<_> = OPERATIONS
            .iter()
            .filter(|e| e.spec.toolset == toolset && e.spec.audience == Audience::Everyone)
            .collect();
        if !entries.is_empty() {
            page.push_str(&format!("\n## Toolset `{}`\n", toolset.as_str()));
        }
        for entry in entries {
            tool(&mut page, entry);
        }
    }
    page
}

fn tool(page: &mut String, entry: &Entry) {
    let spec = &entry.spec;
    let effect = match spec.effect {
        Effect::Read => "Changes nothing.",
        Effect::Files => "Changes nothing in the store; may write files.",
        Effect::Write => "Adds or supersedes; nothing is lost.",
        Effect::Destroy => "May erase for good.",
    };
    page.push_str(&format!("\n### `{}`\n\n{}. {effect}\n\n{}\n\n", spec.tool, spec.title, spec.about));
    let schema = with_format(entry);
    page.push_str("| argument | type | required | meaning |\n| --- | --- | --- | --- |\n");
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let required = schema["required"].as_array().is_some_and(|r| r.iter().any(|n| n == name));
        let required = if required { "yes" } else { "" };
        let about = cell(property["description"].as_str().unwrap_or_default());
        page.push_str(&format!("| `{name}` | {} | {required} | {about} |\n", cell(&type_words(property))));
    }
}

/// A property's type in words: `text`, `list of P0, P1`, ...
fn type_words(property: &Value) -> String {
    if let Some(words) = property["enum"].as_array() {
        let words: Vec<_> = words.iter().filter_map(Value::as_str).map(|w| format!("`{w}`")).collect();
        return words.join(", ");
    }
    match property["type"].as_str() {
        Some("string") => "text".into(),
        Some("integer") => "whole number".into(),
        Some("boolean") => "yes or no".into(),
        Some("array") => format!("list of {}", type_words(&property["items"])),
        Some(other) => other.into(),
        None => "anything".into(),
    }
}

fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// Every environment variable.
pub(super) fn environment() -> String {
    let mut page = head("Environment variables");
    page.push_str("\nAn empty variable counts as not set.\n\n| variable | meaning |\n| --- | --- |\n");
    for variable in VARIABLES {
        page.push_str(&format!("| `{}` | {} |\n", variable.name, cell(variable.about)));
    }
    page.push_str(
        "\n## Variables of layered-memory\n\nEach stands for a setting of `config.toml` and wins over it. \
         [layered-config.md](../layered-config.md) tells what they mean, and which have no meaning here.\n\n\
         | variable | setting |\n| --- | --- |\n",
    );
    for (variable, name) in KEYS.iter().filter_map(|key| Some((key.variable?, key.name))) {
        page.push_str(&format!("| `{variable}` | `{name}` |\n"));
    }
    page.push_str(
        "\n## Variables of memory-engine\n\nLikewise; see [project-config.md](../project-config.md).\n\n\
         | variable | setting |\n| --- | --- |\n",
    );
    for (variable, name) in PROJECT_KEYS.iter().filter_map(|key| Some((key.variable?, key.name))) {
        page.push_str(&format!("| `{variable}` | `{name}` |\n"));
    }
    page.push_str(
        "\n## Signs of an agent\n\nA command is a person's when it runs on a terminal and none of these is set; otherwise \
         it acts as `agent:shell`. A name that ends in `_` stands for every variable that begins with it.\n\n\
         | variable | program |\n| --- | --- |\n",
    );
    for sign in AGENT_SIGNS {
        page.push_str(&format!("| `{}` | {} |\n", sign.name, sign.about));
    }
    page
}

/// Every error code with its exit code.
pub(super) fn errors() -> String {
    let mut page = head("Error codes");
    page.push_str(
        "\nOver MCP a failed call is a result with `isError` whose first text block has three lines: `error:` and the \
         code, `cause:`, and `next:` with what to do. On the command line the cause and a hint go to standard error \
         and the exit code tells the kind; 0 is success. `strata doctor` ends with 1 when something is wrong or nothing is stored yet.\n\n| code | exit code | meaning |\n| --- | --- | --- |\n",
    );
    for kind in ErrorKind::ALL {
        // Writing to a String cannot fail.
        writeln!(page, "| `{}` | {} | {} |", kind.code(), kind.exit_code(), meaning(kind)).ok();
    }
    page
}

const fn meaning(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Invalid => "The request is wrong; the same request can never succeed.",
        ErrorKind::NotFound => "What the request names does not exist, or is not visible from its scope.",
        ErrorKind::Refused => "The policy forbids it to this principal. The refusal is on record.",
        ErrorKind::ApprovalRequired => "It needs a person's approval with the passphrase.",
        ErrorKind::Conflict => {
            "Somebody else changed the thing first, or its state does not allow it: read it again. A wrong passphrase is one, too."
        }
        ErrorKind::TooLarge => "A limit on size or number was exceeded.",
        ErrorKind::Busy => "The store or the server is busy: try again later.",
        ErrorKind::Deadline => "The call took longer than it may.",
        ErrorKind::Cancelled => "The caller withdrew the call.",
        ErrorKind::NotInitialized => "The home or the server holds no store yet, or half a copy of one.",
        ErrorKind::Unavailable => "A file or the home cannot be reached or written.",
        ErrorKind::Newer => "The store was written by a newer Strata than this one understands.",
        ErrorKind::Corrupt => "Stored data contradicts itself: run `strata doctor`.",
        ErrorKind::Internal => "A fault of Strata's own.",
    }
}
