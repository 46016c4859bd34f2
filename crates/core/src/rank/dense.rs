//! The dense leg: cosines scaled per query, and what groups make of them.

use super::{NONE, Part, Place, columns::Flags, settings::Settings};
use crate::analysis::Query;

/// Passages that the dense leg proposes.
const PROPOSED: usize = 50;

/// Least distance between the best and the least cosine: in a handful of passages the distance is noise
/// and must not be stretched over the whole scale.
const LEAST_SPAN: f32 = 0.25;

/// The dense leg of one query.
#[derive(Debug, Default)]
pub(super) struct Dense {
    /// Whether there are cosines that say something about this query.
    pub(super) is_on: bool,
    least: f32,
    span: f32,
    /// Per part and group, the mean of the three best scaled cosines.
    pub(super) group_means: Vec<Vec<f32>>,
    /// The best visible passages, best first.
    pub(super) proposed: Vec<Place>,
    english_only: bool,
}

impl Dense {
    pub(super) fn of(
        query: &Query,
        parts: &[Part<'_>],
        visible: &dyn Fn(usize, u32) -> bool,
        settings: &Settings,
    ) -> Self {
        let mut leg = Self { english_only: settings.english_only_model, ..Self::default() };
        if settings.english_only_model && query.is_mostly_cjk() {
            return leg;
        }
        leg.propose(parts, visible);
        if leg.is_on {
            leg.group_means = parts.iter().map(|p| leg.means(p)).collect();
        }
        leg
    }

    /// The raw cosine of a slot, where there is one that says something.
    pub(super) fn raw(&self, part: &Part<'_>, slot: u32) -> Option<f32> {
        if self.english_only && part.columns.flags.get(slot as usize)?.has(Flags::CJK) {
            return None;
        }
        part.cosines?.get(slot as usize).copied().filter(|c| c.is_finite())
    }

    /// The cosine of a slot from 0 (the query's least) to 1 (its best).
    pub(super) fn scaled(&self, part: &Part<'_>, slot: u32) -> Option<f32> {
        self.raw(part, slot).map(|c| self.scale(c))
    }

    fn propose(&mut self, parts: &[Part<'_>], visible: &dyn Fn(usize, u32) -> bool) {
        let (mut least, mut most, mut enough) = (f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY);
        let mut best: Vec<(f32, u64, Place)> = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let slots = part.cosines.map_or(0, |c| c.len().min(part.columns.slots()));
            for slot in 0..u32::try_from(slots).unwrap_or(NONE) {
                let Some(cosine) = self.raw(part, slot) else { continue };
                least = least.min(cosine);
                if cosine < enough || !visible(at, slot) {
                    continue;
                }
                most = most.max(cosine);
                best.push((cosine, part.columns.stable[slot as usize], Place { part: at, slot }));
                if best.len() >= 4 * PROPOSED {
                    keep_best(&mut best);
                    enough = best[PROPOSED - 1].0;
                }
            }
        }
        keep_best(&mut best);
        self.is_on = !best.is_empty();
        self.least = least;
        self.span = (most - least).max(LEAST_SPAN);
        self.proposed = best.into_iter().take(PROPOSED).map(|(_, _, place)| place).collect();
    }

    fn means(&self, part: &Part<'_>) -> Vec<f32> {
        let mut best = vec![[f32::NEG_INFINITY; 3]; part.columns.groups()];
        for (slot, group) in (0u32..).zip(&part.columns.group) {
            let Some(top) = best.get_mut(*group as usize) else { continue };
            let Some(cosine) = self.raw(part, slot).filter(|c| *c > top[2]) else { continue };
            let at = top.iter().position(|t| cosine > *t).unwrap_or(2);
            top[at..].rotate_right(1);
            top[at] = cosine;
        }
        best.iter().map(|top| self.mean(top)).collect()
    }

    fn mean(&self, top: &[f32; 3]) -> f32 {
        let known = top.iter().filter(|c| c.is_finite());
        let count = known.clone().count().max(1) as f32;
        known.map(|c| self.scale(*c)).sum::<f32>() / count
    }

    fn scale(&self, cosine: f32) -> f32 {
        ((cosine - self.least) / self.span).clamp(0.0, 1.0)
    }
}

/// Sorts best first, equals by their stable key, and drops what can no longer be proposed.
fn keep_best(best: &mut Vec<(f32, u64, Place)>) {
    best.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    best.truncate(PROPOSED);
}
