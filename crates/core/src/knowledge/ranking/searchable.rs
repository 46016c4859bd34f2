//! A file made ready to be searched again and again, and what is looked for.

use std::ops::Range;

use super::{FUZZY_FLOOR, likeness};
use crate::{knowledge::health::wiki_links, markdown::sections};

/// Words of a keyword that are looked for: each is looked for in every file.
const WORDS: usize = 96;
/// Wiki links that are kept of a file.
const LINKS: usize = 5;
/// What stands before the first heading is shown under this title.
const OVERVIEW: &str = "Overview";

/// What is looked for, in lower case: as it stands, and word by word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyword {
    whole: String,
    words: Vec<String>,
}

impl Keyword {
    /// Reads a keyword; `None` when it is blank.
    pub fn new(text: &str) -> Option<Self> {
        let whole = text.trim().to_lowercase();
        let words: Vec<String> = whole.split_whitespace().take(WORDS).map(str::to_owned).collect();
        (!words.is_empty()).then_some(Self { whole, words })
    }

    /// All of it.
    pub fn whole(&self) -> &str {
        &self.whole
    }

    /// Its words; at least one, and of a long text the first 96.
    pub fn words(&self) -> &[String] {
        &self.words
    }
}

/// A section of a file: from a heading of any level to the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its heading; `Overview` for what stands before the first one.
    pub title: String,
    /// Where it stands in the file, its heading included.
    pub span: Range<usize>,
    /// Where the heading ends.
    pub heading_end: usize,
    /// The heading in lower case; `None` before the first one.
    heading: Option<String>,
    /// Where it stands in the text in lower case.
    lower: Range<usize>,
}

/// A text in lower case, cut at its headings, and where its wiki links lead. Making it costs a parse, searching it
/// costs no allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Searchable {
    lower: String,
    parts: Vec<Part>,
    links: Vec<String>,
}

impl Searchable {
    /// Reads a file.
    pub fn new(content: &str) -> Self {
        let found = sections(content);
        let mut lower = String::with_capacity(content.len());
        let before = found.first().map_or(content.len(), |first| first.span().start);
        lower.push_str(&content[..before].to_lowercase());
        let mut parts = Vec::with_capacity(found.len());
        for section in found {
            let (span, start) = (section.span(), lower.len());
            lower.push_str(&content[span.clone()].to_lowercase());
            let is_headed = section.level > 0;
            parts.push(Part {
                title: if is_headed { section.title() } else { OVERVIEW }.to_owned(),
                span,
                heading_end: section.heading.end,
                heading: is_headed.then(|| section.title().to_lowercase()),
                lower: start..lower.len(),
            });
        }
        let mut links: Vec<String> = Vec::new();
        for link in wiki_links(content) {
            if links.len() < LINKS && !links.contains(&link.target) {
                links.push(link.target);
            }
        }
        Self { lower, parts, links }
    }

    /// The whole text in lower case.
    pub fn lower(&self) -> &str {
        &self.lower
    }

    /// The headings in lower case, in order.
    pub fn headings(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| part.heading.as_deref())
    }

    /// The sections, in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Where the first five wiki links lead, each once.
    pub fn links(&self) -> &[String] {
        &self.links
    }

    /// Whether a section holds one of the keyword's words.
    pub fn holds_a_word(&self, part: usize, keyword: &Keyword) -> bool {
        let text = self.parts.get(part).map_or("", |part| &self.lower[part.lower.clone()]);
        keyword.words.iter().any(|word| text.contains(word.as_str()))
    }

    /// The sections that hold the keyword, or one of its words when none holds it whole, in order.
    pub fn matching(&self, keyword: &Keyword) -> Vec<usize> {
        let all = 0..self.parts.len();
        let is_whole = |at: &usize| self.lower[self.parts[*at].lower.clone()].contains(&keyword.whole);
        let whole: Vec<usize> = all.clone().filter(is_whole).collect();
        if whole.is_empty() { all.filter(|at| self.holds_a_word(*at, keyword)).collect() } else { whole }
    }

    /// [`Self::matching`], or the sections whose headings are like the keyword when none holds any of it.
    pub fn alike(&self, keyword: &Keyword) -> Vec<usize> {
        let matching = self.matching(keyword);
        if !matching.is_empty() {
            return matching;
        }
        let is_like = |part: &Part| {
            part.heading.as_ref().is_some_and(|title| likeness(&keyword.whole, title) >= FUZZY_FLOOR)
        };
        (0..self.parts.len()).filter(|at| is_like(&self.parts[*at])).collect()
    }

    /// The sections that a stretch of the file lies in, in order.
    pub fn within(&self, stretch: &Range<usize>) -> Vec<usize> {
        let touches = |part: &Part| part.span.start < stretch.end && stretch.start < part.span.end;
        (0..self.parts.len()).filter(|at| touches(&self.parts[*at])).collect()
    }

    /// What to show of a section in at most `bytes` bytes: all of it, its beginning, or when the keyword stands behind
    /// that, a stretch around it. `content` is what the file was read from. Whole characters.
    pub fn window(&self, content: &str, part: usize, keyword: &Keyword, bytes: usize) -> Range<usize> {
        let Some(part) = self.parts.get(part).filter(|part| content.get(part.span.clone()).is_some()) else {
            return 0..0;
        };
        let text = &content[part.span.clone()];
        if text.len() <= bytes {
            return part.span.clone();
        }
        let lower = &self.lower[part.lower.clone()];
        let place = |word: &str| lower.find(word).map(|at| (at, at + word.len()));
        let first = place(&keyword.whole).or_else(|| keyword.words.iter().find_map(|word| place(word)));
        // Few letters change their length with their case, so this is the place or close to it.
        let from = match first {
            Some((at, end)) if end > bytes => text.floor_char_boundary(at.saturating_sub(bytes / 4)),
            _ => 0,
        };
        let to = text.floor_char_boundary(from.saturating_add(bytes));
        part.span.start + from..part.span.start + to
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "---\nid: pool\n---\nintro on pools [[infra/proxy|x]] [[infra/proxy]]\n\n# Database\n\npool 20\n\n## Pool\n\nPool and pool.\n\n## 端口\n\n5432\n";

    fn key(text: &str) -> Keyword {
        Keyword::new(text).expect("a keyword")
    }

    fn titles(file: &Searchable, parts: &[usize]) -> Vec<String> {
        parts.iter().map(|at| file.parts()[*at].title.clone()).collect()
    }

    #[test]
    fn the_sections_that_match_are_found_whole_then_by_words() {
        let file = Searchable::new(FILE);
        assert_eq!(titles(&file, &file.matching(&key("POOL"))), ["Overview", "Database", "Pool"]);
        assert_eq!(titles(&file, &file.matching(&key("database 5432"))), ["Database", "端口"]);
        assert_eq!(titles(&file, &file.matching(&key("端口"))), ["端口"]);
        assert!(file.matching(&key("nothing")).is_empty());
        assert_eq!(titles(&file, &file.alike(&key("databse"))), ["Database"]);
        assert_eq!(file.links(), ["infra/proxy"]);
        assert!(Keyword::new("  ").is_none());
        assert!(file.lower().starts_with("---\nid: pool\n"));
    }

    #[test]
    fn a_stretch_lies_in_its_sections() {
        let file = Searchable::new(FILE);
        let at = FILE.find("Pool and pool").expect("there");
        assert_eq!(titles(&file, &file.within(&(at..at + 4))), ["Pool"]);
        assert_eq!(file.within(&(0..FILE.len())).len(), 4);
        assert!(file.within(&(at..at)).len() <= 1);
    }

    #[test]
    fn a_long_section_is_shown_around_the_keyword_between_characters() {
        let file = Searchable::new(FILE);
        let pool = file.matching(&key("pool and"))[0];
        assert_eq!(&FILE[file.window(FILE, pool, &key("pool and"), 99)], "## Pool\n\nPool and pool.\n\n");
        assert_eq!(&FILE[file.window(FILE, pool, &key("pool"), 9)], "## Pool\n\n");
        let long = format!("## 長\n\n{}needle{}", "字".repeat(4_000), "字".repeat(4_000));
        let file = Searchable::new(&long);
        let shown = file.window(&long, 0, &key("NEEDLE"), 400);
        assert!(long[shown.clone()].contains("needle") && shown.len() <= 400, "{shown:?}");
        assert_eq!(file.window(&long, 0, &key("absent"), 401).start, 0);
        assert_eq!(file.window(&long, 9, &key("absent"), 400), 0..0);
    }

    #[test]
    fn letters_that_change_their_length_do_no_harm() {
        let text = format!("# İİİ\n\n{}\n\n## Tail\n\nend İ\n", "İ".repeat(900));
        let file = Searchable::new(&text);
        for bytes in [1, 7, 100, 1_000] {
            for part in 0..file.parts().len() {
                let shown = file.window(&text, part, &key("end"), bytes);
                assert!(text.get(shown.clone()).is_some() && shown.len() <= bytes, "{shown:?}");
            }
        }
    }
}
