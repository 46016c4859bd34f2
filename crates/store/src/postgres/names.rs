//! Names and texts inside statements that take no parameters, and the numbers of locks.

/// A name in quotes.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\"").replace('\0', ""))
}

/// A text in quotes, whatever the server makes of backslashes.
pub(super) fn literal(text: &str) -> String {
    let text = text.replace('\0', "").replace('\'', "''");
    if text.contains('\\') { format!("E'{}'", text.replace('\\', "\\\\")) } else { format!("'{text}'") }
}

/// The number of the advisory lock for what `parts` name together.
pub(super) fn key(parts: &[&str]) -> i64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"strata");
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    let mut start = [0; 8];
    start.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    i64::from_le_bytes(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_inside_are_doubled() {
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(literal("a\\'"), "E'a\\\\'''");
        assert_ne!(key(&["a", "bc"]), key(&["ab", "c"]));
    }
}
