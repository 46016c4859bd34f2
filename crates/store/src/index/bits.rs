//! A set of slots, one bit each.

/// Which slots are in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Bits {
    words: Vec<u64>,
    length: usize,
}

impl Bits {
    /// The slots below `length` for which `inside` holds.
    pub(crate) fn of(length: usize, inside: impl Fn(usize) -> bool) -> Self {
        let mut bits = Self::default();
        (0..length).for_each(|slot| bits.push(inside(slot)));
        bits
    }

    pub(crate) fn push(&mut self, inside: bool) {
        if self.length.is_multiple_of(64) {
            self.words.push(0);
        }
        if let Some(word) = self.words.last_mut() {
            *word |= u64::from(inside) << (self.length % 64);
        }
        self.length += 1;
    }

    #[inline]
    pub(crate) fn contains(&self, slot: u32) -> bool {
        self.words.get(slot as usize / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        if let Some(word) = self.words.get_mut(slot as usize / 64) {
            *word &= !(1 << (slot % 64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_come_and_go() {
        let mut bits = Bits::of(130, |slot| slot % 3 == 0);
        assert!(bits.contains(0) && bits.contains(129) && !bits.contains(1));
        assert!(!bits.contains(130) && !bits.contains(u32::MAX));
        bits.remove(129);
        bits.push(true);
        assert!(!bits.contains(129) && bits.contains(130));
    }
}
