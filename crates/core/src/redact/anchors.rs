//! The places where a secret can begin, found in one pass, and the rule that looks at each.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind};

use super::{Span, credentials, keyword, pem, tokens, vocabulary};

/// A literal that was found, and the rule it calls for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Anchor {
    pub(super) start: usize,
    pub(super) end: usize,
    rule: Rule,
}

/// Who looks at an anchor.
#[derive(Debug, Clone, Copy)]
enum Rule {
    /// A row of [`tokens::SHAPES`].
    Token(usize),
    Jwt,
    Pem,
    PuttyKey,
    Telegram,
    Url,
    Authorization,
    Bearer,
    CommandLineUser,
    /// A row of [`vocabulary::KEY_WORDS`].
    KeyWord(usize),
}

const SINGLE: [(&str, Rule); 8] = [
    ("eyJ", Rule::Jwt),
    ("-----BEGIN ", Rule::Pem),
    ("Private-Lines:", Rule::PuttyKey),
    (":AA", Rule::Telegram),
    ("://", Rule::Url),
    ("authorization", Rule::Authorization),
    ("bearer ", Rule::Bearer),
    (" -u ", Rule::CommandLineUser),
];

static AUTOMATON: LazyLock<(AhoCorasick, Vec<Rule>)> = LazyLock::new(|| {
    let singles = SINGLE.iter().map(|&(literal, rule)| (literal, rule));
    let shapes = tokens::SHAPES.iter().enumerate().map(|(row, shape)| (shape.prefix, Rule::Token(row)));
    let words = vocabulary::KEY_WORDS.iter().enumerate().map(|(row, word)| (word.word, Rule::KeyWord(row)));
    let (literals, rules): (Vec<&str>, Vec<Rule>) = singles.chain(shapes).chain(words).unzip();
    let automaton = AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(literals)
        .expect("a few hundred short literals fit the automaton");
    (automaton, rules)
});

/// Every anchor in the text, by start; of two with the same start the longer literal comes first.
pub(super) fn find(text: &str) -> Vec<Anchor> {
    let (automaton, rules) = &*AUTOMATON;
    let mut anchors: Vec<Anchor> = automaton
        .find_overlapping_iter(text)
        .map(|hit| Anchor { start: hit.start(), end: hit.end(), rule: rules[hit.pattern().as_usize()] })
        .collect();
    anchors.sort_unstable_by_key(|a| (a.start, std::cmp::Reverse(a.end)));
    anchors
}

/// Asks the anchor's rule. `jwt_skip` remembers up to where no JSON Web Token can begin.
pub(super) fn look(text: &str, anchor: Anchor, jwt_skip: &mut usize) -> Option<Span> {
    match anchor.rule {
        Rule::Token(row) => tokens::shape_at(text, anchor.start, &tokens::SHAPES[row]),
        Rule::Jwt => tokens::jwt(text, anchor.start, jwt_skip),
        Rule::Pem => pem::block(text, anchor.start, anchor.end),
        Rule::PuttyKey => pem::putty(text, anchor.end),
        Rule::Telegram => tokens::telegram(text, anchor.start),
        Rule::Url => credentials::url(text, anchor.start, anchor.end),
        Rule::Authorization => credentials::authorization(text, anchor.end),
        Rule::Bearer => credentials::bearer(text, anchor.start, anchor.end),
        Rule::CommandLineUser => credentials::command_line_user(text, anchor.start, anchor.end),
        Rule::KeyWord(row) => keyword::value_of(text, anchor.start, anchor.end, &vocabulary::KEY_WORDS[row]),
    }
}
