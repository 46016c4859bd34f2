//! Names told by their own shape: paths, files, hosts, packages, tickets, identifiers, known tools.

use super::{
    tokens::Token,
    vocabulary::{
        CAPITAL_TOOLS, DOT_FILES, FILE_ENDINGS, HOST_PREFIXES, NOT_CAMEL, NOT_SERVICE, NOT_TICKETS,
        SCRIPT_TOOLS, SERVICE_ENDINGS, SHORT_DOMAINS, TOOLS, TOP_DOMAINS, TOP_FOLDERS,
    },
};

/// A name, its kind and how sure that is.
pub(super) type Shape = (String, &'static str, f64);

/// The name that a token is by its shape, if any.
pub(super) fn shape(token: &Token<'_>) -> Option<Shape> {
    let text =
        token.text.strip_suffix("'s").or_else(|| token.text.strip_suffix("\u{2019}s")).unwrap_or(token.text);
    if token.called {
        return Some((text.to_owned(), "code", 0.9));
    }
    url(text)
        .or_else(|| package(text))
        .or_else(|| plain(text.split('=').next().unwrap_or(text)))
        .or_else(|| capital_tool(text, token.starts))
}

/// A shape that the text alone tells.
pub(super) fn plain(text: &str) -> Option<Shape> {
    if text.contains('@') {
        return None;
    }
    path(text)
        .or_else(|| dotted(text))
        .or_else(|| ticket(text))
        .or_else(|| tool(text))
        .or_else(|| identifier(text))
        .or_else(|| hyphenated(text))
}

fn url(text: &str) -> Option<Shape> {
    let (_, rest) = text.split_once("://")?;
    let host = rest.split(['/', ':', '?', '#']).next().unwrap_or(rest);
    let host = host.rsplit('@').next().unwrap_or(host);
    (host.contains('.') && is_host_text(host)).then(|| (host.to_owned(), "host", 0.9))
}

/// `name@1.2`, `@scope/name`, `name==1.2`.
fn package(text: &str) -> Option<Shape> {
    let is_version = |v: &str| {
        v.trim_start_matches(['v', '^', '~']).starts_with(|c: char| c.is_ascii_digit()) || v == "latest"
    };
    let is_name = |n: &str| {
        n.chars().any(char::is_alphabetic)
            && n.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    if let Some(scoped) = text.strip_prefix('@') {
        let (scope, rest) = scoped.split_once('/')?;
        let name = rest.split('@').next().unwrap_or(rest);
        return (is_name(scope) && is_name(name)).then(|| (format!("@{scope}/{name}"), "package", 0.95));
    }
    let (name, version) = text.split_once("==").or_else(|| text.split_once('@'))?;
    (is_name(name) && is_version(version)).then(|| (name.to_owned(), "package", 0.95))
}

fn path(text: &str) -> Option<Shape> {
    if !text.contains('/') || text.contains(':') {
        return None;
    }
    let from_root =
        text.starts_with('/') || text.starts_with("./") || text.starts_with("../") || text.starts_with("~/");
    let text = text.trim_end_matches('/');
    let body = text.trim_start_matches(['.', '/', '~']);
    let parts: Vec<&str> = body.split('/').collect();
    let sound = parts.iter().all(|p| !p.is_empty()) && body.chars().any(char::is_alphabetic);
    let is_file = parts.last().is_some_and(|last| is_file_name(last));
    let known_top = parts.first().is_some_and(|top| TOP_FOLDERS.contains(top));
    let telling = is_file || (parts.len() >= 2 && (from_root || (known_top && parts.len() >= 3)));
    (sound && telling).then(|| (text.to_owned(), "file", 0.9))
}

fn is_file_name(text: &str) -> bool {
    DOT_FILES.contains(&text)
        || text.rsplit_once('.').is_some_and(|(stem, ending)| {
            !stem.is_empty()
                && stem.chars().any(char::is_alphanumeric)
                && FILE_ENDINGS.contains(&ending.to_ascii_lowercase().as_str())
        })
}

fn dotted(text: &str) -> Option<Shape> {
    if !text.contains('.') {
        return None;
    }
    if SCRIPT_TOOLS.contains(&text.to_ascii_lowercase().as_str()) {
        return Some((text.to_owned(), "tool", 0.9));
    }
    if is_file_name(text) && !text.contains([':', '#', '+', '%']) {
        return Some((text.to_owned(), "file", 0.9));
    }
    if is_address(text) {
        return Some((text.to_owned(), "host", 0.85));
    }
    let host = text.split(':').next().unwrap_or(text);
    let last = host.rsplit('.').next()?;
    let dots = host.matches('.').count();
    let is_domain = TOP_DOMAINS.contains(&last) || (dots >= 2 && SHORT_DOMAINS.contains(&last));
    (is_domain && is_host_text(host)).then(|| (host.to_owned(), "host", 0.9))
}

fn is_host_text(host: &str) -> bool {
    host.split('.').all(|part| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !part.starts_with('-')
    })
}

fn is_address(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    parts.len() == 4 && parts.iter().all(|part| part.parse::<u8>().is_ok())
}

fn ticket(text: &str) -> Option<Shape> {
    let (prefix, number) = text.split_once('-')?;
    if prefix == "CVE" && number.len() > 5 && number.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
        return Some((text.to_owned(), "vulnerability", 0.95));
    }
    let is_prefix = (2..=10).contains(&prefix.len())
        && prefix.starts_with(|c: char| c.is_ascii_uppercase())
        && prefix.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    let is_number = (1..=7).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    if !is_prefix || !is_number || NOT_TICKETS.contains(&prefix) {
        return None;
    }
    let kind = if matches!(prefix, "INC" | "SEV" | "INCIDENT") { "incident" } else { "ticket" };
    Some((text.to_owned(), kind, 0.9))
}

fn tool(text: &str) -> Option<Shape> {
    TOOLS.contains(&text.to_lowercase().as_str()).then(|| (text.to_owned(), "tool", 0.9))
}

/// Tools called like ordinary words: only written as a name, and not where every word is.
fn capital_tool(text: &str, starts: bool) -> Option<Shape> {
    (!starts && CAPITAL_TOOLS.contains(&text)).then(|| (text.to_owned(), "tool", 0.85))
}

fn identifier(text: &str) -> Option<Shape> {
    if let Some((left, right)) = text.split_once("::") {
        let sound = |part: &str| part.chars().any(char::is_alphabetic);
        return (sound(left) && sound(right)).then(|| (text.to_owned(), "code", 0.9));
    }
    if !text.chars().all(|c| c.is_alphanumeric() || c == '_') || !text.is_ascii() {
        return None;
    }
    let inner = text.trim_matches('_');
    if inner.contains('_') {
        let letters = inner.bytes().any(|b| b.is_ascii_alphabetic());
        let shouted = inner.bytes().all(|b| !b.is_ascii_lowercase());
        return letters.then(|| (text.to_owned(), if shouted { "setting" } else { "code" }, 0.85));
    }
    camel(text)
}

fn camel(text: &str) -> Option<Shape> {
    let bytes = text.as_bytes();
    let humps = bytes.windows(2).filter(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase()).count();
    let starts_well = bytes.first().is_some_and(u8::is_ascii_alphabetic);
    if humps == 0 || !starts_well || text.len() < 4 || NOT_CAMEL.contains(&text) {
        return None;
    }
    let ends = |endings: &[&str]| endings.iter().any(|e| text.ends_with(e));
    let kind = if ends(&["Service", "Server", "Gateway"]) {
        "service"
    } else if ends(&["Error", "Exception"]) {
        "error"
    } else {
        "code"
    };
    Some((text.to_owned(), kind, 0.9))
}

/// `payment-service`, `db-01`.
fn hyphenated(text: &str) -> Option<Shape> {
    let (first, _) = text.split_once('-')?;
    let lower = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    let last = text.rsplit('-').next()?;
    if !lower || last.is_empty() || first.is_empty() {
        return None;
    }
    if last.bytes().all(|b| b.is_ascii_digit()) {
        return (last.len() <= 4 && HOST_PREFIXES.contains(&first)).then(|| (text.to_owned(), "host", 0.85));
    }
    let named = SERVICE_ENDINGS.contains(&last) && !NOT_SERVICE.contains(&first);
    named.then(|| (text.to_owned(), "service", 0.85))
}
