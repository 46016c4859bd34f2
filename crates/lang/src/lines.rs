//! The lines of a text, and what they cost.

use std::ops::Range;

use strata_core::budget::estimate_tokens;

use crate::Span;

/// A text by its lines. A line ends with `\n`, which belongs to it.
pub(crate) struct Lines<'t> {
    text: &'t str,
    /// Where each line begins, and the end of the text.
    starts: Vec<usize>,
    /// The sum of the costs of the lines before.
    costs: Vec<u64>,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let mut starts = vec![0];
        let mut costs = vec![0];
        for line in text.split_inclusive('\n') {
            starts.push(starts[starts.len() - 1] + line.len());
            costs.push(costs[costs.len() - 1] + u64::from(cost(line)));
        }
        Self { text, starts, costs }
    }

    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    pub(crate) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Where a line begins, counted from 0; the end of the text for what lies behind the last.
    pub(crate) fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.text.len())
    }

    /// A line with its break, counted from 0; empty behind the last.
    pub(crate) fn line(&self, line: usize) -> &'t str {
        &self.text[self.start(line)..self.start(line + 1)]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'t str> {
        self.text.split_inclusive('\n')
    }

    /// The line of an offset, counted from 0.
    pub(crate) fn at(&self, offset: usize) -> usize {
        let lines = &self.starts[..self.count().max(1)];
        lines.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// At least the cost of the lines together: the estimate of a whole is never above the sum of its parts'.
    pub(crate) fn cost(&self, lines: &Range<usize>) -> u64 {
        self.costs[lines.end] - self.costs[lines.start]
    }

    /// Bytes with the lines that they touch.
    pub(crate) fn span(&self, bytes: Range<usize>) -> Span {
        let first = self.at(bytes.start);
        let last = if bytes.is_empty() { first } else { self.at(bytes.end - 1) };
        Span { bytes, first_line: first + 1, last_line: last + 1 }
    }

    /// Whole lines, counted from 0.
    pub(crate) fn span_of(&self, lines: Range<usize>) -> Span {
        let bytes = self.start(lines.start)..self.start(lines.end);
        Span { bytes, first_line: lines.start + 1, last_line: lines.end.max(lines.start + 1) }
    }
}

/// What a text counts against a limit: the estimate, and not less than a token for four characters, by which
/// limits are told elsewhere.
pub(crate) fn cost(text: &str) -> u32 {
    let quarters = u32::try_from(text.chars().count().div_ceil(4)).unwrap_or(u32::MAX);
    estimate_tokens(text).max(quarters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_lines_agree() {
        let lines = Lines::new("a\r\n\nbc");
        assert_eq!(lines.count(), 3);
        assert_eq!([0, 2, 3, 4, 5, 6].map(|at| lines.at(at)), [0, 0, 1, 2, 2, 2]);
        assert_eq!(lines.line(2), "bc");
        assert_eq!(lines.line(9), "");
        assert_eq!(lines.span(0..4), Span { bytes: 0..4, first_line: 1, last_line: 2 });
        assert_eq!(Lines::new("").count(), 0);
        assert_eq!(Lines::new("").at(0), 0);
    }
}
