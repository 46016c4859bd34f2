//! `memory_status`: what is known of a project, and how far.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::memory::Status as MemoryState;
use strata_store::ledger::LedgerRead;

use super::{bootstrap::name, follow::Place, progress::Progress, revision};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    project::{retrieve::meta::Meta, storable},
    render::{Block, Document, Mark, Render},
    vcs::{Fault, Repository},
};

/// See the module.
pub struct MemoryStatus;

/// No arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {}

/// What is known of a project.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// What people call it.
    pub project_name: String,
    /// Its folder.
    pub project_root: String,
    /// `UNINITIALIZED`, `BOOTSTRAPPING`, `INDEXING_INCREMENTAL`, `READY`, `DEGRADED` or `FAILED`.
    pub bootstrap_status: &'static str,
    /// `hybrid`, or `lexical_structured_fallback` where words alone answer.
    pub retrieval_mode: &'static str,
    /// Where vectors lie: `index`, or `none`.
    pub vector_backend: &'static str,
    /// Memories in force.
    pub active_memories: i64,
    /// Memories whose base has changed.
    pub stale_memories: i64,
    /// Memories that are disputed.
    pub needs_review_memories: i64,
    /// Files in the index.
    pub knowledge_documents: u64,
    /// Parts in the index of the files of every checkout of the project; none while this one was not read.
    pub knowledge_chunks: u64,
    /// Files of the pass that is going on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexing: Option<Indexing>,
    /// When files were last indexed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_indexed_at: Option<String>,
    /// The commit that is checked out, or the revision of the files without git.
    pub project_revision: String,
    /// Rises by one with every change of a memory.
    pub memory_revision: i64,
    /// Rises with every change of a file.
    pub knowledge_revision: i64,
    /// How far the index has followed.
    pub index_revision: i64,
    /// Whether equal questions are answered from memory.
    pub cache_enabled: bool,
    /// What went wrong.
    pub warnings: Vec<String>,
    /// What git says.
    #[serde(flatten)]
    pub git: Git,
    /// Whether the branch counts for what is found.
    pub branch_aware_retrieval_enabled: bool,
    /// `idle`, `syncing` or `error`.
    pub synchronization_status: &'static str,
    /// Whether meaning takes part.
    pub semantic_enabled: bool,
    /// What makes vectors: `static`, or `none`.
    pub semantic_backend: &'static str,
    /// Where the model is: `builtin`, or `none`.
    pub embedding_provider: &'static str,
    /// The model.
    pub embedding_model: String,
    /// `healthy`, `degraded` while vectors are made anew, `unavailable`, `disabled`.
    pub semantic_health: &'static str,
    /// What can be done about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
}

/// How far a pass over the files is.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Indexing {
    /// Files done.
    pub done: u64,
    /// Of how many.
    pub total: u64,
}

/// What git says of the project. It tells no addresses and no names of people.
#[derive(Debug, Default, Serialize)]
pub struct Git {
    /// The branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_branch: Option<String>,
    /// The commit that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_commit: Option<String>,
    /// The mainline that the branch is held against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_branch: Option<String>,
    /// Whether repositories can be read: always.
    pub git_available: bool,
    /// Whether the project is in one.
    pub is_repository: bool,
    /// Whether something is not committed.
    pub working_tree_dirty: bool,
    /// Files that are staged.
    pub staged_files_count: usize,
    /// Files that are changed and not staged.
    pub modified_files_count: usize,
    /// The commit that the index is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_indexed_commit: Option<String>,
    /// Whether another commit is checked out by now.
    pub index_behind_head: bool,
    /// When the index was last held against the files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_git_sync_at: Option<String>,
}

impl Operation for MemoryStatus {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "memory_status",
        cli: &["project", "status"],
        positional: &[],
        title: "Status of a project's memory",
        about: "Shows what is known of this project: memories, files in the index and how far indexing is, branch and commit, whether \
                search goes by meaning, and what went wrong. Use it when answers look empty or old. It changes nothing.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[
        &["debug", "status"],
        &["project", "debug", "status"],
        &["memory", "debug", "status"],
        &["memory", "semantic", "status"],
    ];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        status(engine, call)
    }
}

/// What is known of the caller's project.
///
/// # Errors
/// There is no project; those of the store.
pub fn status(engine: &Engine, call: &Call<'_>) -> Result<Response, Error> {
    let place = Place::required(engine, call)?;
    let Progress { status, documents, chunks, going_on, last_indexed, last_commit, warnings } =
        Progress::of(engine, call)?;
    let told = last_indexed.map(strata_core::time::Timestamp::to_rfc3339);
    let (mut git, fault) = git(&place);
    let config = &engine.settings().config.project;
    if config.runtime.git_aware_sync {
        git.compare(last_commit, told.clone());
    }
    let knowledge_revision = revision(engine, call)?;
    let mut response = Response {
        project_name: name(engine, &place),
        project_root: storable(&place.gate.root().to_string_lossy()),
        bootstrap_status: status,
        knowledge_documents: documents,
        knowledge_chunks: chunks,
        indexing: going_on.map(|(done, total)| Indexing { done, total }),
        last_indexed_at: told,
        project_revision: git.head_commit.clone().unwrap_or_else(|| format!("files:{knowledge_revision}")),
        knowledge_revision,
        index_revision: engine.searcher().index().cursor(engine.tenant())?.mark.seq,
        cache_enabled: config.retrieval.cache_enabled,
        warnings: warnings
            .into_iter()
            .chain(fault)
            .chain(engine.settings().config.notices.iter().cloned())
            .collect(),
        git,
        branch_aware_retrieval_enabled: config.retrieval.branch_aware_ranking,
        synchronization_status: synchronization(status),
        ..Response::default()
    };
    engine.read(call, |r| response.count(r, call))?;
    response.meaning(engine);
    if status == "UNINITIALIZED" {
        response.suggestions.push("`refresh_project_knowledge` reads the project's files now".to_owned());
    }
    Ok(response)
}

/// The word of what goes on at a status.
fn synchronization(status: &str) -> &'static str {
    match status {
        "BOOTSTRAPPING" | "INDEXING_INCREMENTAL" => "syncing",
        "DEGRADED" | "FAILED" => "error",
        _ => "idle",
    }
}

impl Git {
    /// Holds the commit that was indexed, and when, against the one that is checked out.
    fn compare(&mut self, indexed: Option<String>, at: Option<String>) {
        if self.is_repository {
            self.index_behind_head = self.head_commit != indexed;
            (self.last_indexed_commit, self.last_git_sync_at) = (indexed, at);
        }
    }
}

/// What git says, and what it cannot.
fn git(place: &Place) -> (Git, Option<String>) {
    let mut git = Git { git_available: true, ..Git::default() };
    let read =
        Repository::open(place.gate.root()).and_then(|repository| Ok((repository.head()?, repository)));
    let (head, repository) = match read {
        Ok(read) => read,
        Err(Fault::None) => return (git, None),
        Err(fault) => return (git, Some(fault.to_string())),
    };
    git.is_repository = true;
    (git.current_branch, git.head_commit) = (head.branch, head.commit);
    if let (Ok(mainline), Some(branch)) = (repository.mainline(), &git.current_branch) {
        git.base_branch = mainline.names.first().filter(|_| !mainline.is(branch)).cloned();
    }
    let fault = match repository.status() {
        Ok(status) => {
            git.working_tree_dirty = status.is_dirty();
            git.staged_files_count = status.staged.len();
            git.modified_files_count = status.modified.len();
            None
        }
        Err(fault) => Some(fault.to_string()),
    };
    (git, fault)
}

impl Response {
    fn count(&mut self, r: &LedgerRead<'_>, call: &Call<'_>) -> Result<(), strata_store::error::StoreError> {
        let (namespace, project) = (&call.scope.namespace, &call.scope.project);
        for counted in r.memory_counts()? {
            if counted.scope.namespace != *namespace || counted.scope.project != *project {
                continue;
            }
            match counted.status {
                MemoryState::Active => self.active_memories += counted.count,
                MemoryState::Stale => self.stale_memories += counted.count,
                MemoryState::NeedsReview => self.needs_review_memories += counted.count,
                _ => {}
            }
        }
        self.memory_revision = r.memory_changes(namespace, project.as_deref())?;
        Ok(())
    }

    /// What the replies to tasks say of it, in one word each.
    fn meaning(&mut self, engine: &Engine) {
        let mut meta = Meta::default();
        meta.tell_meaning(engine);
        self.semantic_enabled = meta.semantic_status == "used";
        self.semantic_health = if self.semantic_enabled { "healthy" } else { meta.semantic_status };
        self.retrieval_mode = meta.retrieval_mode;
        self.vector_backend = meta.vector_backend;
        self.semantic_backend = meta.semantic_backend;
        self.embedding_provider = meta.embedding_provider;
        self.embedding_model = meta.embedding_model;
        self.warnings.extend(meta.warnings);
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let mut pairs = vec![
            ("project".to_owned(), format!("{} ({})", self.project_name, self.project_root)),
            ("status".to_owned(), self.bootstrap_status.to_owned()),
            (
                "files".to_owned(),
                format!("{}; {} parts of all checkouts", self.knowledge_documents, self.knowledge_chunks),
            ),
            (
                "memories".to_owned(),
                format!("{} active, {} stale", self.active_memories, self.stale_memories),
            ),
            ("search".to_owned(), self.retrieval_mode.to_owned()),
        ];
        if let Some(Indexing { done, total }) = self.indexing {
            pairs.push(("indexing".to_owned(), format!("{done} of {total} files")));
        }
        if let Some(branch) = &self.git.current_branch {
            pairs.push(("branch".to_owned(), branch.clone()));
        }
        pairs.extend(self.last_indexed_at.iter().map(|at| ("last indexed".to_owned(), at.clone())));
        let document = Document::new().with(Block::Pairs(pairs));
        let document = self
            .warnings
            .iter()
            .fold(document, |document, warning| document.note(Mark::Warning, warning.clone()));
        self.suggestions.iter().fold(document, |document, text| document.note(Mark::Info, text.clone()))
    }
}
