//! The hot page: what stands before an agent in every turn.

use strata_core::{budget::estimate_tokens, memory::Tier};
use strata_store::ledger::{MemoryFilter, MemoryRow};

use super::operation::Standing;
use crate::{
    engine::Engine,
    error::Error,
    operation::Call,
    render::{neutral, shortened},
    rules::Ruled,
};

/// Tokens of the page.
pub const BUDGET: u32 = 1_000;
/// Characters of one line's text.
const LINE: usize = 140;
/// Most memories considered.
const CONSIDERED: usize = 200;

/// Headlines of rules and identity, then of pinned and of the weightiest hot memories, with the count
/// of tokens they cost.
pub fn page(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
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
    rest.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(b.number.cmp(&a.number)));
    let working = standing.working.iter().filter(|rule| rule.memory.state.tier == Tier::Hot);
    let ruling = standing.rules.iter().chain(&standing.identity).chain(working).map(rule_line);
    Ok(lay_out(ruling.chain(rest.iter().map(line)).collect()))
}

/// A rule's line: when it applies stands before what it says.
fn rule_line(rule: &Ruled) -> String {
    match &rule.attributes.condition {
        Some(condition) => conditioned(&format!("(when: {condition}) "), &rule.memory),
        None => line(&rule.memory),
    }
}

fn weight(memory: &MemoryRow) -> f64 {
    let pinned = if memory.state.pinned { 10.0 } else { 0.0 };
    pinned + memory.state.importance + 0.5 * memory.state.confidence
}

fn line(memory: &MemoryRow) -> String {
    conditioned("", memory)
}

fn conditioned(when: &str, memory: &MemoryRow) -> String {
    let text = if memory.title.is_empty() { &memory.body } else { &memory.title };
    let shown = neutral(&shortened(&format!("{when}{text}"), LINE));
    format!("- {} {} {}: {shown}", memory.id, memory.state.layer, memory.kind)
}

fn lay_out(lines: Vec<String>) -> String {
    let total = lines.len();
    let mut taken: Vec<String> = Vec::new();
    let mut used = estimate_tokens(&frame(&[], 0, BUDGET));
    for line in lines {
        let cost = estimate_tokens(&line) + 1;
        if used + cost > BUDGET {
            break;
        }
        used += cost;
        taken.push(line);
    }
    frame(&taken, total - taken.len(), used)
}

fn frame(lines: &[String], left_out: usize, tokens: u32) -> String {
    let mut page = String::from(
        "<strata-memory note=\"hot page: headlines of stored data; `recall` and `inspect` show more\">\n",
    );
    for line in lines {
        page.push_str(line);
        page.push('\n');
    }
    page.push_str(&format!(
        "</strata-memory>\n{} shown, {left_out} more; about {tokens} tokens",
        lines.len()
    ));
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_keeps_its_budget_and_counts_honestly() {
        let lines: Vec<String> = (0..500)
            .map(|n| format!("- mem_{n:010} P5 fact: the number {n} matters for the launch"))
            .collect();
        let page = lay_out(lines);
        let real = estimate_tokens(&page);
        assert!(real <= BUDGET + BUDGET / 20, "{real}");
        assert!(page.contains("more; about"));
    }
}
