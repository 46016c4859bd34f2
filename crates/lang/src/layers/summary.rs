//! A file in a few lines.

use super::{PropositionKind, cut, first_sentence, meaning, propositions};
use crate::{Found, Kind, Reading, Symbol};

/// What a file is for, and what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// In one sentence, as the file says it; else what it holds; else its name.
    pub purpose: String,
    /// The purpose, and the names of its main parts; at most 800 characters.
    pub text: String,
    /// At most 15 names of symbols, those that nothing encloses first.
    pub key_symbols: Vec<String>,
    /// At most 5 statements of what must or must not be.
    pub constraints: Vec<String>,
    /// At most 8 types that work with others by their name, and at most 8 modules that the file takes in.
    pub interactions: Vec<String>,
}

/// Ends of names of types that stand between others.
const ROLES: &[&str] = &[
    "Service",
    "Manager",
    "Resolver",
    "Index",
    "Engine",
    "Store",
    "Cache",
    "Repository",
    "Coordinator",
    "Adapter",
    "Handler",
];

/// Summarises a file.
pub fn summary(path: &str, text: &str, reading: &Reading) -> Summary {
    let symbols: &[Symbol] = if let Found::Symbols(all) = &reading.found { all } else { &[] };
    let mut ordered: Vec<&Symbol> = symbols.iter().filter(|symbol| symbol.kind != Kind::Impl).collect();
    ordered.sort_by_key(|symbol| symbol.scope.len());
    let key_symbols = unique(ordered.iter().map(|symbol| symbol.name.clone()), 15);
    let rules = propositions(text, reading);
    let is_rule = |kind| matches!(kind, PropositionKind::Constraint | PropositionKind::SecurityRule);
    let rules = rules.into_iter().filter(|rule| is_rule(rule.kind)).map(|rule| rule.text);
    let types = ordered.iter().filter(|symbol| ROLES.iter().any(|role| symbol.name.ends_with(role)));
    let mut interactions = unique(types.map(|symbol| symbol.name.clone()), 8);
    interactions.extend(unique(text.lines().filter_map(imported), 8));
    let purpose = cut(&purpose(path, text, reading, &key_symbols), 300);
    let mut told = purpose.clone();
    if !key_symbols.is_empty() {
        let first: Vec<&str> = key_symbols.iter().take(6).map(String::as_str).collect();
        told.push_str(&format!(" Key components: {}.", first.join(", ")));
    }
    Summary { purpose, text: cut(&told, 799), key_symbols, constraints: unique(rules, 5), interactions }
}

fn purpose(path: &str, text: &str, reading: &Reading, key_symbols: &[String]) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let said = match &reading.found {
        Found::Symbols(symbols) => opening(text, symbols.first().map_or(text.len(), |s| s.span.bytes.start)),
        Found::Headings(headings) => {
            let body = headings.iter().find_map(|heading| {
                let inner = text.get(heading.span.bytes.clone())?;
                let is_text =
                    |line: &&str| !line.trim_start().starts_with(['#', '-', '|', '<', '!', '`', '=', '>']);
                inner.lines().filter(is_text).find_map(meaning)
            });
            body.and_then(|line| first_sentence(&line))
        }
        Found::Paragraphs => first_sentence(text),
        _ => None,
    };
    said.unwrap_or_else(|| match key_symbols {
        [] => name.to_owned(),
        [first, ..] => format!("{name} defines {first}."),
    })
}

/// The first sentence of the comment or text at the beginning, up to the first definition.
fn opening(text: &str, end: usize) -> Option<String> {
    let mut said: Vec<&str> = Vec::new();
    let mut in_text = false;
    for line in text.get(..end)?.lines().map(str::trim) {
        let is_mark = ["//", "#", "/*", "*", "\"\"\"", "'''"].iter().any(|mark| line.starts_with(mark));
        let is_directive = ["#!", "#include", "#if", "#define", "#pragma", "# -*-", "#["]
            .iter()
            .any(|d| line.starts_with(d));
        if is_directive || !(is_mark || in_text) {
            if said.is_empty() {
                continue;
            }
            break;
        }
        for quotes in ["\"\"\"", "'''"] {
            in_text ^= line.matches(quotes).count() % 2 == 1;
        }
        let bare = line.trim_matches(|c: char| "/*#!\"' ".contains(c));
        if bare.is_empty() && !said.is_empty() {
            break;
        }
        said.push(bare);
    }
    let sentence = first_sentence(&said.join("\n"))?;
    let is_licence = ["copyright", "spdx", "licen"].iter().any(|word| sentence.to_lowercase().contains(word));
    (!is_licence && sentence.chars().count() > 10).then_some(sentence)
}

/// The module that a line takes in, in any of the languages.
fn imported(line: &str) -> Option<String> {
    let line = line.trim();
    let name = if let Some(rest) = line.strip_prefix("#include ") {
        rest.trim_matches(|c: char| "<>\" ".contains(c))
    } else if let Some(rest) = line.strip_prefix("from ") {
        rest.split_whitespace().next().filter(|_| rest.contains(" import"))?
    } else if let Some(rest) = line.strip_prefix("import ") {
        match rest.rsplit_once(" from ") {
            Some((_, from)) => from,
            None => rest.split([' ', ',']).find(|word| !["static", "type", "("].contains(word))?,
        }
    } else if let Some(rest) = line.strip_prefix("use ").or_else(|| line.strip_prefix("pub use ")) {
        rest.split([':', ';', ' ', '{']).next().filter(|name| !["crate", "super", "self"].contains(name))?
    } else {
        let rest = line.strip_prefix("require_relative ").or_else(|| line.strip_prefix("require "))?;
        rest.split_whitespace().next()?
    };
    let name = name.trim_matches(|c: char| "\"'`;()<> ".contains(c));
    (!name.is_empty() && name.len() <= 80).then(|| name.to_owned())
}

fn unique(names: impl Iterator<Item = String>, most: usize) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for name in names {
        if kept.len() == most {
            break;
        }
        if !kept.contains(&name) {
            kept.push(name);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, read};

    fn of(path: &str, text: &str) -> Summary {
        summary(path, text, &read(path, text, &Limits::default(), &|| false))
    }

    #[test]
    fn a_source_file_says_what_it_is_for() {
        let text = "#!/usr/bin/env python3\n\"\"\"Retrying with pauses. And more.\"\"\"\nimport time\nfrom a.b import c\n\n# The limit must never grow.\nclass RetryService:\n    def run(self):\n        pass\n";
        let summary = of("src/retry.py", text);
        assert_eq!(summary.purpose, "Retrying with pauses.");
        assert_eq!(summary.text, "Retrying with pauses. Key components: RetryService, run.");
        assert_eq!(summary.constraints, ["The limit must never grow."]);
        assert_eq!(summary.interactions, ["RetryService", "time", "a.b"]);
    }

    #[test]
    fn a_page_and_a_bare_file_have_a_purpose_too() {
        assert_eq!(
            of("a.md", "# Retry\n\nHow calls are repeated. Then\n").purpose,
            "How calls are repeated."
        );
        assert_eq!(of("x/a.rs", "fn push() {}\n").purpose, "a.rs defines push.");
        assert_eq!(of("x/a.json", "{}").purpose, "a.json");
        assert_eq!(of("a.c", "// Copyright 2020 someone\nint f(void);\n").purpose, "a.c defines f.");
    }

    #[test]
    fn imports_of_many_languages() {
        for (line, name) in [
            ("use std::fmt;", "std"),
            ("import { a } from \"./b.js\";", "./b.js"),
            ("#include <stdio.h>", "stdio.h"),
            ("require 'set'", "set"),
            ("import java.util.List;", "java.util.List"),
        ] {
            assert_eq!(imported(line).as_deref(), Some(name), "{line}");
        }
        assert_eq!(imported("use crate::x;"), None);
    }
}
