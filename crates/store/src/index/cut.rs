//! Cutting a long body into passages.

/// A body up to this many characters is one passage.
const WHOLE: usize = 1_600;

/// Parts of longer bodies end at the best break before this many characters.
const PART: usize = 1_200;

/// The pieces of `body`, which together are all of it but the space at the breaks. A body of nothing
/// but space is one empty piece, so that every source has a passage.
pub fn cut(body: &str) -> Vec<&str> {
    let mut rest = body.trim();
    let mut pieces = Vec::new();
    while let Some((limit, _)) = rest.char_indices().nth(WHOLE).and_then(|_| rest.char_indices().nth(PART)) {
        let end = break_before(rest, limit);
        pieces.push(rest[..end].trim_end());
        rest = rest[end..].trim_start();
    }
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(rest);
    }
    pieces
}

/// Where to end a piece of at most `limit` bytes: after a paragraph, else a line, a sentence or a word,
/// if one ends in its second half; else at `limit`, which is a character boundary.
fn break_before(text: &str, limit: usize) -> usize {
    let window = &text[..limit];
    let late = |at: &usize| *at > limit / 2;
    let after = |found: Option<usize>, length: usize| found.map(|at| at + length).filter(late);
    let sentence = || {
        let ends = |c: char| matches!(c, '.' | '!' | '?' | '\u{3002}' | '\u{FF01}' | '\u{FF1F}');
        window.char_indices().filter(|(_, c)| ends(*c)).map(|(at, c)| at + c.len_utf8()).next_back().filter(late)
    };
    after(window.rfind("\n\n"), 2)
        .or_else(|| after(window.rfind('\n'), 1))
        .or_else(sentence)
        .or_else(|| window.rfind(char::is_whitespace).filter(late))
        .unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_but_space_is_lost(body in "[a-c \\n.\u{4e00}-\u{4e20}\u{3002}]{0,6000}") {
            let dense = |text: &str| text.split_whitespace().collect::<String>();
            let pieces = cut(&body);
            prop_assert_eq!(pieces.iter().map(|piece| dense(piece)).collect::<String>(), dense(&body));
            prop_assert!(pieces.iter().all(|piece| piece.chars().count() <= WHOLE));
        }
    }

    #[test]
    fn breaks_prefer_paragraphs_then_sentences() {
        let body = format!("{}\n\n{}", "a b. ".repeat(200), "c d. ".repeat(300));
        let pieces = cut(&body);
        assert!(pieces[0].ends_with("a b.") && pieces[1].starts_with("c d."));
        let chinese = "\u{4eca}\u{5929}\u{5929}\u{6c14}\u{597d}\u{3002}".repeat(400);
        assert!(cut(&chinese).iter().all(|piece| piece.ends_with('\u{3002}')));
        assert_eq!(cut("  \n "), [""]);
    }
}
