//! What of a thing fits into a budget: whole parts only, the least telling leave first, and what left is named.

use strata_core::budget::estimate_tokens;

use super::{EpisodeView, MemoryView};
use crate::render::{Document, Mark};

/// Something that can leave out parts of itself.
pub(super) trait Parts {
    /// Tokens of the reply, estimated.
    fn tokens(&self) -> u32;
    /// Leaves out the next part: its name and how many entries it had. `None` when only the text is left.
    fn leave_out(&mut self) -> Option<(&'static str, usize)>;
    /// Where it is told what was left out.
    fn told(&mut self) -> &mut Vec<String>;
}

/// Leaves out parts until the rest fits. The text stays, even where it is more than the budget.
pub(super) fn fit(view: &mut impl Parts, budget: Option<u32>) {
    let Some(budget) = budget else { return };
    while view.tokens() > budget {
        let Some((name, entries)) = view.leave_out() else {
            view.told().push("the text stays, though it is larger".to_owned());
            return;
        };
        if entries > 0 {
            view.told().push(format!("{name} ({entries})"));
        }
    }
}

/// Says below a thing what was left out of it.
pub(super) fn tell(document: Document, left_out: &[String]) -> Document {
    if left_out.is_empty() {
        return document;
    }
    document.note(Mark::Info, format!("left out for `budget_tokens`: {}", left_out.join("; ")))
}

impl Parts for MemoryView {
    fn tokens(&self) -> u32 {
        estimate_tokens(&self.render().to_markdown())
    }

    fn leave_out(&mut self) -> Option<(&'static str, usize)> {
        // A history of one is the memory itself and is not shown.
        if self.history.len() > 1 {
            return Some(("history", std::mem::take(&mut self.history).len()));
        }
        if !self.audit.is_empty() {
            return Some(("audit", std::mem::take(&mut self.audit).len()));
        }
        if !self.consolidated.is_empty() {
            self.consolidated.clear();
            return Some(("what is below it", 1));
        }
        if !self.distils.is_empty() {
            return Some(("distils", std::mem::take(&mut self.distils).len()));
        }
        if !self.metadata.is_empty() {
            return Some(("metadata", std::mem::take(&mut self.metadata).len()));
        }
        if !self.evidence.is_empty() {
            return Some(("evidence", std::mem::take(&mut self.evidence).len()));
        }
        None
    }

    fn told(&mut self) -> &mut Vec<String> {
        &mut self.left_out
    }
}

impl Parts for EpisodeView {
    fn tokens(&self) -> u32 {
        estimate_tokens(&self.render().to_markdown())
    }

    fn leave_out(&mut self) -> Option<(&'static str, usize)> {
        let before = self.around.len();
        self.around.retain(|turn| turn.id == self.id);
        let left = before - self.around.len();
        if left > 0 {
            return Some(("turns around it", left));
        }
        if !self.digests.is_empty() {
            return Some(("digests", std::mem::take(&mut self.digests).len()));
        }
        None
    }

    fn told(&mut self) -> &mut Vec<String> {
        &mut self.left_out
    }
}
