//! What a README says of a project: what it is, what binds it, what was decided.

use super::{wording::word_count, words::Words};

/// Characters of a README that are read.
pub const READ: usize = 8_000;
/// Characters of a description.
const DESCRIPTION: usize = 400;
/// Words after which a description is long enough.
const ENOUGH_WORDS: usize = 20;
/// Words that a README has at least when it says something.
const MIN_README: usize = 6;
/// Words that a bullet has at least when it says something.
const MIN_BULLET: usize = 3;
/// Most bullets of a sort.
const BULLETS: usize = 10;

/// Headings under which constraints are listed, as [`Words`] looks for phrases.
const CONSTRAINTS: &str = "constraint*|rule*|limit*|must|forbidden|never|invariant*|security|auth|authent*|authori*|principle*|\
                           requirement*|policy|policies|约束|规则|限制|原则|安全|制約|規則|ルール|セキュリティ|제약|규칙|원칙|보안";
/// Headings under which decisions are listed.
const DECISIONS: &str = "decision*|architectur*|design*|adr|adrs|rationale|why|chose|chosen|choice*|决策|架构|设计|理由|決定|設計|\
                         결정|설계|이유";

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The first paragraph below the title.
    pub description: String,
    /// Bullets below a heading that speaks of constraints.
    pub constraints: Vec<String>,
    /// Bullets below a heading that speaks of decisions.
    pub decisions: Vec<String>,
}

/// Reads a README.
pub fn read(text: &str) -> Found {
    let text: String = text.chars().take(READ).collect();
    if word_count(&text) < MIN_README {
        return Found::default();
    }
    let mut found = Found { description: description(&text), ..Found::default() };
    let (mut heading, mut fenced) = (Words::default(), false);
    let mut above = "";
    for line in text.lines() {
        let line = line.trim();
        let above = std::mem::replace(&mut above, line);
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
        } else if fenced {
        } else if let Some(title) = title(line).or_else(|| underlined(above, line)) {
            heading = Words::of(title);
        } else if let Some(bullet) = bullet(line) {
            let told = |phrases: &str| phrases.split('|').any(|phrase| heading.has(phrase));
            if told(CONSTRAINTS) && found.constraints.len() < BULLETS {
                found.constraints.push(bullet.to_owned());
            } else if told(DECISIONS) && found.decisions.len() < BULLETS {
                found.decisions.push(bullet.to_owned());
            }
        }
    }
    found
}

/// The first paragraph that is neither heading nor badge nor list, until it is long enough.
fn description(text: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut fenced = false;
    let mut lines = text.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        if lines.peek().is_some_and(|below| underlined(line, below).is_some()) {
            lines.next();
            continue;
        }
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        let rule = !line.is_empty() && line.chars().all(|c| matches!(c, '=' | '-' | '*'));
        let markup = line.starts_with(['#', '!', '<', '[', '|', '>']) || rule || bullet(line).is_some();
        match (fenced || markup || line.is_empty(), kept.is_empty()) {
            (true, true) => {}
            (true, false) => break,
            (false, _) => kept.push(line),
        }
        if word_count(&kept.join(" ")) >= ENOUGH_WORDS {
            break;
        }
    }
    kept.join(" ").chars().take(DESCRIPTION).collect()
}

/// The text of a heading of the first three levels.
fn title(line: &str) -> Option<&str> {
    let level = line.chars().take_while(|c| *c == '#').count();
    ((1..=3).contains(&level) && line[level..].starts_with(' ')).then(|| line[level..].trim())
}

/// The heading `above`, if `line` underlines it, as reStructuredText has it and Markdown may.
fn underlined<'t>(above: &'t str, line: &str) -> Option<&'t str> {
    let is_line = line.len() >= 3 && ['=', '-'].iter().any(|mark| line.trim_matches(*mark).is_empty());
    (is_line && !above.is_empty() && bullet(above).is_none() && title(above).is_none()).then_some(above)
}

/// The text of a bullet that says something.
fn bullet(line: &str) -> Option<&str> {
    let text =
        line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).or_else(|| line.strip_prefix("+ "))?;
    (word_count(text) >= MIN_BULLET).then(|| text.trim())
}

/// The first sentence of a text.
pub fn first_sentence(text: &str) -> &str {
    let text = text.trim();
    let end = text.char_indices().find(|(at, c)| match c {
        '。' | '！' | '？' | '\n' => true,
        '.' | '!' | '?' => text[at + c.len_utf8()..].chars().next().is_none_or(char::is_whitespace),
        _ => false,
    });
    end.map_or(text, |(at, _)| text[..at].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_readme_is_read_by_its_headings() {
        let text = "# Ferry\n\n[![build](x)](y)\n\nFerry moves files between two sites,\nwithout a server.\n\n\
                    ## Security rules\n- Keys never leave the machine\n- short one\n```sh\n- not a bullet of it\n```\n\
                    ## Why Rust\n* One binary is easier to ship\n## Use\n- run the thing twice\n";
        let found = read(text);
        assert_eq!(found.description, "Ferry moves files between two sites, without a server.");
        assert_eq!(found.constraints, ["Keys never leave the machine"]);
        assert_eq!(found.decisions, ["One binary is easier to ship"]);
        assert_eq!(read("# Ferry\n"), Found::default());
    }

    #[test]
    fn headings_are_told_by_whole_words_and_may_be_underlined() {
        let text = "Ferry\n=====\n\nFerry moves files between two sites.\n\nAuthentication\n--------------\n- Keys are made on the machine\n\n\
                    Authors\n-------\n- Ana wrote all of it\n\n设计\n----\n- 一个二进制文件更容易分发\n";
        let found = read(text);
        assert_eq!(found.description, "Ferry moves files between two sites.");
        assert_eq!(found.constraints, ["Keys are made on the machine"], "who wrote it is no constraint");
        assert_eq!(found.decisions, ["一个二进制文件更容易分发"]);
    }

    #[test]
    fn a_sentence_ends_at_its_stop() {
        assert_eq!(first_sentence("Use v1.2 only. Then more."), "Use v1.2 only");
        assert_eq!(first_sentence("只用新接口。然后"), "只用新接口");
        assert_eq!(first_sentence("No stop"), "No stop");
    }
}
