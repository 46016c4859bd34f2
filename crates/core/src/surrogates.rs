//! JSON that some programs write of half a character: an escape of a surrogate without its partner, which no text
//! can hold.

use std::borrow::Cow;

/// Replaces `\uD800` to `\uDFFF` escapes that have no partner by the escape of the replacement character.
pub fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        let Some(unit) = escape_at(bytes, at) else {
            at += 2;
            continue;
        };
        let paired = (0xD800..0xDC00).contains(&unit)
            && escape_at(bytes, at + 6).is_some_and(|low| (0xDC00..0xE000).contains(&low));
        if (0xD800..0xE000).contains(&unit) && !paired {
            out.push_str(&json[copied..at]);
            out.push_str("\\ufffd");
            copied = at + 6;
        }
        at += if paired { 12 } else { 6 };
    }
    if copied == 0 {
        return json.into();
    }
    out.push_str(&json[copied..]);
    out.into()
}

/// The code unit of a `\uXXXX` escape that starts at `at`.
fn escape_at(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u").filter(|d| d.iter().all(u8::is_ascii_hexdigit))?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_is_replaced_and_everything_else_is_as_it_was() {
        for (json, expected) in [
            (r#""a \ud83d b""#, r#""a \ufffd b""#),
            (r#""\udc00""#, r#""\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""电 \n \u00e9""#, r#""电 \n \u00e9""#),
            (r#""\ud8""#, r#""\ud8""#),
            (r"\", r"\"),
        ] {
            assert_eq!(without_lone_surrogates(json), expected, "{json}");
        }
    }
}
