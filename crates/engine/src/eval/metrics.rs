//! Retrieval measures: definitions, sums by category, and the table that is printed.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

/// Depths at which hits are counted.
pub const DEPTHS: [usize; 4] = [1, 5, 10, 20];

/// What one question scored. All measures lie in 0..=1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scores {
    /// 1 when any relevant item is among the first k, for each of [`DEPTHS`].
    pub hit: [f64; 4],
    /// Share of the relevant items among the first k.
    pub recall: [f64; 4],
    /// Reciprocal rank of the first relevant item, 0 beyond rank 10.
    pub mrr_at_10: f64,
    /// Normalised discounted cumulative gain over the first 10, binary relevance.
    pub ndcg_at_10: f64,
    /// Share of the sessions that hold relevant items among the sessions of the first k; absent without sessions.
    pub session_recall: Option<[f64; 4]>,
}

/// One question with its result: what `--json` lists.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The question's id.
    pub id: String,
    /// The collection it was asked in.
    pub scope: String,
    /// The question.
    pub query: String,
    /// The data set's category, where it has one.
    pub category: Option<String>,
    /// Ids that answer it.
    pub relevant: Vec<String>,
    /// Ids returned, best first.
    pub returned: Vec<String>,
    /// Milliseconds the recall took.
    pub milliseconds: f64,
    /// The measures.
    pub scores: Scores,
}

/// Means over a group of questions.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Questions in the group.
    pub questions: usize,
    /// The means.
    pub mean: Scores,
    /// Median and 95th percentile of the recalls' milliseconds.
    pub milliseconds: [f64; 2],
}

/// Scores one ranked list. `session_of` gives the session of an id where there is one.
///
/// A question without relevant items counts as a miss everywhere.
pub fn score<'a>(
    returned: &'a [String],
    relevant: &'a [String],
    session_of: impl Fn(&'a str) -> Option<&'a str>,
) -> Scores {
    let wanted: HashSet<&str> = relevant.iter().map(String::as_str).collect();
    let ranks: Vec<usize> = returned
        .iter()
        .enumerate()
        .filter(|(_, id)| wanted.contains(id.as_str()))
        .map(|(rank, _)| rank)
        .collect();
    let found = |k: usize| ranks.iter().filter(|r| **r < k).count() as f64;
    let total = wanted.len().max(1) as f64;
    let gain: f64 = ranks.iter().filter(|r| **r < 10).map(|r| discount(*r)).sum();
    let ideal: f64 = (0..wanted.len().min(10)).map(discount).sum();
    Scores {
        hit: DEPTHS.map(|k| f64::from(u8::from(found(k) > 0.0))),
        recall: DEPTHS.map(|k| found(k) / total),
        mrr_at_10: ranks.first().filter(|r| **r < 10).map_or(0.0, |r| 1.0 / (*r as f64 + 1.0)),
        ndcg_at_10: if ideal > 0.0 { gain / ideal } else { 0.0 },
        session_recall: session_recall(returned, relevant, session_of),
    }
}

fn discount(rank: usize) -> f64 {
    1.0 / (rank as f64 + 2.0).log2()
}

fn session_recall<'a>(
    returned: &'a [String],
    relevant: &'a [String],
    session_of: impl Fn(&'a str) -> Option<&'a str>,
) -> Option<[f64; 4]> {
    let wanted: HashSet<&str> = relevant.iter().filter_map(|id| session_of(id)).collect();
    if wanted.is_empty() {
        return None;
    }
    let mut order: Vec<&str> = Vec::new();
    for session in returned.iter().filter_map(|id| session_of(id)) {
        if !order.contains(&session) {
            order.push(session);
        }
    }
    let share =
        |k: usize| order.iter().take(k).filter(|s| wanted.contains(*s)).count() as f64 / wanted.len() as f64;
    Some(DEPTHS.map(share))
}

/// Means over all rows (`all`) and over each category.
pub fn summarise(rows: &[Row]) -> BTreeMap<String, Summary> {
    let mut groups: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        groups.entry("all".into()).or_default().push(row);
        if let Some(category) = &row.category {
            groups.entry(category.clone()).or_default().push(row);
        }
    }
    groups.into_iter().map(|(name, rows)| (name, mean(&rows))).collect()
}

fn mean(rows: &[&Row]) -> Summary {
    let n = rows.len().max(1) as f64;
    let average = |f: &dyn Fn(&Scores) -> f64| rows.iter().map(|r| f(&r.scores)).sum::<f64>() / n;
    let sessions: Vec<[f64; 4]> = rows.iter().filter_map(|r| r.scores.session_recall).collect();
    let mut times: Vec<f64> = rows.iter().map(|r| r.milliseconds).collect();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| {
        times
            .get(((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1)))
            .copied()
            .unwrap_or(0.0)
    };
    Summary {
        questions: rows.len(),
        mean: Scores {
            hit: std::array::from_fn(|i| average(&|s| s.hit[i])),
            recall: std::array::from_fn(|i| average(&|s| s.recall[i])),
            mrr_at_10: average(&|s| s.mrr_at_10),
            ndcg_at_10: average(&|s| s.ndcg_at_10),
            session_recall: (!sessions.is_empty()).then(|| {
                std::array::from_fn(|i| sessions.iter().map(|s| s[i]).sum::<f64>() / sessions.len() as f64)
            }),
        },
        milliseconds: [at(0.5), at(0.95)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(list: &[&str]) -> Vec<String> {
        list.iter().map(|s| (*s).to_owned()).collect()
    }

    #[test]
    fn measures_follow_their_definitions() {
        let returned = ids(&["a:1", "b:1", "c:1", "b:2"]);
        let relevant = ids(&["b:1", "b:2", "z:9"]);
        let s = score(&returned, &relevant, |id| id.split(':').next());
        assert_eq!(s.hit, [0.0, 1.0, 1.0, 1.0]);
        assert!((s.recall[1] - 2.0 / 3.0).abs() < 1e-12);
        assert!((s.mrr_at_10 - 0.5).abs() < 1e-12);
        let ideal = 1.0 + discount(1) + discount(2);
        assert!((s.ndcg_at_10 - (discount(1) + discount(3)) / ideal).abs() < 1e-12);
        assert_eq!(s.session_recall, Some([0.0, 0.5, 0.5, 0.5]));
    }

    #[test]
    fn a_question_without_answers_is_a_miss() {
        let returned = ids(&["a"]);
        let s = score(&returned, &[], |_| None);
        assert_eq!((s.hit, s.mrr_at_10, s.ndcg_at_10, s.session_recall), ([0.0; 4], 0.0, 0.0, None));
    }
}
