//! The settings of layered knowledge.

use std::path::PathBuf;

use strata_core::knowledge::{family, l0, meaning};

/// The `[knowledge]` table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Knowledge {
    /// How alike two texts must be at least, 0 to 1, for a write to ask for one text of both; what the comparison calls near when
    /// absent.
    pub dedup_threshold: Option<f64>,
    /// The `[knowledge.similarity]` table: bands of likeness by meaning. What is absent is calibrated, or has its default.
    pub similarity: meaning::Given,
    /// The index of the vault.
    pub l0: L0,
    /// Headings that differ in a date or a version only.
    pub consolidate: Consolidate,
}

/// The `[knowledge.l0]` table.
#[derive(Debug, Clone, PartialEq)]
pub struct L0 {
    /// Whether every write brings the index up to date.
    pub auto_sync: bool,
    /// How its lines are written.
    pub format: L0Format,
    /// Where it lies; a relative path begins in the home. `vault/L0.md` when absent.
    pub file: Option<PathBuf>,
    /// What a line of the hermes format begins with.
    pub tag: String,
    /// The most bytes it may have.
    pub budget_bytes: usize,
}

impl Default for L0 {
    fn default() -> Self {
        Self {
            auto_sync: true,
            format: L0Format::Hermes,
            file: None,
            tag: l0::TAG.into(),
            budget_bytes: 16 << 10,
        }
    }
}

impl L0 {
    /// How its lines are written, with the tag.
    pub fn line_format(&self) -> l0::Format {
        match self.format {
            L0Format::Hermes => l0::Format::Hermes(self.tag.clone()),
            L0Format::Generic => l0::Format::Generic,
        }
    }
}

/// How the lines of the index are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum L0Format {
    /// `[L0] domain: title → knowledge/domain.md`.
    Hermes,
    /// `[domain.md] title → words`.
    Generic,
}

impl L0Format {
    /// Every format, in documentation order.
    pub const ALL: [Self; 2] = [Self::Hermes, Self::Generic];

    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hermes => "hermes",
            Self::Generic => "generic",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == word)
    }
}

/// The `[knowledge.consolidate]` table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Consolidate {
    /// Whether a write that would add to a family asks for one section instead.
    pub enabled: bool,
    /// Sections with which a family begins, the new one counted.
    pub min_family: usize,
    /// What a consolidated text may have of the bytes that it replaces, 0 to 1.
    pub size_ceiling: f64,
}

impl Default for Consolidate {
    fn default() -> Self {
        Self { enabled: true, min_family: family::MIN_FAMILY, size_ceiling: family::CONSOLIDATED_SHARE }
    }
}

/// The `[routing]` table.
#[derive(Debug, Clone, PartialEq)]
pub struct Routing {
    /// Whether items are classified.
    pub enabled: bool,
    /// Whether a decision is a note or holds.
    pub mode: RoutingMode,
    /// Whether a direct write of knowledge that belongs elsewhere is refused.
    pub enforce_direct_writes: bool,
    /// Markers for the agent's skills, beside the built-in ones.
    pub extra_skill_markers: Vec<String>,
    /// Markers for todos.
    pub extra_todo_markers: Vec<String>,
    /// Markers for the user's profile.
    pub extra_profile_markers: Vec<String>,
    /// Markers for knowledge.
    pub extra_knowledge_markers: Vec<String>,
    /// Markers that do not count.
    pub disabled_markers: Vec<String>,
    /// Further markers, as TOML in the form of the built-in languages.
    pub vocabulary: Option<String>,
}

impl Default for Routing {
    fn default() -> Self {
        Self {
            enabled: true,
            mode: RoutingMode::Advisory,
            enforce_direct_writes: false,
            extra_skill_markers: Vec::new(),
            extra_todo_markers: Vec::new(),
            extra_profile_markers: Vec::new(),
            extra_knowledge_markers: Vec::new(),
            disabled_markers: Vec::new(),
            vocabulary: None,
        }
    }
}

impl Routing {
    /// Whether `remember` acts on a decision instead of noting it.
    pub const fn holds_memories(&self) -> bool {
        self.enabled && (self.enforce_direct_writes || matches!(self.mode, RoutingMode::Enforce))
    }

    /// Whether a direct write of knowledge is refused where the decision says so.
    pub const fn refuses_direct_writes(&self) -> bool {
        self.enabled && self.enforce_direct_writes
    }
}

/// Whether the router's decision is a note or holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoutingMode {
    /// A note.
    Advisory,
    /// It holds where the framework chooses the place.
    Enforce,
}

impl RoutingMode {
    /// Every mode, in documentation order.
    pub const ALL: [Self; 2] = [Self::Advisory, Self::Enforce];

    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Advisory => "advisory",
            Self::Enforce => "enforce",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == word)
    }
}

/// The `[governance]` table. Each list adds to the built-in ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Governance {
    /// Markers of what is still open.
    pub open_markers: Vec<String>,
    /// Markers of what was open and is resolved.
    pub resolved_markers: Vec<String>,
    /// Labels of the line that says why a marker stays.
    pub keep_reason_labels: Vec<String>,
    /// Markers that do not count.
    pub disabled_markers: Vec<String>,
}

/// The `[promotion]` table: files in which anything lands, and from when a part of one deserves its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Promotion {
    /// Whether such parts are looked for.
    pub enabled: bool,
    /// Names of such files.
    pub watch_domains: Vec<String>,
    /// Patterns of such names, any case, for audits only.
    pub watch_patterns: Vec<String>,
    /// Sections from which on a file is looked at.
    pub min_sections: usize,
    /// How alike neighbours in a group are, a cosine.
    pub cluster_threshold: f64,
    /// Sections that make a group.
    pub min_cluster_size: usize,
}

/// Names of files in which anything lands.
const WATCHED: [&str; 21] = [
    "misc",
    "misc-*",
    "misc_*",
    "general",
    "other",
    "others",
    "tmp",
    "temp",
    "notes",
    "inbox",
    "scratch",
    "unsorted",
    "uncategorized",
    "杂项",
    "杂记",
    "其他",
    "其它",
    "临时",
    "笔记",
    "收件箱",
    "未分类",
];

impl Default for Promotion {
    fn default() -> Self {
        Self {
            enabled: true,
            watch_domains: vec!["misc".into()],
            watch_patterns: WATCHED.map(str::to_owned).into(),
            min_sections: 4,
            cluster_threshold: 0.60,
            min_cluster_size: 3,
        }
    }
}

/// The `[changelog]` table.
#[derive(Debug, Clone, PartialEq)]
pub struct Changelog {
    /// Whether changes of knowledge are shown and rendered. The audit records them in any case.
    pub enabled: bool,
    /// Where the rendering lies; a relative path begins in the home. `changelog.jsonl` when absent.
    pub path: Option<PathBuf>,
    /// Days for which it is meant to be kept; reported, not acted on.
    pub retention_days: Option<u32>,
}

impl Default for Changelog {
    fn default() -> Self {
        Self { enabled: true, path: None, retention_days: None }
    }
}

/// The `[access_log]` table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessLog {
    /// Whether reads of knowledge are counted.
    pub enabled: bool,
    /// Whether the question is kept with them.
    pub log_query: bool,
    /// Days for which they are kept.
    pub retention_days: u32,
}

impl Default for AccessLog {
    fn default() -> Self {
        Self { enabled: true, log_query: true, retention_days: 90 }
    }
}
