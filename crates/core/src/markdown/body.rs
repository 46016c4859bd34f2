//! Text that is to stand under a `##` heading.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use super::{headings, outline::heading_key, unified};

/// Text made fit to be the body of a section: it opens no section of its own and leaves nothing open that would
/// hide the headings after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    text: String,
    /// The first line repeated the section's heading and was left out.
    pub dropped_heading: bool,
    /// By how many levels the headings were lowered, so that none is above level 3.
    pub demoted: u8,
    /// What was added at the end to close an open code fence, comment or HTML block.
    pub closed_with: Option<String>,
}

/// Why a text cannot be a body: it ends in a block that nothing closes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the text ends in an open block that would hide the headings after it")]
pub struct OpenBlock;

/// What ends the blocks that CommonMark otherwise lets run to the end of the file.
const HTML_ENDS: &[&str] = &["-->", "?>", "]]>", ">", "</script>", "</pre>", "</style>", "</textarea>"];

impl Body {
    /// Fits `content` to stand under `heading`.
    ///
    /// A first line that repeats the heading (level 1 or 2) is dropped. If a heading of level 1 or 2 remains, all headings are
    /// lowered alike, at most to level 6. An open fence, comment or HTML block at the end is closed. Line ends
    /// become `\n`; blank lines around the text go.
    pub fn fit(content: &str, heading: &str) -> Result<Self, OpenBlock> {
        let whole = unified(content.trim_start_matches('\u{feff}'));
        let mut text = trim_blank_lines(&whole).to_owned();
        let dropped_heading = drop_heading(&mut text, heading);
        let demoted = demote(&mut text);
        let closed_with = close(&mut text)?;
        Ok(Self { text, dropped_heading, demoted, closed_with })
    }

    /// The text, with `\n` between lines and none at the end.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// Without blank lines before the first line, and without space after the last.
fn trim_blank_lines(text: &str) -> &str {
    let kept = text.trim_end();
    let first = kept.find(|c: char| !c.is_whitespace()).unwrap_or(kept.len());
    let start = kept[..first].rfind('\n').map_or(0, |at| at + 1);
    &kept[start..]
}

fn drop_heading(text: &mut String, heading: &str) -> bool {
    let found = headings(text, 0).into_iter().next();
    let same = found.filter(|h| h.span.start == 0 && h.level <= 2 && is_marked(text, &h.span));
    let wanted =
        headings(&format!("## {heading}"), 0).into_iter().next().map_or_else(String::new, |h| h.title);
    let Some(repeated) = same.filter(|h| heading_key(&h.title) == heading_key(&wanted)) else { return false };
    *text = trim_blank_lines(&text[repeated.span.end..]).to_owned();
    true
}

fn is_marked(text: &str, span: &std::ops::Range<usize>) -> bool {
    text[span.clone()].trim_start().starts_with('#') && !text[span.clone()].trim_end().contains('\n')
}

/// Lowers the marked headings so that the highest is of level 3.
fn demote(text: &mut String) -> u8 {
    let marked: Vec<_> = headings(text, 0).into_iter().filter(|h| is_marked(text, &h.span)).collect();
    let highest = marked.iter().map(|h| h.level).min().unwrap_or(6);
    let by = 3_u8.saturating_sub(highest);
    if by == 0 {
        return 0;
    }
    let mut lowered = String::with_capacity(text.len() + marked.len() * usize::from(by));
    let mut from = 0;
    for heading in &marked {
        let line = &text[heading.span.clone()];
        let at = heading.span.start + line.len() - line.trim_start().len();
        lowered.push_str(&text[from..at]);
        lowered.push_str(&"#".repeat(usize::from(by.min(6 - heading.level))));
        from = at;
    }
    lowered.push_str(&text[from..]);
    *text = lowered;
    by
}

fn close(text: &mut String) -> Result<Option<String>, OpenBlock> {
    if shows_a_heading_after(text, "") {
        return Ok(None);
    }
    let fence = open_fence(text);
    let ends = fence.iter().map(String::as_str).chain(HTML_ENDS.iter().copied());
    for end in ends {
        if shows_a_heading_after(text, end) {
            let end = end.to_owned();
            text.push('\n');
            text.push_str(&end);
            return Ok(Some(end));
        }
    }
    Err(OpenBlock)
}

/// Whether a heading would be read as one after `text`, a line `end`, and a blank line.
fn shows_a_heading_after(text: &str, end: &str) -> bool {
    const PROBE: &str = "## probe";
    let probed = format!("{text}\n{end}\n\n{PROBE}\n");
    let at = probed.len() - PROBE.len() - 1;
    headings(&probed, 0).last().is_some_and(|h| h.span.start == at)
}

/// The run of marks that opened the last fenced block.
pub(super) fn open_fence(text: &str) -> Option<String> {
    let mut opened = None;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        if let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) = event {
            opened = Some(range.start);
        }
    }
    let from = text[opened?..].trim_start();
    let mark = from.chars().next().filter(|c| ['`', '~'].contains(c))?;
    Some(from.chars().take_while(|c| *c == mark).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(content: &str) -> Body {
        Body::fit(content, "Data *base*").expect("it can be closed")
    }

    #[test]
    fn plain_text_stays_as_it_is() {
        let body = fitted("\n\n    code\r\n- [[link]]\n| a |\n|---|\n\n");
        assert_eq!(body.as_str(), "    code\n- [[link]]\n| a |\n|---|");
        assert_eq!((body.dropped_heading, body.demoted, body.closed_with), (false, 0, None));
    }

    #[test]
    fn the_repeated_heading_goes_and_others_are_lowered() {
        let body =
            fitted("## data base\n\nx\n\n# Top\n## Sub ##\n##### Five\n```\n# code\n```\nSetext\n---\n");
        let expected = "x\n\n### Top\n#### Sub ##\n###### Five\n```\n# code\n```\nSetext\n---";
        assert_eq!(body.as_str(), expected);
        assert_eq!((body.dropped_heading, body.demoted), (true, 2));
        assert_eq!(fitted("### Data base\nx").as_str(), "### Data base\nx");
    }

    #[test]
    fn what_is_open_is_closed() {
        for (content, end) in [
            ("a\n````sh\n# x\n```", "````"),
            ("~~~\n## x", "~~~"),
            ("a\n\n<!-- note\n\n## x", "-->"),
            ("<script>\n\nlet a = 1", "</script>"),
            ("<?php\n\nx", "?>"),
        ] {
            let body = fitted(content);
            assert_eq!(body.closed_with.as_deref(), Some(end), "{content:?}");
            assert_eq!(body.as_str(), format!("{content}\n{end}"));
            assert_eq!(Body::fit(body.as_str(), "x").expect("closed").closed_with, None);
        }
        assert_eq!(fitted("- ```\n  x").closed_with, None, "an item ends with its list");
        assert_eq!(fitted("<div>\nx").closed_with, None, "a blank line ends it");
    }
}
