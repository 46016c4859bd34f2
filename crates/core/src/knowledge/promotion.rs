//! Sections that are near each other by meaning: topics that grew into a file of their own, and texts that two files have.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::name::Name;
use crate::{
    analysis::words::is_stop,
    vector::{self, ShapeMismatch},
};

/// Unit vectors of sections, as [`crate::vector::quantize`] makes them, one row after the other.
#[derive(Debug, Clone, Copy)]
pub struct Vectors<'a> {
    /// The rows.
    pub rows: &'a [i8],
    /// The scale of each row.
    pub scales: &'a [f32],
    /// Components of a row.
    pub dimension: usize,
}

/// From this cosine on, two sections of a file are of one topic.
pub const TOPIC_COSINE: f32 = 0.60;
/// A file of fewer sections is not looked at.
pub const MIN_SECTIONS: usize = 4;
/// A topic of fewer sections stays where it is.
pub const MIN_TOPIC: usize = 3;
/// Most pairs that [`nearest_pairs`] is asked for.
pub const MOST_PAIRS: usize = 50;

impl Vectors<'_> {
    /// Calls `pair` with every two rows whose cosine is `least` or more.
    fn pairs(&self, least: f32, mut pair: impl FnMut(usize, usize, f32)) -> Result<(), ShapeMismatch> {
        let mut dots = Vec::new();
        for (a, row) in self.rows.chunks_exact(self.dimension.max(1)).enumerate() {
            let rest = self.rows.get((a + 1) * self.dimension..).unwrap_or_default();
            vector::scan(row, rest, self.dimension, &mut dots)?;
            let scales = (self.scales.get(a), self.scales.get(a + 1..).unwrap_or_default());
            let (Some(scale), others) = scales else { continue };
            for (at, (dot, other)) in dots.iter().zip(others).enumerate() {
                let cosine = vector::cosine(*dot, *scale, *other);
                if cosine >= least {
                    pair(a, a + 1 + at, cosine);
                }
            }
        }
        Ok(())
    }
}

/// Groups rows that hang together by cosines of `least` or more (single link), the largest group first. Rows that stand
/// alone are in none.
///
/// # Errors
/// [`ShapeMismatch`] when the rows do not fit the dimension.
pub fn clusters(vectors: &Vectors<'_>, least: f32) -> Result<Vec<Vec<usize>>, ShapeMismatch> {
    let count = vectors.scales.len();
    let mut parent: Vec<usize> = (0..count).collect();
    vectors.pairs(least, |a, b, _| {
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        parent[a.max(b)] = a.min(b);
    })?;
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); count];
    for row in 0..count {
        groups[root(&mut parent, row)].push(row);
    }
    groups.retain(|group| group.len() > 1);
    groups.sort_by_key(|group| Reverse(group.len()));
    Ok(groups)
}

fn root(parent: &mut [usize], mut row: usize) -> usize {
    while parent[row] != row {
        parent[row] = parent[parent[row]];
        row = parent[row];
    }
    row
}

/// Two rows of different groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The first row.
    pub a: usize,
    /// The second, which comes later.
    pub b: usize,
    /// Their cosine.
    pub cosine: f32,
}

/// The bits of a cosine, and the rows: of equal cosines the earlier rows are the better.
type Candidate = (u32, Reverse<(usize, usize)>);

/// The `most` nearest pairs of rows from different groups (files, domains) whose cosine is `least` or more, the nearest first.
///
/// # Errors
/// [`ShapeMismatch`] when the rows do not fit the dimension.
pub fn nearest_pairs(
    vectors: &Vectors<'_>,
    groups: &[usize],
    least: f32,
    most: usize,
) -> Result<Vec<Pair>, ShapeMismatch> {
    // Cosines that are 0 or more sort like their bits.
    let key = |cosine: f32| cosine.max(0.0).to_bits();
    let mut best: BinaryHeap<Reverse<Candidate>> = BinaryHeap::new();
    vectors.pairs(least, |a, b, cosine| {
        let apart = groups.get(a).zip(groups.get(b)).is_some_and(|(one, other)| one != other);
        if apart && most > 0 {
            best.push(Reverse((key(cosine), Reverse((a, b)))));
            if best.len() > most {
                best.pop();
            }
        }
    })?;
    let pairs = best.into_sorted_vec().into_iter();
    Ok(pairs.map(|Reverse((bits, Reverse((a, b))))| Pair { a, b, cosine: f32::from_bits(bits) }).collect())
}

/// A topic that grew into a file of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Its sections, by position.
    pub sections: Vec<usize>,
    /// A name for its file.
    pub suggested_domain: String,
}

/// The largest topic of a file with these sections, if it is large enough to stand alone. The whole file is no topic of itself.
///
/// # Errors
/// [`ShapeMismatch`] when the rows do not fit the dimension.
pub fn topic(headings: &[&str], vectors: &Vectors<'_>) -> Result<Option<Topic>, ShapeMismatch> {
    if headings.len() < MIN_SECTIONS {
        return Ok(None);
    }
    let largest = clusters(vectors, TOPIC_COSINE)?.into_iter().next();
    Ok(largest.filter(|sections| sections.len() >= MIN_TOPIC).map(|sections| {
        let of_topic: Vec<&str> = sections.iter().filter_map(|at| headings.get(*at).copied()).collect();
        Topic { suggested_domain: topic_name(&of_topic), sections }
    }))
}

/// A name for the file of these sections: the word they all begin with, else the word that most of them have, else `topic`.
pub fn topic_name(headings: &[&str]) -> String {
    let words: Vec<Vec<String>> = headings.iter().map(|heading| words(heading)).collect();
    let firsts: Vec<&String> = words.iter().filter_map(|words| words.first()).collect();
    let shared =
        firsts.first().filter(|first| firsts.len() == headings.len() && firsts.iter().all(|w| w == *first));
    let begun = shared.map(|word| (*word).clone()).or_else(|| beginning(&firsts));
    let found = begun.filter(|word| is_telling(word)).or_else(|| most_frequent(&words));
    found.and_then(|word| Name::parse(&word).ok()).map_or_else(|| "topic".to_owned(), |name| name.to_string())
}

/// Two characters or more with which all first words begin, of scripts that write without spaces.
fn beginning(firsts: &[&String]) -> Option<String> {
    let first: Vec<char> = firsts.first()?.chars().collect();
    let common = |word: &&String| word.chars().zip(&first).take_while(|(a, b)| a == *b).count();
    let length = firsts.iter().map(common).min()?;
    let start: String = first[..length].iter().collect();
    (length >= 2 && !start.is_ascii()).then_some(start)
}

/// The word that most headings have, at least two of them; of equals the one that comes first.
fn most_frequent(words: &[Vec<String>]) -> Option<String> {
    let mut counts: Vec<(&String, usize)> = Vec::new();
    for (at, heading) in words.iter().enumerate() {
        for (nth, word) in heading.iter().enumerate() {
            if heading[..nth].contains(word) || counts.iter().any(|(known, _)| *known == word) {
                continue;
            }
            counts.push((word, words[at..].iter().filter(|other| other.contains(word)).count()));
        }
    }
    let telling = counts.into_iter().filter(|(word, count)| *count >= 2 && is_telling(word));
    let most = telling.reduce(|best, other| if other.1 > best.1 { other } else { best });
    most.map(|(word, _)| word.clone())
}

fn words(heading: &str) -> Vec<String> {
    let parts = heading.split(|c: char| !c.is_alphanumeric() && c != '_');
    parts.filter(|part| !part.is_empty()).map(str::to_lowercase).collect()
}

fn is_telling(word: &str) -> bool {
    word.chars().count() >= 2 && word.chars().any(char::is_alphabetic) && !is_stop(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(angle: f32) -> [f32; 2] {
        [angle.to_radians().cos(), angle.to_radians().sin()]
    }

    fn stored(angles: &[f32]) -> (Vec<i8>, Vec<f32>) {
        let quantised = angles.iter().map(|angle| vector::quantize(&unit(*angle)));
        let (rows, scales): (Vec<Vec<i8>>, Vec<f32>) = quantised.unzip();
        (rows.concat(), scales)
    }

    #[test]
    fn what_hangs_together_is_one_group() {
        let (rows, scales) = stored(&[0.0, 90.0, 40.0, 85.0, -60.0, 80.0, 180.0]);
        let vectors = Vectors { rows: &rows, scales: &scales, dimension: 2 };
        // 0 and 40 are near, 40 and 85 are, so all of them are one; -60 is 60 degrees from 0.
        let least = 50_f32.to_radians().cos();
        assert_eq!(clusters(&vectors, least).expect("they fit"), [vec![0, 1, 2, 3, 5]]);
        let found = topic(&["a", "b", "c", "d", "e", "f", "g"], &vectors).expect("they fit");
        assert_eq!(found.map(|topic| topic.suggested_domain).as_deref(), Some("topic"));
        assert_eq!(topic(&["a", "b", "c"], &vectors), Ok(None));
        assert!(clusters(&Vectors { dimension: 3, ..vectors }, least).is_err());
        let none = Vectors { rows: &[], scales: &[], dimension: 2 };
        assert_eq!(clusters(&none, 0.5), Ok(Vec::new()));
    }

    #[test]
    fn pairs_of_two_files_come_nearest_first() {
        let (rows, scales) = stored(&[0.0, 1.0, 2.0, 30.0]);
        let vectors = Vectors { rows: &rows, scales: &scales, dimension: 2 };
        let found = nearest_pairs(&vectors, &[0, 0, 1, 1], 0.5, MOST_PAIRS).expect("they fit");
        let places: Vec<(usize, usize)> = found.iter().map(|pair| (pair.a, pair.b)).collect();
        assert_eq!(places, [(1, 2), (0, 2), (1, 3), (0, 3)]);
        assert!(found.is_sorted_by(|a, b| a.cosine >= b.cosine));
        assert_eq!(nearest_pairs(&vectors, &[0, 0, 1, 1], 0.5, 1).expect("they fit"), found[..1]);
    }

    #[test]
    fn a_topic_is_named_by_what_its_headings_share() {
        for (headings, expected) in [
            (&["Redis eviction", "Redis memory", "redis: keys"][..], "redis"),
            (&["Tuning the pool", "Pool size", "Limits of a pool"], "pool"),
            (&["连接池大小", "连接池超时", "连接池监控"], "连接池"),
            (&["接続プールの上限", "接続プールの監視"], "接続プールの"),
            (&["백업 주기", "백업 위치", "백업 검증"], "백업"),
            (&["2026 a", "2026 b"], "topic"),
            (&["The one", "The other"], "topic"),
            (&["alpha", "beta"], "topic"),
            (&[], "topic"),
        ] {
            assert_eq!(topic_name(headings), expected, "{headings:?}");
        }
    }
}
