//! What a text costs where a client counts four characters to a token.

/// Units to a token: a character of most scripts is one unit, one of Han, kana or hangul is four.
pub const UNITS: u64 = 4;

/// The cost of a text in units. It is that of its parts together.
pub fn units(text: &str) -> u64 {
    if text.is_ascii() {
        return text.len() as u64;
    }
    text.chars().map(|c| if is_wide(c) { UNITS } else { 1 }).sum()
}

/// The same in whole tokens, rounded up.
pub fn tokens(text: &str) -> u64 {
    units(text).div_ceil(UNITS)
}

/// Whether a character is about a token by itself.
const fn is_wide(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}'
        | '\u{ff00}'..='\u{ff60}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_letters_are_a_token_and_one_character_of_chinese_is() {
        assert_eq!((tokens("abcd"), tokens("abcde"), tokens("")), (1, 2, 0));
        assert_eq!((tokens("\u{91cd}\u{8bd5}"), tokens("ab\u{91cd}")), (2, 2));
        assert_eq!(units("ab") + units("cd\u{c7ac}"), units("abcd\u{c7ac}"));
    }
}
