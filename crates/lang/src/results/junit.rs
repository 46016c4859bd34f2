//! JUnit's XML, which most test runners can write.

use super::{Outcome, Told, message, short};
use crate::lines::Lines;

/// One pass over the `testcase` elements; nothing else of the document is looked at.
pub(super) fn scan(lines: &Lines<'_>) -> Vec<Told> {
    let text = lines.text();
    let mut told = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find("<testcase") {
        let from = at + found;
        let Some(tag_end) = tag_end(text, from) else { break };
        at = tag_end;
        let tag = &text[from..tag_end];
        if !tag["<testcase".len()..].starts_with(|c: char| c.is_whitespace() || c == '>' || c == '/') {
            continue;
        }
        let end = if tag.ends_with("/>") { tag_end } else { element_end(text, tag_end) };
        told.push(case(tag, &text[tag_end..end], from..end, lines));
        at = end;
    }
    told
}

fn case(tag: &str, inner: &str, bytes: std::ops::Range<usize>, lines: &Lines<'_>) -> Told {
    let name = attribute(tag, "name").unwrap_or_default();
    let name = match attribute(tag, "classname") {
        Some(class) if !class.is_empty() => format!("{class}.{name}"),
        _ => name,
    };
    let mut outcome = Outcome::Passed;
    let mut said = None;
    let ways = [("<failure", Outcome::Failed), ("<error", Outcome::Error), ("<skipped", Outcome::Skipped)];
    if let Some((from, way)) = ways.into_iter().find_map(|(tag, way)| Some((inner.find(tag)?, way))) {
        outcome = way;
        let end = tag_end(inner, from).unwrap_or(inner.len());
        let body = inner[end..].split("</").next().unwrap_or("");
        said = attribute(&inner[from..end], "message").filter(|m| !m.is_empty());
        said = said.or_else(|| Some(decoded(body.trim().trim_start_matches("<![CDATA["))));
    }
    // The whole line, when nothing else stands on it.
    let line = lines.at(bytes.start);
    let is_alone = lines.text()[lines.start(line)..bytes.start].trim().is_empty();
    let last = lines.start(lines.at(bytes.end.saturating_sub(1)) + 1);
    let ends_line = lines.text()[bytes.end..last].trim().is_empty();
    let whole =
        if is_alone { lines.start(line) } else { bytes.start }..if ends_line { last } else { bytes.end };
    let mut told = Told::new(&short(&name), outcome, whole, 0);
    told.message = said.as_deref().and_then(message);
    told.location = attribute(tag, "file").map(|file| match attribute(tag, "line") {
        Some(line) => format!("{file}:{line}"),
        None => file,
    });
    told
}

/// Past the `>` of a tag; one in quotes does not end it.
fn tag_end(text: &str, from: usize) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate().skip(from) {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            (None, b'>') => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Past `</testcase>`, or to the next one where it is missing.
fn element_end(text: &str, from: usize) -> usize {
    const END: &str = "</testcase>";
    // To the next one first, so that the time stays linear however many ends are missing.
    let next = text[from..].find("<testcase").map_or(text.len(), |at| from + at);
    text[from..next].find(END).map_or(next, |at| from + at + END.len())
}

/// The value of an attribute of a tag.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let mut rest = tag;
    while let Some(at) = rest.find(name) {
        let before = rest[..at].chars().next_back();
        let after = rest[at + name.len()..].trim_start();
        rest = &rest[at + name.len()..];
        if !before.is_some_and(char::is_whitespace) {
            continue;
        }
        let Some(value) = after.strip_prefix('=').map(str::trim_start) else { continue };
        let quote = value.chars().next().filter(|c| ['"', '\''].contains(c))?;
        return Some(decoded(value[1..].split(quote).next().unwrap_or("")));
    }
    None
}

fn decoded(text: &str) -> String {
    let text =
        text.replace("&#10;", "\n").replace("&#xA;", "\n").replace("&quot;", "\"").replace("&apos;", "'");
    text.replace("&#39;", "'").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{report, row, told};

    #[test]
    fn each_case_is_a_result() {
        let text = "<?xml version=\"1.0\"?>\n<testsuites>\n<testsuite name=\"s\" tests=\"4\">\n  <testcase classname=\"a.B\" name=\"adds\" file=\"a.py\" line=\"3\"/>\n  <testcase classname=\"a.B\" name=\"x &gt; y\">\n    <failure message=\"1 != 2&#10;more\" type=\"E\">trace\n    </failure>\n  </testcase>\n  <testcase name=\"open\"><error>boom\nat x</error></testcase>\n  <testcase name='later' classname=''><skipped/></testcase>\n</testsuite>\n</testsuites>\n";
        let reading = report("out/junit.xml", text);
        let expected = [
            row("a.B.adds", "passed", "", "a.py:3", (4, 4)),
            row("a.B.x > y", "failed", "1 != 2", "", (5, 8)),
            row("open", "error", "boom", "", (9, 10)),
            row("later", "skipped", "", "", (11, 11)),
        ];
        assert_eq!(told(&reading), expected);
        assert_eq!(reading.chunks.len(), 6, "head, four results, tail");
    }

    #[test]
    fn a_broken_document_keeps_its_whole_cases() {
        let text = "<testsuite>\n<testcase name=\"a\">\n<testcase name=\"b\"/>\n<testcase name=\"c";
        let names: Vec<_> = told(&report("r.xml", text)).into_iter().map(|row| row.0).collect();
        assert_eq!(names, ["a", "b"]);
    }
}
