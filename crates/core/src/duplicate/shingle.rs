//! MinHash: short signatures whose agreement estimates the overlap of two texts.
//!
//! A. Broder, "On the resemblance and containment of documents" (1997); banding after Leskovec,
//! Rajaraman, Ullman, "Mining of Massive Datasets", chapter 3.

use super::reading::{Reading, Token};

/// Bands per signature.
const BANDS: usize = 8;
/// Hashes per band: two sets of overlap J share a given band with probability J^3, and at least one
/// of eight with 1 - (1 - J^3)^8: .997 at J = .8, .86 at .6, .06 at .2.
const ROWS: usize = 3;
/// Most shingles that are hashed; of more, those with the smallest hashes stand for all, which picks
/// the same ones from similar texts.
const MAX_SHINGLES: usize = 4096;

/// The band hashes of a reading: the text's first, then those of its frame.
pub(super) fn bands(reading: &Reading) -> Vec<u64> {
    let mut all = of_shingles(&shingles(reading.tokens.iter()), 0);
    all.extend(of_shingles(&shingles(reading.frame()), BANDS as u64));
    all
}

/// Distinct words and pairs of neighbouring words, hashed.
pub(super) fn shingles<'a>(tokens: impl Iterator<Item = &'a Token>) -> Vec<u64> {
    let mut hashes = Vec::new();
    let mut before = None;
    for token in tokens {
        let word = token.hash;
        hashes.push(word);
        if let Some(before) = before {
            hashes.push(mix(before ^ word.rotate_left(31)));
        }
        before = Some(word);
    }
    hashes.sort_unstable();
    hashes.dedup();
    hashes.truncate(MAX_SHINGLES);
    hashes
}

/// Bands of a set of shingles, numbered from `first` so that equal hashes in different bands stay apart.
pub(super) fn of_shingles(shingles: &[u64], first: u64) -> Vec<u64> {
    if shingles.is_empty() {
        return Vec::new();
    }
    let mut signature = [u64::MAX; BANDS * ROWS];
    for shingle in shingles {
        for (slot, seed) in signature.iter_mut().zip(1_u64..) {
            *slot = (*slot).min(mix(shingle.wrapping_add(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))));
        }
    }
    let bands = signature.chunks_exact(ROWS).zip(first..);
    bands.map(|(rows, number)| rows.iter().fold(mix(number), |hash, row| mix(hash ^ row))).collect()
}

/// FNV-1a, then mixed. Stable across versions and machines, since bands are stored.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let fnv = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    mix(fnv)
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sets of distinct random numbers with `shared` members in common and `own` each.
    fn sets(round: u64, shared: u64, own: u64) -> (Vec<u64>, Vec<u64>) {
        let number = |i: u64| mix(round.wrapping_mul(1_000_003).wrapping_add(i));
        let a = (0..shared + own).map(number).collect();
        let b = (0..shared).chain(shared + own..shared + 2 * own).map(number).collect();
        (a, b)
    }

    fn found(shared: u64, own: u64) -> f64 {
        let rounds = 2000;
        let hit = |round: &u64| {
            let (a, b) = sets(*round, shared, own);
            of_shingles(&a, 0).iter().zip(of_shingles(&b, 0)).any(|(a, b)| *a == b)
        };
        (0..rounds).filter(hit).count() as f64 / rounds as f64
    }

    #[test]
    fn an_overlap_of_four_fifths_is_found() {
        let at_80 = found(40, 5); // 40 / 50
        let at_90 = found(90, 5); // 90 / 100
        let at_20 = found(20, 40); // 20 / 100
        println!("found at J=.8: {at_80:.4}, at .9: {at_90:.4}, at .2: {at_20:.4}");
        assert!(at_80 >= 0.985, "{at_80}");
        assert!(at_90 >= 0.99, "{at_90}");
        assert!(at_20 <= 0.1, "{at_20}");
    }
}
