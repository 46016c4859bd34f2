//! The hot page: what stands before an agent in every turn.
//!
//! Headlines of rules and identity, the index of knowledge, and the weightiest hot memories, inside a token budget. Its
//! revision names what it says; whoever has a revision may ask, of any process of the home, for what changed since.

mod layout;
pub(crate) mod recent;
pub mod show;

use strata_core::{
    knowledge::{l0::Entry, name::Name},
    memory::Tier,
};
use strata_store::ledger::{MemoryFilter, MemoryRow};

pub use self::layout::Page;
use self::layout::{Section, lay_out};
use super::operation::Standing;
use crate::{
    engine::Engine,
    error::Error,
    knowledge::l0,
    operation::Call,
    project::{anchors::pins::Pins, branches},
    render::{neutral, shortened},
    rules::Ruled,
};

/// Tokens of the page.
pub const BUDGET: u32 = 1_000;
/// Characters of one line's text.
const LINE: usize = 140;
/// Characters of what is said of pinned code.
const CODE: usize = 80;
/// Most memories considered.
const CONSIDERED: usize = 200;

/// The page as a resource shows it.
///
/// # Errors
/// Those of the store.
pub fn page(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let standing = branches::standing(engine, call);
    Ok(make(engine, &Call { scope: &standing, ..*call }, BUDGET)?.text)
}

/// The page within a budget of tokens. Rules and identity go first; of what they leave the index of knowledge and the
/// memories have half each, and what one does not need the other gets.
pub(crate) fn make(engine: &Engine, call: &Call<'_>, budget: u32) -> Result<Page, Error> {
    let (standing, mut rest) = engine.read(call, |r| {
        let hot = MemoryFilter {
            visible_from: Some(call.scope.clone()),
            tier: Some(Tier::Hot),
            knowledge: true,
            limit: CONSIDERED,
            ..MemoryFilter::default()
        };
        Ok((Standing::read(r, call.scope)?, r.memories(&hot)?))
    })?;
    let working = standing.working.iter().filter(|rule| rule.memory.state.tier == Tier::Hot);
    let ruling: Vec<&Ruled> = standing.rules.iter().chain(&standing.identity).chain(working).collect();
    let code = Pins::of(engine, call, ruling.iter().map(|rule| &rule.memory).chain(&rest))?;
    let weight = |row: &MemoryRow| weight(row, &code);
    rest.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(b.number.cmp(&a.number)));
    let page = lay_out(
        Section::in_order(ruling.into_iter().map(|rule| rule_line(rule, &code)).collect()),
        index_lines(engine, call, budget)?,
        Section::in_order(rest.iter().map(|row| line(row, &code)).collect()),
        budget,
    );
    // Reading makes nothing in a place that is no home.
    if engine.is_initialised().unwrap_or(false) {
        recent::keep(engine.home(), call.scope, &page, engine.clock().now());
    }
    Ok(page)
}

/// The lines of the index of knowledge, by path. When not all fit, those by hand and the most used go first. A
/// namespace that cannot be a folder has no knowledge.
fn index_lines(engine: &Engine, call: &Call<'_>, budget: u32) -> Result<Section, Error> {
    let Ok(namespace) = Name::parse(&call.scope.namespace) else { return Ok(Section::default()) };
    let index = l0::build(engine, call, &namespace)?;
    let format = engine.settings().config.knowledge.l0.line_format();
    let lines: Vec<String> = index.entries.iter().map(|entry| neutral(&entry.line(&format))).collect();
    let section = Section::in_order(lines);
    if section.cost() <= budget / 2 {
        return Ok(section);
    }
    let uses = index.uses(engine, call)?;
    let mut order: Vec<usize> = (0..index.entries.len()).collect();
    let used = |entry: &Entry| uses.get(&entry.path.to_string()).copied().unwrap_or(0);
    order.sort_by_key(|at| {
        let entry = &index.entries[*at];
        (!entry.by_hand, std::cmp::Reverse(used(entry)))
    });
    Ok(Section { order, ..section })
}

/// A rule's line: when it applies stands before what it says.
fn rule_line(rule: &Ruled, code: &Pins) -> String {
    match &rule.attributes.condition {
        Some(condition) => conditioned(&format!("(when: {condition}) "), &rule.memory, code),
        None => line(&rule.memory, code),
    }
}

fn line(memory: &MemoryRow, code: &Pins) -> String {
    conditioned("", memory, code)
}

fn conditioned(when: &str, memory: &MemoryRow, code: &Pins) -> String {
    let text = if memory.title.is_empty() { &memory.body } else { &memory.title };
    let shown = neutral(&shortened(&format!("{when}{text}"), LINE));
    format!("- {} {} {}{}: {shown}", memory.id, memory.state.layer, memory.kind, told(memory, code))
}

/// What a memory is ordered by; one whose code has changed falls behind.
fn weight(memory: &MemoryRow, code: &Pins) -> f64 {
    let pinned = if memory.state.pinned { 10.0 } else { 0.0 };
    pinned + (memory.state.importance + 0.5 * memory.state.confidence) * code.share(memory)
}

/// The pins in a few words; of several, the worst.
fn told(memory: &MemoryRow, code: &Pins) -> String {
    let worst = code.worst(memory);
    worst.map_or_else(String::new, |view| format!(" ({})", neutral(&shortened(&view.in_words(), CODE))))
}
