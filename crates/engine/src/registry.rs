//! The table of all operations: the only list, from which every face and the reference docs are made.

use crate::{
    audit::MemoryAudit,
    bench::Bench,
    compat,
    consolidate::Consolidate,
    context::{assemble::Assemble, hot, operation::Context},
    contradictions::Contradictions,
    drift::DriftReport,
    episode::EpisodeRecord,
    eval::{
        acl::EvalAcl,
        operations::{EvalJsonl, EvalLocomo},
        suite::EvalSuite,
    },
    graph::{
        closure::Closure, entity_add::EntityAdd, entity_list::EntityList, explore::Explore, rca::Rca,
        relation_add::RelationAdd, relation_list::RelationList, relation_remove::RelationRemove,
        trace::Trace,
    },
    import::{
        import_drewgent::ImportDrewgent, import_incidents::ImportIncidents,
        import_layered_memory::ImportLayeredMemory, import_memory_engine::ImportMemoryEngine,
        import_p_layer::ImportPLayer, import_rules::ImportRules,
    },
    knowledge::{
        access, changelog, entry::GetKnowledgeById, export::VaultExport, figures::GetMemoryV2Stats, files,
        history, import::VaultImport, inject, l0, recall::RecallKnowledge, reindex::ReindexVectorStore,
        reviews, routing, sections, semantic::SearchSemantic, todo, upkeep,
    },
    maintain::{
        backup, doctor::Doctor, due::Maintain, export::Export, import::Import, index_files::IndexFiles,
        init::Init, jobs, load::Load, migrate_store::MigrateStore, purge::Purge, reembed::Reembed,
        reindex::Reindex,
    },
    memory::{
        chain::Chain, forget::Forget, inspect::Inspect, remember::Remember, restore::Restore, update::Update,
    },
    ontology,
    operation::{Entry, Toolset, entry},
    project,
    recall::operation::Recall,
    reflect::Reflect,
    review, rules, snapshot,
    stats::Stats,
    status::Status,
    wiki::CompileWiki,
};

/// Every operation, in documentation order.
pub const OPERATIONS: &[Entry] = &[
    entry::<Context>(),
    entry::<Recall>(),
    entry::<Remember>(),
    entry::<Inspect>(),
    entry::<Update>(),
    entry::<Forget>(),
    entry::<Reflect>(),
    entry::<Status>(),
    // Contradictions.
    entry::<Contradictions>(),
    // The knowledge graph.
    entry::<Explore>(),
    entry::<Trace>(),
    entry::<Rca>(),
    entry::<Closure>(),
    entry::<EntityAdd>(),
    entry::<EntityList>(),
    entry::<RelationAdd>(),
    entry::<RelationList>(),
    entry::<RelationRemove>(),
    entry::<Init>(),
    entry::<Restore>(),
    entry::<Import>(),
    entry::<IndexFiles>(),
    entry::<EvalLocomo>(),
    entry::<EvalJsonl>(),
    entry::<EvalSuite>(),
    entry::<Bench>(),
    entry::<Export>(),
    entry::<Load>(),
    entry::<backup::create::Create>(),
    entry::<backup::list::List>(),
    entry::<backup::restore::Restore>(),
    entry::<MigrateStore>(),
    entry::<Purge>(),
    entry::<Doctor>(),
    entry::<Reindex>(),
    entry::<Reembed>(),
    entry::<jobs::list::List>(),
    entry::<jobs::show::Show>(),
    entry::<jobs::cancel::Cancel>(),
    // Snapshots, audit, figures.
    entry::<snapshot::create::Create>(),
    entry::<snapshot::list::List>(),
    entry::<snapshot::show::Show>(),
    entry::<snapshot::compare::Compare>(),
    entry::<snapshot::rollback::Rollback>(),
    entry::<MemoryAudit>(),
    entry::<EpisodeRecord>(),
    entry::<Consolidate>(),
    entry::<CompileWiki>(),
    entry::<DriftReport>(),
    entry::<Maintain>(),
    entry::<Stats>(),
    entry::<Assemble>(),
    entry::<Chain>(),
    entry::<compat::remember::KnowledgeRemember>(),
    entry::<compat::recall::KnowledgeRecall>(),
    entry::<compat::forget::KnowledgeForget>(),
    entry::<compat::update::KnowledgeUpdate>(),
    entry::<compat::stats::KnowledgeMemoryStats>(),
    entry::<compat::ontology::KnowledgeOntologyStatus>(),
    entry::<compat::snapshots::KnowledgeSnapshotCreate>(),
    entry::<compat::snapshots::KnowledgeSnapshotRollback>(),
    // Rules and the review queue.
    entry::<rules::list::List>(),
    entry::<rules::add::Add>(),
    entry::<rules::edit::Edit>(),
    entry::<rules::enable::Enable>(),
    entry::<rules::disable::Disable>(),
    entry::<review::list::List>(),
    entry::<review::show::Show>(),
    entry::<review::approve::Approve>(),
    entry::<review::reject::Reject>(),
    entry::<review::resolve::Resolve>(),
    entry::<EvalAcl>(),
    entry::<ontology::validate::Validate>(),
    entry::<ontology::fresh::Fresh>(),
    entry::<ontology::propose::Propose>(),
    entry::<ontology::approve::Approve>(),
    entry::<ontology::apply::Apply>(),
    entry::<ontology::deprecate::Deprecate>(),
    entry::<ontology::retire::Retire>(),
    // Todos.
    entry::<todo::add::Add>(),
    entry::<todo::list::List>(),
    entry::<todo::update::Update>(),
    entry::<todo::delete::Delete>(),
    entry::<todo::stats::Stats>(),
    entry::<todo::restore::Restore>(),
    // Recall of knowledge, and its files.
    entry::<RecallKnowledge>(),
    entry::<SearchSemantic>(),
    entry::<files::get::GetKnowledgeFile>(),
    entry::<files::create::CreateKnowledgeFile>(),
    entry::<files::update::UpdateKnowledgeFile>(),
    entry::<files::delete::DeleteKnowledgeFile>(),
    entry::<files::stats::ListMemoryStats>(),
    // Sections of knowledge, and earlier versions of its files.
    entry::<sections::list::ListSections>(),
    entry::<sections::get::GetSection>(),
    entry::<sections::rename::RenameSection>(),
    entry::<sections::shift::MoveSection>(),
    entry::<sections::delete::DeleteSection>(),
    entry::<history::list::GetKnowledgeHistory>(),
    entry::<history::diff::DiffKnowledge>(),
    entry::<history::restore::RestoreKnowledge>(),
    entry::<GetKnowledgeById>(),
    entry::<GetMemoryV2Stats>(),
    entry::<ReindexVectorStore>(),
    // The index of knowledge and the hot page.
    entry::<l0::show::GetL0Index>(),
    entry::<l0::sync::SyncL0Index>(),
    entry::<l0::manage::ManageL0Entry>(),
    entry::<hot::show::GetHotPage>(),
    // The access log, and the review queue under the layered tools' names.
    entry::<access::stats::GetAccessStats>(),
    entry::<access::timeline::GetDomainTimeline>(),
    entry::<access::prune::PruneAccessLog>(),
    entry::<changelog::list::GetMemoryChangelog>(),
    entry::<changelog::stats::GetMemoryChangelogStats>(),
    entry::<reviews::pending::GetPendingReviews>(),
    entry::<reviews::approve::ApproveKnowledge>(),
    entry::<reviews::reject::RejectKnowledge>(),
    // Where items belong.
    entry::<routing::classify::Classify>(),
    entry::<routing::capabilities::Capabilities>(),
    // Durable knowledge.
    entry::<inject::InjectKnowledge>(),
    entry::<inject::BatchInjectKnowledge>(),
    // The vault in and out.
    entry::<VaultExport>(),
    entry::<VaultImport>(),
    // Keeping the knowledge in order.
    entry::<upkeep::audit::AuditRot>(),
    entry::<upkeep::validate::ValidateKnowledge>(),
    entry::<upkeep::plan::PlanKnowledgeCleanup>(),
    entry::<upkeep::apply::ApplySafeKnowledgeCleanup>(),
    entry::<upkeep::reconcile::ReconcileKnowledge>(),
    // What a task needs of a project.
    entry::<project::retrieve::agent_context::RetrieveAgentContext>(),
    entry::<project::retrieve::inspect_memory::InspectMemory>(),
    entry::<project::retrieve::route::RouteTask>(),
    entry::<project::retrieve::tree::MemoryTree>(),
    // Projects, their folder and their policy.
    entry::<project::identity::List>(),
    entry::<project::identity::Alias>(),
    entry::<project::identity::Merge>(),
    entry::<project::identity::Remove>(),
    entry::<project::layout::Init>(),
    entry::<project::layout::Trust>(),
    entry::<project::policy::Generate>(),
    entry::<project::policy::Install>(),
    entry::<project::policy::Status>(),
    entry::<project::policy::Uninstall>(),
    // Files of a project.
    entry::<project::files::status::MemoryStatus>(),
    entry::<project::files::inspect::InspectKnowledge>(),
    entry::<project::files::refresh::RefreshProjectKnowledge>(),
    entry::<project::files::bootstrap::BootstrapProject>(),
    entry::<project::files::reset::ResetProject>(),
    // Branches of a project.
    entry::<project::branches::list::List>(),
    entry::<project::branches::merged::Merged>(),
    entry::<project::branches::promote::PromoteToMainline>(),
    // Memories pinned to code.
    entry::<project::anchors::pin::Pin>(),
    entry::<project::anchors::check::Check>(),
    entry::<project::learn::Learn>(),
    // What finished work teaches.
    entry::<project::reflection::report::ReflectAndWrite>(),
    entry::<project::reflection::seed::SeedProjectContext>(),
    entry::<project::reflection::add::AddMemoryNode>(),
    entry::<project::reflection::evidence_add::AddEvidence>(),
    entry::<project::reflection::stale::MarkStale>(),
    entry::<project::reflection::relations::MemoryRelations>(),
    entry::<project::reflection::promotion::PromoteMemory>(),
    entry::<project::reflection::retention::status::RetentionStatus>(),
    entry::<project::reflection::retention::run::RetentionRun>(),
    entry::<project::reflection::retention::restore::RetentionRestore>(),
    // Importers of older stores.
    entry::<ImportLayeredMemory>(),
    entry::<ImportMemoryEngine>(),
    entry::<ImportPLayer>(),
    entry::<ImportDrewgent>(),
    entry::<ImportRules>(),
    entry::<ImportIncidents>(),
];

/// The operation with a wire name in a toolset.
pub fn find(toolset: Toolset, tool: &str) -> Option<&'static Entry> {
    OPERATIONS.iter().find(|e| e.spec.toolset == toolset && e.spec.tool == tool)
}

/// The operation behind a command path.
pub fn find_command(path: &[&str]) -> Option<&'static Entry> {
    OPERATIONS
        .iter()
        .find(|e| e.spec.cli == path)
        .or_else(|| OPERATIONS.iter().find(|e| e.older_commands.contains(&path)))
}

/// What is typed for a tool, or for a command that lacks the name of the program: a sentence may name either.
pub fn typed(word: &str) -> Option<String> {
    let by_tool = |e: &&Entry| e.spec.tool == word && e.spec.toolset != Toolset::Compat;
    if let Some(entry) = OPERATIONS.iter().find(by_tool) {
        return Some(format!("strata {}", entry.spec.cli.join(" ")));
    }
    let by_path = |e: &&Entry| {
        let path = e.spec.cli.join(" ");
        e.spec.cli.len() > 1
            && word.strip_prefix(&path).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    OPERATIONS.iter().find(by_path).map(|_| format!("strata {word}"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::operation::Effect;

    #[test]
    fn names_fit_every_client_and_are_unique() {
        let mut tools = HashSet::new();
        let mut commands = HashSet::new();
        for Entry { spec, older_commands, older_tools, .. } in OPERATIONS {
            let compat = spec.toolset == Toolset::Compat;
            let most = match spec.toolset {
                Toolset::Compat => 27,
                Toolset::Layered => 31,
                Toolset::Project => 25,
                _ => 24,
            };
            let fits = spec.tool.len() <= most;
            let digits = spec.toolset == Toolset::Layered;
            let plain = |b: u8| {
                b.is_ascii_lowercase() || b == b'_' || (compat && b == b'-') || (digits && b.is_ascii_digit())
            };
            assert!(fits && spec.tool.bytes().all(plain), "{}", spec.tool);
            for path in *older_commands {
                assert!(commands.insert(*path), "{path:?}");
            }
            assert!(spec.about.chars().count() <= 900, "{}", spec.tool);
            for tool in [spec.tool].iter().chain(*older_tools) {
                assert!(tools.insert((spec.toolset, *tool)), "{tool}");
            }
            assert!(commands.insert(spec.cli), "{:?}", spec.cli);
        }
    }

    #[test]
    fn core_has_at_most_eight_tools() {
        assert!(OPERATIONS.iter().filter(|e| e.spec.toolset == Toolset::Core).count() <= 8);
    }

    #[test]
    fn what_an_operation_cannot_do_without_is_required() {
        for (tool, field) in [("remember", "text"), ("recall", "query"), ("update", "id"), ("import", "path")]
        {
            let entry = OPERATIONS.iter().find(|e| e.spec.tool == tool).expect("an operation");
            let schema = (entry.request_schema)();
            let required = schema["required"].as_array().expect("some are required");
            assert!(required.iter().any(|name| name == field), "{tool}.{field}");
        }
    }

    #[test]
    fn every_schema_is_portable_and_every_argument_explained() {
        for e in OPERATIONS {
            let schema = (e.request_schema)();
            assert_eq!(crate::schema::lint(&schema), Vec::<String>::new(), "{}", e.spec.tool);
            for (name, field) in schema["properties"].as_object().into_iter().flatten() {
                assert!(
                    field["description"].as_str().is_some_and(|d| !d.is_empty()),
                    "{}.{name}",
                    e.spec.tool
                );
            }
        }
    }

    #[test]
    fn what_writes_a_file_is_no_read() {
        for entry in OPERATIONS {
            let schema = (entry.request_schema)();
            let writes =
                ["output", "dir", "baseline_dir"].iter().any(|name| schema["properties"][name].is_object());
            assert!(!writes || entry.spec.effect != Effect::Read, "{}", entry.spec.tool);
        }
    }

    #[test]
    fn how_much_to_show_has_a_range_that_clients_see() {
        let (least, both): (&[&str], &[&str]) = (&["minimum"], &["minimum", "maximum"]);
        for entry in OPERATIONS {
            let schema = (entry.request_schema)();
            for (name, ends) in
                [("limit", both), ("depth", both), ("budget_tokens", least), ("budget_chars", least)]
            {
                let field = &schema["properties"][name];
                for end in ends.iter().filter(|_| field.is_object()) {
                    let declared = field[end].as_i64().is_some_and(|end| end > 0);
                    assert!(declared, "{}: `{name}` has no {end}", entry.spec.tool);
                }
            }
        }
    }

    #[test]
    fn positional_arguments_are_request_fields() {
        for e in OPERATIONS {
            let schema = (e.request_schema)();
            for field in e.spec.positional {
                assert!(schema["properties"].get(field).is_some(), "{}: {field}", e.spec.tool);
            }
        }
    }
}
