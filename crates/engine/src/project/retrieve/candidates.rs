//! What could stand in a pack: memories by what they are, passages by how near they are.

use std::collections::{BTreeSet, HashSet};

use strata_core::memory::Kind;
use strata_store::{
    index::SourceKind,
    ledger::{MemoryFilter, MemoryRow},
};

use super::{
    agent_context::Asked,
    granularity,
    meta::is_by_words,
    passages::{self, Passage},
    rules,
    shape::Unit,
    trace::{Breakdown, EXCLUDED, SELECTED, TraceEntry, put},
};
use crate::{
    context::operation::Standing,
    engine::Engine,
    error::Error,
    operation::Call,
    parallel,
    project::{
        anchors::{self, AnchorView},
        node::{self, Node},
    },
    recall::{
        focus::Focus,
        item::Item,
        search::{self, Floor, Hit, Outcome, Query, search},
    },
    render::rounded,
};

/// Memories that are weighed.
const MEMORIES: usize = 48;
/// Passages that are weighed.
const PASSAGES: usize = 20;
/// The share of the best memory's score below which another says too little.
const RELATIVE_FLOOR: f64 = 0.35;
/// The same of passages.
const PASSAGE_FLOOR: f64 = 0.25;
/// Constraints of the whole project that are shown although the task has no word of theirs.
const PROJECT_WIDE: usize = 3;
/// How weighty those are at least.
const WEIGHTY: f64 = 0.9;

/// The lists of a pack that memories stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Bucket {
    Constraints,
    Architecture,
    Modules,
    Decisions,
    Incidents,
    Procedures,
    Facts,
}

impl Bucket {
    /// Where a kind belongs.
    fn of(kind: &Kind) -> Self {
        match kind.as_str() {
            "constraint" | "rule" => Self::Constraints,
            "architecture" => Self::Architecture,
            "module" => Self::Modules,
            "decision" => Self::Decisions,
            "incident" | "fix" | "outcome" => Self::Incidents,
            "procedure" | "skill" => Self::Procedures,
            _ => Self::Facts,
        }
    }

    /// Why a memory of it is shown.
    const fn reason(self) -> &'static str {
        match self {
            Self::Constraints => "constraint that the work must keep",
            Self::Architecture => "architecture around the work",
            Self::Modules => "what the part does",
            Self::Decisions => "decision that bears on the work",
            Self::Incidents => "what went wrong here before",
            Self::Procedures => "how this is done here",
            Self::Facts => "what is known about it",
        }
    }
}

/// A memory that could be shown.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    pub(super) bucket: Bucket,
    pub(super) node: Node,
    /// Its number; 0 for a passage of a file that people write.
    pub(super) number: i64,
    pub(super) score: f64,
    pub(super) entry: TraceEntry,
    /// Whether it comes before everything else: a constraint that a person wrote and trusts.
    pub(super) comes_first: bool,
}

/// Everything that was found.
#[derive(Default)]
pub(super) struct Gathered {
    /// Best first.
    pub(super) memories: Vec<Memory>,
    /// Best first.
    pub(super) passages: Vec<Passage>,
    /// The passages at other sizes, best first.
    pub(super) units: Vec<Unit>,
    /// What was weighed and is not worth showing.
    pub(super) excluded: Vec<TraceEntry>,
    /// Whether everything that is stored took part, and nothing else.
    pub(super) is_whole: bool,
    /// Files of people that have changed since somebody trusted them.
    pub(super) changed_files: BTreeSet<String>,
}

/// Looks for what matters: two searches by the one pipeline, side by side where there are cores for it, and what holds
/// whatever is asked.
///
/// # Errors
/// Those of the store.
pub(super) fn gather(engine: &Engine, call: &Call<'_>, asked: &Asked) -> Result<Gathered, Error> {
    // Both searches see what was stored before, whichever of them begins.
    search::settle(engine, call)?;
    let (memories, files) =
        parallel::join(|| of_memories(engine, call, asked), || of_files(engine, call, asked));
    let (mut gathered, files) = (memories?, files?);
    gathered.memories.extend(files.memories);
    gathered.passages = files.passages;
    gathered.units = files.units;
    gathered.excluded.extend(files.excluded);
    gathered.is_whole &= files.is_whole;
    gathered.changed_files = files.changed_files;
    gathered
        .memories
        .sort_by(|a, b| b.comes_first.cmp(&a.comes_first).then_with(|| b.score.total_cmp(&a.score)));
    Ok(gathered)
}

fn of_memories(engine: &Engine, call: &Call<'_>, asked: &Asked) -> Result<Gathered, Error> {
    let mut gathered = Gathered { is_whole: true, ..Gathered::default() };
    let mut found = search(engine, call, &query(engine, asked, SourceKind::Memory))?;
    let with_mainline = engine.settings().config.project.retrieval.include_mainline_fallback;
    found.hits.retain(|hit| with_mainline || asked.scope.branch.is_none() || !is_of_mainline(hit));
    memories(engine, call, asked, &found, &mut gathered)?;
    gathered.note(&found);
    Ok(gathered)
}

fn of_files(engine: &Engine, call: &Call<'_>, asked: &Asked) -> Result<Gathered, Error> {
    let mut gathered = Gathered { is_whole: true, ..Gathered::default() };
    let of_files = query(engine, asked, SourceKind::Document);
    let found = search(engine, call, &of_files)?;
    let parts: Vec<_> = found.hits.iter().filter_map(document).collect();
    gathered.passages = passages::of_hits(engine, call, &parts)?;
    rules::find_human(engine, call, of_files, &mut gathered)?;
    rules::take_human(&mut gathered);
    gathered.drop_faint_passages();
    gathered.units = granularity::units(asked, &gathered.passages);
    gathered.note(&found);
    Ok(gathered)
}

fn document(hit: &Hit) -> Option<(&Hit, &crate::recall::item::DocumentPart)> {
    if let Item::Document(part) = &hit.item { Some((hit, part)) } else { None }
}

/// Whether a memory holds for what everybody's work ends up on.
fn is_of_mainline(hit: &Hit) -> bool {
    matches!(&hit.item, Item::Memory(row) if node::branch_scope(row) == "mainline")
}

fn query(engine: &Engine, asked: &Asked, source: SourceKind) -> Query {
    let is_memory = source == SourceKind::Memory;
    let settings = &engine.settings().config.project.retrieval;
    let by_branch = settings.branch_aware_ranking && settings.prefer_current_branch;
    let branch = asked.scope.branch.as_deref().filter(|_| is_memory && by_branch);
    let intent = is_memory.then_some(asked.intent);
    let focus = Focus::on(&asked.files, &asked.reading.symbols, branch, intent).unwrap_or_default();
    let focus = focus.beside(&asked.uncommitted);
    Query {
        sources: vec![source],
        floor: Floor::Task,
        here: !is_memory,
        words_only: is_by_words(engine),
        focus: Some(focus),
        ..Query::new(&asked.task, &asked.scope, if is_memory { MEMORIES } else { PASSAGES })
    }
}

/// The memories that were found, the approved rules, and the weightiest constraints of the project.
fn memories(
    engine: &Engine,
    call: &Call<'_>,
    asked: &Asked,
    found: &Outcome,
    gathered: &mut Gathered,
) -> Result<(), Error> {
    let best = found.hits.iter().map(Hit::score).fold(0.0, f64::max);
    let mut rows: Vec<MemoryRow> = Vec::new();
    let mut signals: Vec<(f64, Breakdown, Option<&'static str>, Vec<AnchorView>)> = Vec::new();
    for hit in &found.hits {
        let Item::Memory(row) = &hit.item else { continue };
        rows.push((**row).clone());
        signals.push((hit.score(), breakdown(hit, row), None, hit.code.clone()));
    }
    let seen: HashSet<i64> = rows.iter().map(|row| row.number).collect();
    for (row, reason, code) in
        holding(engine, call, asked)?.into_iter().filter(|(row, _, _)| !seen.contains(&row.number))
    {
        let mut parts = Breakdown::new();
        put(&mut parts, "importance", row.state.importance);
        put(&mut parts, "confidence", row.state.confidence);
        put_code(&mut parts, &code);
        signals.push((0.0, parts, Some(reason), code));
        rows.push(row);
    }
    let with_evidence = asked.reading.needs_evidence;
    let nodes = engine.read(call, |r| node::nodes(r, &rows, with_evidence))?;
    for ((node, row), (score, parts, holds, code)) in nodes.into_iter().zip(&rows).zip(signals) {
        // What is pinned is looked at anew by every call: files change without the ledger's knowing.
        gathered.is_whole &= code.is_empty();
        let node = Node { code, ..node };
        let bucket = Bucket::of(&row.kind);
        let reason = holds.unwrap_or_else(|| bucket.reason());
        let entry = memory_entry(&node, score, parts, format!("{reason} (score={score:.3})"));
        let is_faint = holds.is_none() && bucket != Bucket::Constraints && score < RELATIVE_FLOOR * best;
        if is_faint {
            gathered.excluded.push(entry.excluded("Below the relevance floor"));
        } else {
            gathered.memories.push(Memory {
                bucket,
                node,
                number: row.number,
                score,
                entry,
                comes_first: false,
            });
        }
    }
    Ok(())
}

/// A memory that holds whatever is asked, why, and the code that it is pinned to.
type Holding = (MemoryRow, &'static str, Vec<AnchorView>);

/// What holds whatever is asked: approved rules, and the weightiest constraints of the project as a whole. One whose code has
/// changed weighs less.
fn holding(engine: &Engine, call: &Call<'_>, asked: &Asked) -> Result<Vec<Holding>, Error> {
    let constraint = Kind::parse("constraint").map_err(|error| Error::parse("kind", &error))?;
    let (rules, mut wide) = engine.read(call, |r| {
        let rules = Standing::rules(r, &asked.scope)?;
        let filter = MemoryFilter {
            visible_from: Some(asked.scope.clone()),
            kinds: vec![constraint],
            least_importance: Some(WEIGHTY),
            limit: 200,
            ..MemoryFilter::default()
        };
        let mut wide = r.memories(&filter)?;
        wide.retain(|row| row.module_path.is_none());
        Ok((rules, wide))
    })?;
    let rules: Vec<MemoryRow> = rules.into_iter().map(|rule| rule.memory).collect();
    let numbers: Vec<i64> = rules.iter().chain(&wide).map(|row| row.number).collect();
    let mut code = anchors::views_of(engine, call, &numbers)?;
    let share = |row: &MemoryRow| code.get(&row.number).map_or(1.0, |views| anchors::worst(views).share());
    let weight = |row: &MemoryRow| row.state.importance * share(row);
    wide.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(a.number.cmp(&b.number)));
    let rules = rules.into_iter().map(|row| (row, "approved rule"));
    let wide = wide.into_iter().take(PROJECT_WIDE).map(|row| (row, "constraint of the whole project"));
    let mut seen = HashSet::new();
    let all = rules.chain(wide).filter(|(row, _)| seen.insert(row.number));
    Ok(all
        .map(|(row, reason)| {
            let code = code.remove(&row.number).unwrap_or_default();
            (row, reason, code)
        })
        .collect())
}

/// What is left of a score for the code behind it, where that is not as it was.
fn put_code(parts: &mut Breakdown, code: &[AnchorView]) {
    if !code.is_empty() {
        put(parts, "code_freshness", anchors::worst(code).share());
    }
}

/// The signals of a found memory by their documented names.
fn breakdown(hit: &Hit, row: &MemoryRow) -> Breakdown {
    let evidence = &hit.found.hit.evidence;
    let near = hit.nearness.unwrap_or_default();
    let mut parts = Breakdown::new();
    for (name, value) in [
        ("semantic_similarity", f64::from(evidence.cosine.unwrap_or(0.0))),
        ("lexical_similarity", f64::from(evidence.coverage)),
        ("module_path_overlap", f64::from(near.path)),
        ("tree_proximity", f64::from(near.proximity)),
        ("symbol_overlap", f64::from(near.symbol)),
        ("task_intent_compatibility", f64::from(near.intent)),
        ("branch_affinity", f64::from(near.branch)),
        ("working_tree_source_match", f64::from(near.uncommitted)),
        ("freshness", f64::from(near.freshness)),
        ("importance", row.state.importance),
        ("confidence", row.state.confidence),
        ("base_score", f64::from(hit.found.hit.score)),
        ("final_score", hit.score()),
    ] {
        put(&mut parts, name, value);
    }
    put_code(&mut parts, &hit.code);
    parts
}

/// A memory's entry in a trace, as one that is returned.
pub(super) fn memory_entry(node: &Node, score: f64, parts: Breakdown, reason: String) -> TraceEntry {
    TraceEntry {
        result_type: "memory",
        result_id: node.id.clone(),
        title: Some(node.title.clone()),
        path: node.module_path.clone().or_else(|| node.source_path.clone()),
        action: SELECTED,
        score: Some(rounded(score, 3)),
        freshness: parts.get("freshness").copied(),
        score_breakdown: parts,
        status: (node.status != "active").then(|| node.status.clone()),
        reason,
        ..TraceEntry::default()
    }
}

impl Gathered {
    /// Passages that say too little beside the best one are not worth their tokens.
    fn drop_faint_passages(&mut self) {
        let best = self.passages.first().map_or(0.0, |passage| passage.score);
        let (kept, faint) =
            std::mem::take(&mut self.passages).into_iter().partition(|one| one.score >= PASSAGE_FLOOR * best);
        self.passages = kept;
        let faint: Vec<Passage> = faint;
        self.excluded.extend(faint.iter().map(|one| one.entry().excluded("Below the relevance floor")));
    }

    /// Notes what a search weighed and left out, and whether it was whole.
    fn note(&mut self, found: &Outcome) {
        self.is_whole &= found.unsearched == 0;
        for (hit, missed) in &found.near_misses {
            let reason = match *missed {
                "too little evidence" => "Below the relevance floor",
                _ => "Ranked below the limit",
            };
            let (result_type, path) = match &hit.item {
                Item::Document(part) => ("knowledge", Some(part.file.path.clone())),
                Item::Memory(row) => ("memory", row.module_path.clone()),
                Item::Episode(_) => continue,
            };
            self.excluded.push(TraceEntry {
                result_type,
                result_id: hit.item.id(),
                title: hit.item.title(),
                path,
                action: EXCLUDED,
                score: Some(rounded(hit.score(), 3)),
                reason: reason.to_owned(),
                ..TraceEntry::default()
            });
        }
    }
}
