//! The packed vectors of a block: one scale per slot, then the int8 rows.
//!
//! A scale above 0 belongs to a vector. 0 says that the text has none (the model gave nothing for it);
//! [`MISSING`] says that this set has not been asked for it yet.

/// The scale of a slot that waits for its vector.
pub(crate) const MISSING: f32 = -1.0;

/// An int8 vector: `x[i] ~ values[i] * scale`.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedVector {
    /// The components.
    pub values: Vec<i8>,
    /// The factor; 0 when the model has no vector for the text.
    pub scale: f32,
}

/// Vectors of adjacent slots, row-major.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VectorBlock {
    pub(crate) dimension: usize,
    pub(crate) scales: Vec<f32>,
    pub(crate) values: Vec<i8>,
}

impl VectorBlock {
    /// `slots` slots, all missing.
    pub(crate) fn missing(dimension: usize, slots: usize) -> Self {
        Self { dimension, scales: vec![MISSING; slots], values: vec![0; dimension * slots] }
    }

    pub(crate) fn slots(&self) -> usize {
        self.scales.len()
    }

    /// Appends a slot. A vector of another dimension counts as none.
    pub(crate) fn push(&mut self, vector: Option<&PackedVector>) {
        let slot = self.slots();
        self.scales.push(MISSING);
        self.values.resize(self.values.len() + self.dimension, 0);
        if let Some(vector) = vector {
            self.set(slot, vector);
        }
    }

    /// Fills `slot`, which must exist. A vector of another dimension counts as none.
    pub(crate) fn set(&mut self, slot: usize, vector: &PackedVector) {
        let fits = vector.values.len() == self.dimension && vector.scale > 0.0;
        self.scales[slot] = if fits { vector.scale } else { 0.0 };
        let row = &mut self.values[slot * self.dimension..(slot + 1) * self.dimension];
        if fits {
            row.copy_from_slice(&vector.values);
        } else {
            row.fill(0);
        }
    }

    /// Takes over `slot` as it is at `from` of a block of the same dimension.
    pub(crate) fn copy(&mut self, slot: usize, other: &Self, from: usize) {
        let Some(scale) = other.scales.get(from) else { return };
        self.scales[slot] = *scale;
        let row = |slot: usize| slot * self.dimension..(slot + 1) * self.dimension;
        let (to, from) = (row(slot), row(from));
        self.values[to].copy_from_slice(&other.values[from]);
    }

    pub(crate) fn missing_slots(&self) -> usize {
        self.scales.iter().filter(|scale| **scale < 0.0).count()
    }

    /// The BLOB: scales as little-endian `f32`, then the rows.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.scales.len() * (4 + self.dimension));
        self.scales.iter().for_each(|scale| out.extend_from_slice(&scale.to_le_bytes()));
        out.extend(self.values.iter().map(|value| value.cast_unsigned()));
        out
    }

    /// Reads a BLOB of `dimension`; `None` when its size is no whole number of slots.
    pub(crate) fn decode(bytes: &[u8], dimension: usize) -> Option<Self> {
        let width = 4 + dimension;
        if dimension == 0 || !bytes.len().is_multiple_of(width) {
            return None;
        }
        let (scales, values) = bytes.split_at(bytes.len() / width * 4);
        let scales = scales.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect();
        Some(Self { dimension, scales, values: values.iter().map(|value| value.cast_signed()).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blocks_come_back(
            dimension in 1_usize..40,
            slots in prop::collection::vec(prop::option::of((any::<[i8; 40]>(), 0.0_f32..2.0)), 0..30),
        ) {
            let mut block = VectorBlock::missing(dimension, 0);
            for slot in &slots {
                let vector = slot.as_ref().map(|(values, scale)| {
                    PackedVector { values: values[..dimension].to_vec(), scale: *scale }
                });
                block.push(vector.as_ref());
            }
            prop_assert_eq!(block.missing_slots(), slots.iter().filter(|slot| slot.is_none()).count());
            prop_assert_eq!(VectorBlock::decode(&block.encode(), dimension), Some(block));
        }
    }

    #[test]
    fn a_vector_of_another_dimension_is_none() {
        let mut block = VectorBlock::missing(2, 1);
        block.set(0, &PackedVector { values: vec![1, 2, 3], scale: 0.5 });
        assert_eq!((block.scales[0], block.missing_slots()), (0.0, 0));
        assert_eq!(VectorBlock::decode(&[0; 7], 2), None);
        assert_eq!(VectorBlock::decode(&[], 0), None);
    }
}
