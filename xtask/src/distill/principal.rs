//! Principal component analysis: the directions in which the encoder's outputs differ most.

/// The rows of `outputs` (`width` components each), less their mean weighted by `frequencies`, turned onto
/// their `kept` directions of largest variance, largest first.
///
/// The weighted mean is what running text has in common, so that a text's vector is what sets it apart.
/// A direction's sign is arbitrary in theory; here its largest component is positive.
pub(super) fn reduce(outputs: &[f32], width: usize, frequencies: &[f64], kept: usize) -> Vec<Vec<f32>> {
    let mean = mean(outputs, width, frequencies);
    let centred: Vec<f64> = outputs
        .chunks_exact(width)
        .flat_map(|row| row.iter().zip(&mean).map(|(&x, m)| f64::from(x) - m))
        .collect();
    let directions = directions(covariance(&centred, width), width);
    let project = |row: &[f64]| {
        directions.iter().take(kept).map(|direction| product(row, direction) as f32).collect::<Vec<f32>>()
    };
    centred.chunks_exact(width).map(project).collect()
}

fn mean(outputs: &[f32], width: usize, frequencies: &[f64]) -> Vec<f64> {
    let mut mean = vec![0.0; width];
    for (row, frequency) in outputs.chunks_exact(width).zip(frequencies) {
        mean.iter_mut().zip(row).for_each(|(sum, &x)| *sum += frequency * f64::from(x));
    }
    let total: f64 = frequencies.iter().sum();
    mean.iter_mut().for_each(|sum| *sum /= total);
    mean
}

fn covariance(centred: &[f64], width: usize) -> Vec<f64> {
    let mut sums = vec![0.0; width * width];
    for row in centred.chunks_exact(width) {
        for (x, sums) in row.iter().zip(sums.chunks_exact_mut(width)) {
            sums.iter_mut().zip(row).for_each(|(sum, y)| *sum += x * y);
        }
    }
    let rows = (centred.len() / width).max(1) as f64;
    sums.iter_mut().for_each(|sum| *sum /= rows);
    sums
}

/// Unit eigenvectors of a symmetric matrix, by falling eigenvalue.
fn directions(mut matrix: Vec<f64>, width: usize) -> Vec<Vec<f64>> {
    let vectors = diagonalise(&mut matrix, width);
    let mut order: Vec<usize> = (0..width).collect();
    order.sort_by(|&a, &b| matrix[b * width + b].total_cmp(&matrix[a * width + a]));
    order.into_iter().map(|number| oriented(&vectors[number * width..][..width])).collect()
}

fn oriented(direction: &[f64]) -> Vec<f64> {
    let peak = direction.iter().fold(0.0_f64, |peak, &x| if x.abs() > peak.abs() { x } else { peak });
    direction.iter().map(|x| x * peak.signum()).collect()
}

/// Jacobi's method with cyclic sweeps (Golub and Van Loan, Matrix Computations, 8.5): turns `matrix`
/// into a diagonal of eigenvalues and gives the eigenvectors, one per row.
fn diagonalise(matrix: &mut [f64], width: usize) -> Vec<f64> {
    /// Far more than the ten or so that are needed; a bound for hostile numbers only.
    const SWEEPS: usize = 60;
    let mut vectors = vec![0.0; width * width];
    (0..width).for_each(|i| vectors[i * width + i] = 1.0);
    let total: f64 = matrix.iter().map(|x| x * x).sum();
    for _ in 0..SWEEPS {
        let off: f64 = (0..width)
            .flat_map(|p| (p + 1..width).map(move |q| (p, q)))
            .map(|(p, q)| matrix[p * width + q] * matrix[p * width + q])
            .sum();
        if off <= total * 1e-28 {
            break;
        }
        for p in 0..width {
            for q in p + 1..width {
                rotate(matrix, &mut vectors, width, p, q);
            }
        }
    }
    vectors
}

/// One rotation, which makes the elements (p, q) and (q, p) zero.
fn rotate(matrix: &mut [f64], vectors: &mut [f64], width: usize, p: usize, q: usize) {
    let off = matrix[p * width + q];
    if off == 0.0 {
        return;
    }
    let theta = (matrix[q * width + q] - matrix[p * width + p]) / (2.0 * off);
    let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    for row in 0..width {
        turn(matrix, row * width + p, row * width + q, cosine, sine);
    }
    for column in 0..width {
        turn(matrix, p * width + column, q * width + column, cosine, sine);
        turn(vectors, p * width + column, q * width + column, cosine, sine);
    }
}

fn turn(values: &mut [f64], a: usize, b: usize, cosine: f64, sine: f64) {
    let (x, y) = (values[a], values[b]);
    values[a] = cosine * x - sine * y;
    values[b] = sine * x + cosine * y;
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvectors_reproduce_the_matrix_and_are_orthonormal() {
        let width = 12;
        let entry =
            |i: usize, j: usize| ((i * j + i + j) % 11) as f64 - 4.0 + if i == j { i as f64 } else { 0.0 };
        let matrix: Vec<f64> = (0..width * width).map(|n| entry(n / width, n % width)).collect();
        let mut diagonal = matrix.clone();
        let vectors = diagonalise(&mut diagonal, width);
        for i in 0..width {
            let vector = &vectors[i * width..][..width];
            for j in 0..width {
                let image = product(&matrix[j * width..][..width], vector);
                assert!((image - diagonal[i * width + i] * vector[j]).abs() < 1e-9);
                let unit = product(vector, &vectors[j * width..][..width]);
                assert!((unit - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn the_direction_of_largest_variance_comes_first_and_points_up() {
        // Points near the line y = -2x, far along it and little beside it.
        let points: Vec<f32> = (-20_i16..=20)
            .flat_map(|n| {
                let (along, beside) = (f32::from(n), f32::from(n % 3) * 0.01);
                [5.0 + along + 2.0 * beside, 7.0 - 2.0 * along + beside]
            })
            .collect();
        let rows = reduce(&points, 2, &[1.0; 41], 1);
        assert_eq!((rows.len(), rows[0].len()), (41, 1));
        // The larger component of the direction is y's, so it points to rising y, that is falling n.
        assert!(rows.windows(2).all(|pair| pair[0][0] > pair[1][0]));
        assert!((rows[0][0] - rows[40][0] - 40.0 * 5.0_f32.sqrt()).abs() < 0.1);
        assert!(rows[20][0].abs() < 0.1, "the middle is at 0");
        let mut only_first = [0.0; 41];
        only_first[0] = 3.0;
        assert_eq!(reduce(&points, 2, &only_first, 1)[0][0], 0.0, "the weighted mean is at 0");
    }
}
