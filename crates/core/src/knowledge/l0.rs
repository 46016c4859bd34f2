//! The table of contents of the vault: one line for each file, derived from the files, within a budget.
//!
//! Entries that a person or agent added by hand stand behind a line of their own and survive every rebuild.

use std::{
    borrow::Cow,
    cmp::Reverse,
    collections::{HashMap, HashSet},
};

use unicode_segmentation::UnicodeSegmentation;

use super::{name::VaultPath, pointer};
use crate::{
    analysis::words::is_stop,
    markdown::{content_start, sections},
};

/// How the lines are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Format {
    /// `[L0] domain: title — a, b → knowledge/domain.md`, with this tag.
    Hermes(String),
    /// `[domain.md] title → a, b`.
    Generic,
}

/// The tag of [`Format::Hermes`] by default.
pub const TAG: &str = "[L0]";
/// A tag that older files carry.
const OLDER_TAG: &str = "[L0索引]";
/// What stands before the entries that were added by hand.
const BY_HAND: &str = "# added by hand";
/// Keywords of an entry.
const KEYWORDS: usize = 5;
/// A run of Chinese, Japanese or Korean characters that is longer is a sentence, not a keyword.
const MAX_RUN: usize = 8;
/// The longest title that is taken from a line that is no heading, in user-perceived characters.
const MAX_LINE: usize = 60;

/// One line of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The file it points at.
    pub path: VaultPath,
    /// What the file is about.
    pub title: String,
    /// The words that stand out in it.
    pub keywords: Vec<String>,
    /// It was added by hand and not made of the file.
    pub by_hand: bool,
}

impl Entry {
    /// The entry of a file: its first heading or first line, and the most frequent words of what it says beside those that the line has
    /// already. Frontmatter and comments, such as who wrote a section, say nothing.
    pub fn of_file(path: VaultPath, text: &str) -> Self {
        let content = &text[content_start(text)..];
        let heading = opening_heading(content).or_else(|| first_heading(text));
        let title =
            heading.unwrap_or_else(|| pointer::summary(content).graphemes(true).take(MAX_LINE).collect());
        let title = one_line(if title.is_empty() { path.domain() } else { &title });
        let keywords = keywords(content, &format!("{} {title}", path.domain()));
        Self { path, title, keywords, by_hand: false }
    }

    /// An entry that somebody writes.
    pub fn by_hand(path: VaultPath, summary: &str) -> Self {
        Self { path, title: one_line(summary), keywords: Vec::new(), by_hand: true }
    }

    /// The line, without its break.
    pub fn line(&self, format: &Format) -> String {
        let words = self.keywords.join(", ");
        match format {
            Format::Hermes(tag) => {
                let dash = if words.is_empty() { "" } else { " — " };
                let domain = self.path.domain();
                format!("{tag} {domain}: {}{dash}{words} → knowledge/{}", self.title, self.path)
            }
            Format::Generic => {
                let arrow = if words.is_empty() { "" } else { " → " };
                format!("[{}] {}{arrow}{words}", self.path, self.title)
            }
        }
    }

    fn parse(line: &str, tag: &str, by_hand: bool) -> Option<Self> {
        let split = |text: &str, mark: &str| {
            let (title, words) = text.rsplit_once(mark).unwrap_or((text, ""));
            let words = words.split(',').map(str::trim).filter(|word| !word.is_empty());
            (title.trim().to_owned(), words.map(str::to_owned).collect())
        };
        if let Some(rest) = [tag, TAG, OLDER_TAG].iter().find_map(|tag| line.strip_prefix(tag)) {
            let (rest, place) = rest.rsplit_once(" → ")?;
            let path = VaultPath::parse(place.trim().trim_start_matches("knowledge/")).ok()?;
            let rest = rest.trim();
            let summary =
                rest.strip_prefix(path.domain()).unwrap_or(rest).trim_start_matches([':', '：', ' ']);
            let (title, keywords) = split(summary, " — ");
            return Some(Self { path, title, keywords, by_hand });
        }
        let (place, rest) = line.strip_prefix('[')?.split_once(".md]")?;
        let path = VaultPath::parse(&format!("{place}.md")).ok()?;
        let (title, keywords) = split(rest, " → ");
        Some(Self { path, title, keywords, by_hand })
    }
}

/// The entries of an index in either format. Blank lines, comments and lines that say nothing are passed over.
pub fn parse(text: &str, format: &Format) -> Vec<Entry> {
    let tag = match format {
        Format::Hermes(tag) => tag.as_str(),
        Format::Generic => TAG,
    };
    let mut by_hand = false;
    let mut entries = Vec::new();
    for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
        by_hand |= line == BY_HAND;
        entries.extend(Entry::parse(line, tag, by_hand));
    }
    entries
}

/// The first line, from 1, of prose: an index has entries, which begin with `[`, comments and blank lines. A text that has
/// one was written for something else and must not be replaced.
pub fn foreign_line(text: &str) -> Option<usize> {
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let mut lines = lines.enumerate();
    lines.find(|(_, line)| !line.is_empty() && !line.starts_with(['[', '#'])).map(|(at, _)| at + 1)
}

/// An index as text, and how many entries did not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The text, which ends with a line break.
    pub text: String,
    /// Entries that are not in it. A comment line in the text tells their number.
    pub left_out: usize,
}

/// Writes the entries by path, those added by hand at the end, in at most `budget` bytes.
///
/// When not all fit, those added by hand go first, then the most used (`usage` tells how often a file was of use), then by path.
/// The comment that tells how many are missing may exceed the budget by itself only if no entry fits at all.
pub fn render(
    entries: &[Entry],
    format: &Format,
    budget: usize,
    usage: impl Fn(&VaultPath) -> u64,
) -> Rendered {
    let lines: Vec<String> = entries.iter().map(|entry| entry.line(format)).collect();
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by(|a, b| {
        let (left, right) = (&entries[*a], &entries[*b]);
        let by_use = usage(&right.path).cmp(&usage(&left.path));
        right.by_hand.cmp(&left.by_hand).then(by_use).then(left.path.cmp(&right.path))
    });
    let mark = if entries.iter().any(|entry| entry.by_hand) { BY_HAND.len() + 1 } else { 0 };
    let all: usize = mark + lines.iter().map(|line| line.len() + 1).sum::<usize>();
    let mut left = if all <= budget {
        all
    } else {
        budget.saturating_sub(mark + left_out_line(entries.len()).len() + 1)
    };
    let mut kept: Vec<usize> = Vec::new();
    for index in order {
        if let Some(rest) = left.checked_sub(lines[index].len() + 1) {
            left = rest;
            kept.push(index);
        }
    }
    kept.sort_by(|a, b| {
        (entries[*a].by_hand, &entries[*a].path).cmp(&(entries[*b].by_hand, &entries[*b].path))
    });
    let left_out = entries.len() - kept.len();
    Rendered { text: text_of(entries, &lines, &kept, left_out), left_out }
}

fn text_of(entries: &[Entry], lines: &[String], kept: &[usize], left_out: usize) -> String {
    let mut text: Vec<&str> = Vec::new();
    let rest = left_out_line(left_out);
    let first_by_hand = kept.iter().position(|index| entries[*index].by_hand).unwrap_or(kept.len());
    text.extend(kept[..first_by_hand].iter().map(|index| lines[*index].as_str()));
    if left_out > 0 {
        text.push(&rest);
    }
    if first_by_hand < kept.len() {
        text.push(BY_HAND);
        text.extend(kept[first_by_hand..].iter().map(|index| lines[*index].as_str()));
    }
    if text.is_empty() {
        text.push("# no knowledge yet");
    }
    text.join("\n") + "\n"
}

const LEFT_OUT: &str = " more: recall finds them";

fn left_out_line(count: usize) -> String {
    format!("# {count}{LEFT_OUT}")
}

/// How many entries a text that [`render`] made says it has no room for.
pub fn left_out(text: &str) -> usize {
    let count = |line: &str| line.strip_prefix("# ")?.strip_suffix(LEFT_OUT)?.parse().ok();
    text.lines().find_map(count).unwrap_or(0)
}

/// What tells a new index from an old one, by path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Difference {
    /// Paths that were not there.
    pub added: Vec<String>,
    /// Paths that are not there any more.
    pub removed: Vec<String>,
    /// Paths whose line says something else.
    pub changed: Vec<String>,
    /// How many lines are the same.
    pub unchanged: usize,
}

/// Compares two indexes.
pub fn difference(old: &[Entry], new: &[Entry]) -> Difference {
    let known: HashMap<String, &Entry> = old.iter().map(|entry| (entry.path.to_string(), entry)).collect();
    let mut difference = Difference::default();
    let mut seen: HashSet<String> = HashSet::new();
    for entry in new {
        let path = entry.path.to_string();
        match known.get(&path) {
            None => difference.added.push(path.clone()),
            Some(was) if was.title == entry.title && was.keywords == entry.keywords => {
                difference.unchanged += 1;
            }
            Some(_) => difference.changed.push(path.clone()),
        }
        seen.insert(path);
    }
    difference.removed = old.iter().map(|e| e.path.to_string()).filter(|path| !seen.contains(path)).collect();
    difference
}

/// One line that no mark of the format stands in.
fn one_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.replace('→', "->").replace(" — ", " - ").graphemes(true).take(pointer::MAX_SUMMARY).collect()
}

/// The first heading that says something.
fn first_heading(text: &str) -> Option<String> {
    let headings = sections(text).into_iter().filter(|section| section.level > 0);
    headings.map(|section| section.title().to_owned()).find(|title| !title.is_empty())
}

/// The same where it is the first line, as in most files: the rest of the file has no say in it then, but for what a reference in
/// brackets stands for.
fn opening_heading(content: &str) -> Option<String> {
    let line = content.lines().find(|line| !line.trim().is_empty())?;
    (line.starts_with('#') && !line.contains('[')).then(|| first_heading(line)).flatten()
}

/// The most frequent words, the earlier first when two are as frequent. Those of `said` are left out, unless there are no others.
fn keywords(text: &str, said: &str) -> Vec<String> {
    // Words take some eight bytes each, and half of them come again.
    let mut counts: HashMap<Cow<'_, str>, (usize, usize)> = HashMap::with_capacity(text.len() / 16);
    for word in without_comments(text).flat_map(words) {
        let place = counts.len();
        counts.entry(word).or_insert((0, place)).0 += 1;
    }
    let mut found: Vec<(Cow<'_, str>, (usize, usize))> = counts.into_iter().collect();
    found.retain(|(word, _)| is_telling(word));
    let said: HashSet<Cow<'_, str>> = words(said).filter(|word| is_telling(word)).collect();
    let is_new = |word: &Cow<'_, str>| !said.contains(word);
    if found.iter().any(|(word, _)| is_new(word)) {
        found.retain(|(word, _)| is_new(word));
    }
    let rank = |(_, (count, place)): &(Cow<'_, str>, (usize, usize))| (Reverse(*count), *place);
    if found.len() > KEYWORDS {
        found.select_nth_unstable_by_key(KEYWORDS, rank);
        found.truncate(KEYWORDS);
    }
    found.sort_unstable_by_key(rank);
    found.into_iter().take(KEYWORDS).map(|(word, _)| word.into_owned()).collect()
}

/// The words of a text, in small letters.
fn words(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let runs = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).flat_map(runs);
    runs.map(|word| small(word.trim_matches(['_', '-']))).filter(|word| word.len() > 1)
}

/// Whether a word can be a keyword.
fn is_telling(word: &str) -> bool {
    let is_ascii = word.is_ascii();
    let length = if is_ascii { word.len() } else { word.chars().count() };
    let is_word = length >= 2 && word.starts_with(char::is_alphabetic) && !is_stop(word);
    is_word && (is_ascii || length <= MAX_RUN)
}

fn small(word: &str) -> Cow<'_, str> {
    let is_small = word.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    if is_small { Cow::Borrowed(word) } else { Cow::Owned(word.to_lowercase()) }
}

/// The pieces of a text between its comments.
fn without_comments(text: &str) -> impl Iterator<Item = &str> {
    let after = |piece| str::split_once(piece, "-->").map_or("", |(_, rest)| rest);
    text.split("<!--").enumerate().map(move |(at, piece)| if at == 0 { piece } else { after(piece) })
}

/// Parts a run where it changes between ASCII and other letters: `Redis缓存`.
fn runs(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        if rest.is_ascii() {
            return (!rest.is_empty()).then(|| std::mem::take(&mut rest));
        }
        let is_ascii = rest.chars().next()?.is_ascii();
        let end = rest.find(|c: char| c.is_ascii() != is_ascii).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        Some(run)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> VaultPath {
        VaultPath::parse(text).expect("a path")
    }

    fn hermes() -> Format {
        Format::Hermes(TAG.to_owned())
    }

    fn three() -> Vec<Entry> {
        vec![
            Entry::of_file(path("infra/proxy.md"), "# Proxy\n\nnginx and nginx, tls\n"),
            Entry::of_file(path("数据库.md"), "## 连接池\n\n连接池 Redis缓存 连接池\n"),
            Entry::by_hand(path("team.md"), "who does what → ask"),
        ]
    }

    #[test]
    fn lines_have_the_documented_forms() {
        let lines: Vec<String> = three().iter().map(|entry| entry.line(&hermes())).collect();
        assert_eq!(lines[0], "[L0] proxy: Proxy — nginx, tls → knowledge/infra/proxy.md");
        assert_eq!(lines[1], "[L0] 数据库: 连接池 — redis, 缓存 → knowledge/数据库.md");
        assert_eq!(lines[2], "[L0] team: who does what -> ask → knowledge/team.md");
        let plain = Entry::of_file(path("a.md"), "\nno heading here\n");
        assert_eq!(plain.line(&Format::Generic), "[a.md] no heading here → heading");
        assert_eq!(Entry::by_hand(path("a.md"), "x").line(&Format::Generic), "[a.md] x");
    }

    #[test]
    fn what_a_file_says_is_neither_its_frontmatter_nor_who_wrote_it() {
        let note = "<!-- injected by: claude at 2026-11-30T14:32:49Z -->";
        let text = format!("---\nid: kn_1\ntags: [net]\n---\n\nPort 8080\n{note}\n\nnginx\n{note}\n");
        let entry = Entry::of_file(path("web.md"), &text);
        assert_eq!((entry.title.as_str(), entry.keywords.join(" ").as_str()), ("Port 8080", "nginx"));
        assert_eq!(Entry::of_file(path("web.md"), "").line(&Format::Generic), "[web.md] web");
        let open = Entry::of_file(path("web.md"), "# web\n\nweb <!-- never closed\nnginx\n");
        assert_eq!(open.keywords, ["web"], "words that the line has already, where there are no others");
    }

    #[test]
    fn both_forms_are_read_back_with_what_was_added_by_hand() {
        for format in [hermes(), Format::Generic, Format::Hermes("[ix]".to_owned())] {
            let rendered = render(&three(), &format, 4_000, |_| 0);
            assert_eq!(rendered.left_out, 0);
            let read = parse(&rendered.text, &format);
            assert_eq!(difference(&three(), &read), Difference { unchanged: 3, ..Difference::default() });
            assert_eq!(read.iter().map(|e| e.by_hand).collect::<Vec<_>>(), [false, false, true]);
            assert_eq!(render(&read, &format, 4_000, |_| 0), rendered);
        }
        let older = "\u{feff}# x\n\n[L0索引] ops： a → b → knowledge/my notes/ops.md\nnonsense\n[x] y\n";
        let read = parse(older, &hermes());
        assert_eq!(read.len(), 1);
        assert_eq!((read[0].path.to_string().as_str(), read[0].title.as_str()), ("my notes/ops.md", "a → b"));
    }

    #[test]
    fn the_budget_keeps_what_is_used_and_says_what_is_missing() {
        let entries: Vec<Entry> = (0..50)
            .map(|n| Entry::of_file(path(&format!("d{n:02}.md")), &format!("# Title {n}\n")))
            .chain([Entry::by_hand(path("zz.md"), "by hand")])
            .collect();
        let usage = |path: &VaultPath| u64::from(path.domain() == "d49");
        let rendered = render(&entries, &hermes(), 400, usage);
        assert!(rendered.text.len() <= 400, "{} bytes", rendered.text.len());
        assert!(
            rendered.text.contains("d49.md")
                && rendered.text.contains("zz.md")
                && rendered.text.contains("d00.md")
        );
        let kept = parse(&rendered.text, &hermes()).len();
        assert_eq!(kept + rendered.left_out, 51);
        assert_eq!(left_out(&rendered.text), rendered.left_out);
        assert_eq!(left_out("# some more: recall finds them\n[L0] a: b → knowledge/a.md\n"), 0);
        assert!(rendered.text.contains(&format!("# {} more: recall finds them", rendered.left_out)));
        assert_eq!(render(&[], &hermes(), 0, usage).text, "# no knowledge yet\n");
        assert_eq!(render(&entries, &hermes(), 10, usage).left_out, 51);
    }

    #[test]
    fn a_difference_is_told_by_path() {
        let new =
            vec![Entry::of_file(path("infra/proxy.md"), "# Other\n"), Entry::by_hand(path("new.md"), "n")];
        let found = difference(&three(), &new);
        assert_eq!(found.added, ["new.md"]);
        assert_eq!(found.changed, ["infra/proxy.md"]);
        assert_eq!(found.removed, ["数据库.md", "team.md"]);
    }
}
