//! Sections as vectors, to tell which of them are near each other in meaning.

use strata_core::{
    knowledge::{family::steady_heading, inject::without_provenance, promotion::Vectors},
    redact::redact,
    vector,
};

use crate::{engine::Engine, error::Error, knowledge::files::Readable, operation::Call};

/// Sections that are looked at in one call; more take too long and too much memory.
pub(super) const MOST_SECTIONS: usize = 5_000;

/// Sections and their vectors, row by row.
#[derive(Debug, Default)]
pub(super) struct Embedded {
    /// The file of each, by position, and the section's position in it.
    pub(super) places: Vec<(usize, usize)>,
    rows: Vec<i8>,
    scales: Vec<f32>,
    dimension: usize,
}

impl Embedded {
    /// The sections of files; `None` when no model answers.
    pub(super) fn of<'f>(
        engine: &Engine,
        call: &Call<'_>,
        files: impl IntoIterator<Item = (usize, &'f Readable)>,
    ) -> Result<Option<Self>, Error> {
        let searcher = engine.searcher();
        let Some(dimension) = searcher.dimension() else { return Ok(None) };
        let (control, now) = (engine.control(call), engine.clock().now());
        let mut all = Self { dimension, ..Self::default() };
        for (at, Readable { file, .. }) in files {
            for (index, entry) in file.entries().iter().enumerate() {
                let body = without_provenance(file.body(index));
                if body.is_empty() || all.places.len() == MOST_SECTIONS {
                    continue;
                }
                control.check()?;
                let text = format!("{}\n{body}", steady_heading(&entry.title));
                // A model may be another program's: it is told what the index is told.
                let Ok(found) = searcher.passage_vector(&redact(&text).text, now) else { return Ok(None) };
                let Some(values) = found.filter(|values| values.len() == dimension) else { continue };
                let (row, scale) = vector::quantize(&values);
                all.places.push((at, index));
                all.rows.extend(row);
                all.scales.push(scale);
            }
        }
        Ok(Some(all))
    }

    pub(super) fn vectors(&self) -> Vectors<'_> {
        Vectors { rows: &self.rows, scales: &self.scales, dimension: self.dimension }
    }

    /// The cosines of all pairs.
    pub(super) fn cosines(&self) -> Result<Vec<f64>, Error> {
        let count = self.scales.len();
        let mut cosines = Vec::with_capacity(count * count.saturating_sub(1) / 2);
        let mut dots = Vec::new();
        for (a, row) in self.rows.chunks_exact(self.dimension.max(1)).enumerate() {
            let rest = self.rows.get((a + 1) * self.dimension..).unwrap_or_default();
            vector::scan(row, rest, self.dimension, &mut dots).map_err(|e| misfit(&e))?;
            let others = self.scales.iter().skip(a + 1).zip(&dots);
            cosines
                .extend(others.map(|(scale, dot)| f64::from(vector::cosine(*dot, self.scales[a], *scale))));
        }
        Ok(cosines)
    }
}

/// Vectors of one model always fit each other.
pub(super) fn misfit(error: &vector::ShapeMismatch) -> Error {
    Error::Internal(error.to_string())
}
