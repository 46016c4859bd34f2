//! Topics that grew within a file in which anything lands, and deserve a file of their own.

use serde::Serialize;
use strata_core::knowledge::promotion::{clusters, topic_name};

use super::shown;
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{
        files::Readable,
        vectors::{Embedded, misfit},
    },
    operation::Call,
    render::counted,
    settings::layered::Promotion,
};

/// Sections that are named.
const NAMED: usize = 12;

/// A topic that could stand alone.
#[derive(Debug, Clone, Serialize)]
pub struct Candidate {
    /// The file it is in.
    pub watch_domain: String,
    /// Its sections, at most twelve.
    pub cluster_sections: Vec<String>,
    /// How many there are.
    pub cluster_size: usize,
    /// A name for its file.
    pub suggested_domain: String,
    /// Sections of the whole file.
    pub file_section_count: usize,
    /// What to do.
    pub hint: String,
}

/// The candidates in the files that are watched.
pub(super) fn watched(engine: &Engine, call: &Call<'_>, files: &[Readable]) -> Result<Vec<Candidate>, Error> {
    let rule = &engine.settings().config.promotion;
    let watched: Vec<&Readable> = files.iter().filter(|file| is_watched(rule, file.head.domain())).collect();
    in_files(engine, call, &watched)
}

/// The candidates in these files: the largest group of each that is large enough.
pub(super) fn in_files(
    engine: &Engine,
    call: &Call<'_>,
    files: &[&Readable],
) -> Result<Vec<Candidate>, Error> {
    let rule = &engine.settings().config.promotion;
    let mut found = Vec::new();
    for file in files.iter().filter(|file| rule.enabled && file.file.entries().len() >= rule.min_sections) {
        let Some(embedded) = Embedded::of(engine, call, [(0, *file)])? else { return Ok(Vec::new()) };
        let groups = clusters(&embedded.vectors(), rule.cluster_threshold as f32).map_err(|e| misfit(&e))?;
        let Some(group) = groups.into_iter().next().filter(|group| group.len() >= rule.min_cluster_size)
        else {
            continue;
        };
        let sections: Vec<usize> = group.iter().map(|row| embedded.places[*row].1).collect();
        found.push(candidate(file, &sections));
    }
    Ok(found)
}

fn candidate(file: &Readable, sections: &[usize]) -> Candidate {
    let entries = file.file.entries();
    let titles: Vec<&str> = sections.iter().map(|at| entries[*at].title.as_str()).collect();
    let suggested_domain = topic_name(&titles);
    let domain = file.head.domain().to_owned();
    Candidate {
        hint: format!(
            "{} of `{domain}` are of one topic: `move_section` puts them into `{suggested_domain}`",
            counted(sections.len(), "section")
        ),
        watch_domain: domain,
        cluster_sections: titles.iter().take(NAMED).map(|title| shown(title)).collect(),
        cluster_size: sections.len(),
        suggested_domain,
        file_section_count: entries.len(),
    }
}

fn is_watched(rule: &Promotion, domain: &str) -> bool {
    rule.watch_domains.iter().any(|name| name == domain)
        || rule.watch_patterns.iter().any(|pattern| fits(&pattern.to_lowercase(), &domain.to_lowercase()))
}

/// Whether a name fits a pattern in which `*` stands for anything.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_patterns_and_watched_files_are_known_in_two_languages() {
        for (pattern, name, expected) in [
            ("misc", "misc", true),
            ("misc", "misc-a", false),
            ("misc-*", "misc-a", true),
            ("misc-*", "misc", false),
            ("*-log-*", "a-log-b", true),
            ("*-log-*", "a-log", false),
            ("*", "anything", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
        let rule = Promotion::default();
        for name in ["misc", "Misc-2026", "杂项", "inbox"] {
            assert!(is_watched(&rule, name), "{name}");
        }
        assert!(!is_watched(&rule, "infrastructure"));
    }
}
