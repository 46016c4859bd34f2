//! The text that pytest writes.

use super::{Outcome, Told, location, message};
use crate::lines::Lines;

pub(super) fn is_report(text: &str) -> bool {
    text.lines().any(|line| {
        let title = title(line, '=').unwrap_or("");
        title.starts_with("test session starts") || title == "short test summary info" || title == "FAILURES"
    })
}

/// The words for what a test came to.
const WORDS: &[(&str, Outcome)] = &[
    ("PASSED", Outcome::Passed),
    ("FAILED", Outcome::Failed),
    ("ERROR", Outcome::Error),
    ("SKIPPED", Outcome::Skipped),
    ("XFAIL", Outcome::Skipped),
    ("XPASS", Outcome::Passed),
];

/// Lines of the run, blocks of the failures, lines of the summary.
pub(super) fn scan(lines: &Lines<'_>) -> Vec<Told> {
    let mut told = Vec::new();
    let mut section = Outcome::Failed;
    let mut block: Option<(String, usize)> = None;
    for (number, line) in lines.iter().enumerate() {
        let line = line.trim_end();
        if let Some(title) = title(line, '=') {
            told.extend(end(block.take(), number, section, lines));
            section = if title == "ERRORS" { Outcome::Error } else { Outcome::Failed };
        } else if let Some(title) = title(line, '_') {
            told.extend(end(block.take(), number, section, lines));
            block = Some((title.to_owned(), number));
        } else if block.is_none() {
            told.extend(run(line, number, lines).or_else(|| summary(line, number, lines)));
        }
    }
    told.extend(end(block, lines.count(), section, lines));
    told
}

/// The words between runs of a sign.
fn title(line: &str, sign: char) -> Option<&str> {
    let bare = line.trim_matches(sign);
    let is_title = line.len() - bare.len() >= 4 && line.starts_with(sign) && line.ends_with(sign);
    (is_title && bare.starts_with(' ') && bare.ends_with(' ')).then(|| bare.trim())
}

/// `tests/a.py::test_b PASSED [ 10%]`.
fn run(line: &str, number: usize, lines: &Lines<'_>) -> Option<Told> {
    let (name, rest) = WORDS.iter().find_map(|(word, outcome)| {
        let at = line.find(&format!(" {word}"))?;
        Some((&line[..at], (*outcome, &line[at + 1 + word.len()..])))
    })?;
    let name = name.trim();
    let is_name = name.split_once("::").is_some_and(|(file, _)| file.contains('.') && !file.contains(' '));
    let mut told = Told::new(name, rest.0, lines.span_of(number..number + 1).bytes, 1);
    let reason = rest.1.trim().strip_prefix('(').and_then(|reason| reason.split(')').next());
    told.message = reason.and_then(message);
    told.location = None;
    is_name.then_some(told)
}

/// `FAILED tests/a.py::test_b - assert 1 == 2`.
fn summary(line: &str, number: usize, lines: &Lines<'_>) -> Option<Told> {
    let (word, rest) = line.split_once(' ')?;
    let (_, outcome) = WORDS.iter().find(|(known, _)| *known == word)?;
    let (name, said) = rest.split_once(" - ").unwrap_or((rest, ""));
    let mut told = Told::new(name, *outcome, lines.span_of(number..number + 1).bytes, 0);
    told.message = message(said);
    name.contains("::").then_some(told)
}

/// A block about one failure; in it the lines with `E` say what was wrong.
fn end(block: Option<(String, usize)>, to: usize, section: Outcome, lines: &Lines<'_>) -> Option<Told> {
    let (title, from) = block?;
    let setup =
        title.strip_prefix("ERROR at setup of ").or_else(|| title.strip_prefix("ERROR at teardown of "));
    let is_error = setup.is_some() || section == Outcome::Error;
    let outcome = if is_error { Outcome::Error } else { Outcome::Failed };
    let mut told = Told::new(setup.unwrap_or(&title), outcome, lines.span_of(from..to).bytes, 2);
    let inner = || (from + 1..to).map(|line| lines.line(line));
    let is_place = |line: &&str| !line.starts_with(['E', ' ', '>']);
    told.message = inner().find_map(|line| line.strip_prefix("E  ")).and_then(message);
    told.location = inner().rev().filter(is_place).find_map(location);
    Some(told)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{report, row, told};

    #[test]
    fn each_test_is_a_result_where_most_is_told() {
        let text = "============ test session starts ============\ncollected 4 items\n\ntests/a.py::test_ok PASSED [ 25%]\ntests/a.py::TestX::test_no FAILED [ 50%]\ntests/a.py::test_skip SKIPPED (no db) [ 75%]\ntests/a.py::test_up ERROR [100%]\n\n============ ERRORS ============\n______ ERROR at setup of test_up ______\nE   fixture 'x' not found\n============ FAILURES ============\n______ TestX.test_no ______\n\n    def test_no(self):\n>       assert 1 == 2\nE       assert 1 == 2\n\ntests/a.py:9: AssertionError\n============ short test summary info ============\nFAILED tests/a.py::TestX::test_no - assert 1 == 2\nERROR tests/b.py::test_far - boom\n===== 1 failed in 0.1s =====\n";
        let reading = report("pytest.log", text);
        let expected = [
            row("tests/a.py::test_ok", "passed", "", "", (4, 4)),
            row("tests/a.py::test_skip", "skipped", "no db", "", (6, 6)),
            row("tests/a.py::test_up", "error", "fixture 'x' not found", "", (10, 11)),
            row("tests/a.py::TestX::test_no", "failed", "assert 1 == 2", "tests/a.py:9", (13, 19)),
            row("tests/b.py::test_far", "error", "boom", "", (22, 22)),
        ];
        assert_eq!(told(&reading), expected);
    }
}
