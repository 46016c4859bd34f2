//! Headings that differ in a date, a version or a number only.
//!
//! `Release process 2026-10-01` and `Release process 2026-10-12` are one subject told twice; the write path asks for one
//! section instead.

use std::{borrow::Cow, sync::LazyLock};

use regex::Regex;

use crate::markdown::heading_key;

/// Sections with the same skeleton from which on one more asks for consolidation, by default: this one included.
pub const MIN_FAMILY: usize = 2;
/// A consolidated text must be shorter than this share of what it replaces.
pub const CONSOLIDATED_SHARE: f64 = 0.9;

/// What varies within a family: text in parentheses, dates, issue numbers, versions.
static VARYING: LazyLock<Regex> = LazyLock::new(|| {
    let parts = [
        r"\([^()]*\)|（[^（）]*）",
        r"20\d{2}\s*[年년]\s*\d{1,2}\s*[月월](?:\s*\d{1,2}\s*[日일])?|\d{1,2}\s*[月월]\s*\d{1,2}\s*[日일]",
        r"20\d{2}[-/.]\d{1,2}[-/.]\d{1,2}",
        r"第\s*[0-9一二三四五六七八九十百]+\s*[期版次回弾号]|제\s*[0-9]+\s*[회차판호]",
        r"(?i:\bv)?\d+\.\d+(?:\.\d+)?",
        r"\d{1,2}[-/.]\d{1,2}",
    ];
    Regex::new(&parts.join("|")).expect("fixed patterns are valid")
});

/// What remains of a heading in lower case when everything that varies, and all but letters and digits, is taken out.
/// Empty when nothing remains: such a heading has no family.
pub fn skeleton(heading: &str) -> String {
    letters(&stripped(heading))
}

/// The letters and digits of a text, in lower case.
fn letters(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for c in text.chars().filter(|c| c.is_alphanumeric()) {
        if c.is_ascii() {
            kept.push(c.to_ascii_lowercase());
        } else {
            kept.extend(c.to_lowercase());
        }
    }
    kept
}

/// The heading without what varies, as it is embedded: `Release process 2026-10-01 (v3.2)` is `Release process`. The heading
/// itself when nothing would remain.
pub fn steady_heading(heading: &str) -> String {
    let words = stripped(heading).split_whitespace().collect::<Vec<_>>().join(" ");
    let hanging = |c: char| c.is_whitespace() || "-–—:：/|,，、.·_#".contains(c);
    let bare = words.trim_matches(hanging);
    if bare.is_empty() { heading.trim().to_owned() } else { bare.to_owned() }
}

/// The sections among `existing` that a new section `heading` would join: those with its skeleton, when there are at least
/// `min_family - 1` of them and none is the heading itself. Empty otherwise. `Port 5432` is no sister of `Port 6432`: a bare
/// number that is no year names a thing.
pub fn joined(heading: &str, existing: &[&str], min_family: usize) -> Vec<usize> {
    let key = heading_key(heading);
    if existing.iter().any(|other| heading_key(other) == key) {
        return Vec::new();
    }
    let Some(wanted) = family_key(heading) else { return Vec::new() };
    let is_sister = |i: &usize| family_key(existing[*i]).as_ref() == Some(&wanted);
    let family: Vec<usize> = (0..existing.len()).filter(is_sister).collect();
    if family.len() >= min_family.saturating_sub(1).max(1) { family } else { Vec::new() }
}

/// What the members of a family share: the skeleton, and the numbers that name a thing. `None` for a heading without a family.
fn family_key(heading: &str) -> Option<(String, Vec<String>)> {
    let steady = without_varying(heading);
    let skeleton = letters(&without_bare_numbers(&steady));
    (!skeleton.is_empty()).then(|| (skeleton, telling_numbers(&steady)))
}

/// Every family among `headings`, also of one member, by position, in the order of the first.
pub fn groups(headings: &[&str]) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut positions = std::collections::HashMap::new();
    for (index, heading) in headings.iter().enumerate() {
        let Some(key) = family_key(heading) else { continue };
        let at = *positions.entry(key).or_insert_with(|| {
            found.push(Vec::new());
            found.len() - 1
        });
        found[at].push(index);
    }
    found
}

/// Every skeleton that at least two of `headings` share, with their positions, in the order of the first.
pub fn families(headings: &[&str]) -> Vec<(String, Vec<usize>)> {
    let mut found: Vec<(String, Vec<usize>)> = Vec::new();
    let mut positions: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    for (index, heading) in headings.iter().enumerate() {
        let skeleton = skeleton(heading);
        if skeleton.is_empty() {
            continue;
        }
        let at = *positions.entry(skeleton.clone()).or_insert_with(|| {
            found.push((skeleton, Vec::new()));
            found.len() - 1
        });
        found[at].1.push(index);
    }
    found.retain(|(_, members)| members.len() > 1);
    found
}

/// Whether `new_bytes` is short enough, less than `ceiling` of the old ones ([`CONSOLIDATED_SHARE`] by default), to stand for
/// `members` sections of together `old_bytes`. One section may grow.
pub fn is_consolidated(members: usize, old_bytes: usize, new_bytes: usize, ceiling: f64) -> bool {
    members < 2 || (new_bytes as f64) < ceiling * old_bytes as f64
}

fn stripped(heading: &str) -> String {
    without_bare_numbers(&without_varying(heading))
}

fn without_varying(heading: &str) -> Cow<'_, str> {
    if may_vary(heading) { VARYING.replace_all(heading, " ") } else { Cow::Borrowed(heading) }
}

/// Whether anything of [`VARYING`] can be found in a heading: each of its parts has one of these signs, or a dot, hyphen or
/// slash between two digits.
fn may_vary(heading: &str) -> bool {
    let (mut before, mut last) = (false, ' ');
    for c in heading.chars() {
        if matches!(c, '(' | '（' | '年' | '년' | '月' | '월' | '第' | '제') {
            return true;
        }
        let is_digit = c.is_numeric();
        if is_digit && before && matches!(last, '.' | '-' | '/') {
            return true;
        }
        // Whether a digit stands before what will be the last character.
        before = if matches!(c, '.' | '-' | '/') { last.is_numeric() } else { false };
        last = c;
    }
    false
}

/// The bare numbers of a heading without what varies, but years.
fn telling_numbers(steady: &str) -> Vec<String> {
    let is_year = |word: &&str| word.len() == 4 && (word.starts_with("19") || word.starts_with("20"));
    let words = steady.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let bare = words.filter(|word| (3..=4).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit()));
    bare.filter(|word| !is_year(word)).map(str::to_owned).collect()
}

/// Takes out numbers of three or four digits that stand alone.
fn without_bare_numbers(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = rest[at..].bytes().take_while(u8::is_ascii_digit).count();
        let joined = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        let before = kept.chars().next_back().filter(|_| at == 0).or_else(|| rest[..at].chars().next_back());
        let bare =
            (3..=4).contains(&digits) && !joined(before) && !joined(rest[at + digits..].chars().next());
        kept.push_str(&rest[..if bare { at } else { at + digits }]);
        rest = &rest[at + digits..];
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skeletons_have_the_documented_form() {
        for (heading, expected) in [
            ("Release process 2026-10-01 (v3.2)", "releaseprocess"),
            ("第 3 期 AI", "ai"),
            ("2026-10-01", ""),
            ("Port 5432 config", "portconfig"),
            ("K8s 1.29 upgrade", "k8supgrade"),
            ("发布流程（2026年10月1日）", "发布流程"),
            ("週報 第12回 10月3日", "週報"),
            ("배포 절차 2026년 10월 1일 제3차", "배포절차"),
            ("db2024x 12", "db2024x12"),
        ] {
            assert_eq!(skeleton(heading), expected, "{heading}");
            let (steady, found) = (without_varying(heading), VARYING.replace_all(heading, " "));
            assert_eq!(steady, found, "a look at a heading overlooks nothing that varies");
        }
        assert_eq!(steady_heading("Release process 2026-10-01 (v3.2)"), "Release process");
        assert_eq!(steady_heading("2026-10-01"), "2026-10-01");
        assert_eq!(steady_heading("Notes: 2026/10/1 - Pool"), "Notes: - Pool");
        assert_eq!(steady_heading("Pool — v2.1"), "Pool");
    }

    #[test]
    fn a_heading_joins_its_family_unless_it_is_there_already() {
        let existing = ["Release process 2026-10-01 (v3.2)", "Database", "release process 2026-10-05"];
        assert_eq!(joined("Release process 2026-10-12", &existing, MIN_FAMILY), [0, 2]);
        assert!(joined("Release process 2026-10-12", &existing, 4).is_empty());
        assert!(joined("database", &existing, MIN_FAMILY).is_empty(), "the same section in another case");
        assert!(joined("RELEASE process 2026-10-05", &existing, MIN_FAMILY).is_empty());
        assert!(joined("2026-10-12", &["2026-10-11"], MIN_FAMILY).is_empty());
        assert!(joined("Port 6432 config", &["Port 5432 config"], MIN_FAMILY).is_empty());
        assert_eq!(joined("Budget 2026", &["Budget 2025"], MIN_FAMILY), [0]);
        assert_eq!(joined("第 4 期 报告", &["第 3 期 报告"], MIN_FAMILY), [0]);
        assert_eq!(groups(&existing), [vec![0, 2], vec![1]]);
        assert_eq!(families(&existing), [("releaseprocess".to_owned(), vec![0, 2])]);
    }

    #[test]
    fn a_family_must_get_shorter() {
        let is_short = |members, old, new| is_consolidated(members, old, new, CONSOLIDATED_SHARE);
        assert!(is_short(2, 1000, 899) && !is_short(2, 1000, 900));
        assert!(is_short(1, 10, 500));
    }
}
