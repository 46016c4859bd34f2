//! `conformance`: what holds of the specs, told by tests that carry the name of a check.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    fs,
};

use crate::{
    Outcome,
    shell::{cargo, root, say, watch},
};

/// The checks of one spec.
#[derive(Debug, Default)]
struct Spec {
    /// What its tests' names begin with, before the number: `p_layer_c`.
    prefix: String,
    /// The checks' numbers.
    checks: BTreeSet<u32>,
    /// Checks that we depart from, with the page that says why.
    departed: BTreeMap<u32, String>,
}

/// The state of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Passed,
    Failed,
}

pub(crate) fn run() -> Outcome {
    let specs = specs()?;
    let mut states: BTreeMap<(String, u32), State> = BTreeMap::new();
    let mut command =
        cargo(["test", "--workspace", "--no-fail-fast", "--quiet", "--lib", "--bins", "--tests", "--"]);
    command.args(["--include-ignored", "--format", "pretty"]).args(specs.keys().map(|s| &specs[s].prefix));
    command.env("STRATA_TEST_TOOLS", crate::foreign::install()?);
    watch(&mut command, |line| {
        if let Some((check, state)) = result(line, &specs) {
            states.entry(check).and_modify(|s| *s = (*s).max(state)).or_insert(state);
        }
    })?;
    let mut failed = 0;
    for (name, spec) in &specs {
        failed += report(name, spec, &states);
    }
    if failed == 0 { Ok(()) } else { Err(format!("{failed} checks fail").into()) }
}

fn report(name: &str, spec: &Spec, states: &BTreeMap<(String, u32), State>) -> usize {
    let with = |wanted: State| -> Vec<u32> {
        spec.checks.iter().copied().filter(|n| states.get(&(name.to_owned(), *n)) == Some(&wanted)).collect()
    };
    let (passed, failed) = (with(State::Passed), with(State::Failed));
    let absent: Vec<u32> = spec
        .checks
        .iter()
        .copied()
        .filter(|n| !passed.contains(n) && !failed.contains(n) && !spec.departed.contains_key(n))
        .collect();
    say(&format!(
        "{name}: {} checks, {} passed, {} failed, {} absent, {} departed",
        spec.checks.len(),
        passed.len(),
        failed.len(),
        absent.len(),
        spec.departed.len(),
    ));
    for (label, numbers) in [("failed", &failed), ("absent", &absent)] {
        if !numbers.is_empty() {
            say(&format!("  {label}: {}", ranges(numbers)));
        }
    }
    for (number, page) in &spec.departed {
        say(&format!("  departed: {number}, see {page}"));
    }
    failed.len()
}

/// `1-3, 7`.
fn ranges(numbers: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &n in numbers {
        match parts.last_mut() {
            Some((_, end)) if *end + 1 == n => *end = n,
            _ => parts.push((n, n)),
        }
    }
    let word = |(a, b): &(u32, u32)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    parts.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// The check that a line `test path::p_layer_c37_name ... ok` speaks of.
fn result(line: &str, specs: &BTreeMap<String, Spec>) -> Option<((String, u32), State)> {
    let (path, outcome) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let test = path.split(" - ").next()?.rsplit("::").next()?;
    let state = match outcome.split([' ', ',']).next()? {
        "ok" => State::Passed,
        "FAILED" => State::Failed,
        _ => return None,
    };
    specs.iter().find_map(|(name, spec)| {
        let rest = test.strip_prefix(spec.prefix.as_str())?;
        let digits = rest.split('_').next()?;
        let number: u32 = digits.parse().ok()?;
        spec.checks.contains(&number).then(|| ((name.clone(), number), state))
    })
}

/// Reads `docs/conformance/*.toml`, by spec.
fn specs() -> Result<BTreeMap<String, Spec>, Box<dyn Error>> {
    let mut specs = BTreeMap::new();
    for entry in fs::read_dir(root().join("docs/conformance"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "toml") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let spec = read(&fs::read_to_string(&path)?).map_err(|e| format!("{}: {e}", path.display()))?;
            specs.insert(name, spec);
        }
    }
    Ok(specs)
}

fn read(text: &str) -> Result<Spec, Box<dyn Error>> {
    let table: toml::Table = text.parse()?;
    let prefix = table.get("prefix").and_then(toml::Value::as_str).ok_or("`prefix` is missing")?;
    let mut spec = Spec { prefix: prefix.to_owned(), ..Spec::default() };
    for range in table.get("checks").and_then(toml::Value::as_array).ok_or("`checks` is missing")? {
        let range = range.as_str().ok_or("`checks` holds texts such as \"1-70\"")?;
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        spec.checks.extend(first.trim().parse::<u32>()?..=last.trim().parse::<u32>()?);
    }
    for (number, page) in table.get("departed").and_then(toml::Value::as_table).into_iter().flatten() {
        let page = page.as_str().ok_or("a departed check names a page")?;
        if !root().join(page).is_file() {
            return Err(format!("{page} does not exist").into());
        }
        spec.departed.insert(number.parse()?, page.to_owned());
    }
    Ok(spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> BTreeMap<String, Spec> {
        let spec = read("prefix = \"p_layer_c\"\nchecks = [\"1-3\", \"70\"]\n").expect("valid");
        BTreeMap::from([("p_layer".to_owned(), spec)])
    }

    #[test]
    fn test_names_tell_their_check() {
        let specs = sample();
        let seen = |line: &str| result(line, &specs).map(|((_, n), s)| (n, s));
        assert_eq!(seen("test a::b::p_layer_c2_works ... ok"), Some((2, State::Passed)));
        assert_eq!(seen("test p_layer_c70 ... FAILED"), Some((70, State::Failed)));
        assert_eq!(seen("test p_layer_c9_unknown ... ok"), None);
        assert_eq!(seen("test p_layer_c2_works ... ignored, needs x"), None);
        assert_eq!(seen("test other ... ok"), None);
    }

    #[test]
    fn the_lists_are_read_and_numbers_are_shown_as_ranges() {
        assert_eq!(ranges(&[1, 2, 3, 7]), "1-3, 7");
        let all = specs().expect("docs/conformance");
        assert_eq!(all["p_layer"].checks.len(), 70);
        assert!(read("prefix = \"x\"\nchecks = [\"1\"]\n[departed]\n1 = \"docs/nowhere.md\"\n").is_err());
    }
}
