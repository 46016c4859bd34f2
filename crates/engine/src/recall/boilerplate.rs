//! Files that stand in nearly every project and say next to nothing of this one: texts of licences, records of what a build
//! resolved to, codes of conduct. They are long and have many everyday words, so that they are found for questions that
//! they do not answer; unless one of them is asked about, they fall behind.

use strata_core::project::words::Words;

/// What such a file loses, as a share of the best hit's score.
const LOSS: f32 = 0.25;

/// A sort of such files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Licence,
    Lock,
    Conduct,
}

/// What a query asks about, as far as it matters here.
pub(super) struct Boilerplate {
    asked: Vec<Sort>,
}

impl Boilerplate {
    pub(super) fn of(query: &str) -> Self {
        let words = Words::of(query);
        let all = [(Sort::Licence, LICENCE), (Sort::Lock, LOCK), (Sort::Conduct, CONDUCT)];
        let asked = all.into_iter().filter(|(_, named)| words.has_any(named)).map(|(sort, _)| sort);
        Self { asked: asked.collect() }
    }

    /// What the file at a path loses.
    pub(super) fn loss(&self, path: &str) -> f32 {
        match Sort::of(path) {
            Some(sort) if !self.asked.contains(&sort) => LOSS,
            _ => 0.0,
        }
    }
}

/// Words of questions about licences. One that ends in `*` stands for all that begin so.
const LICENCE: &[&str] = &[
    "licence*",
    "license*",
    "licensing",
    "copyright*",
    "copying",
    "notice",
    "notices",
    "warranty",
    "trademark*",
    "patent*",
    "attribution*",
    "gpl*",
    "lgpl*",
    "agpl*",
    "apache",
    "mit",
    "bsd",
    "open source",
    "许可",
    "授权",
    "版权",
    "开源",
    "ライセンス",
    "著作権",
    "라이선스",
    "라이센스",
    "저작권",
];
/// Of questions about what a build depends on.
const LOCK: &[&str] = &[
    "lock",
    "lockfile*",
    "locked",
    "dependenc*",
    "package*",
    "version*",
    "npm",
    "yarn",
    "pnpm",
    "checksum*",
    "依赖",
    "版本",
    "依存",
    "バージョン",
    "의존성",
    "버전",
];
/// Of questions about how people are to behave.
const CONDUCT: &[&str] =
    &["conduct", "behavio*", "harass*", "community", "moderat*", "行为", "准则", "行動規範", "행동"];

/// What names of files with licences begin with, before a sign or an ending.
const LICENCES: [&str; 9] =
    ["license", "licence", "licenses", "licences", "copying", "notice", "notices", "unlicense", "copyright"];
/// Names of records of what a build resolved to.
const LOCKS: [&str; 6] = [
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "go.sum",
    "packages.lock.json",
    "package.resolved",
];
/// Endings of texts; a licence is no code.
const TEXTS: [&str; 5] = ["md", "txt", "rst", "html", "adoc"];

impl Sort {
    fn of(path: &str) -> Option<Self> {
        let lower = path.to_lowercase();
        let name = lower.rsplit(['/', '\\']).next().unwrap_or(&lower);
        if LOCKS.contains(&name) || name.ends_with(".lock") {
            return Some(Self::Lock);
        }
        let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
        let is_text =
            ending.is_empty() || ending.rsplit('.').next().is_some_and(|last| TEXTS.contains(&last));
        // `COPYING.LESSER` and `LICENSE.MIT` have no ending of a text, and are nothing else either.
        let is_bare = path.rsplit(['/', '\\']).next().is_some_and(|name| !name.contains(char::is_lowercase));
        if !(is_text || is_bare) {
            return None;
        }
        let parts: Vec<&str> = stem.split(['-', '_', ' ']).collect();
        let is_licence = parts.first().is_some_and(|part| LICENCES.contains(part))
            || (parts.starts_with(&["third", "party"]) && parts.iter().any(|part| LICENCES.contains(part)))
            || lower.split('/').rev().skip(1).any(|folder| matches!(folder, "licenses" | "licences"));
        match () {
            () if is_licence => Some(Self::Licence),
            () if stem.replace(['-', ' '], "_") == "code_of_conduct" => Some(Self::Conduct),
            () => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_whether_a_file_stands_in_every_project() {
        for (path, sort) in [
            ("LICENSE", Some(Sort::Licence)),
            ("LICENSE-MIT", Some(Sort::Licence)),
            ("vendor/zlib/Licence.txt", Some(Sort::Licence)),
            ("COPYING.LESSER", Some(Sort::Licence)),
            ("THIRD_PARTY_NOTICES.md", Some(Sort::Licence)),
            ("LICENSES/Apache-2.0.txt", Some(Sort::Licence)),
            ("web/package-lock.json", Some(Sort::Lock)),
            ("Cargo.lock", Some(Sort::Lock)),
            ("CODE_OF_CONDUCT.md", Some(Sort::Conduct)),
            ("src/license.rs", None),
            ("src/licenses/check.py", None),
            ("docs/noticeboard.md", None),
            ("src/lock.rs", None),
            ("package.json", None),
            ("README.md", None),
        ] {
            assert_eq!(Sort::of(path), sort, "{path}");
        }
    }

    #[test]
    fn what_is_asked_about_loses_nothing() {
        let loss = |query: &str, path: &str| Boilerplate::of(query).loss(path);
        assert!(loss("How do I run the tests?", "LICENSE") > 0.0);
        for query in [
            "Which license is it under?",
            "may I sell copies: licensing terms",
            "这个项目的许可证是什么",
            "ライセンスは何ですか",
        ] {
            assert!(loss(query, "LICENSE").abs() < f32::EPSILON, "{query}");
        }
        assert!(loss("Which license is it under?", "package-lock.json") > 0.0);
        assert!(loss("Which version of left-pad is locked?", "package-lock.json").abs() < f32::EPSILON);
    }
}
