//! Rules about the source files themselves.

use std::{
    error::Error,
    fs, io,
    path::{Path, PathBuf},
};

use crate::shell::root;

/// The most lines of a file, its tests not counted.
const MAX_LINES: usize = 800;

/// Names that may stand only under a path.
const ONLY_UNDER: &[(&str, &str)] = &[
    ("rmcp::", "crates/server/src/mcp"),
    ("gix::", "crates/engine/src/vcs"),
    ("rusqlite::", "crates/store/src"),
    ("tree_sitter", "crates/lang/src/syntax"),
    ("clap::", "crates/cli/src"),
    ("std::env::var", "crates/cli/src"),
    ("env::vars", "crates/cli/src"),
    ("process::exit", "crates/cli/src"),
];

/// How queries begin.
const SQL: &[&str] = &["\"SELECT ", "\"INSERT INTO ", "\"DELETE FROM ", "\"UPDATE ", "\"PRAGMA "];

/// Words that promise work for later.
const PROMISES: &[&str] = &["todo!(", "unimplemented!(", "// TODO", "// FIXME", "// XXX"];

pub(super) fn findings() -> Result<Vec<String>, Box<dyn Error>> {
    let mut findings = Vec::new();
    let mut crates: Vec<PathBuf> =
        fs::read_dir(root().join("crates"))?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    crates.sort();
    for directory in &crates {
        let sources = directory.join("src");
        findings.extend(crate_docs(&sources)?);
        for file in rust_files(directory)? {
            findings.extend(sql(&relative(&file), &fs::read_to_string(&file)?));
        }
        // A file of its own for a module's tests is judged by its readers.
        let tests = |file: &PathBuf| file.ends_with("tests.rs");
        for file in rust_files(&sources)?.into_iter().filter(|f| !tests(f)) {
            let text = fs::read_to_string(&file)?;
            findings.extend(judge(&relative(&file), &text));
        }
    }
    Ok(findings)
}

fn relative(file: &Path) -> String {
    file.strip_prefix(root()).unwrap_or(file).to_string_lossy().replace('\\', "/")
}

/// Queries outside the store, in tests too. The test kit tampers with ledgers, which is its purpose; the tests of
/// the binary on a server look from outside at what the server shows.
fn sql(name: &str, text: &str) -> Vec<String> {
    let may = ["crates/store/", "crates/testkit/", "crates/cli/tests/binary/server_"]
        .iter()
        .any(|place| name.starts_with(place));
    let found = |word: &&&str| !may && text.contains(**word);
    let finding =
        |word: &&str| format!("{name}: `{}` belongs into crates/store", word.trim_start_matches('"'));
    SQL.iter().filter(found).map(finding).collect()
}

/// What is wrong with one file.
fn judge(name: &str, text: &str) -> Vec<String> {
    let product = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let mut findings = Vec::new();
    let lines = product.lines().count();
    if lines > MAX_LINES {
        findings.push(format!(
            "{name}: {lines} lines without tests; at most {MAX_LINES}: split it by what it does"
        ));
    }
    let code = || product.lines().filter(|l| !l.trim_start().starts_with("//"));
    for (word, place) in ONLY_UNDER {
        let testkit = name.starts_with("crates/testkit/");
        if !name.starts_with(place) && !testkit && code().any(|l| l.contains(word)) {
            findings.push(format!("{name}: `{word}` belongs under {place} only"));
        }
    }
    for promise in PROMISES {
        if product.contains(promise) {
            findings.push(format!("{name}: `{promise}` is a promise; keep it or leave it out"));
        }
    }
    if text.contains("#[ignore]") {
        findings.push(format!("{name}: an ignored test needs a reason and a place where it runs"));
    }
    if !text.starts_with("//!") {
        findings.push(format!("{name}: a file begins with what it is for (`//!`)"));
    }
    findings
}

/// Every crate says what it is and what it deliberately does not know.
fn crate_docs(sources: &Path) -> io::Result<Vec<String>> {
    let main = ["lib.rs", "main.rs"].into_iter().map(|f| sources.join(f)).find(|f| f.is_file());
    let Some(main) = main else { return Ok(vec![format!("{}: no lib.rs or main.rs", sources.display())]) };
    let docs = fs::read_to_string(&main)?.lines().take_while(|l| l.starts_with("//!")).count();
    Ok(if docs == 0 {
        vec![format!("{}: a crate without documentation", main.display())]
    } else {
        Vec::new()
    })
}

fn rust_files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_stay_in_the_store_also_those_of_tests() {
        let text = "//! x\nt.execute(\"DELETE FROM audit\", &[]);\n";
        assert_eq!(sql("crates/engine/tests/a.rs", text).len(), 1);
        assert!(sql("crates/store/src/a.rs", text).is_empty());
        assert!(sql("crates/engine/src/a.rs", "//! SELECT one of these\n").is_empty());
    }

    #[test]
    fn each_rule_finds_its_fault() {
        let long = format!("//! x\n{}", "fn f() {}\n".repeat(MAX_LINES));
        for (name, text, word) in [
            ("crates/core/src/a.rs", long.as_str(), "lines without tests"),
            ("crates/server/src/pool.rs", "//! x\nuse rmcp::model::Tool;\n", "rmcp::"),
            ("crates/engine/src/a.rs", "//! x\nlet h = std::env::var(\"HOME\");\n", "std::env::var"),
            ("crates/engine/src/a.rs", "//! x\n// TODO later\n", "promise"),
            ("crates/engine/src/a.rs", "fn f() {}\n", "begins with"),
        ] {
            let found = judge(name, text);
            assert!(found.len() == 1 && found[0].contains(word), "{name}: {found:?}");
        }
        let fine = "//! x\n// rmcp::model is named in a comment only\n#[cfg(test)]\nmod tests {\n}\n";
        assert_eq!(judge("crates/engine/src/a.rs", fine), Vec::<String>::new());
    }
}
