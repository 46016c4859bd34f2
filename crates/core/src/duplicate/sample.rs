//! Bounds the work on long texts.

use std::collections::HashSet;

use super::shingle::hash;

/// Texts up to this many bytes are read whole.
pub(super) const WHOLE_BYTES: usize = 64 * 1024;
/// A piece without a line or sentence end is cut here, in bytes.
const MAX_PIECE: usize = 4096;

/// Of a long text, the lines and sentences with the smallest hashes, up to [`WHOLE_BYTES`], in order.
/// What is picked depends on the pieces alone and not on where they stand, so similar texts give
/// similar samples.
pub(super) fn by_content(text: &str) -> String {
    let pieces: Vec<&str> = pieces(text).collect();
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by_cached_key(|i| hash(pieces[*i].as_bytes()));
    let mut room = WHOLE_BYTES;
    order.retain(|i| {
        let fits = pieces[*i].len() <= room;
        room -= if fits { pieces[*i].len() } else { 0 };
        fits
    });
    order.sort_unstable();
    order.into_iter().map(|i| pieces[i]).collect()
}

/// Two long texts without what they share.
pub(super) struct Unshared {
    /// What only the first has, up to [`WHOLE_BYTES`].
    pub(super) a: String,
    /// What only the second has, up to [`WHOLE_BYTES`].
    pub(super) b: String,
    /// The shared part of both, as a fraction of their bytes.
    pub(super) shared: f64,
}

/// Takes the lines and sentences out that both texts have.
pub(super) fn unshared(a: &str, b: &str) -> Unshared {
    let in_a: HashSet<&str> = pieces(a).map(str::trim).collect();
    let in_b: HashSet<&str> = pieces(b).map(str::trim).collect();
    let own = |text, other: &HashSet<&str>| -> (String, usize) {
        let mut kept = String::new();
        let mut bytes = 0;
        for piece in pieces(text).filter(|p| !other.contains(p.trim())) {
            bytes += piece.len();
            if kept.len() + piece.len() <= WHOLE_BYTES {
                kept.push_str(piece);
            }
        }
        (kept, bytes)
    };
    let ((own_a, bytes_a), (own_b, bytes_b)) = (own(a, &in_b), own(b, &in_a));
    let total = (a.len() + b.len()).max(1);
    Unshared { a: own_a, b: own_b, shared: 1.0 - (bytes_a + bytes_b) as f64 / total as f64 }
}

/// Lines and sentences, covering the text.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let limit = rest.floor_char_boundary(MAX_PIECE);
        let ends = |c| matches!(c, '\n' | '。' | '！' | '？');
        let end = match rest.get(..limit)?.find(ends) {
            Some(at) => at + rest[at..].chars().next().map_or(1, char::len_utf8),
            None => limit,
        };
        let end = rest.get(..end)?.find(". ").map_or(end, |at| at + 2);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_the_text() {
        for text in ["", "a", "a. b\nc。d！", &"长".repeat(5000), "a. ", "\n\n"] {
            assert_eq!(pieces(text).collect::<String>(), text);
        }
    }

    #[test]
    fn an_insertion_leaves_most_of_the_sample() {
        let lines: Vec<String> = (0..20_000).map(|i| format!("line number {i} of many\n")).collect();
        let whole = lines.concat();
        let moved = format!("a new first line\n{whole}");
        let (a, b) = (by_content(&whole), by_content(&moved));
        assert!(a.len() <= WHOLE_BYTES && a.len() > WHOLE_BYTES / 2);
        let set: HashSet<&str> = a.lines().collect();
        let kept = b.lines().filter(|line| set.contains(line)).count();
        assert!(kept * 100 >= a.lines().count() * 99, "{kept}");
    }
}
