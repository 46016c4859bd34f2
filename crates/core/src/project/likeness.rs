//! How like two memories of a project are, by title, kind and the part of the project they are about.

use std::collections::BTreeSet;

use super::{
    paths::names,
    wording::{jaccard, share, words},
};

/// From here on the one may be the other.
pub const NEAR: f64 = 0.80;
/// From here on they may be about the same.
pub const PARTIAL: f64 = 0.50;
/// From this likeness of the titles on, and of one kind, they are about the same.
const SAME_TITLE: f64 = 0.80;
/// Characters of the text that are compared beside the title.
const EXCERPT: usize = 200;
/// What titles are given beside what they say.
const AFFIXES: [&str; 6] = ["Fix: ", "Fix ", "Decision: ", "Constraint: ", " — updated", "[Compacted] "];

/// A memory as far as it is compared.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    /// Its kind.
    pub kind: &'a str,
    /// Its headline.
    pub title: &'a str,
    /// Its text.
    pub text: &'a str,
    /// The part of the project that it is about.
    pub module_path: Option<&'a str>,
    /// How sure it is, 0 to 1.
    pub confidence: f64,
}

/// How near two memories are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// They are about different things.
    Apart,
    /// They may be about the same.
    Partial,
    /// The one may be the other.
    Near,
}

/// How like two memories are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likeness {
    /// The whole, 0 to 1, to four decimals.
    pub score: f64,
    /// Of the titles, 0 to 1.
    pub title: f64,
    /// Of the parts of the project, 0 to 1.
    pub module: f64,
    /// Whether they are of one kind.
    pub same_kind: bool,
    /// Whether they are about the same: one kind, one title and, where both name one, one part of the project.
    pub same_subject: bool,
}

impl Likeness {
    /// Compares two memories. The title counts .6, or its beginning of the text with it .48, the kind .2, the part of the
    /// project .2 (memory-engine, section 8.14).
    pub fn of(candidate: &Node<'_>, known: &Node<'_>) -> Self {
        let (a, b) = (plain_title(candidate.title), plain_title(known.title));
        let title = jaccard(&words(a), &words(b));
        let text = jaccard(&beginning(a, candidate.text), &beginning(b, known.text));
        let same_kind = candidate.kind == known.kind;
        let (of_candidate, of_known) = (parts(candidate.module_path), parts(known.module_path));
        let module = share(of_candidate.intersection(&of_known).count(), of_candidate.len());
        let score = 0.6 * title.max(0.8 * text) + 0.2 * f64::from(u8::from(same_kind)) + 0.2 * module;
        let one_part = of_candidate.is_empty() || of_known.is_empty() || of_candidate == of_known;
        Self {
            score: (score * 10_000.0).round() / 10_000.0,
            title,
            module,
            same_kind,
            same_subject: same_kind && title >= SAME_TITLE && one_part,
        }
    }

    /// How near they are.
    pub fn class(&self) -> Class {
        match self.score {
            score if score >= NEAR => Class::Near,
            score if score >= PARTIAL => Class::Partial,
            _ => Class::Apart,
        }
    }
}

fn beginning(title: &str, text: &str) -> BTreeSet<String> {
    let text: String = text.chars().take(EXCERPT).collect();
    words(&format!("{title}\n{text}"))
}

fn parts(path: Option<&str>) -> BTreeSet<String> {
    path.map(names).unwrap_or_default().into_iter().collect()
}

/// A title without what every title of its kind is given: `ui — updated` and `db — updated` have nothing in common.
fn plain_title(title: &str) -> &str {
    let mut title = title.trim();
    for affix in AFFIXES {
        title = title.strip_prefix(affix).unwrap_or(title);
        title = title.strip_suffix(affix).unwrap_or(title);
    }
    title
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node<'a>(kind: &'a str, title: &'a str, text: &'a str, module_path: Option<&'a str>) -> Node<'a> {
        Node { kind, title, text, module_path, confidence: 0.85 }
    }

    #[test]
    fn the_same_title_and_kind_are_near_and_affixes_do_not_count() {
        let a = node("module", "retry — updated", "Backoff doubles.", None);
        let near = Likeness::of(&a, &node("module", "retry — updated", "Something else entirely.", None));
        assert_eq!((near.score, near.class(), near.same_subject), (0.8, Class::Near, true));
        let ui = node("module", "ui — updated", "Buttons are round.", Some("ui"));
        let db = node("module", "db — updated", "Rows are locked.", Some("db"));
        let apart = Likeness::of(&ui, &db);
        assert_eq!((apart.class(), apart.same_subject), (Class::Apart, false));
        let elsewhere = node("decision", "Decision: retry", "Backoff doubles.", None);
        assert!(!Likeness::of(&a, &elsewhere).same_subject, "another kind");
    }

    #[test]
    fn the_part_of_the_project_counts() {
        let a = node("module", "Queue", "One worker takes a task.", Some("src/queue/worker.py"));
        let b = node("module", "Worker pool", "Threads are shared.", Some("queue.worker"));
        let c = node("module", "Worker pool", "Threads are shared.", None);
        let (with, without) = (Likeness::of(&a, &b), Likeness::of(&a, &c));
        assert!((with.score - without.score - 0.2).abs() < 1e-9, "{with:?} {without:?}");
    }
}
