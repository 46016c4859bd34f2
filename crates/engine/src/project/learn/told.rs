//! Decisions and fixes as commits, decision records and changelogs tell them: pure.

use strata_lang::{Found, Heading, Limits};

/// Characters of a proposal.
const LONGEST: usize = 1_200;
/// Words that a proposal has at least: fewer say nothing without their surroundings.
const FEWEST_WORDS: usize = 4;
/// Entries that are taken of one changelog.
const MAX_ENTRIES: usize = 200;

/// Something that is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    /// `decision` or `fix`.
    pub(super) kind: &'static str,
    pub(super) text: String,
    /// The commit or the file.
    pub(super) evidence: String,
}

impl Told {
    /// `None` when the text is too short to stand by itself.
    fn new(kind: &'static str, text: &str, evidence: String) -> Option<Self> {
        let text: String = text.trim().chars().take(LONGEST).collect();
        let is_some = text.split_whitespace().count() >= FEWEST_WORDS;
        is_some.then_some(Self { kind, text, evidence })
    }
}

/// The kind of what a commit tells, by how its first line begins.
fn kind_of(subject: &str, message: &str) -> Option<&'static str> {
    let lower = subject.to_lowercase();
    let (sort, is_breaking) = match lower.split_once(':') {
        Some((sort, _)) => (sort.split('(').next().unwrap_or_default(), sort.ends_with('!')),
        None => ("", false),
    };
    let begins = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
    if matches!(sort.trim_end_matches('!'), "fix" | "bugfix" | "hotfix" | "revert")
        || begins(&["fix ", "fixes ", "fixed ", "revert "])
    {
        return Some("fix");
    }
    let decides = is_breaking
        || matches!(sort, "decision" | "adr")
        || begins(&["decide ", "adopt ", "switch to ", "migrate to ", "drop support ", "deprecate "])
        || message.lines().any(|line| line.starts_with("BREAKING CHANGE:") || line.starts_with("Decision:"));
    decides.then_some("decision")
}

/// What a commit tells: its first line, and the first paragraphs of why. Lines that name people are left out.
pub(super) fn of_commit(id: &str, message: &str) -> Option<Told> {
    let mut lines = message.lines();
    let subject = lines.by_ref().find(|line| !line.trim().is_empty())?.trim();
    let kind = kind_of(subject, message)?;
    let body: Vec<&str> = lines.filter(|line| !names_people(line)).collect();
    let body = body.join("\n");
    let text = format!("{}\n\n{}", without_addresses(subject), without_addresses(body.trim()));
    Told::new(kind, &text, format!("commit {id}"))
}

/// Whether a line is one of those at the end of a message that say who did something.
fn names_people(line: &str) -> bool {
    let Some((name, _)) = line.trim().split_once(':') else { return false };
    let name = name.to_lowercase();
    name.ends_with("-by") || matches!(name.as_str(), "author" | "committer" | "cc" | "change-id")
}

/// The text without mail addresses.
fn without_addresses(text: &str) -> String {
    let is_address = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'))
    };
    let line = |line: &str| line.split(' ').filter(|word| !is_address(word)).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn headings(path: &str, text: &str) -> Vec<Heading> {
    match strata_lang::read(path, text, &Limits::default(), &|| false).found {
        Found::Headings(headings) => headings,
        _ => Vec::new(),
    }
}

/// What stands below a heading, without the heading.
fn below<'t>(text: &'t str, heading: &Heading) -> &'t str {
    let section = text.get(heading.span.bytes.clone()).unwrap_or_default();
    section.split_once('\n').map_or("", |(_, rest)| rest).trim()
}

/// What a record of a decision says was decided, if it is in force.
pub(super) fn of_decision_record(path: &str, text: &str) -> Option<Told> {
    let headings = headings(path, text);
    let title = headings.iter().find(|heading| heading.level > 0)?.title().to_owned();
    let section = |names: &[&str]| {
        let is_named = |h: &&Heading| names.iter().any(|name| h.title().to_lowercase().starts_with(name));
        headings.iter().find(is_named).map(|heading| below(text, heading))
    };
    let inline = text.lines().map(|line| line.trim().trim_start_matches(['-', '*', ' ']).to_lowercase());
    let status = section(&["status"]).map(str::to_lowercase).or_else(|| {
        inline.into_iter().find_map(|line| {
            line.strip_prefix("status").map(|rest| rest.trim_matches(['*', ':', ' ']).to_owned())
        })
    });
    let over = ["superseded", "deprecated", "rejected", "proposed", "draft", "withdrawn"];
    if status.is_some_and(|status| over.iter().any(|word| status.contains(word))) {
        return None;
    }
    let decision = section(&["decision"])?;
    Told::new("decision", &format!("{title}\n\n{decision}"), format!("code:{path}"))
}

/// The fixes that a changelog lists.
pub(super) fn of_changelog(path: &str, text: &str) -> Vec<Told> {
    let headings = headings(path, text);
    let fixes =
        headings.iter().filter(|h| h.title().to_lowercase().starts_with("fix") || h.title() == "Bug Fixes");
    let mut told = Vec::new();
    for heading in fixes {
        let version = heading.path.iter().rev().nth(1).map_or("", String::as_str);
        for entry in entries(below(text, heading)) {
            told.extend(Told::new("fix", &entry, format!("{path}, {version}")));
        }
    }
    told.truncate(MAX_ENTRIES);
    told
}

/// The entries of a list, each on one line.
fn entries(text: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in text.lines() {
        if let Some(first) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
            entries.push(first.trim().to_owned());
        } else if line.starts_with(' ')
            && let Some(last) = entries.last_mut()
        {
            last.push(' ');
            last.push_str(line.trim());
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_tell_fixes_and_decisions_and_not_who_made_them() {
        let fix = "fix(upload): retry when the gateway drops a file\n\nIt answers 502 under load, write to ana@private.test.\n\nSigned-off-by: Ana <ana@private.test>\n";
        let told = of_commit("0123abcd", fix).expect("a fix");
        assert_eq!((told.kind, told.evidence.as_str()), ("fix", "commit 0123abcd"));
        assert!(told.text.contains("502 under load") && !told.text.contains("private.test"), "{}", told.text);
        for (message, kind) in [
            ("feat!: drop the old upload protocol for good", Some("decision")),
            ("Adopt SQLite for the queue of jobs", Some("decision")),
            ("feat: a queue of jobs\n\nDecision: one queue for each tenant.", Some("decision")),
            ("Fixed the order of uploads in archives", Some("fix")),
            ("fix: typo", None),
            ("feat: a button that does nothing yet", None),
            ("fixture: more of them for the tests", None),
        ] {
            assert_eq!(of_commit("1", message).map(|told| told.kind), kind, "{message}");
        }
    }

    #[test]
    fn a_decision_record_tells_its_decision_while_it_is_in_force() {
        let record = "# 3. Retry uploads\n\n## Status\n\nAccepted\n\n## Context\n\nThe gateway drops files.\n\n## Decision\n\nAn upload is tried three times.\n\n## Consequences\n\nNone.\n";
        let told = of_decision_record("docs/adr/003.md", record).expect("a decision");
        assert_eq!(told.text, "3. Retry uploads\n\nAn upload is tried three times.");
        assert_eq!(told.evidence, "code:docs/adr/003.md");
        assert_eq!(of_decision_record("a.md", &record.replace("Accepted", "Superseded by 7")), None);
        let inline =
            "# Retry uploads\n\n* Status: proposed\n\n## Decision\n\nAn upload is tried three times.\n";
        assert_eq!(of_decision_record("a.md", inline), None);
    }

    #[test]
    fn a_changelog_tells_its_fixes_with_their_version() {
        let text = "# Changes\n\n## 1.2.0\n\n### Added\n\n- A button that does nothing yet.\n\n### Fixed\n\n- Uploads of empty files no longer hang\n  when the gateway is slow.\n- Typo.\n";
        let told = of_changelog("CHANGELOG.md", text);
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0].text, "Uploads of empty files no longer hang when the gateway is slow.");
        assert_eq!(told[0].evidence, "CHANGELOG.md, 1.2.0");
    }
}
