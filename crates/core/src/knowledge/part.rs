//! A file as its sections of level 2 and 3: what governance looks at one by one.

use crate::markdown::sections;

/// A section of level 2 or 3. Deeper headings are text of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part<'t> {
    /// The heading as plain text.
    pub heading: String,
    /// The line of the heading, counted from 1.
    pub line: usize,
    /// The text without the blank lines around it.
    pub body: &'t str,
}

/// The sections of level 2 and 3 of a file, in order.
pub fn parts(text: &str) -> Vec<Part<'_>> {
    let mut found: Vec<Part<'_>> = Vec::new();
    let mut start = None;
    for section in sections(text) {
        match section.level {
            2 | 3 => {
                let body = text[section.body.clone()].trim();
                found.push(Part { heading: section.title().to_owned(), line: section.line, body });
                start = Some(section.body.start);
            }
            4.. => {
                if let (Some(part), Some(start)) = (found.last_mut(), start) {
                    part.body = text[start..section.body.end].trim();
                }
            }
            _ => start = None,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deeper_headings_are_text_and_a_title_ends_the_part() {
        let text = "# d\n\n## A\n\na\n\n#### deep\n\nx\n\n### B\nb\n# e\n#### lost\ny\n## C";
        let found: Vec<_> = parts(text).into_iter().map(|p| (p.heading, p.line, p.body)).collect();
        let expected = [("A", 3, "a\n\n#### deep\n\nx"), ("B", 11, "b"), ("C", 16, "")];
        assert_eq!(found, expected.map(|(heading, line, body)| (heading.to_owned(), line, body)));
    }
}
