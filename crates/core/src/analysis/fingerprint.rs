//! A small sketch of a text by which near-duplicates are told.

/// Two texts are near-duplicates when their sketches differ in few bits and their exact parts agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Fingerprint {
    /// SimHash over the terms.
    pub sketch: u64,
    /// Hash of what must not differ: numbers, versions, identifiers with digits, and negations.
    pub exact: u32,
}

/// Most bits in which the sketches of near-duplicates differ.
const NEAR_BITS: u32 = 3;

impl Fingerprint {
    /// Whether two texts say the same in almost the same words. Texts that differ in a number, a version
    /// or a negation are never near-duplicates.
    pub fn is_near(self, other: Self) -> bool {
        self.exact == other.exact && (self.sketch ^ other.sketch).count_ones() <= NEAR_BITS
    }
}

/// The fingerprint of a passage's terms, which are sorted.
pub(super) fn fingerprint(terms: &[(String, u32)]) -> Fingerprint {
    let mut votes = [0i32; 64];
    let mut exact = 0u32;
    for (term, frequency) in terms {
        let hash = fnv(term);
        for (bit, vote) in votes.iter_mut().enumerate() {
            *vote += if hash >> bit & 1 == 1 { 1 } else { -1 };
        }
        if term.bytes().any(|b| b.is_ascii_digit()) || NEGATIONS.contains(&term.as_str()) {
            exact = exact.wrapping_add((hash >> 32) as u32 | 1).wrapping_mul(0x9E37_79B1 ^ frequency.min(&3));
        }
    }
    let sketch = votes.iter().enumerate().fold(0, |sketch, (bit, vote)| sketch | u64::from(*vote > 0) << bit);
    Fingerprint { sketch, exact }
}

const NEGATIONS: [&str; 16] = [
    "no", "not", "don", "didn", "doesn", "isn", "wasn", "nor", "never", "without", "不", "没", "沒", "無",
    "안", "没有",
];

/// FNV-1a with a final mix, so that short terms spread over all bits.
fn fnv(text: &str) -> u64 {
    let mut hash = text
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01B3));
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    hash ^ hash >> 33
}
