//! The scanner: normalised text to terms, in one pass.

use super::{
    normalise::fold,
    script::{Script, script},
    stem::stem,
    words::is_stop,
};

/// Longest term kept, in characters; a longer one is cut to this length, on both sides alike.
pub(super) const MAX_TERM: usize = 96;

/// Longest compound that is indexed whole, in bytes.
const MAX_COMPOUND: usize = 160;

/// What a term is to the unit of text it came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The term stands for the text itself: a stemmed word, a pair of CJK characters.
    Word,
    /// A function word: indexed, but neither counted in lengths nor searched unless nothing else remains.
    Stop,
    /// A whole identifier, path, version or compound, unstemmed; finding it finds the unit.
    Whole,
    /// A piece of an identifier that also stands whole.
    Part,
    /// A single CJK character beside its pairs.
    Single,
}

/// Receives terms: the text, its role, and the number of the unit (word, compound, CJK run) it came from.
pub(super) trait Sink {
    fn term(&mut self, text: String, role: Role, unit: u32);
    /// Takes the terms of a word, or of words that are joined without space: [`cut_up`] tells which they are.
    fn word(&mut self, run: &str, unit: u32);
    /// Whether the sink wants no more; the scanner then stops.
    fn is_full(&self) -> bool {
        false
    }
}

/// Cuts normalised text into terms. Linear in the length of the text.
pub(super) fn scan(text: &str, sink: &mut dyn Sink) {
    let mut unit = 0;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if sink.is_full() {
            return;
        }
        let kind = script(first);
        let length = match kind {
            Script::Other => first.len_utf8(),
            Script::Word => compound_length(rest),
            _ => run_length(rest, kind),
        };
        let (run, after) = rest.split_at(length);
        match kind {
            Script::Other => {}
            Script::Word => {
                if let Some(marked) = marked_name(run, after) {
                    sink.term(marked, Role::Whole, unit);
                }
                sink.word(run, unit);
            }
            Script::Ideograph => grams(run, true, unit, sink),
            Script::Hangul | Script::Unspaced => grams(run, false, unit, sink),
            Script::Pictograph => {
                run.chars().for_each(|c| sink.term(c.to_string(), Role::Word, unit));
            }
        }
        unit += u32::from(kind != Script::Other);
        rest = after;
    }
}

fn run_length(text: &str, kind: Script) -> usize {
    text.char_indices().find(|(_, c)| script(*c) != kind).map_or(text.len(), |(at, _)| at)
}

/// How far a compound reaches: words joined by `_ - . / \ : @ '` without space.
fn compound_length(text: &str) -> usize {
    let mut end = 0;
    let mut joiners = 0;
    for (at, c) in text.char_indices() {
        if script(c) == Script::Word {
            end = at + c.len_utf8();
            joiners = 0;
        } else if is_joiner(c) && joiners < 3 {
            joiners += 1;
            if c == '.' && text[..at].ends_with('.') {
                break;
            }
        } else {
            break;
        }
    }
    end
}

fn is_joiner(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | '/' | '\\' | ':' | '@' | '\'')
}

/// A word; of a compound itself, its path components, dotted names and hyphenated names whole, and its words.
pub(super) fn cut_up(run: &str, unit: u32, sink: &mut dyn Sink) {
    if !run.contains(is_joiner) {
        return plain_word(run, unit, sink);
    }
    wholes(run, unit, sink);
    for word in run.split(is_joiner_not_apostrophe).filter(|word| !word.is_empty()) {
        if word.contains('\'') {
            apostrophes(word, unit, sink);
        } else {
            sink.word(word, unit);
        }
    }
}

fn is_joiner_not_apostrophe(c: char) -> bool {
    c != '\'' && is_joiner(c)
}

/// `C++`, `C#`, `F#`: a short name whose last characters are signs.
fn marked_name(run: &str, after: &str) -> Option<String> {
    if run.len() > 2 {
        return None;
    }
    let sign = if after.starts_with("++") { "++" } else { after.get(..1).filter(|s| *s == "#")? };
    Some(fold(run) + sign)
}

fn wholes(run: &str, unit: u32, sink: &mut dyn Sink) {
    let mut last = String::new();
    let mut whole = |text: &str| {
        let text = text.trim_end_matches("'s");
        if text.len() <= MAX_COMPOUND && text.contains(is_joiner_not_apostrophe) {
            let folded = fold(text);
            if folded != last {
                sink.term(folded.clone(), Role::Whole, unit);
                last = folded;
            }
        }
    };
    whole(run);
    for component in run.split(['/', '\\', ':', '@']) {
        whole(component);
        whole(last_two_labels(component));
        whole(without_v(component));
        component.split('.').for_each(&mut whole);
    }
}

/// `www.example.com` is also `example.com`.
fn last_two_labels(dotted: &str) -> &str {
    dotted.rmatch_indices('.').nth(1).map_or(dotted, |(at, _)| &dotted[at + 1..])
}

/// `v2.1` is also `2.1`.
fn without_v(version: &str) -> &str {
    version
        .strip_prefix(['v', 'V'])
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        .unwrap_or(version)
}

/// Cuts clitics (`don't`, `Caroline's`); other apostrophes join two names (`O'Brien`).
fn apostrophes(word: &str, unit: u32, sink: &mut dyn Sink) {
    let mut pieces = word.split('\'').filter(|p| !p.is_empty());
    let Some(first) = pieces.next() else { return };
    plain_word(first, unit, sink);
    let mut joined = String::new();
    for piece in pieces {
        if !is_clitic(piece) {
            plain_word(piece, unit, sink);
            if joined.is_empty() {
                joined.push_str(first);
            }
            joined.push('\'');
            joined.push_str(piece);
        }
    }
    if !joined.is_empty() && joined.len() <= MAX_COMPOUND {
        sink.term(fold(&joined), Role::Whole, unit);
    }
}

fn is_clitic(piece: &str) -> bool {
    ["s", "t", "d", "m", "ll", "ve", "re"].iter().any(|clitic| piece.eq_ignore_ascii_case(clitic))
}

/// One word: its stem, and for an identifier the unstemmed whole and its pieces.
fn plain_word(word: &str, unit: u32, sink: &mut dyn Sink) {
    let folded = cut(fold(word));
    if is_stop(&folded) {
        return sink.term(folded, Role::Stop, unit);
    }
    let stemmed = stem(&folded);
    if !is_identifier(word) {
        return sink.term(stemmed, Role::Word, unit);
    }
    if stemmed != folded {
        sink.term(folded.clone(), Role::Whole, unit);
    }
    let mut part = |piece: &str| {
        let piece = fold(piece);
        if piece != folded && (piece.len() > 1 || piece.starts_with(|c: char| c.is_ascii_digit())) {
            if is_stop(&piece) {
                sink.term(piece, Role::Stop, unit);
            } else {
                let piece = stem(&piece);
                if piece != stemmed {
                    sink.term(piece, Role::Part, unit);
                }
            }
        }
    };
    if word.len() <= MAX_COMPOUND {
        humps(word, &mut part);
    }
    sink.term(stemmed, Role::Word, unit);
}

/// A word with digits beside letters, or with a capital after a small letter.
fn is_identifier(word: &str) -> bool {
    let mut letters = false;
    let mut digits = false;
    let mut hump = false;
    let mut lower = false;
    for c in word.chars() {
        hump |= lower && c.is_uppercase();
        lower = c.is_lowercase();
        letters |= c.is_alphabetic();
        digits |= c.is_ascii_digit();
    }
    hump || (letters && digits)
}

/// Cuts at small-to-capital, at the last capital of an acronym, and between letters and digits.
fn humps(word: &str, part: &mut dyn FnMut(&str)) {
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let mut from = 0;
    for i in 1..chars.len() {
        let (before, here) = (chars[i - 1].1, chars[i].1);
        let after_is_lower = chars.get(i + 1).is_some_and(|(_, c)| c.is_lowercase());
        let cut = (before.is_lowercase() && here.is_uppercase())
            || (before.is_uppercase() && here.is_uppercase() && after_is_lower)
            || (before.is_ascii_digit() != here.is_ascii_digit());
        if cut {
            part(&word[from..chars[i].0]);
            from = chars[i].0;
        }
    }
    part(&word[from..]);
}

/// Pairs of characters of a run; single ones too where `singles`, or when the run is one character long.
fn grams(run: &str, singles: bool, unit: u32, sink: &mut dyn Sink) {
    let mut previous: Option<char> = None;
    let alone = run.chars().nth(1).is_none();
    for c in run.chars().flat_map(char::to_lowercase) {
        if sink.is_full() {
            return;
        }
        if alone {
            sink.term(c.to_string(), Role::Word, unit);
        } else if singles {
            sink.term(c.to_string(), Role::Single, unit);
        }
        if let Some(before) = previous {
            sink.term([before, c].iter().collect(), Role::Word, unit);
        }
        previous = Some(c);
    }
}

fn cut(mut word: String) -> String {
    if word.len() > MAX_TERM
        && let Some((at, _)) = word.char_indices().nth(MAX_TERM)
    {
        word.truncate(at);
    }
    word
}
