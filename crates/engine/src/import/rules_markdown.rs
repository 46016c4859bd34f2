//! Rules written as Markdown: one `##` heading each, `priority:`, `scope:` and `condition:` lines, and a body.

use strata_core::{markdown, memory::Layer};
use strata_store::ledger::DEFAULT_PRIORITY;

use super::p_layer::WrittenAttributes;

/// A rule as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WrittenRule {
    /// The line of its heading, from 1.
    pub(super) line: usize,
    pub(super) layer: Layer,
    /// The heading without its layer.
    pub(super) heading: String,
    /// What stands below it.
    pub(super) body: String,
    pub(super) attributes: WrittenAttributes,
}

impl WrittenRule {
    /// The whole rule.
    pub(super) fn text(&self) -> String {
        if self.body.is_empty() {
            return self.heading.clone();
        }
        format!("{}\n\n{}", self.heading, self.body)
    }
}

/// The rules of a file, and what is wrong with others, by line.
pub(super) fn parse(text: &str) -> (Vec<WrittenRule>, Vec<String>) {
    let (mut rules, mut problems) = (Vec::new(), Vec::new());
    let sections = markdown::sections(text);
    for (place, section) in sections.iter().enumerate().filter(|(_, s)| s.level == 2) {
        // Deeper headings belong to the rule.
        let below = sections[place + 1..].iter().take_while(|s| s.level > 2);
        let end = below.last().map_or(section.body.end, |s| s.body.end);
        let heading = heading_text(&text[section.heading.clone()]);
        let first_below = section.line + text[section.heading.clone()].matches('\n').count().max(1);
        match rule((section.line, first_below), &heading, &text[section.body.start..end]) {
            Ok(Some(rule)) => rules.push(rule),
            Ok(None) => {}
            Err((line, why)) => problems.push(format!("line {line}: {why}")),
        }
    }
    (rules, problems)
}

/// The words of a heading, without its marks.
fn heading_text(heading: &str) -> String {
    let line = heading.trim_start_matches('\u{feff}').lines().next().unwrap_or_default().trim();
    let words = line.strip_prefix("##").unwrap_or(line).trim();
    let open = words.trim_end_matches('#');
    // A closing row of marks stands apart from the words.
    let words = if open.len() < words.len() && open.ends_with([' ', '\t']) { open } else { words };
    words.trim().to_owned()
}

/// One rule, from the lines of its heading and of what follows; `None` when its heading says nothing.
fn rule(
    (line, first_below): (usize, usize),
    heading: &str,
    below: &str,
) -> Result<Option<WrittenRule>, (usize, String)> {
    let (layer, heading) = layered(heading).map_err(|why| (line, why))?;
    if heading.is_empty() {
        return Ok(None);
    }
    let mut attributes =
        WrittenAttributes { priority: DEFAULT_PRIORITY, condition: None, scope: None, enabled: true };
    let mut body = Vec::new();
    for (number, text) in (first_below..).zip(below.lines()) {
        // Attributes stand above the body.
        let is_above = body.iter().all(|b: &&str| b.trim().is_empty());
        if !is_above || !attribute(text, &mut attributes).map_err(|why| (number, why))? {
            body.push(text);
        }
    }
    let body = body.join("\n").trim().to_owned();
    Ok(Some(WrittenRule { line, layer, heading: heading.to_owned(), body, attributes }))
}

/// The layer in brackets at the start, P0 without any, and the rest. Other brackets are words.
fn layered(heading: &str) -> Result<(Layer, &str), String> {
    let Some((word, rest)) = heading.strip_prefix('[').and_then(|h| h.split_once(']')) else {
        return Ok((Layer::P0, heading));
    };
    let word = word.trim();
    let names_a_layer = word
        .strip_prefix(['P', 'p'])
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
    if !names_a_layer {
        return Ok((Layer::P0, heading));
    }
    let layer = Layer::parse(word).map_err(|e| format!("{e}; {}", e.allowed))?;
    Ok((layer, rest.trim()))
}

/// Whether a line is an attribute; if so it is put down.
fn attribute(line: &str, attributes: &mut WrittenAttributes) -> Result<bool, String> {
    let Some((name, value)) = line.split_once(':') else { return Ok(false) };
    let value = value.trim();
    let text = || (!value.is_empty()).then(|| value.to_owned());
    match name.trim().trim_start_matches(['-', '*', ' ']).to_ascii_lowercase().as_str() {
        "priority" => {
            let number = value.parse().ok().filter(|n: &i64| *n >= 0);
            attributes.priority =
                number.ok_or_else(|| format!("`{value}` is no priority; write a number from 0 up"))?;
        }
        "scope" => attributes.scope = text(),
        "condition" => attributes.condition = text(),
        _ => return Ok(false),
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str) -> WrittenRule {
        let (mut rules, problems) = parse(text);
        assert_eq!((rules.len(), problems.len()), (1, 0), "{rules:?} {problems:?}");
        rules.remove(0)
    }

    #[test]
    fn a_heading_is_a_rule_with_its_layer_attributes_and_body() {
        let text = "# Rules\n\nintro\n\n## [P1] 신중하게 답한다 ##\npriority: 5\nscope: chat\ncondition: always: yes\n\nBecause\n\n### Why\n\n```\n## not a rule\n```\n# End\n\ntext\n";
        let rule = only(text);
        assert_eq!((rule.line, rule.layer, rule.heading.as_str()), (5, Layer::P1, "신중하게 답한다"));
        assert_eq!(rule.attributes.priority, 5);
        assert_eq!(rule.attributes.scope.as_deref(), Some("chat"));
        assert_eq!(rule.attributes.condition.as_deref(), Some("always: yes"));
        assert_eq!(rule.body, "Because\n\n### Why\n\n```\n## not a rule\n```");
        assert!(rule.text().starts_with("신중하게 답한다\n\nBecause"));
    }

    #[test]
    fn a_plain_heading_is_a_rule_of_p0() {
        let rule = only("\u{feff}## Never force-push `main`\r\n");
        assert_eq!((rule.layer, rule.text().as_str()), (Layer::P0, "Never force-push `main`"));
        assert_eq!(rule.attributes.priority, 100);
        assert_eq!(only("## [WIP] C# ist erlaubt, C#\n").heading, "[WIP] C# ist erlaubt, C#");
    }

    #[test]
    fn what_is_wrong_is_told_by_line_and_the_rest_goes_on() {
        let text = "## [P8] beyond\n\n## [P5] good\n\n## [P0] late\n\npriority: high\n## [P2]\n";
        let (rules, problems) = parse(text);
        assert_eq!(rules.iter().map(|r| r.heading.as_str()).collect::<Vec<_>>(), ["good"]);
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].starts_with("line 1: ") && problems[0].contains("P8"), "{problems:?}");
        assert!(problems[1].starts_with("line 7: ") && problems[1].contains("high"), "{problems:?}");
    }

    #[test]
    fn prose_with_colons_stays_in_the_body() {
        let rule = only("## Rule\n\nText first.\npriority: of the house\n");
        assert_eq!(
            (rule.attributes.priority, rule.body.as_str()),
            (100, "Text first.\npriority: of the house")
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(## |\\[P[0-9]\\]|priority:|```|\r?\n|안|[ -~]){0,80}") {
            let (rules, problems) = parse(&text);
            proptest::prop_assert!(rules.len() + problems.len() <= text.lines().count());
            for rule in rules {
                proptest::prop_assert!(!rule.text().trim().is_empty() && rule.line >= 1);
            }
        }
    }
}
