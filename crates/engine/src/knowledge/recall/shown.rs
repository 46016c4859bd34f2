//! What is shown of a section.

use serde::Serialize;
use strata_core::{knowledge::ranking::Keyword, redact::redact};

use crate::{
    knowledge::{
        room::{REPLY, cost, fitting},
        vault::ParsedFile,
    },
    operation::is_default,
    render::shortened,
};

/// Bytes that are shown of one section.
const SECTION: usize = 2_048;
/// With less room than this nothing more is shown.
const LEAST: usize = 160;
/// What stands around a file and around a section, in characters of JSON.
const FRAME: (usize, usize) = (260, 150);
/// Characters of a heading.
const HEADING: usize = 200;

/// A section that matches.
#[derive(Debug, Serialize)]
pub struct SectionView {
    /// Its heading; `Overview` for what stands before the first one.
    pub title: String,
    /// Its text, with the line of the heading.
    pub content: String,
    /// Whether only a part of it is shown.
    #[serde(skip_serializing_if = "is_default")]
    pub truncated: bool,
}

/// The room that is left in a reply.
pub(super) struct Room {
    left: usize,
    /// What the file may take whose turn it is.
    share: usize,
    was_short: bool,
}

impl Default for Room {
    fn default() -> Self {
        Self { left: REPLY, share: 0, was_short: false }
    }
}

impl Room {
    /// Whether there is room for a file with nothing but its name and links.
    pub(super) fn takes_file(&mut self, path: &str, links: &[String]) -> bool {
        let needed = FRAME.0 + cost(path) + links.iter().map(|link| cost(link) + 16).sum::<usize>();
        let left = self.left.checked_sub(needed);
        self.was_short |= left.is_none();
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// Begins with the sections of the next of so many files: half of what is left is for the first of them, and the
    /// same for each at least.
    pub(super) fn next_of(&mut self, files: usize) {
        self.share = (self.left / 2).max(self.left / files.max(1));
    }

    /// A section as far as there is room; around the keyword when it is long. Secrets that hands wrote into the file
    /// are blacked out.
    pub(super) fn section(
        &mut self,
        file: &ParsedFile,
        part: usize,
        keyword: &Keyword,
    ) -> Option<SectionView> {
        let most = SECTION.min(self.share.saturating_sub(FRAME.1));
        let (searchable, text) = (file.searchable(), file.text());
        let place = searchable.parts().get(part)?;
        if most < LEAST {
            self.was_short = true;
            return None;
        }
        let whole = &text[place.span.clone()];
        let redaction = redact(whole);
        let (content, truncated) = if redaction.is_redacted() {
            // Whatever was blacked out moved the rest, so the beginning is shown.
            let end = redaction.text.floor_char_boundary(most);
            (redaction.text[..end].to_owned(), end < redaction.text.len())
        } else {
            let window = searchable.window(text, part, keyword, most);
            let heading = match window.start > place.heading_end {
                true => shortened(&text[place.span.start..place.heading_end], HEADING) + "\n…\n",
                false => String::new(),
            };
            (heading + &text[window.clone()], window.len() < whole.len())
        };
        let kept = fitting(content.trim_end(), self.share.saturating_sub(FRAME.1));
        let truncated = truncated || kept.len() < content.trim_end().len();
        let mut content = kept.to_owned();
        if truncated {
            content.push('…');
            self.was_short = true;
        }
        let title = short(&place.title);
        let taken = FRAME.1 + cost(&title) + cost(&content);
        self.left = self.left.saturating_sub(taken);
        self.share = self.share.saturating_sub(taken);
        Some(SectionView { title, content, truncated })
    }

    /// Whether anything was left out or cut.
    pub(super) fn is_short(&self) -> bool {
        self.was_short
    }
}

/// A heading or link as it is shown.
pub(super) fn short(text: &str) -> String {
    shortened(&redact(text).text, HEADING)
}
