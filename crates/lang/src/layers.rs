//! What a file says at other sizes than that of a chunk: a line about each chunk, single statements, and a summary of the file.
//!
//! All of it is taken from the text as it stands; nothing is made up.

mod propositions;
mod summary;

pub use propositions::{Proposition, PropositionKind, propositions};
pub use summary::{Summary, summary};

use crate::{Found, Reading};

/// A chunk in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paragraph {
    /// The position of its chunk.
    pub chunk: usize,
    /// The nearest heading, or the name of the first symbol in it.
    pub heading: Option<String>,
    /// The names of the symbols that begin in it.
    pub symbols: Vec<String>,
    /// The first sentence of its documentation, else its first line that says something; at most 200 characters.
    pub summary: String,
}

/// One for each chunk that says something.
pub fn paragraphs(text: &str, reading: &Reading) -> Vec<Paragraph> {
    let of = |(position, chunk): (usize, &crate::Chunk)| {
        let piece = text.get(chunk.span.bytes.clone())?;
        let symbols = match &reading.found {
            Found::Symbols(all) => all.get(chunk.begins.clone()).unwrap_or_default(),
            _ => &[],
        };
        let doc = symbols.first().and_then(|symbol| symbol.doc.as_deref()).and_then(first_sentence);
        let symbols: Vec<String> = symbols.iter().map(|symbol| symbol.name.clone()).collect();
        let heading = symbols.first().or(chunk.path.last()).cloned();
        // A heading that is said once more says nothing.
        let says_more = |said: &String| heading.as_ref() != Some(said);
        let summary = doc.or_else(|| piece.lines().filter_map(meaning).find(says_more))?;
        Some(Paragraph { chunk: position, heading, symbols, summary: cut(&summary, 200) })
    };
    reading.chunks.iter().enumerate().filter_map(of).collect()
}

/// What a line says without its marks; `None` when it is blank, a fence, or a rule.
fn meaning(line: &str) -> Option<String> {
    let bare = line.trim().trim_start_matches(|c: char| "#/*-=>\"'!`<".contains(c)).trim();
    let words = bare.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count();
    let is_long = words > 1 || bare.chars().filter(|c| c.is_alphabetic()).count() > 10;
    is_long.then(|| bare.to_owned())
}

/// The first sentence, over line breaks but not over a blank line.
fn first_sentence(text: &str) -> Option<String> {
    let lines = text.lines().map(str::trim).skip_while(|line| line.is_empty());
    let joined = lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let ends = |(at, c): (usize, char)| match c {
        '\u{3002}' | '\u{ff01}' | '\u{ff1f}' => Some(at + c.len_utf8()),
        '.' | '!' | '?' => joined[at + 1..].starts_with(' ').then_some(at + 1),
        _ => None,
    };
    let end = joined.char_indices().find_map(ends).unwrap_or(joined.len());
    Some(joined[..end].to_owned()).filter(|sentence| sentence.contains(char::is_alphanumeric))
}

/// At most so many characters, cut at a word where there is one.
fn cut(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let kept = &text[..end];
    let end = kept.rfind(char::is_whitespace).filter(|at| *at > end / 2).unwrap_or(end);
    format!("{}\u{2026}", kept[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, read};

    #[test]
    fn a_chunk_is_told_by_its_first_sentence() {
        let text = "use a::b;\n\n/// Adds an item\n/// at the end. Then it wakes a reader.\nfn push() {}\n";
        let limits = Limits { share: 1, ..Limits::default() };
        let reading = read("a.rs", text, &limits, &|| false);
        let told = paragraphs(text, &reading);
        assert_eq!(told.last().map(|p| p.summary.as_str()), Some("Adds an item at the end."));
        assert_eq!(told.last().map(|p| p.symbols.clone()), Some(vec!["push".to_owned()]));
        let text = "# Title\n\n---\n\n设置数据库端口和日志级别。\n";
        let told = paragraphs(text, &read("a.md", text, &Limits::default(), &|| false));
        assert_eq!(told[0].heading.as_deref(), Some("Title"));
        assert_eq!(told[0].summary, "设置数据库端口和日志级别。");
        let text = "# Architecture\nThe loop lives in `src/loop`.\n";
        let told = paragraphs(text, &read("a.md", text, &Limits::default(), &|| false));
        assert_eq!(told[0].summary, "The loop lives in `src/loop`.");
        let bare = "# Architecture\n";
        assert!(paragraphs(bare, &read("a.md", bare, &Limits::default(), &|| false)).is_empty());
    }

    #[test]
    fn sentences_end_where_they_end() {
        assert_eq!(first_sentence("\nUses v1.2 of it. More.").as_deref(), Some("Uses v1.2 of it."));
        assert_eq!(first_sentence("读取文件。然后"), Some("读取文件。".to_owned()));
        assert_eq!(first_sentence("---"), None);
        assert_eq!(cut("one two three", 9), "one two\u{2026}");
    }
}
