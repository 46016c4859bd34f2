//! The table of the settings of project memory, by the names that they have in memory-engine's `config.yaml`.

use toml::Value;

use super::{
    NOBODY, OFF, STATIC,
    keys::{Key, MAX_DAYS, NONE, Narrowing, list, number, switch, texts, word},
    project::{FeatureScope, VectorBackend},
    value::Sort,
};
use crate::project::files::gate::LARGEST;

/// The most memories of a group: far beyond any use.
const MAX_GROUP: i64 = 10_000;
/// The most MiB of a file: larger ones are never read.
const MAX_MIB: i64 = LARGEST.cast_signed() >> 20;

/// Every setting, in documentation order.
pub const PROJECT_KEYS: &[Key] = &[
    Key {
        name: "project.name",
        sort: Sort::Name,
        project: Narrowing::Anything,
        get: |c| c.project.name.as_deref().map(Value::from),
        set: |c, v| c.project.name = v.as_str().map(str::to_owned),
        ..NONE
    },
    Key {
        name: "runtime.auto_bootstrap",
        project: Narrowing::To(false),
        get: |c| on(c.project.runtime.auto_bootstrap),
        set: |c, v| switch(v, &mut c.project.runtime.auto_bootstrap),
        ..NONE
    },
    Key {
        name: "runtime.auto_recall",
        project: Narrowing::To(false),
        get: |c| on(c.project.runtime.auto_recall),
        set: |c, v| switch(v, &mut c.project.runtime.auto_recall),
        ..NONE
    },
    Key {
        name: "runtime.auto_reflect",
        project: Narrowing::To(false),
        get: |c| on(c.project.runtime.auto_reflect),
        set: |c, v| switch(v, &mut c.project.runtime.auto_reflect),
        ..NONE
    },
    Key {
        name: "runtime.auto_index_on_start",
        project: Narrowing::To(false),
        get: |c| on(c.project.runtime.auto_index_on_start),
        set: |c, v| switch(v, &mut c.project.runtime.auto_index_on_start),
        ..NONE
    },
    Key {
        name: "runtime.incremental_indexing",
        get: |c| on(c.project.runtime.incremental_indexing),
        set: |c, v| switch(v, &mut c.project.runtime.incremental_indexing),
        ..NONE
    },
    Key {
        name: "runtime.git_aware_sync",
        project: Narrowing::To(false),
        get: |c| on(c.project.runtime.git_aware_sync),
        set: |c, v| switch(v, &mut c.project.runtime.git_aware_sync),
        ..NONE
    },
    Key {
        name: "runtime.check_git_status_on_retrieval",
        project: Narrowing::To(false),
        get: |c| on(c.project.runtime.check_git_status_on_retrieval),
        set: |c, v| switch(v, &mut c.project.runtime.check_git_status_on_retrieval),
        ..NONE
    },
    Key {
        name: "runtime.auto_incremental_sync",
        project: Narrowing::To(false),
        get: |c| on(c.project.runtime.auto_incremental_sync),
        set: |c, v| switch(v, &mut c.project.runtime.auto_incremental_sync),
        ..NONE
    },
    Key {
        name: "runtime.optional_file_watcher",
        project: Narrowing::To(false),
        get: |c| on(c.project.runtime.optional_file_watcher),
        set: |c, v| switch(v, &mut c.project.runtime.optional_file_watcher),
        ..NONE
    },
    Key {
        name: "runtime.watcher_debounce_ms",
        sort: Sort::Whole(100, 3_600_000),
        get: |c| count(c.project.runtime.watcher_debounce_ms),
        set: |c, v| number(v, &mut c.project.runtime.watcher_debounce_ms),
        ..NONE
    },
    Key {
        name: "retrieval.default_token_budget",
        sort: Sort::Whole(100, 200_000),
        project: Narrowing::Lower,
        get: |c| count(c.project.retrieval.default_token_budget),
        set: |c, v| number(v, &mut c.project.retrieval.default_token_budget),
        ..NONE
    },
    Key {
        name: "retrieval.cache_enabled",
        project: Narrowing::To(false),
        get: |c| on(c.project.retrieval.cache_enabled),
        set: |c, v| switch(v, &mut c.project.retrieval.cache_enabled),
        ..NONE
    },
    Key {
        name: "retrieval.vector_backend",
        variable: Some("MEMORY_ENGINE_VECTOR_BACKEND"),
        sort: Sort::Word(VectorBackend::WORDS),
        project: Narrowing::Word("none"),
        get: |c| Some(c.project.retrieval.vector_backend.as_str().into()),
        set: |c, v| word(v, VectorBackend::parse, &mut c.project.retrieval.vector_backend),
        ..NONE
    },
    Key {
        name: "retrieval.allow_degraded_fallback",
        get: |c| on(c.project.retrieval.allow_degraded_fallback),
        set: |c, v| switch(v, &mut c.project.retrieval.allow_degraded_fallback),
        ..NONE
    },
    Key {
        name: "retrieval.branch_aware_ranking",
        project: Narrowing::To(false),
        get: |c| on(c.project.retrieval.branch_aware_ranking),
        set: |c, v| switch(v, &mut c.project.retrieval.branch_aware_ranking),
        ..NONE
    },
    Key {
        name: "retrieval.prefer_current_branch",
        project: Narrowing::To(false),
        get: |c| on(c.project.retrieval.prefer_current_branch),
        set: |c, v| switch(v, &mut c.project.retrieval.prefer_current_branch),
        ..NONE
    },
    Key {
        name: "retrieval.include_ancestor_branch_memory",
        project: Narrowing::To(false),
        get: |c| on(c.project.retrieval.include_ancestor_branch_memory),
        set: |c, v| switch(v, &mut c.project.retrieval.include_ancestor_branch_memory),
        ..NONE
    },
    Key {
        name: "retrieval.include_mainline_fallback",
        project: Narrowing::To(false),
        get: |c| on(c.project.retrieval.include_mainline_fallback),
        set: |c, v| switch(v, &mut c.project.retrieval.include_mainline_fallback),
        ..NONE
    },
    Key {
        name: "retrieval.include_historical_branch_memory_by_default",
        project: Narrowing::To(false),
        get: |c| on(c.project.retrieval.include_historical_branch_memory_by_default),
        set: |c, v| switch(v, &mut c.project.retrieval.include_historical_branch_memory_by_default),
        ..NONE
    },
    Key {
        name: "memory.branch_scope_on_feature_work",
        sort: Sort::Word(FeatureScope::WORDS),
        project: Narrowing::Word("current_branch"),
        get: |c| Some(c.project.memory.branch_scope_on_feature_work.as_str().into()),
        set: |c, v| word(v, FeatureScope::parse, &mut c.project.memory.branch_scope_on_feature_work),
        ..NONE
    },
    Key {
        name: "memory.mainline_promotion_requires_confirmation",
        project: Narrowing::To(true),
        get: |c| on(c.project.memory.mainline_promotion_requires_confirmation),
        set: |c, v| switch(v, &mut c.project.memory.mainline_promotion_requires_confirmation),
        ..NONE
    },
    Key {
        name: "memory.branch_memory_retention_days",
        sort: Sort::Whole(1, MAX_DAYS),
        get: |c| c.project.memory.branch_memory_retention_days.map(|days| Value::Integer(days.into())),
        set: |c, v| {
            c.project.memory.branch_memory_retention_days =
                v.as_integer().and_then(|days| days.try_into().ok());
        },
        ..NONE
    },
    Key {
        name: "memory.conflict_areas",
        sort: Sort::Texts,
        project: Narrowing::Adds,
        get: |c| list(&c.project.memory.conflict_areas),
        set: |c, v| texts(v, &mut c.project.memory.conflict_areas),
        ..NONE
    },
    Key { name: "privacy.mode", sort: Sort::Word(&["local"]), get: |_| Some("local".into()), ..NONE },
    Key { name: "privacy.redact_secrets", sort: Sort::Always(true), get: |_| on(true), ..NONE },
    Key { name: "privacy.allow_network_embedding", sort: Sort::Always(false), get: |_| on(false), ..NONE },
    Key { name: "privacy.expose_git_remote_url", sort: Sort::Always(false), get: |_| on(false), ..NONE },
    Key { name: "privacy.redact_git_identity", sort: Sort::Always(true), get: |_| on(true), ..NONE },
    Key {
        name: "memory_retention.enabled",
        project: Narrowing::To(false),
        get: |c| on(c.project.memory_retention.enabled),
        set: |c, v| switch(v, &mut c.project.memory_retention.enabled),
        ..NONE
    },
    Key {
        name: "memory_retention.candidate_expiry_days",
        sort: Sort::Whole(1, MAX_DAYS),
        get: |c| count(c.project.memory_retention.candidate_expiry_days),
        set: |c, v| number(v, &mut c.project.memory_retention.candidate_expiry_days),
        ..NONE
    },
    Key {
        name: "memory_retention.inactive_archive_days",
        sort: Sort::Whole(1, MAX_DAYS),
        get: |c| count(c.project.memory_retention.inactive_archive_days),
        set: |c, v| number(v, &mut c.project.memory_retention.inactive_archive_days),
        ..NONE
    },
    Key {
        name: "memory_retention.stale_archive_days",
        sort: Sort::Whole(1, MAX_DAYS),
        get: |c| count(c.project.memory_retention.stale_archive_days),
        set: |c, v| number(v, &mut c.project.memory_retention.stale_archive_days),
        ..NONE
    },
    Key {
        name: "memory_retention.compaction.enabled",
        project: Narrowing::To(false),
        get: |c| on(c.project.memory_retention.compaction.enabled),
        set: |c, v| switch(v, &mut c.project.memory_retention.compaction.enabled),
        ..NONE
    },
    Key {
        name: "memory_retention.compaction.min_related_memories",
        sort: Sort::Whole(2, MAX_GROUP),
        get: |c| count(c.project.memory_retention.compaction.min_related_memories),
        set: |c, v| number(v, &mut c.project.memory_retention.compaction.min_related_memories),
        ..NONE
    },
    Key {
        name: "memory_retention.compaction.min_age_days",
        sort: Sort::Whole(0, MAX_DAYS),
        get: |c| count(c.project.memory_retention.compaction.min_age_days),
        set: |c, v| number(v, &mut c.project.memory_retention.compaction.min_age_days),
        ..NONE
    },
    Key {
        name: "memory_retention.compaction.require_same_parent_scope",
        project: Narrowing::To(true),
        get: |c| on(c.project.memory_retention.compaction.require_same_parent_scope),
        set: |c, v| switch(v, &mut c.project.memory_retention.compaction.require_same_parent_scope),
        ..NONE
    },
    Key {
        name: "memory_retention.compaction.require_same_memory_type",
        project: Narrowing::To(true),
        get: |c| on(c.project.memory_retention.compaction.require_same_memory_type),
        set: |c, v| switch(v, &mut c.project.memory_retention.compaction.require_same_memory_type),
        ..NONE
    },
    Key {
        name: "memory_retention.compaction.preserve_original_evidence",
        project: Narrowing::To(true),
        get: |c| on(c.project.memory_retention.compaction.preserve_original_evidence),
        set: |c, v| switch(v, &mut c.project.memory_retention.compaction.preserve_original_evidence),
        ..NONE
    },
    Key {
        name: "memory_retention.compaction.auto_archive_source_memories",
        project: Narrowing::To(false),
        get: |c| on(c.project.memory_retention.compaction.auto_archive_source_memories),
        set: |c, v| switch(v, &mut c.project.memory_retention.compaction.auto_archive_source_memories),
        ..NONE
    },
    Key {
        name: "memory_retention.branch_cleanup.enabled",
        project: Narrowing::To(false),
        get: |c| on(c.project.memory_retention.branch_cleanup.enabled),
        set: |c, v| switch(v, &mut c.project.memory_retention.branch_cleanup.enabled),
        ..NONE
    },
    Key {
        name: "memory_retention.branch_cleanup.archive_deleted_branch_memories",
        project: Narrowing::To(false),
        get: |c| on(c.project.memory_retention.branch_cleanup.archive_deleted_branch_memories),
        set: |c, v| switch(v, &mut c.project.memory_retention.branch_cleanup.archive_deleted_branch_memories),
        ..NONE
    },
    Key {
        name: "memory_retention.branch_cleanup.archive_merged_branch_memories_after_days",
        sort: Sort::Whole(0, MAX_DAYS),
        get: |c| count(c.project.memory_retention.branch_cleanup.archive_merged_branch_memories_after_days),
        set: |c, v| {
            number(
                v,
                &mut c.project.memory_retention.branch_cleanup.archive_merged_branch_memories_after_days,
            );
        },
        ..NONE
    },
    Key {
        name: "memory_retention.branch_cleanup.preserve_promoted_mainline_knowledge",
        project: Narrowing::To(true),
        get: |c| on(c.project.memory_retention.branch_cleanup.preserve_promoted_mainline_knowledge),
        set: |c, v| {
            switch(v, &mut c.project.memory_retention.branch_cleanup.preserve_promoted_mainline_knowledge);
        },
        ..NONE
    },
    Key {
        name: "memory_retention.protected_memory_types",
        sort: Sort::Texts,
        project: Narrowing::Adds,
        get: |c| list(&c.project.memory_retention.protected_memory_types),
        set: |c, v| texts(v, &mut c.project.memory_retention.protected_memory_types),
        ..NONE
    },
    Key {
        name: "knowledge.include",
        sort: Sort::Patterns,
        project: Narrowing::Anything,
        get: |c| list(&c.project.files.include),
        set: |c, v| texts(v, &mut c.project.files.include),
        ..NONE
    },
    Key {
        name: "knowledge.exclude",
        sort: Sort::Patterns,
        project: Narrowing::Adds,
        get: |c| list(&c.project.files.exclude),
        set: |c, v| texts(v, &mut c.project.files.exclude),
        ..NONE
    },
    Key {
        name: "knowledge.max_file_size_mb",
        sort: Sort::Whole(1, MAX_MIB),
        project: Narrowing::Lower,
        get: |c| count(c.project.files.max_file_size_mb),
        set: |c, v| number(v, &mut c.project.files.max_file_size_mb),
        ..NONE
    },
    Key {
        name: "semantic.enabled",
        variable: Some("MEMORY_ENGINE_SEMANTIC_ENABLED"),
        project: Narrowing::To(false),
        get: |c| on(c.semantic.enabled),
        set: |c, v| switch(v, &mut c.semantic.enabled),
        ..NONE
    },
    Key {
        name: "semantic.provider",
        variable: Some("MEMORY_ENGINE_EMBEDDING_PROVIDER"),
        sort: Sort::Word(&[STATIC, NOBODY]),
        project: Narrowing::Word(NOBODY),
        get: |c| Some(c.semantic.provider.as_str().into()),
        set: |c, v| c.semantic.provider = v.as_str().unwrap_or(STATIC).to_owned(),
        ..NONE
    },
    Key {
        name: "semantic.model",
        variable: Some("MEMORY_ENGINE_EMBEDDING_MODEL"),
        sort: Sort::Word(&[STATIC, OFF]),
        get: |c| Some(c.semantic.model.as_str().into()),
        set: |c, v| c.semantic.model = v.as_str().unwrap_or(STATIC).to_owned(),
        ..NONE
    },
];

fn on(held: bool) -> Option<Value> {
    Some(Value::Boolean(held))
}

fn count(held: u32) -> Option<Value> {
    Some(Value::Integer(held.into()))
}
