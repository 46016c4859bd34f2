//! Words of a task, and phrases looked for among them.
//!
//! A phrase is words with spaces between them; one that ends in `*` stands for every word that begins so. Text without
//! spaces between its words is looked through for whole phrases instead; a name in Latin letters that stands in it without
//! a space around it is a word of its own.

use crate::analysis::is_unspaced;

/// The words of a text in order: letters and digits, lower case; what is written in one with humps or underscores is several.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Words {
    words: Vec<String>,
    text: String,
}

impl Words {
    /// Cuts a text into words.
    pub fn of(text: &str) -> Self {
        let mut words = Vec::new();
        let mut word = String::new();
        let mut before: Option<char> = None;
        for c in text.chars() {
            let is_hump = c.is_uppercase() && before.is_some_and(|b| b.is_lowercase() || b.is_ascii_digit());
            let ends = !c.is_alphanumeric() || is_hump || before.is_some_and(|b| is_border(b, c));
            if ends && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            if c.is_alphanumeric() {
                word.extend(c.to_lowercase());
            }
            before = Some(c);
        }
        words.extend((!word.is_empty()).then_some(word));
        Self { words, text: text.to_lowercase() }
    }

    /// The words.
    pub fn as_slice(&self) -> &[String] {
        &self.words
    }

    /// Whether any of the phrases occurs.
    pub fn has_any(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.has(phrase))
    }

    /// The first of the phrases that occurs.
    pub fn first_of<'p>(&self, phrases: &[&'p str]) -> Option<&'p str> {
        phrases.iter().copied().find(|phrase| self.has(phrase))
    }

    /// Whether a phrase occurs.
    pub fn has(&self, phrase: &str) -> bool {
        if !phrase.is_ascii() {
            return self.text.contains(phrase);
        }
        let parts: Vec<&str> = phrase.split(' ').collect();
        self.words.windows(parts.len()).any(|window| window.iter().zip(&parts).all(|(w, p)| is_match(w, p)))
    }

    /// Whether words of both lists occur with at most `gap` words between them, in any order.
    pub fn are_near(&self, first: &[&str], second: &[&str], gap: usize) -> bool {
        let places = |list: &[&str]| -> Vec<usize> {
            let is_listed = |word: &String| list.iter().any(|phrase| is_match(word, phrase));
            (0..self.words.len()).filter(|at| is_listed(&self.words[*at])).collect()
        };
        let seconds = places(second);
        places(first).into_iter().any(|a| seconds.iter().any(|b| a != *b && a.abs_diff(*b) <= gap + 1))
    }

    /// Whether one of the first `count` words is one of these.
    pub fn begins_with(&self, phrases: &[&str], count: usize) -> bool {
        self.words.iter().take(count).any(|word| phrases.iter().any(|phrase| is_match(word, phrase)))
    }
}

/// The pieces of a word between which its script changes: `修复RetryPolicy的错误` is three.
pub fn by_script(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let ends = |(a, b): &((usize, char), (usize, char))| is_border(a.1, b.1);
        let end = rest.char_indices().zip(rest.char_indices().skip(1)).find(ends).map(|(_, (at, _))| at);
        let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Whether one of two characters in a row belongs to a word with spaces around it, and the other to a text without.
fn is_border(a: char, b: char) -> bool {
    let is_of_name = |c: char| (c.is_alphanumeric() && !is_unspaced(c)) || c == '_';
    (is_unspaced(a) && is_of_name(b)) || (is_of_name(a) && is_unspaced(b))
}

fn is_match(word: &str, phrase: &str) -> bool {
    match phrase.strip_suffix('*') {
        Some(beginning) => word.starts_with(beginning),
        None => word == phrase,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_at_signs_humps_and_underscores() {
        let words = Words::of("Fix RetryPolicy.max_attempts, \"v2\" (see src/retry.py)!");
        assert_eq!(
            words.as_slice(),
            ["fix", "retry", "policy", "max", "attempts", "v2", "see", "src", "retry", "py"]
        );
    }

    #[test]
    fn a_name_in_text_without_spaces_is_a_word() {
        let words = Words::of("修复HTTP客户端的bug，HttpClient를 고쳐");
        assert_eq!(words.as_slice(), ["修复", "http", "客户端的", "bug", "http", "client", "를", "고쳐"]);
        assert!(words.has("bug") && words.has("http client"));
        let pieces: Vec<&str> = by_script("修复src/设计/http_2.py的错误").collect();
        assert_eq!(pieces, ["修复", "src/设计/http_2.py", "的错误"]);
        assert_eq!(by_script("größe_2").collect::<Vec<_>>(), ["größe_2"]);
        assert_eq!(by_script("").count(), 0);
    }

    #[test]
    fn phrases_are_found_by_whole_words_and_by_beginnings() {
        let words = Words::of("the state-machine's tokens are authenticated");
        assert!(words.has("state machine") && words.has("token*") && words.has("authenticat*"));
        assert!(!words.has("token") && !words.has("machine state"));
        assert!(Words::of("请修复登录错误").has("修复"));
    }

    #[test]
    fn nearness_counts_the_words_between() {
        let words = Words::of("the tests for login are failing again");
        assert!(words.are_near(&["test*"], &["fail*"], 3));
        assert!(!words.are_near(&["test*"], &["fail*"], 2));
        assert!(!Words::of("test").are_near(&["test*"], &["test*"], 5));
    }
}
