//! How a retrieval went about it: what took part, where the caller stands.

use serde::Serialize;
use strata_core::scope::Scope;
use strata_embed::Semantic;

use crate::{
    engine::Engine,
    error::Error,
    operation::{Call, is_default},
    settings::OFF,
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
    /// Whether working files differ from the commit.
    #[serde(skip_serializing_if = "is_default")]
    pub working_tree_dirty: bool,
}

/// How retrieval goes for a reader in `scope`; `commit` is what the caller says is checked out.
///
/// # Errors
/// Those of the store.
pub(super) fn meta(
    engine: &Engine,
    _call: &Call<'_>,
    scope: &Scope,
    commit: Option<&str>,
) -> Result<Meta, Error> {
    let mut meta = Meta {
        bootstrap_status: "READY".to_owned(),
        current_branch: scope.branch.clone(),
        head_commit: commit.map(crate::project::storable).filter(|commit| !commit.is_empty()),
        branch_aware_ranking: scope.branch.is_some(),
        git_available: true,
        is_repository: scope.branch.is_some(),
        ..Meta::default()
    };
    meta.tell_meaning(engine);
    Ok(meta)
}

impl Meta {
    /// What part meaning takes, without making it more than it is.
    pub fn tell_meaning(&mut self, engine: &Engine) {
        let searcher = engine.searcher();
        let wanted = &engine.settings().config.semantic.model;
        let (status, reason) = match searcher.semantic() {
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
