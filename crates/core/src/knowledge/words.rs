//! The words of a text as a set: what two texts have in common, at a glance.

use std::collections::HashSet;

/// The set of a text's words, without letter case: runs of letters and digits, and of scripts that write without spaces every two
/// characters that stand side by side.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Words(HashSet<u64>);

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let mut words = HashSet::new();
        read(text, |word| {
            words.insert(word);
        });
        Self(words)
    }

    /// The share of words that both have, 0 to 1: twice the common ones by the words of both.
    pub(super) fn shared(&self, other: &Self) -> f64 {
        let (small, large) = if self.0.len() <= other.0.len() { (self, other) } else { (other, self) };
        let common = small.0.iter().filter(|word| large.0.contains(word)).count();
        share(common, small.0.len() + large.0.len())
    }

    /// The same with a text that is read only once; its words are counted with their repetitions.
    pub(super) fn shared_with(&self, text: &str) -> f64 {
        let mut seen = HashSet::new();
        let mut count = 0;
        read(text, |word| {
            count += 1;
            if self.0.contains(&word) {
                seen.insert(word);
            }
        });
        share(seen.len(), self.0.len() + count)
    }
}

fn share(common: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { 2.0 * common as f64 / all as f64 }
}

/// Calls `word` with the hash (FNV-1a) of each word.
fn read(text: &str, mut word: impl FnMut(u64)) {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    let mix = |hash: u64, c: char| (hash ^ u64::from(u32::from(c))).wrapping_mul(0x0000_0100_0000_01b3);
    let (mut open, mut before) = (None, None);
    for c in text.chars() {
        let wide = is_unspaced(c);
        if wide || !c.is_alphanumeric() {
            open.take().into_iter().for_each(&mut word);
        }
        if wide {
            word(mix(mix(START, before.unwrap_or(' ')), c));
        } else if c.is_alphanumeric() {
            open = Some(c.to_lowercase().fold(open.unwrap_or(START), mix));
        }
        before = wide.then_some(c);
    }
    open.into_iter().for_each(word);
}

/// Chinese and Japanese, and Korean, whose particles are written onto the words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '가'..='힣')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_shared_in_every_script() {
        for (a, b, least, most) in [
            ("Pool size: 20", "pool SIZE is 40", 0.55, 0.6),
            ("网关监听 8080 端口", "网关监听 9090 端口", 0.8, 0.9),
            ("接続プールは20です", "接続プールは40です", 0.8, 0.9),
            ("연결 풀은 20개", "연결 풀은 40개", 0.7, 0.9),
            ("one", "two", 0.0, 0.0),
            ("", "x", 0.0, 0.0),
        ] {
            let (one, two) = (Words::of(a), Words::of(b));
            assert_eq!(one.shared(&two), two.shared(&one));
            assert!((least..=most).contains(&one.shared(&two)), "{a} {b}: {}", one.shared(&two));
            assert!((one.shared(&two) - one.shared_with(b)).abs() < 1e-9, "{b}");
        }
        assert_eq!(Words::default().shared(&Words::default()), 0.0);
    }
}
