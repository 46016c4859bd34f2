//! A project's memory as documents: what holds, how it is built, what happened, where branches and files stand.

use serde_json::{Value, json};
use strata_core::memory::{Kind, Status};
use strata_store::ledger::{MemoryFilter, MemoryRow};

use super::Resource;
use crate::{
    engine::Engine,
    error::Error,
    operation::{Call, Toolset},
    project::{
        files::{follow::Place, kind::HUMAN_FILES},
        layout::human,
        node::{branch_scope, title, wire_kind},
        retrieve::{meta::Meta, tree},
    },
    registry,
    render::{neutral, one_line, shortened},
    vcs::{Head, Repository, Status as Changes},
};

/// Memories that are read to choose from.
const READ: usize = 5000;
/// Characters of a memory's text in a list.
const TEXT: usize = 1200;
/// Paths of a list of changed files, and files with new names.
const PATHS: usize = 20;
const RENAMED: usize = 10;

/// The resources of toolset `project`, in menu order.
pub(super) const RESOURCES: [Resource; 12] = [
    of(
        "memory://project/current/constraints",
        "get_constraints",
        "Project constraints",
        "What must hold in the project, weightiest first.",
        constraints,
    ),
    of(
        "memory://project/current/architecture",
        "get_architecture",
        "Architecture",
        "How the project and its parts are built.",
        architecture,
    ),
    of(
        "memory://project/current/status",
        "get_status",
        "Memory of the project",
        "What is known of the project and how far its files are read.",
        status,
    ),
    of(
        "memory://project/current/recent-incidents",
        "get_recent_incidents",
        "Recent incidents",
        "What went wrong, the latest first.",
        incidents,
    ),
    of(
        "memory://project/current/memory-tree-summary",
        "get_memory_tree_summary",
        "Memory tree",
        "The project's memories as an outline.",
        outline,
    ),
    of(
        "memory://project/current/agent-policy",
        "get_agent_policy",
        "Policy for agents",
        "What agents are asked to do with the memory.",
        policy,
    ),
    of(
        "memory://project/current/git-context",
        "get_git_context",
        "Git",
        "What is checked out and what differs from it.",
        git,
    ),
    of(
        "memory://project/current/branch-memory-summary",
        "get_branch_memory_summary",
        "Memories by branch",
        "What was learned on the branch, and what holds beside it.",
        branches,
    ),
    of(
        "memory://project/current/sync-status",
        "get_sync_status",
        "Index and files",
        "Whether the index is level with the files.",
        sync,
    ),
    of(
        "memory://project/current/retention-status",
        "get_retention_status",
        "Retention",
        "Which memories would be put away, and why.",
        retention,
    ),
    of(
        "memory://project/current/compaction-report",
        "get_compaction_report",
        "Compaction",
        "Which memories would be summed up.",
        compaction,
    ),
    of(
        "memory://project/current/semantic-status",
        "get_semantic_status",
        "Search by meaning",
        "Whether search goes by meaning, and by which model.",
        semantic,
    ),
];

const fn of(
    uri: &'static str,
    name: &'static str,
    title: &'static str,
    about: &'static str,
    read: fn(&Engine, &Call<'_>) -> Result<String, Error>,
) -> Resource {
    Resource { uri, name, title, about, mime: "text/plain", toolset: Some(Toolset::Project), read }
}

/// The live memories of these kinds that the caller sees, weightiest first.
fn of_kinds(engine: &Engine, call: &Call<'_>, kinds: &[&str]) -> Result<Vec<MemoryRow>, Error> {
    let kinds = kinds.iter().map(|kind| Kind::parse(kind)).collect::<Result<_, _>>();
    let filter = MemoryFilter {
        visible_from: Some(call.scope.clone()),
        kinds: kinds.map_err(|error| Error::parse("kind", &error))?,
        statuses: vec![Status::Active, Status::Stale, Status::NeedsReview],
        limit: READ,
        ..MemoryFilter::default()
    };
    let mut rows = engine.read(call, |r| r.memories(&filter))?;
    rows.sort_by(|a, b| b.state.importance.total_cmp(&a.state.importance).then(a.number.cmp(&b.number)));
    Ok(rows)
}

/// A memory under its title, with what must be known of it.
fn section(row: &MemoryRow, marks: &[String]) -> String {
    let disputed = (row.state.status != Status::Active).then(|| row.state.status.to_string());
    let marks: Vec<String> = marks.iter().cloned().chain(disputed).collect();
    let marks = if marks.is_empty() { String::new() } else { format!("  [{}]", marks.join(", ")) };
    format!("## {}{marks}\n\n{}\n", neutral(&title(row)), neutral(&shortened(&row.body, TEXT)))
}

fn constraints(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let rows = of_kinds(engine, call, &["constraint", "rule"])?;
    let mut sections: Vec<String> =
        rows.iter().take(20).map(|row| section(row, &[row.state.layer.to_string()])).collect();
    if let Some(place) = Place::of(engine, call)? {
        let written = HUMAN_FILES.iter().filter(|path| !path.ends_with("decisions.md"));
        for path in written {
            let Ok(file) = place.gate.read(path) else { continue };
            if !file.text.trim().is_empty() {
                let word = human::word_of(engine, call, path, &file.hash).in_words();
                sections.push(format!("## {path}  [{word}]\n\n{}\n", neutral(file.text.trim())));
            }
        }
    }
    Ok(match sections.is_empty() {
        true => "# Constraints\n\nNo constraints stored yet.\n".to_owned(),
        false => format!("# Project Constraints\n\n{}", sections.join("\n")),
    })
}

fn architecture(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let rows = of_kinds(engine, call, &["architecture", "module"])?;
    let sections: Vec<String> =
        rows.iter().take(15).map(|row| section(row, &[row.kind.to_string()])).collect();
    Ok(match sections.is_empty() {
        true => "# Architecture\n\nNo architecture stored yet.\n".to_owned(),
        false => format!("# Architecture Summaries\n\n{}", sections.join("\n")),
    })
}

fn incidents(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let mut rows = of_kinds(engine, call, &["incident", "fix"])?;
    rows.sort_by_key(|row| std::cmp::Reverse((row.state_seq, row.number)));
    let told = |row: &MemoryRow| {
        let figures =
            format!("Confidence {:.2}, importance {:.2}", row.state.confidence, row.state.importance);
        format!("## {}\n\n{figures}\n\n{}\n", neutral(&title(row)), neutral(&shortened(&row.body, TEXT)))
    };
    let sections: Vec<String> = rows.iter().take(10).map(told).collect();
    Ok(match sections.is_empty() {
        true => "# Incidents\n\nNo incidents stored yet.\n".to_owned(),
        false => format!("# Recent Incidents\n\n{}", sections.join("\n")),
    })
}

fn outline(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let rows = tree::outline(engine, call)?;
    if rows.is_empty() {
        return Ok("# Memory Tree\n\nNo memories stored yet.\n".to_owned());
    }
    let left = rows.len().saturating_sub(50);
    let more = if left == 0 { String::new() } else { format!("\n\n{left} more.") };
    Ok(format!("# Memory Tree\n\n{}{more}\n", tree::text(&rows[..rows.len().min(50)])))
}

/// The reply of an operation of toolset `project` or of those that keep it in order.
fn reply(engine: &Engine, call: &Call<'_>, tool: &str) -> Result<Value, Error> {
    let entry = [Toolset::Project, Toolset::Admin].iter().find_map(|toolset| registry::find(*toolset, tool));
    let entry = entry.ok_or_else(|| Error::Internal(format!("no operation `{tool}`")))?;
    Ok((entry.run)(engine, call, json!({}))?.json)
}

/// The fields of a reply, one on a line, without its lists.
fn fields(reply: &Value, named: Option<&[&str]>) -> String {
    let all = reply.as_object().into_iter().flatten();
    let wanted = all.filter(|(name, _)| named.is_none_or(|named| named.contains(&name.as_str())));
    let line = |(name, value): (&String, &Value)| match value {
        Value::String(text) => Some(format!("{name}: {}\n", one_line(text))),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
        other => Some(format!("{name}: {other}\n")),
    };
    wanted.filter_map(line).collect()
}

/// A list of texts as bullets under a heading; nothing when it is empty.
fn bullets(heading: &str, list: &Value) -> String {
    let texts: Vec<&str> = list.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if texts.is_empty() {
        return String::new();
    }
    let lines: String = texts.iter().map(|text| format!("- {}\n", neutral(text))).collect();
    format!("\n## {heading}\n\n{lines}")
}

fn status(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let reply = reply(engine, call, "memory_status")?;
    Ok(format!(
        "# Memory Engine Status\n\n{}{}",
        fields(&reply, None),
        bullets("Warnings", &reply["warnings"])
    ))
}

fn sync(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let reply = reply(engine, call, "memory_status")?;
    let index = [
        "bootstrap_status",
        "synchronization_status",
        "index_revision",
        "last_indexed_at",
        "last_git_sync_at",
        "last_indexed_commit",
    ];
    let state = [
        "git_available",
        "is_repository",
        "current_branch",
        "head_commit",
        "working_tree_dirty",
        "index_behind_head",
    ];
    Ok(format!(
        "# Sync Status\n\n{}\n## Git State\n\n{}",
        fields(&reply, Some(&index)),
        fields(&reply, Some(&state))
    ))
}

fn policy(engine: &Engine, _call: &Call<'_>) -> Result<String, Error> {
    Ok(crate::project::policy::page(engine))
}

fn git(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let root = engine.settings().project_root.as_deref().filter(|_| call.scope.project.is_some());
    let Some(Ok(repository)) = root.map(Repository::open) else {
        return Ok("# Git Context\n\nThe project is in no git repository.\n".to_owned());
    };
    let head = repository.head().unwrap_or_default();
    let mut text = format!("# Git Context\n\n{}", checked_out(&repository, &head));
    match repository.status() {
        Ok(changes) => text.push_str(&differing(&changes)),
        Err(fault) => text.push_str(&format!("\n## Warnings\n\n- {fault}\n")),
    }
    Ok(text)
}

/// The branch and commit that are checked out, and where the branch left the mainline.
fn checked_out(repository: &Repository, head: &Head) -> String {
    let branch = head.branch.clone().unwrap_or_else(|| "(detached HEAD)".to_owned());
    let commit = head.commit.clone().unwrap_or_else(|| "none yet".to_owned());
    let mut text = format!("current_branch: {branch}\nhead_commit: {commit}\n");
    let mainline = repository.mainline().unwrap_or_default();
    if let (Some(base), Some(tip), Some(commit)) =
        (mainline.names.first(), mainline.tips.first(), &head.commit)
        && !mainline.is(&branch)
    {
        text.push_str(&format!("base_branch: {base}\n"));
        if let Ok(Some(base)) = repository.merge_base(commit, tip) {
            text.push_str(&format!("base_commit: {base}\n"));
        }
    }
    text
}

fn differing(changes: &Changes) -> String {
    let mut text = format!("working_tree_dirty: {}\n", changes.is_dirty());
    let lists = [("Staged", &changes.staged), ("Modified", &changes.modified), ("Deleted", &changes.deleted)];
    for (heading, paths) in lists.into_iter().filter(|(_, paths)| !paths.is_empty()) {
        let lines: String = paths.iter().take(PATHS).map(|path| format!("- {}\n", neutral(path))).collect();
        let left = paths.len().saturating_sub(PATHS);
        let more = if left == 0 { String::new() } else { format!("- and {left} more\n") };
        text.push_str(&format!("\n## {heading}\n\n{lines}{more}"));
    }
    if !changes.renamed.is_empty() {
        let line = |of: &crate::vcs::Renamed| format!("- R {} -> {}\n", neutral(&of.from), neutral(&of.to));
        let lines: String = changes.renamed.iter().take(RENAMED).map(line).collect();
        text.push_str(&format!("\n## Renamed\n\n{lines}"));
    }
    text
}

fn branches(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let filter =
        MemoryFilter { visible_from: Some(call.scope.clone()), limit: READ, ..MemoryFilter::default() };
    let mut rows = engine.read(call, |r| r.memories(&filter))?;
    rows.retain(|row| row.scope.project == call.scope.project);
    rows.sort_by(|a, b| b.state.importance.total_cmp(&a.state.importance).then(a.number.cmp(&b.number)));
    let line = |row: &MemoryRow| {
        let place = row.scope.branch.as_deref().unwrap_or_else(|| branch_scope(row));
        format!("- [{}] {} [{place}]\n", wire_kind(&row.kind), neutral(&title(row)))
    };
    let list = |rows: &[&MemoryRow]| match rows.is_empty() {
        true => "None.\n".to_owned(),
        false => rows.iter().map(|row| line(row)).collect(),
    };
    let Some(branch) = &call.scope.branch else {
        let all: Vec<&MemoryRow> = rows.iter().take(30).collect();
        return Ok(format!("# Branch Memory Summary\n\n{}", list(&all)));
    };
    let (own, others): (Vec<&MemoryRow>, Vec<&MemoryRow>) =
        rows.iter().partition(|row| row.scope.branch.as_ref() == Some(branch));
    Ok(format!(
        "# Branch Memory Summary: {branch}\n\n## Branch {branch}\n\n{}\n## Global/Mainline\n\n{}",
        list(&own[..own.len().min(20)]),
        list(&others[..others.len().min(20)])
    ))
}

fn retention(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let reply = reply(engine, call, "retention_status")?;
    let counts: String = reply["counts"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|count| format!("{}: {}\n", count["status"].as_str().unwrap_or_default(), count["count"]))
        .collect();
    let due = |list: &Value| -> Value {
        let lines = list.as_array().into_iter().flatten().map(|one| {
            let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
            format!("{} ({}): {}", text("title"), text("id"), text("reason"))
        });
        lines.collect()
    };
    let archive = bullets("Archive candidates", &due(&reply["archive_candidates"]));
    let expiry = bullets("Expiry candidates", &due(&reply["expiry_candidates"]));
    Ok(format!("# Retention Status\n\n{counts}{archive}{expiry}"))
}

fn compaction(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let reply = reply(engine, call, "retention_status")?;
    let groups: String = reply["compaction_groups"]
        .as_array()
        .into_iter()
        .flatten()
        .zip(1..)
        .map(|(group, number)| bullets(&format!("Group {number}"), group))
        .collect();
    Ok(format!(
        "# Compaction Report\n\ncompaction_groups_found: {}\n{groups}",
        reply["compaction_groups_found"]
    ))
}

fn semantic(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let mut meta = Meta::default();
    meta.tell_meaning(engine);
    let known = reply(engine, call, "memory_status")?;
    let health = match meta.semantic_status {
        "used" => "healthy",
        other => other,
    };
    Ok(format!(
        "# Semantic Status\n\nretrieval_mode: {}\nsemantic_enabled: {}\nsemantic_backend: {}\nembedding_provider: {}\n\
         embedding_model: {}\n{}semantic_health: {health}\n{}",
        meta.retrieval_mode,
        meta.semantic_status == "used",
        meta.semantic_backend,
        meta.embedding_provider,
        meta.embedding_model,
        fields(&known, Some(&["embedded_record_count", "pending_embedding_count"])),
        bullets("Warnings", &json!(meta.warnings)),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_is_its_own_and_says_what_it_is() {
        for resource in &RESOURCES {
            let word =
                resource.uri.strip_prefix("memory://project/current/").expect("an address of a project");
            assert_eq!(resource.name, format!("get_{}", word.replace('-', "_")));
        }
    }
}
