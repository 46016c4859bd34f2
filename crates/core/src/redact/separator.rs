//! What stands between a key word and its value.

use super::credentials::ahead;
use super::judge::Separator;
use super::keyword::Key;
use super::vocabulary::{CJK_EQUALS, CONNECTORS, IS_PHRASES, Strength};

/// A separator and where the value begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) separator: Separator,
    pub(super) value_start: usize,
    /// Whether only a quoted value makes sense here.
    pub(super) wants_quotes: bool,
}

/// How many characters of a Chinese, Japanese or Korean sentence may stand before the value.
const MAX_CJK_GAP: usize = 12;
/// How long "for the staging database" and "(staging)" may be.
const MAX_ASIDE: usize = 48;

/// Reads the separator behind a key.
pub(super) fn after(text: &str, key: &Key) -> Option<Found> {
    let rest = ahead(text, key.end);
    let closed = rest.trim_start_matches(['"', '\'', '`', '\\', ']', '*']);
    let key_quoted = rest.len() - closed.len();
    let aside = skip_aside(closed);
    let bare = aside.trim_start_matches([' ', '\t']);
    let spaced = bare.len() < aside.len();
    let at = |remaining: &str| key.end + rest.len() - remaining.len();
    let found = |separator, remaining: &str, wants_quotes| {
        Some(Found { separator, value_start: at(remaining), wants_quotes })
    };
    if let Some((separator, remaining)) = symbol(bare, spaced).or_else(|| phrase(bare)) {
        return found(separator, skip_annotation(skip_space(remaining, key_quoted > 0)), false);
    }
    if let Some(remaining) = element(text, key, closed).or_else(|| value_field(closed)) {
        return found(Separator::Tight, remaining, false);
    }
    if let Some((separator, remaining)) = cjk(bare, key.cjk) {
        return found(separator, remaining, false);
    }
    if let Some((_, remaining)) = CONNECTORS.iter().find_map(|word| Some(word).zip(bare.strip_prefix(word))) {
        let (separator, remaining) = connected(remaining).unwrap_or((Separator::Faint, remaining));
        return found(separator, remaining, false);
    }
    if let Some(remaining) = bare.strip_prefix(',').filter(|_| key_quoted > 0) {
        return found(Separator::Faint, remaining.trim_start_matches(' '), true);
    }
    if let Some(remaining) = bare.strip_prefix('|').filter(|r| spaced || r.starts_with(' ')) {
        return found(Separator::Faint, remaining.trim_start_matches(' '), false);
    }
    let separator = match key.strength {
        _ if key.is_flag(text) => Separator::Tight,
        Strength::Password if bare.starts_with('\'') => Separator::Colon,
        _ => Separator::Faint,
    };
    (spaced && key_quoted == 0).then_some(())?;
    found(separator, bare, false)
}

/// Passes over a parenthesis such as ` (staging)` or `（生产）`.
fn skip_aside(rest: &str) -> &str {
    let trimmed = rest.trim_start_matches(' ');
    for (open, close) in [('(', ')'), ('（', '）')] {
        let inner = trimmed.strip_prefix(open).and_then(|inner| inner.split_once(close));
        if let Some((aside, after)) =
            inner.filter(|(aside, _)| aside.len() <= MAX_ASIDE && !aside.contains('\n'))
        {
            let is_call = rest.len() == trimmed.len() && open == '(';
            return if is_call || aside.contains('=') { rest } else { after };
        }
    }
    rest
}

fn symbol(rest: &str, spaced: bool) -> Option<(Separator, &str)> {
    let faint = ["===", "!==", "==", "!="];
    let loose = [":=", "=>", "→", "＝", "?=", "+="];
    // Without spaces it is a member of a C pointer.
    if let Some(remaining) = rest.strip_prefix("->").filter(|r| spaced || r.starts_with(' ')) {
        return Some((Separator::Loose, remaining));
    }
    if let Some(remaining) = faint.iter().find_map(|s| rest.strip_prefix(s)) {
        return Some((Separator::Faint, remaining));
    }
    if let Some(remaining) = loose.iter().find_map(|s| rest.strip_prefix(s)) {
        return Some((Separator::Loose, remaining));
    }
    if let Some(remaining) = rest.strip_prefix('=') {
        let loose = spaced || remaining.starts_with([' ', '\t']);
        return Some((if loose { Separator::Loose } else { Separator::Tight }, remaining));
    }
    let remaining = rest.strip_prefix(':').or_else(|| rest.strip_prefix('：'))?;
    (!remaining.starts_with(':')).then_some((Separator::Colon, remaining.trim_start_matches('*')))
}

fn phrase(rest: &str) -> Option<(Separator, &str)> {
    let phrase = IS_PHRASES
        .iter()
        .find(|phrase| rest.get(..phrase.len()).is_some_and(|head| head.eq_ignore_ascii_case(phrase)))?;
    Some((Separator::Is, &rest[phrase.len()..]))
}

/// Spaces, and behind a quoted key also a line break, as pretty-printed JSON has.
fn skip_space(rest: &str, key_quoted: bool) -> &str {
    let trimmed = rest.trim_start_matches([' ', '\t']);
    let broken = trimmed.trim_start();
    if key_quoted && broken.starts_with(['"', '\'']) { broken } else { trimmed }
}

/// Passes over a type annotation: `password: &str = "..."`, `token: string | null = '...'`.
fn skip_annotation(rest: &str) -> &str {
    let in_type = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '_' | '&' | '<' | '>' | '[' | ']' | '\'' | '|' | ' ' | '?' | '.' | ':' | '*')
    };
    let len = rest.find(|c: char| !in_type(c)).unwrap_or(rest.len());
    let initial = rest[len..].strip_prefix("= ").map(|value| value.trim_start_matches(' '));
    let has_type = rest[..len].ends_with(' ') && len > 3 && len < MAX_ASIDE;
    initial.filter(|value| has_type && !value.starts_with('=')).unwrap_or(rest)
}

/// `<password>value</password>`.
fn element<'t>(text: &str, key: &Key, rest: &'t str) -> Option<&'t str> {
    let opens = text[..key.start].ends_with('<') || text[..key.start].ends_with(':');
    rest.strip_prefix('>').filter(|_| opens)
}

/// `name: DB_PASSWORD` with `value: ...` on the next line, `key="Password" value="..."`.
fn value_field(rest: &str) -> Option<&str> {
    let field = rest.trim_start_matches([' ', '\t', '\r', '\n', ',', '"', '\'']);
    let after = field.strip_prefix("value").filter(|_| field.len() < rest.len())?;
    let after = after.trim_start_matches(['"', '\'', ' ']).strip_prefix([':', '='])?;
    Some(after.trim_start_matches([' ', '\t']))
}

/// "... for the staging database is X": the nearest separator within a few words.
fn connected(rest: &str) -> Option<(Separator, &str)> {
    let is_word =
        |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '/' | '\'' | '`' | '"');
    let stop = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len()).min(MAX_ASIDE);
    let stop = rest.floor_char_boundary(stop);
    if let Some(remaining) = rest[stop..].strip_prefix([':', '=', '：']) {
        return Some((Separator::Faint, remaining.trim_start_matches(' ')));
    }
    let head = &rest[..stop];
    let (at, len) = [" is ", " was "].iter().filter_map(|w| head.find(w).map(|at| (at, w.len()))).min()?;
    Some((Separator::Is, rest[at + len..].trim_start_matches(' ')))
}

/// A gap of Chinese, Japanese or Korean between key and value: 密码是, パスワードは, 비밀번호는.
fn cjk(rest: &str, key_is_cjk: bool) -> Option<(Separator, &str)> {
    let first = rest.chars().next()?;
    if !key_is_cjk && first.is_ascii() {
        return None;
    }
    let (mut separator, mut letters) = (Separator::Faint, 0);
    for (at, c) in rest.char_indices().take(MAX_CJK_GAP * 2) {
        match c {
            ' ' | '\t' | '\u{3000}' | '*' | '"' | '\'' | '`' | '“' | '”' | '‘' | '「' | '『' | '【'
            | '《'
                if separator != Separator::Faint || c.is_whitespace() =>
            {
                if !c.is_whitespace() && c != '*' {
                    return Some((separator, &rest[at..]));
                }
            }
            _ if CJK_EQUALS.contains(&c) => {
                separator =
                    if matches!(c, ':' | '：' | '=' | '＝') { Separator::Colon } else { Separator::Is };
                letters += 1;
            }
            _ if c.is_ascii() => return c.is_ascii_graphic().then_some((separator, &rest[at..])),
            '了' if separator != Separator::Faint => letters += 1,
            _ if c.is_alphabetic() && letters < MAX_CJK_GAP => {
                separator = Separator::Faint;
                letters += 1;
            }
            _ => return None,
        }
    }
    None
}
