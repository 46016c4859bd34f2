//! JSON, with the comments and trailing commas that configuration has, also one value on each line.

use super::{FoundKey, Path, plain};

/// A list or an object that is open.
struct Open {
    is_object: bool,
    /// How many items of a list were passed.
    index: usize,
    /// Whether a part of the path stands for its current value.
    has_part: bool,
    /// The position of its current key, if it is kept.
    key: Option<usize>,
}

/// One pass over the tokens; nesting is kept in a list.
pub(super) fn scan(text: &str) -> Vec<FoundKey> {
    let mut found: Vec<FoundKey> = Vec::new();
    let mut path = Path::default();
    let mut open: Vec<Open> = Vec::new();
    let mut word: Option<(usize, usize)> = None;
    let mut end = 0;
    let mut at = 0;
    while let Some((from, to)) = token(text, at) {
        at = to;
        match text.as_bytes()[from] {
            b':' => {
                if let (Some((from, to)), Some(open)) = (word.take(), open.last_mut()) {
                    close(open, &mut path, &mut found, end);
                    open.has_part = open.is_object;
                    open.key =
                        open.is_object.then(|| key(&text[from..to], from, &mut path, &mut found)).flatten();
                }
            }
            b',' => {
                if let Some(open) = open.last_mut() {
                    close(open, &mut path, &mut found, end);
                    open.index += 1;
                }
                word = None;
            }
            mark @ (b'{' | b'[') => {
                if let Some(list) = open.last_mut().filter(|open| !open.is_object && !open.has_part) {
                    let index = list.index;
                    path.push(|| format!("[{index}]"));
                    list.has_part = true;
                }
                open.push(Open { is_object: mark == b'{', index: 0, has_part: false, key: None });
                word = None;
            }
            b'}' | b']' => {
                if let Some(mut last) = open.pop() {
                    close(&mut last, &mut path, &mut found, end);
                }
                word = None;
            }
            _ => word = Some((from, to)),
        }
        if !matches!(text.as_bytes()[from], b',' | b':') {
            end = to;
        }
    }
    for mut last in open.into_iter().rev() {
        close(&mut last, &mut path, &mut found, end);
    }
    found
}

fn key(word: &str, from: usize, path: &mut Path, found: &mut Vec<FoundKey>) -> Option<usize> {
    path.push(|| plain(word));
    let (joined, depth) = (path.joined()?, path.depth - 1);
    found.push(FoundKey { path: joined, depth, is_table: false, bytes: from..from + word.len() });
    Some(found.len() - 1)
}

/// Ends the current value of a list or an object.
fn close(open: &mut Open, path: &mut Path, found: &mut [FoundKey], end: usize) {
    if let Some(key) = open.key.take() {
        found[key].bytes.end = end.max(found[key].bytes.end);
    }
    if std::mem::take(&mut open.has_part) {
        path.pop();
    }
}

/// The next mark, text in quotes or bare word from `at` on.
fn token(text: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut from = at;
    loop {
        from += bytes[from..].iter().position(|b| !b.is_ascii_whitespace())?;
        match &bytes[from..] {
            [b'/', b'/', ..] | [b'#', ..] => from = line_end(bytes, from),
            [b'/', b'*', ..] => from = text[from..].find("*/").map_or(bytes.len(), |end| from + end + 2),
            _ => break,
        }
    }
    let to = match bytes[from] {
        b'{' | b'}' | b'[' | b']' | b',' | b':' => from + 1,
        quote @ (b'"' | b'\'') => quoted(bytes, from, quote),
        _ => {
            let ends = |b: &u8| b.is_ascii_whitespace() || b"{}[],:\"'".contains(b);
            bytes[from..].iter().position(ends).map_or(bytes.len(), |length| from + length)
        }
    };
    Some((from, to))
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |length| from + length)
}

/// Past the closing quote, or to the end of the line where there is none.
fn quoted(bytes: &[u8], from: usize, quote: u8) -> usize {
    let mut at = from + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' => return at,
            byte if *byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The texts of a flat object on one line, by their keys, without escapes.
pub(crate) fn strings(line: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let (mut before, mut key) = (None, None);
    let mut at = 0;
    while let Some((from, to)) = token(line, at) {
        at = to;
        let word = &line[from..to];
        match word {
            ":" => key = before.take(),
            "," | "{" | "}" | "[" | "]" => (before, key) = (None, None),
            _ => match key.take() {
                Some(key) => found.push((key, unescaped(word.trim_matches('"')))),
                None => before = Some(word.trim_matches('"')),
            },
        }
    }
    found
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('r') => {}
            Some('u') => {
                let digits: String = chars.by_ref().take(4).collect();
                let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                plain.push(code.unwrap_or('\u{fffd}'));
            }
            Some(other) => plain.push(other),
            None => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<(String, &str)> {
        scan(text).into_iter().map(|key| (key.path, &text[key.bytes])).collect()
    }

    #[test]
    fn keys_have_dotted_paths_and_their_values() {
        let text = "{\n  // ports\n  \"a\": {\"b\": 1, \"c d\": [1, 2]},\n  \"l\": [{\"x\": \"}\"}, {\"x\": 2,}],\n}";
        let expected = [
            ("a", "\"a\": {\"b\": 1, \"c d\": [1, 2]}"),
            ("a.b", "\"b\": 1"),
            ("a.c d", "\"c d\": [1, 2]"),
            ("l", "\"l\": [{\"x\": \"}\"}, {\"x\": 2,}]"),
            ("l[0].x", "\"x\": \"}\""),
            ("l[1].x", "\"x\": 2"),
        ];
        assert_eq!(keys(text), expected.map(|(path, text)| (path.to_owned(), text)));
    }

    #[test]
    fn a_fault_leaves_the_other_keys() {
        let found = keys("{\"a\": \"open\n \"b\": 2, \"c\" 3, \"d\": 4");
        let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["a", "b", "d"]);
        assert_eq!(keys("{\"a\": 1}\n{\"a\": 2}\n").len(), 2, "a value on each line");
        assert!(keys("]]]}}},,,:::\"").is_empty());
    }

    #[test]
    fn texts_of_a_line_lose_their_escapes() {
        let line = r#"{"Action":"output","Elapsed":0.1,"Output":"a\n\"b\"\u4e2d"}"#;
        let expected = [("Action", "output"), ("Elapsed", "0.1"), ("Output", "a\n\"b\"\u{4e2d}")];
        assert_eq!(strings(line), expected.map(|(key, text)| (key, text.to_owned())));
    }
}
