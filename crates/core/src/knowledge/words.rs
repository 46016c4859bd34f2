//! The words of a text as a set: what two texts have in common, at a glance.

/// The set of a text's words, without letter case: runs of letters and digits, and of scripts that write without spaces every two
/// characters that stand side by side.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Words {
    /// The hashes of the words, in order, each once.
    sorted: Vec<u64>,
    /// How often each digit occurs.
    digits: [u32; 10],
}

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let mut sorted = Vec::new();
        read(text, |word| sorted.push(word));
        sorted.sort_unstable();
        sorted.dedup();
        let mut digits = [0; 10];
        for digit in text.chars().filter_map(digit) {
            digits[digit] += 1;
        }
        Self { sorted, digits }
    }

    /// Whether the numbers of both could be the same: they have the same digits, in whatever order and notation.
    pub(super) fn has_digits_of(&self, other: &Self) -> bool {
        self.digits == other.digits
    }

    /// Whether every word of the other is one of these.
    pub(super) fn has_all_of(&self, other: &Self) -> bool {
        other.sorted.iter().all(|word| self.sorted.binary_search(word).is_ok())
    }

    /// The share of words that both have, 0 to 1: twice the common ones by the words of both.
    pub(super) fn shared(&self, other: &Self) -> f64 {
        let (a, b) = (&self.sorted, &other.sorted);
        let (mut i, mut j, mut common) = (0, 0, 0);
        while let (Some(left), Some(right)) = (a.get(i), b.get(j)) {
            common += usize::from(left == right);
            i += usize::from(left <= right);
            j += usize::from(right <= left);
        }
        share(common, a.len() + b.len())
    }

    /// The same with a text that is read only once; its words are counted with their repetitions.
    pub(super) fn shared_with(&self, text: &str) -> f64 {
        let mut seen = vec![false; self.sorted.len()];
        let mut count = 0;
        // Most words are none of these, and are told so without a search.
        let mut low = [0_u64; 16];
        self.sorted.iter().for_each(|word| low[(word >> 6 & 15) as usize] |= 1 << (word & 63));
        read(text, |word| {
            count += 1;
            if low[(word >> 6 & 15) as usize] >> (word & 63) & 1 == 0 {
                return;
            }
            if let Ok(at) = self.sorted.binary_search(&word) {
                seen[at] = true;
            }
        });
        share(seen.iter().filter(|seen| **seen).count(), self.sorted.len() + count)
    }
}

/// The value of a digit, also of a wide one.
fn digit(c: char) -> Option<usize> {
    match c {
        '0'..='9' => Some(c as usize - '0' as usize),
        '０'..='９' => Some(c as usize - '０' as usize),
        _ => None,
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
        if c.is_ascii() {
            if c.is_ascii_alphanumeric() {
                open = Some(mix(open.unwrap_or(START), c.to_ascii_lowercase()));
            } else if let Some(done) = open.take() {
                word(done);
            }
            before = None;
            continue;
        }
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
        assert!(Words::of("a b c").has_all_of(&Words::of("C a")));
        assert!(!Words::of("a b").has_all_of(&Words::of("a b c")));
        assert!(Words::of("1,024 rows").has_digits_of(&Words::of("１０２４ rows")));
        assert!(!Words::of("port 80").has_digits_of(&Words::of("port 81")));
    }
}
