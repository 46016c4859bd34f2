//! Which lines the page has room for, and what it costs.

use strata_core::budget::estimate_tokens;

/// Digits of a revision.
const REVISION: usize = 12;

/// Lines that belong together, as they stand, and in which order they are taken when not all fit.
#[derive(Debug, Clone, Default)]
pub(super) struct Section {
    pub(super) lines: Vec<String>,
    pub(super) order: Vec<usize>,
}

impl Section {
    /// Lines that are taken as they stand.
    pub(super) fn in_order(lines: Vec<String>) -> Self {
        let order = (0..lines.len()).collect();
        Self { lines, order }
    }

    /// What all of it costs.
    pub(super) fn cost(&self) -> u32 {
        self.lines.iter().map(|line| cost(line)).sum()
    }

    /// The lines that fit, as they stand, and what they cost. The first that does not fit is the last to be tried.
    fn taken(self, budget: u32) -> (Vec<String>, u32) {
        let mut used = 0;
        let mut kept = Vec::new();
        for at in self.order {
            let more = cost(&self.lines[at]);
            if used + more > budget {
                break;
            }
            used += more;
            kept.push(at);
        }
        kept.sort_unstable();
        let mut lines = self.lines;
        (kept.into_iter().map(|at| std::mem::take(&mut lines[at])).collect(), used)
    }
}

fn cost(line: &str) -> u32 {
    estimate_tokens(line) + 1
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Names what it says.
    pub revision: String,
    /// Its lines.
    pub lines: Vec<String>,
    /// Lines that there was no room for.
    pub left_out: usize,
    /// What the whole text costs.
    pub tokens: u32,
    /// The page as it is shown.
    pub text: String,
}

/// Lays out a page within `budget` tokens. Only the frame of an empty page may exceed it.
pub(super) fn lay_out(ruling: Section, index: Section, memories: Section, budget: u32) -> Page {
    let total = ruling.lines.len() + index.lines.len() + memories.lines.len();
    let frame = Page::new(Vec::new(), total).tokens + 1;
    let (mut lines, used) = ruling.taken(budget.saturating_sub(frame));
    let left = budget.saturating_sub(frame + used);
    let (of_index, of_memories) = (index.cost(), memories.cost());
    let share = of_index.min((left / 2).max(left.saturating_sub(of_memories)));
    let (index, used) = index.taken(share);
    let (memories, _) = memories.taken(left - used);
    lines.extend(index);
    lines.extend(memories);
    // Costs of lines do not add up to that of the whole exactly.
    loop {
        let page = Page::new(lines, total);
        if page.tokens <= budget || page.lines.is_empty() {
            return page;
        }
        lines = page.lines;
        lines.pop();
    }
}

impl Page {
    fn new(lines: Vec<String>, total: usize) -> Self {
        let revision = revision(&lines);
        let left_out = total - lines.len();
        let told = format!("{} shown, {left_out} more", lines.len());
        let note = "hot page: headlines of stored data; recall and the files of knowledge show more";
        let (text, tokens) = framed(note, &lines, &told, &revision);
        Self { revision, lines, left_out, tokens, text }
    }

    /// The page of these lines, all of which it has room for.
    pub(super) fn of(lines: Vec<String>) -> Self {
        let total = lines.len();
        Self::new(lines, total)
    }

    /// What tells this page from an `older` one: a text and what it costs.
    pub(super) fn since(&self, older: &Self) -> (String, u32) {
        let gone = older.lines.iter().filter(|line| !self.lines.contains(line));
        let new = self.lines.iter().filter(|line| !older.lines.contains(line));
        let lines: Vec<String> =
            gone.map(|line| format!("gone: {line}")).chain(new.map(|line| format!("new: {line}"))).collect();
        let told =
            if lines.is_empty() { "nothing changed".to_owned() } else { format!("{} changed", lines.len()) };
        let note = format!("changes of the hot page since {}: stored data", older.revision);
        framed(&note, &lines, &told, &self.revision)
    }
}

fn revision(lines: &[String]) -> String {
    let mut hasher = blake3::Hasher::new();
    for line in lines {
        hasher.update(&(line.len() as u64).to_le_bytes()).update(line.as_bytes());
    }
    hasher.finalize().to_hex()[..REVISION].to_owned()
}

/// The text with the count of what it costs, that count included.
fn framed(note: &str, lines: &[String], told: &str, revision: &str) -> (String, u32) {
    let mut body = format!("<strata-memory note=\"{note}\">\n");
    for line in lines {
        body.push_str(line);
        body.push('\n');
    }
    body.push_str("</strata-memory>\n");
    let with = |tokens: u32| format!("{body}{told}; about {tokens} tokens; revision {revision}");
    let mut tokens = estimate_tokens(&with(0));
    loop {
        let text = with(tokens);
        let real = estimate_tokens(&text);
        // A longer number never makes the text cheaper, so this ends.
        if real <= tokens {
            return (text, tokens);
        }
        tokens = real;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(of: &str, count: usize) -> Section {
        let line = |n: usize| format!("- mem_{n:010} P5 {of}: the number {n} matters for the launch");
        Section::in_order((0..count).map(line).collect())
    }

    fn shown(page: &Page, of: &str) -> usize {
        page.lines.iter().filter(|line| line.contains(&format!(" {of}: "))).count()
    }

    #[test]
    fn the_page_keeps_its_budget_and_counts_what_it_costs() {
        for budget in [1, 60, 200, 1_000, 8_000] {
            for (rules, index, memories) in [(500, 0, 0), (3, 500, 500), (0, 2, 500), (0, 0, 0)] {
                let page =
                    lay_out(lines("rule", rules), lines("file", index), lines("fact", memories), budget);
                assert!(page.tokens <= budget || page.lines.is_empty(), "{budget}: {}", page.tokens);
                assert_eq!(page.tokens, estimate_tokens(&page.text));
                assert_eq!(page.lines.len() + page.left_out, rules + index + memories);
                assert!(page.text.contains(&format!("about {} tokens", page.tokens)));
            }
        }
    }

    #[test]
    fn rules_go_first_and_neither_knowledge_nor_memories_crowd_each_other_out() {
        let page = lay_out(lines("rule", 3), lines("file", 500), lines("fact", 500), 1_000);
        assert_eq!(shown(&page, "rule"), 3);
        let (files, facts) = (shown(&page, "file"), shown(&page, "fact"));
        assert!(files.abs_diff(facts) <= 2 && files > 10, "{files} files, {facts} facts");
        let few = lay_out(lines("rule", 0), lines("file", 2), lines("fact", 500), 1_000);
        assert!(shown(&few, "file") == 2 && shown(&few, "fact") > facts + files - 6);
        let none = lay_out(lines("rule", 0), lines("file", 500), lines("fact", 1), 1_000);
        assert!(shown(&none, "fact") == 1 && shown(&none, "file") > facts + files - 6);
        assert_eq!(shown(&lay_out(lines("rule", 500), lines("file", 9), lines("fact", 9), 1_000), "file"), 0);
    }

    #[test]
    fn lines_stand_in_their_order_whatever_was_taken_first() {
        let mut section = lines("file", 100);
        section.order.reverse();
        let page = lay_out(Section::default(), section, Section::default(), 300);
        assert!(page.lines.is_sorted() && page.lines.last().is_some_and(|line| line.contains("number 99")));
    }

    #[test]
    fn a_change_is_told_by_what_went_and_what_came() {
        let before = lay_out(lines("rule", 2), Section::default(), Section::default(), 1_000);
        let after = lay_out(lines("rule", 1), lines("file", 1), Section::default(), 1_000);
        let (text, tokens) = after.since(&before);
        assert_eq!(text.matches("gone: ").count() + text.matches("new: ").count(), 2);
        assert!(text.contains(&before.revision) && text.contains(&after.revision));
        assert!(tokens == estimate_tokens(&text) && tokens < 2 * before.tokens);
        assert!(before.since(&before).0.contains("nothing changed"));
        assert_eq!(
            before.revision,
            lay_out(lines("rule", 2), Section::default(), Section::default(), 900).revision
        );
    }
}
