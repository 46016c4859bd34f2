//! The files that people write for a project: their passages stand among what the project holds, not among its files.
//! They came with a clone, so they are unconfirmed until a person trusts the files, and again when these change.

use std::collections::HashSet;

use strata_store::{
    index::{Source, SourceKind},
    ledger::SourceRow,
};

use super::{
    candidates::{Bucket, Gathered, Memory, memory_entry},
    passages::{self, Passage},
};
use crate::{
    engine::Engine,
    error::Error,
    operation::Call,
    project::{
        files,
        layout::human::{Word, Words},
        node::Node,
    },
    recall::{
        item::{DocumentPart, Item},
        search::{Hit, Query, search},
    },
};

/// The files, what they hold, and as what their passages are shown.
const HUMAN: [(&str, &str, Bucket); 3] = [
    (".strata/constraints.md", "constraint", Bucket::Constraints),
    (".strata/team-rules.md", "procedure", Bucket::Procedures),
    (".strata/decisions.md", "decision", Bucket::Decisions),
];

/// How sure such a passage is: once a person has said that the file is trusted as it is, and before.
const TRUSTED: f64 = 1.0;
const UNCONFIRMED: f64 = 0.7;
/// How much it weighs.
const IMPORTANCE: f64 = 0.9;
/// The tag of them all; how they count stands beside it.
const TAG: &str = "human_file";

/// Passages of trusted constraints that are shown although the task has no word of theirs.
const HELD: usize = 6;

/// Adds the passages of such files that the many passages of other files pushed out of a search, in their order behind
/// those that it found, and what a person trusts as constraints, whatever is asked.
///
/// # Errors
/// Those of the store.
pub(super) fn find_human(
    engine: &Engine,
    call: &Call<'_>,
    query: Query,
    gathered: &mut Gathered,
) -> Result<(), Error> {
    let rows = files::at(engine, call, &HUMAN.map(|(path, _, _)| path))?;
    if rows.is_empty() {
        return Ok(());
    }
    let mut known: HashSet<String> = gathered.passages.iter().map(|one| one.chunk_id.clone()).collect();
    let least = gathered.passages.last().map_or(f64::MAX, |passage| passage.score);
    let source = |row: &SourceRow| Source { kind: SourceKind::Document, number: row.number };
    let found = search(engine, call, &Query { only: Some(rows.iter().map(source).collect()), ..query })?;
    let parts: Vec<(&Hit, &DocumentPart)> = found
        .hits
        .iter()
        .filter_map(|hit| if let Item::Document(part) = &hit.item { Some((hit, &**part)) } else { None })
        .collect();
    for mut passage in passages::of_hits(engine, call, &parts)? {
        if known.insert(passage.chunk_id.clone()) {
            passage.score = passage.score.min(least);
            gathered.passages.push(passage);
        }
    }
    let mut words = Words::of(engine);
    let trusted = rows
        .iter()
        .filter(|row| sort(&row.path).is_some_and(|(_, bucket)| bucket == Bucket::Constraints))
        .filter(|row| words.word(row) == Some(Word::Trusted));
    let held = trusted.flat_map(files::chunks_of).filter(|chunk| known.insert(chunk.chunk_id.clone()));
    let held: Vec<Passage> = held.take(HELD).map(|chunk| Passage::holding(chunk, Word::Trusted)).collect();
    gathered.passages.extend(held);
    Ok(())
}

/// Moves passages of such files from the files to the memories.
pub(super) fn take_human(gathered: &mut Gathered) {
    let (human, others): (Vec<Passage>, Vec<Passage>) = std::mem::take(&mut gathered.passages)
        .into_iter()
        .partition(|passage| sort(&passage.source_path).is_some());
    gathered.passages = others;
    for passage in human {
        let Some((kind, bucket)) = sort(&passage.source_path) else { continue };
        let node = node(&passage, kind);
        let word = passage.written.unwrap_or(Word::Unconfirmed);
        if word == Word::Changed {
            gathered.changed_files.insert(passage.source_path.clone());
        }
        let (path, score) = (&passage.source_path, passage.score);
        let reason = format!("written by people in {path}, {} (score={score:.3})", word.as_str());
        let entry = memory_entry(&node, passage.score, passage.breakdown.clone(), reason);
        let comes_first = word == Word::Trusted && bucket == Bucket::Constraints;
        gathered.memories.push(Memory { bucket, node, number: 0, score: passage.score, entry, comes_first });
    }
}

fn sort(path: &str) -> Option<(&'static str, Bucket)> {
    let lower = path.to_lowercase();
    HUMAN.iter().find(|(file, _, _)| *file == lower).map(|(_, kind, bucket)| (*kind, *bucket))
}

/// Such a passage in the form of a memory; its id is that of the passage. It stays in the layer that it has: what is
/// a rule in the layers above is approved there.
pub(super) fn node(passage: &Passage, kind: &str) -> Node {
    let at = passage.modified.to_rfc3339();
    let word = passage.written.unwrap_or(Word::Unconfirmed);
    let tags = match word {
        Word::Trusted => vec![TAG, "trusted"],
        Word::Changed => vec![TAG, "unconfirmed", "changed"],
        Word::Unconfirmed => vec![TAG, "unconfirmed"],
    };
    Node {
        id: passage.chunk_id.clone(),
        project_id: None,
        title: passage.heading_path.last().cloned().unwrap_or_else(|| passage.source_path.clone()),
        summary: passage.text.trim().to_owned(),
        kind: kind.to_owned(),
        tags: tags.into_iter().map(str::to_owned).collect(),
        parent_id: None,
        depth: 0,
        status: "active".to_owned(),
        layer: "P5".to_owned(),
        confidence: if word == Word::Trusted { TRUSTED } else { UNCONFIRMED },
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
        code: Vec::new(),
        evidence: Vec::new(),
        number: 0,
    }
}
