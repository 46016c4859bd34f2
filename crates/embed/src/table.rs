//! The file formats of the static model: a table of int8 rows and the vocabulary that names them.
//!
//! Both are laid out so that they are used where they lie, without parsing or copying: opening one
//! checks its header against its length and nothing else. All numbers are little-endian.
//!
//! Table, version 1:
//!
//! | bytes | what |
//! |---|---|
//! | 4 | magic `STRT` |
//! | 4 | version, 1 |
//! | 4 | rows R |
//! | 4 | dimension D |
//! | 16 | revision, ASCII: the first 16 hexadecimal digits of BLAKE3 over the vocabulary file, the scales and the rows |
//! | 4 x R | scale of each row, `f32` |
//! | R x D | components, `i8`; component i of row r is `q * scale(r)` |
//!
//! Vocabulary, version 1 (entry n names row n of the table):
//!
//! | bytes | what |
//! |---|---|
//! | 4 | magic `STRV` |
//! | 4 | version, 1 |
//! | 4 | entries N, fewer than 65 535 |
//! | 4 | slots S of the hash table, a power of two above N |
//! | 4 | longest entry in bytes, at most 64 |
//! | 4 x (N + 1) | start of each entry in the text, and the end of the last |
//! | 2 x S | hash slots: 0 is empty, else entry + 1; FNV-1a 64, folded to 32 bits, linear probing |
//! | rest | the entries' text, UTF-8, one after another; a continuation piece keeps its `##` |

use crate::error::EmbedError;

const TABLE_MAGIC: &[u8; 4] = b"STRT";
const VOCABULARY_MAGIC: &[u8; 4] = b"STRV";
const VERSION: u32 = 1;
const TABLE_HEADER: usize = 32;
const VOCABULARY_HEADER: usize = 20;
/// No entry is longer, so that few prefixes of a word are looked up.
const LONGEST_ENTRY: usize = 64;

/// A table of int8 rows, read in place.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    revision: &'a str,
    dimension: usize,
    scales: &'a [u8],
    rows: &'a [u8],
}

impl<'a> Table<'a> {
    /// Opens a table; constant time.
    ///
    /// # Errors
    /// [`EmbedError::Model`] when the header and the length do not agree.
    pub fn open(bytes: &'a [u8]) -> Result<Self, EmbedError> {
        let [rows, dimension] = header(bytes, TABLE_MAGIC).ok_or(EmbedError::Model("table header"))?;
        let revision = bytes.get(16..TABLE_HEADER).and_then(|text| std::str::from_utf8(text).ok());
        let revision = revision.ok_or(EmbedError::Model("table revision"))?;
        let parts = (|| {
            let (scales, rows) = bytes.get(TABLE_HEADER..)?.split_at_checked(rows.checked_mul(4)?)?;
            let length = (scales.len() / 4).checked_mul(dimension)?;
            (dimension > 0 && rows.len() == length).then_some((scales, rows))
        })();
        let (scales, rows) = parts.ok_or(EmbedError::Model("table length"))?;
        Ok(Self { revision, dimension, scales, rows })
    }

    /// The components of every row.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.scales.len() / 4
    }

    /// The digest of what the table and its vocabulary hold, 16 hexadecimal digits.
    pub fn revision(&self) -> &'a str {
        self.revision
    }

    /// Adds a row to `sum`; a row that does not exist adds nothing.
    pub fn add_row(&self, row: usize, sum: &mut [f32]) {
        let Some(scale) = read_u32(self.scales, row.saturating_mul(4)).map(f32::from_bits) else { return };
        let start = row * self.dimension;
        let Some(components) = self.rows.get(start..start + self.dimension) else { return };
        for (sum, &component) in sum.iter_mut().zip(components) {
            *sum += f32::from(component.cast_signed()) * scale;
        }
    }

    /// Writes a table: `rows` quantised one by one, with the vocabulary file that names them.
    ///
    /// # Errors
    /// [`EmbedError::Model`] when the rows are not all of one dimension above 0, or there are none.
    pub fn encode(
        rows: &[Vec<f32>],
        vocabulary: &[u8],
        digest: impl Fn(&[&[u8]]) -> String,
    ) -> Result<Vec<u8>, EmbedError> {
        let dimension = rows.first().map_or(0, Vec::len);
        if dimension == 0 || rows.iter().any(|row| row.len() != dimension) {
            return Err(EmbedError::Model("rows of unequal dimension"));
        }
        let (mut scales, mut components) = (Vec::new(), Vec::with_capacity(rows.len() * dimension));
        for row in rows {
            let (quantised, scale) = strata_core::vector::quantize(row);
            scales.extend_from_slice(&scale.to_le_bytes());
            components.extend(quantised.into_iter().map(i8::cast_unsigned));
        }
        let mut revision = digest(&[vocabulary, &scales, &components]);
        revision.truncate(TABLE_HEADER - 16);
        let mut bytes = start(TABLE_MAGIC, &[rows.len(), dimension])?;
        bytes.extend_from_slice(revision.as_bytes());
        if bytes.len() != TABLE_HEADER {
            return Err(EmbedError::Model("a digest shorter than 16 digits"));
        }
        Ok([bytes, scales, components].concat())
    }
}

/// The vocabulary of a table, read in place.
#[derive(Debug, Clone, Copy)]
pub struct Vocabulary<'a> {
    longest: usize,
    offsets: &'a [u8],
    slots: &'a [u8],
    text: &'a [u8],
}

impl<'a> Vocabulary<'a> {
    /// Opens a vocabulary; constant time.
    ///
    /// # Errors
    /// [`EmbedError::Model`] when the header and the length do not agree.
    pub fn open(bytes: &'a [u8]) -> Result<Self, EmbedError> {
        let [entries, slots, longest] =
            header(bytes, VOCABULARY_MAGIC).ok_or(EmbedError::Model("vocabulary header"))?;
        let parts = (|| {
            let rest = bytes.get(VOCABULARY_HEADER..)?;
            let (offsets, rest) = rest.split_at_checked(entries.checked_add(1)?.checked_mul(4)?)?;
            let (slots, text) = rest.split_at_checked(slots.checked_mul(2)?)?;
            let sound = slots.len() / 2 > entries && (slots.len() / 2).is_power_of_two();
            (sound && longest <= LONGEST_ENTRY).then_some((offsets, slots, text))
        })();
        let (offsets, slots, text) = parts.ok_or(EmbedError::Model("vocabulary length"))?;
        Ok(Self { longest, offsets, slots, text })
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.offsets.len() / 4 - 1
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text of an entry, with its `##` when it continues a word.
    pub fn entry(&self, entry: usize) -> Option<&'a str> {
        std::str::from_utf8(self.entry_bytes(entry)?).ok()
    }

    /// The longest entry that `rest` starts with, and its length in bytes of `rest`. With
    /// `continues`, only entries that continue a word count, and their `##` is not part of the length.
    pub fn longest_prefix(&self, rest: &str, continues: bool) -> Option<(usize, usize)> {
        let mark: &[u8] = if continues { b"##" } else { b"" };
        let reach = self.longest.saturating_sub(mark.len()).min(rest.len());
        let (mut body, _) = rest.as_bytes().split_at(reach);
        let mut hash = mark.iter().chain(body).fold(Fnv::START, Fnv::add);
        while let Some((last, shorter)) = body.split_last() {
            if rest.is_char_boundary(body.len())
                && let Some(entry) = self.probe(hash, mark, body)
            {
                return Some((entry, body.len()));
            }
            (hash, body) = (hash.without(*last), shorter);
        }
        None
    }

    fn probe(&self, hash: Fnv, mark: &[u8], body: &[u8]) -> Option<usize> {
        let slots = self.slots.len() / 2;
        let mut slot = hash.slot(slots);
        for _ in 0..slots {
            let entry = usize::from(u16::from_le_bytes(*self.slots.get(2 * slot..)?.first_chunk()?));
            let found = self.entry_bytes(entry.checked_sub(1)?)?;
            // The lengths tell most of them apart, for less than a comparison of bytes.
            if found.len() == mark.len() + body.len() && found.strip_prefix(mark) == Some(body) {
                return Some(entry - 1);
            }
            slot = (slot + 1) & (slots - 1);
        }
        None
    }

    fn entry_bytes(&self, entry: usize) -> Option<&'a [u8]> {
        let start = read_u32(self.offsets, entry.checked_mul(4)?)? as usize;
        let end = read_u32(self.offsets, entry.checked_add(1)?.checked_mul(4)?)? as usize;
        self.text.get(start..end)
    }

    /// Writes a vocabulary: entry n names row n.
    ///
    /// # Errors
    /// [`EmbedError::Model`] on an empty, too long or repeated entry, and on 65 535 entries or more.
    pub fn encode(entries: &[&str]) -> Result<Vec<u8>, EmbedError> {
        if entries.len() >= usize::from(u16::MAX) {
            return Err(EmbedError::Model("too many vocabulary entries"));
        }
        let (mut text, mut offsets) = (Vec::new(), vec![0_u32]);
        let slots = (2 * entries.len() + 1).next_power_of_two();
        let mut table = vec![0_u16; slots];
        for (number, entry) in (1_u16..).zip(entries) {
            if entry.is_empty() || entry.len() > LONGEST_ENTRY {
                return Err(EmbedError::Model("a vocabulary entry of a length that is not allowed"));
            }
            let mut slot = entry.as_bytes().iter().fold(Fnv::START, Fnv::add).slot(slots);
            while table[slot] != 0 {
                if entries[usize::from(table[slot]) - 1] == *entry {
                    return Err(EmbedError::Model("a vocabulary entry that occurs twice"));
                }
                slot = (slot + 1) & (slots - 1);
            }
            table[slot] = number;
            text.extend_from_slice(entry.as_bytes());
            offsets.push(u32::try_from(text.len()).map_err(|_| EmbedError::Model("vocabulary length"))?);
        }
        let longest = entries.iter().map(|entry| entry.len()).max().unwrap_or(0);
        let mut bytes = start(VOCABULARY_MAGIC, &[entries.len(), slots, longest])?;
        bytes.extend(offsets.into_iter().flat_map(u32::to_le_bytes));
        bytes.extend(table.into_iter().flat_map(u16::to_le_bytes));
        bytes.extend_from_slice(&text);
        Ok(bytes)
    }
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo): cheap to extend and to shorten by one byte, which is what prefixes need.
#[derive(Debug, Clone, Copy)]
struct Fnv(u64);

impl Fnv {
    const START: Self = Self(0xCBF2_9CE4_8422_2325);
    const PRIME: u64 = 0x0100_0000_01B3;
    /// Of the prime, among numbers of 64 bits.
    const INVERSE: u64 = 0xCE96_5057_AFF6_957B;

    fn add(self, byte: &u8) -> Self {
        Self((self.0 ^ u64::from(*byte)).wrapping_mul(Self::PRIME))
    }

    /// What it was before its last byte was added.
    fn without(self, last: u8) -> Self {
        Self(self.0.wrapping_mul(Self::INVERSE) ^ u64::from(last))
    }

    fn slot(self, slots: usize) -> usize {
        (self.0 ^ (self.0 >> 32)) as u32 as usize & (slots - 1)
    }
}

/// The numbers after magic and version, when both are the expected ones.
fn header<const N: usize>(bytes: &[u8], magic: &[u8; 4]) -> Option<[usize; N]> {
    if !bytes.starts_with(magic) || read_u32(bytes, 4)? != VERSION {
        return None;
    }
    let mut numbers = [0; N];
    for (index, number) in numbers.iter_mut().enumerate() {
        *number = read_u32(bytes, 8 + 4 * index)? as usize;
    }
    Some(numbers)
}

fn start(magic: &[u8; 4], numbers: &[usize]) -> Result<Vec<u8>, EmbedError> {
    let mut bytes = magic.to_vec();
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    for &number in numbers {
        let number = u32::try_from(number).map_err(|_| EmbedError::Model("a size above 32 bits"))?;
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    Ok(bytes)
}

fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn digest(parts: &[&[u8]]) -> String {
        format!("{:016x}", parts.iter().map(|part| part.len()).sum::<usize>())
    }

    #[test]
    fn rows_come_back_within_half_a_scale() {
        let rows = vec![vec![1.0, -0.5, 0.25], vec![0.0, 0.0, 0.0], vec![-300.0, 2.0, 7.0]];
        let bytes = Table::encode(&rows, b"names", digest).unwrap();
        let table = Table::open(&bytes).unwrap();
        assert_eq!((table.rows(), table.dimension(), table.revision()), (3, 3, "000000000000001a"));
        for (number, row) in rows.iter().enumerate() {
            let peak = row.iter().fold(0.0_f32, |peak, x| peak.max(x.abs()));
            let mut sum = vec![0.0; 3];
            table.add_row(number, &mut sum);
            assert!(row.iter().zip(&sum).all(|(a, b)| (a - b).abs() <= peak / 253.0), "{row:?} {sum:?}");
        }
        let mut sum = vec![1.0; 3];
        table.add_row(3, &mut sum);
        table.add_row(usize::MAX, &mut sum);
        assert_eq!(sum, [1.0; 3]);
    }

    #[test]
    fn every_cut_or_altered_file_is_refused_or_safe() {
        let names = Vocabulary::encode(&["a", "ab", "##b", "##bc", "重"]).unwrap();
        let rows = vec![vec![1.0, 2.0]; 5];
        let table = Table::encode(&rows, &names, digest).unwrap();
        for length in 0..table.len() {
            assert!(Table::open(&table[..length]).is_err(), "table cut to {length}");
        }
        for length in 0..VOCABULARY_HEADER + 4 * 6 + 2 * 16 {
            assert!(Vocabulary::open(&names[..length]).is_err(), "vocabulary cut to {length}");
        }
        for at in 0..names.len() {
            for value in [0, 1, 0x7F, 0xFF] {
                let mut altered = names.clone();
                altered[at] = value;
                if let Ok(vocabulary) = Vocabulary::open(&altered) {
                    // Whatever it answers, it answers: no panic, and never beyond the text asked about.
                    for text in ["abc", "重重", "", "zzz"] {
                        for continues in [false, true] {
                            let found = vocabulary.longest_prefix(text, continues);
                            assert!(found.is_none_or(|(_, length)| text.is_char_boundary(length)));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn entries_that_cannot_be_looked_up_are_refused() {
        assert!(Vocabulary::encode(&["a", "b", "a"]).is_err());
        assert!(Vocabulary::encode(&[""]).is_err());
        assert!(Vocabulary::encode(&["x".repeat(65).as_str()]).is_err());
        assert!(Table::encode(&[vec![1.0], vec![]], b"", digest).is_err());
        assert!(Table::encode(&[], b"", digest).is_err());
        assert!(Table::encode(&[vec![1.0]], b"", |_| "short".to_owned()).is_err());
        let none = Vocabulary::encode(&[]).unwrap();
        let none = Vocabulary::open(&none).unwrap();
        assert!(none.is_empty() && none.longest_prefix("a", false).is_none());
    }

    proptest! {
        #[test]
        fn the_longest_prefix_is_the_one_a_plain_search_finds(
            entries in proptest::collection::btree_set("(##)?[abé重]{1,4}", 0..40),
            text in "[abé重#]{0,8}",
            continues: bool,
        ) {
            let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
            let bytes = Vocabulary::encode(&entries).unwrap();
            let vocabulary = Vocabulary::open(&bytes).unwrap();
            let expected = entries.iter().enumerate().filter_map(|(number, entry)| {
                let body = if continues { entry.strip_prefix("##")? } else { entry };
                text.starts_with(body).then_some((body.len(), number))
            }).max().map(|(length, number)| (number, length));
            prop_assert_eq!(vocabulary.longest_prefix(&text, continues), expected);
            let listed: BTreeSet<&str> = (0..vocabulary.len()).filter_map(|n| vocabulary.entry(n)).collect();
            prop_assert_eq!(listed.len(), entries.len());
        }
    }
}
