//! A project's memory as documents: what holds, how it is built, what happened, where branches and files stand.

mod stored;

use serde_json::{Value, json};

use self::stored::{architecture, branches, constraints, incidents, outline};
use super::Resource;
use crate::{
    engine::Engine,
    error::Error,
    operation::{Call, Toolset},
    project::retrieve::meta::Meta,
    registry,
    render::{Trust, fenced, neutral, one_line},
    vcs::{Head, Repository, Status as Changes},
};

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
        Value::String(text) => Some(format!("{name}: {}\n", neutral(&one_line(text)))),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
        other => Some(format!("{name}: {other}\n")),
    };
    wanted.filter_map(line).collect()
}

/// A list of texts as bullets under a heading; nothing when it is empty.
fn bullets(heading: &str, list: &Value) -> String {
    match lines(list) {
        lines if lines.is_empty() => lines,
        lines => format!("\n## {heading}\n\n{}", neutral(&lines)),
    }
}

/// The same of texts that are stored.
fn stored_bullets(heading: &str, list: &Value) -> String {
    match lines(list) {
        lines if lines.is_empty() => lines,
        lines => format!("\n## {heading}\n\n{}\n", fenced(Trust::Data, &lines)),
    }
}

fn lines(list: &Value) -> String {
    let texts = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.map(|text| format!("- {}\n", one_line(text))).collect()
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
    let mut text = format!("current_branch: {}\nhead_commit: {commit}\n", neutral(&branch));
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
    let archive = stored_bullets("Archive candidates", &due(&reply["archive_candidates"]));
    let expiry = stored_bullets("Expiry candidates", &due(&reply["expiry_candidates"]));
    Ok(format!("# Retention Status\n\n{counts}{archive}{expiry}"))
}

fn compaction(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let reply = reply(engine, call, "retention_status")?;
    let groups: String = reply["compaction_groups"]
        .as_array()
        .into_iter()
        .flatten()
        .zip(1..)
        .map(|(group, number)| stored_bullets(&format!("Group {number}"), group))
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
