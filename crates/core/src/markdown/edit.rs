//! Edits of one section that leave every other byte as it was.
//!
//! Each edit reads its result again: if a heading would be lost or appear, because the text around it leaves a code
//! fence or a comment open, the edit is refused and nothing changes.

use super::{
    body::{Body, open_fence},
    outline::{Entry, Mark, Outline, core},
    unified,
};

/// Where a section goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Before all other sections.
    First,
    /// Directly before the section at this position.
    Before(usize),
    /// Directly after the section at this position.
    After(usize),
    /// At the end of the file.
    Last,
}

/// Why an edit is refused. The file is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// No section stands at this position.
    #[error("there is no section {0}")]
    NoSection(usize),
    /// The text around the place leaves a block open, so that this heading would be lost or appear.
    #[error(
        "the heading `{0}` would be lost or appear: a code fence, comment or list before it is left open"
    )]
    Structure(String),
}

/// Replaces the text of a section. Blank lines around the text stay.
pub fn replace_body(text: &str, index: usize, body: &Body) -> Result<String, EditError> {
    Outline::parse(text).replace_body(index, body)
}

impl Outline<'_> {
    /// [`replace_body`] in a file that was read.
    pub fn replace_body(&self, index: usize, body: &Body) -> Result<String, EditError> {
        set_body(self, entry(self, index)?, body.as_str())
    }

    /// [`append_to_body`] in a file that was read.
    pub fn append_to_body(&self, index: usize, addition: &Body) -> Result<String, EditError> {
        let entry = entry(self, index)?;
        let old = unified(&self.text()[core(self.text(), &entry.body)]);
        let mut whole = close_fence(old);
        if !whole.is_empty() && !addition.as_str().is_empty() {
            whole.push_str(if continues(&whole, addition.as_str()) { "\n" } else { "\n\n" });
        }
        whole.push_str(addition.as_str());
        append(self, entry, &whole)
    }

    /// [`insert`] in a file that was read.
    pub fn insert(&self, place: Place, heading: &Heading, body: &Body) -> Result<String, EditError> {
        let at = offset(self, place)?;
        let block = if body.as_str().is_empty() {
            format!("## {}", heading.as_str())
        } else {
            format!("## {}\n\n{}", heading.as_str(), body.as_str())
        };
        insert_block(self, at, &with_breaks(&block, line_break(self.text(), at)), heading.as_str())
    }

    /// The text of a section after an edit that changed nothing but it, found without reading the file again.
    pub fn body_in<'e>(&self, edited: &'e str, index: usize) -> &'e str {
        let Some(entry) = self.entries().get(index) else { return "" };
        let tail = self.text().len().saturating_sub(entry.body.end);
        let body = entry.body.start..edited.len().saturating_sub(tail);
        if edited.get(body.clone()).is_some() { &edited[core(edited, &body)] } else { "" }
    }
}

/// Adds a block at the end of a section: after a blank line, or directly when a list or a table goes on. A code fence that
/// the section leaves open is closed first.
pub fn append_to_body(text: &str, index: usize, addition: &Body) -> Result<String, EditError> {
    Outline::parse(text).append_to_body(index, addition)
}

/// Inserts a new section. `heading` is its text without marks.
pub fn insert(text: &str, place: Place, heading: &Heading, body: &Body) -> Result<String, EditError> {
    Outline::parse(text).insert(place, heading, body)
}

/// Replaces the section that has this heading, or adds one at the end of the file.
pub fn upsert(text: &str, heading: &Heading, body: &Body) -> Result<String, EditError> {
    match Outline::parse(text).find(heading.as_str(), None) {
        Some(index) => replace_body(text, index, body),
        None => insert(text, Place::Last, heading, body),
    }
}

/// Gives a section another heading. Indent, marks and a closing run of `#` stay.
pub fn rename(text: &str, index: usize, heading: &Heading) -> Result<String, EditError> {
    let outline = Outline::parse(text);
    let entry = entry(&outline, index)?;
    let at = &entry.written;
    let space = if text[..at.start].ends_with('#') { " " } else { "" };
    let edited = format!("{}{space}{}{}", &text[..at.start], heading.as_str(), &text[at.end..]);
    let mut expected = outline.marks.clone();
    for mark in expected.iter_mut().filter(|m| m.start == entry.head.start) {
        heading.as_str().clone_into(&mut mark.heading);
    }
    checked(edited, &expected)
}

/// Takes a section out. At the end of the file the blank lines before it go with it.
pub fn delete(text: &str, index: usize) -> Result<String, EditError> {
    let outline = Outline::parse(text);
    let span = entry(&outline, index)?.span();
    let mut before = &text[..span.start];
    if span.end == text.len() {
        let kept = before.trim_end();
        let rest = &before[kept.len()..];
        let line_end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        before = if kept.is_empty() { before } else { &before[..kept.len() + line_end] };
    }
    let expected: Vec<Mark> = outline.marks.iter().filter(|m| m.start != span.start).cloned().collect();
    checked(format!("{before}{}", &text[span.end..]), &expected)
}

/// Moves a section to another place in the same file. Its bytes stay, only blank lines between sections are set anew.
pub fn move_within(text: &str, index: usize, place: Place) -> Result<String, EditError> {
    let outline = Outline::parse(text);
    let entry = entry(&outline, index)?;
    offset(&outline, place)?;
    let block = block(text, entry);
    let shifted = |target: usize| if target > index { target - 1 } else { target };
    let place = match place {
        Place::Before(target) | Place::After(target) if target == index => return Ok(text.to_owned()),
        Place::Before(target) => Place::Before(shifted(target)),
        Place::After(target) => Place::After(shifted(target)),
        Place::First | Place::Last => place,
    };
    let without = delete(text, index)?;
    let rest = Outline::parse(&without);
    insert_block(&rest, offset(&rest, place)?, block, &entry.heading)
}

/// Moves a section to another file: the first file without it, and the second with it. It takes the line ends of
/// its new file.
pub fn move_between(
    from: &str,
    index: usize,
    into: &str,
    place: Place,
) -> Result<(String, String), EditError> {
    let outline = Outline::parse(from);
    let entry = entry(&outline, index)?;
    let target = Outline::parse(into);
    let at = offset(&target, place)?;
    // A lone carriage return would join the break after it (`\r\r\n`) and swallow a line.
    let block = unified(block(from, entry));
    let added = insert_block(&target, at, &with_breaks(&block, line_break(into, at)), &entry.heading)?;
    Ok((delete(from, index)?, added))
}

/// The text of a heading that stands on one line and reads back as it was given.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Heading(String);

/// Why a text cannot be a heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeadingError {
    /// Nothing remains without `#` and spaces.
    #[error("a heading needs text")]
    Empty,
    /// A line break or another control character.
    #[error("a heading is one line without control characters")]
    Control,
    /// Longer than [`Heading::MAX_CHARS`].
    #[error("a heading has at most {} characters", Heading::MAX_CHARS)]
    TooLong,
}

impl Heading {
    /// The longest heading, in characters.
    pub const MAX_CHARS: usize = 200;

    /// Reads a heading as a caller gives it: leading `#`, a closing run of `#` and outer spaces go.
    pub fn parse(heading: &str) -> Result<Self, HeadingError> {
        let text = super::outline::strip_marks(heading);
        if text.is_empty() {
            return Err(HeadingError::Empty);
        }
        if text.chars().any(|c| c.is_control() || ['\u{2028}', '\u{2029}', '\u{feff}'].contains(&c)) {
            return Err(HeadingError::Control);
        }
        if text.chars().count() > Self::MAX_CHARS {
            return Err(HeadingError::TooLong);
        }
        Ok(Self(text.to_owned()))
    }

    /// The text without marks.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn entry<'o>(outline: &'o Outline<'_>, index: usize) -> Result<&'o Entry, EditError> {
    outline.entries().get(index).ok_or(EditError::NoSection(index))
}

fn offset(outline: &Outline<'_>, place: Place) -> Result<usize, EditError> {
    let entries = outline.entries();
    let end = outline.text().len();
    match place {
        Place::First => Ok(entries.first().map_or(end, |first| first.head.start)),
        Place::Before(index) => Ok(entry(outline, index)?.head.start),
        Place::After(index) => Ok(entry(outline, index)?.body.end),
        Place::Last => Ok(end),
    }
}

/// Heading and text, without the blank lines after it.
fn block<'t>(text: &'t str, entry: &Entry) -> &'t str {
    let core = core(text, &entry.body);
    let end = if core.is_empty() { entry.head.end } else { core.end };
    text[entry.head.start..end].trim_end_matches(['\n', '\r'])
}

/// Puts `new` in the place of the section's text.
fn set_body(outline: &Outline<'_>, entry: &Entry, new: &str) -> Result<String, EditError> {
    let text = outline.text();
    let broken = line_break(text, entry.head.end);
    let old = core(text, &entry.body);
    if old.is_empty() && new.is_empty() {
        return Ok(text.to_owned());
    }
    let (mut lead, mut trail) =
        (text[entry.body.start..old.start].to_owned(), text[old.end..entry.body.end].to_owned());
    if new.is_empty() {
        // The break that ended the last line of the text goes with it.
        let first = if trail.starts_with("\r\n") { 2 } else { trail.len().min(1) };
        trail.drain(..first);
    } else if old.is_empty() {
        let ended = text[entry.head.clone()].ends_with(['\n', '\r']);
        lead = if ended { broken.to_owned() } else { broken.repeat(2) };
        trail = broken.repeat(if entry.body.end == text.len() { 1 } else { 2 });
    }
    let new = with_breaks(new, broken);
    let (head, tail) = (&text[..entry.body.start], &text[entry.body.end..]);
    let edited = format!("{head}{lead}{new}{trail}{tail}");
    // An HTML block ends at a blank line only.
    checked(edited, &outline.marks)
        .or_else(|_| checked(format!("{head}{lead}{new}{trail}{broken}{tail}"), &outline.marks))
}

/// Puts `whole`, which begins with the section's text, in its place: the bytes that were there stay.
fn append(outline: &Outline<'_>, entry: &Entry, whole: &str) -> Result<String, EditError> {
    let text = outline.text();
    let old = core(text, &entry.body);
    if old.is_empty() {
        return set_body(outline, entry, whole);
    }
    let known = unified(&text[old.clone()]);
    let added = with_breaks(whole.get(known.len()..).unwrap_or_default(), line_break(text, entry.head.end));
    let (head, tail) = (&text[..old.end], &text[old.end..]);
    let broken = line_break(text, entry.head.end);
    checked(format!("{head}{added}{tail}"), &outline.marks)
        .or_else(|_| checked(format!("{head}{added}{broken}{tail}"), &outline.marks))
}

fn insert_block(outline: &Outline<'_>, at: usize, block: &str, heading: &str) -> Result<String, EditError> {
    let (before, after) = outline.text().split_at(at);
    let broken = line_break(outline.text(), at);
    let is_blank = before.trim_start_matches('\u{feff}').is_empty();
    let gap = match () {
        () if is_blank || ends_with_blank_line(before) => String::new(),
        () if before.ends_with(['\n', '\r']) => broken.to_owned(),
        () => broken.repeat(2),
    };
    let tail = if after.is_empty() { "" } else { broken };
    let mark = Mark { level: 2, heading: heading.to_owned(), start: at };
    let mut expected = outline.marks.clone();
    expected.insert(expected.partition_point(|m| m.start < at), mark);
    checked(format!("{before}{gap}{block}{broken}{tail}{after}"), &expected)
}

/// The edited text, if it has exactly the expected headings.
fn checked(edited: String, expected: &[Mark]) -> Result<String, EditError> {
    let found = Outline::parse(&edited).marks;
    let same = |(a, b): (&Mark, &Mark)| a.level == b.level && a.heading == b.heading;
    let shared = expected.iter().zip(&found).take_while(|pair| same(*pair)).count();
    if shared == expected.len() && shared == found.len() {
        return Ok(edited);
    }
    let at = expected.get(shared).or_else(|| found.get(shared));
    Err(EditError::Structure(at.map_or_else(String::new, |mark| mark.heading.clone())))
}

fn close_fence(mut body: String) -> String {
    let alone = Body::fit(&body, "").ok().and_then(|fit| fit.closed_with);
    if let Some(fence) = open_fence(&body).filter(|fence| alone.as_ref() == Some(fence)) {
        body.push('\n');
        body.push_str(&fence);
    }
    body
}

/// Whether a list or a table goes on from the last line of one text to the first of the other.
fn continues(before: &str, after: &str) -> bool {
    let sort = |line: &str| {
        let line = line.trim_start();
        let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = digits.len() < line.len() && (digits.starts_with(". ") || digits.starts_with(") "));
        match line.as_bytes() {
            [b'|', ..] => 2,
            [b'-' | b'*' | b'+', b' ', ..] => 1,
            _ if numbered => 1,
            _ => 0,
        }
    };
    let (last, first) = (before.lines().next_back().unwrap_or(""), after.lines().next().unwrap_or(""));
    sort(last) != 0 && sort(last) == sort(first)
}

/// The line break in use at `at`: that of the line before it, else that of the line after it. A lone carriage return
/// is kept where it stands and never written: parsers disagree about it.
pub(super) fn line_break(text: &str, at: usize) -> &'static str {
    let before = text[..at].rfind('\n');
    let found = before.or_else(|| text[at..].find('\n').map(|offset| at + offset));
    if found.is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" }
}

fn with_breaks(text: &str, broken: &str) -> String {
    if broken == "\n" { text.to_owned() } else { text.replace('\n', broken) }
}

fn ends_with_blank_line(text: &str) -> bool {
    let Some(line) = text.strip_suffix("\r\n").or_else(|| text.strip_suffix(['\n', '\r'])) else {
        return false;
    };
    let before = line.trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with(['\n', '\r'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> Body {
        Body::fit(text, "").expect("closed")
    }

    fn heading(text: &str) -> Heading {
        Heading::parse(text).expect("a heading")
    }

    #[test]
    fn text_goes_into_a_section_in_the_middle_and_the_next_heading_stays() {
        let text = "# infra\n\n## Pool\n\nalpha\n\n## Cache\n\nbeta\n";
        let appended = append_to_body(text, 0, &body("gamma")).expect("it fits");
        assert_eq!(appended, "# infra\n\n## Pool\n\nalpha\n\ngamma\n\n## Cache\n\nbeta\n");
        let tight = "## Pool\n- alpha\n## Cache\nbeta";
        assert_eq!(
            append_to_body(tight, 0, &body("- b")),
            Ok("## Pool\n- alpha\n- b\n## Cache\nbeta".into())
        );
        assert_eq!(append_to_body(tight, 1, &body("x")), Ok("## Pool\n- alpha\n## Cache\nbeta\n\nx".into()));
        assert_eq!(replace_body(tight, 0, &body("x")), Ok("## Pool\nx\n## Cache\nbeta".into()));
    }

    #[test]
    fn an_html_block_does_not_swallow_the_next_heading() {
        let edited = replace_body("## A\nx\n## B\n", 0, &body("<div>\ny")).expect("a blank line is added");
        assert_eq!(edited, "## A\n<div>\ny\n\n## B\n");
        let edited = append_to_body("## A\nx\n## B\n", 0, &body("<div>")).expect("a blank line is added");
        assert_eq!(edited, "## A\nx\n\n<div>\n\n## B\n");
    }

    #[test]
    fn carriage_returns_are_kept_and_used() {
        let text = "\u{feff}---\r\nid: 1\r\n---\r\n## A\r\n\r\nx\r\n\r\n## B\r\ny";
        let edited = replace_body(text, 0, &body("one\ntwo")).expect("it fits");
        assert_eq!(edited, text.replace("x\r\n", "one\r\ntwo\r\n"));
        let edited = insert(text, Place::Last, &heading("C"), &body("z")).expect("it fits");
        assert_eq!(edited, format!("{text}\r\n\r\n## C\r\n\r\nz\r\n"));
    }

    #[test]
    fn a_section_is_emptied_and_filled() {
        let text = "## A\n\nx\n\n## B\n\ny\n";
        let emptied = replace_body(text, 0, &body("")).expect("it fits");
        assert_eq!(emptied, "## A\n\n\n## B\n\ny\n");
        assert_eq!(replace_body(&emptied, 0, &body("")).as_ref(), Ok(&emptied));
        assert_eq!(replace_body("## A\n## B", 0, &body("x")), Ok("## A\n\nx\n\n## B".to_owned()));
        assert_eq!(replace_body("## A", 0, &body("x")), Ok("## A\n\nx\n".to_owned()));
        assert_eq!(append_to_body("## A\n", 0, &body("x")), Ok("## A\n\nx\n".to_owned()));
    }

    #[test]
    fn sections_are_inserted_renamed_moved_and_deleted() {
        let new = insert("", Place::First, &heading("## A ##"), &body("a")).expect("it fits");
        assert_eq!(new, "## A\n\na\n");
        let text = "# d\n\n## A\n\na\n\n##  B ##\n\nb\n";
        let first = insert(text, Place::First, &heading("N"), &body("")).expect("it fits");
        assert_eq!(first, "# d\n\n## N\n\n## A\n\na\n\n##  B ##\n\nb\n");
        assert_eq!(rename(text, 1, &heading("C#")), Ok(text.replace(" B ", " C# ")));
        assert_eq!(rename("##\nx", 0, &heading("C")), Ok("## C\nx".to_owned()));
        let moved = move_within(text, 1, Place::Before(0)).expect("it fits");
        assert_eq!(moved, "# d\n\n##  B ##\n\nb\n\n## A\n\na\n");
        assert_eq!(move_within(text, 0, Place::After(1)), move_within(text, 0, Place::Last));
        assert_eq!(move_within(&moved, 1, Place::First).as_deref(), Ok(text));
        let (from, into) = move_between(text, 0, "## X\r\n", Place::Last).expect("it fits");
        assert_eq!(from, "# d\n\n##  B ##\n\nb\n");
        assert_eq!(into, "## X\r\n\r\n## A\r\n\r\na\r\n");
        let (_, into) = move_between("## A\n\na\r\r\nb\n", 0, "", Place::Last).expect("it fits");
        assert_eq!(into, "## A\n\na\n\nb\n");
        assert_eq!(delete(text, 1), Ok("# d\n\n## A\n\na\n".to_owned()));
        assert_eq!(delete(text, 2), Err(EditError::NoSection(2)));
    }

    #[test]
    fn what_is_left_open_before_the_place_is_refused_or_closed() {
        let text = "## A\n```\ncode\n";
        let refused = insert(text, Place::Last, &heading("B"), &body("b"));
        assert_eq!(refused, Err(EditError::Structure("B".to_owned())));
        assert_eq!(append_to_body(text, 0, &body("x")), Ok("## A\n```\ncode\n```\n\nx\n".to_owned()));
        assert!(delete("<!--\n\n## A\n-->\n## B\n", 0).is_ok());
    }

    #[test]
    fn a_fence_with_a_heading_inside_stays_intact() {
        let text = "## A\n\n```md\n## x\n```\n\n## B\n\nb\n";
        let edited = append_to_body(text, 0, &body("more")).expect("it fits");
        assert_eq!(edited, "## A\n\n```md\n## x\n```\n\nmore\n\n## B\n\nb\n");
        let edited = upsert(text, &heading("b"), &body("```\n## y\n```")).expect("it fits");
        assert_eq!(edited, "## A\n\n```md\n## x\n```\n\n## B\n\n```\n## y\n```\n");
    }

    #[test]
    fn headings_are_checked() {
        assert_eq!(Heading::parse("  ## "), Err(HeadingError::Empty));
        assert_eq!(Heading::parse("a\nb"), Err(HeadingError::Control));
        assert_eq!(Heading::parse(&"长".repeat(201)), Err(HeadingError::TooLong));
        assert_eq!(Heading::parse("### Issue #2").map(|h| h.as_str().to_owned()), Ok("Issue #2".to_owned()));
    }
}
