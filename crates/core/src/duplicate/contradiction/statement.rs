//! A text as the statements it makes, each with what it is about, what it says and how far it holds.

use std::{collections::BTreeSet, ops::Range};

use unicode_normalization::UnicodeNormalization;

use super::{
    super::{
        DifferenceKind,
        polarity::Polar,
        reading::{self, Reading, Role},
        values::Value,
    },
    lexicon::{self, Sense},
};

/// Most statements of one text that are looked at.
const MAX_STATEMENTS: usize = 32;
/// A statement longer than this, in bytes, is a paragraph and not one claim.
const MAX_BYTES: usize = 600;
/// Most values of one statement; a row of a table has more.
const MAX_VALUES: usize = 12;

/// How the first line of a digest begins: it says which session it is of, and claims nothing.
const DIGEST: &str = "[consolidated]";

/// One claim.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) reading: Reading,
    pub(super) senses: BTreeSet<Sense>,
    /// An odd number of negations.
    pub(super) negated: bool,
    /// Begins with a verb: it tells what to do.
    pub(super) imperative: bool,
    /// The values that are said of something; names that look like numbers are left out.
    pub(super) values: Vec<Value>,
    /// Names that look like numbers: `issue 482`, `chapter 3`.
    pub(super) numbered: Vec<Vec<String>>,
}

impl Statement {
    pub(super) fn has(&self, sense: Sense) -> bool {
        self.senses.contains(&sense)
    }

    /// The places it names.
    pub(super) fn places(&self) -> Vec<Sense> {
        self.senses.iter().copied().filter(|s| matches!(s, Sense::Place(_))).collect()
    }

    /// The times it names, but for the present.
    pub(super) fn times(&self) -> Vec<Sense> {
        let other = |s: &Sense| matches!(s, Sense::When(n) if *n != lexicon::PRESENT);
        self.senses.iter().copied().filter(other).collect()
    }

    /// How often it happens, in hours.
    pub(super) fn periods(&self) -> Vec<u32> {
        let hours = |s: &Sense| if let Sense::Period(h) = s { Some(*h) } else { None };
        self.senses.iter().filter_map(hours).collect()
    }
}

/// The statements of a text that claim something: no headings, questions, code or reports of what others say.
pub(super) fn statements(text: &str) -> Vec<Statement> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced || is_heading(line) || is_code(line) {
            continue;
        }
        for sentence in sentences(line) {
            found.extend(read(sentence));
            if found.len() >= MAX_STATEMENTS {
                return found;
            }
        }
    }
    found
}

fn is_heading(line: &str) -> bool {
    let line = line.trim();
    line.starts_with(DIGEST)
        || line.starts_with('#')
        || line.starts_with('|')
        || line.starts_with("---")
        || line.starts_with('>')
}

fn is_code(line: &str) -> bool {
    const STARTS: [&str; 13] = [
        "let ", "fn ", "def ", "class ", "import ", "git ", "docker ", "npm ", "cargo ", "$ ", "select *",
        "curl ", "sudo ",
    ];
    const SIGNS: [&str; 6] = ["();", "=>", "->", " = new ", "::<", "&&"];
    let line = line.trim();
    let ends = line.ends_with(['{', '}']) || line.ends_with(';') && line.contains(['(', '=', '*']);
    let lower = line.to_ascii_lowercase();
    ends || STARTS.iter().any(|s| lower.starts_with(s)) || SIGNS.iter().any(|s| line.contains(s))
}

/// Cuts a line where a sentence ends. The sign that ends it stays, for questions.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line.trim_start_matches(['-', '*', '•', ' ', '\t']);
    std::iter::from_fn(move || {
        let mut chars = rest.char_indices().peekable();
        let mut end = rest.len();
        while let Some((at, c)) = chars.next() {
            let spaced = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
            let ends = matches!(c, '。' | '！' | '？' | ';' | '；') || matches!(c, '.' | '!' | '?') && spaced;
            if ends {
                end = at + c.len_utf8();
                break;
            }
        }
        let (sentence, after) = rest.split_at(end);
        rest = after.trim_start();
        (!sentence.is_empty()).then_some(sentence)
    })
}

fn read(sentence: &str) -> Option<Statement> {
    if sentence.len() > MAX_BYTES {
        return None;
    }
    // As the reader does it, so that its spans fit.
    let source: String = sentence.trim().nfkc().map(|c| if c == '’' { '\'' } else { c }).collect();
    let source = source.as_str();
    if is_question(source) {
        return None;
    }
    let lower = source.to_ascii_lowercase();
    let phrases: Vec<_> = lexicon::phrases(&lower).filter(|p| !is_month(source, &p.span)).collect();
    let senses: BTreeSet<Sense> = phrases.iter().map(|p| p.sense).collect();
    if senses.contains(&Sense::Hearsay) {
        return None;
    }
    let manner = phrases.iter().filter(|p| p.sense.is_manner()).map(|p| p.span.clone());
    let reading = reading::read(&blanked(source, manner));
    if reading.units.len() + reading.values.len() < 2 || reading.values.len() > MAX_VALUES {
        return None;
    }
    let negations = reading.tokens.iter().filter(|t| t.role == Role::Polar(Polar::Negation)).count();
    let negated = (negations + usize::from(senses.contains(&Sense::Negated))) % 2 == 1;
    let numbered_places: Vec<usize> =
        phrases.iter().filter(|p| p.sense == Sense::Ordinal).map(|p| p.span.end).collect();
    let (values, numbered) = split_values(source, &reading, &numbered_places);
    Some(Statement { imperative: is_imperative(&lower), reading, senses, negated, values, numbered })
}

/// "May" is a month beside a number or where it is written large within a sentence.
fn is_month(text: &str, span: &Range<usize>) -> bool {
    let Some(word) = text.get(span.clone()) else { return false };
    if !word.eq_ignore_ascii_case("may") {
        return false;
    }
    let before = text[..span.start].trim_end().chars().next_back();
    let after = text[span.end..].trim_start().chars().next();
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    digit(before) || digit(after) || word.starts_with('M') && before.is_some()
}

fn is_question(sentence: &str) -> bool {
    const ENDS: [&str; 9] = ["吗", "呢", "까", "나요", "가요", "니까", "ですか", "ますか", "だろうか"];
    let bare = sentence.trim_end_matches(['。', '.', ' ']);
    bare.ends_with(['?', '？']) || ENDS.iter().any(|end| bare.ends_with(end))
}

/// The text with spaces in the place of `spans`, which are in order.
fn blanked(text: &str, spans: impl Iterator<Item = Range<usize>>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for span in spans {
        out.push_str(&text[from..span.start]);
        out.extend(std::iter::repeat_n(' ', span.len()));
        from = span.end;
    }
    out.push_str(&text[from..]);
    out
}

/// Tells values from names that look like numbers. A number right after such a word as "issue" is a name.
fn split_values(text: &str, reading: &Reading, named_from: &[usize]) -> (Vec<Value>, Vec<Vec<String>>) {
    let (mut values, mut numbered) = (Vec::new(), Vec::new());
    for value in &reading.values {
        let plain = matches!(value.kind, DifferenceKind::Number | DifferenceKind::Identifier);
        let names = |from: &usize| {
            let between = text.get(*from..value.span.start);
            between.is_some_and(|t| t.len() <= 2 && t.chars().all(|c| c == ' ' || c == '#'))
        };
        let counts_things = text.get(value.span.end..).is_some_and(|rest| {
            let rest = rest.trim_start();
            ["号问题", "号", "장은", "장 ", "章", "단계", "番"].iter().any(|mark| rest.starts_with(mark))
        });
        let unitless = value.fields.get(1).is_none_or(String::is_empty);
        if plain && (unitless && named_from.iter().any(names) || counts_things) {
            numbered.push(value.fields.clone());
        } else {
            values.push(value.clone());
        }
    }
    (values, numbered)
}

/// Whether the first word is a verb that tells what to do, as far as its form shows.
fn is_imperative(lower: &str) -> bool {
    const VERBS: &str = " use run always never do don't keep write store add set avoid prefer deploy indent commit merge rebase squash \
        call log edit delete push pull test check ask format install put send retry return disable enable start stop name pin \
        regenerate cache close open ";
    let first = lower.split_whitespace().next().unwrap_or("");
    VERBS.contains(&format!(" {first} "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_claims_are_statements() {
        let text = "# Port 80\nThe port is 80. Is it 81?\n```\nport is 82\n```\n- Max says the port is 83.\nlet port = 84;\n监听端口85。是86吗？";
        let values: Vec<String> =
            statements(text).iter().flat_map(|s| s.values.iter().map(|v| v.shown.clone())).collect();
        assert_eq!(values, ["80", "85"]);
    }

    #[test]
    fn the_first_line_of_a_digest_claims_nothing() {
        let text = "[consolidated] 4 episodes [s0], 2026-11-30:\n- the port is 80";
        let found = statements(text);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].values[0].shown, "80");
    }

    #[test]
    fn a_month_is_no_permission() {
        let senses = |text: &str| statements(text).remove(0).senses;
        assert!(!senses("The deadline is 12 May.").contains(&Sense::Permitted));
        assert!(!senses("It holds until May for everybody.").contains(&Sense::Permitted));
        assert!(senses("Everybody may deploy on Monday.").contains(&Sense::Permitted));
    }
}
