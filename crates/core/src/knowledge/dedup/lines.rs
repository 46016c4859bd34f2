//! Which lines of a text another has.

use std::collections::HashSet;

/// Whether the lines of `block` stand one after the other in `body`. Space at the ends of lines does not count.
pub fn contains_block(body: &str, block: &str) -> bool {
    let block = lines_key(block);
    block.trim().is_empty() || lines_key(body).contains(&block)
}

/// The lines without space at their ends, between line breaks, and without the blank ones around.
fn lines_key(text: &str) -> String {
    let mut key = String::with_capacity(text.len() + 2);
    key.push('\n');
    for line in text.trim_end().lines().skip_while(|line| line.trim().is_empty()) {
        key.push_str(line.trim_end());
        key.push('\n');
    }
    key
}

/// The parts of `content` that `body` lacks, in order: lines, compared without list marks, heading marks and letter case. A fenced
/// block or a table is one part; it is added whole when it does not stand in `body` as it is. Of a table that the body ends
/// with, the rows that are new go on with it.
pub fn missing_lines(body: &str, content: &str) -> String {
    let key = |part: &str| if part.contains('\n') { lines_key(part) } else { line_key(part) };
    let there = parts(body);
    let known: HashSet<String> = there.iter().map(|part| key(part)).collect();
    let last = there.iter().rev().find(|part| !part.trim().is_empty());
    let mut kept = String::new();
    let mut is_parted = false;
    for part in parts(content) {
        if part.trim().is_empty() {
            is_parted = true;
        } else if !known.contains(&key(&part)) {
            let rows = last.filter(|_| kept.is_empty()).and_then(|table| new_rows(table, &part));
            let part = rows.unwrap_or(part);
            if !kept.is_empty() {
                kept.push_str(if is_parted { "\n\n" } else { "\n" });
            }
            kept.push_str(&part);
            is_parted = false;
        }
    }
    kept
}

/// The rows of a table that another one with the same head lacks.
fn new_rows(table: &str, more: &str) -> Option<String> {
    let head = |text: &str| -> Option<[String; 2]> {
        let mut lines = text.lines().map(line_key);
        let head = [lines.next()?, lines.next()?];
        (head[0].starts_with('|') && head[1].contains('-')).then_some(head)
    };
    if head(table)? != head(more)? {
        return None;
    }
    let known: HashSet<String> = table.lines().map(line_key).collect();
    let rows: Vec<&str> = more.lines().filter(|row| !known.contains(&line_key(row))).collect();
    Some(rows.join("\n"))
}

/// Lines, but fenced blocks and tables whole.
fn parts(content: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut fence: Option<String> = None;
    let mut in_table = false;
    for line in content.lines() {
        let trimmed = line.trim();
        let is_row = fence.is_none() && trimmed.starts_with('|');
        let goes_on = fence.is_some() || (in_table && is_row);
        match fence.take() {
            Some(open) if closes(trimmed, &open) => {}
            Some(open) => fence = Some(open),
            None => fence = opened(trimmed),
        }
        in_table = is_row;
        match parts.last_mut() {
            Some(last) if goes_on => {
                last.push('\n');
                last.push_str(line);
            }
            _ => parts.push(line.to_owned()),
        }
    }
    parts
}

/// The run of marks that a line opens a fenced block with.
fn opened(line: &str) -> Option<String> {
    let mark = line.chars().next().filter(|c| ['`', '~'].contains(c))?;
    let run: String = line.chars().take_while(|c| *c == mark).collect();
    let is_inline = mark == '`' && line[run.len()..].contains('`');
    (run.len() >= 3 && !is_inline).then_some(run)
}

fn closes(line: &str, open: &str) -> bool {
    line.len() >= open.len() && line.starts_with(open) && line.trim_start_matches(&open[..1]).is_empty()
}

fn line_key(line: &str) -> String {
    let mut rest = line.trim().trim_start_matches('#').trim_start();
    let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if let Some(after) = rest.strip_prefix(['-', '*', '+']).filter(|after| after.starts_with(' ')) {
        rest = after;
    } else if digits.len() < rest.len() {
        // `1.5 GB` and `10.0.0.5` are values, no marks.
        let is_mark = |after: &&str| after.starts_with([' ', '\t']);
        let after = digits.strip_prefix(['.', ')']).filter(is_mark).or_else(|| digits.strip_prefix('、'));
        rest = after.unwrap_or(rest);
    }
    rest.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_and_tables_are_merged_whole() {
        let body = "intro\n```sh\nmake\n```";
        let content = "Intro\n\n```sh\nmake\nmake test\n```\n| a |\n|---|\n| 1 |\n";
        assert_eq!(missing_lines(body, content), "```sh\nmake\nmake test\n```\n| a |\n|---|\n| 1 |");
        assert_eq!(missing_lines(content, content), "");
        assert_eq!(missing_lines("", "a\n\nb"), "a\n\nb");
    }

    #[test]
    fn a_table_at_the_end_goes_on_with_its_new_rows() {
        let body = "Limits:\n\n| k | v |\n|---|---|\n| a | 1 |";
        let more = "| k | v |\n|---|---|\n| a | 1 |\n| b | 2 |";
        assert_eq!(missing_lines(body, more), "| b | 2 |");
        assert_eq!(missing_lines(body, "| k | v |\n|---|---|\n| a | 1 |"), "");
        assert_eq!(missing_lines(&format!("{body}\n\nAnd so on."), more), more, "not at the end");
        let other = "| k | w |\n|---|---|\n| b | 2 |";
        assert_eq!(missing_lines(body, other), other);
    }

    #[test]
    fn values_are_no_list_marks() {
        assert_eq!(missing_lines("1.5 GB heap", "2.5 GB heap"), "2.5 GB heap");
        assert_eq!(missing_lines("10.0.0.5 is the db", "11.0.0.5 is the db"), "11.0.0.5 is the db");
        assert_eq!(missing_lines("1. make\n2) test\n3、发布", "4. Make\n- test\n1、发布"), "");
    }
}
