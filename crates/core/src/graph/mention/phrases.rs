//! Names told by capitals and by the words beside them: `Blue Harbor`, `project Apollo`, `the Atlas team`.

use super::{
    Names,
    tokens::Token,
    vocabulary::{DATES, ENDINGS_KEPT, ORGANISATIONS, ROLES_AFTER, ROLES_BEFORE, SENTENCE_WORDS},
};

/// Capitalised words that make one name at most.
const LONGEST: usize = 4;

pub(super) fn scan(line: &str, tokens: &[Token<'_>], names: &mut Names) {
    if is_heading(line, tokens) {
        return;
    }
    let mut at = 0;
    while at < tokens.len() {
        let end = run_end(tokens, at);
        if end > at {
            run(tokens, at, end, names);
            at = end;
        } else {
            at += 1;
        }
    }
}

/// A line in which most words begin with a capital, or that is marked as one: capitals tell nothing there.
fn is_heading(line: &str, tokens: &[Token<'_>]) -> bool {
    let words: Vec<_> =
        tokens.iter().filter(|t| t.text.chars().next().is_some_and(char::is_alphabetic)).collect();
    let capitals = words.iter().filter(|t| is_capitalised(t.text) || is_acronym(t.text)).count();
    line.trim_start().starts_with('#') || (words.len() >= 4 && capitals * 10 >= words.len() * 7)
}

fn is_capitalised(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(char::is_uppercase)
        && word.chars().count() >= 2
        && chars.all(|c| c.is_lowercase() || matches!(c, '\'' | '\u{2019}' | '-'))
}

fn is_acronym(word: &str) -> bool {
    (2..=6).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
}

/// The end of the run of capitalised words that begins at `at`; `at` if none does.
fn run_end(tokens: &[Token<'_>], at: usize) -> usize {
    let belongs = |t: &Token<'_>| (is_capitalised(t.text) || is_acronym(t.text)) && !DATES.contains(&t.text);
    let mut end = at;
    while end < tokens.len()
        && belongs(&tokens[end])
        && (end == at || (tokens[end].joined && !tokens[end].starts))
    {
        end += 1;
        // `Bank of America`
        if end + 1 < tokens.len()
            && tokens[end].text == "of"
            && tokens[end].joined
            && tokens[end + 1].joined
            && belongs(&tokens[end + 1])
        {
            end += 1;
        }
    }
    end
}

fn run(tokens: &[Token<'_>], from: usize, end: usize, names: &mut Names) {
    let mut start = from;
    while start < end && begins_sentence_only(&tokens[start]) {
        start += 1;
    }
    // `Customer Northwind` at the start of a sentence: the first word is what the second one is.
    if end - start == 2 && tokens[start].starts && is_role(tokens[start].text) {
        start += 1;
    }
    let mut last = end;
    while last > start && tokens[last - 1].text == "of" {
        last -= 1;
    }
    let words: Vec<&str> = tokens[start..last].iter().map(|t| possessor(t.text)).collect();
    let role_before = start.checked_sub(1).map(|b| tokens[b].text.to_lowercase());
    let role_after = tokens.get(last).filter(|t| t.joined).map(|t| t.text.to_lowercase());
    match words.as_slice() {
        [] => {}
        [word] => single(word, &tokens[start], role_before.as_deref(), role_after.as_deref(), names),
        many if many.len() <= LONGEST && !many.iter().all(|w| is_acronym(w)) => {
            let (name, kind) = whole(many, role_after.as_deref());
            names.add(&name, kind, 0.85);
        }
        _ => {}
    }
}

fn is_role(word: &str) -> bool {
    ROLES_BEFORE.iter().any(|(role, _)| word.eq_ignore_ascii_case(role))
}

fn possessor(word: &str) -> &str {
    word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s")).unwrap_or(word)
}

/// Whether a word is capitalised because a sentence begins, or is no part of a name wherever it stands.
fn begins_sentence_only(token: &Token<'_>) -> bool {
    let word = token.text.to_lowercase();
    if SENTENCE_WORDS.contains(&word.as_str()) {
        return true;
    }
    token.starts && ["ing", "ed", "ly"].iter().any(|end| word.len() > 4 && word.ends_with(end))
}

fn whole(words: &[&str], role_after: Option<&str>) -> (String, &'static str) {
    let name = words.join(" ");
    let last = words.last().map(|w| w.to_lowercase()).unwrap_or_default();
    let role = ROLES_AFTER.iter().find(|(role, _)| *role == last);
    if let Some((_, kind)) = role {
        return (name, kind);
    }
    if ORGANISATIONS.contains(&last.trim_end_matches('.')) {
        return (name, "organisation");
    }
    match ROLES_AFTER.iter().find(|(role, _)| Some(*role) == role_after) {
        Some((role, kind)) if ENDINGS_KEPT.contains(role) => (format!("{name} {role}"), kind),
        Some((_, kind)) => (name, kind),
        None => (name, "name"),
    }
}

/// One capitalised word is a name only beside a word that says so.
fn single(word: &str, token: &Token<'_>, before: Option<&str>, after: Option<&str>, names: &mut Names) {
    let says = |list: &[(&'static str, &'static str)], word: Option<&str>| {
        list.iter().find(|(role, _)| Some(*role) == word).copied()
    };
    if let Some((_, kind)) = says(&ROLES_BEFORE, before).filter(|_| !token.starts && token.joined) {
        names.add(word, kind, 0.85);
        return;
    }
    // A sentence may begin with any word, also one before a role: `Each service`.
    if token.starts {
        return;
    }
    if let Some((role, kind)) = says(&ROLES_AFTER, after) {
        let name = if ENDINGS_KEPT.contains(&role) { format!("{word} {role}") } else { word.to_owned() };
        names.add(&name, kind, 0.85);
    }
}
