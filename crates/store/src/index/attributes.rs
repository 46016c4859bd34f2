//! What the ranking and the filters know of a passage, and its packed form, column by column.

use strata_core::analysis::Fingerprint;

use super::{
    truth::{Source, SourceKind},
    varint::{Reader, put_signed, put_unsigned},
};

/// Slots to a block: the unit in which attributes, ends and vectors are packed.
pub(crate) const BLOCK: u32 = 1_024;

/// The first sequence of a slot whose passage was purged: later than every read, so it is never seen.
pub(crate) const NEVER: i64 = i64::MAX;

/// One passage's attributes. Words are numbers of labels of its collection; 0 is the empty word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Attributes {
    /// Code of the source's kind.
    pub(crate) source_kind: u8,
    /// Number of the source among its kind.
    pub(crate) source: i64,
    /// Which part of the source, from 0.
    pub(crate) part: u32,
    /// Session, document or multi-part memory; 0 when it stands alone.
    pub(crate) group: u32,
    /// Place within the group.
    pub(crate) order: i64,
    /// Who said or wrote it.
    pub(crate) owner: u32,
    /// When it happened, microseconds UTC.
    pub(crate) at: i64,
    /// 0 for P0 up to 6 for P6.
    pub(crate) layer: u8,
    /// The kind's label.
    pub(crate) kind: u32,
    /// The branch's label.
    pub(crate) branch: u32,
    /// In units of 1/200.
    pub(crate) confidence: u8,
    /// In units of 1/200.
    pub(crate) importance: u8,
    /// Low eight bits: `strata_core::rank::Flags`. The rest are the caller's.
    pub(crate) flags: u32,
    /// Content words.
    pub(crate) length: u32,
    /// For telling near-duplicates.
    pub(crate) fingerprint: Fingerprint,
    /// Ledger sequence from which it is seen.
    pub(crate) from_seq: i64,
}

impl Attributes {
    /// What remains of a purged passage: its slot.
    pub(crate) const PURGED: Self = Self {
        source_kind: 0,
        source: 0,
        part: 0,
        group: 0,
        order: 0,
        owner: 0,
        at: 0,
        layer: 0,
        kind: 0,
        branch: 0,
        confidence: 0,
        importance: 0,
        flags: 0,
        length: 0,
        fingerprint: Fingerprint { sketch: 0, exact: 0 },
        from_seq: NEVER,
    };

    /// What the passage points back at; `None` when the kind is unknown.
    pub(crate) fn source(&self) -> Option<Source> {
        Some(Source { kind: SourceKind::from_code(self.source_kind)?, number: self.source })
    }

    const COLUMNS: usize = 17;

    fn to_columns(self) -> [i64; Self::COLUMNS] {
        [
            self.source_kind.into(),
            self.source,
            self.part.into(),
            self.group.into(),
            self.order,
            self.owner.into(),
            self.at,
            self.layer.into(),
            self.kind.into(),
            self.branch.into(),
            self.confidence.into(),
            self.importance.into(),
            self.flags.into(),
            self.length.into(),
            self.fingerprint.sketch.cast_signed(),
            self.fingerprint.exact.into(),
            self.from_seq,
        ]
    }

    fn from_columns(columns: &[i64; Self::COLUMNS]) -> Option<Self> {
        let word = |column: usize| u32::try_from(columns[column]).ok();
        Some(Self {
            source_kind: u8::try_from(columns[0]).ok()?,
            source: columns[1],
            part: word(2)?,
            group: word(3)?,
            order: columns[4],
            owner: word(5)?,
            at: columns[6],
            layer: u8::try_from(columns[7]).ok()?,
            kind: word(8)?,
            branch: word(9)?,
            confidence: u8::try_from(columns[10]).ok()?,
            importance: u8::try_from(columns[11]).ok()?,
            flags: word(12)?,
            length: word(13)?,
            fingerprint: Fingerprint { sketch: columns[14].cast_unsigned(), exact: word(15)? },
            from_seq: columns[16],
        })
    }
}

/// Packs rows column by column, each value as its distance from the one before: neighbours are alike,
/// so most cost one byte.
pub(crate) fn encode(rows: &[Attributes]) -> Vec<u8> {
    let columns: Vec<_> = rows.iter().map(|row| row.to_columns()).collect();
    let mut out = Vec::with_capacity(rows.len() * 24 + 4);
    put_unsigned(&mut out, rows.len() as u64);
    for column in 0..Attributes::COLUMNS {
        let mut last = 0;
        for row in &columns {
            put_signed(&mut out, row[column].wrapping_sub(last));
            last = row[column];
        }
    }
    out
}

/// Unpacks what [`encode`] packed; `None` when the bytes are damaged.
pub(crate) fn decode(bytes: &[u8]) -> Option<Vec<Attributes>> {
    let mut reader = Reader::new(bytes);
    let rows = usize::try_from(reader.unsigned()?).ok().filter(|rows| *rows <= bytes.len())?;
    let mut columns = vec![[0_i64; Attributes::COLUMNS]; rows];
    for column in 0..Attributes::COLUMNS {
        let mut last = 0_i64;
        for row in &mut columns {
            last = last.wrapping_add(reader.signed()?);
            row[column] = last;
        }
    }
    if !reader.is_empty() {
        return None;
    }
    columns.iter().map(Attributes::from_columns).collect()
}

/// Packs the ends of a block's dead passages: (offset in the block, sequence from which it is no
/// longer seen), offsets ascending. The living are absent.
pub(crate) fn encode_ends(ends: &[(u32, i64)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(ends.len() * 4);
    let (mut last_offset, mut last_end) = (0, 0_i64);
    for (offset, end) in ends {
        put_unsigned(&mut out, u64::from(offset.wrapping_sub(last_offset)));
        put_signed(&mut out, end.wrapping_sub(last_end));
        (last_offset, last_end) = (*offset, *end);
    }
    out
}

/// Unpacks what [`encode_ends`] packed; `None` when the bytes are damaged.
pub(crate) fn decode_ends(bytes: &[u8]) -> Option<Vec<(u32, i64)>> {
    let mut reader = Reader::new(bytes);
    let (mut offset, mut end) = (0_u32, 0_i64);
    let mut out = Vec::new();
    while !reader.is_empty() {
        offset = offset.checked_add(reader.small()?).filter(|offset| *offset < BLOCK)?;
        end = end.wrapping_add(reader.signed()?);
        out.push((offset, end));
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn attributes() -> impl Strategy<Value = Attributes> {
        let first = (any::<u8>(), any::<i64>(), any::<u32>(), any::<u32>(), any::<i64>(), any::<u32>());
        let second = (any::<i64>(), any::<u8>(), any::<u32>(), any::<u32>(), any::<u8>(), any::<u8>());
        let rest = (any::<u32>(), any::<u32>(), any::<u64>(), any::<u32>(), any::<i64>());
        (first, second, rest).prop_map(|(a, b, (flags, length, sketch, exact, from_seq))| Attributes {
            source_kind: a.0,
            source: a.1,
            part: a.2,
            group: a.3,
            order: a.4,
            owner: a.5,
            at: b.0,
            layer: b.1,
            kind: b.2,
            branch: b.3,
            confidence: b.4,
            importance: b.5,
            flags,
            length,
            fingerprint: Fingerprint { sketch, exact },
            from_seq,
        })
    }

    proptest! {
        #[test]
        fn rows_come_back(rows in prop::collection::vec(attributes(), 0..40)) {
            prop_assert_eq!(decode(&encode(&rows)), Some(rows));
        }

        #[test]
        fn ends_come_back(raw in prop::collection::btree_map(0..BLOCK, any::<i64>(), 0..60)) {
            let ends: Vec<_> = raw.into_iter().collect();
            prop_assert_eq!(decode_ends(&encode_ends(&ends)), Some(ends));
        }

        #[test]
        fn damaged_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let rows = decode(&bytes).map_or(0, |rows| rows.len());
            prop_assert!(rows <= bytes.len());
            prop_assert!(decode_ends(&bytes).is_none_or(|ends| ends.len() <= bytes.len()));
        }
    }

    #[test]
    fn a_block_of_turns_takes_some_thirty_bytes_a_passage() {
        let turn = |n: u32| Attributes {
            source_kind: 1,
            source: i64::from(n),
            group: n / 30 + 1,
            order: i64::from(n) * 60_000_000,
            owner: n % 2,
            at: i64::from(n) * 60_000_000,
            layer: 2,
            confidence: 100,
            importance: 100,
            length: 10 + n % 17,
            from_seq: i64::from(n / 500),
            ..Attributes::PURGED
        };
        let rows: Vec<_> = (0..BLOCK).map(turn).collect();
        assert!(encode(&rows).len() < 26 * BLOCK as usize);
    }
}
