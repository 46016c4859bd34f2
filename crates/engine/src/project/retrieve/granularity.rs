//! Found passages at other sizes: single statements, a line about each, a few lines about a file. All of it is made when it
//! is asked for, from what was found.

use std::collections::{BTreeSet, HashMap, HashSet};

use strata_core::{analysis::content_terms, project::routing::Layer};
use strata_lang::{
    Limits,
    layers::{paragraphs, propositions, summary},
    read,
};

use super::{
    agent_context::Asked,
    passages::Passage,
    shape::Unit,
    trace::{Breakdown, put},
};
use crate::{parallel, project::files::SourceType, render::rounded};

/// Passages that are looked at.
const PASSAGES: usize = 10;
/// Characters by which two units are the same.
const SAME: usize = 150;
/// Characters of a unit.
const LONGEST: usize = 800;

const WORDS: f64 = 0.50;
const LAYER: f64 = 0.20;
const SORT: f64 = 0.15;
const QUALITY: f64 = 0.10;
const FRESH: f64 = 0.05;

/// A unit before it is weighed.
struct Raw<'p> {
    layer: Layer,
    sort: Option<&'static str>,
    text: String,
    lines: (u32, u32),
    granularity: &'static str,
    passage: &'p Passage,
    terms: BTreeSet<String>,
}

/// The units of the best passages that have a word of the task, best first.
pub(super) fn units(asked: &Asked, passages: &[Passage]) -> Vec<Unit> {
    let wanted: Vec<String> = content_terms(&asked.task);
    let passages = &passages[..passages.len().min(PASSAGES)];
    // Reading them as code takes longer than anything else here.
    let (front, back) = passages.split_at(passages.len().div_ceil(2));
    let cut_all =
        |part| -> Vec<Raw<'_>> { <[Passage]>::iter(part).flat_map(|one| cut(asked, one)).collect() };
    let (mut raw, rest) = parallel::join(|| cut_all(front), || cut_all(back));
    raw.extend(rest);
    raw.extend(summaries(asked, passages));
    let weights = weights(&wanted, &raw);
    let total: f64 = weights.values().sum();
    let mut units: Vec<Unit> = raw
        .iter()
        .filter_map(|one| {
            let found: f64 = one.terms.iter().filter_map(|term| weights.get(term.as_str())).sum();
            let share = if total > 0.0 { found / total } else { 0.0 };
            (share > 0.0).then(|| one.unit(asked, share))
        })
        .collect();
    units.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut seen = HashSet::new();
    units.retain(|unit| seen.insert(unit.content.chars().take(SAME).collect::<String>().to_lowercase()));
    units
}

/// What each word of the task weighs: the rarer among the units, the more.
fn weights<'t>(wanted: &'t [String], raw: &[Raw<'_>]) -> HashMap<&'t str, f64> {
    let count = raw.len() as f64;
    let weigh = |term: &'t String| {
        let having = raw.iter().filter(|one| one.terms.contains(term)).count() as f64;
        (term.as_str(), (1.0 + (count + 1.0) / (having + 0.5)).ln())
    };
    wanted.iter().map(weigh).collect()
}

/// The statements and the lines of a passage, as far as they are wanted. Of code there is a line about each symbol but the
/// smallest: a chunk of several is told by more than its first.
fn cut<'p>(asked: &Asked, passage: &'p Passage) -> Vec<Raw<'p>> {
    let layers = &asked.granularity.layers;
    let mut found = Vec::new();
    if !layers.contains(&Layer::Proposition) && !layers.contains(&Layer::Paragraph) {
        return found;
    }
    let is_code = passage.source_type == SourceType::CodeFile;
    let limits = if is_code { Limits { share: 1, ..Limits::default() } } else { Limits::default() };
    let reading = read(&passage.source_path, &passage.text, &limits, &|| false);
    let line = |within: usize| {
        passage.start_line.max(1).saturating_add(u32::try_from(within).unwrap_or(1).max(1) - 1)
    };
    if layers.contains(&Layer::Proposition) {
        let wanted = &asked.granularity.propositions;
        let is_wanted = |sort: &str| !asked.only_sorts || wanted.iter().any(|word| word == sort);
        for one in
            propositions(&passage.text, &reading).into_iter().filter(|one| is_wanted(one.kind.as_str()))
        {
            let at = line(one.line);
            found.push(Raw::new(Layer::Proposition, Some(one.kind.as_str()), one.text, (at, at), passage));
        }
    }
    if layers.contains(&Layer::Paragraph) {
        for one in paragraphs(&passage.text, &reading) {
            let Some(chunk) = reading.chunks.get(one.chunk) else { continue };
            let mut told = one.heading.map_or_else(String::new, |heading| format!("{heading}: "));
            told.push_str(&one.summary);
            let lines = (line(chunk.span.first_line), line(chunk.span.last_line));
            let mut raw = Raw::new(Layer::Paragraph, None, told, lines, passage);
            // It stands for its piece, so the piece's words count for it.
            raw.terms.extend(content_terms(passage.text.get(chunk.span.bytes.clone()).unwrap_or_default()));
            found.push(raw);
        }
    }
    found
}

/// A summary of each file that passages were found of, from those passages.
fn summaries<'p>(asked: &Asked, passages: &'p [Passage]) -> Vec<Raw<'p>> {
    if !asked.granularity.layers.contains(&Layer::Summary) {
        return Vec::new();
    }
    let mut files: Vec<&Passage> = Vec::new();
    for passage in passages {
        if files.iter().all(|first| first.source_path != passage.source_path) {
            files.push(passage);
        }
    }
    let of_file = |first: &&'p Passage| {
        let mut parts: Vec<&Passage> =
            passages.iter().filter(|p| p.source_path == first.source_path).collect();
        parts.sort_by_key(|part| part.start_line);
        let text = parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join("\n\n");
        let reading = read(&first.source_path, &text, &Limits::default(), &|| false);
        let told = summary(&first.source_path, &text, &reading);
        let lines = (
            parts.iter().map(|part| part.start_line).min().unwrap_or(0),
            parts.iter().map(|part| part.end_line).max().unwrap_or(0),
        );
        let mut raw = Raw::new(Layer::Summary, None, told.text, lines, first);
        raw.terms.extend(content_terms(&text));
        raw
    };
    files.iter().map(of_file).collect()
}

impl<'p> Raw<'p> {
    fn new(
        layer: Layer,
        sort: Option<&'static str>,
        text: String,
        lines: (u32, u32),
        passage: &'p Passage,
    ) -> Self {
        let granularity = match layer {
            Layer::Proposition => "proposition",
            Layer::Paragraph => "paragraph",
            Layer::Summary if passage.source_type == SourceType::CodeFile => "module",
            Layer::Summary => "document",
        };
        let terms = content_terms(&text).into_iter().collect();
        Self { layer, sort, text, lines, granularity, passage, terms }
    }

    fn unit(&self, asked: &Asked, share: f64) -> Unit {
        let Granularity { place, sort } = Granularity::of(asked, self);
        let parts = [
            ("fts_rank_normalized", WORDS * share),
            ("layer_preference_bonus", LAYER * place),
            ("proposition_type_bonus", SORT * sort),
            ("source_quality", QUALITY * f64::from(self.passage.source_type.quality())),
            ("freshness_bonus", if self.passage.is_stale { 0.0 } else { FRESH }),
        ];
        let score = rounded(parts.iter().map(|(_, value)| value).sum(), 3);
        let mut score_breakdown = Breakdown::new();
        for (name, value) in parts.into_iter().chain([("total", score)]) {
            put(&mut score_breakdown, name, value);
        }
        let is_part = self.layer != Layer::Summary;
        Unit {
            result_id: self.passage.chunk_id.clone(),
            result_type: self.layer.as_str(),
            granularity: self.granularity,
            proposition_type: self.sort,
            content: shortened(&self.text),
            score,
            score_breakdown,
            source_path: self.passage.source_path.clone(),
            source_start_line: self.lines.0,
            source_end_line: self.lines.1,
            is_stale: self.passage.is_stale,
            parent_id: is_part.then(|| self.passage.chunk_id.clone()),
            selection_reason: format!("layer={}, score={score:.3}", self.layer.as_str()),
        }
    }
}

/// How welcome a unit is for its layer and its sort.
struct Granularity {
    place: f64,
    sort: f64,
}

impl Granularity {
    fn of(asked: &Asked, raw: &Raw<'_>) -> Self {
        let place = match asked.granularity.layers.iter().position(|layer| *layer == raw.layer) {
            Some(0) => 1.0,
            Some(1) => 0.6,
            Some(_) => 0.3,
            None => 0.2,
        };
        let wanted = &asked.granularity.propositions;
        let sort = match raw.sort {
            Some(sort) if wanted.iter().any(|word| word == sort) => 1.0,
            Some(_) if !wanted.is_empty() => 0.0,
            _ => 0.5,
        };
        Self { place, sort }
    }
}

/// A unit's text, cut where it is too long.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}\u{2026}", text[..end].trim_end()),
        None => text.to_owned(),
    }
}
