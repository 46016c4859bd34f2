//! Parts of documents that were made lately: a change of one section makes the rest of its file anew, and analysing and
//! embedding them again would be most of the work.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use super::passage::Part;

/// Bytes of parts that are kept; beyond them all are forgotten, and made again when they are wanted.
const MOST_BYTES: usize = 16 << 20;
/// What a part takes beside its terms and its vector, in bytes.
const FRAME: usize = 160;

/// See the module. Lives with the process, holds no text, and may be forgotten at any time.
#[derive(Debug, Default)]
pub struct KeptParts(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    parts: HashMap<[u8; 32], Part>,
    bytes: usize,
}

/// All that a part is made of, as a digest.
pub(super) type Key = [u8; 32];

/// The key of a part: of everything that its terms, flags and vector depend on.
pub(super) fn key(texts: [&str; 3], numbers: [u32; 2]) -> Key {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    for number in numbers {
        hasher.update(&number.to_le_bytes());
    }
    hasher.finalize().into()
}

impl KeptParts {
    pub(super) fn get(&self, key: &Key) -> Option<Part> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).parts.get(key).cloned()
    }

    /// Keeps a part without its text.
    pub(super) fn keep(&self, key: Key, part: &Part) {
        debug_assert!(part.text.is_none(), "a kept part holds no text");
        let bytes = part.terms.len() + part.vector.as_ref().map_or(0, |vector| vector.values.len()) + FRAME;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes + bytes > MOST_BYTES {
            *kept = Kept::default();
        }
        if kept.parts.insert(key, part.clone()).is_none() {
            kept.bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_part_depends_on_tells_it_from_others() {
        let keys = [
            key(["m", "a", "b"], [0, 0]),
            key(["m", "ab", ""], [0, 0]),
            key(["", "ma", "b"], [0, 0]),
            key(["m", "a", "b"], [1, 0]),
            key(["m", "a", "b"], [0, 1]),
        ];
        let different: std::collections::HashSet<_> = keys.into_iter().collect();
        assert_eq!(different.len(), keys.len());
    }

    #[test]
    fn they_are_given_back_and_never_grow_without_bound() {
        let kept = KeptParts::default();
        let part = Part { terms: vec![7; MOST_BYTES / 4], ..Part::default() };
        let keys: Vec<Key> = (0..4).map(|n| key(["m", "t", "b"], [n, 0])).collect();
        keys[..3].iter().for_each(|key| kept.keep(*key, &part));
        assert_eq!(kept.get(&keys[0]).as_ref(), Some(&part));
        kept.keep(keys[3], &part);
        assert_eq!((kept.get(&keys[0]), kept.get(&keys[3])), (None, Some(part)));
    }
}
