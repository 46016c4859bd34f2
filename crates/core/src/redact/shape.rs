//! What a run of characters looks like: random, a digest, a UUID, a slug of words.

/// Characters of standard and URL-safe base64 and its padding.
pub(super) fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '_')
}

/// Characters that tokens and keys are made of.
pub(super) fn is_token_char(c: char) -> bool {
    is_base64(c) || c == '-'
}

/// 8-4-4-4-12 hexadecimal digits.
pub(super) fn is_uuid(text: &str) -> bool {
    let groups = [8, 4, 4, 4, 12];
    let mut parts = text.split('-');
    text.len() == 36
        && groups.iter().all(|&len| parts.next().is_some_and(|p| p.len() == len && is_hex(p)))
        && parts.next().is_none()
}

/// Only hexadecimal digits, at least one.
pub(super) fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Whether some part between symbols mixes letters and digits or is too long to be a word.
/// `prod-db-2024` and `three-bounce` have no such part, `k3y9-ab` has.
pub(super) fn has_random_part(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|part| {
        let letters = part.bytes().any(|b| b.is_ascii_alphabetic());
        let digits = part.bytes().any(|b| b.is_ascii_digit());
        (letters && digits && part.len() >= 4) || part.len() >= 18
    })
}

/// Whether both letters and digits occur.
pub(super) fn has_letters_and_digits(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_alphabetic()) && text.bytes().any(|b| b.is_ascii_digit())
}

/// How often the class (lower, upper, digit, other) changes from one character to the next.
pub(super) fn class_changes(text: &str) -> usize {
    let class = |b: u8| match b {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    text.as_bytes().windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count()
}

/// Shannon entropy in bits per byte.
pub(super) fn entropy(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let total = text.len().max(1) as f64;
    counts.iter().filter(|&&n| n > 0).map(|&n| f64::from(n) / total).map(|p| -p * p.log2()).sum()
}

/// A run of at least 20 characters in which letters of both cases (or hexadecimal-free lower case) and
/// digits alternate as they do in generated keys and not in identifiers.
pub(super) fn looks_random(text: &str) -> bool {
    if text.len() < 20 || is_hex(text) || is_uuid(text) || !has_letters_and_digits(text) {
        return false;
    }
    let digit_groups =
        text.as_bytes().windows(2).filter(|p| p[1].is_ascii_digit() && !p[0].is_ascii_digit()).count();
    digit_groups >= 3 && class_changes(text) * 3 >= text.len() && entropy(text) >= 3.5
}

/// Only the characters people blot secrets out with, or a long run of them inside: `****`, `xxxx`, `sk-...`.
pub(super) fn is_masked(text: &str) -> bool {
    let blot = |c: char| matches!(c, 'x' | 'X' | '*' | '•' | '.' | '…' | '-' | '_' | '#' | '?' | '●' | '·');
    if text.chars().all(blot) {
        return true;
    }
    let lower = text.to_ascii_lowercase();
    lower.contains("xxxx") || lower.contains("***") || lower.contains("...") || lower.contains('…')
}
