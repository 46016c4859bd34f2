//! Int8 vectors: quantisation, dot products and a linear scan over a contiguous matrix.
//!
//! A vector is kept as signed bytes and one `f32` scale: `x[i] ~ q[i] * scale`, with
//! `scale = max|x| / 127` (symmetric, per vector). Dot products are exact integers, so every code path
//! and every machine gives the same score and the same order. The cosine of two unit vectors is
//! [`cosine`]`(dot, scale_a, scale_b)`.

/// The largest magnitude of a quantised component.
const LARGEST: f32 = 127.0;

/// A query, a matrix and a dimension that do not belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a query of {query} components and a matrix of {matrix} do not fit dimension {dimension}")]
pub struct ShapeMismatch {
    /// Components of the query.
    pub query: usize,
    /// Components of the whole matrix.
    pub matrix: usize,
    /// The dimension both were said to have.
    pub dimension: usize,
}

impl ShapeMismatch {
    /// What sort of failure this is: vectors of another model reached this search.
    pub const fn kind(&self) -> crate::error::ErrorKind {
        crate::error::ErrorKind::Internal
    }

    /// The next action.
    pub const fn hint(&self) -> &'static str {
        "rebuild the vectors with `strata reindex`"
    }
}

/// Dot products of `query` with every row of the row-major `matrix`, in row order, into `out`
/// (cleared first). Uses AVX2 where the processor has it; the results are the same without.
///
/// # Errors
/// [`ShapeMismatch`] when the dimension is 0, the query has another length, or the matrix is not a
/// whole number of rows; `out` is then empty.
pub fn scan(query: &[i8], matrix: &[i8], dimension: usize, out: &mut Vec<i32>) -> Result<(), ShapeMismatch> {
    out.clear();
    if dimension == 0 || query.len() != dimension || !matrix.len().is_multiple_of(dimension) {
        return Err(ShapeMismatch { query: query.len(), matrix: matrix.len(), dimension });
    }
    out.reserve(matrix.len() / dimension);
    scan_rows(query, matrix, out);
    Ok(())
}

/// The dot product of two int8 vectors of one length; of unequal vectors, that of the common part.
///
/// The sum is exact up to 131 071 components and wraps beyond.
pub fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).fold(0_i32, |sum, (&x, &y)| sum.wrapping_add(i32::from(x) * i32::from(y)))
}

/// Quantises a vector to int8: the bytes and the scale with `x[i] ~ q[i] * scale`.
///
/// The error of a component is at most half a scale. Components that are not finite count as 0; a
/// vector without a finite non-zero component gives zeros and scale 0.
pub fn quantize(vector: &[f32]) -> (Vec<i8>, f32) {
    let finite = |x: f32| if x.is_finite() { x } else { 0.0 };
    let peak = vector.iter().fold(0.0_f32, |peak, &x| peak.max(finite(x).abs()));
    let scale = peak / LARGEST;
    if scale == 0.0 {
        return (vec![0; vector.len()], 0.0);
    }
    let quantised = vector.iter().map(|&x| (finite(x) / scale).round().clamp(-LARGEST, LARGEST) as i8);
    (quantised.collect(), scale)
}

/// The cosine of two unit vectors from the dot product of their int8 forms and their scales.
pub fn cosine(dot: i32, scale_a: f32, scale_b: f32) -> f32 {
    // In f64, because an i32 does not fit an f32's mantissa.
    (f64::from(dot) * f64::from(scale_a) * f64::from(scale_b)) as f32
}

#[cfg(target_arch = "x86_64")]
fn scan_rows(query: &[i8], matrix: &[i8], out: &mut Vec<i32>) {
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "the only way to reach code compiled for AVX2 from a portable binary")]
        // SAFETY: the processor was just found to have AVX2, the only feature `scan_rows_avx2` needs;
        // its body is safe code.
        unsafe {
            scan_rows_avx2(query, matrix, out);
        }
    } else {
        scan_rows_portable(query, matrix, out);
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn scan_rows(query: &[i8], matrix: &[i8], out: &mut Vec<i32>) {
    scan_rows_portable(query, matrix, out);
}

/// The same loop, compiled for 256-bit registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn scan_rows_avx2(query: &[i8], matrix: &[i8], out: &mut Vec<i32>) {
    scan_rows_portable(query, matrix, out);
}

/// Plain loops on purpose: a library adapter that is not inlined here would be compiled once for every
/// processor, without the registers that the caller was compiled for.
#[inline(always)]
fn scan_rows_portable(query: &[i8], matrix: &[i8], out: &mut Vec<i32>) {
    // Widened once: the inner loop then multiplies 16-bit pairs, which vector units do directly.
    let mut wide = Vec::with_capacity(query.len());
    for x in query {
        wide.push(i16::from(*x));
    }
    for row in matrix.chunks_exact(query.len()) {
        let mut sum = 0_i32;
        for (x, y) in wide.iter().zip(row) {
            sum = sum.wrapping_add(i32::from(*x) * i32::from(i16::from(*y)));
        }
        out.push(sum);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unit(vector: &[f32]) -> Vec<f32> {
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter().map(|x| x / norm).collect()
    }

    #[test]
    fn extremes_do_not_overflow_or_saturate() {
        for dimension in [1, 15, 16, 17, 256, 384, 1024] {
            let low = vec![-128_i8; dimension];
            let high = vec![127_i8; dimension];
            assert_eq!(dot(&low, &low), 16_384 * dimension as i32);
            assert_eq!(dot(&low, &high), -16_256 * dimension as i32);
            let mut out = vec![7];
            scan(&low, &[low.clone(), high.clone()].concat(), dimension, &mut out).unwrap();
            assert_eq!(out, [16_384 * dimension as i32, -16_256 * dimension as i32]);
        }
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused_and_leave_nothing() {
        let mut out = vec![1, 2, 3];
        for (query, matrix, dimension) in [(0, 0, 0), (4, 8, 0), (4, 8, 3), (3, 8, 4), (4, 9, 4)] {
            let error = scan(&vec![1; query], &vec![1; matrix], dimension, &mut out).unwrap_err();
            assert_eq!(error, ShapeMismatch { query, matrix, dimension });
            assert!(out.is_empty());
        }
        scan(&[1, 2], &[], 2, &mut out).unwrap();
        assert!(out.is_empty());
    }

    #[test]
    fn hostile_components_quantise_to_something_finite() {
        assert_eq!(quantize(&[]), (vec![], 0.0));
        assert_eq!(quantize(&[0.0, -0.0]), (vec![0, 0], 0.0));
        assert_eq!(quantize(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY]), (vec![0, 0, 0], 0.0));
        let (bytes, scale) = quantize(&[f32::MAX, f32::NAN, f32::MIN]);
        assert_eq!((bytes, scale.is_finite()), (vec![127, 0, -127], true));
        let (bytes, scale) = quantize(&[f32::from_bits(1), 0.0]);
        assert!(bytes.len() == 2 && scale.is_finite());
    }

    proptest! {
        #[test]
        fn every_path_gives_the_same_integers(
            dimension in 1_usize..80,
            bytes in proptest::collection::vec(any::<i8>(), 80..2_000),
        ) {
            let (query, rest) = bytes.split_at(dimension);
            let matrix = &rest[..rest.len() / dimension * dimension];
            let plain: Vec<i32> = matrix.chunks_exact(dimension).map(|row| dot(query, row)).collect();
            let mut portable = Vec::new();
            scan_rows_portable(query, matrix, &mut portable);
            let mut dispatched = Vec::new();
            scan(query, matrix, dimension, &mut dispatched).unwrap();
            prop_assert_eq!(&portable, &plain);
            prop_assert_eq!(&dispatched, &plain);
        }

        #[test]
        fn a_component_is_off_by_at_most_half_a_scale(vector in proptest::collection::vec(-1e3_f32..1e3, 1..400)) {
            let (bytes, scale) = quantize(&vector);
            for (x, q) in vector.iter().zip(bytes) {
                prop_assert!((x - f32::from(q) * scale).abs() <= 0.5001 * scale);
            }
        }

        #[test]
        fn cosines_survive_quantisation(
            a in proptest::collection::vec(-1.0_f32..1.0, 256),
            b in proptest::collection::vec(-1.0_f32..1.0, 256),
        ) {
            let (a, b) = (unit(&a), unit(&b));
            let exact: f32 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            let ((qa, sa), (qb, sb)) = (quantize(&a), quantize(&b));
            prop_assert!((cosine(dot(&qa, &qb), sa, sb) - exact).abs() < 0.01);
        }
    }
}
