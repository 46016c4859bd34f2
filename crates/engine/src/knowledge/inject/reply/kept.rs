//! What is told of a text that went in, or was there already.

use strata_core::{
    duplicate::Verdict,
    knowledge::{
        health::LARGE,
        inject::{Action, Decided},
        pointer,
    },
    markdown::heading_key,
};

use super::{About, Kept};
use crate::{knowledge::inject::write::added_bytes, render::shortened};

impl Kept {
    pub(super) fn new(decided: &Decided, about: &About<'_>) -> Self {
        let old = about.old_text.unwrap_or_default();
        let size = decided.text.as_deref().map_or(old.len(), str::len);
        let summary = pointer::summary(about.content);
        let (tag, path) = (about.tag, &about.place.path);
        let is_there = !about.is_new || decided.text.is_some();
        Self {
            bytes_written: decided.text.as_deref().map_or(0, |new| added_bytes(old, new)),
            file_size_bytes: size,
            is_new_file: about.is_new && decided.text.is_some(),
            l0_pointer: is_there
                .then(|| format!("{tag} {}: {summary} → knowledge/{path}", about.place.domain())),
            hint: hint(decided),
            vector_sync_ok: true,
            auto_maintain: serde_json::Map::new(),
            title_diff_hint: title_diff(decided, about),
            stale_residue_hint: stale_residue(decided),
            warning: (size > LARGE)
                .then(|| format!("the file has {size} bytes, more than {LARGE}: split it by topic")),
            sections_removed: decided.family_size_before.map(|members| members.saturating_sub(1)),
            family_size_before: decided.family_size_before,
            fitted: fitted(decided),
        }
    }
}

/// What to know, or to do next.
fn hint(decided: &Decided) -> String {
    let place = decided.likest.as_ref().map(|like| {
        let file = like.file.as_ref().map(|file| format!("`{file}` › ")).unwrap_or_default();
        format!("{file}`{}`", like.heading)
    });
    let place = place.unwrap_or_else(|| format!("`{}`", decided.section));
    match decided.action {
        Action::Skipped | Action::MergedNoChange | Action::AppendNoChange => {
            format!(
                "{place} says it already, so nothing was written; `mode` append writes it all the same to another section"
            )
        }
        _ => "`recall_knowledge` finds it".to_owned(),
    }
}

/// The section is found whatever the letter case, and keeps its own.
fn title_diff(decided: &Decided, about: &About<'_>) -> Option<String> {
    let is_same =
        decided.section == about.heading || heading_key(&decided.section) != heading_key(about.heading);
    (!is_same).then(|| format!("the section is called {} in the file", quoted(&decided.section)))
}

/// What the section still says otherwise.
fn stale_residue(decided: &Decided) -> Option<String> {
    let like = decided.likest.as_ref().filter(|like| like.heading == decided.section)?;
    let is_added = matches!(decided.action, Action::Appended | Action::Merged);
    let clashes = matches!(like.verdict, Verdict::ChangedValue | Verdict::Opposed);
    let old: Vec<String> =
        like.differences.iter().filter_map(|found| found.b.as_deref()).map(quoted).collect();
    let said = if old.is_empty() { "the opposite".to_owned() } else { old.join(", ") };
    (is_added && clashes).then(|| format!("the section still says {said} as well: make one text of both"))
}

fn quoted(value: &str) -> String {
    format!("`{}`", shortened(value, 60))
}

fn fitted(decided: &Decided) -> Vec<String> {
    let mut notes = Vec::new();
    if decided.dropped_heading {
        notes.push("the text began with the heading, which stands there once".to_owned());
    }
    if decided.demoted > 0 {
        notes.push(format!(
            "headings in the text were lowered by {}, since `##` begins a section",
            decided.demoted
        ));
    }
    if let Some(end) = &decided.closed_with {
        notes.push(format!("{} was added to close what the text left open", quoted(end)));
    }
    notes
}
