//! What a file of a project is: the sort of source, how far it is trusted, the module it belongs to.

use serde::{Deserialize, Serialize};
use strata_lang::{Found, Language};

/// The sort of source that a chunk comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is what its word says")]
pub enum SourceType {
    Markdown,
    Readme,
    ArchitectureDoc,
    Adr,
    ApiSpec,
    CodeFile,
    CodeComment,
    TestReport,
    RuntimeLog,
    GitDiff,
    TaskArtifact,
    ManualNote,
}

impl SourceType {
    /// Every sort.
    pub const ALL: [Self; 12] = [
        Self::Markdown,
        Self::Readme,
        Self::ArchitectureDoc,
        Self::Adr,
        Self::ApiSpec,
        Self::CodeFile,
        Self::CodeComment,
        Self::TestReport,
        Self::RuntimeLog,
        Self::GitDiff,
        Self::TaskArtifact,
        Self::ManualNote,
    ];

    /// The word that clients know.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Readme => "readme",
            Self::ArchitectureDoc => "architecture_doc",
            Self::Adr => "adr",
            Self::ApiSpec => "api_spec",
            Self::CodeFile => "code_file",
            Self::CodeComment => "code_comment",
            Self::TestReport => "test_report",
            Self::RuntimeLog => "runtime_log",
            Self::GitDiff => "git_diff",
            Self::TaskArtifact => "task_artifact",
            Self::ManualNote => "manual_note",
        }
    }

    /// The sort with this word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sort| sort.as_str() == word)
    }

    /// How far what such a source says is to be trusted, 0 to 1.
    pub const fn quality(self) -> f32 {
        match self {
            Self::Adr => 1.0,
            Self::ArchitectureDoc => 0.95,
            Self::ApiSpec => 0.9,
            Self::Readme => 0.85,
            Self::CodeFile => 0.8,
            Self::TestReport => 0.75,
            Self::ManualNote | Self::Markdown => 0.7,
            Self::TaskArtifact | Self::CodeComment => 0.65,
            Self::GitDiff => 0.6,
            Self::RuntimeLog => 0.5,
        }
    }

    /// Its bit among the marks of a passage, for [`strata_store::index::Filter::with`] and `without`.
    pub const fn mark(self) -> u32 {
        1 << (self as u32)
    }

    /// The sort of a document by its path alone.
    pub fn of_path(path: &str) -> Self {
        Self::of(path, Language::of(path, ""), None)
    }

    /// The sort of a document by its path, its language, and what was found in it.
    pub(crate) fn of(path: &str, language: Language, found: Option<&Found>) -> Self {
        match found {
            Some(Found::Results(_)) => return Self::TestReport,
            Some(Found::Windows(_)) => return Self::RuntimeLog,
            Some(Found::Hunks(_)) => return Self::GitDiff,
            _ => {}
        }
        let lower = path.to_lowercase();
        if is_human(&lower) || NOTES.contains(&lower.as_str()) {
            return Self::ManualNote;
        }
        match language {
            Language::Log => Self::RuntimeLog,
            Language::Diff => Self::GitDiff,
            Language::Tap => Self::TestReport,
            Language::Protobuf | Language::GraphQl => Self::ApiSpec,
            _ if language.is_code() => Self::CodeFile,
            Language::Json | Language::Yaml if is_api(&lower) => Self::ApiSpec,
            Language::Markdown
            | Language::ReStructuredText
            | Language::AsciiDoc
            | Language::Tex
            | Language::Text
            | Language::Unknown => of_prose(&lower, language),
            Language::Html | Language::Css => Self::CodeFile,
            _ => Self::TaskArtifact,
        }
    }
}

/// The files that people write for a project's memory, below its root.
pub const HUMAN_FILES: [&str; 3] =
    [".strata/constraints.md", ".strata/team-rules.md", ".strata/decisions.md"];

/// Notes for agents at the root of a project, in small letters.
const NOTES: [&str; 7] = [
    "memory.md",
    "agents.md",
    "claude.md",
    "agent_memory.md",
    "constraints.md",
    "team-rules.md",
    "decisions.md",
];

/// Whether a path, in small letters, is one of [`HUMAN_FILES`].
pub(crate) fn is_human(lower: &str) -> bool {
    HUMAN_FILES.contains(&lower)
}

/// What is read first, before everything else: 0 for files of people, then what describes a project as a whole.
/// `None` for the rest.
pub(crate) fn precedence(path: &str) -> Option<u8> {
    let lower = path.to_lowercase();
    if is_human(&lower) {
        return Some(0);
    }
    let is_prose = [".md", ".rst", ".txt", ".adoc"].iter().any(|ending| lower.ends_with(ending));
    let is_at_root = !lower.contains('/');
    let is_doc = ["docs/", "doc/", "adr/", "rfcs/", "rfc/"].iter().any(|folder| lower.starts_with(folder));
    match SourceType::of_path(path) {
        _ if !is_prose => None,
        SourceType::ManualNote if is_at_root => Some(1),
        SourceType::Readme if is_at_root => Some(2),
        SourceType::ArchitectureDoc | SourceType::Adr => Some(3),
        _ if is_at_root => Some(4),
        _ if is_doc => Some(5),
        _ => None,
    }
}

fn of_prose(lower: &str, language: Language) -> SourceType {
    let name = lower.rsplit('/').next().unwrap_or(lower);
    let stem = name.split('.').next().unwrap_or(name);
    let in_folder = |folders: &[&str]| {
        let mut parts: Vec<&str> = lower.split('/').collect();
        parts.pop();
        parts.iter().any(|part| folders.contains(part))
    };
    let words = || stem.split(['-', '_', ' ']);
    if stem == "readme" {
        SourceType::Readme
    } else if in_folder(&["adr", "adrs", "decisions"]) || words().any(|word| word == "adr") {
        SourceType::Adr
    } else if words().any(|word| word == "architecture") || stem == "design" || in_folder(&["architecture"]) {
        SourceType::ArchitectureDoc
    } else if language == Language::Unknown || language == Language::Text {
        SourceType::ManualNote
    } else {
        SourceType::Markdown
    }
}

fn is_api(lower: &str) -> bool {
    let name = lower.rsplit('/').next().unwrap_or(lower);
    ["openapi", "swagger", "asyncapi"].iter().any(|word| name.contains(word))
}

/// The module that a file is, with dots: `src/retry.py` is `retry`, `crates/core/src/rank.rs` is `crates.core.src.rank`.
/// A leading `src`, `app` or `lib` is no part of it, and neither is the file that stands for its folder.
pub fn module_of(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let stem = name.split_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem });
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    if matches!(parts.first(), Some(&"src" | &"app" | &"lib")) {
        parts.remove(0);
    }
    if !matches!(stem, "__init__" | "mod" | "index") || parts.is_empty() {
        parts.push(stem);
    }
    parts.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_what_a_file_is() {
        let of = SourceType::of_path;
        assert_eq!(of("README.md"), SourceType::Readme);
        assert_eq!(of("docs/adr/001-retry.md"), SourceType::Adr);
        assert_eq!(of("docs/quadrature.md"), SourceType::Markdown);
        assert_eq!(of("docs/ARCHITECTURE.md"), SourceType::ArchitectureDoc);
        assert_eq!(of("src/retry.py"), SourceType::CodeFile);
        assert_eq!(of("api/openapi.yaml"), SourceType::ApiSpec);
        assert_eq!(of("Cargo.toml"), SourceType::TaskArtifact);
        assert_eq!(of("a/b.log"), SourceType::RuntimeLog);
        assert_eq!(of("fix.patch"), SourceType::GitDiff);
        assert_eq!(of(".strata/constraints.md"), SourceType::ManualNote);
        assert_eq!(of("notes.txt"), SourceType::ManualNote);
        for sort in SourceType::ALL {
            assert_eq!(SourceType::parse(sort.as_str()), Some(sort));
            assert_eq!(sort.mark().count_ones(), 1);
        }
    }

    #[test]
    fn what_describes_a_project_comes_first() {
        let paths =
            ["src/a.rs", "docs/x.md", "README.md", ".strata/decisions.md", "docs/adr/1.md", "CLAUDE.md"];
        let order: Vec<_> = paths.map(precedence).into();
        assert_eq!(order, [None, Some(5), Some(2), Some(0), Some(3), Some(1)]);
    }

    #[test]
    fn modules_are_named_alike_on_both_sides() {
        assert_eq!(module_of("src/retry.py"), "retry");
        assert_eq!(module_of("src/pay/__init__.py"), "pay");
        assert_eq!(module_of("lib/a/index.ts"), "a");
        assert_eq!(module_of("crates/core/src/rank.rs"), "crates.core.src.rank");
        assert_eq!(module_of("happy.py"), "happy");
    }
}
