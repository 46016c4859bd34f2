//! Digests that stand for a text in a handshake or a log.
//!
//! These are the fixed forms that clients compare; what the audit keeps is salted (see ADR 2).

use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::markdown::unified;

/// The token of a section's body: the first 16 hexadecimal digits of SHA-256 over the text with `\n` line ends and without outer
/// space. It is the `expected_hash` of a handshake and the `before_hash` of the change that it permits.
pub fn body_token(body: &str) -> String {
    let text = unified(body);
    hex(&Sha256::digest(text.trim().as_bytes()), 16)
}

/// The token of several sections, in their order: it changes when a heading or a body does.
pub fn family_token<'a>(sections: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut whole = Sha256::new();
    for (heading, body) in sections {
        whole.update(heading.trim().as_bytes());
        whole.update([0]);
        whole.update(body_token(body).as_bytes());
        whole.update([0]);
    }
    hex(&whole.finalize(), 16)
}

/// The digest by which a line is found again after it moved: the first 12 hexadecimal digits of SHA-1 over the line without outer
/// space.
pub fn line_token(line: &str) -> String {
    hex(&Sha1::digest(line.trim().as_bytes()), 12)
}

/// The id of the todo that is made of a marker: the same line of the same file always gives the same one.
pub fn marker_todo_id(file: &str, line: &str) -> String {
    let mut whole = Sha1::new();
    whole.update(file.as_bytes());
    whole.update(b"\n");
    whole.update(line.trim().as_bytes());
    format!("gov-{}", hex(&whole.finalize(), 16))
}

fn hex(bytes: &[u8], digits: usize) -> String {
    let mut text: String = bytes.iter().take(digits.div_ceil(2)).map(|b| format!("{b:02x}")).collect();
    text.truncate(digits);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_the_fixed_form() {
        let body = "PostgreSQL 15 on prod-db:5432, connection pool: 20 max";
        assert_eq!(body_token(body), "82968a5902d2f0fc");
        assert_eq!(body_token(&format!("\r\n{body}\r\n\r\n")), "82968a5902d2f0fc");
        assert_eq!(body_token("a\r\nb"), body_token("a\nb"));
        // SHA-1 of "abc" and of "d.md\nabc".
        assert_eq!(line_token(" abc\n"), "a9993e364706");
        assert_eq!(marker_todo_id("d.md", "  abc"), marker_todo_id("d.md", "abc"));
        assert_eq!(marker_todo_id("d.md", "abc").len(), 20);
        assert_ne!(marker_todo_id("d.md", "abc"), marker_todo_id("e.md", "abc"));
    }

    #[test]
    fn a_family_changes_with_any_member() {
        let token = family_token([("A 1", "x"), ("A 2", "y")]);
        assert_eq!(token, family_token([("A 1", "x\n"), ("A 2", "y")]));
        assert_ne!(token, family_token([("A 1", "x"), ("A 3", "y")]));
        assert_ne!(token, family_token([("A 2", "y"), ("A 1", "x")]));
        assert_eq!(token.len(), 16);
    }
}
