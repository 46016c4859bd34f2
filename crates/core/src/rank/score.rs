//! The fused score of a passage and what it is the sum of.

use std::cmp::Ordering;

use super::{
    Hit, NO_TIME, NONE, Part, Place, candidates,
    columns::Flags,
    dense::Dense,
    evidence,
    lexical::Lexical,
    settings::{Fusion, RrfBoosts, Settings},
};
use crate::analysis::{DateScorer, Query};

/// The contributions to a score; the score is their sum.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Components {
    /// BM25 of the passage.
    pub lexical: f32,
    /// Cosine of the passage.
    pub dense: f32,
    /// BM25 of its neighbours.
    pub neighbours: f32,
    /// Cosine of the passage after it.
    pub neighbour_dense: f32,
    /// The best passage of its group.
    pub group_best: f32,
    /// Its group as one text.
    pub group_lexical: f32,
    /// The best cosines of its group.
    pub group_dense: f32,
    /// Its owner against the person that the query names.
    pub owner: f32,
    /// Its time against the dates that the query names.
    pub date: f32,
    /// That it names a time, when time is asked for.
    pub when: f32,
    /// That it is itself a question.
    pub question: f32,
    /// Its length.
    pub length: f32,
    /// Authority, confidence, importance and recency together.
    pub signals: f32,
    /// The reciprocal-rank sum, under reciprocal rank fusion.
    pub rrf: f32,
    /// Boost for confidence, under reciprocal rank fusion.
    pub confidence_boost: f32,
    /// Boost for recency, under reciprocal rank fusion.
    pub recency_boost: f32,
}

impl Components {
    /// The score.
    pub fn sum(&self) -> f32 {
        self.lexical
            + self.dense
            + self.neighbours
            + self.neighbour_dense
            + self.group_best
            + self.group_lexical
            + self.group_dense
            + self.owner
            + self.date
            + self.when
            + self.question
            + self.length
            + self.signals
            + self.rrf
            + self.confidence_boost
            + self.recency_boost
    }
}

const DAY: f32 = 86_400_000_000.0;

/// Best first; equals by time, the later first, then by their stable key: never by slot.
pub(super) fn order(parts: &[Part<'_>], a: &(f32, Place), b: &(f32, Place)) -> Ordering {
    let key = |place: Place| {
        let columns = parts[place.part].columns;
        (columns.at[place.slot as usize], columns.stable[place.slot as usize])
    };
    b.0.total_cmp(&a.0).then_with(|| {
        let ((a_at, a_stable), (b_at, b_stable)) = (key(a.1), key(b.1));
        b_at.cmp(&a_at).then(a_stable.cmp(&b_stable))
    })
}

/// Scores the passages of one query.
pub(super) struct Scorer<'a> {
    pub(super) query: &'a Query,
    pub(super) parts: &'a [Part<'a>],
    pub(super) lexical: &'a Lexical,
    pub(super) dense: &'a Dense,
    pub(super) settings: &'a Settings,
    /// Per part and owner number, +1, -1 or 0; see [`owner_signs`].
    pub(super) owners: Vec<Vec<f32>>,
    pub(super) dates: DateScorer<'a>,
    /// The reciprocal-rank sums, by place.
    pub(super) ranks: Vec<(Place, f32)>,
    /// The best visible lexical hits, best first.
    pub(super) best_lexical: Vec<(f32, Place)>,
    pub(super) groups: evidence::GroupMemory,
}

impl<'a> Scorer<'a> {
    pub(super) fn new(
        query: &'a Query,
        parts: &'a [Part<'a>],
        lexical: &'a Lexical,
        dense: &'a Dense,
        settings: &'a Settings,
    ) -> Self {
        let owners = parts.iter().map(|p| owner_signs(query, p)).collect();
        let best_lexical = candidates::best_hits(parts, &lexical.hits);
        let dates = DateScorer::new(&query.dates, &query.zone);
        Self {
            query,
            parts,
            lexical,
            dense,
            settings,
            owners,
            dates,
            ranks: Vec::new(),
            best_lexical,
            groups: evidence::GroupMemory::default(),
        }
    }

    /// The best of the candidates, best first: enough that collapse and spread have a choice.
    pub(super) fn best(&mut self, candidates: &[Place], limit: usize) -> Vec<(Place, f32)> {
        let mut scored: Vec<(f32, Place)> = match self.settings.fusion {
            Fusion::Convex => {
                candidates.iter().map(|place| (self.components(*place).sum(), *place)).collect()
            }
            Fusion::Rrf { k, .. } | Fusion::Legacy { k } => self.reciprocal(k),
        };
        let keep = limit.saturating_mul(3).saturating_add(24);
        if scored.len() > keep {
            scored.select_nth_unstable_by(keep, |a, b| order(self.parts, a, b));
            scored.truncate(keep);
        }
        scored.sort_unstable_by(|a, b| order(self.parts, a, b));
        scored.into_iter().map(|(score, place)| (place, score)).collect()
    }

    pub(super) fn previous(&self, place: Place) -> u32 {
        self.parts[place.part].columns.previous[place.slot as usize]
    }

    pub(super) fn next(&self, place: Place) -> u32 {
        self.parts[place.part].columns.next[place.slot as usize]
    }

    /// BM25 of a slot over the best of the query; 0 for [`NONE`].
    fn b(&self, part: usize, slot: u32) -> f32 {
        self.lexical.scores[part].get(slot as usize).map_or(0.0, |s| (s / self.lexical.best).min(1.0))
    }

    fn components(&mut self, place: Place) -> Components {
        let columns = self.parts[place.part].columns;
        let slot = place.slot as usize;
        let weights = &self.settings.weights;
        let flags = columns.flags[slot];
        let mut c = Components { signals: self.signals(place), ..Components::default() };
        self.own(place, flags, &mut c);
        self.neighbours(place, &mut c);
        self.group(place, &mut c);
        let owner = columns.owner[slot];
        if owner != NONE {
            c.owner =
                0.5 * weights.owner * self.owners[place.part].get(owner as usize).copied().unwrap_or(0.0);
        }
        if columns.at[slot] != NO_TIME {
            c.date = weights.date * self.dates.score(columns.at[slot]);
        }
        if self.query.asks_when && flags.has(Flags::TIME_EXPRESSION) && !flags.has(Flags::CODE) {
            c.when = if flags.has(Flags::TURN) { weights.when } else { weights.document_when };
        }
        if flags.has(Flags::TURN) {
            if flags.has(Flags::QUESTION) {
                c.question = weights.question;
            }
            let relative = (1.0 + columns.length[slot] as f32) / (1.0 + self.lexical.average_length);
            c.length = weights.length * relative.ln();
        }
        c
    }

    /// The passage's own BM25 and cosine. Where cosines exist but not for this passage, its BM25 stands in
    /// for it, so that it is neither favoured nor punished.
    fn own(&self, place: Place, flags: Flags, c: &mut Components) {
        let weights = &self.settings.weights;
        let b = self.b(place.part, place.slot);
        if !self.dense.is_on {
            c.lexical = weights.lexical_alone * b;
            return;
        }
        let (lexical, dense) = if flags.has(Flags::CODE) {
            (weights.code_lexical, weights.code_dense)
        } else {
            (weights.lexical, weights.dense)
        };
        c.lexical = lexical * b;
        match self.dense.scaled(&self.parts[place.part], place.slot) {
            Some(cosine) => c.dense = dense * cosine,
            None => c.lexical += dense * b,
        }
    }

    /// Neighbours. A passage without any, as a memory is, lets its own evidence stand in for half of them, so
    /// that it can be compared with turns and sentences.
    fn neighbours(&self, place: Place, c: &mut Components) {
        let weights = &self.settings.weights;
        let part = &self.parts[place.part];
        let at = |slot: u32| Place { part: place.part, slot };
        let (before, after) = (self.previous(place), self.next(place));
        if before == NONE && after == NONE {
            let b = self.b(place.part, place.slot);
            c.neighbours = 0.5 * (weights.previous + weights.second_previous + weights.next) * b;
            if self.dense.is_on {
                c.neighbour_dense =
                    0.5 * weights.next_dense * self.dense.scaled(part, place.slot).unwrap_or(b);
            }
            return;
        }
        let second = if before == NONE { NONE } else { self.previous(at(before)) };
        c.neighbours = weights.previous * self.b(place.part, before)
            + weights.second_previous * self.b(place.part, second)
            + weights.next * self.b(place.part, after);
        if before != NONE && part.columns.flags[before as usize].has(Flags::QUESTION) {
            c.neighbours += weights.answer * self.b(place.part, before);
        }
        if !part.columns.flags[place.slot as usize].has(Flags::TURN) {
            c.neighbours *= weights.document_neighbours;
        }
        if self.dense.is_on && after != NONE {
            c.neighbour_dense = weights.next_dense * self.dense.scaled(part, after).unwrap_or(0.0);
        }
    }

    /// The group. A passage without one is a group of one: its own evidence stands in.
    fn group(&self, place: Place, c: &mut Components) {
        let weights = &self.settings.weights;
        let part = &self.parts[place.part];
        let (best, text, dense) = match part.columns.group[place.slot as usize] {
            NONE => {
                let b = self.b(place.part, place.slot);
                (b, b, self.dense.scaled(part, place.slot).unwrap_or(b))
            }
            group => {
                let group = group as usize;
                let best = (self.lexical.group_best[place.part][group] / self.lexical.best).min(1.0);
                let text = self.lexical.group_scores[place.part][group] / self.lexical.best_group;
                let means = self.dense.group_means.get(place.part).and_then(|m| m.get(group));
                (best, text, means.copied().unwrap_or(0.0))
            }
        };
        c.group_best = weights.group_best * best;
        c.group_lexical = weights.group_lexical * text;
        if self.dense.is_on {
            c.group_dense = weights.group_dense * dense;
        }
    }

    fn signals(&self, place: Place) -> f32 {
        let columns = self.parts[place.part].columns;
        let weights = &self.settings.weights;
        let slot = place.slot as usize;
        let age = self.age(columns.at[slot]);
        weights.authority * (1.0 - f32::from(columns.layer[slot].min(6)) / 6.0)
            + weights.confidence * confidence(columns.confidence[slot])
            + weights.importance * confidence(columns.importance[slot])
            + age.map_or(0.0, |days| weights.recency * (-days / 30.0).exp2())
    }

    /// Days before now, at least 0.
    fn age(&self, at: i64) -> Option<f32> {
        let now = self.settings.now?;
        (at != NO_TIME).then(|| (now.saturating_sub(at) as f32 / DAY).max(0.0))
    }

    /// Scores by reciprocal rank fusion over the best of both legs.
    fn reciprocal(&mut self, k: f32) -> Vec<(f32, Place)> {
        let mut fused = std::collections::BTreeMap::new();
        let legs = self.best_lexical.iter().map(|(_, place)| *place).zip(1u32..);
        for (place, rank) in legs.chain(self.dense.proposed.iter().copied().zip(1u32..)) {
            *fused.entry(place).or_insert(0.0) += 1.0 / (k + rank as f32);
        }
        self.ranks = fused.iter().map(|(place, rrf)| (*place, *rrf)).collect();
        fused.into_iter().map(|(place, rrf)| (self.reranked(place, rrf).sum(), place)).collect()
    }

    /// A reciprocal-rank sum with what confidence and time add to it.
    fn reranked(&self, place: Place, rrf: f32) -> Components {
        match self.settings.fusion {
            Fusion::Rrf { boosts, .. } => self.boosted(place, rrf, boosts),
            // The product as a sum: what confidence takes away is half of what it lacks.
            Fusion::Legacy { .. } | Fusion::Convex => {
                let lacking =
                    1.0 - confidence(self.parts[place.part].columns.confidence[place.slot as usize]);
                Components { rrf, confidence_boost: -0.5 * lacking * rrf, ..Components::default() }
            }
        }
    }

    fn boosted(&self, place: Place, rrf: f32, boosts: RrfBoosts) -> Components {
        let columns = self.parts[place.part].columns;
        let slot = place.slot as usize;
        let distance = confidence(columns.confidence[slot]) - boosts.confidence_center;
        let age = self.age(columns.at[slot]).filter(|_| boosts.recency_window_days > 0.0);
        Components {
            rrf,
            confidence_boost: distance * boosts.confidence_gain,
            recency_boost: age
                .map_or(0.0, |days| (1.0 - days / boosts.recency_window_days).max(0.0) * boosts.recency_gain),
            ..Components::default()
        }
    }

    /// The hit with its components and its evidence; ranks per leg are added to the final hits only.
    pub(super) fn explain(&mut self, place: Place, score: f32) -> Hit {
        let components = match self.settings.fusion {
            Fusion::Convex => self.components(place),
            Fusion::Rrf { .. } | Fusion::Legacy { .. } => {
                let at = self.ranks.binary_search_by(|(p, _)| p.cmp(&place));
                self.reranked(place, at.map_or(0.0, |at| self.ranks[at].1))
            }
        };
        let date = match self.parts[place.part].columns.at[place.slot as usize] {
            NO_TIME => 0.0,
            at => self.dates.score(at),
        };
        let sign = |owner: u32| self.owners[place.part].get(owner as usize).copied().unwrap_or(0.0);
        let owner = sign(self.parts[place.part].columns.owner[place.slot as usize]);
        Hit {
            place,
            score,
            components,
            bm25: self.lexical.scores[place.part][place.slot as usize],
            lexical_rank: None,
            dense_rank: None,
            evidence: evidence::gather(self, place, owner, date),
            duplicates: Vec::new(),
        }
    }
}

fn confidence(units: u8) -> f32 {
    f32::from(units.min(200)) / 200.0
}

/// A question is mostly about what the person it names first said or owns; of the others named it says
/// nothing, and those it does not name it is not about.
fn owner_signs(query: &Query, part: &Part<'_>) -> Vec<f32> {
    let sign = |person: &u32| match query.people.iter().position(|named| named == person) {
        Some(0) => 1.0,
        None if !query.people.is_empty() => -1.0,
        _ => 0.0,
    };
    part.people.iter().map(sign).collect()
}
