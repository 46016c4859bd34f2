//! A made-up corpus of any size, the same on every machine: what `bench` stores and asks.
//!
//! Words follow Zipf's law over a vocabulary of pronounceable inventions, so that posting lists have
//! the lengths of real text. One passage in ten is Chinese-like.

use crate::import::episodes::EpisodeLine;
use strata_core::time::Timestamp;

/// Distinct words of the invented vocabulary.
const VOCABULARY: u32 = 60_000;
/// Turns of one session.
const SESSION: usize = 40;
/// 2026-01-01T00:00:00Z in microseconds.
const START: i64 = 1_767_225_600_000_000;

/// A reproducible stream of numbers (xorshift64*).
#[derive(Debug, Clone)]
pub struct Stream(u64);

impl Stream {
    /// The same seed gives the same stream.
    pub fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 11) % bound.max(1)
    }

    /// A vocabulary rank from `first`, log-uniform: Zipf's law with exponent 1.
    fn rank(&mut self, first: f64) -> u32 {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        let rank = first * (f64::from(VOCABULARY) / first).powf(unit);
        (rank as u32).min(VOCABULARY - 1)
    }
}

/// The word of a rank: syllables in base 70, so that the commonest words are the shortest.
fn word(rank: u32) -> String {
    const ONSETS: [&str; 14] = ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z"];
    const VOWELS: [&str; 5] = ["a", "e", "i", "o", "u"];
    let mut rest = rank + 70;
    let mut syllables = Vec::new();
    while rest > 0 {
        let digit = (rest % 70) as usize;
        syllables.push(format!("{}{}", ONSETS[digit / 5], VOWELS[digit % 5]));
        rest /= 70;
    }
    syllables.concat()
}

fn sentence(stream: &mut Stream) -> String {
    let length = 12 + stream.below(36);
    if stream.below(10) == 0 {
        return (0..length).filter_map(|_| char::from_u32(0x4E00 + stream.rank(1.0) % 3000)).collect();
    }
    (0..length).map(|_| word(stream.rank(1.0))).collect::<Vec<_>>().join(" ")
}

/// The first `count` episodes.
pub fn episodes(count: usize) -> impl Iterator<Item = EpisodeLine> {
    let mut stream = Stream::new(42);
    (0..count).map(move |n| EpisodeLine {
        id: Some(format!("bench-{n}")),
        session: Some(format!("session-{}", n / SESSION)),
        at: Some(Timestamp(START + n as i64 * 60_000_000)),
        speaker: Some(if n % 2 == 0 { "Ada" } else { "Bo" }.to_owned()),
        text: sentence(&mut stream),
        ..EpisodeLine::default()
    })
}

/// The text of the `n`-th memory: unlike every other.
pub fn memory(n: usize) -> String {
    let mut stream = Stream::new(0x5EED ^ ((n as u64) << 8));
    format!("Decision {n}: {}", sentence(&mut stream))
}

/// A question of `terms` distinct words that are neither the commonest nor the rarest.
pub fn question(n: usize, terms: usize) -> String {
    let mut stream = Stream::new(0xA5_0000 + n as u64);
    let mut words: Vec<String> = Vec::new();
    while words.len() < terms {
        let next = word(stream.rank(20.0));
        if !words.contains(&next) {
            words.push(next);
        }
    }
    words.join(" ")
}

/// BLAKE3 of the first 1 000 episodes' texts, to tell that two runs used the same data.
pub fn fingerprint() -> String {
    let mut hasher = blake3::Hasher::new();
    for episode in episodes(1_000) {
        hasher.update(episode.text.as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn words_are_distinct_and_the_corpus_repeats() {
        let words: HashSet<String> = (0..VOCABULARY).map(word).collect();
        assert_eq!(words.len(), VOCABULARY as usize);
        assert_eq!(fingerprint(), fingerprint());
        assert_ne!(memory(1), memory(2));
        assert_eq!(question(3, 24).split(' ').count(), 24);
    }
}
