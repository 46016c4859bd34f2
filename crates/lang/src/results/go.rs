//! `go test`, as text and with `-json`.

use std::collections::HashMap;

use super::{Outcome, Told, location, message};
use crate::{keys::strings, lines::Lines};

pub(super) fn is_report(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("=== RUN ") || end(line).is_some())
}

pub(super) fn is_json(text: &str) -> bool {
    let is = |line: &str| {
        line.starts_with('{')
            && line.contains("\"Action\":")
            && (line.contains("\"Package\":") || line.contains("\"Test\":"))
    };
    text.lines().take(5).any(is)
}

/// `--- FAIL: TestA/sub (0.00s)`, indented when it is part of another.
fn end(line: &str) -> Option<(&str, Outcome)> {
    let (word, rest) = line.trim_start().strip_prefix("--- ")?.split_once(": ")?;
    let outcome = match word {
        "PASS" => Outcome::Passed,
        "FAIL" => Outcome::Failed,
        "SKIP" => Outcome::Skipped,
        _ => return None,
    };
    let (name, _) = rest.rsplit_once(" (")?;
    Some((name, outcome))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// A result goes from the line that starts the test, if nothing else stands between, to the last line that is
/// indented below its end.
pub(super) fn scan(lines: &Lines<'_>) -> Vec<Told> {
    let mut told: Vec<Told> = Vec::new();
    let mut said: HashMap<String, (String, Option<String>)> = HashMap::new();
    let mut running: Option<(&str, usize)> = None;
    let mut ended: Option<(usize, usize)> = None;
    for (number, line) in lines.iter().enumerate() {
        let line = line.trim_end();
        if let Some(name) = line.strip_prefix("=== ").and_then(|rest| rest.split_whitespace().nth(1)) {
            (running, ended) = (Some((name, number)), None);
        } else if let Some((name, outcome)) = end(line) {
            let from =
                running.take().filter(|(running, _)| *running == name).map_or(number, |(_, from)| from);
            let mut one = Told::new(name, outcome, lines.span_of(from..number + 1).bytes, 0);
            if let Some((text, place)) = said.remove(name) {
                (one.message, one.location) = (message(&text), place);
            }
            ended = Some((told.len(), indent(line)));
            told.push(one);
        } else if let Some((at, _)) = ended.filter(|(_, outer)| indent(line) > *outer) {
            told[at].bytes.end = lines.start(number + 1);
            if told[at].message.is_none() {
                (told[at].message, told[at].location) = (message(remark(line)), location(line));
            }
        } else if let Some((name, _)) = running.filter(|_| location(line).is_some()) {
            said.entry(name.to_owned()).or_insert_with(|| (remark(line).to_owned(), location(line)));
        } else {
            ended = None;
        }
    }
    told
}

/// What a line says behind `file.go:12: `.
fn remark(line: &str) -> &str {
    match location(line).and_then(|_| line.split_once(": ")) {
        Some((_, rest)) => rest,
        None => line,
    }
}

/// The lines about a test that stand together before its end.
pub(super) fn scan_json(lines: &Lines<'_>) -> Vec<Told> {
    let mut told = Vec::new();
    let mut said: HashMap<String, (String, Option<String>)> = HashMap::new();
    let mut run: Option<(String, usize)> = None;
    for (number, line) in lines.iter().enumerate() {
        let fields = strings(line);
        let get =
            |key: &str| fields.iter().find(|(known, _)| *known == key).map_or("", |(_, text)| text.as_str());
        if get("Test").is_empty() {
            run = None;
            continue;
        }
        let name = format!("{}.{}", get("Package"), get("Test"));
        let from = run.take().filter(|(before, _)| *before == name).map_or(number, |(_, from)| from);
        let outcome = match get("Action") {
            "pass" => Outcome::Passed,
            "fail" => Outcome::Failed,
            "skip" => Outcome::Skipped,
            action => {
                let output = get("Output");
                if action == "output" && location(output).is_some() {
                    let remark = remark(output.trim()).to_owned();
                    said.entry(name.clone()).or_insert_with(|| (remark, location(output)));
                }
                run = Some((name, from));
                continue;
            }
        };
        let mut one = Told::new(&name, outcome, lines.span_of(from..number + 1).bytes, 0);
        if let Some((text, place)) = said.remove(&name) {
            (one.message, one.location) = (message(&text), place);
        }
        told.push(one);
    }
    told
}

#[cfg(test)]
mod tests {
    use super::super::tests::{report, row, told};

    #[test]
    fn each_test_is_a_result() {
        let text = "=== RUN   TestAdd\n--- PASS: TestAdd (0.00s)\n=== RUN   TestPop\n=== RUN   TestPop/empty\n    queue_test.go:12: got 1, want 0\n--- FAIL: TestPop (0.00s)\n    --- FAIL: TestPop/empty (0.00s)\n=== RUN   TestLater\n--- SKIP: TestLater (0.00s)\n    queue_test.go:30: no server\nFAIL\nexit status 1\nFAIL\tx/queue\t0.003s\n";
        let expected = [
            row("TestAdd", "passed", "", "", (1, 2)),
            row("TestPop", "failed", "", "", (6, 6)),
            row("TestPop/empty", "failed", "got 1, want 0", "queue_test.go:12", (7, 7)),
            row("TestLater", "skipped", "no server", "queue_test.go:30", (8, 10)),
        ];
        assert_eq!(told(&report("go.log", text)), expected);
    }

    #[test]
    fn json_lines_are_read_too() {
        let text = "{\"Action\":\"run\",\"Package\":\"x/q\",\"Test\":\"TestA\"}\n{\"Action\":\"output\",\"Package\":\"x/q\",\"Test\":\"TestA\",\"Output\":\"    q_test.go:7: no\\n\"}\n{\"Action\":\"fail\",\"Package\":\"x/q\",\"Test\":\"TestA\",\"Elapsed\":0}\n{\"Action\":\"fail\",\"Package\":\"x/q\",\"Elapsed\":0.1}\n";
        let expected = [row("x/q.TestA", "failed", "no", "q_test.go:7", (1, 3))];
        assert_eq!(told(&report("go.json", text)), expected);
    }
}
