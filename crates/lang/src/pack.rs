//! Cutting a text at its lines, so that no piece is too large and related lines stay together.

use std::ops::Range;

use crate::lines::{Lines, cost};

/// A cut that is made whatever the sizes.
pub(crate) const FORCED: u8 = 0;
/// The deepest level that a structure gives; what nests deeper counts as this.
pub(crate) const DEEPEST: u8 = 24;
/// After a blank line.
pub(crate) const BLANK: u8 = 28;
/// At any line.
pub(crate) const ANY: u8 = 29;
/// Only when nothing else helps: between a comment and what it is about.
pub(crate) const LAST: u8 = 30;

/// What is left over before an item joins it when it is as small as this, in tokens.
const SCRAP: u64 = 40;

/// What each line says about a cut before it.
#[derive(Debug, Clone)]
pub(crate) struct Marks {
    /// From [`FORCED`] to [`LAST`]: lower is a better place.
    pub(crate) level: Vec<u8>,
    /// An item begins with the line: it shares a chunk with what stands before it only while both are small.
    pub(crate) begins: Vec<bool>,
}

impl Marks {
    /// Every line alike, those after blank lines better than others.
    pub(crate) fn plain(lines: &Lines<'_>) -> Self {
        let mut level = Vec::with_capacity(lines.count());
        let mut after_blank = false;
        for line in lines.iter() {
            let is_blank = line.trim().is_empty();
            level.push(if after_blank && !is_blank { BLANK } else { ANY });
            after_blank = is_blank;
        }
        Self { begins: vec![false; level.len()], level }
    }

    /// Cuts before a line whatever the sizes.
    pub(crate) fn force(&mut self, line: usize) {
        if let Some(level) = self.level.get_mut(line) {
            *level = FORCED;
        }
    }
}

/// The pieces as bytes, in order and without gaps. None costs more than `limit`, unless a single character does.
pub(crate) fn pack(lines: &Lines<'_>, marks: &Marks, limit: u32, share: u32) -> Vec<Range<usize>> {
    let limit = u64::from(limit.max(1));
    let mut packer = Packer { lines, marks, limit, share: u64::from(share).min(limit), pieces: Vec::new() };
    let whole = (lines.count() > 0).then(|| Part { lines: 0..lines.count(), is_settled: false });
    let mut todo: Vec<Part> = whole.into_iter().collect();
    while let Some(part) = todo.pop() {
        if part.is_settled {
            packer.keep(&part.lines);
        } else {
            packer.take(&part.lines, &mut todo);
        }
    }
    packer.pieces
}

/// Lines that become a piece or are cut again.
struct Part {
    lines: Range<usize>,
    is_settled: bool,
}

struct Packer<'a, 't> {
    lines: &'a Lines<'t>,
    marks: &'a Marks,
    limit: u64,
    share: u64,
    pieces: Vec<Range<usize>>,
}

impl Packer<'_, '_> {
    /// Makes a part a piece, or cuts it at its best places. What becomes of these goes onto `todo`, the first last.
    fn take(&mut self, part: &Range<usize>, todo: &mut Vec<Part>) {
        let inner = part.start + 1..part.end;
        let best = self.marks.level[inner.clone()].iter().copied().min();
        let size = self.lines.cost(part);
        let is_one = size <= self.share || !self.marks.begins[inner].contains(&true);
        match best {
            Some(level) if level == FORCED || size > self.limit || !is_one => {
                let from = todo.len();
                self.cut(part, level, todo);
                todo[from..].reverse();
            }
            _ if size <= self.limit => self.keep(part),
            _ => self.cut_line(part.start),
        }
    }

    /// Cuts at every place of a level and puts neighbours together again while they are small.
    fn cut(&self, part: &Range<usize>, level: u8, parts: &mut Vec<Part>) {
        let mut from = part.start;
        let first = parts.len();
        let places = (part.start + 1..part.end).filter(|line| self.marks.level[*line] == level);
        for to in places.chain([part.end]) {
            match parts[first..].last_mut() {
                Some(group) if level != FORCED && self.joins(&group.lines, from..to, level) => {
                    group.lines.end = to;
                }
                _ => {
                    let is_settled = level != FORCED && self.lines.cost(&(from..to)) <= self.limit;
                    parts.push(Part { lines: from..to, is_settled });
                }
            }
            from = to;
        }
    }

    fn joins(&self, group: &Range<usize>, next: Range<usize>, level: u8) -> bool {
        let size = self.lines.cost(&(group.start..next.end));
        // The head of what encloses the next, or what is no item.
        let is_head = self.marks.level[group.start] < level || !self.marks.begins[group.start];
        let is_scrap = is_head && self.lines.cost(group) <= SCRAP;
        size <= if self.marks.begins[next.start] && !is_scrap { self.share } else { self.limit }
    }

    fn keep(&mut self, part: &Range<usize>) {
        self.pieces.push(self.lines.start(part.start)..self.lines.start(part.end));
    }

    /// Cuts a line that is too long, after a space where there is one in the last quarter.
    fn cut_line(&mut self, line: usize) {
        let mut from = self.lines.start(line);
        let end = self.lines.start(line + 1);
        let mut guess = usize::MAX;
        while from < end {
            let length = self.head(&self.lines.text()[from..end], guess);
            // A line is much alike all along.
            guess = length.saturating_add(length / 8 + 8);
            let to = from + length;
            self.pieces.push(from..to);
            from = to;
        }
    }

    /// The length of the longest beginning, of those tried, that is within the limit.
    fn head(&self, text: &str, guess: usize) -> usize {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let mut length = limit.saturating_mul(4).min(text.len()).min(guess);
        loop {
            length = text.floor_char_boundary(length);
            if length == 0 {
                return text.chars().next().map_or(text.len(), char::len_utf8);
            }
            if length == text.len() && u64::from(cost(text)) <= self.limit {
                return length;
            }
            let space = text[..length].rfind(char::is_whitespace).filter(|at| *at > length / 4 * 3);
            let cut = space.map_or(length, |at| text.ceil_char_boundary(at + 1));
            if u64::from(cost(&text[..cut])) <= self.limit {
                return cut;
            }
            length = length / 8 * 7;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(text: &str, marks: &Marks, limit: u32) -> Vec<String> {
        let lines = Lines::new(text);
        pack(&lines, marks, limit, limit / 4).into_iter().map(|bytes| text[bytes].to_owned()).collect()
    }

    #[test]
    fn paragraphs_stay_together_while_they_fit() {
        let text = "one two three\nfour five six\n\nseven eight nine\n\nten\n";
        let marks = Marks::plain(&Lines::new(text));
        assert_eq!(cut(text, &marks, 100), [text]);
        let parts = cut(text, &marks, 13);
        assert_eq!(parts, ["one two three\nfour five six\n\n", "seven eight nine\n\nten\n"]);
    }

    #[test]
    fn a_forced_cut_is_made_also_where_all_would_fit() {
        let text = "a\nb\nc\n";
        let mut marks = Marks::plain(&Lines::new(text));
        marks.force(1);
        marks.force(9);
        assert_eq!(cut(text, &marks, 100), ["a\n", "b\nc\n"]);
    }

    #[test]
    fn a_long_line_is_cut_between_words_and_characters() {
        let text = "word ".repeat(100);
        let parts = cut(&text, &Marks::plain(&Lines::new(&text)), 20);
        assert!(parts.len() > 4 && parts.iter().all(|p| p.ends_with("word ")), "{parts:?}");
        let han = "\u{8a18}".repeat(100);
        let parts = cut(&han, &Marks::plain(&Lines::new(&han)), 20);
        assert!(parts.iter().all(|p| cost(p) <= 20));
        assert_eq!(parts.concat(), han);
    }

    proptest! {
        #[test]
        fn pieces_cover_the_text_and_keep_the_limit(
            text in "([a-z]{1,12}[ \n]{1,2}|\u{8a18}|\r\n|[0-9]{1,30}){0,80}",
            levels in prop::collection::vec((0u8..=30, any::<bool>()), 0..200),
            limit in 1u32..60,
        ) {
            let lines = Lines::new(&text);
            let mut marks = Marks::plain(&lines);
            for (line, (level, begins)) in levels.into_iter().enumerate().take(lines.count()) {
                marks.level[line] = level;
                marks.begins[line] = begins;
            }
            let pieces = pack(&lines, &marks, limit, limit / 3);
            prop_assert_eq!(pieces.iter().map(|p| &text[p.clone()]).collect::<String>(), text.clone());
            for piece in pieces {
                let piece = &text[piece];
                prop_assert!(!piece.is_empty());
                prop_assert!(cost(piece) <= limit || piece.chars().count() == 1, "{:?}", piece);
            }
        }
    }
}
