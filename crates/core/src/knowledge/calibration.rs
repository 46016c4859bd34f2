//! Where a vault's cosines fall apart into alike and unlike, so that thresholds fit the texts it holds.

/// Fewer sections, or fewer pairs of them, say nothing.
const MIN_SECTIONS: usize = 25;
const MIN_PAIRS: usize = 30;
/// The cosines that are counted, and in how many bins.
const FROM: f64 = 0.40;
const TO: f64 = 0.92;
const BINS: usize = 24;
const MIN_IN_RANGE: usize = 20;
const MIN_PER_HALF: usize = 5;
/// A valley is deeper than this share of its flanks.
const DEPTH: f64 = 0.85;
/// Bins at either end that are no valley.
const EDGE: usize = 3;

/// Cosines from which on two sections are skipped, fused or merged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// The valley between unlike and alike.
    pub valley: f64,
    /// From here on one text for both is asked for.
    pub fuse: f64,
    /// From here on lines are merged.
    pub merge: f64,
    /// From here on it is the same.
    pub skip: f64,
}

/// Why no thresholds can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Uncalibrated {
    /// Too few sections.
    #[error("{0} sections, and {MIN_SECTIONS} are needed")]
    FewSections(usize),
    /// Too few pairs of them, or too few that are neither far apart nor the same.
    #[error("{0} pairs tell something, and {MIN_PAIRS} are needed")]
    FewPairs(usize),
    /// All pairs are about equally like.
    #[error("the cosines do not fall apart into alike and unlike")]
    NoValley,
}

/// Finds the valley in the cosines of all pairs of `sections` sections.
///
/// # Errors
/// [`Uncalibrated`] when they say too little; then the defaults hold.
pub fn calibrate(sections: usize, cosines: &[f64]) -> Result<Thresholds, Uncalibrated> {
    if sections < MIN_SECTIONS {
        return Err(Uncalibrated::FewSections(sections));
    }
    if cosines.len() < MIN_PAIRS {
        return Err(Uncalibrated::FewPairs(cosines.len()));
    }
    let width = (TO - FROM) / BINS as f64;
    let mut bins = [0_usize; BINS];
    for cosine in cosines.iter().filter(|cosine| (FROM..TO).contains(*cosine)) {
        bins[(((cosine - FROM) / width) as usize).min(BINS - 1)] += 1;
    }
    let (low, high) = bins.split_at(BINS / 2);
    let (low, high): (usize, usize) = (low.iter().sum(), high.iter().sum());
    if low + high < MIN_IN_RANGE || low.min(high) < MIN_PER_HALF {
        return Err(Uncalibrated::FewPairs(low + high));
    }
    let at = (EDGE..BINS - EDGE).min_by_key(|at| bins[*at]).ok_or(Uncalibrated::NoValley)?;
    let mean = |part: &[usize]| part.iter().sum::<usize>() as f64 / part.len() as f64;
    let flank = f64::midpoint(mean(&bins[..at]), mean(&bins[at + 1..]));
    if bins[at] as f64 >= DEPTH * flank {
        return Err(Uncalibrated::NoValley);
    }
    let valley = FROM + (at as f64 + 0.5) * width;
    let fuse = valley.clamp(0.60, 0.90);
    Ok(Thresholds { valley, fuse, merge: (fuse - 0.17).max(0.40), skip: 0.95 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_valley_between_two_hills_is_found() {
        let hill = |around: f64| (0..200).map(move |n| around + f64::from(n % 21 - 10) * 0.01);
        let cosines: Vec<f64> = hill(0.5).chain(hill(0.85)).collect();
        let found = calibrate(40, &cosines).expect("there is a valley");
        assert!((0.60..=0.76).contains(&found.valley), "{found:?}");
        assert!((found.fuse - found.merge - 0.17).abs() < 1e-9 && found.skip == 0.95);
        assert_eq!(calibrate(24, &cosines), Err(Uncalibrated::FewSections(24)));
        assert_eq!(calibrate(40, &cosines[..29]), Err(Uncalibrated::FewPairs(29)));
        let flat: Vec<f64> = (0..2400).map(|n| 0.40 + f64::from(n) * 0.52 / 2400.0).collect();
        assert_eq!(calibrate(40, &flat), Err(Uncalibrated::NoValley));
        assert_eq!(calibrate(40, &[0.1; 60]), Err(Uncalibrated::FewPairs(0)));
        assert_eq!(calibrate(40, &[f64::NAN; 60]), Err(Uncalibrated::FewPairs(0)));
    }
}
