//! Which way of cutting a character calls for.

use unicode_normalization::char::is_combining_mark;

/// How text around a character is cut into terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Letters and digits of scripts that put spaces between words.
    Word,
    /// Han and kana: single characters and pairs.
    Ideograph,
    /// Hangul: pairs.
    Hangul,
    /// Scripts without spaces and without a dictionary here (Thai, Lao, Khmer, Burmese): pairs.
    Unspaced,
    /// Pictographs: each one is a term.
    Pictograph,
    /// Space, punctuation and everything else.
    Other,
}

/// The script class of a character of normalised text.
pub(super) fn script(c: char) -> Script {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() { Script::Word } else { Script::Other };
    }
    match u32::from(c) {
        0x3005..=0x3007
        | 0x3041..=0x3096
        | 0x309D..=0x309F
        | 0x30A1..=0x30FA
        | 0x30FC..=0x30FF
        | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF
        | 0xF900..=0xFAFF
        | 0x20000..=0x3FFFF => Script::Ideograph,
        0x1100..=0x11FF | 0x3131..=0x318E | 0xA960..=0xA97C | 0xAC00..=0xD7FB => Script::Hangul,
        0x0E01..=0x0E3A | 0x0E40..=0x0EDF | 0x1000..=0x109F | 0x1780..=0x17D3 => Script::Unspaced,
        0x2600..=0x27BF | 0x1F300..=0x1FAFF => Script::Pictograph,
        _ if c.is_alphanumeric() || is_combining_mark(c) => Script::Word,
        _ => Script::Other,
    }
}

/// The share of Han, kana and hangul among the letters of `text`, 0 to 1; 0 when it has no letters.
pub(super) fn cjk_share(text: &str) -> f32 {
    let (mut cjk, mut letters) = (0u32, 0u32);
    for c in text.chars() {
        match script(c) {
            Script::Ideograph | Script::Hangul => {
                cjk += 1;
                letters += 1;
            }
            Script::Word | Script::Unspaced => letters += 1,
            Script::Pictograph | Script::Other => {}
        }
    }
    if letters == 0 { 0.0 } else { cjk as f32 / letters as f32 }
}
