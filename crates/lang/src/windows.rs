//! Logs: the places that report trouble, each with the lines around it, and everything between.

use std::ops::Range;

use crate::{Fallback, Found, Span, lines::Lines, pack::Marks};

/// Lines of a log around one or more that report trouble.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The lines, with those before and after.
    pub span: Span,
    /// The lines that report trouble, counted from 1; those of a stack trace are not counted.
    pub flagged: Vec<usize>,
}

/// Lines shown before and after.
const CONTEXT: usize = 3;

/// Words that a line reports trouble with, in capitals; `error` in small letters counts with a mark beside it.
const CAPITALS: &[&str] = &[
    "ERROR",
    "WARN",
    "WARNING",
    "CRITICAL",
    "EXCEPTION",
    "FATAL",
    "SEVERE",
    "PANIC",
    "ALERT",
    "EMERG",
    "FAILED",
    "FAILURE",
];
const ANYWHERE: &[&str] = &[
    "Traceback (most recent call last)",
    "level=error",
    "level=warn",
    "level=fatal",
    "\"level\":\"error\"",
    "\"level\":\"warn",
    "\"level\":\"fatal\"",
    "panicked at",
    "panic: ",
    "Exception in thread",
    "Caused by:",
    "error: ",
    "Error: ",
    "error[",
    "warning: ",
    "Warning: ",
    "[error]",
    "[warn]",
    "Segmentation fault",
    "Out of memory",
];

pub(crate) fn read(lines: &Lines<'_>) -> (Found, Marks, Option<Fallback>) {
    let windows = windows(lines);
    let mut marks = Marks::plain(lines);
    for window in &windows {
        marks.force(window.span.first_line - 1);
        marks.force(window.span.last_line);
    }
    (Found::Windows(windows), marks, None)
}

/// The windows in order; those that touch are one.
fn windows(lines: &Lines<'_>) -> Vec<Window> {
    let mut windows: Vec<(Range<usize>, Vec<usize>)> = Vec::new();
    let mut trace_end = 0;
    for (number, line) in lines.iter().enumerate() {
        let in_trace = number < trace_end;
        if !in_trace && !is_flagged(line) {
            continue;
        }
        if !in_trace {
            trace_end = number + 1 + lines_of_trace(lines, number + 1);
        }
        let from = number.saturating_sub(CONTEXT);
        let to = (trace_end + CONTEXT).min(lines.count());
        match windows.last_mut() {
            Some((range, flagged)) if from <= range.end => {
                range.end = to.max(range.end);
                if !in_trace {
                    flagged.push(number + 1);
                }
            }
            _ => windows.push((from..to, vec![number + 1])),
        }
    }
    windows.into_iter().map(|(range, flagged)| Window { span: lines.span_of(range), flagged }).collect()
}

fn is_flagged(line: &str) -> bool {
    // What is said far behind in a line is part of some data.
    let line = &line[..line.floor_char_boundary(400)];
    let is_letter = |c: char| c.is_ascii_alphabetic();
    let words = line.split(|c: char| !is_letter(c));
    words.into_iter().any(|word| CAPITALS.contains(&word) || word.ends_with("Exception"))
        || ANYWHERE.iter().any(|mark| line.contains(mark))
}

/// How many lines from `from` on go on with a trace: indented, or beginning with `at` and the like.
fn lines_of_trace(lines: &Lines<'_>, from: usize) -> usize {
    const MOST: usize = 200;
    let goes_on = |line: &str| {
        let bare = line.trim_end();
        !bare.is_empty()
            && (bare.starts_with([' ', '\t']) || bare.starts_with("at ") || bare.starts_with("Caused by"))
    };
    (from..lines.count().min(from + MOST)).take_while(|line| goes_on(lines.line(*line))).count()
}

#[cfg(test)]
mod tests {
    use crate::{Found, Limits, read};

    #[test]
    fn two_errors_far_apart_are_two_windows_and_nothing_is_dropped() {
        let mut log: Vec<String> = (0..80).map(|i| format!("10:00:{i:02} INFO served request {i}")).collect();
        log[20] = "10:00:20 ERROR no connection".to_owned();
        log[60] = "10:00:60 WARN slow".to_owned();
        let text = log.join("\n");
        let reading = read("a.log", &text, &Limits::default(), &|| false);
        let Found::Windows(windows) = &reading.found else { panic!("{:?}", reading.found) };
        let lines: Vec<_> = windows.iter().map(|w| (w.span.first_line, w.span.last_line)).collect();
        assert_eq!(lines, [(18, 24), (58, 64)]);
        assert_eq!(windows[0].flagged, [21]);
        let lines: Vec<_> = reading.chunks.iter().map(|c| (c.span.first_line, c.span.last_line)).collect();
        assert!(lines.contains(&(18, 24)) && lines.contains(&(58, 64)), "{lines:?}");
        assert_eq!(reading.chunks.last().map(|c| c.span.last_line), Some(80));
    }

    #[test]
    fn a_trace_stands_with_its_error() {
        let text = "ok\nok\nok\nok\nok\nTraceback (most recent call last):\n  File \"a.py\", line 1\n    x()\nKeyError: 'x'\nok\nok\nok\nok\n";
        let reading = read("a.log", text, &Limits::default(), &|| false);
        let Found::Windows(windows) = &reading.found else { panic!("{:?}", reading.found) };
        assert_eq!((windows[0].span.first_line, windows[0].span.last_line), (3, 12));
        assert_eq!(windows[0].flagged, [6, 9]);
        assert!(read("a.log", "all is well\n", &Limits::default(), &|| false).chunks.len() == 1);
    }

    #[test]
    fn a_word_in_a_name_is_no_report() {
        for (line, flagged) in [
            ("INFO error_count=0", false),
            ("INFO terror", false),
            ("2026-01-01 WARNING disk", true),
            ("java.lang.IllegalStateException: x", true),
            ("error: no such file", true),
            ("ts=1 level=error msg=x", true),
        ] {
            assert_eq!(super::is_flagged(line), flagged, "{line}");
        }
    }
}
