//! `conformance`: what holds of the specs, told by tests that carry the name of a check.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    fs,
};

use crate::{
    Outcome,
    shell::{cargo, root, say, watch},
    test::FIGURES,
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
    /// Checks without a test so far, with the reason.
    later: BTreeMap<u32, String>,
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
    command.args(["--include-ignored", "--format", "pretty"]);
    command.args(FIGURES.into_iter().flat_map(|figures| ["--skip", figures]));
    command.args(specs.keys().map(|s| &specs[s].prefix));
    command.env("STRATA_TEST_TOOLS", crate::foreign::install()?);
    watch(&mut command, |line| {
        for (check, state) in results(line, &specs) {
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
    if !failed.is_empty() {
        say(&format!("  failed: {}", ranges(&failed)));
    }
    for (reason, numbers) in reasons(spec, &absent) {
        say(&format!("  absent: {}, {reason}", ranges(&numbers)));
    }
    for (number, page) in &spec.departed {
        say(&format!("  departed: {number}, see {page}"));
    }
    failed.len()
}

/// The absent checks by the reason why they are.
fn reasons<'s>(spec: &'s Spec, absent: &[u32]) -> BTreeMap<&'s str, Vec<u32>> {
    let mut reasons: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for number in absent {
        let reason = spec.later.get(number).map_or("no reason given", String::as_str);
        reasons.entry(reason).or_default().push(*number);
    }
    reasons
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

/// The checks that a line `test path::p_layer_c5_c7_name ... ok` speaks of: the numbers that the name
/// begins with.
fn results(line: &str, specs: &BTreeMap<String, Spec>) -> Vec<((String, u32), State)> {
    let Some((test, state)) = outcome(line) else { return Vec::new() };
    let Some((name, spec, rest)) =
        specs.iter().find_map(|(name, spec)| Some((name, spec, test.strip_prefix(spec.prefix.as_str())?)))
    else {
        return Vec::new();
    };
    let letter = spec.prefix.rsplit('_').next().unwrap_or_default();
    let number = |part: &str| part.strip_prefix(letter).unwrap_or(part).parse::<u32>().ok();
    let numbers = rest.split('_').map_while(number).filter(|n| spec.checks.contains(n));
    numbers.map(|n| ((name.clone(), n), state)).collect()
}

/// The test that a line tells of, and how it ended.
fn outcome(line: &str) -> Option<(&str, State)> {
    let (path, outcome) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let test = path.split(" - ").next()?.rsplit("::").next()?;
    let state = match outcome.split([' ', ',']).next()? {
        "ok" => State::Passed,
        "FAILED" => State::Failed,
        _ => return None,
    };
    Some((test, state))
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
    spec.checks.extend(numbers(table.get("checks").ok_or("`checks` is missing")?)?);
    for (number, page) in table.get("departed").and_then(toml::Value::as_table).into_iter().flatten() {
        let page = page.as_str().ok_or("a departed check names a page")?;
        if !root().join(page).is_file() {
            return Err(format!("{page} does not exist").into());
        }
        spec.departed.insert(number.parse()?, page.to_owned());
    }
    for (reason, ranges) in table.get("later").and_then(toml::Value::as_table).into_iter().flatten() {
        for number in numbers(ranges)? {
            spec.later.insert(number, reason.clone());
        }
    }
    Ok(spec)
}

/// The numbers of a list such as `["1-3", "7"]`.
fn numbers(list: &toml::Value) -> Result<Vec<u32>, Box<dyn Error>> {
    let mut numbers = Vec::new();
    for range in list.as_array().ok_or("checks are a list")? {
        let range = range.as_str().ok_or("checks are texts such as \"1-70\"")?;
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        numbers.extend(first.trim().parse::<u32>()?..=last.trim().parse::<u32>()?);
    }
    Ok(numbers)
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
        let seen =
            |line: &str| results(line, &specs).into_iter().map(|((_, n), s)| (n, s)).collect::<Vec<_>>();
        assert_eq!(seen("test a::b::p_layer_c2_works ... ok"), [(2, State::Passed)]);
        assert_eq!(seen("test p_layer_c1_c3_c70_work ... ok").len(), 3);
        assert_eq!(seen("test p_layer_c70 ... FAILED"), [(70, State::Failed)]);
        assert_eq!(seen("test p_layer_c9_unknown ... ok"), []);
        assert_eq!(seen("test p_layer_c2_works ... ignored, needs x"), []);
        assert_eq!(seen("test other ... ok"), []);
    }

    #[test]
    fn the_lists_are_read_and_numbers_are_shown_as_ranges() {
        assert_eq!(ranges(&[1, 2, 3, 7]), "1-3, 7");
        let all = specs().expect("docs/conformance");
        assert_eq!(all["p_layer"].checks.len(), 70);
        assert!(all["p_layer"].later.keys().all(|n| all["p_layer"].checks.contains(n)));
        let spec = read("prefix = \"x\"\nchecks = [\"1-5\"]\n[later]\n\"issue 3\" = [\"2-3\", \"5\"]\n")
            .expect("valid");
        assert_eq!(
            reasons(&spec, &[1, 2, 3, 5]),
            BTreeMap::from([("issue 3", vec![2, 3, 5]), ("no reason given", vec![1])])
        );
        assert!(read("prefix = \"x\"\nchecks = [\"1\"]\n[departed]\n1 = \"docs/nowhere.md\"\n").is_err());
    }
}
