//! The encoder of all-MiniLM-L6-v2 (BERT, 6 layers, 384 wide, 12 heads), for texts of one entry.
//!
//! Every text is `[CLS] entry [SEP]`: three positions, so attention is three by three and the work is
//! in the linear layers, which run over many texts at once.

use super::DistillError;
use super::safetensors::Tensors;

/// Components of an output.
pub(super) const WIDTH: usize = 384;

const LAYERS: usize = 6;
const HEADS: usize = 12;
const HEAD: usize = WIDTH / HEADS;
const INNER: usize = 4 * WIDTH;
const VOCABULARY: usize = 30_522;
const POSITIONS: usize = 512;
const CLS: u32 = 101;
const SEP: u32 = 102;
/// Positions of one text.
const LENGTH: usize = 3;
/// Texts that go through the layers together.
const BATCH: usize = 64;

/// The weights, ready to run.
pub(super) struct Encoder {
    words: Vec<f32>,
    positions: Vec<f32>,
    segment: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    attention_norm: Norm,
    expand: Linear,
    contract: Linear,
    norm: Norm,
}

impl Encoder {
    /// Takes the weights out of a checkpoint.
    pub(super) fn read(tensors: &Tensors<'_>) -> Result<Self, DistillError> {
        let mut segment = tensors.f32("embeddings.token_type_embeddings.weight", &[2, WIDTH])?;
        segment.truncate(WIDTH);
        Ok(Self {
            words: tensors.f32("embeddings.word_embeddings.weight", &[VOCABULARY, WIDTH])?,
            positions: tensors.f32("embeddings.position_embeddings.weight", &[POSITIONS, WIDTH])?,
            segment,
            norm: Norm::read(tensors, "embeddings.LayerNorm")?,
            layers: (0..LAYERS).map(|layer| Layer::read(tensors, layer)).collect::<Result<_, _>>()?,
        })
    }

    /// The output in the place of `id` in `[CLS] id [SEP]`, for each id, [`WIDTH`] components each, in the
    /// order given.
    ///
    /// The work is shared among the machine's cores; the result does not depend on how.
    pub(super) fn embed_alone(&self, ids: &[u32]) -> Vec<f32> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let share = ids.len().div_ceil(threads).next_multiple_of(BATCH).max(BATCH);
        std::thread::scope(|scope| {
            let workers: Vec<_> = ids
                .chunks(share)
                .map(|part| {
                    scope.spawn(move || {
                        part.chunks(BATCH).flat_map(|ids| self.batch(ids)).collect::<Vec<f32>>()
                    })
                })
                .collect();
            let join = |worker: std::thread::ScopedJoinHandle<'_, _>| match worker.join() {
                Ok(outputs) => outputs,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            workers.into_iter().flat_map(join).collect()
        })
    }

    fn batch(&self, ids: &[u32]) -> Vec<f32> {
        let mut states = Vec::with_capacity(ids.len() * LENGTH * WIDTH);
        for &id in ids {
            for (position, token) in [CLS, id, SEP].into_iter().enumerate() {
                let word = &self.words[token as usize * WIDTH..][..WIDTH];
                let place = &self.positions[position * WIDTH..][..WIDTH];
                states.extend(word.iter().zip(place).zip(&self.segment).map(|((w, p), s)| w + p + s));
            }
        }
        self.norm.apply(&mut states);
        for layer in &self.layers {
            layer.apply(&mut states);
        }
        states.chunks_exact(LENGTH * WIDTH).flat_map(|text| text[WIDTH..2 * WIDTH].iter().copied()).collect()
    }
}

impl Layer {
    fn read(tensors: &Tensors<'_>, layer: usize) -> Result<Self, DistillError> {
        let linear = |name: &str, from: usize, to: usize| {
            Linear::read(tensors, &format!("encoder.layer.{layer}.{name}"), from, to)
        };
        let norm = |name: &str| Norm::read(tensors, &format!("encoder.layer.{layer}.{name}.LayerNorm"));
        Ok(Self {
            query: linear("attention.self.query", WIDTH, WIDTH)?,
            key: linear("attention.self.key", WIDTH, WIDTH)?,
            value: linear("attention.self.value", WIDTH, WIDTH)?,
            output: linear("attention.output.dense", WIDTH, WIDTH)?,
            attention_norm: norm("attention.output")?,
            expand: linear("intermediate.dense", WIDTH, INNER)?,
            contract: linear("output.dense", INNER, WIDTH)?,
            norm: norm("output")?,
        })
    }

    fn apply(&self, states: &mut [f32]) {
        let (query, key, value) =
            (self.query.apply(states), self.key.apply(states), self.value.apply(states));
        let mut mixed = vec![0.0; states.len()];
        for text in (0..states.len()).step_by(LENGTH * WIDTH) {
            for head in (0..WIDTH).step_by(HEAD) {
                attend(&query, &key, &value, &mut mixed, text + head);
            }
        }
        add(states, &self.output.apply(&mixed));
        self.attention_norm.apply(states);
        let mut inner = self.expand.apply(states);
        inner.iter_mut().for_each(|x| *x = gelu(*x));
        add(states, &self.contract.apply(&inner));
        self.norm.apply(states);
    }
}

/// Attention of one head within one text, whose first component is at `start`.
fn attend(query: &[f32], key: &[f32], value: &[f32], mixed: &mut [f32], start: usize) {
    let at = |position: usize| start + position * WIDTH..start + position * WIDTH + HEAD;
    for from in 0..LENGTH {
        let mut weights = [0.0_f32; LENGTH];
        for (to, weight) in weights.iter_mut().enumerate() {
            let products = query[at(from)].iter().zip(&key[at(to)]).map(|(q, k)| q * k);
            *weight = products.sum::<f32>() / (HEAD as f32).sqrt();
        }
        let peak = weights.iter().fold(f32::MIN, |peak, &weight| peak.max(weight));
        weights.iter_mut().for_each(|weight| *weight = exp(*weight - peak));
        let total: f32 = weights.iter().sum();
        for (to, weight) in weights.iter().enumerate() {
            for (sum, x) in mixed[at(from)].iter_mut().zip(&value[at(to)]) {
                *sum += weight / total * x;
            }
        }
    }
}

/// A linear layer. Weights lie in panels of [`Linear::PANEL`] outputs, inputs outermost, so that the
/// inner loop reads them in order.
struct Linear {
    inputs: usize,
    panels: Vec<[f32; Self::PANEL]>,
    bias: Vec<f32>,
}

impl Linear {
    const PANEL: usize = 8;
    const ROWS: usize = 4;

    fn read(tensors: &Tensors<'_>, name: &str, inputs: usize, outputs: usize) -> Result<Self, DistillError> {
        let weights = tensors.f32(&format!("{name}.weight"), &[outputs, inputs])?;
        let bias = tensors.f32(&format!("{name}.bias"), &[outputs])?;
        Ok(Self::new(&weights, bias, inputs))
    }

    /// From weights with one row per output; the outputs must be a multiple of [`Linear::PANEL`].
    fn new(weights: &[f32], bias: Vec<f32>, inputs: usize) -> Self {
        let mut panels = vec![[0.0; Self::PANEL]; weights.len() / Self::PANEL];
        for (output, row) in weights.chunks_exact(inputs).enumerate() {
            for (input, &weight) in row.iter().enumerate() {
                panels[output / Self::PANEL * inputs + input][output % Self::PANEL] = weight;
            }
        }
        Self { inputs, panels, bias }
    }

    fn apply(&self, states: &[f32]) -> Vec<f32> {
        let outputs = self.bias.len();
        let mut result = vec![0.0; states.len() / self.inputs * outputs];
        let block = Self::ROWS * self.inputs;
        let whole = states.len() / block * block;
        for (panel, weights) in self.panels.chunks_exact(self.inputs).enumerate() {
            let column = panel * Self::PANEL;
            for (number, rows) in states[..whole].chunks_exact(block).enumerate() {
                let sums = self.block::<{ Self::ROWS }>(rows, weights, column);
                for (row, sums) in sums.iter().enumerate() {
                    result[(number * Self::ROWS + row) * outputs + column..][..Self::PANEL]
                        .copy_from_slice(sums);
                }
            }
            for (number, row) in states[whole..].chunks_exact(self.inputs).enumerate() {
                let [sums] = self.block::<1>(row, weights, column);
                let row = whole / self.inputs + number;
                result[row * outputs + column..][..Self::PANEL].copy_from_slice(&sums);
            }
        }
        result
    }

    /// One panel of outputs for `R` rows. Each output sums over the inputs in order, whatever `R` is.
    #[inline(always)]
    fn block<const R: usize>(
        &self,
        rows: &[f32],
        weights: &[[f32; Self::PANEL]],
        column: usize,
    ) -> [[f32; Self::PANEL]; R] {
        let mut sums = [[0.0; Self::PANEL]; R];
        for sums in &mut sums {
            sums.copy_from_slice(&self.bias[column..column + Self::PANEL]);
        }
        for (input, weights) in weights.iter().enumerate() {
            for (row, sums) in sums.iter_mut().enumerate() {
                let x = rows[row * self.inputs + input];
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum += x * weight;
                }
            }
        }
        sums
    }
}

/// Layer normalisation.
struct Norm {
    gain: Vec<f32>,
    bias: Vec<f32>,
}

impl Norm {
    const EPSILON: f32 = 1e-12;

    fn read(tensors: &Tensors<'_>, name: &str) -> Result<Self, DistillError> {
        Ok(Self {
            gain: tensors.f32(&format!("{name}.weight"), &[WIDTH])?,
            bias: tensors.f32(&format!("{name}.bias"), &[WIDTH])?,
        })
    }

    fn apply(&self, states: &mut [f32]) {
        for state in states.chunks_exact_mut(WIDTH) {
            let mean = state.iter().sum::<f32>() / WIDTH as f32;
            let variance = state.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / WIDTH as f32;
            let scale = 1.0 / (variance + Self::EPSILON).sqrt();
            for ((x, gain), bias) in state.iter_mut().zip(&self.gain).zip(&self.bias) {
                *x = (*x - mean) * scale * gain + bias;
            }
        }
    }
}

fn add(states: &mut [f32], change: &[f32]) {
    states.iter_mut().zip(change).for_each(|(state, change)| *state += change);
}

/// The Gaussian error linear unit, with erf.
fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// The error function by Abramowitz and Stegun 7.1.26; absolute error below 2e-7.
fn erf(x: f32) -> f32 {
    const COEFFICIENTS: [f32; 5] = [1.061_405_4, -1.453_152_1, 1.421_413_8, -0.284_496_72, 0.254_829_6];
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let polynomial = COEFFICIENTS.iter().fold(0.0, |sum, coefficient| sum * t + coefficient) * t;
    (1.0 - polynomial * exp(-x * x)).copysign(x)
}

/// e^x as 2^n * 2^f with |f| <= 1/2, the second factor by its Taylor series; relative error below 5e-7.
fn exp(x: f32) -> f32 {
    /// ln(2)^n / n! for n from 7 down to 0.
    const COEFFICIENTS: [f32; 8] = [
        1.525_273_4e-5,
        1.540_353e-4,
        1.333_355_8e-3,
        9.618_129e-3,
        5.550_411e-2,
        0.240_226_5,
        std::f32::consts::LN_2,
        1.0,
    ];
    /// Adding and subtracting it rounds to the nearest integer.
    const ROUNDING: f32 = 12_582_912.0;
    let exponent = x.clamp(-87.0, 88.0) * std::f32::consts::LOG2_E;
    let whole = (exponent + ROUNDING) - ROUNDING;
    let fraction = exponent - whole;
    let power = COEFFICIENTS.iter().fold(0.0, |sum, coefficient| sum * fraction + coefficient);
    power * f32::from_bits(((whole as i32 + 127) << 23).cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_and_erf_are_accurate_where_the_encoder_uses_them() {
        for step in -8_000..=800 {
            let x = step as f32 / 100.0;
            let exact = f64::from(x).exp();
            assert!((f64::from(exp(x)) / exact - 1.0).abs() < 5e-6, "exp({x})");
        }
        // Values from Abramowitz and Stegun, table 7.1.
        for (x, exact) in [(0.0, 0.0), (0.5, 0.520_499_9), (1.0, 0.842_700_8), (2.0, 0.995_322_3), (4.0, 1.0)]
        {
            assert!((erf(x) - exact).abs() < 5e-7, "erf({x}) = {}", erf(x));
            assert!((erf(-x) + exact).abs() < 5e-7);
        }
        assert_eq!(gelu(0.0), 0.0);
        assert!((gelu(1.0) - 0.841_344_8).abs() < 1e-6 && gelu(-10.0).abs() < 1e-6);
    }

    #[test]
    fn a_linear_layer_is_its_definition_for_any_number_of_rows() {
        let (inputs, outputs) = (5, 16);
        let weights: Vec<f32> = (0..inputs * outputs).map(|n| (n % 7) as f32 - 3.0).collect();
        let bias: Vec<f32> = (0..outputs).map(|n| n as f32).collect();
        let layer = Linear::new(&weights, bias.clone(), inputs);
        for rows in 1..11 {
            let states: Vec<f32> = (0..rows * inputs).map(|n| (n % 5) as f32 - 2.0).collect();
            let result = layer.apply(&states);
            for (row, output) in (0..rows).flat_map(|row| (0..outputs).map(move |output| (row, output))) {
                let expected: f32 = (0..inputs)
                    .map(|input| states[row * inputs + input] * weights[output * inputs + input])
                    .sum::<f32>()
                    + bias[output];
                assert_eq!(result[row * outputs + output], expected);
            }
        }
    }

    #[test]
    fn attention_to_equal_keys_is_the_mean_of_the_values() {
        let size = LENGTH * WIDTH;
        let value: Vec<f32> = (0..size).map(|n| (n / WIDTH) as f32).collect();
        let mut mixed = vec![0.0; size];
        attend(&vec![1.0; size], &vec![0.5; size], &value, &mut mixed, HEAD);
        assert!(mixed[HEAD..2 * HEAD].iter().all(|x| (x - 1.0).abs() < 1e-6));
        assert!(mixed[..HEAD].iter().all(|&x| x == 0.0), "other heads are untouched");
    }
}
