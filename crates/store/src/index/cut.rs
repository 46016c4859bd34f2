//! Cutting a long body into passages.

use strata_core::markdown::split_long;

/// A body up to this many characters is one passage.
const WHOLE: usize = 1_600;

/// Parts of longer bodies have at most this many characters.
const PART: usize = 1_200;

/// The pieces of `body`, which together are all of it but the space at the borders. A body of nothing
/// but space is one empty piece, so that every source has a passage.
pub fn cut(body: &str) -> Vec<&str> {
    let body = body.trim();
    if body.chars().nth(WHOLE).is_none() {
        return vec![body];
    }
    let pieces = split_long(body, PART).into_iter().map(|span| body[span].trim());
    pieces.filter(|piece| !piece.is_empty()).collect()
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
            prop_assert!(!pieces.is_empty() && pieces.iter().all(|piece| piece.chars().count() <= WHOLE));
        }
    }

    #[test]
    fn short_bodies_stay_whole_and_empty_ones_count() {
        assert_eq!(cut("  \n "), [""]);
        assert_eq!(cut(&"a b. ".repeat(300)).len(), 1);
        assert_eq!(cut(&"\u{4eca}\u{5929}\u{597d}\u{3002}".repeat(600)).len(), 2);
    }
}
