//! Our sentences as a client can follow them: a tool that it is not shown is told as one that it is shown and that does the
//! same, or as the command that a person types.
//!
//! Only our own words are changed, never a stored text.

use strata_engine::{operation::Entry, registry};

/// What stands for a tool of the core where a client is shown the project's tools alone.
const INSTEAD: [(&str, &str); 4] = [
    ("recall", "retrieve_agent_context"),
    ("inspect", "inspect_memory"),
    ("remember", "add_memory_node"),
    ("status", "memory_status"),
];

/// A sentence about a call of `called`, as it is said to a client that is shown `shown`.
pub(super) fn said(text: &str, called: &Entry, shown: &[&Entry]) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return text.to_owned();
    }
    let schema = (called.request_schema)();
    let is_argument = |word: &str| schema["properties"].get(word).is_some();
    let mut said = parts[0].to_owned();
    for pair in parts[1..].chunks(2) {
        let (word, behind) = (pair[0], pair[1]);
        // The word of a toolset or of an argument is no tool of the same name.
        let is_named = said.ends_with("toolset ") || is_argument(word);
        let other = if is_named { None } else { instead(word, shown) };
        for part in ["`", other.as_deref().unwrap_or(word), "`", behind] {
            said.push_str(part);
        }
    }
    said
}

/// What is said for a word that names a tool which is not shown, or a command without its program.
fn instead(word: &str, shown: &[&Entry]) -> Option<String> {
    let is_shown = |tool: &str| shown.iter().any(|entry| entry.spec.tool == tool);
    if is_shown(word) {
        return None;
    }
    let same = INSTEAD.iter().find(|(tool, same)| *tool == word && is_shown(same));
    same.map(|(_, same)| (*same).to_owned()).or_else(|| registry::typed(word))
}

#[cfg(test)]
mod tests {
    use strata_engine::operation::{Selection, Toolset};

    use super::*;
    use crate::mcp::tools;

    fn to(toolset: Toolset, called: &str, text: &str) -> String {
        let entry = registry::find(Toolset::Project, called).expect("a tool");
        said(text, entry, &tools::shown(&[Selection::Whole(toolset)]))
    }

    #[test]
    fn a_tool_that_is_not_shown_becomes_one_that_is_or_a_command() {
        let hint = "use an id from `recall`, or `forget` it";
        let project = "use an id from `retrieve_agent_context`, or `strata forget` it";
        assert_eq!(to(Toolset::Project, "project_pin", hint), project);
        assert_eq!(to(Toolset::Core, "project_pin", hint), hint);
        let governed = "use an id from `strata recall`, or `strata forget` it";
        assert_eq!(to(Toolset::Governance, "project_pin", hint), governed);
        let review = "`review resolve rev_1 keep_a`, `strata doctor`, an odd word `other`";
        let typed = "`strata review resolve rev_1 keep_a`, `strata doctor`, an odd word `other`";
        assert_eq!(to(Toolset::Project, "project_pin", review), typed);
        assert_eq!(to(Toolset::Project, "project_pin", "an odd ` one"), "an odd ` one");
    }

    #[test]
    fn the_words_of_arguments_and_toolsets_stay() {
        let text = "send `trace` compact, with toolset `project`";
        assert_eq!(to(Toolset::Project, "retrieve_agent_context", text), text);
    }

    #[test]
    fn what_a_client_of_the_projects_tools_is_told_of_them_names_no_others() {
        let shown = tools::shown(&[Selection::Whole(Toolset::Project)]);
        for entry in &shown {
            assert_eq!(said(entry.spec.about, entry, &shown), entry.spec.about);
            for (_, field) in (entry.request_schema)()["properties"].as_object().into_iter().flatten() {
                let told = field["description"].as_str().expect("a description");
                assert_eq!(said(told, entry, &shown), told, "{}", entry.spec.tool);
            }
        }
    }
}
