//! Courtesies: sentences that keep a conversation going and say nothing.

/// What courtesies are made of. A short sentence with one of them is one.
const PHRASES: &[&str] = &[
    "thank",
    "thanks",
    "hello",
    "hi ",
    "hey",
    "good morning",
    "good evening",
    "good night",
    "goodbye",
    "bye",
    "you're welcome",
    "no problem",
    "sounds good",
    "great",
    "nice",
    "perfect",
    "awesome",
    "sure",
    "okay",
    "ok",
    "got it",
    "sorry",
    "please",
    "see you",
    "let me know",
    "welcome",
    "cool",
    "yes",
    "no worries",
    "happy to help",
    "of course",
    "谢谢",
    "感谢",
    "你好",
    "您好",
    "好的",
    "没问题",
    "不客气",
    "再见",
    "早上好",
    "辛苦",
    "收到",
    "明白",
    "ありがとう",
    "こんにちは",
    "おはよう",
    "お疲れ",
    "お願い",
    "了解",
    "承知",
    "すみません",
    "はい",
    "감사",
    "고마",
    "안녕",
    "알겠",
    "네,",
    "넵",
    "수고",
    "죄송",
    "부탁",
];

/// Longest courtesy: words of a spaced language, characters of an unspaced one.
const MAX_WORDS: usize = 6;
const MAX_CJK: usize = 14;

/// Whether a sentence only greets, thanks or agrees.
pub(super) fn is_courtesy(sentence: &str) -> bool {
    if sentence.chars().any(char::is_numeric) {
        return false;
    }
    let wide = sentence.chars().filter(|c| u32::from(*c) >= 0x2E80 && c.is_alphanumeric()).count();
    let words = sentence.split_whitespace().count();
    let is_short = if wide > 0 { wide <= MAX_CJK } else { words <= MAX_WORDS };
    let lower = format!("{} ", sentence.to_lowercase());
    is_short && PHRASES.iter().any(|phrase| is_said(&lower, phrase, wide > 0))
}

/// Whether the phrase stands in the text; one of letters only as whole words.
fn is_said(text: &str, phrase: &str, unspaced: bool) -> bool {
    if unspaced || !phrase.is_ascii() {
        return text.contains(phrase);
    }
    let phrase = phrase.trim();
    text.match_indices(phrase).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}
