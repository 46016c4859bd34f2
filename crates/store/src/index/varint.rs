//! Variable-length integers: seven bits to a byte, low bits first, the high bit says "more follows".
//! Everything the index packs into BLOBs is made of these.

/// A cursor over packed bytes. Every read answers `None` past the end or on an overlong number,
/// so that a damaged BLOB is noticed and never panics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    #[inline]
    pub(crate) fn unsigned(&mut self) -> Option<u64> {
        let first = self.byte()?;
        if first < 128 {
            return Some(u64::from(first));
        }
        let mut value = u64::from(first & 127);
        let mut shift = 7;
        loop {
            let byte = self.byte()?;
            if shift == 63 && byte > 1 {
                return None;
            }
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(value);
            }
            shift += 7;
            if shift > 63 {
                return None;
            }
        }
    }

    #[inline]
    pub(crate) fn small(&mut self) -> Option<u32> {
        u32::try_from(self.unsigned()?).ok()
    }

    #[inline]
    pub(crate) fn signed(&mut self) -> Option<i64> {
        let zigzag = self.unsigned()?;
        Some((zigzag >> 1).cast_signed() ^ -((zigzag & 1).cast_signed()))
    }

    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }
}

pub(crate) fn put_unsigned(out: &mut Vec<u8>, mut value: u64) {
    while value >= 128 {
        out.push((value as u8) | 128);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Zigzag: small magnitudes of either sign stay short.
pub(crate) fn put_signed(out: &mut Vec<u8>, value: i64) {
    put_unsigned(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(values in prop::collection::vec((any::<u64>(), any::<i64>()), 0..50)) {
            let mut bytes = Vec::new();
            for (unsigned, signed) in &values {
                put_unsigned(&mut bytes, *unsigned);
                put_signed(&mut bytes, *signed);
            }
            let mut reader = Reader::new(&bytes);
            for (unsigned, signed) in values {
                prop_assert_eq!(reader.unsigned(), Some(unsigned));
                prop_assert_eq!(reader.signed(), Some(signed));
            }
            prop_assert!(reader.is_empty());
        }

        #[test]
        fn damaged_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut reader = Reader::new(&bytes);
            while reader.unsigned().is_some() {}
            prop_assert!(bytes.len() < 10 || reader.at > 0);
        }
    }

    #[test]
    fn an_overlong_number_is_refused() {
        assert_eq!(Reader::new(&[255; 11]).unsigned(), None);
        assert_eq!(Reader::new(&[128]).unsigned(), None);
        assert_eq!(Reader::new(&[0xff, 0xff, 0xff, 0xff, 0x7f]).small(), None);
    }
}
