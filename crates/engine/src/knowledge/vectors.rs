//! Sections as vectors, to tell which of them are near each other in meaning.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, PoisonError},
};

use strata_core::{
    knowledge::{family::steady_heading, inject::without_provenance, promotion::Vectors},
    redact::redact,
    time::Timestamp,
    vector,
};

use super::files::Readable;
use crate::{engine::Engine, error::Error, operation::Call};

/// Sections that are looked at in one call; more take too long and too much memory.
pub(super) const MOST_SECTIONS: usize = 5_000;
/// Vectors that are kept; more are made anew.
const KEPT: usize = 20_000;

/// The vectors of sections that were looked at lately, by model, heading and text. They may be forgotten at any time.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    seed: RandomState,
    vectors: Mutex<HashMap<u64, Vector>>,
}

/// What a model made of a section; nothing of one that it cannot read.
pub(super) type Vector = Option<Arc<Row>>;

/// A vector in the numbers that are compared.
#[derive(Debug)]
pub(super) struct Row {
    values: Vec<i8>,
    scale: f32,
}

impl Kept {
    fn get(&self, key: u64) -> Option<Vector> {
        self.vectors.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }

    fn keep(&self, key: u64, vector: &Vector) {
        let mut vectors = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        if vectors.len() >= KEPT {
            vectors.clear();
        }
        vectors.insert(key, vector.clone());
    }
}

/// The vector of a section, without the notes on who wrote it.
///
/// # Errors
/// There is no model, or it does not answer.
pub(super) fn vector(engine: &Engine, title: &str, body: &str, now: Timestamp) -> Result<Vector, Error> {
    let (kept, searcher) = (engine.section_vectors(), engine.searcher());
    let key = kept.seed.hash_one((searcher.model(), title, body));
    if let Some(known) = kept.get(key) {
        return Ok(known);
    }
    let text = format!("{}\n{}", steady_heading(title), without_provenance(body));
    // A model may be another program's: it is told what the index is told.
    let found = searcher.passage_vector(&redact(&text).text, now)?;
    let found = found.filter(|values| Some(values.len()) == searcher.dimension());
    let row = found.map(|values| {
        let (values, scale) = vector::quantize(&values);
        Arc::new(Row { values, scale })
    });
    kept.keep(key, &row);
    Ok(row)
}

impl Row {
    /// The cosine of the two.
    pub(super) fn cosine(&self, other: &Self) -> Result<f64, Error> {
        let mut dots = Vec::with_capacity(1);
        vector::scan(&self.values, &other.values, self.values.len(), &mut dots).map_err(|e| misfit(&e))?;
        let dot = dots.first().copied().unwrap_or_default();
        Ok(f64::from(vector::cosine(dot, self.scale, other.scale)))
    }
}

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
        let Some(dimension) = engine.searcher().dimension() else { return Ok(None) };
        let (control, now) = (engine.control(call), engine.clock().now());
        let mut all = Self { dimension, ..Self::default() };
        for (at, Readable { file, .. }) in files {
            for (index, entry) in file.entries().iter().enumerate() {
                let body = without_provenance(file.body(index));
                if body.is_empty() || all.places.len() == MOST_SECTIONS {
                    continue;
                }
                control.check()?;
                let Ok(found) = vector(engine, &entry.title, &body, now) else { return Ok(None) };
                let Some(row) = found else { continue };
                all.places.push((at, index));
                all.rows.extend(&row.values);
                all.scales.push(row.scale);
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
