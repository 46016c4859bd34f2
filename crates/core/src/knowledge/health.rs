//! How well a knowledge file is kept, as one number with its reasons.

use std::ops::Range;

use crate::markdown::sections;

/// Files of more bytes cost points.
pub const LARGE: usize = 4_096;
/// A file with fewer words says next to nothing.
const STUB_WORDS: usize = 10;

/// What lowers the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Issue {
    /// Larger than [`LARGE`].
    Large,
    /// Hardly any text.
    Stub,
    /// No heading.
    NoHeadings,
    /// Not changed for more than 30 days.
    Old,
    /// A wiki link that leads nowhere.
    BrokenLink,
}

/// The score of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Health {
    /// 0 to 100.
    pub score: f64,
    /// What lowered it, and by how much.
    pub issues: Vec<(Issue, f64)>,
}

impl Health {
    /// `good` from 70, `fair` from 40, else `poor`.
    pub fn grade(&self) -> &'static str {
        match self.score {
            score if score >= 70.0 => "good",
            score if score >= 40.0 => "fair",
            _ => "poor",
        }
    }
}

/// Scores a file of this text that was last changed `age_days` ago and of whose wiki links `broken` lead nowhere.
pub fn score(text: &str, age_days: f64, broken: usize) -> Health {
    let mut issues = Vec::new();
    let excess = text.len().saturating_sub(LARGE) as f64 / 1024.0;
    if excess > 0.0 {
        issues.push((Issue::Large, (excess * 5.0).min(30.0)));
    }
    if words(text) < STUB_WORDS {
        issues.push((Issue::Stub, 20.0));
    }
    if sections(text).iter().all(|section| section.level == 0) {
        issues.push((Issue::NoHeadings, 15.0));
    }
    if age_days > 30.0 {
        issues.push((Issue::Old, (age_days / 30.0 * 5.0).min(20.0)));
    }
    if broken > 0 {
        issues.push((Issue::BrokenLink, 5.0 * broken as f64));
    }
    let lost: f64 = issues.iter().map(|(_, points)| points).sum();
    Health { score: (100.0 - lost).max(0.0), issues }
}

/// Words between spaces; two Chinese or Japanese characters count as one.
fn words(text: &str) -> usize {
    let wide =
        |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}');
    let characters = text.chars().filter(|c| wide(*c)).count();
    let others = text
        .split(|c: char| c.is_whitespace() || wide(c))
        .filter(|part| part.chars().any(char::is_alphanumeric));
    others.count() + characters / 2
}

/// A wiki link: `[[target]]`, `[[target#section]]`, `[[target|shown]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WikiLink {
    /// The file or domain it names.
    pub target: String,
    /// The section it names.
    pub section: Option<String>,
    /// Where it stands.
    pub span: Range<usize>,
}

/// The wiki links of a text, in order. Those in code are none.
pub fn wiki_links(text: &str) -> Vec<WikiLink> {
    let code = crate::route::reading::code_spans(text);
    let mut links = Vec::new();
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let mut from = 0;
        while let Some(start) = line[from..].find("[[").map(|at| from + at) {
            from = start + 2;
            let Some(end) = line[from..].find("]]").map(|at| from + at) else { break };
            let span = line_start + start..line_start + end + 2;
            if !crate::route::reading::covers(&code, span.start) {
                links.extend(wiki_link(&line[from..end], span));
            }
            from = end + 2;
        }
        line_start += line.len();
    }
    links
}

/// What stands between the brackets, when it names something.
fn wiki_link(inner: &str, span: Range<usize>) -> Option<WikiLink> {
    let named = inner.split('|').next().unwrap_or("");
    let (target, section) = named.split_once('#').map_or((named, None), |(t, s)| (t, Some(s.trim())));
    let section = section.filter(|s| !s.is_empty()).map(str::to_owned);
    let target = target.trim();
    (!target.is_empty()).then(|| WikiLink { target: target.to_owned(), section, span })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_taken_for_each_fault() {
        let sound = "# Title\n\nTen words of text stand here so that it is no stub at all.\n";
        assert_eq!(score(sound, 3.0, 0), Health { score: 100.0, issues: Vec::new() });
        let stub = score("three words only", 60.0, 2);
        let expected =
            [(Issue::Stub, 20.0), (Issue::NoHeadings, 15.0), (Issue::Old, 10.0), (Issue::BrokenLink, 10.0)];
        assert_eq!((stub.score, stub.issues.as_slice(), stub.grade()), (45.0, &expected[..], "fair"));
        let large = score(&format!("{sound}{}", "x y ".repeat(10_000)), 400.0, 9);
        assert_eq!((large.score, large.grade()), (5.0, "poor"));
    }

    #[test]
    fn chinese_text_without_spaces_is_no_stub() {
        let text = "# 连接池\n\n网关监听八零八零端口，数据库连接池上限二十，超时三十秒。\n";
        assert_eq!(score(text, 0.0, 0).score, 100.0);
    }

    #[test]
    fn links_are_found_outside_of_code() {
        let text = "See [[infra/proxy#TLS|the proxy]] and [[数据库]].\n`[[no]]` [[ ]] [[open\n```\n[[no]]\n```\n[[b#]]";
        let found: Vec<_> = wiki_links(text).into_iter().map(|l| (l.target, l.section)).collect();
        let expected = [("infra/proxy", Some("TLS")), ("数据库", None), ("b", None)];
        assert_eq!(found, expected.map(|(t, s)| (t.to_owned(), s.map(str::to_owned))));
        assert_eq!(&text[wiki_links(text)[1].span.clone()], "[[数据库]]");
    }

    #[test]
    fn a_long_line_of_links_is_read_once() {
        let before = std::time::Instant::now();
        assert_eq!(wiki_links(&"[[x]]".repeat(200_000)).len(), 200_000);
        // Once for each link would be a hundred gigabytes.
        assert!(before.elapsed() < std::time::Duration::from_secs(5));
    }
}
