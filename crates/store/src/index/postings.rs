//! The packed form of one term's postings in one segment, and of one passage's terms.
//!
//! A posting is (slot, how often the term occurs). Slots ascend and are written as distances; the
//! low bit of a distance says whether a count follows, because nearly every count is one. Passage
//! lengths are not repeated here: they are a column of the view.

use super::varint::{Reader, put_unsigned};

/// One occurrence record of a term: `slot` within the collection, `count` at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) slot: u32,
    pub(crate) count: u32,
}

/// Packs postings in ascending slot order as they arrive.
#[derive(Debug, Default)]
pub(crate) struct PostingWriter {
    bytes: Vec<u8>,
    next: u32,
}

impl PostingWriter {
    /// Adds a posting. `slot` must be above every slot added before.
    pub(crate) fn push(&mut self, posting: Posting) {
        debug_assert!(posting.slot >= self.next, "postings ascend");
        let distance = u64::from(posting.slot - self.next);
        let counted = posting.count > 1;
        put_unsigned(&mut self.bytes, (distance << 1) | u64::from(counted));
        if counted {
            put_unsigned(&mut self.bytes, u64::from(posting.count));
        }
        self.next = posting.slot + 1;
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Calls `each` for every posting in order. `None` when the bytes are damaged; a prefix may then
/// have been delivered.
pub(crate) fn for_each_posting(bytes: &[u8], mut each: impl FnMut(Posting)) -> Option<()> {
    let mut reader = Reader::new(bytes);
    let mut next: u32 = 0;
    while !reader.is_empty() {
        let head = reader.unsigned()?;
        let slot = next.checked_add(u32::try_from(head >> 1).ok()?)?;
        let count = if head & 1 == 1 { reader.small()? } else { 1 };
        each(Posting { slot, count });
        next = slot.checked_add(1)?;
    }
    Some(())
}

/// Packs a passage's terms and their counts.
pub(crate) fn encode_terms<'a>(terms: impl ExactSizeIterator<Item = (&'a str, u32)>) -> Vec<u8> {
    let mut out = Vec::with_capacity(terms.len() * 8);
    for (term, count) in terms {
        let counted = count > 1;
        put_unsigned(&mut out, ((term.len() as u64) << 1) | u64::from(counted));
        if counted {
            put_unsigned(&mut out, u64::from(count));
        }
        out.extend_from_slice(term.as_bytes());
    }
    out
}

/// Unpacks what [`encode_terms`] packed; `None` when the bytes are damaged.
pub(crate) fn for_each_term<'a>(bytes: &'a [u8], mut each: impl FnMut(&'a str, u32)) -> Option<()> {
    let mut reader = Reader::new(bytes);
    while !reader.is_empty() {
        let head = reader.unsigned()?;
        let count = if head & 1 == 1 { reader.small()? } else { 1 };
        let term = reader.take(usize::try_from(head >> 1).ok()?)?;
        each(std::str::from_utf8(term).ok()?, count);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(bytes: &[u8]) -> Option<Vec<Posting>> {
        let mut out = Vec::new();
        for_each_posting(bytes, |posting| out.push(posting)).map(|()| out)
    }

    proptest! {
        #[test]
        fn postings_come_back(raw in prop::collection::btree_map(0u32..5_000_000, 1u32..400, 0..200)) {
            let list: Vec<_> = raw.into_iter().map(|(slot, count)| Posting { slot, count }).collect();
            let mut writer = PostingWriter::default();
            list.iter().for_each(|posting| writer.push(*posting));
            prop_assert_eq!(decode(&writer.into_bytes()), Some(list));
        }

        #[test]
        fn terms_come_back(raw in prop::collection::vec((".{0,12}", 1u32..300), 0..60)) {
            let bytes = encode_terms(raw.iter().map(|(term, count)| (term.as_str(), *count)));
            let mut back = Vec::new();
            for_each_term(&bytes, |term, count| back.push((term.to_owned(), count)));
            prop_assert_eq!(back, raw);
        }

        #[test]
        fn damaged_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let mut seen = 0usize;
            for_each_posting(&bytes, |_| seen += 1);
            for_each_term(&bytes, |_, _| seen += 1);
            prop_assert!(seen <= 2 * bytes.len());
        }
    }

    #[test]
    fn a_single_occurrence_costs_one_byte_when_near() {
        let mut writer = PostingWriter::default();
        (0..10).for_each(|slot| writer.push(Posting { slot, count: 1 }));
        assert_eq!(writer.into_bytes().len(), 10);
    }
}
