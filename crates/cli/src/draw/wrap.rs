//! Lines that fit a number of columns. Wide characters count two and may break anywhere between.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a text takes on a terminal.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// The lines of `text`, broken at spaces and between wide characters to fit `room` columns.
pub(super) fn lines(text: &str, room: Option<usize>) -> Vec<String> {
    let Some(room) = room else { return text.lines().map(str::to_owned).collect() };
    text.lines().flat_map(|line| wrap(line, room)).collect()
}

fn wrap(line: &str, room: usize) -> Vec<String> {
    if width(line) <= room {
        return vec![line.to_owned()];
    }
    // What follows the break keeps the line's own indentation, so that lists stay lists.
    let indent: String = line.chars().take_while(|c| *c == ' ').take(room / 2).collect();
    let mut out = Vec::new();
    let mut current = indent.clone();
    for piece in pieces(line.trim_start_matches(' ')) {
        if width(&current) + width(piece.trim_end()) > room && !current.trim().is_empty() {
            out.push(std::mem::replace(&mut current, indent.clone()).trim_end().to_owned());
        }
        let piece = if current.trim().is_empty() { piece.trim_start() } else { piece };
        for c in piece.chars() {
            if width(&current) + c.width().unwrap_or(0) > room && c != ' ' {
                out.push(std::mem::replace(&mut current, indent.clone()).trim_end().to_owned());
            }
            current.push(c);
        }
    }
    out.push(current.trim_end().to_owned());
    out
}

/// Words with the spaces after them, and wide characters one by one with the punctuation after them.
fn pieces(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut before: Option<char> = None;
    for (at, c) in line.char_indices() {
        let after_space = before == Some(' ') && c != ' ';
        let wide = |c: char| c.width() == Some(2);
        let between_wide =
            before.is_some_and(wide) && c != ' ' && !closes(c) || wide(c) && before.is_some() && !closes(c);
        if at > start && (after_space || between_wide) {
            out.push(&line[start..at]);
            start = at;
        }
        before = Some(c);
    }
    out.push(&line[start..]);
    out
}

/// Punctuation that must not start a line.
fn closes(c: char) -> bool {
    "，。、；：！？）」』】》〉,.;:!?)]}".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, room: usize) -> Vec<String> {
        let lines = lines(text, Some(room));
        for line in &lines {
            assert!(width(line) <= room, "{line:?} in {room}");
        }
        lines
    }

    #[test]
    fn words_stay_whole_and_long_ones_break() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghijkl", 5), ["abcde", "fghij", "kl"]);
        assert_eq!(wrapped("  - item that is long", 12), ["  - item", "  that is", "  long"]);
    }

    #[test]
    fn wide_text_breaks_between_characters_but_not_before_punctuation() {
        assert_eq!(wrapped("今天讨论了记忆，部署", 10), ["今天讨论了", "记忆，部署"]);
        let lines = wrapped("今天讨论了，记忆", 10);
        assert!(!lines[1].starts_with('，'), "{lines:?}");
    }

    #[test]
    fn short_lines_and_empty_ones_are_kept() {
        assert_eq!(wrapped("a\n\nb", 10), ["a", "", "b"]);
        assert_eq!(lines("a b c", None), ["a b c"]);
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_lost_but_spaces(text in "[a-z 今天，。é-]{0,80}", room in 4_usize..30) {
            let squeeze = |s: &str| s.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            let lines = wrapped(&text, room);
            proptest::prop_assert_eq!(squeeze(&lines.concat()), squeeze(&text));
        }
    }
}
