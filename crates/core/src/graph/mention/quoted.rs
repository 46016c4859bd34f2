//! Names told by the marks around them: back-ticks, book marks, corner brackets, quotes after `called`.

use super::{
    Names, shapes,
    tokens::tokens,
    vocabulary::{LITERALS, NAMING},
};

/// Characters between marks that still make a name.
const LONGEST: usize = 40;

pub(super) fn scan(text: &str, names: &mut Names) {
    for (inner, _) in between(text, '`', '`') {
        ticked(inner, names);
    }
    for (inner, _) in between(text, '《', '》') {
        if is_title(inner) {
            names.add(inner, "document", 0.9);
        }
    }
    for (open, close) in [('「', '」'), ('『', '』')] {
        for (inner, _) in between(text, open, close).into_iter().filter(|(inner, _)| is_title(inner)) {
            names.add(inner, "name", 0.85);
        }
    }
    for (open, close) in [('"', '"'), ('“', '”'), ('\'', '\''), ('‘', '’')] {
        for (inner, before) in between(text, open, close) {
            let before = before.trim_end().to_lowercase();
            if is_title(inner) && NAMING.iter().any(|word| before.ends_with(word)) {
                names.add(inner, "name", 0.85);
            }
        }
    }
}

/// What stands between the marks on one line, with what stands before.
fn between(text: &str, open: char, close: char) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut at = 0;
        while let Some(from) = line[at..].find(open).map(|i| at + i) {
            let inner = from + open.len_utf8();
            let Some(to) = line[inner..].find(close).map(|i| inner + i) else { break };
            found.push((&line[inner..to], &line[..from]));
            at = to + close.len_utf8();
        }
    }
    found
}

fn is_title(inner: &str) -> bool {
    let length = inner.chars().count();
    (2..=LONGEST).contains(&length)
        && inner.trim() == inner
        && inner.chars().any(char::is_alphabetic)
        && !inner.contains(['。', '，', '！', '？', '、', ',', '!', '?', ';', '\u{300C}', '\u{300D}'])
        && inner.split_whitespace().count() <= 5
}

fn ticked(inner: &str, names: &mut Names) {
    let name = inner.trim_start_matches('$').split('(').next().unwrap_or(inner);
    let sound = !inner.starts_with('-')
        && !inner.contains(char::is_whitespace)
        && name.chars().any(char::is_alphabetic)
        && name.chars().count() <= LONGEST + 20
        && !name.contains(['{', '}', '<', '>', '"', '=', '*', '|', ',', ';', '%'])
        && !LITERALS.contains(&name.to_lowercase().as_str());
    if !sound {
        return;
    }
    match tokens(name).as_slice() {
        [token] if token.text == name => match shapes::shape(token) {
            Some((name, kind, confidence)) => names.add(&name, kind, confidence),
            None => names.add(name, "code", 0.9),
        },
        _ => names.add(name, "code", 0.9),
    }
}
