//! How a retrieval went about it: what took part, where the caller stands.

use serde::Serialize;
use strata_core::{
    cancel::Cancel,
    principal::{Face, Principal, PrincipalKind},
    redact::redact,
    scope::Scope,
    time::Timestamp,
};
use strata_embed::Semantic;

use crate::{
    engine::Engine,
    error::Error,
    operation::{Call, is_default},
    project::{
        files::{progress::Progress, state::Phase},
        storable,
    },
    settings::{OFF, project::VectorBackend},
    vcs::{Fault, Repository},
};

/// What every reply of the project's tools says of the way it was made.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Meta {
    /// `hybrid` where meaning took part, `lexical_structured_fallback` where words alone did.
    pub retrieval_mode: &'static str,
    /// Where vectors lie: `index`, or `none`.
    pub vector_backend: &'static str,
    /// How far the project's files are known.
    pub bootstrap_status: String,
    /// What the reader should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The branch that was read for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_branch: Option<String>,
    /// The commit that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_commit: Option<String>,
    /// Files that were changed and not committed, where a retrieval looks for them.
    #[serde(skip_serializing_if = "is_default")]
    pub uncommitted_files_count: usize,
    /// Whether the branch decided what was seen and took part in the order.
    pub branch_aware_ranking: bool,
    /// Whether repositories can be read.
    pub git_available: bool,
    /// Whether the project is one.
    pub is_repository: bool,
    /// What compares meaning: `static` or `none`.
    pub semantic_backend: &'static str,
    /// Whose model it is.
    pub embedding_provider: &'static str,
    /// Which model.
    pub embedding_model: String,
    /// `used`, `disabled`, `unavailable` or `degraded`.
    pub semantic_status: &'static str,
}

/// How retrieval goes for a reader in `scope`; `commit` is what the caller says is checked out.
pub(crate) fn meta(engine: &Engine, scope: &Scope, commit: Option<&str>) -> Meta {
    let mut meta = Meta { git_available: true, ..Meta::default() };
    meta.tell_place(engine, scope, commit);
    meta.tell_meaning(engine);
    meta.tell_files(engine, scope);
    meta.warnings.extend(engine.files().now().failure);
    meta
}

/// How far the record and this process know the project's files. What cannot be read is not known.
fn progress(engine: &Engine, scope: &Scope) -> Option<Progress> {
    let system = Principal::new(PrincipalKind::System, "files");
    let call = Call {
        principal: &system,
        scope,
        face: Face::Library,
        deadline: Timestamp::MAX,
        cancel: &Cancel::default(),
        progress: &|_, _| {},
        secret: None,
    };
    let is_there = scope.project.is_some() && engine.is_initialised().unwrap_or(false);
    is_there.then(|| Progress::of(engine, &call).ok()).flatten()
}

/// Whether the project's searches go by words alone.
pub(super) fn is_by_words(engine: &Engine) -> bool {
    engine.settings().config.project.retrieval.vector_backend == VectorBackend::None
}

impl Meta {
    /// How far the project's files are known, in the wire's words. Where some are not read yet, what is found is not all
    /// that there is.
    fn tell_files(&mut self, engine: &Engine, scope: &Scope) {
        let now = engine.files().now();
        let known = match now.phase {
            Phase::Idle if now.failure.is_none() => "READY",
            _ => {
                let progress = progress(engine, scope);
                if let Some((done, total)) = progress.as_ref().and_then(|progress| progress.going_on) {
                    let said = match total {
                        0 => "the project's files are still being read".to_owned(),
                        total => {
                            format!("the project's files are still being read: {done} of {total} so far")
                        }
                    };
                    self.warnings.push(format!("{said}; ask again when more should be found"));
                }
                progress.map_or("UNINITIALIZED", |progress| progress.status)
            }
        };
        known.clone_into(&mut self.bootstrap_status);
    }

    /// The branch that is read for, and what git says is checked out. What git cannot tell is a warning.
    fn tell_place(&mut self, engine: &Engine, scope: &Scope, commit: Option<&str>) {
        let root = engine.settings().project_root.as_deref().filter(|_| scope.project.is_some());
        let head = root.map(|root| Repository::open(root).and_then(|repository| repository.head()));
        let (branch, checked_out) = match head {
            Some(Ok(head)) => {
                self.is_repository = true;
                (head.branch, head.commit)
            }
            Some(Err(Fault::None)) | None => (None, None),
            Some(Err(fault)) => {
                self.warnings.push(fault.to_string());
                (None, None)
            }
        };
        let branch = scope.branch.clone().or(branch);
        self.current_branch = branch.map(|branch| redact(&branch).text.into_owned());
        let settings = &engine.settings().config.project.retrieval;
        self.branch_aware_ranking = self.current_branch.is_some() && settings.branch_aware_ranking;
        let named = commit.map(|commit| storable(&redact(commit).text)).filter(|commit| !commit.is_empty());
        self.head_commit = named.or(checked_out);
    }

    /// That words alone would answer where the settings say that they may not stand in for vectors.
    ///
    /// # Errors
    /// They say so, and no vectors take part.
    pub(super) fn refuse_degraded(&self, engine: &Engine) -> Result<(), Error> {
        let may = engine.settings().config.project.retrieval.allow_degraded_fallback;
        if may || matches!(self.semantic_status, "used" | "disabled") {
            return Ok(());
        }
        Err(Error::Conflict {
            message: format!("search cannot go by meaning now ({})", self.semantic_status),
            hint: "see `strata status`, or let `retrieval.allow_degraded_fallback` be true".to_owned(),
        })
    }

    /// What part meaning takes, without making it more than it is.
    pub fn tell_meaning(&mut self, engine: &Engine) {
        let searcher = engine.searcher();
        let wanted = &engine.settings().config.semantic.model;
        let (status, reason) = match searcher.semantic() {
            _ if is_by_words(engine) => ("disabled", Some("the settings want no vectors here".to_owned())),
            Semantic::On => ("used", None),
            Semantic::Warming => ("degraded", Some("vectors of the model are still being made".to_owned())),
            Semantic::Off { reason } if wanted == OFF || engine.settings().words_only => {
                ("disabled", Some(reason))
            }
            Semantic::Off { reason } if searcher.model().is_some() => ("degraded", Some(reason)),
            Semantic::Off { reason } => ("unavailable", Some(reason)),
        };
        let is_used = status == "used";
        self.semantic_status = status;
        self.retrieval_mode = if is_used { "hybrid" } else { "lexical_structured_fallback" };
        self.vector_backend = if is_used { "index" } else { "none" };
        self.semantic_backend = if is_used { "static" } else { "none" };
        self.embedding_provider = if searcher.model().is_some() { "builtin" } else { "none" };
        self.embedding_model = searcher.model().unwrap_or("none").to_owned();
        self.warnings.extend(reason.map(|reason| format!("search goes by words alone: {reason}")));
    }
}
