//! A knowledge file as its `##` sections, on byte spans.

use std::ops::Range;

use super::{LineCounter, content_start, headings};
use crate::composed::nfc;

/// A `##` heading and its body: the unit of knowledge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The heading as written, without its marks: `Release *process*` of `## Release *process* ##`.
    pub heading: String,
    /// The heading as plain text, without markup.
    pub title: String,
    /// Which of the sections with this heading it is, counted from 1.
    pub ordinal: usize,
    /// The heading's line with its line break.
    pub head: Range<usize>,
    /// What follows, up to the next heading of level 1 or 2 or the end. Blank lines around the text are in it.
    pub body: Range<usize>,
    /// The line the heading stands on, counted from 1.
    pub line: usize,
    /// Where [`Entry::heading`] stands in the file; an empty span after the marks when there is no text.
    pub(super) written: Range<usize>,
}

impl Entry {
    /// Heading and body.
    pub fn span(&self) -> Range<usize> {
        self.head.start..self.body.end
    }
}

/// The `##` sections of a file.
///
/// A section is opened by an ATX heading of level 2 outside code, HTML, quotes and lists, and ends before the
/// next heading of level 1 or 2: what stands under a `#` in the middle of a file belongs to no section. Deeper
/// headings and underlined (setext) headings are text of the section they stand in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline<'t> {
    text: &'t str,
    content: usize,
    entries: Vec<Entry>,
    /// Every heading that ends a section, `#` as well as `##`.
    pub(super) marks: Vec<Mark>,
}

/// A heading that ends a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) level: u8,
    pub(super) heading: String,
    pub(super) start: usize,
}

/// An outline without its text, to be kept beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    content: usize,
    entries: Vec<Entry>,
    marks: Vec<Mark>,
}

impl Shape {
    /// Reads a file.
    pub fn of(text: &str) -> Self {
        let Outline { content, entries, marks, .. } = Outline::parse(text);
        Self { content, entries, marks }
    }

    /// The sections, in the order of the file.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The outline of `text`, which must be the one that was read.
    pub fn outline<'t>(&self, text: &'t str) -> Outline<'t> {
        let Self { content, entries, marks } = self.clone();
        Outline { text, content, entries, marks }
    }
}

impl<'t> Outline<'t> {
    /// Reads a file.
    pub fn parse(text: &'t str) -> Self {
        let content = content_start(text);
        let mut outline = Self { text, content, entries: Vec::new(), marks: Vec::new() };
        let mut lines = LineCounter::new(text);
        let mut open: Option<Entry> = None;
        for found in headings(text, content) {
            if found.level > 2 || !is_atx(&text[found.span.clone()]) {
                continue;
            }
            outline.close(open.take(), found.span.start);
            let written = written(text, &found.span);
            let heading = text[written.clone()].to_owned();
            let mark = Mark { level: found.level, heading: heading.clone(), start: found.span.start };
            outline.marks.push(mark);
            if found.level == 2 {
                let line = lines.line_of(found.span.start);
                let body = found.span.end..found.span.end;
                let (title, head) = (found.title, found.span);
                open = Some(Entry { heading, title, ordinal: 1, head, body, line, written });
            }
        }
        outline.close(open, text.len());
        outline.count_ordinals();
        outline
    }

    fn close(&mut self, open: Option<Entry>, end: usize) {
        if let Some(mut entry) = open {
            entry.body.end = end;
            self.entries.push(entry);
        }
    }

    fn count_ordinals(&mut self) {
        let mut seen: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
        for entry in &mut self.entries {
            let count = seen.entry(heading_key(&entry.heading)).or_default();
            *count += 1;
            entry.ordinal = *count;
        }
    }

    /// The file.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// The sections, in the order of the file.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What stands before the first section, without the byte order mark and the frontmatter.
    pub fn preamble(&self) -> &'t str {
        let end = self.entries.first().map_or(self.text.len(), |first| first.head.start);
        &self.text[self.content.min(end)..end]
    }

    /// The body of a section without the blank lines around it; empty when there is no such section.
    pub fn body(&self, index: usize) -> &'t str {
        self.entries.get(index).map_or("", |entry| body_of(self.text, entry))
    }

    /// The position of the section that `heading` names, the `ordinal`-th of them (from 1) when there are several.
    ///
    /// `heading` may carry its marks. Letter case and runs of spaces do not count. The heading as written goes before the
    /// heading without its markup. Without an ordinal it is the first.
    pub fn find(&self, heading: &str, ordinal: Option<usize>) -> Option<usize> {
        find_entry(&self.entries, heading, ordinal)
    }
}

/// The body of a section of `text` without the blank lines around it.
pub fn body_of<'t>(text: &'t str, entry: &Entry) -> &'t str {
    if text.get(entry.body.clone()).is_some() { &text[core(text, &entry.body)] } else { "" }
}

/// [`Outline::find`] among sections that were kept.
pub fn find_entry(entries: &[Entry], heading: &str, ordinal: Option<usize>) -> Option<usize> {
    let key = heading_key(strip_marks(heading));
    let nth = ordinal.unwrap_or(1).checked_sub(1)?;
    let position = |text: fn(&Entry) -> &str| {
        let same = entries.iter().enumerate().filter(|(_, e)| heading_key(text(e)) == key);
        same.map(|(index, _)| index).nth(nth)
    };
    position(|e| &e.heading).or_else(|| position(|e| &e.title))
}

/// The form under which two headings name the same section: composed, lower case, single spaces.
pub fn heading_key(heading: &str) -> String {
    let small = nfc(heading).to_lowercase();
    let mut key = String::with_capacity(small.len());
    for word in small.split_whitespace() {
        if !key.is_empty() {
            key.push(' ');
        }
        key.push_str(word);
    }
    key
}

/// A heading as a caller gives it, without leading `#` and spaces, and without a closing run of `#`.
pub fn strip_marks(heading: &str) -> &str {
    without_closing_run(heading.trim_start_matches(|c: char| c == '#' || c.is_whitespace()).trim_end())
}

/// The part of a body from its first line that is not blank to the end of the last one, without that line's break.
/// An empty span at the end of the body when all lines are blank.
pub(super) fn core(text: &str, body: &Range<usize>) -> Range<usize> {
    let inner = &text[body.clone()];
    let kept = inner.trim_end();
    let Some(first) = kept.find(|c: char| !c.is_whitespace()) else { return body.end..body.end };
    let start = inner[..first].rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let rest = &inner[kept.len()..];
    let end = kept.len() + rest.find(['\n', '\r']).unwrap_or(rest.len());
    body.start + start..body.start + end
}

/// A setext heading has its underline on a second line.
fn is_atx(heading: &str) -> bool {
    !heading.trim_end_matches(['\n', '\r']).contains(['\n', '\r']) && heading.trim_start().starts_with('#')
}

/// Where the text of an ATX heading stands: after the opening marks, before a closing run.
fn written(text: &str, head: &Range<usize>) -> Range<usize> {
    let line = text[head.clone()].trim_end();
    let after = line.trim_start().trim_start_matches('#');
    let inner = without_closing_run(after.trim_start());
    let start = head.start + line.len() - after.trim_start().len();
    start..start + inner.len()
}

fn without_closing_run(heading: &str) -> &str {
    let open = heading.trim_end_matches('#');
    if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { heading }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<(String, &str)> {
        let outline = Outline::parse(text);
        (0..outline.entries().len())
            .map(|i| (outline.entries()[i].heading.clone(), outline.body(i)))
            .collect()
    }

    fn pairs(expected: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
        expected.iter().map(|(heading, body)| ((*heading).to_owned(), *body)).collect()
    }

    #[test]
    fn deeper_and_underlined_headings_are_text_of_the_section() {
        let text =
            "# infra\n\nintro\n\n## A\n\na\n\n### deep\n\nx\n\nTitle\n---\ny\n\n## B\n# apart\nz\n## C";
        let expected = [("A", "a\n\n### deep\n\nx\n\nTitle\n---\ny"), ("B", ""), ("C", "")];
        assert_eq!(cut(text), pairs(&expected));
        assert_eq!(Outline::parse(text).preamble(), "# infra\n\nintro\n\n");
    }

    #[test]
    fn what_only_looks_like_a_heading_is_none() {
        let text = "## A\n```md\n## in a fence\n```\n~~~~ x\n```\n## still\n~~~~\n<!--\n## hidden\n-->\n\n    ## code\n\n> ## quoted\n\n- ## item\n\n##none\n####### seven\n\\## escaped\n";
        assert_eq!(cut(text).len(), 1);
    }

    #[test]
    fn frontmatter_of_both_sorts_is_set_apart() {
        for text in ["\u{feff}---\n# a: 1\nkey: v\n---\n## A\n", "+++\n## not = 1\nkey = 'v'\n+++\n## A\n"] {
            assert_eq!(cut(text), pairs(&[("A", "")]), "{text:?}");
            assert_eq!(Outline::parse(text).preamble(), "");
        }
    }

    #[test]
    fn headings_are_found_as_written_and_without_markup() {
        let text = "##   The `Pool`  size ##\r\n## C#\n## \n## 部署 端口\n## the `pool` size\n";
        let outline = Outline::parse(text);
        let headings: Vec<&str> = outline.entries().iter().map(|e| e.heading.as_str()).collect();
        assert_eq!(headings, ["The `Pool`  size", "C#", "", "部署 端口", "the `pool` size"]);
        assert_eq!(outline.find("## the `POOL` size", None), Some(0));
        assert_eq!(outline.find("the `pool` size", Some(2)), Some(4));
        assert_eq!(outline.find("the pool size", None), Some(0));
        assert_eq!(outline.find("c#", None), Some(1));
        assert_eq!(outline.find("部署 端口", Some(1)), Some(3));
        assert_eq!(outline.find("部署 端口", Some(2)), None);
        assert_eq!(outline.find("x", Some(0)), None);
        assert_eq!(outline.entries()[4].ordinal, 2);
        assert_eq!(strip_marks("  ### Issue #2 ##"), "Issue #2");
        assert_eq!(strip_marks("## "), "");
    }

    #[test]
    fn lines_are_counted_and_a_core_keeps_its_indent() {
        let text = "## A\n\n    code  \n\n\t\n## B\r\nx";
        let outline = Outline::parse(text);
        assert_eq!(outline.entries().iter().map(|e| e.line).collect::<Vec<_>>(), [1, 6]);
        assert_eq!((outline.body(0), outline.body(1), outline.body(9)), ("    code  ", "x", ""));
    }
}
