//! Single statements of a file, with what sort of statement each is.

use std::collections::HashSet;

use strata_core::digest::sentences;

use super::first_sentence;
use crate::{Chunk, Found, Kind, Reading, Symbol};

/// A statement that a file makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposition {
    /// The statement, on one line.
    pub text: String,
    /// The same in lower case with single spaces: equal statements have it equal.
    pub normalised: String,
    /// What sort of statement it is.
    pub kind: PropositionKind,
    /// How likely it states what it seems to, in hundredths: 68 to 99.
    pub confidence: u8,
    /// The position of the chunk it stands in.
    pub chunk: usize,
    /// The line it begins on, counted from 1.
    pub line: usize,
}

/// What a statement is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PropositionKind {
    /// What a function does.
    Behavior,
    /// What must or must not be.
    Constraint,
    /// How parts are arranged.
    Architecture,
    /// What keeps the system safe.
    SecurityRule,
    /// Anything else about how it is made.
    ImplementationDetail,
    /// What was decided.
    Decision,
    /// How something is done.
    Procedure,
    /// What can go wrong.
    Risk,
    /// What a test shows.
    TestEvidence,
}

use PropositionKind::{
    Architecture, Behavior, Constraint, Decision, ImplementationDetail, Procedure, Risk, SecurityRule,
    TestEvidence,
};

impl PropositionKind {
    /// The kind as it is stored: `behavior`, `security_rule` and so on.
    pub const fn as_str(self) -> &'static str {
        match self {
            Behavior => "behavior",
            Constraint => "constraint",
            Architecture => "architecture",
            SecurityRule => "security_rule",
            ImplementationDetail => "implementation_detail",
            Decision => "decision",
            Procedure => "procedure",
            Risk => "risk",
            TestEvidence => "test_evidence",
        }
    }

    /// What words of this kind add to the confidence, in hundredths.
    const fn bonus(self) -> u8 {
        match self {
            SecurityRule => 15,
            Constraint => 10,
            Architecture | Decision | Risk => 5,
            Behavior | ImplementationDetail | Procedure | TestEvidence => 0,
        }
    }
}

/// Beginnings of words by which a kind is known, the first kind that has one goes. A word that ends with a space is whole.
const WORDS: &[(PropositionKind, &[&str])] = &[
    (
        SecurityRule,
        &[
            "shell=false",
            "allowlist",
            "allow list",
            "blocklist",
            "block list",
            "denylist",
            "deny list",
            "sanitiz",
            "sanitis",
            "redact",
            "credential",
            "secret",
            "token ",
            "tokens ",
            "auth ",
            "authoris",
            "authoriz",
            "authentic",
            "permission",
            "injection",
            "xss ",
            "csrf ",
            "path traversal",
            "symlink",
            "密钥",
            "凭证",
            "权限",
            "注入",
        ],
    ),
    (
        Constraint,
        &[
            "must ",
            "cannot ",
            "can not ",
            "never ",
            "always ",
            "required ",
            "forbidden ",
            "prohibited ",
            "shall ",
            "do not ",
            "don't ",
            "may not ",
            "invariant",
            "必须",
            "不得",
            "禁止",
            "不能",
            "总是",
        ],
    ),
    (
        Architecture,
        &[
            "architecture",
            "layer",
            "component",
            "module ",
            "modules ",
            "depends on ",
            "interface ",
            "架构",
            "模块",
        ],
    ),
    (
        Decision,
        &[
            "decided ",
            "decision",
            "we chose ",
            "chosen ",
            "instead of ",
            "trade-off",
            "rationale",
            "决定",
            "选择",
        ],
    ),
    (Risk, &["risk", "danger", "race condition", "deadlock", "data loss", "corrupt", "may fail", "风险"]),
    (TestEvidence, &["test ", "tests ", "tested ", "asserts ", "verifies ", "regression", "测试"]),
    (Procedure, &["run ", "install ", "step ", "steps ", "first ", "then ", "to build ", "运行", "安装"]),
];

/// The statements of a file: sentences of documentation and comments that state a rule, errors that code raises, items of lists
/// and sentences with a rule in prose. Each once.
pub fn propositions(text: &str, reading: &Reading) -> Vec<Proposition> {
    let mut found = Collector { found: Vec::new(), seen: HashSet::new(), chunks: &reading.chunks };
    match &reading.found {
        Found::Symbols(symbols) => {
            symbols.iter().for_each(|symbol| found.documentation(symbol));
            for (number, line) in text.lines().enumerate() {
                found.line_of_code(head(line.trim()), number + 1);
            }
        }
        Found::Headings(_) | Found::Paragraphs => {
            let mut in_fence = false;
            for (number, line) in text.lines().enumerate() {
                let bare = head(line.trim());
                if bare.starts_with("```") || bare.starts_with("~~~") {
                    in_fence = !in_fence;
                } else if !in_fence {
                    found.line_of_prose(bare, number + 1);
                }
            }
        }
        _ => {}
    }
    found.found.sort_by_key(|proposition| proposition.line);
    found.found
}

/// As much of a line as is looked at; statements are shorter.
fn head(line: &str) -> &str {
    &line[..line.floor_char_boundary(4096)]
}

struct Collector<'a> {
    found: Vec<Proposition>,
    seen: HashSet<String>,
    chunks: &'a [Chunk],
}

impl Collector<'_> {
    fn documentation(&mut self, symbol: &Symbol) {
        let Some(sentence) = symbol.doc.as_deref().and_then(first_sentence) else { return };
        let kind = match kind_of(&sentence) {
            ImplementationDetail if matches!(symbol.kind, Kind::Function | Kind::Method) => Behavior,
            kind => kind,
        };
        self.add(&sentence, kind, 85, 99, symbol.span.first_line);
    }

    fn line_of_code(&mut self, line: &str, number: usize) {
        if let Some(raised) = raised(line) {
            self.add(&raised, Risk, 75, 80, number);
        }
        let comment = ["///", "//!", "//", "#"].iter().find_map(|mark| line.strip_prefix(mark));
        let Some(comment) = comment.filter(|comment| comment.starts_with(' ')) else { return };
        let kind = kind_of(comment);
        let is_note = ["important", "critical", "note:"].iter().any(|word| has_word(&lowered(comment), word));
        if is_note || matches!(kind, SecurityRule | Constraint) {
            self.add(comment, kind, 78, 95, number);
        }
    }

    fn line_of_prose(&mut self, line: &str, number: usize) {
        let bullet = ["- ", "* ", "+ ", "\u{2022} "].iter().find_map(|mark| line.strip_prefix(mark));
        let numbered = line.split_once(['.', ')']).filter(|(count, rest)| {
            (1..=3).contains(&count.len())
                && count.bytes().all(|b| b.is_ascii_digit())
                && rest.starts_with(' ')
        });
        if let Some(item) = bullet {
            self.add(item, kind_of(item), 72, 95, number);
        } else if let Some((_, item)) = numbered {
            self.add(item, kind_of(item), 70, 95, number);
        } else if !line.starts_with(['#', '|', '<', '>']) {
            for sentence in sentences(line) {
                let kind = kind_of(&sentence);
                if matches!(kind, SecurityRule | Constraint) {
                    self.add(&sentence, kind, 68, 95, number);
                }
            }
        }
    }

    fn add(&mut self, text: &str, kind: PropositionKind, base: u8, most: u8, line: usize) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let length = text.chars().count();
        // A Chinese character says as much as a short word.
        let wide = text.chars().filter(|c| *c >= '\u{2e80}').count();
        let is_statement =
            (12..=350).contains(&(length + wide)) && text.contains(char::is_alphabetic) && !is_import(&text);
        let chunk = self.chunks.partition_point(|chunk| chunk.span.last_line < line);
        let normalised = lowered(&text);
        if is_statement && chunk < self.chunks.len() && self.seen.insert(normalised.clone()) {
            let confidence = base.saturating_add(kind.bonus()).min(most);
            self.found.push(Proposition { text, normalised, kind, confidence, chunk, line });
        }
    }
}

fn kind_of(text: &str) -> PropositionKind {
    let text = lowered(text);
    let known = WORDS.iter().find(|(_, words)| words.iter().any(|word| has_word(&text, word)));
    known.map_or(ImplementationDetail, |(kind, _)| *kind)
}

fn lowered(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether `word` begins a word of `text`; with a space behind it, whether it is one.
fn has_word(text: &str, word: &str) -> bool {
    let (bare, is_whole) = word.strip_suffix(' ').map_or((word, false), |bare| (bare, true));
    text.match_indices(bare).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + bare.len()..].chars().next();
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !(before.is_some_and(is_letter) || is_whole && after.is_some_and(is_letter))
    })
}

/// `raise ValueError("no name")` as `Raises ValueError: no name`; `throw new` likewise.
fn raised(line: &str) -> Option<String> {
    let rest = line.strip_prefix("raise ").or_else(|| line.strip_prefix("throw new "))?;
    let (name, rest) = rest.split_once('(')?;
    let quote = rest.chars().find(|c| ['"', '\'', '`'].contains(c))?;
    let message = rest.split(quote).nth(1)?.trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_.:\\".contains(c));
    (is_name && !message.is_empty()).then(|| format!("Raises {name}: {message}"))
}

fn is_import(text: &str) -> bool {
    ["import ", "from ", "use ", "#include", "require "].iter().any(|word| text.starts_with(word))
        && text.ends_with([';', ')', '>', '"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, read};

    fn told(path: &str, text: &str) -> Vec<(String, &'static str, u8, usize)> {
        let reading = read(path, text, &Limits::default(), &|| false);
        let all = propositions(text, &reading);
        all.into_iter().map(|p| (p.text, p.kind.as_str(), p.confidence, p.line)).collect()
    }

    #[test]
    fn code_states_behaviour_rules_and_errors() {
        let text = "def load(path):\n    \"\"\"Loads a file. More.\"\"\"\n    # Never follow a symlink here.\n    # plain remark about it\n    raise ValueError(\"no such file\")\n";
        let expected = [
            ("Loads a file.", "behavior", 85, 1),
            ("Never follow a symlink here.", "security_rule", 93, 3),
            ("Raises ValueError: no such file", "risk", 80, 5),
        ];
        assert_eq!(
            told("a.py", text),
            expected.map(|(text, kind, sure, line)| (text.to_owned(), kind, sure, line))
        );
    }

    #[test]
    fn prose_states_items_and_rules() {
        let text = "# Rules\n\nThe index is rebuilt. It must never block a reader. 客户端必须先验证权限。\n\n- Run the tests before a push\n- run the tests  before a push\n1. We chose files instead of rows\n```\n- must not be read, it is code\n```\n";
        let expected = [
            ("It must never block a reader.", "constraint", 78, 3),
            ("客户端必须先验证权限。", "security_rule", 83, 3),
            ("Run the tests before a push", "test_evidence", 72, 5),
            ("We chose files instead of rows", "decision", 75, 7),
        ];
        assert_eq!(
            told("a.md", text),
            expected.map(|(text, kind, sure, line)| (text.to_owned(), kind, sure, line))
        );
    }

    #[test]
    fn a_word_in_a_word_does_not_count() {
        assert_eq!(kind_of("mustard is a tokenizer"), ImplementationDetail);
        assert_eq!(kind_of("a token is kept"), SecurityRule);
        assert_eq!(kind_of("An author writes"), ImplementationDetail);
    }
}
