//! Markdown by heading, on byte spans.
//!
//! A file is cut, never re-rendered: every span refers to the bytes as they are, so that one section
//! can be replaced and all others stay identical. What is a heading is decided by a CommonMark parser;
//! a `#` in fenced code, in an HTML block, in a quote or in a list item is none.

mod body;
pub mod edit;
pub mod fields;
mod outline;
mod split;

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

pub use body::{Body, OpenBlock};
pub use outline::{Entry, Outline, Shape, body_of, find_entry, heading_key, strip_marks};
pub use split::split_long;

/// A heading with the text up to the next heading of any level, or the text before the first heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The titles of the enclosing headings and of this one, outermost first; empty before the first
    /// heading. Titles are plain text, without markup.
    pub heading_path: Vec<String>,
    /// 1 to 6, or 0 before the first heading.
    pub level: u8,
    /// The heading with its line break, both lines of a setext heading; empty before the first heading.
    pub heading: Range<usize>,
    /// What follows, up to the next heading. Begins where `heading` ends; may be empty or blank.
    pub body: Range<usize>,
    /// The line the section begins on, counted from 1.
    pub line: usize,
}

impl Section {
    /// Heading and body.
    pub fn span(&self) -> Range<usize> {
        self.heading.start..self.body.end
    }

    /// The section's own title; empty before the first heading.
    pub fn title(&self) -> &str {
        self.heading_path.last().map_or("", String::as_str)
    }
}

/// YAML between `---` lines at the start of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frontmatter {
    /// From the first byte of the file, a byte order mark included, to the end of the closing line.
    pub span: Range<usize>,
    /// The YAML alone.
    pub yaml: Range<usize>,
}

/// Cuts `text` by its headings. The spans are in order and disjoint, and together they cover
/// everything from [`content_start`] to the end.
pub fn sections(text: &str) -> Vec<Section> {
    let start = content_start(text);
    let mut found: Vec<Section> = Vec::new();
    let mut path: Vec<(u8, String)> = Vec::new();
    let mut lines = LineCounter::new(text);
    for heading in headings(text, start) {
        let end = found.last().map_or(start, |s: &Section| s.heading.end);
        close(&mut found, end, heading.span.start, &mut lines);
        path.retain(|(level, _)| *level < heading.level);
        path.push((heading.level, heading.title));
        found.push(Section {
            heading_path: path.iter().map(|(_, title)| title.clone()).collect(),
            level: heading.level,
            body: heading.span.end..heading.span.end,
            line: lines.line_of(heading.span.start),
            heading: heading.span,
        });
    }
    let end = found.last().map_or(start, |s| s.heading.end);
    close(&mut found, end, text.len(), &mut lines);
    found
}

/// Ends the last section's body at `to`; without a section, what lies before becomes one.
fn close(found: &mut Vec<Section>, from: usize, to: usize, lines: &mut LineCounter<'_>) {
    if let Some(last) = found.last_mut() {
        last.body = from..to;
    } else if from < to {
        let line = lines.line_of(from);
        found.push(Section { heading_path: Vec::new(), level: 0, heading: from..from, body: from..to, line });
    }
}

/// Where the content begins: after the byte order mark and the frontmatter, YAML between `---` or TOML
/// between `+++`.
pub fn content_start(text: &str) -> usize {
    let yaml = frontmatter(text).map(|f| f.span.end);
    yaml.or_else(|| toml_end(text)).unwrap_or_else(|| byte_order_mark(text))
}

/// The end of TOML frontmatter: between lines `+++`, with at least one key.
fn toml_end(text: &str) -> Option<usize> {
    let mut from = byte_order_mark(text);
    let mut has_key = false;
    for (count, line) in text[from..].split_inclusive('\n').enumerate() {
        from += line.len();
        match (count, line.trim_end()) {
            (0, "+++") => {}
            (0, _) => return None,
            (_, "+++") => return has_key.then_some(from),
            (_, bare) => has_key |= !bare.starts_with('#') && bare.contains('='),
        }
    }
    None
}

/// The frontmatter, if there is one: a first line `---`, YAML with at least one key (or nothing), and
/// a closing `---` or `...`. A rule between paragraphs is not taken for it.
pub fn frontmatter(text: &str) -> Option<Frontmatter> {
    let mut from = byte_order_mark(text);
    let first = line_at(text, from)?;
    if first.trim_end() != "---" {
        return None;
    }
    from += first.len();
    let yaml_start = from;
    let mut has_key = false;
    let mut is_empty = true;
    while let Some(line) = line_at(text, from) {
        let bare = line.trim_end();
        if bare == "---" || bare == "..." {
            let span = 0..from + line.len();
            return (has_key || is_empty).then_some(Frontmatter { span, yaml: yaml_start..from });
        }
        is_empty = false;
        has_key |=
            bare.split_once(':').is_some_and(|(key, _)| !key.is_empty() && !key.starts_with([' ', '#']));
        from += line.len();
    }
    None
}

fn byte_order_mark(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

/// The text with `\n` for every line end.
pub(crate) fn unified(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// The line that begins at `from`, with its line break; `None` at the end.
fn line_at(text: &str, from: usize) -> Option<&str> {
    text.get(from..)?.split_inclusive('\n').next()
}

struct Heading {
    level: u8,
    title: String,
    span: Range<usize>,
}

/// The headings outside quotes, lists and other containers, widened to whole lines.
fn headings(text: &str, start: usize) -> Vec<Heading> {
    let content = &text[start..];
    let mut found: Vec<Heading> = Vec::new();
    let mut depth = 0_usize;
    let mut open: Option<Heading> = None;
    for (event, range) in Parser::new_ext(content, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                let span = whole_lines(content, range);
                let span = start + span.start..start + span.end;
                open = Some(Heading { level: level as u8, title: String::new(), span });
            }
            Event::End(TagEnd::Heading(_)) if open.is_some() => found.extend(open.take().map(trimmed)),
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Text(part) | Event::Code(part) => push(open.as_mut(), &part),
            Event::SoftBreak | Event::HardBreak => push(open.as_mut(), " "),
            _ => {}
        }
    }
    found
}

fn push(open: Option<&mut Heading>, part: &str) {
    if let Some(heading) = open {
        heading.title.push_str(part);
    }
}

fn trimmed(mut heading: Heading) -> Heading {
    heading.title = heading.title.split_whitespace().collect::<Vec<_>>().join(" ");
    heading
}

/// Widens a range to the start of its first line and past the break of its last one.
fn whole_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let breaks = ['\n', '\r'];
    let start = text[..range.start].rfind(breaks).map_or(0, |at| at + 1);
    let inner = text[..range.end].trim_end_matches(breaks).len().max(range.start);
    let rest = &text[inner..];
    let end = match rest.find(breaks) {
        Some(at) if rest[at..].starts_with("\r\n") => inner + at + 2,
        Some(at) => inner + at + 1,
        None => text.len(),
    };
    start..end
}

/// Counts lines forwards, so that a whole file costs one pass.
struct LineCounter<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> LineCounter<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 1 }
    }

    /// The line of `offset`, which must not lie before the last one asked for.
    fn line_of(&mut self, offset: usize) -> usize {
        let passed = self.text.get(self.at..offset).unwrap_or("");
        let lone = passed.matches('\r').count() - passed.matches("\r\n").count();
        self.line += passed.matches('\n').count() + lone;
        self.at = offset.max(self.at);
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Path and body of each section.
    fn cut(text: &str) -> Vec<(String, &str)> {
        sections(text).into_iter().map(|s| (s.heading_path.join(" > "), &text[s.body])).collect()
    }

    #[test]
    fn headings_nest_and_skip_levels() {
        let text = "intro\n\n# A\na\n### B\nb\n## C\nc\n# D\n";
        let expected = [("", "intro\n\n"), ("A", "a\n"), ("A > B", "b\n"), ("A > C", "c\n"), ("D", "")];
        assert_eq!(cut(text), expected.map(|(path, body)| (path.to_owned(), body)));
        let lines: Vec<usize> = sections(text).iter().map(|s| s.line).collect();
        assert_eq!(lines, [1, 3, 5, 7, 9]);
    }

    #[test]
    fn a_hash_in_code_html_quote_or_list_is_no_heading() {
        let text = "# Real\n```sh\n# comment\n```\n~~~\n# tilde\n~~~\n\n    # indented\n\n<div>\n# html\n</div>\n\n> # quoted\n\n- # item\n\n#hashtag\n\\# escaped\n";
        assert_eq!(cut(text).len(), 1);
    }

    #[test]
    fn an_open_fence_runs_to_the_end() {
        assert_eq!(cut("# A\n```\n# not\n").len(), 1);
    }

    #[test]
    fn setext_headings_take_both_lines() {
        let text = "Title\n=====\nbody\n\nSub *title*\n---\nmore\n";
        let found = sections(text);
        assert_eq!(&text[found[0].heading.clone()], "Title\n=====\n");
        assert_eq!(found[1].heading_path, ["Title", "Sub title"]);
        assert_eq!(&text[found[1].body.clone()], "more\n");
    }

    #[test]
    fn markup_and_closing_hashes_leave_the_title() {
        let text = "## The `chain` of [links](http://x) **now** ##\n";
        assert_eq!(sections(text)[0].title(), "The chain of links now");
    }

    #[test]
    fn crlf_and_byte_order_mark_are_kept_and_skipped() {
        let text = "\u{feff}# A\r\na\r\n## B\r\nb\r\n";
        let found = sections(text);
        assert_eq!(found[0].heading, 3..8);
        assert_eq!(&text[found[0].body.clone()], "a\r\n");
        assert_eq!(&text[found[1].heading.clone()], "## B\r\n");
        assert_eq!((found[0].line, found[1].line), (1, 3));
    }

    #[test]
    fn frontmatter_is_set_apart() {
        let text = "\u{feff}---\r\ntitle: x # y\r\n---\r\n# A\r\n";
        let front = frontmatter(text).expect("frontmatter");
        assert_eq!(&text[front.yaml.clone()], "title: x # y\r\n");
        assert_eq!(sections(text)[0].heading.start, front.span.end);
        assert_eq!(sections(text)[0].line, 4);
        assert_eq!(sections("---\nkey: 1\n").len(), 1, "never closed: ordinary text");
        assert!(frontmatter("---\n\nprose between rules\n\n---\n").is_none());
        assert!(frontmatter("---\n---\n").is_some());
        assert!(frontmatter("text\n---\na: b\n---\n").is_none());
    }

    #[test]
    fn tables_and_empty_texts_are_bodies() {
        let text = "# A\n\n| a | b |\n|---|---|\n| # | x |\n";
        assert_eq!(cut(text).len(), 1);
        assert_eq!(cut(""), vec![]);
        assert_eq!(cut("\n"), vec![(String::new(), "\n")]);
        assert_eq!(cut("#"), vec![(String::new(), "")]);
    }

    #[test]
    fn chinese_titles() {
        assert_eq!(cut("# 部署\n## 端口\n5432\n")[1], ("部署 > 端口".to_owned(), "5432\n"));
    }
}
