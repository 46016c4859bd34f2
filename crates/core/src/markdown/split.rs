//! Cuts long text into pieces at the best border at hand.

use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

/// Cuts `text` into pieces of at most `max_chars` characters (0 counts as 1), in order and covering it.
///
/// Within reach of the limit a piece ends, by preference, after a blank line, a line, a sentence
/// (`. ! ?` before a space, `。！？；` anywhere), or a space; a border of the better sort counts only
/// if it leaves at least a third of the limit. Where there is none at all the cut falls between two
/// user-perceived characters, as long as one of those fits.
pub fn split_long(text: &str, max_chars: usize) -> Vec<Range<usize>> {
    let max = max_chars.max(1);
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let rest = &text[start..];
        let end = match rest.char_indices().nth(max) {
            None => text.len(),
            Some((limit, _)) => start + best_cut(text, start, start + limit),
        };
        pieces.push(start..end);
        start = end;
    }
    pieces
}

/// Length of the piece that begins at `start` and may reach to `limit`, which lies inside the text.
fn best_cut(text: &str, start: usize, limit: usize) -> usize {
    let window = &text[start..limit];
    let least = window.floor_char_boundary(window.len() / 3);
    let borders: [fn(&str) -> Option<usize>; 4] = [after_blank_line, after_line, after_sentence, after_space];
    borders
        .iter()
        .filter_map(|border| border(window))
        .find(|cut| *cut > least)
        .unwrap_or_else(|| between_characters(text, start, limit))
}

fn after_blank_line(window: &str) -> Option<usize> {
    let unix = window.rfind("\n\n").map(|at| at + 2);
    let windows = window.rfind("\n\r\n").map(|at| at + 3);
    unix.max(windows)
}

fn after_line(window: &str) -> Option<usize> {
    window.rfind('\n').map(|at| at + 1)
}

fn after_sentence(window: &str) -> Option<usize> {
    let wide = window.rfind(['。', '！', '？', '；']).map(|at| at + '。'.len_utf8());
    let narrow = [". ", "! ", "? "].iter().filter_map(|end| window.rfind(end)).max().map(|at| at + 2);
    wide.max(narrow)
}

fn after_space(window: &str) -> Option<usize> {
    let (at, space) = window.char_indices().rev().find(|(_, c)| c.is_whitespace())?;
    Some(at + space.len_utf8())
}

/// The last border between user-perceived characters in reach, or `limit` when one alone is longer.
fn between_characters(text: &str, start: usize, limit: usize) -> usize {
    // Not the text before the piece: a character without an end would be walked through at every cut.
    let (rest, limit) = (&text[start..], limit - start);
    let mut cursor = GraphemeCursor::new(limit, rest.len(), true);
    if cursor.is_boundary(rest, 0) == Ok(true) {
        return limit;
    }
    match cursor.prev_boundary(rest, 0) {
        Ok(Some(border)) if border > 0 => border,
        _ => limit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, max: usize) -> Vec<&str> {
        split_long(text, max).into_iter().map(|piece| &text[piece]).collect()
    }

    #[test]
    fn the_better_border_wins() {
        assert_eq!(cut("one two.\n\nthree four. five", 16), ["one two.\n\n", "three four. five"]);
        assert_eq!(cut("one two\nthree four five", 12), ["one two\n", "three four ", "five"]);
        assert_eq!(cut("One two. Three four five", 14), ["One two. ", "Three four ", "five"]);
        assert_eq!(cut("今天开会。明天发布！后天休息", 8), ["今天开会。", "明天发布！", "后天休息"]);
    }

    #[test]
    fn characters_stay_whole() {
        assert_eq!(cut("长长长长长", 2), ["长长", "长长", "长"]);
        assert_eq!(cut("ae\u{301}b", 2), ["a", "e\u{301}", "b"]);
        assert_eq!(cut("👩\u{200d}👩\u{200d}👧", 2).concat(), "👩\u{200d}👩\u{200d}👧");
        assert_eq!(cut("", 5), Vec::<&str>::new());
        assert_eq!(cut("ab", 0), ["a", "b"]);
    }
}
