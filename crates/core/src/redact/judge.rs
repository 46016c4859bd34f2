//! Whether a value beside a key word is a secret, or a placeholder, a reference to code, a type, prose.

use super::shape;
use super::vocabulary::{
    FILLER, KEY_WORDS, LABELS, SENTENCE_WORDS, STATE_ENDINGS, STATES, Strength, TECHNICAL, TYPE_NAMES,
};

/// How every placeholder of ours begins.
pub(super) const PLACEHOLDER: &str = "[REDACTED";

/// What stands between a key word and its value, as far as it bears on the judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// `=` without spaces, a command-line flag, an XML element: the value is a literal.
    Tight,
    /// `=` with spaces, `:=`, `=>`: in code the right side may be an expression.
    Loose,
    /// `:`, also full width.
    Colon,
    /// "is" and its kin, in any language.
    Is,
    /// A comparison, a table cell, a comma, a bare space, words in between.
    Faint,
}

/// A value and the circumstances it was found in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value<'t> {
    pub(super) text: &'t str,
    pub(super) separator: Separator,
    pub(super) strength: Strength,
    pub(super) quoted: bool,
    /// Key and value are all that stands on the line.
    pub(super) alone: bool,
    /// The sentence or line ends behind the value.
    pub(super) ends_sentence: bool,
    /// The key begins with a capital letter.
    pub(super) key_capital: bool,
    /// The key word is Chinese, Japanese or Korean.
    pub(super) cjk: bool,
}

/// Whether the value is a secret.
pub(super) fn is_secret(value: &Value<'_>) -> bool {
    let text = value.text;
    if !value.quoted && !can_be_secret(text) {
        return false;
    }
    let never = text.len() < 3
        || text.trim() != text
        || text.starts_with("--")
        || is_pattern(text)
        || text.starts_with(PLACEHOLDER)
        || text.contains("://")
        || is_template(text)
        || shape::is_masked(text)
        || is_placeholder(text)
        || is_digest_or_path(text);
    if never {
        return false;
    }
    if value.quoted { quoted_is_secret(value) } else { bare_is_secret(value) }
}

/// A cheap look first: a bare value is one word, or has digits or a symbol, or token characters only.
fn can_be_secret(text: &str) -> bool {
    let telling = |c: char| {
        c.is_ascii_digit() || matches!(c, '!' | '@' | '#' | '$' | '%' | '^' | '&' | '*' | '?' | '~')
    };
    text.contains(telling) || text.chars().all(|c| c.is_alphabetic() || shape::is_token_char(c))
}

fn quoted_is_secret(value: &Value<'_>) -> bool {
    let text = value.text;
    if text.contains(char::is_whitespace) {
        return value.strength == Strength::Password
            && value.separator != Separator::Faint
            && is_passphrase(text);
    }
    let word = text.chars().all(char::is_alphabetic);
    let lower = text.to_lowercase();
    let named = TYPE_NAMES.contains(&lower.as_str()) || is_label(&lower) || is_screaming_name(text);
    match value.strength {
        _ if named => false,
        _ if value.separator == Separator::Faint => is_generated(text) && !is_reference(text),
        Strength::Password if word => {
            value.cjk || (text.is_ascii() && !is_state(&lower) && !is_key_name(text))
        }
        Strength::Password => !(is_key_name(text) || (is_measure(text) && text.contains('.'))),
        Strength::Strong if word => has_unpronounceable_case(text),
        Strength::Strong => {
            is_generated(text)
                || (text.len() >= 6 && digits(text) >= 2 && !is_name(text) && !is_measure(text))
        }
        Strength::Weak => text.len() >= 8 && is_generated(text) && !is_reference(text),
    }
}

fn bare_is_secret(value: &Value<'_>) -> bool {
    let text = value.text;
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    let assigned = matches!(value.separator, Separator::Tight | Separator::Colon) && value.alone;
    let literal = assigned && digits(text) > 0 && text.bytes().all(plain) && !is_screaming_name(text);
    if !literal && !is_word_with_inner_digit(value) && (is_reference(text) || is_screaming_name(text)) {
        return false;
    }
    let explicit = value.separator != Separator::Faint;
    if is_number(text) || (!explicit && is_compound(text)) {
        return false;
    }
    if text.bytes().all(|b| b.is_ascii_digit()) {
        let least = match value.strength {
            Strength::Password => 4,
            Strength::Strong => 10,
            Strength::Weak => return false,
        };
        let stands = match value.separator {
            Separator::Is => value.ends_sentence,
            Separator::Colon => value.alone || value.cjk,
            Separator::Loose => value.alone && text.len() >= 6,
            Separator::Tight | Separator::Faint => explicit,
        };
        return stands && text.len() >= least;
    }
    if text.chars().all(char::is_alphabetic) {
        return word_is_secret(value);
    }
    let generated = is_generated(text);
    match value.strength {
        Strength::Password if explicit => generated || (text.len() >= 4 && has_inner_symbol(text)),
        Strength::Strong if explicit => {
            generated || (value.separator == Separator::Tight && shape::is_uuid(text))
        }
        _ => generated && (value.strength != Strength::Weak || text.len() >= 8),
    }
}

/// `hunter2secret` given for a password: a name in code that ends in a key word has no digit before its last letter.
/// Behind a colon of a programming language a name may stand all the same.
fn is_word_with_inner_digit(value: &Value<'_>) -> bool {
    let given = match value.separator {
        Separator::Tight | Separator::Is => true,
        Separator::Colon => value.cjk,
        Separator::Loose | Separator::Faint => false,
    };
    let stem = value.text.trim_end_matches(|c: char| c.is_ascii_digit());
    given
        && value.strength == Strength::Password
        && value.text.bytes().all(|b| b.is_ascii_alphanumeric())
        && digits(stem) > 0
}

/// A plain word is a secret only behind a password key word, and only where no expression, type or sentence
/// can stand.
fn word_is_secret(value: &Value<'_>) -> bool {
    let text = value.text;
    let lower = text.to_lowercase();
    if has_unpronounceable_case(text) && text.len() >= 16 {
        return value.separator != Separator::Faint && text.is_ascii() && value.alone;
    }
    let plausible = value.strength == Strength::Password
        && text.len() >= 4
        && text.is_ascii()
        && !TYPE_NAMES.contains(&lower.as_str())
        && !is_state(&lower)
        && !is_label(&lower);
    let capital = text.starts_with(|c: char| c.is_ascii_uppercase());
    plausible
        && match value.separator {
            Separator::Tight => value.alone,
            Separator::Colon if value.cjk => value.ends_sentence,
            Separator::Colon => value.alone && (!capital || value.key_capital),
            Separator::Is => value.ends_sentence && !capital,
            Separator::Loose | Separator::Faint => false,
        }
}

/// Letters and digits mixed as no word, version, measure or slug mixes them, or letters with symbols inside.
pub(super) fn is_generated(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    if text.len() < 6 || TECHNICAL.contains(&lower.as_str()) || shape::is_uuid(text) || is_measure(text) {
        return false;
    }
    let long = text.len() >= 16
        && text.is_ascii()
        && shape::class_changes(text) >= 5
        && text.chars().all(shape::is_token_char);
    let mixed = shape::has_letters_and_digits(text) && shape::has_random_part(text);
    (mixed && !is_model_or_version(&lower)) || (long && !is_name(text)) || has_strong_symbol(text)
}

/// A number with a unit, a version, a date: digits first, letters last, or dotted numbers.
fn is_measure(text: &str) -> bool {
    let rest = text.trim_start_matches(['v', 'V']);
    let digits = rest
        .bytes()
        .take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b':' | b'/' | b','))
        .count();
    let tail = &rest[digits..];
    digits > 0
        && tail.len() <= 7
        && tail.chars().all(|c| c.is_ascii_lowercase() || c == '%' || c == '-')
        && tail.len() < digits + 5
        || (digits > 0 && matches!(tail, "T" | "Z" | "KB" | "MB" | "GB" | "TB" | "KiB" | "MiB" | "GiB"))
}

/// `gpt-4o`, `claude-3-5`, `k8s-prod`: words with a short number stuck to them.
fn is_model_or_version(lower: &str) -> bool {
    lower.contains(['-', '_', '.'])
        && lower.split(['-', '_', '.']).all(|part| {
            let digits = part.bytes().filter(u8::is_ascii_digit).count();
            digits == 0 || digits == part.len() || (digits <= 2 && part.len() <= 4)
        })
        && lower.len() < 24
}

/// Symbols that passwords have inside and code and prose do not.
fn has_strong_symbol(text: &str) -> bool {
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
    let symbols = inner
        .chars()
        .filter(|c| matches!(c, '!' | '@' | '#' | '$' | '%' | '^' | '&' | '*' | '?' | '~'))
        .count();
    let letters = text.chars().filter(|c| c.is_ascii_alphabetic()).count();
    let expression = text.contains("&&") || text.contains("::") || text.contains("?.") || text.contains("**");
    let entity = text.split_once('&').is_some_and(|(_, tail)| {
        tail.starts_with('#') || (tail.len() >= 2 && tail.bytes().all(|b| b.is_ascii_lowercase()))
    });
    let address = text.contains('@') && text.contains('.') && symbols == 1;
    symbols > 0
        && letters >= 3
        && !expression
        && !entity
        && !address
        && !text.contains(['(', '<', '[', '{', '/', '='])
        && (shape::has_letters_and_digits(text) || symbols >= 2 || text.ends_with('!'))
}

fn has_inner_symbol(text: &str) -> bool {
    has_strong_symbol(text)
        || (shape::has_letters_and_digits(text) && !is_measure(text) && !is_known_technical(text))
}

fn is_known_technical(text: &str) -> bool {
    TECHNICAL.contains(&text.to_ascii_lowercase().as_str())
}

/// A value that is filled in later: `${API_KEY}`, `<your-token>`, `{{ token }}`, `%s`, `$TOKEN`.
pub(super) fn is_template(text: &str) -> bool {
    let named_variable = |rest: &str| {
        rest.starts_with(['{', '('])
            || is_screaming_name(rest)
            || (!rest.is_empty() && rest.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
    };
    let variable = text.strip_prefix('$').is_some_and(|rest| named_variable(rest) || is_lower_name(rest));
    let wrapped = |open: &str, close: &str| text.starts_with(open) && text.ends_with(close);
    let format = matches!(text, "%s" | "%v" | "%d" | "{}" | "?" | ":password" | ":token");
    variable
        || format
        || wrapped("<", ">")
        || wrapped("{", "}")
        || wrapped("%", "%")
        || wrapped("__", "__")
        || text.contains("${")
        || text.contains("{{")
        || text.contains("$(")
        || text.contains("#{")
        || text.starts_with("%(")
}

fn is_lower_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

/// Whether the value is made of nothing but filler words: `changeme`, `your-api-key`, `mySecretToken`.
pub(super) fn is_placeholder(text: &str) -> bool {
    if text.len() > 48 || !text.bytes().any(|b| b.is_ascii_alphabetic()) || !text.is_ascii() {
        return false;
    }
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .all(|word| word.is_empty() || is_filler(&word.to_ascii_lowercase()))
}

/// Whether a lower-case word can be cut into filler words.
fn is_filler(word: &str) -> bool {
    let mut reachable = vec![false; word.len() + 1];
    reachable[0] = true;
    for start in 0..word.len() {
        if !reachable[start] {
            continue;
        }
        let fillers = FILLER.iter().filter(|filler| filler.len() > 1 || word.len() == 1);
        for filler in fillers.filter(|filler| word[start..].starts_with(**filler)) {
            reachable[start + filler.len()] = true;
        }
    }
    reachable[word.len()]
}

/// An expression of a programming language: a call, a path, a subscript, a member, a name with a key word.
pub(super) fn is_reference(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let bare = text.trim_start_matches(['&', '*', '@', '!']);
    let name_len =
        bare.bytes().take_while(|&b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':')).count();
    let after = &bare[name_len..];
    let applied = name_len > 0 && after.starts_with(['(', '[', '<', '{']);
    let operators = ["::", "->", "?.", "||", "&&", "=>", "()", "!("];
    let opens = bare.starts_with(['[', '(', '#']);
    let sigil = text.starts_with(['&', '*', '@', ':', '|', '>', '!', '[', '{', '('])
        && text[1..]
            .chars()
            .all(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '\'' | '[' | ']' | ':' | '-'));
    let has_key_word =
        || KEY_WORDS.iter().any(|key| !key.is_cjk && key.word != "pass" && lower.contains(key.word));
    let names_key = digits(text) <= 1 && is_identifier_path(text) && has_key_word();
    applied
        || opens
        || sigil
        || names_key
        || operators.iter().any(|op| text.contains(op))
        || is_name(text) && text.contains(['_', '.'])
}

fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

/// `challengePassword`, `db_password`: the name of a field that holds a secret.
fn is_key_name(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let joined =
        text.contains(['_', '.']) || (text.starts_with(|c: char| c.is_ascii_lowercase()) && text != lower);
    let has_key_word = || KEY_WORDS.iter().any(|key| !key.is_cjk && lower.contains(key.word));
    joined && digits(text) == 0 && is_identifier_path(text) && has_key_word()
}

/// A number in another base or with a type: `0x04`, `0b0001`, `1326u32`.
fn is_number(text: &str) -> bool {
    let unsigned = text.trim_start_matches('-');
    let suffix = unsigned.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
    let types = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "i128", "u128", "isize", "usize"];
    if suffix.len() < unsigned.len() && types.contains(&suffix) {
        return true;
    }
    let tail =
        text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).or_else(|| text.strip_prefix("0b"));
    tail.is_some_and(|tail| tail.bytes().all(|b| b.is_ascii_hexdigit() || b == b'_' || b == b'u'))
}

/// Something with inner structure: a path, an assignment, a scoped or snake-case name.
fn is_compound(text: &str) -> bool {
    text.contains(['/', '=', ':', '_', '(']) && !shape::looks_random(text)
}

/// A regular expression.
fn is_pattern(text: &str) -> bool {
    ["\\w", "\\d", "\\s", "\\S", "[^", "[a-z", "[A-Z", "[0-9", "(?:", "\\^"]
        .iter()
        .any(|class| text.contains(class))
}

/// Only identifier characters and dots, beginning with a letter.
fn is_identifier_path(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

/// An identifier or dotted path of words: `config.db.user`, `primaryRegion`, `session_store`. No digits
/// but a trailing one.
fn is_name(text: &str) -> bool {
    let is_word = |part: &str| {
        let stem = part.trim_end_matches(|c: char| c.is_ascii_digit());
        part.len() < 48 && part.len() - stem.len() <= 2 && digits(stem) == 0
    };
    is_identifier_path(text)
        && (digits(text) == 0 || text.contains(['_', '.']))
        && text.split(['_', '.', '-']).all(is_word)
        && !has_unpronounceable_case(text)
}

/// Camel case has words of two letters and more between its capitals; generated text does not.
fn has_unpronounceable_case(text: &str) -> bool {
    text.len() >= 12 && shape::class_changes(text) * 5 > text.len() * 2
}

/// `DB_PASSWORD`, `API_KEY_V2`: the name of a constant or environment variable.
fn is_screaming_name(text: &str) -> bool {
    text.contains('_')
        && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        && text.bytes().filter(|b| b.is_ascii_digit()).count() * 4 <= text.len()
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// `sha256:...`, a path to a file, an e-mail address.
pub(super) fn is_digest_or_path(text: &str) -> bool {
    let digest = [
        "sha1-", "sha256-", "sha384-", "sha512-", "sha1:", "sha256:", "sha512:", "md5:", "sha256=", "sha512=",
    ];
    let rooted = text.starts_with(['/', '~', '.']) && text.contains('/');
    let segments = text.split('/').filter(|s| !s.is_empty());
    let words = segments.clone().all(|s| !shape::looks_random(s) && s.len() < 24);
    let slug_path = text.contains('/')
        && segments.clone().count() >= 2
        && segments.clone().all(|s| s.len() > 1 && is_slug(s));
    let file = [".pem", ".key", ".txt", ".json", ".yaml", ".yml", ".env", ".toml", ".crt", ".p12"];
    digest.iter().any(|prefix| text.starts_with(prefix))
        || (rooted && words)
        || slug_path
        || file.iter().any(|extension| text.ends_with(extension))
}

fn is_slug(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'-' | b'_' | b'.' | b'*'))
}

/// Words with spaces that are no sentence: "correct horse battery staple".
fn is_passphrase(text: &str) -> bool {
    let words: Vec<String> = text.split_whitespace().take(13).map(str::to_ascii_lowercase).collect();
    let sentence =
        words.iter().any(|w| SENTENCE_WORDS.contains(&w.as_str()) || KEY_WORDS.iter().any(|k| k.word == w));
    let plain = text.chars().all(|c| c.is_ascii_graphic() || c == ' ')
        && !text.contains(['(', '{', '<', ':', ';', '=']);
    (2..=12).contains(&words.len()) && plain && !sentence && !is_label(&text.to_lowercase())
}

fn is_label(lower: &str) -> bool {
    LABELS.iter().any(|label| lower.starts_with(label)) && !lower.contains(|c: char| c.is_ascii_digit())
}

fn is_state(lower: &str) -> bool {
    STATES.contains(&lower)
        || STATE_ENDINGS.iter().any(|ending| lower.len() > ending.len() + 2 && lower.ends_with(ending))
}
