//! Markdown by its headings; what is a heading is decided by `strata_core::markdown`.

use std::ops::RangeInclusive;

use strata_core::markdown::{Section, sections};

use crate::{
    Fallback, Found, Heading,
    lines::Lines,
    pack::{ANY, BLANK, LAST, Marks},
};

/// Between two blocks of a section.
const BLOCK: u8 = 20;

/// Each section is a chunk; one that has no text of its own stands with the section below it.
pub(crate) fn read(lines: &Lines<'_>) -> (Found, Marks, Option<Fallback>) {
    let text = lines.text();
    let sections = sections(text);
    let mut marks = block_marks(lines);
    let mut waits = false;
    for section in &sections {
        if !waits {
            marks.force(lines.at(section.span().start));
        }
        let body = &text[section.body.clone()];
        waits = section.level > 0 && body.trim().is_empty();
        if section.level > 0 {
            // The heading stays with the first line of its text.
            let blank = if waits { 0 } else { body.len() - body.trim_start().len() };
            let last = lines.at((section.body.start + blank).saturating_sub(usize::from(waits)));
            weaken(&mut marks, lines.at(section.heading.start) + 1..=last);
        }
    }
    let headings = sections.into_iter().map(|s| heading(s, lines)).collect();
    (Found::Headings(headings), marks, None)
}

fn heading(section: Section, lines: &Lines<'_>) -> Heading {
    let span = lines.span(section.span());
    Heading { path: section.heading_path, level: section.level, span }
}

fn weaken(marks: &mut Marks, lines: RangeInclusive<usize>) {
    for line in lines {
        if let Some(level) = marks.level.get_mut(line) {
            *level = LAST;
        }
    }
}

/// Cuts between blocks, but rather not inside a fence or between the rows of a table.
fn block_marks(lines: &Lines<'_>) -> Marks {
    let mut marks = Marks::plain(lines);
    let mut fence: Option<&str> = None;
    for (line, text) in lines.iter().enumerate() {
        let level = &mut marks.level[line];
        let bare = text.trim_start();
        match fence {
            Some(mark) => {
                *level = if *level == BLANK { BLANK } else { ANY };
                if bare.starts_with(mark) && bare.trim_end().trim_start_matches(&mark[..1]).is_empty() {
                    *level = LAST;
                    fence = None;
                }
            }
            None => {
                if *level == BLANK {
                    *level = BLOCK;
                }
                fence = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
            }
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use crate::{Limits, Reading, read};

    fn cut(text: &str) -> Vec<(String, String)> {
        let reading = whole(text, &Limits::default());
        reading.chunks.iter().map(|c| (c.path.join(" > "), text[c.span.bytes.clone()].to_owned())).collect()
    }

    fn whole(text: &str, limits: &Limits) -> Reading {
        read("notes/page.md", text, limits, &|| false)
    }

    #[test]
    fn every_section_is_a_chunk_under_its_path() {
        let text = "---\ntitle: x\n---\nintro\n\n## Use\nrun it\n### Fast\n```sh\n# no heading\n```\n### Slow\nwait\n\nNotes\n=====\nend\n";
        let expected = [
            ("", "---\ntitle: x\n---\n"),
            ("", "intro\n\n"),
            ("Use", "## Use\nrun it\n"),
            ("Use > Fast", "### Fast\n```sh\n# no heading\n```\n"),
            ("Use > Slow", "### Slow\nwait\n\n"),
            ("Notes", "Notes\n=====\nend\n"),
        ];
        assert_eq!(cut(text), expected.map(|(path, text)| (path.to_owned(), text.to_owned())));
    }

    #[test]
    fn a_heading_without_text_stands_with_the_next() {
        let text = "# Book\n\n## One\nfirst\n## Two\n";
        let parts = cut(text);
        assert_eq!(parts[0], ("Book > One".to_owned(), "# Book\n\n## One\nfirst\n".to_owned()));
        assert_eq!(parts[1].0, "Book > Two");
    }

    #[test]
    fn a_section_without_blank_lines_is_bounded_too() {
        let text = format!("# Long\n\n{}\n", "word and word ".repeat(7000));
        let reading = whole(&text, &Limits::default());
        assert!(reading.chunks.len() > 10);
        assert!(reading.chunks.iter().all(|c| c.tokens <= 1200 && c.path == ["Long"]));
    }

    #[test]
    fn lines_are_those_of_the_file() {
        let reading = whole("a\n\n# B\nc\nd\n", &Limits::default());
        let lines: Vec<_> = reading.chunks.iter().map(|c| (c.span.first_line, c.span.last_line)).collect();
        assert_eq!(lines, [(1, 2), (3, 5)]);
    }
}
