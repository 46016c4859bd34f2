//! Which lines of a text another has.

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
/// block or a table is one part; it is added whole when it does not stand in `body` as it is.
pub fn missing_lines(body: &str, content: &str) -> String {
    let key = |part: &str| if part.contains('\n') { lines_key(part) } else { line_key(part) };
    let known: std::collections::HashSet<String> = parts(body).iter().map(|part| key(part)).collect();
    let mut kept = String::new();
    let mut is_parted = false;
    for part in parts(content) {
        if part.trim().is_empty() {
            is_parted = true;
        } else if !known.contains(&key(&part)) {
            if !kept.is_empty() {
                kept.push_str(if is_parted { "\n\n" } else { "\n" });
            }
            kept.push_str(&part);
            is_parted = false;
        }
    }
    kept
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
        rest = digits.strip_prefix(['.', ')', '、']).unwrap_or(rest);
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
}
