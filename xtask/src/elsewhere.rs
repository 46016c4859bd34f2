//! The tests of memory, run again with their homes' memory on a server.
//!
//! Which tests stay behind, and why, is written in `crates/testkit/files_only.toml`.

use std::{error::Error, fs, process::Command};

use serde::Deserialize;

use crate::shell::{root, say};

/// Crates whose tests are about memory.
const PACKAGES: [&str; 3] = ["strata-store", "strata-engine", "strata"];

/// Where the list lies.
const LIST: &str = "crates/testkit/files_only.toml";

/// The list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    group: Vec<Group>,
}

/// Tests that stay behind for one reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    reason: String,
    /// `PACKAGE::FILE` for all tests of a file, `PACKAGE::FILE TEST` for one.
    tests: Vec<String>,
}

/// Which tests run again, and which do not.
#[derive(Debug)]
pub(crate) struct Again {
    /// Package, file of tests, and the names of tests in it that stay behind.
    files: Vec<(String, String, Vec<String>)>,
    groups: Vec<Group>,
}

impl Again {
    /// Reads the list and checks that what it names exists. `packages` narrows the choice, unless it is empty.
    pub(crate) fn read(packages: &[String]) -> Result<Self, Box<dyn Error>> {
        let list: List = toml::from_str(&fs::read_to_string(root().join(LIST))?)?;
        let mut files = Vec::new();
        for package in PACKAGES.into_iter().filter(|p| packages.is_empty() || packages.iter().any(|c| c == p))
        {
            for file in test_files(package)? {
                files.push((package.to_owned(), file, Vec::new()));
            }
        }
        let mut again = Self { files, groups: list.group };
        let entries: Vec<String> = again.groups.iter().flat_map(|g| g.tests.iter().cloned()).collect();
        for entry in entries {
            again.leave(&entry)?;
        }
        Ok(again)
    }

    /// Takes out what one entry names.
    fn leave(&mut self, entry: &str) -> Result<(), Box<dyn Error>> {
        let (place, test) = entry.split_once(' ').map_or((entry, None), |(place, test)| (place, Some(test)));
        let (package, file) =
            place.split_once("::").ok_or_else(|| format!("{LIST}: `{entry}` names no file"))?;
        let known = test_files(package)?.iter().any(|f| f == file)
            && test.is_none_or(|test| is_in(package, file, test).unwrap_or(false));
        if !known {
            return Err(format!("{LIST}: there is no test `{entry}`").into());
        }
        match test {
            None => self.files.retain(|(p, f, _)| (p.as_str(), f.as_str()) != (package, file)),
            Some(test) => {
                let of = self.files.iter_mut().find(|(p, f, _)| (p.as_str(), f.as_str()) == (package, file));
                if let Some((_, _, left)) = of {
                    left.push(test.to_owned());
                }
            }
        }
        Ok(())
    }

    /// Whether nothing is left to run.
    pub(crate) const fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Says what stays behind and why.
    pub(crate) fn tell(&self) {
        for group in &self.groups {
            let files = group.tests.iter().filter(|t| !t.contains(' ')).count();
            let tests = group.tests.len() - files;
            say(&format!("   stay behind: {tests} tests and {files} files of tests: {}", group.reason));
        }
    }

    /// The choice in the words of nextest.
    pub(crate) fn expression(&self) -> String {
        let file = |(package, file, left): &(String, String, Vec<String>)| {
            let left: Vec<String> = left.iter().map(|test| format!("test(={test})")).collect();
            let place = format!("binary_id(={package}::{file})");
            if left.is_empty() { place } else { format!("({place} - ({}))", left.join(" + ")) }
        };
        self.files.iter().map(file).collect::<Vec<_>>().join(" + ")
    }

    /// The choice as runs of cargo's own runner, one per file.
    pub(crate) fn runs(&self, cargo: impl Fn() -> Command) -> Vec<Command> {
        let run = |(package, file, left): &(String, String, Vec<String>)| {
            let mut command = cargo();
            command.args(["test", "--no-fail-fast", "--package", package, "--test", file, "--", "--exact"]);
            command.args(left.iter().flat_map(|test| ["--skip", test]));
            command
        };
        self.files.iter().map(run).collect()
    }
}

/// The files of tests of a package.
fn test_files(package: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory(package))? {
        let path = entry?.path();
        let is_test = path.extension().is_some_and(|e| e == "rs") || path.join("main.rs").is_file();
        files.extend(path.file_stem().filter(|_| is_test).map(|stem| stem.to_string_lossy().into_owned()));
    }
    files.sort();
    Ok(files)
}

/// Whether a file of tests, or a module of it, has a function of that name.
fn is_in(package: &str, file: &str, test: &str) -> Result<bool, Box<dyn Error>> {
    let at = directory(package);
    let module = test.rsplit_once("::").map(|(module, _)| module.replace("::", "/"));
    let name = test.rsplit("::").next().unwrap_or(test);
    let places = [
        at.join(format!("{file}.rs")),
        at.join(file).join("main.rs"),
        at.join(file).join(format!("{}.rs", module.unwrap_or_default())),
    ];
    let texts = places.into_iter().filter_map(|place| fs::read_to_string(place).ok());
    Ok(texts.into_iter().any(|text| text.contains(&format!("fn {name}("))))
}

fn directory(package: &str) -> std::path::PathBuf {
    let name = package.strip_prefix("strata-").unwrap_or("cli");
    root().join("crates").join(name).join("tests")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_tests_that_exist_and_gives_reasons() {
        let again = Again::read(&[]).expect("a list that holds");
        assert!(again.groups.iter().all(|g| g.reason.len() > 20 && !g.tests.is_empty()), "{again:?}");
        assert!(!again.is_empty());
    }

    #[test]
    fn what_does_not_exist_cannot_stay_behind() {
        let mut again = Again::read(&[]).expect("a list that holds");
        for wrong in ["strata-engine::no_such_file", "strata-engine::recall no_such_test", "review"] {
            assert!(again.leave(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn files_and_tests_that_stay_behind_are_in_neither_runners_choice() {
        let mut again = Again::read(&["strata-engine".to_owned()]).expect("a list that holds");
        again.leave("strata-engine::layered").expect("there");
        assert!(!again.expression().contains("strata-engine::layered)"));
        assert!(again.expression().contains("binary_id(=strata-engine::recall)"));
        assert!(!again.expression().contains("strata-store"));
        let runs = again.runs(|| Command::new("cargo"));
        assert!(runs.iter().all(|run| run.get_args().all(|word| word != "layered")));
    }
}
