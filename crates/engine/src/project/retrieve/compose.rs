//! Memories and passages fitted into one budget, which holds for the reply as it is sent.
//!
//! Three parts of the budget are for memories, two for passages, as far as the frame leaves them; memories come first. Each sort of
//! memory has a share of its own first, so that many modules do not push out the one constraint; what a share does not need goes to
//! constraints and then to the best of the rest, and what passages leave goes to memories. Constraints that a person trusts come
//! before everything. Passages never have more than theirs.
//! Nothing that is too large keeps what follows it from being taken.

use std::collections::HashSet;

use serde::Serialize;
use strata_core::{
    analysis::content_terms,
    project::budget::{UNITS, tokens, units},
};

use super::{
    agent_context::{Asked, Tracing},
    candidates::{Bucket, Gathered, Memory},
    meta::Meta,
    passages::{PREVIEW, Passage, Said},
    shape::{EvidenceRef, KnowledgeSection, Pack, Response, Unit},
    trace::{self, NO_ROOM, NO_ROOM_FOR_PASSAGE, SAID_BY_MEMORY, TraceEntry},
};
use crate::render::{rounded, shortened};

/// Passages that are shown at most, and statements, lines and summaries.
const PASSAGES: usize = 15;
const MOST_UNITS: usize = 10;
/// Characters of a passage below which it is not worth showing.
const LEAST_PREVIEW: usize = 100;
/// Characters of a memory's text; `inspect_memory` shows the whole.
const MEMORY_TEXT: usize = 1200;
/// Characters of a piece of evidence.
const EVIDENCE_TEXT: usize = 200;
/// Characters of the task that are repeated.
const TASK_TEXT: usize = 300;
/// Units below which the passages' part of what the frame leaves holds not one of them.
const LEAST_FOR_PASSAGES: u64 = 1200;
/// Units set aside for the figures, which are filled in at the end.
const FIGURES: u64 = 40;
/// Characters of a reply with a full trace: what clients keep.
const FULL_CHARACTERS: u64 = 31_000;

/// What a sort of memory may take of 6000 parts.
const fn share(bucket: Bucket) -> u64 {
    match bucket {
        Bucket::Constraints => 800,
        Bucket::Architecture => 900,
        Bucket::Modules | Bucket::Facts => 1800,
        Bucket::Decisions | Bucket::Incidents => 1700,
        Bucket::Procedures => 500,
    }
}

/// The parts of a memory budget that are shared out, and those that are for evidence.
const PARTS: u64 = 6200;
const EVIDENCE_PARTS: u64 = 300;

/// Sorts that share what is theirs.
const fn shared(bucket: Bucket) -> usize {
    match bucket {
        Bucket::Constraints => 0,
        Bucket::Architecture => 1,
        Bucket::Modules | Bucket::Facts => 2,
        Bucket::Decisions | Bucket::Incidents => 3,
        Bucket::Procedures => 4,
    }
}

/// Chooses what fits, best first.
pub(super) fn compose(asked: &Asked, gathered: Gathered, meta: Meta) -> Response {
    let mut composing = Composing::new(asked, meta);
    let all = composing.left;
    let two_fifths = u64::from(asked.budget) * UNITS * 2 / 5;
    // Where the frame takes most of a small budget, memories go before passages; in a large one each has its own.
    let (for_memories, for_passages) = match all * 2 / 5 {
        part if part >= LEAST_FOR_PASSAGES => (all - part, part),
        _ => (all.min(u64::from(asked.budget) * UNITS - two_fifths), two_fifths),
    };
    composing.left = for_memories;
    let mut memories: Vec<Option<Memory>> = gathered.memories.into_iter().map(Some).collect();
    composing.first(&mut memories);
    composing.by_share(&mut memories);
    composing.evidence();
    composing.any(&mut memories);
    let used = for_memories - composing.left;
    let for_passages = for_passages.min(all - used);
    composing.left = for_passages;
    composing.passages(&gathered.passages, &gathered.units, for_passages);
    composing.left = all - used - (for_passages - composing.left);
    composing.any(&mut memories);
    for memory in memories.into_iter().flatten() {
        composing.excluded.push(memory.entry.excluded(NO_ROOM));
    }
    composing.excluded.extend(gathered.excluded);
    composing.finish(asked)
}

/// A reply in the making.
struct Composing {
    response: Response,
    pack: Pack,
    /// Units that may still be used.
    left: u64,
    tracing: Tracing,
    needs_evidence: bool,
    wants_sizes: bool,
    selected: Vec<TraceEntry>,
    excluded: Vec<TraceEntry>,
    memory_units: u64,
    knowledge_units: u64,
    evidence_most: u64,
}

impl Composing {
    fn new(asked: &Asked, meta: Meta) -> Self {
        let pack = Pack { token_budget: asked.budget, task_intent: asked.intent.as_str(), ..Pack::default() };
        let response = Response {
            task: shortened(&asked.task, TASK_TEXT),
            pack: Some(Box::new(pack.clone())),
            meta,
            ..Response::default()
        };
        let frame = cost(&response) + FIGURES;
        let left = (u64::from(asked.budget) * UNITS).saturating_sub(frame);
        Self {
            response,
            pack,
            left,
            tracing: asked.trace,
            needs_evidence: asked.reading.needs_evidence,
            wants_sizes: asked.wants_sizes,
            selected: Vec::new(),
            excluded: Vec::new(),
            memory_units: 0,
            knowledge_units: 0,
            evidence_most: left * 3 / 5 * EVIDENCE_PARTS / PARTS,
        }
    }

    /// What an entry of the trace costs for something that is shown.
    fn told(&self, entry: &TraceEntry) -> u64 {
        match self.tracing {
            Tracing::Summary => cost(&entry.brief()) + 1,
            // A full trace may go beyond the budget.
            Tracing::None | Tracing::Full => 0,
        }
    }

    /// Takes what comes before everything else, within half of what there is for memories.
    fn first(&mut self, memories: &mut [Option<Memory>]) {
        let mut room = self.left / 2;
        for slot in memories.iter_mut() {
            let Some(memory) = slot.as_ref().filter(|memory| memory.comes_first) else { continue };
            if let Some(spent) = self.take(memory, room) {
                room -= spent;
                *slot = None;
            }
        }
    }

    /// Takes memories, each sort within its share.
    fn by_share(&mut self, memories: &mut [Option<Memory>]) {
        let most = self.left;
        let mut used = [0u64; 5];
        for slot in memories.iter_mut() {
            let Some(memory) = slot else { continue };
            let group = shared(memory.bucket);
            let room = (most * share(memory.bucket) / PARTS).saturating_sub(used[group]);
            if let Some(spent) = self.take(memory, room) {
                used[group] += spent;
                *slot = None;
            }
        }
    }

    /// Takes what still fits, whatever its sort: constraints are the last to be left out.
    fn any(&mut self, memories: &mut [Option<Memory>]) {
        for constraints in [true, false] {
            for slot in memories.iter_mut() {
                let Some(memory) = slot else { continue };
                if (memory.bucket == Bucket::Constraints) == constraints
                    && self.take(memory, self.left).is_some()
                {
                    *slot = None;
                }
            }
        }
    }

    /// Takes a memory if it costs no more than `room`; says what it cost.
    fn take(&mut self, memory: &Memory, room: u64) -> Option<u64> {
        let mut node = memory.node.clone();
        node.summary = beginning(&node.summary, MEMORY_TEXT);
        let evidence = std::mem::take(&mut node.evidence);
        let own = cost(&node) + 1;
        let spent = own + self.told(&memory.entry);
        if spent > room.min(self.left) {
            return None;
        }
        self.left -= spent;
        self.memory_units += own;
        self.selected.push(memory.entry.clone());
        if memory.number > 0 {
            self.response.used.push((memory.number, 1));
        }
        node.evidence = evidence;
        self.list(memory.bucket).push(node);
        Some(spent)
    }

    fn list(&mut self, bucket: Bucket) -> &mut Vec<crate::project::node::Node> {
        match bucket {
            Bucket::Constraints => &mut self.pack.constraints,
            Bucket::Architecture => &mut self.pack.architecture,
            Bucket::Modules => &mut self.pack.modules,
            Bucket::Decisions => &mut self.pack.decisions,
            Bucket::Incidents => &mut self.pack.incidents,
            Bucket::Procedures => &mut self.pack.procedures,
            Bucket::Facts => &mut self.pack.facts,
        }
    }

    /// What constraints, incidents and decisions rest on, where the task is one that must know.
    fn evidence(&mut self) {
        if !self.needs_evidence {
            return;
        }
        let mut room = self.evidence_most.min(self.left);
        let lists = [&self.pack.constraints, &self.pack.incidents, &self.pack.decisions];
        let mut refs = Vec::new();
        for node in lists.into_iter().flatten() {
            for evidence in &node.evidence {
                let one = EvidenceRef {
                    memory_id: node.id.clone(),
                    content: beginning(&evidence.content, EVIDENCE_TEXT),
                    source: evidence.source.clone(),
                    kind: evidence.kind.clone(),
                };
                // The first one brings the list's name with it.
                let spent = cost(&one) + 1 + if refs.is_empty() { 20 } else { 0 };
                if spent > room {
                    continue;
                }
                room -= spent;
                self.left -= spent;
                self.memory_units += spent;
                refs.push(one);
            }
        }
        self.pack.evidence_refs = refs;
    }

    /// Takes passages within three quarters of what is theirs, then the same at other sizes, then passages again.
    fn passages(&mut self, passages: &[Passage], all_units: &[Unit], most: u64) {
        let lists = self.pack.memories();
        let shown = lists.iter().flat_map(|(_, nodes)| nodes.iter());
        let said = Said::by(shown.map(|node| format!("{} {}", node.title, node.summary)));
        let mut waiting: Vec<&Passage> = Vec::new();
        for passage in passages {
            match passage.is_said_by(&said) {
                true => self.excluded.push(passage.entry().excluded(SAID_BY_MEMORY)),
                false => waiting.push(passage),
            }
        }
        let aside = if all_units.is_empty() || most < LEAST_FOR_PASSAGES { 0 } else { most / 4 };
        self.left = most - aside;
        waiting.retain(|passage| !self.take_passage(passage));
        self.left += aside;
        self.take_units(all_units);
        waiting.retain(|passage| !self.take_passage(passage));
        self.excluded
            .extend(waiting.into_iter().map(|passage| passage.entry().excluded(NO_ROOM_FOR_PASSAGE)));
    }

    /// Takes found passages at other sizes, as far as there is room.
    fn take_units(&mut self, units: &[Unit]) {
        let shown: Vec<(String, Vec<String>)> = self.pack.knowledge_chunks.iter().map(words_of).collect();
        for unit in units {
            if self.pack.multigranular_chunks.len() == MOST_UNITS {
                break;
            }
            // Who asks for sizes wants them; else nothing is said twice.
            if !self.wants_sizes && shown.iter().any(|passage| is_shown(unit, passage)) {
                continue;
            }
            let unit = if self.tracing == Tracing::Full { unit.clone() } else { trace::brief_unit(unit) };
            let own = cost(&unit) + 1;
            if own <= self.left {
                self.left -= own;
                self.knowledge_units += own;
                self.pack.multigranular_chunks.push(unit);
            }
        }
    }

    /// Takes a passage if there is room for enough of it.
    fn take_passage(&mut self, passage: &Passage) -> bool {
        if self.pack.knowledge_chunks.len() == PASSAGES {
            return false;
        }
        let entry = passage.entry();
        for shown in [PREVIEW, PREVIEW / 2, LEAST_PREVIEW] {
            let section = section(passage, shown);
            let own = cost(&section) + 1;
            let spent = own + self.told(&entry);
            if spent <= self.left {
                self.left -= spent;
                self.knowledge_units += own;
                self.pack.knowledge_chunks.push(section);
                self.selected.push(entry);
                return true;
            }
        }
        false
    }

    fn finish(mut self, asked: &Asked) -> Response {
        self.count();
        self.forget_evidence();
        let mut seen = HashSet::new();
        self.excluded.retain(|entry| seen.insert(entry.result_id.clone()));
        match self.tracing {
            Tracing::None => {}
            Tracing::Summary => self.brief_trace(),
            Tracing::Full => self.full_trace(),
        }
        let most = match self.tracing {
            Tracing::Full => FULL_CHARACTERS,
            _ => u64::from(asked.budget) * UNITS,
        };
        let mut response = Response { pack: None, ..self.response };
        let mut pack = self.pack;
        loop {
            response.pack = Some(Box::new(pack));
            let spent = cost(&response);
            pack = *response.pack.take().unwrap_or_default();
            pack.total_token_estimate = spent.div_ceil(UNITS);
            // As much goes as is too much, before all of it is counted again.
            let over = (spent + FIGURES / 4).saturating_sub(most);
            let mut freed = 0;
            while freed < over
                && let Some(more) = pack.shrink()
            {
                freed += more;
            }
            if freed == 0 {
                break;
            }
        }
        response.pack = Some(Box::new(pack));
        response
    }

    /// Evidence stands in a list of its own.
    fn forget_evidence(&mut self) {
        let pack = &mut self.pack;
        let lists = [
            &mut pack.constraints,
            &mut pack.architecture,
            &mut pack.modules,
            &mut pack.decisions,
            &mut pack.incidents,
            &mut pack.procedures,
            &mut pack.facts,
        ];
        lists.into_iter().flatten().for_each(|node| node.evidence.clear());
    }

    fn count(&mut self) {
        let memories = self.pack.memories().iter().map(|(_, nodes)| nodes.len()).sum();
        self.pack.memory_results_count = memories;
        self.pack.knowledge_results_count = self.pack.knowledge_chunks.len();
        self.pack.multigranular_results_count = self.pack.multigranular_chunks.len();
        self.pack.memory_tokens = self.memory_units.div_ceil(UNITS);
        self.pack.knowledge_tokens = self.knowledge_units.div_ceil(UNITS);
    }

    /// What is returned, how much is left out and why, and as many examples as there is room for.
    fn brief_trace(&mut self) {
        self.pack.trace_excluded = trace::counted(&self.excluded);
        self.left = self.left.saturating_sub(cost(&self.pack.trace_excluded));
        self.pack.retrieval_trace = self.selected.iter().map(TraceEntry::brief).collect();
        for entry in trace::examples(&self.excluded) {
            let spent = cost(&entry) + 1;
            if spent + FIGURES > self.left {
                break;
            }
            self.left -= spent;
            self.pack.retrieval_trace.push(entry);
        }
    }

    fn full_trace(&mut self) {
        let all = std::mem::take(&mut self.selected).into_iter().chain(std::mem::take(&mut self.excluded));
        self.pack.retrieval_trace = all.collect();
    }
}

impl Pack {
    /// Gives up the least of what is in it, and tells what that cost at least; `None` when nothing is left to give.
    fn shrink(&mut self) -> Option<u64> {
        if let Some(entry) = self.retrieval_trace.pop_if(|entry| entry.action == trace::EXCLUDED) {
            return Some(cost(&entry));
        }
        if let Some(unit) = self.multigranular_chunks.pop() {
            self.multigranular_results_count -= 1;
            return Some(cost(&unit));
        }
        if !self.trace_excluded.is_empty() {
            return Some(cost(&std::mem::take(&mut self.trace_excluded)));
        }
        let passage = self.knowledge_chunks.pop()?;
        self.knowledge_results_count -= 1;
        // What the trace tells of it goes along, and counts, or more would be given up than is too much.
        let told = self.retrieval_trace.extract_if(.., |entry| entry.result_id == passage.chunk_id);
        Some(told.map(|entry| cost(&entry) + 1).sum::<u64>() + cost(&passage) + 1)
    }
}

/// A passage's id, and the words of it that are shown.
fn words_of(section: &KnowledgeSection) -> (String, Vec<String>) {
    let words = content_terms(&format!("{} {}", section.heading_path.join(" "), section.content));
    (section.chunk_id.clone(), words)
}

/// Whether all that a line or summary says stands in a passage that is shown. A statement is picked out of it.
fn is_shown(unit: &Unit, (id, words): &(String, Vec<String>)) -> bool {
    unit.result_type != "proposition"
        && (unit.result_id == *id || unit.parent_id.as_ref() == Some(id))
        && content_terms(&unit.content).iter().all(|word| words.binary_search(word).is_ok())
}

fn section(passage: &Passage, shown: usize) -> KnowledgeSection {
    let content = beginning(&passage.text, shown);
    KnowledgeSection {
        chunk_id: passage.chunk_id.clone(),
        title: passage.title(),
        source_type: passage.source_type.as_str(),
        source_path: passage.source_path.clone(),
        heading_path: passage.heading_path.clone(),
        start_line: passage.start_line,
        end_line: passage.end_line,
        score: rounded(passage.score, 3),
        token_count: tokens(&content),
        content,
        is_stale: passage.is_stale,
    }
}

/// The beginning of a text, with a sign where it goes on.
fn beginning(text: &str, characters: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}\u{2026}", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Units of something as it is sent.
fn cost(what: &impl Serialize) -> u64 {
    serde_json::to_string(what).map_or(0, |text| units(&text))
}

#[cfg(test)]
mod tests {
    use super::{super::trace::SELECTED, *};

    #[test]
    fn a_passage_that_is_given_up_frees_what_the_trace_tells_of_it_too() {
        let passage = |number: usize| KnowledgeSection {
            chunk_id: format!("chunk_{number}"),
            content: "The gateway waits.".into(),
            ..KnowledgeSection::default()
        };
        let told = |number: usize| TraceEntry {
            result_id: format!("chunk_{number}"),
            action: SELECTED,
            reason: "found by every word of the question, and by the file that is open".into(),
            ..TraceEntry::default()
        };
        let mut pack = Pack {
            knowledge_chunks: (0..3).map(passage).collect(),
            retrieval_trace: (0..3).map(told).collect(),
            ..Pack::default()
        };
        pack.knowledge_results_count = 3;
        let before = cost(&pack);
        let freed = pack.shrink();
        assert_eq!(freed, Some(before - cost(&pack)));
        assert_eq!((pack.knowledge_chunks.len(), pack.retrieval_trace.len()), (2, 2));
    }
}
