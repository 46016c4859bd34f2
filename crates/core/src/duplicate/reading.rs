//! A text as the sequence of what it is compared by: words, values and polar words.

use std::{
    borrow::Cow,
    cell::RefCell,
    collections::{HashMap, HashSet},
    ops::Range,
    sync::{Arc, LazyLock},
};

use rust_stemmers::{Algorithm, Stemmer};

use super::{
    polarity::{self, Piece, Polar},
    shingle,
    values::{Value, values},
};
use crate::composed::nfkc;

/// What a token counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// An ordinary word, or a pair of Chinese, Japanese or Korean characters.
    Word,
    /// A word that is written like a name.
    Name,
    /// A negation or one side of an antonym pair.
    Polar(Polar),
    /// A value, by its position in [`Reading::values`].
    Value(usize),
}

/// One unit of comparison.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    /// Normalised and stemmed.
    pub(super) text: Arc<str>,
    /// Normalised, not stemmed; most words share it with their stem.
    pub(super) surface: Arc<str>,
    /// Of the text.
    pub(super) hash: u64,
    pub(super) role: Role,
    /// How much it says: 1 for a content word.
    pub(super) weight: f64,
}

/// One unit of alignment: a word, or one Chinese, Japanese or Korean character.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unit {
    /// Normalised and stemmed.
    pub(super) text: Arc<str>,
    /// Normalised, not stemmed.
    pub(super) shown: Arc<str>,
    pub(super) hash: u64,
    pub(super) weight: f64,
    /// Carries grammar only.
    pub(super) function: bool,
    pub(super) name: bool,
}

/// A text, read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// The frame, for alignment.
    pub(super) units: Vec<Unit>,
    pub(super) tokens: Vec<Token>,
    pub(super) values: Vec<Value>,
}

impl Reading {
    /// What remains when values and polar words are blanked.
    pub(super) fn frame(&self) -> impl Iterator<Item = &Token> {
        self.tokens.iter().filter(|t| matches!(t.role, Role::Word | Role::Name))
    }
}

/// Words that carry grammar more than content.
const FUNCTION_WORDS: &str = " a an the is are was were be been being am i we you they he she it its our your their my \
    to of in on at by for from as and or but which who every each all any both some get gets got \
    make makes first instead currently only even still already that this these those there do does did has have had will would can \
    could should may might please just also so then now very with into than if ";

const FUNCTION_WEIGHT: f64 = 0.3;
/// Pairs of hiragana are mostly inflection.
const HIRAGANA_WEIGHT: f64 = 0.4;

/// Two characters weigh about as much as a word.
const CHARACTER_WEIGHT: f64 = 0.5;
/// Characters that carry grammar; hiragana do as well.
const FUNCTION_CHARACTERS: &str = "的了是在和与及以里中为而并且则都也就将把被给其个时于还又只会要已经先请\
    은는이가을를에의도로고며면서와과다요니까지";

static FUNCTION: LazyLock<HashSet<&str>> = LazyLock::new(|| FUNCTION_WORDS.split_whitespace().collect());

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// Reads a text: NFKC, values first, then words of the rest.
pub(super) fn read(text: &str) -> Reading {
    let mut text = nfkc(text);
    if text.contains('’') {
        text = Cow::Owned(text.replace('’', "'"));
    }
    let found = values(&text);
    let mut reader = Reader { text: &text, tokens: Vec::new(), units: Vec::new() };
    let mut from = 0;
    for (number, value) in found.iter().enumerate() {
        reader.words(from..value.span.start);
        let canonical = format!("{:?}:{}", value.kind, value.fields.join("|"));
        reader.push_as_is(&canonical, Role::Value(number), 1.0);
        from = value.span.end;
    }
    reader.words(from..text.len());
    Reading { units: reader.units, tokens: reader.tokens, values: found }
}

struct Reader<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    units: Vec<Unit>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    EastAsian,
    Word,
    Question,
    Symbol,
    Other,
}

impl Reader<'_> {
    fn words(&mut self, span: Range<usize>) {
        let text = self.text;
        let mut runs = runs(text, span).peekable();
        while let Some((class, run)) = runs.next() {
            match class {
                Class::EastAsian => self.east_asian(run),
                Class::Question => self.push_as_is("?", Role::Word, FUNCTION_WEIGHT),
                Class::Word => {
                    let next = runs.peek().filter(|(class, _)| *class == Class::Word).map(|(_, run)| *run);
                    self.word(run, next);
                }
                Class::Symbol => self.symbols(run),
                Class::Other => {}
            }
        }
    }

    /// Emoji and other signs may be all that differs: passed ✅, passed ❌.
    fn symbols(&mut self, run: &str) {
        for c in run.chars() {
            let sign = one(c);
            self.unit(&sign, &sign, 1.0, false, false);
            self.push(sign.clone(), sign, Role::Word, 1.0);
        }
    }

    fn word(&mut self, run: &str, next: Option<&str>) {
        let Form { text, surface, bare, function } = form(run);
        if let Some(polar) = polarity::english(&bare, next) {
            return self.push(Arc::clone(&bare), bare, Role::Polar(polar), 1.0);
        }
        let weight = if function { FUNCTION_WEIGHT } else { 1.0 };
        let name = self.is_name(run) && !function;
        let role = if name { Role::Name } else { Role::Word };
        self.unit(&text, &surface, weight, function, name);
        self.push(text, surface, role, weight);
    }

    /// A capital inside a word, or at its start where no sentence starts.
    fn is_name(&self, run: &str) -> bool {
        let inner = run.chars().skip(1).any(char::is_uppercase);
        let offset = run.as_ptr() as usize - self.text.as_ptr() as usize;
        let before = self.text[..offset].trim_end().chars().next_back();
        let starts = before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, ',' | '(' | '"' | '/' | '`'));
        inner || (run.starts_with(char::is_uppercase) && !starts)
    }

    fn east_asian(&mut self, run: &str) {
        let mut frame = String::new();
        let mut is_polar = false;
        for piece in polarity::east_asian(run) {
            match piece {
                Piece::Text(text) => frame.push_str(text),
                Piece::Polar(word, polar) => {
                    is_polar = true;
                    self.push_as_is(word, Role::Polar(polar), 1.0);
                }
            }
        }
        let frame = without_ending(&frame, is_polar);
        let name = frame.chars().count() >= 3 && frame.chars().all(is_katakana);
        let role = if name { Role::Name } else { Role::Word };
        for pair in character_pairs(frame) {
            let hiragana = pair.chars().all(is_hiragana);
            let weight = if hiragana { HIRAGANA_WEIGHT } else { 1.0 };
            self.push_as_is(&pair, role, weight);
        }
        for c in frame.chars() {
            let function = is_hiragana(c) || FUNCTION_CHARACTERS.contains(c);
            let weight = if function { 0.5 * FUNCTION_WEIGHT } else { CHARACTER_WEIGHT };
            let character = one(c);
            self.unit(&character, &character, weight, function, name);
        }
    }

    fn unit(&mut self, text: &Arc<str>, shown: &Arc<str>, weight: f64, function: bool, name: bool) {
        let hash = shingle::hash(text.as_bytes());
        let (text, shown) = (Arc::clone(text), Arc::clone(shown));
        self.units.push(Unit { text, shown, hash, weight, function, name });
    }

    fn push(&mut self, text: Arc<str>, surface: Arc<str>, role: Role, weight: f64) {
        let hash = shingle::hash(text.as_bytes());
        self.tokens.push(Token { text, surface, hash, role, weight });
    }

    /// Adds what has no other form.
    fn push_as_is(&mut self, text: &str, role: Role, weight: f64) {
        let text: Arc<str> = text.into();
        self.push(Arc::clone(&text), text, role, weight);
    }
}

/// The forms of a word.
#[derive(Clone)]
struct Form {
    /// In small letters and stemmed.
    text: Arc<str>,
    /// In small letters.
    surface: Arc<str>,
    /// The same without apostrophes.
    bare: Arc<str>,
    /// Carries grammar only.
    function: bool,
}

impl Form {
    fn of(run: &str) -> Self {
        let surface: Arc<str> = run.to_lowercase().into();
        let base = surface.strip_suffix("'s").unwrap_or(&surface);
        let stem = if base.is_ascii() { STEMMER.stem(base) } else { Cow::Borrowed(base) };
        let shared = |text: &str| if *text == *surface { Arc::clone(&surface) } else { Arc::from(text) };
        let bare = if surface.contains('\'') { shared(&surface.replace('\'', "")) } else { shared(&surface) };
        Self { text: shared(&stem), bare, function: FUNCTION.contains(base), surface }
    }
}

/// Words whose forms a thread keeps, and the bytes of the longest of them.
const KEPT_FORMS: usize = 4096;
const LONGEST_KEPT: usize = 32;

/// The forms of a word as it is written. Stemming it takes most of the time that reading it takes, and the same words come again.
fn form(run: &str) -> Form {
    thread_local! {
        static KEPT: RefCell<HashMap<Box<str>, Form>> = RefCell::default();
    }
    if run.len() > LONGEST_KEPT {
        return Form::of(run);
    }
    KEPT.with_borrow_mut(|kept| {
        if let Some(form) = kept.get(run) {
            return form.clone();
        }
        if kept.len() >= KEPT_FORMS {
            kept.clear();
        }
        kept.entry(run.into()).or_insert_with(|| Form::of(run)).clone()
    })
}

/// A text of one character.
fn one(c: char) -> Arc<str> {
    Arc::from(&*c.encode_utf8(&mut [0; 4]))
}

/// Korean verb endings, longest first. Without them a statement and its negation share their words.
const KOREAN_ENDINGS: [&str; 24] = [
    "하였습니다",
    "했습니다",
    "하겠습니다",
    "입니다",
    "합니다",
    "습니다",
    "하세요",
    "하였다",
    "했다",
    "한다",
    "하는",
    "하지",
    "하고",
    "하기",
    "해요",
    "이다",
    "는다",
    "된다",
    "되지",
    "인다",
    "지",
    "다",
    "는",
    "요",
];

/// `whole` says whether the ending may be all there is, as after a negation.
fn without_ending(run: &str, whole: bool) -> &str {
    let hangul = run.chars().all(|c| ('\u{ac00}'..='\u{d7af}').contains(&c));
    let stem = KOREAN_ENDINGS.iter().find_map(|ending| run.strip_suffix(ending)).filter(|_| hangul);
    stem.filter(|stem| whole || !stem.is_empty()).unwrap_or(run)
}

fn character_pairs(run: &str) -> Vec<String> {
    let chars: Vec<char> = run.chars().collect();
    match chars.as_slice() {
        [] => Vec::new(),
        [one] => vec![one.to_string()],
        _ => chars.windows(2).map(|pair| pair.iter().collect()).collect(),
    }
}

/// Cuts a span into runs of one class. Katakana words are runs of their own.
fn runs(text: &str, span: Range<usize>) -> impl Iterator<Item = (Class, &str)> {
    let mut rest = text.get(span).unwrap_or("");
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let class = class(first);
        let same = |c: char| {
            class == self::class(c) && is_katakana(c) == is_katakana(first)
                || class == Class::Word && matches!(c, '\'' | '_')
        };
        let end = rest.find(|c| !same(c)).unwrap_or(rest.len()).max(first.len_utf8());
        let suffix = rest.get(end..).filter(|_| class == Class::Word).map_or(0, sign_of_language);
        let (run, after) = rest.split_at(end + suffix);
        rest = after;
        Some((class, run.trim_end_matches('\'')))
    })
}

/// Bytes of the sign that tells C++ and C# from C.
fn sign_of_language(after: &str) -> usize {
    if after.starts_with("++") { 2 } else { usize::from(after.starts_with('#')) }
}

fn class(c: char) -> Class {
    match c {
        '?' | '؟' => Class::Question,
        '\u{2e80}'..='\u{2fdf}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30ff}'
        | '\u{3130}'..='\u{318f}'
        | '\u{3400}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => Class::EastAsian,
        _ if c.is_alphanumeric() => Class::Word,
        '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}' => Class::Symbol,
        _ => Class::Other,
    }
}

fn is_hiragana(c: char) -> bool {
    ('\u{3040}'..='\u{309f}').contains(&c)
}

fn is_katakana(c: char) -> bool {
    ('\u{30a0}'..='\u{30ff}').contains(&c)
}
