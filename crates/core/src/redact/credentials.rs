//! Credentials that stand in a protocol's own syntax: URLs, Authorization headers, `curl -u`.

use super::{Family, Span, judge, shape, tokens};

/// No credential of this syntax is longer; the rest of the text is not looked at.
const LOOK_AHEAD: usize = 256;

/// The password of `scheme://user:password@host`, where `separator..authority` is the `://`.
pub(super) fn url(text: &str, separator: usize, authority: usize) -> Option<Span> {
    if !text[..separator].ends_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let rest = ahead(text, authority);
    let rest = rest.split("://").next().unwrap_or_default();
    let stop =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`' | '|' | '\\' | '，' | '。');
    let address = &rest[..rest.find(stop).unwrap_or(rest.len())];
    let strict = &address[..address.find(['/', '?', '#']).unwrap_or(address.len())];
    // A password may hold an unescaped `/`: then what stands behind the colon is no port.
    let is_port = |tail: &str| tail.is_empty() || tail.bytes().all(|b| b.is_ascii_digit());
    let unescaped = strict.split_once(':').is_some_and(|(_, tail)| !is_port(tail) && !tail.starts_with('['));
    let userinfo = strict.rfind('@').map(|at| &strict[..at]);
    let userinfo = userinfo.or_else(|| address.rfind('@').filter(|_| unescaped).map(|at| &address[..at]))?;
    let Some((user, password)) = userinfo.split_once(':') else {
        return bare_token(text, authority, userinfo);
    };
    if judge::is_template(password) || shape::is_masked(password) || password.starts_with(judge::PLACEHOLDER)
    {
        return None;
    }
    let start = authority + user.len() + 1;
    Some(Span { family: Family::UrlPassword, start, end: start + password.len() })
}

/// `https://token@host`: a name has no digits between its letters, a token has.
fn bare_token(text: &str, start: usize, user: &str) -> Option<Span> {
    if let Some(token) = tokens::at(text, start) {
        return Some(token);
    }
    let end = start + user.len();
    shape::looks_random(user).then_some(Span { family: Family::UrlPassword, start, end })
}

/// The text from `start` on, cut to a bounded length at a character boundary.
pub(super) fn ahead(text: &str, start: usize) -> &str {
    let end = text.floor_char_boundary(start.saturating_add(LOOK_AHEAD).min(text.len()));
    &text[start.min(end)..end]
}

/// Where the run of characters from `start` on ends. Unbounded: only for what is going to be consumed.
pub(super) fn end_of_run(text: &str, start: usize, holds: impl Fn(char) -> bool) -> usize {
    start + text[start..].find(|c: char| !holds(c)).unwrap_or(text.len() - start)
}

/// The credentials behind `Authorization`, as a header, a JSON field or a header call.
pub(super) fn authorization(text: &str, after: usize) -> Option<Span> {
    let rest = ahead(text, after);
    let value = rest.trim_start_matches(['"', '\'', '\\', ']', ' ', ',']);
    let value = value.strip_prefix([':', '=', ',']).unwrap_or(value);
    let separated = rest.len() - value.len();
    if !rest[..separated].contains([':', '=', ',', '"', '\'']) {
        return None;
    }
    let value = value.trim_start_matches([' ', '"', '\'', '\\', '`']);
    let start = after + rest.len() - value.len();
    let scheme = value.bytes().take_while(u8::is_ascii_alphabetic).count();
    let credentials = value[scheme..].trim_start_matches(' ');
    let known = ["bearer", "basic", "token", "apikey", "bot", "digest"];
    if known.iter().any(|k| k.eq_ignore_ascii_case(&value[..scheme])) && value[scheme..].starts_with(' ') {
        let is_basic = value[..scheme].eq_ignore_ascii_case("basic");
        return credential(
            text,
            start + value.len() - credentials.len(),
            if is_basic { Proof::Basic } else { Proof::Scheme },
        );
    }
    credential(text, start, Proof::Nothing)
}

/// The token behind a `Bearer` that stands without its header.
pub(super) fn bearer(text: &str, start: usize, after: usize) -> Option<Span> {
    if !tokens::is_boundary(text, start) {
        return None;
    }
    credential(text, after, Proof::Nothing)
}

/// What else says that a credential follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proof {
    /// A header with the scheme Basic, whose credentials are base64.
    Basic,
    /// A header with another scheme.
    Scheme,
    /// Nothing: the value itself must look generated.
    Nothing,
}

/// One run of credential characters that is neither a placeholder nor a reference to a variable.
fn credential(text: &str, start: usize, proof: Proof) -> Option<Span> {
    if let Some(token) = tokens::at(text, start) {
        return Some(token);
    }
    let rest = ahead(text, start);
    let holds = |c: char| shape::is_token_char(c) || matches!(c, '.' | '~' | ':');
    let run = rest.find(|c: char| !holds(c)).unwrap_or(rest.len());
    let value = rest[..run].trim_end_matches(['.', ':']);
    let is_call = rest[run..].starts_with(['(', '[', '{']);
    let mixed_case =
        value.bytes().any(|b| b.is_ascii_uppercase()) && value.bytes().any(|b| b.is_ascii_lowercase());
    let generated = shape::has_letters_and_digits(value) || (mixed_case && shape::class_changes(value) >= 3);
    let enough = value.len() >= 8 && generated && (proof == Proof::Basic || !judge::is_reference(value));
    let real = enough
        && !is_call
        && !value.contains("://")
        && !shape::is_masked(value)
        && !judge::is_placeholder(value);
    if !real || (proof == Proof::Nothing && !judge::is_generated(value)) {
        return None;
    }
    let end = if run < rest.len() { start + value.len() } else { end_of_run(text, start + run, holds) };
    Some(Span { family: Family::Authorization, start, end })
}

/// The password of `curl -u user:password`.
pub(super) fn command_line_user(text: &str, start: usize, after: usize) -> Option<Span> {
    let window = text.floor_char_boundary(start.saturating_sub(160));
    let line = text[window..start].rsplit('\n').next().unwrap_or_default();
    if !line.contains("curl") && !line.contains("http") {
        return None;
    }
    let rest = ahead(text, after).trim_start_matches(['"', '\'']);
    let quoted = ahead(text, after).len() - rest.len();
    let run = rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'')).unwrap_or(rest.len());
    let (user, password) = rest[..run].split_once(':')?;
    let start = after + quoted + user.len() + 1;
    let real = password.len() >= 3 && !judge::is_template(password) && !judge::is_placeholder(password);
    real.then_some(Span { family: Family::Assignment, start, end: start + password.len() })
}
