//! What a setting may hold, and how it is read from a file and from a variable.

use ignore::gitignore::GitignoreBuilder;
use strata_core::vocabulary::Vocabulary;
use toml::Value;

use crate::render::shortened;

/// The longest text of a setting, in bytes.
const MAX_TEXT: usize = 1024;
/// The most texts in a list.
const MAX_TEXTS: usize = 1000;
/// The longest name, in characters.
const MAX_NAME: usize = 128;

/// What a setting may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// `true` or `false`.
    Switch,
    /// 0 to 1.
    Share,
    /// A whole number in a range.
    Whole(i64, i64),
    /// One of some words.
    Word(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// A list of texts with letters, in which a router can find words.
    Markers,
    /// A path.
    Path,
    /// A text in brackets.
    Tag,
    /// Tables of markers, in the form of the built-in languages.
    Vocabulary,
    /// What a thing is called: one line.
    Name,
    /// Patterns of paths, as in a `.gitignore`.
    Patterns,
    /// `true` or `false`, and only this one.
    Always(bool),
}

impl Sort {
    /// What to write, as a clause.
    pub fn wanted(self) -> String {
        match self {
            Self::Switch => "write `true` or `false`".into(),
            Self::Share => "write a number from 0 to 1".into(),
            Self::Whole(least, most) => format!("write a whole number from {least} to {most}"),
            Self::Word(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                format!("write {}", words.join(" or "))
            }
            Self::Texts => "write a list of texts".into(),
            Self::Markers => "write a list of words or phrases".into(),
            Self::Path => "write the path of a file".into(),
            Self::Tag => "write one word in brackets, as `[L0]`".into(),
            Self::Vocabulary => {
                "write groups such as `[routing.vocabulary.todo]` with `tells = [\"...\"]`".into()
            }
            Self::Name => format!("write one line of at most {MAX_NAME} characters"),
            Self::Patterns => "write a list of patterns as in a `.gitignore`, without `!`".into(),
            Self::Always(value) => format!("it is always `{value}`"),
        }
    }

    /// Brings a value into the form in which it is stored; `None` when it makes no sense here.
    pub(super) fn read(self, value: &Value) -> Option<Value> {
        match self {
            Self::Switch => value.as_bool().map(Value::Boolean),
            Self::Share => share(value).map(Value::Float),
            Self::Whole(least, most) => {
                value.as_integer().filter(|n| (least..=most).contains(n)).map(Value::Integer)
            }
            Self::Word(words) => {
                let word = value.as_str()?.trim().to_lowercase();
                words.contains(&word.as_str()).then_some(Value::String(word))
            }
            Self::Texts => texts(value, |_| true),
            Self::Markers => texts(value, |text| text.chars().any(char::is_alphabetic)),
            Self::Path => line(value.as_str()?).map(Value::String),
            Self::Tag => line(value.as_str()?).filter(|tag| is_tag(tag)).map(Value::String),
            Self::Vocabulary => vocabulary(value).map(Value::String),
            Self::Name => line(value.as_str()?).filter(|n| n.chars().count() <= MAX_NAME).map(Value::String),
            Self::Patterns => texts(value, is_pattern),
            Self::Always(held) => value.as_bool().filter(|given| *given == held).map(Value::Boolean),
        }
    }

    /// What somebody wrote into a variable, as a value.
    pub(super) fn of_variable(self, text: &str) -> Option<Value> {
        let text = text.trim();
        let value = match self {
            Self::Switch | Self::Always(_) => match text.to_lowercase().as_str() {
                "1" | "true" | "yes" | "on" | "enabled" => Value::Boolean(true),
                "0" | "false" | "no" | "off" | "disabled" | "none" => Value::Boolean(false),
                _ => return None,
            },
            Self::Share => Value::Float(text.parse().ok()?),
            Self::Whole(..) => Value::Integer(text.parse().ok()?),
            _ => Value::String(text.to_owned()),
        };
        self.read(&value)
    }
}

/// A value as it is repeated to whoever wrote it.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => shortened(text, 60),
        Value::Array(values) => {
            let texts: Vec<String> = values.iter().map(shown).collect();
            shortened(&texts.join(", "), 200)
        }
        other => shortened(other.to_string().trim(), 60),
    }
}

fn share(value: &Value) -> Option<f64> {
    let number = value.as_float().or_else(|| match value.as_integer()? {
        0 => Some(0.0),
        1 => Some(1.0),
        _ => None,
    })?;
    (0.0..=1.0).contains(&number).then_some(number)
}

/// A list, or one text with commas.
fn texts(value: &Value, fits: impl Fn(&str) -> bool) -> Option<Value> {
    let given: Vec<String> = match value {
        Value::String(text) => {
            text.split([',', '，', '、']).filter(|t| !t.trim().is_empty()).map(str::to_owned).collect()
        }
        Value::Array(values) => {
            values.iter().map(|v| v.as_str().map(str::to_owned)).collect::<Option<_>>()?
        }
        _ => return None,
    };
    let read = |text: &String| line(text).filter(|text| fits(text)).map(Value::String);
    let texts = given.iter().map(read).collect::<Option<Vec<_>>>()?;
    (texts.len() <= MAX_TEXTS).then_some(Value::Array(texts))
}

/// One line with something on it.
fn line(text: &str) -> Option<String> {
    let text = text.trim();
    let fits = !text.is_empty() && text.len() <= MAX_TEXT && !text.chars().any(char::is_control);
    fits.then(|| text.to_owned())
}

/// Whether a pattern can be understood. One that begins with `!` would take others back.
fn is_pattern(text: &str) -> bool {
    !text.starts_with('!') && GitignoreBuilder::new("").add_line(None, text).is_ok()
}

fn is_tag(text: &str) -> bool {
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inner.is_some_and(|inner| {
        (1..=40).contains(&inner.len()) && !inner.contains(['[', ']']) && !inner.contains(char::is_whitespace)
    })
}

fn vocabulary(value: &Value) -> Option<String> {
    let text = toml::to_string(value.as_table()?).ok()?;
    Vocabulary::default().extend(&text).ok()?;
    Some(text)
}
