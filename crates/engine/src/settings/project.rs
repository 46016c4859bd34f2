//! The settings of project memory: what a project's files and memories are read, kept and told by.

use strata_core::memory::Kind;

/// The tables `[project]`, `[runtime]`, `[retrieval]`, `[memory]`, `[memory_retention]` and the part of `[knowledge]` that is about a
/// project's files, as they hold for one project. `[privacy]` has nothing to hold: its settings have one value each.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProjectConfig {
    /// What people call the project; its folder's name when absent.
    pub name: Option<String>,
    /// What happens by itself.
    pub runtime: Runtime,
    /// How a task's context is put together.
    pub retrieval: Retrieval,
    /// Where memories are written.
    pub memory: BranchMemory,
    /// What becomes of memories that nobody uses.
    pub memory_retention: Retention,
    /// Which files are read.
    pub files: Files,
}

/// The `[runtime]` table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    /// Whether the first call of a project makes its folder and reads what people wrote there.
    pub auto_bootstrap: bool,
    /// Whether the policy asks agents to retrieve before they work.
    pub auto_recall: bool,
    /// Whether the policy asks agents to report after they worked.
    pub auto_reflect: bool,
    /// Whether a server reads the project's files in the background.
    pub auto_index_on_start: bool,
    /// Whether files whose size and time are as before are passed over; if not, each is read and compared by its text.
    pub incremental_indexing: bool,
    /// Whether a look notes the commit that it is of, and another checkout is noticed without delay.
    pub git_aware_sync: bool,
    /// Whether a retrieval looks which files were changed and not committed.
    pub check_git_status_on_retrieval: bool,
    /// Whether changed files are noticed without being asked.
    pub auto_incremental_sync: bool,
    /// Whether a server looks for changed files while it is silent.
    pub optional_file_watcher: bool,
    /// Milliseconds between two such looks.
    pub watcher_debounce_ms: u32,
}

impl Default for Runtime {
    fn default() -> Self {
        Self {
            auto_bootstrap: true,
            auto_recall: true,
            auto_reflect: true,
            auto_index_on_start: true,
            incremental_indexing: true,
            git_aware_sync: true,
            check_git_status_on_retrieval: true,
            auto_incremental_sync: true,
            optional_file_watcher: false,
            watcher_debounce_ms: 1000,
        }
    }
}

/// The `[retrieval]` table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retrieval {
    /// Tokens of a context when the call names none.
    pub default_token_budget: u32,
    /// Whether an equal call is answered from memory.
    pub cache_enabled: bool,
    /// Whether vectors take part.
    pub vector_backend: VectorBackend,
    /// Whether words alone answer where vectors were asked for and are missing; if not, such a call fails.
    pub allow_degraded_fallback: bool,
    /// Whether the branch counts for the order of what is found.
    pub branch_aware_ranking: bool,
    /// Whether memories of the branch at hand come before others.
    pub prefer_current_branch: bool,
    /// Whether those of branches that it grew from are shown.
    pub include_ancestor_branch_memory: bool,
    /// Whether those of the mainline are shown on other branches.
    pub include_mainline_fallback: bool,
    /// Whether those of branches that are gone are shown, as far as they were not archived.
    pub include_historical_branch_memory_by_default: bool,
}

impl Default for Retrieval {
    fn default() -> Self {
        Self {
            default_token_budget: 6000,
            cache_enabled: true,
            vector_backend: VectorBackend::Auto,
            allow_degraded_fallback: true,
            branch_aware_ranking: true,
            prefer_current_branch: true,
            include_ancestor_branch_memory: true,
            include_mainline_fallback: true,
            include_historical_branch_memory_by_default: false,
        }
    }
}

/// Where vectors come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum VectorBackend {
    /// The index of the home.
    #[default]
    Auto,
    /// Nowhere: words alone.
    None,
}

impl VectorBackend {
    /// The words, in documentation order.
    pub const WORDS: &'static [&'static str] = &["auto", "none"];

    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::None => "none",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Auto, Self::None].into_iter().find(|backend| backend.as_str() == word)
    }
}

/// The `[memory]` table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchMemory {
    /// Where a memory goes that is written on a branch that is no mainline.
    pub branch_scope_on_feature_work: FeatureScope,
    /// Whether a memory of a branch becomes the mainline's by hand only where the call confirms it.
    pub mainline_promotion_requires_confirmation: bool,
    /// Days without change from which on a memory that stands on a branch is archived; never when absent.
    pub branch_memory_retention_days: Option<u32>,
    /// Parts of a system where the same statement with another value is a matter for a person: `auth`, `schema`,
    /// `state_machine`, `retry`, any other word, or `name: word, word*` with the words that tell of it.
    pub conflict_areas: Vec<String>,
}

impl Default for BranchMemory {
    fn default() -> Self {
        Self {
            branch_scope_on_feature_work: FeatureScope::CurrentBranch,
            mainline_promotion_requires_confirmation: true,
            branch_memory_retention_days: None,
            conflict_areas: ["auth", "schema", "state_machine", "retry"].map(str::to_owned).into(),
        }
    }
}

/// Where a memory goes that is written on a branch that is no mainline.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FeatureScope {
    /// To the branch, until it is merged.
    #[default]
    CurrentBranch,
    /// To the whole project at once.
    Global,
}

impl FeatureScope {
    /// The words, in documentation order.
    pub const WORDS: &'static [&'static str] = &["current_branch", "global"];

    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CurrentBranch => "current_branch",
            Self::Global => "global",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::CurrentBranch, Self::Global].into_iter().find(|scope| scope.as_str() == word)
    }
}

/// The `[memory_retention]` table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// Whether anything of it happens.
    pub enabled: bool,
    /// Days after which a candidate that nobody decided expires.
    pub candidate_expiry_days: u32,
    /// Days after which a superseded memory is archived.
    pub inactive_archive_days: u32,
    /// Days after which a stale memory that nobody changed is archived.
    pub stale_archive_days: u32,
    /// `[memory_retention.compaction]`: many small memories as one.
    pub compaction: Compaction,
    /// `[memory_retention.branch_cleanup]`: memories of branches that are gone.
    pub branch_cleanup: BranchCleanup,
    /// Kinds that are neither archived nor compacted; `security_rule` is one of them.
    pub protected_memory_types: Vec<String>,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            enabled: true,
            candidate_expiry_days: 30,
            inactive_archive_days: 120,
            stale_archive_days: 180,
            compaction: Compaction::default(),
            branch_cleanup: BranchCleanup::default(),
            protected_memory_types: ["constraint", "security_rule", "architecture", "decision"]
                .map(str::to_owned)
                .into(),
        }
    }
}

/// The `[memory_retention.compaction]` table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compaction {
    /// Whether it happens.
    pub enabled: bool,
    /// Memories that make a group.
    pub min_related_memories: u32,
    /// Days that each of them must be old.
    pub min_age_days: u32,
    /// Whether a group has one parent.
    pub require_same_parent_scope: bool,
    /// Whether a group has one kind.
    pub require_same_memory_type: bool,
    /// Whether the evidence of the group stands with the new memory.
    pub preserve_original_evidence: bool,
    /// Whether the group is archived then.
    pub auto_archive_source_memories: bool,
}

impl Default for Compaction {
    fn default() -> Self {
        Self {
            enabled: true,
            min_related_memories: 3,
            min_age_days: 14,
            require_same_parent_scope: true,
            require_same_memory_type: true,
            preserve_original_evidence: true,
            auto_archive_source_memories: true,
        }
    }
}

/// The `[memory_retention.branch_cleanup]` table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchCleanup {
    /// Whether it happens.
    pub enabled: bool,
    /// Whether memories of a branch that was deleted and not merged are archived.
    pub archive_deleted_branch_memories: bool,
    /// Days after the merge from which on what did not fold is archived.
    pub archive_merged_branch_memories_after_days: u32,
    /// Whether what came to the mainline from a branch stays; if not, it is archived as what did not fold is.
    pub preserve_promoted_mainline_knowledge: bool,
}

impl Default for BranchCleanup {
    fn default() -> Self {
        Self {
            enabled: true,
            archive_deleted_branch_memories: true,
            archive_merged_branch_memories_after_days: 30,
            preserve_promoted_mainline_knowledge: true,
        }
    }
}

/// `include`, `exclude` and `max_file_size_mb` of the `[knowledge]` table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// Patterns of the files that are read, as in a `.gitignore` and from the project's top.
    pub include: Vec<String>,
    /// Patterns of files that are not, beside those that never are.
    pub exclude: Vec<String>,
    /// The largest file, in MiB.
    pub max_file_size_mb: u32,
}

impl Default for Files {
    fn default() -> Self {
        Self { include: vec!["**".into()], exclude: EXCLUDED.map(str::to_owned).into(), max_file_size_mb: 5 }
    }
}

/// What is not read unless the user's file says otherwise.
const EXCLUDED: [&str; 10] = [
    "node_modules/**",
    ".git/**",
    ".venv/**",
    "venv/**",
    "dist/**",
    "build/**",
    "target/**",
    "coverage/**",
    ".env",
    "secrets/**",
];

impl Retention {
    /// Whether memories of this kind are neither archived nor compacted.
    pub fn protects(&self, kind: &Kind) -> bool {
        let is_it = |word: &String| word == kind.as_str() || (word == "debug" && kind.as_str() == "incident");
        self.protected_memory_types.iter().any(is_it)
    }
}

impl Files {
    /// The largest file, in bytes.
    pub const fn max_bytes(&self) -> u64 {
        (self.max_file_size_mb as u64) << 20
    }
}
