//! Token estimates and packing of whole records into a token budget.

/// Tokens of a text.
pub fn estimate_tokens(text: &str) -> u32 {
    (text.len() / 4) as u32
}
