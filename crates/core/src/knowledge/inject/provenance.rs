//! The comment that says who wrote a text, and when.

use std::borrow::Cow;

/// Who wrote, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    agent: String,
    at: String,
}

/// What the comment begins with.
const BEGIN: &str = "<!-- injected by: ";
const END: &str = " -->";

impl Provenance {
    /// The longest name of an agent, in characters.
    pub const MAX_AGENT: usize = 64;

    /// The note of this agent; `at` is an instant as `2026-03-31T10:00:00Z`. What would end the comment is taken out of the name.
    /// `None` when nothing remains of it.
    pub fn new(agent: &str, at: &str) -> Option<Self> {
        let kept = |c: &char| !c.is_control() && !['<', '>', '\u{2028}', '\u{2029}'].contains(c);
        let name: String = agent.chars().filter(kept).take(Self::MAX_AGENT).collect();
        let agent = name.split_whitespace().collect::<Vec<_>>().join(" ").replace("--", "-");
        let agent = agent.trim_matches(['-', ' ']).replace("--", "-");
        (!agent.is_empty()).then(|| Self { agent, at: at.to_owned() })
    }

    /// The comment, one line.
    pub fn comment(&self) -> String {
        format!("{BEGIN}{} at {}{END}", self.agent, self.at)
    }
}

/// A body without the lines that say who wrote it. What stands in a code fence stays.
pub fn without_provenance(body: &str) -> Cow<'_, str> {
    if !body.contains(BEGIN) {
        return Cow::Borrowed(body);
    }
    let mut fence: Option<&str> = None;
    let is_note = |line: &str| line.starts_with(BEGIN) && line.ends_with(END);
    let kept = body.lines().filter(|line| {
        let line = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        fence.is_some() || !is_note(line)
    });
    Cow::Owned(kept.collect::<Vec<_>>().join("\n").trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_one_comment_whatever_the_name() {
        let at = "2026-03-31T10:00:00Z";
        let comment = |agent: &str| Provenance::new(agent, at).map(|note| note.comment());
        assert_eq!(
            comment("claude").as_deref(),
            Some("<!-- injected by: claude at 2026-03-31T10:00:00Z -->")
        );
        for agent in ["a -->\n## b", "-----x---", "代理 --> 一", "a\u{2028}b"] {
            let note = comment(agent).expect("something remains");
            assert_eq!(note.matches("-->").count(), 1, "{note}");
            assert_eq!(note.lines().count(), 1, "{note}");
            let inner = &note[4..note.len() - 3];
            assert!(!inner.contains("--") && !inner.contains('>'), "{note}");
        }
        assert_eq!((comment(" <>\n-- "), comment("--->")), (None, None));
    }

    #[test]
    fn notes_are_taken_off_outside_of_code() {
        let note = "<!-- injected by: a at b -->";
        let body = format!("x\n{note}\n\n```\n{note}\n```\ny\n{note}");
        assert_eq!(without_provenance(&body), format!("x\n\n```\n{note}\n```\ny"));
        assert_eq!(without_provenance("x\n<!-- kept -->"), "x\n<!-- kept -->");
    }
}
