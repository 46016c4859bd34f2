//! The short line by which an index points at knowledge.

use unicode_segmentation::UnicodeSegmentation;

/// The longest summary, in user-perceived characters.
pub const MAX_SUMMARY: usize = 80;

/// So much of a line is read for it.
const READ_CHARS: usize = 2_000;

/// The summary of a section for its pointer: the first line that says something, without emphasis and code marks and those of a
/// bullet, a checkbox or a quotation, cut to [`MAX_SUMMARY`] with `...`. Empty when there is no such line.
pub fn summary(body: &str) -> String {
    let line = without_bullet(first_line(body).unwrap_or(""));
    let bare: String = line.chars().take(READ_CHARS).filter(|c| !['`', '*'].contains(c)).collect();
    cut(&without_underscores(&bare).split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The first line that is neither blank nor a heading, a code fence, a comment or a rule.
fn first_line(body: &str) -> Option<&str> {
    let mut is_comment = false;
    body.lines().map(str::trim).find(|line| {
        let begins = is_comment || line.starts_with("<!--");
        is_comment = begins && !line.contains("-->");
        let is_mark = ["#", "```", "~~~"].iter().any(|mark| line.starts_with(mark));
        let says = line.chars().any(char::is_alphanumeric);
        says && !begins && !is_mark
    })
}

/// A line without what makes it an item or a quotation.
fn without_bullet(line: &str) -> &str {
    let mark = ["> ", "- [ ] ", "- [x] ", "- [X] ", "- ", "* ", "+ "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark));
    mark.map_or(line, without_bullet)
}

/// Takes off the underscores of `_emphasis_` and `__strong__`; those inside a word stay.
fn without_underscores(line: &str) -> String {
    let chars: Vec<char> = line.chars().collect();
    let word = |at: Option<&char>| at.is_some_and(|c| c.is_alphanumeric());
    let mut kept = String::with_capacity(line.len());
    let mut open: Option<(usize, usize)> = None;
    let mut at = 0;
    while at < chars.len() {
        let run = chars[at..].iter().take_while(|c| **c == '_').count();
        if run == 0 {
            kept.push(chars[at]);
            at += 1;
            continue;
        }
        let before = at.checked_sub(1).and_then(|i| chars.get(i));
        let (is_start, is_end) = (!word(before), !word(chars.get(at + run)));
        match open {
            Some((from, length)) if is_end && !is_start && length == run => {
                kept.replace_range(from..from + length, "");
                open = None;
            }
            _ => {
                open = (is_start && !is_end).then_some((kept.len(), run)).or(open);
                kept.push_str(&"_".repeat(run));
            }
        }
        at += run;
    }
    kept
}

fn cut(line: &str) -> String {
    const DOTS: &str = "...";
    match line.grapheme_indices(true).nth(MAX_SUMMARY) {
        None => line.to_owned(),
        Some(_) => {
            let end =
                line.grapheme_indices(true).nth(MAX_SUMMARY - DOTS.len()).map_or(line.len(), |(at, _)| at);
            format!("{}{DOTS}", &line[..end])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_telling_line_without_markup() {
        let body = "\n### Setup\n<!-- injected\nby -->\n---\n```sh\n\n**Pool** of `max_pool_size` is _really_ 20\nmore\n";
        assert_eq!(summary(body), "Pool of max_pool_size is really 20");
        assert_eq!(
            summary("__Strong__ and snake_case, _private and trailing_"),
            "Strong and snake_case, private and trailing"
        );
        assert_eq!(summary("> - [ ] call Bob\n"), "call Bob");
        assert_eq!(
            (summary("-1 is less"), summary("1. first")),
            ("-1 is less".to_owned(), "1. first".to_owned())
        );
        assert_eq!(summary("_a and b"), "_a and b");
        assert_eq!(summary("## only\n"), "");
        assert_eq!(summary(""), "");
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let cut = summary(&"字".repeat(100));
        assert_eq!(cut.chars().count(), 80);
        assert!(cut.ends_with("字..."));
        assert_eq!(summary(&"x".repeat(80)), "x".repeat(80));
        let family = "👨\u{200d}👩\u{200d}👧";
        assert_eq!(summary(&format!("a{}", family.repeat(90))), format!("a{}...", family.repeat(76)));
    }
}
