//! Passages of the project's files that a search has found.

use std::collections::{HashMap, HashSet};

use strata_core::{analysis, time::Timestamp};

use super::trace::{Breakdown, SELECTED, TraceEntry, put};
use crate::{
    engine::Engine,
    error::Error,
    operation::Call,
    project::{
        files::{self, Chunk, SourceType},
        layout::human::Word,
    },
    recall::{item::DocumentPart, search::Hit},
    render::rounded,
};

/// Characters of a passage that are shown; the rest is a call away.
pub(super) const PREVIEW: usize = 400;
/// What the quality of a source adds at most, as a share of the best hit's score.
const QUALITY: f64 = 0.03;
/// The share of a passage's words that a memory must say to make it a repetition.
const REPEATED: f64 = 0.7;
/// Words below which a passage is not compared.
const COMPARED: usize = 6;

/// A found passage.
#[derive(Debug, Clone)]
pub(super) struct Passage {
    pub(super) chunk_id: String,
    pub(super) source_type: SourceType,
    pub(super) source_path: String,
    pub(super) heading_path: Vec<String>,
    pub(super) start_line: u32,
    pub(super) end_line: u32,
    pub(super) text: String,
    pub(super) is_stale: bool,
    pub(super) modified: Timestamp,
    /// How it counts, where people wrote it for the project.
    pub(super) written: Option<Word>,
    pub(super) score: f64,
    pub(super) breakdown: Breakdown,
}

/// The passages behind hits, best first, each once; those of other files than the project's are left out.
///
/// # Errors
/// Those of the store.
pub(super) fn of_hits(
    engine: &Engine,
    call: &Call<'_>,
    hits: &[(&Hit, &DocumentPart)],
) -> Result<Vec<Passage>, Error> {
    let best = hits.iter().map(|(hit, _)| hit.score()).fold(0.0, f64::max);
    let parts: Vec<DocumentPart> = hits.iter().map(|(_, part)| (*part).clone()).collect();
    let chunks = files::chunks(engine, call, &parts)?;
    let known = hits.iter().zip(chunks).filter_map(|((hit, _), chunk)| Some(Passage::new(hit, chunk?, best)));
    let mut passages: Vec<Passage> = known.collect();
    passages.sort_by(|a, b| b.score.total_cmp(&a.score));
    // Several parts of a long chunk may be found.
    let mut seen = HashSet::new();
    passages.retain(|passage| seen.insert(passage.chunk_id.clone()));
    Ok(passages)
}

impl Passage {
    /// A passage that holds whatever is asked.
    pub(super) fn holding(chunk: Chunk, word: Word) -> Self {
        let mut breakdown = Breakdown::new();
        put(&mut breakdown, "source_quality", f64::from(chunk.source_type.quality()));
        Self::of(chunk, Some(word), 0.0, breakdown)
    }

    fn new(hit: &Hit, chunk: Chunk, best: f64) -> Self {
        let quality = f64::from(chunk.source_type.quality());
        let (components, evidence) = (&hit.found.hit.components, &hit.found.hit.evidence);
        let near = hit.nearness.unwrap_or_default();
        let score = hit.score() + best * QUALITY * quality;
        let mut breakdown = Breakdown::new();
        for (name, value) in [
            ("vector", f64::from(components.dense)),
            ("semantic_similarity", f64::from(evidence.cosine.unwrap_or(0.0))),
            ("lexical", f64::from(components.lexical)),
            ("lexical_coverage", f64::from(evidence.coverage)),
            ("module_overlap", f64::from(near.path)),
            ("tree_proximity", f64::from(near.proximity)),
            ("symbol_overlap", f64::from(near.symbol)),
            ("wording", f64::from(near.wording)),
            ("freshness", f64::from(near.freshness)),
            ("working_tree_source_match", f64::from(near.uncommitted)),
            ("source_quality", quality),
            ("said_by_every_project", -f64::from(near.lost)),
            ("base_score", f64::from(hit.found.hit.score)),
            ("final_score", score),
        ] {
            put(&mut breakdown, name, value);
        }
        // What was indexed of a file that is another by now is not what was trusted.
        let written = match hit.written {
            Some(Word::Trusted) if chunk.is_stale => Some(Word::Changed),
            word => word,
        };
        Self::of(chunk, written, score, breakdown)
    }

    fn of(chunk: Chunk, written: Option<Word>, score: f64, breakdown: Breakdown) -> Self {
        Self {
            chunk_id: chunk.chunk_id,
            source_type: chunk.source_type,
            source_path: chunk.source_path,
            heading_path: chunk.heading_path,
            start_line: chunk.start_line,
            end_line: chunk.end_line,
            text: chunk.text,
            is_stale: chunk.is_stale,
            modified: Timestamp(chunk.modified),
            written,
            score,
            breakdown,
        }
    }

    /// The file, and what encloses the passage.
    pub(super) fn title(&self) -> String {
        match self.heading_path.is_empty() {
            true => self.source_path.clone(),
            false => format!("{}: {}", self.source_path, self.heading_path.join(" > ")),
        }
    }

    /// Its entry in a trace, as one that is returned.
    pub(super) fn entry(&self) -> TraceEntry {
        TraceEntry {
            result_type: "knowledge",
            result_id: self.chunk_id.clone(),
            title: Some(self.title()),
            path: Some(self.source_path.clone()),
            start_line: Some(self.start_line),
            end_line: Some(self.end_line),
            action: SELECTED,
            score: Some(rounded(self.score, 3)),
            score_breakdown: self.breakdown.clone(),
            source_type: Some(self.source_type.as_str().to_owned()),
            freshness: self.breakdown.get("freshness").copied(),
            status: None,
            heading_path: self.heading_path.clone(),
            reason: format!("hybrid_score={:.3}", self.score),
        }
    }

    /// Whether what is shown of it is nearly all said by one text.
    pub(super) fn is_said_by(&self, said: &Said) -> bool {
        let shown: String = self.text.chars().take(PREVIEW).collect();
        let words = analysis::content_terms(&shown);
        words.len() >= COMPARED && said.most_of(&words) as f64 >= REPEATED * words.len() as f64
    }
}

/// The words of texts, each with the texts that have it.
pub(super) struct Said {
    texts: usize,
    having: HashMap<String, Vec<usize>>,
}

impl Said {
    /// What these texts say.
    pub(super) fn by(texts: impl Iterator<Item = String>) -> Self {
        let mut said = Self { texts: 0, having: HashMap::new() };
        for text in texts {
            for word in analysis::content_terms(&text) {
                said.having.entry(word).or_default().push(said.texts);
            }
            said.texts += 1;
        }
        said
    }

    /// How many of `words` the text has that has most of them.
    fn most_of(&self, words: &[String]) -> usize {
        let mut counts = vec![0; self.texts];
        for text in words.iter().filter_map(|word| self.having.get(word)).flatten() {
            counts[*text] += 1;
        }
        counts.into_iter().max().unwrap_or(0)
    }
}
