//! What becomes of an action that a caller asks for: it is looked at again, on the text that is there now.

use super::{doubt, is_credential_like};
use crate::{
    knowledge::{
        digest::marker_todo_id,
        state::{self, find_line},
        todo,
    },
    route::Router,
    vocabulary::Vocabulary,
};

/// The actions that are done without a decision.
pub const SAFE_ACTIONS: [&str; 4] =
    ["migrate_legacy_backups", "sync_l0_index", "reindex_vector_store", "create_todo_from_marker"];

/// Actions that change or lose knowledge. They are known so that the answer can say who decides them.
pub const UNSAFE_ACTIONS: [&str; 12] = [
    "rewrite_as_current_rule",
    "rewrite_section",
    "delete_section",
    "delete_fact",
    "delete_file",
    "merge_sections",
    "merge_family",
    "consolidate_family",
    "move_section",
    "move_cross_domain",
    "split_domain",
    "remove_source_text",
];

/// The longest content of a todo that is made of a line, in characters.
const MAX_CONTENT: usize = 1_000;

/// An action as a caller asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Asked<'a> {
    /// Its name.
    pub action: &'a str,
    /// The file of a marker.
    pub file: Option<&'a str>,
    /// The line of a marker, counted from 1.
    pub line: Option<usize>,
    /// The token of the line.
    pub line_hash: Option<&'a str>,
    /// Whether the line is to go from the file.
    pub remove_source: bool,
    /// Whether vectors are made anew that are not stale.
    pub force: bool,
}

/// What becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// It is done.
    Do(Work),
    /// It no longer fits what is there.
    Skip(Stale),
    /// It is never done here.
    Reject(Rejection),
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// Move backups out of the vault.
    MigrateLegacyBackups,
    /// Write the index anew.
    SyncL0Index,
    /// Make the vectors anew; also when they are not stale.
    ReindexVectorStore {
        /// As asked.
        force: bool,
    },
    /// Make a todo of a line.
    CreateTodo(MarkerTodo),
}

/// A todo made of a line. The line stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkerTodo {
    /// Its id: always the same for the same line of the same file.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it says.
    pub content: String,
    /// The line as it is numbered now, counted from 1.
    pub line: usize,
    /// The marker.
    pub marker: String,
}

/// Why a plan is out of date.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stale {
    /// The file is gone.
    #[error("the file `{0}` is not there")]
    NoFile(String),
    /// The line was changed, or stands there several times.
    #[error("the line is not there any more, or more than once: make a new plan")]
    NoLine,
    /// It has no open marker now.
    #[error("the line says nothing that is open any more: make a new plan")]
    NotOpen,
}

/// Why an action is not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// No action has this name.
    #[error("unknown action `{0}`")]
    Unknown(String),
    /// It changes or loses knowledge.
    #[error("`{0}` changes what the knowledge says: a person decides it and writes the text")]
    NeedsDecision(String),
    /// A source line never goes by itself.
    #[error("`remove_source` is not done here: the line stays until a person rewrites it")]
    RemoveSource,
    /// A field is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// It looks as if it held a secret.
    #[error("the line looks as if it held a credential: a person decides it")]
    Credential,
    /// It says too little.
    #[error("the line says too little to be a todo: a person decides it")]
    TooShort,
}

/// Judges an action. `text` is the file of a marker as it is now.
pub fn judge(asked: &Asked<'_>, text: Option<&str>, router: &Router, vocabulary: &Vocabulary) -> Judgement {
    let name = asked.action.trim();
    if asked.remove_source {
        return Judgement::Reject(Rejection::RemoveSource);
    }
    match name {
        "migrate_legacy_backups" => Judgement::Do(Work::MigrateLegacyBackups),
        "sync_l0_index" => Judgement::Do(Work::SyncL0Index),
        "reindex_vector_store" => Judgement::Do(Work::ReindexVectorStore { force: asked.force }),
        "create_todo_from_marker" => marker_todo(asked, text, router, vocabulary),
        _ if UNSAFE_ACTIONS.contains(&name) => Judgement::Reject(Rejection::NeedsDecision(name.to_owned())),
        _ => Judgement::Reject(Rejection::Unknown(name.to_owned())),
    }
}

fn marker_todo(asked: &Asked<'_>, text: Option<&str>, router: &Router, vocabulary: &Vocabulary) -> Judgement {
    let missing = |field| Judgement::Reject(Rejection::Missing(field));
    let Some(file) = asked.file else { return missing("file") };
    let Some(token) = asked.line_hash else { return missing("line_hash") };
    let Some(text) = text else { return Judgement::Skip(Stale::NoFile(file.to_owned())) };
    let Some(line) = find_line(text, asked.line.unwrap_or(0), token) else {
        return Judgement::Skip(Stale::NoLine);
    };
    let finding = state::scan(text, router, vocabulary).into_iter().find(|finding| finding.line == line);
    let Some(finding) = finding.filter(|finding| finding.action == state::Action::MoveToTodo) else {
        return Judgement::Skip(Stale::NotOpen);
    };
    let written = text.lines().nth(line - 1).unwrap_or_default();
    match doubt(written, &finding.marker) {
        Some(super::Doubt::Credential) => return Judgement::Reject(Rejection::Credential),
        Some(super::Doubt::TooShort) => return Judgement::Reject(Rejection::TooShort),
        None => {}
    }
    let content = content_of(written);
    debug_assert!(!is_credential_like(&content), "a part of a line that holds none");
    Judgement::Do(Work::CreateTodo(MarkerTodo {
        id: marker_todo_id(file, written),
        title: todo::title(&content),
        content,
        line,
        marker: finding.marker,
    }))
}

/// The line without list and heading marks.
fn content_of(line: &str) -> String {
    let marks = |c: char| c.is_whitespace() || ['-', '*', '+', '>', '#'].contains(&c);
    let bare = line.trim_start_matches(marks).trim_end();
    let bare = ["[ ]", "[x]", "[X]"].iter().find_map(|mark| bare.strip_prefix(mark)).unwrap_or(bare);
    bare.trim_start().chars().take(MAX_CONTENT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{knowledge::digest::line_token, route::built_in};

    const TEXT: &str = "## Pool\n\n- [ ] TODO: raise the pool limit\n\n## 端口\n\n灰度网关待确认\n";

    fn judged(asked: &Asked<'_>, text: Option<&str>) -> Judgement {
        judge(asked, text, built_in(), Vocabulary::built_in())
    }

    fn marker(line: usize, token: &str) -> Asked<'_> {
        let (file, line_hash) = (Some("infra.md"), Some(token));
        Asked { action: "create_todo_from_marker", file, line: Some(line), line_hash, ..Asked::default() }
    }

    #[test]
    fn a_marker_becomes_one_todo_with_a_fixed_id() {
        let token = line_token("- [ ] TODO: raise the pool limit");
        let Judgement::Do(Work::CreateTodo(made)) = judged(&marker(3, &token), Some(TEXT)) else {
            panic!("it is open")
        };
        assert_eq!((made.content.as_str(), made.line), ("TODO: raise the pool limit", 3));
        let moved = format!("# infra\n\n{TEXT}");
        let Judgement::Do(Work::CreateTodo(again)) = judged(&marker(3, &token), Some(&moved)) else {
            panic!("it is open")
        };
        assert_eq!((again.id, again.line), (made.id, 5));
        let chinese = line_token("灰度网关待确认");
        let Judgement::Do(Work::CreateTodo(made)) = judged(&marker(7, &chinese), Some(TEXT)) else {
            panic!("it is open")
        };
        assert_eq!(made.marker, "待确认");
    }

    #[test]
    fn a_plan_that_is_out_of_date_is_skipped() {
        let token = line_token("- [ ] TODO: raise the pool limit");
        let resolved = "## A\n\nTODO was resolved\n";
        let kept = "## A\n\nKeep reason: x y\n\nTODO: raise it\n";
        for (asked, text, expected) in [
            (marker(3, &token), None, Stale::NoFile("infra.md".to_owned())),
            (marker(3, &token), Some("## A\n\nx\n"), Stale::NoLine),
            (marker(3, &line_token("TODO was resolved")), Some(resolved), Stale::NotOpen),
            (marker(5, &line_token("TODO: raise it")), Some(kept), Stale::NotOpen),
        ] {
            assert_eq!(judged(&asked, text), Judgement::Skip(expected));
        }
        let twice = format!("{TEXT}{TEXT}");
        assert_eq!(judged(&marker(1, &token), Some(&twice)), Judgement::Skip(Stale::NoLine));
    }

    #[test]
    fn what_is_not_safe_is_rejected() {
        for name in UNSAFE_ACTIONS {
            let asked = Asked { action: name, ..Asked::default() };
            assert_eq!(judged(&asked, None), Judgement::Reject(Rejection::NeedsDecision(name.to_owned())));
        }
        let rejected = |asked: &Asked<'_>| match judged(asked, Some("TODO: token = abcdef123456\nTODO: x\n"))
        {
            Judgement::Reject(reason) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            rejected(&Asked { action: "rm -rf", ..Asked::default() }),
            Rejection::Unknown("rm -rf".into())
        );
        let (secret, short) = (line_token("TODO: token = abcdef123456"), line_token("TODO: x"));
        assert_eq!(rejected(&marker(1, &secret)), Rejection::Credential);
        assert_eq!(rejected(&marker(2, &short)), Rejection::TooShort);
        assert_eq!(
            rejected(&Asked { line_hash: None, ..marker(1, &short) }),
            Rejection::Missing("line_hash")
        );
        assert_eq!(rejected(&Asked { remove_source: true, ..marker(1, &short) }), Rejection::RemoveSource);
        for name in SAFE_ACTIONS.into_iter().take(3) {
            assert!(matches!(judged(&Asked { action: name, ..Asked::default() }, None), Judgement::Do(_)));
        }
    }
}
