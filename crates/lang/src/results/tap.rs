//! The Test Anything Protocol.

use super::{Outcome, Told, location, message};
use crate::lines::Lines;

pub(super) fn is_report(text: &str) -> bool {
    let is_plan = |line: &str| {
        let count = line.strip_prefix("1..").map(|rest| rest.split_whitespace().next().unwrap_or(""));
        count.is_some_and(|count| count.parse::<u64>().is_ok())
    };
    text.starts_with("TAP version ")
        || (text.lines().any(is_plan) && text.lines().any(|line| point(line).is_some()))
}

/// A result is its line and the lines that are indented below it or begin with `#`.
pub(super) fn scan(lines: &Lines<'_>) -> Vec<Told> {
    let mut told: Vec<Told> = Vec::new();
    let mut outer: Option<usize> = None;
    for (number, line) in lines.iter().enumerate() {
        let line = line.trim_end();
        let indent = line.len() - line.trim_start().len();
        if let Some((name, outcome, said)) = point(line.trim_start()) {
            let mut one = Told::new(name, outcome, lines.span_of(number..number + 1).bytes, 0);
            one.message = message(said);
            told.push(one);
            outer = Some(indent);
            continue;
        }
        let belongs = outer.is_some_and(|outer| indent > outer || line.starts_with('#'));
        let is_subtest = line.trim_start().starts_with("# Subtest");
        match told.last_mut().filter(|_| belongs && !is_subtest) {
            Some(last) => {
                last.bytes.end = lines.start(number + 1);
                detail(line, last);
            }
            None => outer = None,
        }
    }
    told
}

/// `ok 1 - name # SKIP reason`, `not ok 2 name`.
fn point(line: &str) -> Option<(&str, Outcome, &str)> {
    let (rest, is_ok) = match line.strip_prefix("not ok") {
        Some(rest) => (rest, false),
        None => (line.strip_prefix("ok")?, true),
    };
    if !(rest.is_empty() || rest.starts_with(' ')) {
        return None;
    }
    let rest = rest.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    let rest = rest.strip_prefix("- ").unwrap_or(rest);
    let (name, directive) = rest.split_once(" # ").unwrap_or((rest, ""));
    let (word, reason) = directive.split_once(' ').unwrap_or((directive, ""));
    let is_aside = word.eq_ignore_ascii_case("skip") || word.eq_ignore_ascii_case("todo");
    let outcome = match is_ok {
        _ if is_aside => Outcome::Skipped,
        true => Outcome::Passed,
        false => Outcome::Failed,
    };
    Some((name.trim(), outcome, if is_aside { reason } else { "" }))
}

/// `message:` and `at:` of the block below a result, or the first remark.
fn detail(line: &str, told: &mut Told) {
    let bare = line.trim_start_matches([' ', '#']);
    let value = |keys: &[&str]| {
        let value = keys.iter().find_map(|key| bare.strip_prefix(key)?.strip_prefix(':'))?;
        Some(value.trim().trim_matches(['"', '\'']).to_owned())
    };
    if let Some(text) = value(&["message", "error"]) {
        told.message = message(&text).or(told.message.take());
    } else if let Some(text) = value(&["at", "file", "location"]) {
        told.location = told.location.take().or_else(|| location(&text));
    } else if line.trim_start().starts_with('#') && told.message.is_none() {
        told.message = message(bare);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{report, row, told};

    #[test]
    fn each_point_is_a_result() {
        let text = "TAP version 14\n1..4\nok 1 - adds\nnot ok 2 - splits\n  ---\n  message: \"got 1\"\n  at: lib/a.js:7:3\n  ...\nok 3 - sends # SKIP no network\nnot ok 4\n# Failed at line 9\n# tests 4\n";
        let expected = [
            row("adds", "passed", "", "", (3, 3)),
            row("splits", "failed", "got 1", "lib/a.js:7", (4, 8)),
            row("sends", "skipped", "no network", "", (9, 9)),
            row("", "failed", "Failed at line 9", "", (10, 12)),
        ];
        assert_eq!(told(&report("t.tap", text)), expected);
    }
}
