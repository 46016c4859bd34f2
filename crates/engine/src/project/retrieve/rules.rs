//! The files that people write for a project: their passages stand among what the project holds, not among its files.

use super::{
    candidates::{Bucket, Gathered, Memory, memory_entry},
    passages::Passage,
};
use crate::project::node::Node;

/// The files, what they hold, and as what their passages are shown.
const HUMAN: [(&str, &str, Bucket); 3] = [
    (".strata/constraints.md", "constraint", Bucket::Constraints),
    (".strata/team-rules.md", "procedure", Bucket::Procedures),
    (".strata/decisions.md", "decision", Bucket::Decisions),
];

/// How sure such a passage is before somebody has said that the files are trusted.
const UNCONFIRMED: f64 = 0.7;
/// How much it weighs.
const IMPORTANCE: f64 = 0.9;
/// The word that says so.
const UNCONFIRMED_TAG: &str = "unconfirmed";

/// Moves passages of such files from the files to the memories.
pub(super) fn take_human(gathered: &mut Gathered) {
    let (human, others): (Vec<Passage>, Vec<Passage>) = std::mem::take(&mut gathered.passages)
        .into_iter()
        .partition(|passage| sort(&passage.source_path).is_some());
    gathered.passages = others;
    for passage in human {
        let Some((kind, bucket)) = sort(&passage.source_path) else { continue };
        let node = node(&passage, kind);
        let reason = format!("written by people in {} (score={:.3})", passage.source_path, passage.score);
        let entry = memory_entry(&node, passage.score, passage.breakdown.clone(), reason);
        gathered.memories.push(Memory { bucket, node, number: 0, score: passage.score, entry });
    }
}

fn sort(path: &str) -> Option<(&'static str, Bucket)> {
    let lower = path.to_lowercase();
    HUMAN.iter().find(|(file, _, _)| *file == lower).map(|(_, kind, bucket)| (*kind, *bucket))
}

/// Such a passage in the form of a memory; its id is that of the passage.
pub(super) fn node(passage: &Passage, kind: &str) -> Node {
    let at = passage.modified.to_rfc3339();
    Node {
        id: passage.chunk_id.clone(),
        project_id: None,
        title: passage.heading_path.last().cloned().unwrap_or_else(|| passage.source_path.clone()),
        summary: passage.text.trim().to_owned(),
        kind: kind.to_owned(),
        tags: vec!["human_file".to_owned(), UNCONFIRMED_TAG.to_owned()],
        parent_id: None,
        depth: 0,
        status: "active".to_owned(),
        layer: "P5".to_owned(),
        confidence: UNCONFIRMED,
        importance: IMPORTANCE,
        module_path: None,
        branch_name: None,
        branch_scope: "global".to_owned(),
        commit_sha: None,
        source_revision: None,
        branch_promotion_eligible: false,
        source_path: Some(passage.source_path.clone()),
        created_at: at.clone(),
        updated_at: at,
        evidence: Vec::new(),
    }
}
