//! The text of `cargo test`, and that of nextest.

use super::{Outcome, Told, location, message};
use crate::lines::Lines;

pub(super) fn is_report(text: &str) -> bool {
    let runs = |line: &str| {
        let words = line.strip_prefix("running ").and_then(|rest| rest.split_once(' '));
        words.is_some_and(|(count, what)| count.parse::<u64>().is_ok() && what.starts_with("test"))
    };
    text.lines().any(|line| runs(line) || line.starts_with("test result: ") || nextest(line).is_some())
}

/// A line for each test, and a block for what a failing one wrote.
pub(super) fn scan(lines: &Lines<'_>) -> Vec<Told> {
    let mut told = Vec::new();
    let mut block: Option<(&str, usize)> = None;
    for (number, line) in lines.iter().enumerate() {
        let line = line.trim_end();
        let heading = heading(line);
        if block.is_some() && (heading.is_some() || line == "failures:" || line.starts_with("test result: "))
        {
            told.extend(end(block.take(), number, lines));
        }
        if heading.is_some() {
            block = heading.map(|name| (name, number));
        } else if block.is_none()
            && let Some((name, outcome, said)) = run(line).or_else(|| nextest(line))
        {
            let mut one = Told::new(name, outcome, lines.span_of(number..number + 1).bytes, 1);
            one.message = message(said);
            told.push(one);
        }
    }
    told.extend(end(block, lines.count(), lines));
    told
}

/// `---- a::b stdout ----`.
fn heading(line: &str) -> Option<&str> {
    let inner = line.strip_prefix("---- ")?.strip_suffix(" ----")?;
    inner.strip_suffix(" stdout").or_else(|| inner.strip_suffix(" stderr"))
}

/// `test a::b ... ok`, `test a::b - should panic ... FAILED`.
fn run(line: &str) -> Option<(&str, Outcome, &str)> {
    let (name, word) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    let (word, said) = word.split_once(", ").unwrap_or((word, ""));
    match word.split_whitespace().next()? {
        "ok" => Some((name, Outcome::Passed, "")),
        "FAILED" => Some((name, Outcome::Failed, "")),
        "ignored" => Some((name, Outcome::Skipped, said)),
        _ => None,
    }
}

/// `PASS [   0.004s] crate a::b`, with a count in parentheses in newer versions.
fn nextest(line: &str) -> Option<(&str, Outcome, &str)> {
    let (word, rest) = line.trim_start().split_once(' ')?;
    let outcome = match word {
        "PASS" => Outcome::Passed,
        "FAIL" | "SIGABRT" | "SIGSEGV" => Outcome::Failed,
        "TIMEOUT" => Outcome::Error,
        "SKIP" => Outcome::Skipped,
        _ => return None,
    };
    let (_, rest) = rest.trim_start().strip_prefix('[')?.split_once("s]")?;
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('(').and_then(|count| count.split_once(')')) {
        Some((_, rest)) => rest.trim_start(),
        None => rest,
    };
    Some((rest, outcome, ""))
}

/// What a failing test wrote: the panic tells the place, the next line the message.
fn end(block: Option<(&str, usize)>, to: usize, lines: &Lines<'_>) -> Option<Told> {
    let (name, from) = block?;
    let mut told = Told::new(name, Outcome::Failed, lines.span_of(from..to).bytes, 2);
    if let Some(panic) = (from + 1..to).find(|line| lines.line(*line).contains("panicked at ")) {
        let (_, after) = lines.line(panic).split_once("panicked at ")?;
        told.location = location(after);
        told.message = message(lines.line(panic + 1));
    } else {
        told.message = (from + 1..to).find_map(|line| message(lines.line(line)));
    }
    Some(told)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{report, row, told};

    #[test]
    fn each_test_is_a_result_where_most_is_told() {
        let text = "   Compiling x\n\nrunning 3 tests\ntest a::adds ... ok\ntest a::splits ... FAILED\ntest a::slow ... ignored, takes long\n\nfailures:\n\n---- a::splits stdout ----\n\nthread 'a::splits' panicked at src/lib.rs:10:5:\nassertion `left == right` failed\n  left: 1\n right: 2\n\nfailures:\n    a::splits\n\ntest result: FAILED. 1 passed; 1 failed\n";
        let reading = report("ci/output.txt", text);
        let expected = [
            row("a::adds", "passed", "", "", (4, 4)),
            row("a::slow", "skipped", "takes long", "", (6, 6)),
            row("a::splits", "failed", "assertion `left == right` failed", "src/lib.rs:10", (10, 16)),
        ];
        assert_eq!(told(&reading), expected);
    }

    #[test]
    fn nextest_has_lines_of_its_own() {
        let text = "        PASS [   0.004s] (1/2) core a::b\n        FAIL [   1.2s] core a::c\n";
        let expected =
            [row("core a::b", "passed", "", "", (1, 1)), row("core a::c", "failed", "", "", (2, 2))];
        assert_eq!(told(&report("n.log", text)), expected);
    }
}
