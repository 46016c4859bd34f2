//! The sections of a file that are near a text in meaning: measured before the file is locked.

use std::sync::Arc;

use strata_core::knowledge::{
    dedup::Mode,
    meaning::{Meaning, Near},
};

use super::write::Checked;
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{
        bands::{InForce, in_force},
        files::Readable,
        vault::{ParsedFile, Place},
        vectors::{Row, vector},
    },
    operation::Call,
};

/// A shorter text says too little for its meaning to be told, in characters; one in Chinese says the same in fewer.
const LEAST_CHARS: usize = 30;
const LEAST_CHARS_WIDE: usize = 12;
/// Most sections of a file that are looked at.
const MOST_SECTIONS: usize = 5_000;
/// Sections that are told of.
const MOST_NEAR: usize = 8;

/// See the module.
pub(super) struct Nearby {
    /// The file as it was measured.
    file: Option<Arc<ParsedFile>>,
    /// Its sections by position, the nearest first, with their cosines.
    near: Vec<(usize, f64)>,
    /// What the cosines decide.
    pub(super) in_force: InForce,
    /// Whether the text was compared with anything; if so, why only by wording, if only by wording.
    pub(super) compared: Option<Compared>,
}

/// How a text was compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Compared {
    /// By wording, and by meaning where that says nothing.
    ByMeaningToo,
    /// By wording alone, for this reason.
    ByWording(String),
}

impl Nearby {
    /// Looks at the sections of the file that is written to. What the model does not answer is a reason to go by
    /// wording, never to fail.
    pub(super) fn of(
        engine: &Engine,
        call: &Call<'_>,
        files: &[Readable],
        place: &Place,
        checked: &Checked<'_>,
    ) -> Result<Self, Error> {
        let mut found =
            Self { file: None, near: Vec::new(), in_force: InForce::default_bands(), compared: None };
        let is_target = |file: &&Readable| place.is_of(&file.head);
        let target = files.iter().find(is_target).filter(|file| !file.file.entries().is_empty());
        // Who says append, or answers a handshake, has seen what is there.
        let Some(target) = target.filter(|_| checked.mode != Mode::Append && !checked.fuse) else {
            return Ok(found);
        };
        match measure(engine, call, &target.file, checked) {
            Ok(near) => {
                found.compared = Some(Compared::ByMeaningToo);
                found.near = near;
            }
            Err(Unmeasured::Because(reason)) => found.compared = Some(Compared::ByWording(reason)),
            Err(Unmeasured::Failed(error)) => return Err(error),
        }
        if !found.near.is_empty() {
            found.in_force = in_force(engine, call)?;
            found.near.retain(|(_, cosine)| *cosine >= found.in_force.bands.merge);
            found.near.truncate(MOST_NEAR);
            found.file = Some(Arc::clone(&target.file));
        }
        Ok(found)
    }

    /// The same for the decision.
    pub(super) fn near(&self) -> Vec<Near<'_>> {
        let Some(file) = &self.file else { return Vec::new() };
        let near = self.near.iter().map(|(index, cosine)| Near {
            heading: &file.entries()[*index].heading,
            body: file.body(*index),
            cosine: *cosine,
        });
        near.collect()
    }

    /// What the decision rests on.
    pub(super) fn meaning<'n>(&self, near: &'n [Near<'n>]) -> Meaning<'n> {
        Meaning { near, bands: self.in_force.bands }
    }
}

/// Why nothing was measured.
enum Unmeasured {
    Because(String),
    Failed(Error),
}

impl From<Error> for Unmeasured {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// The sections with their cosines, the nearest first.
fn measure(
    engine: &Engine,
    call: &Call<'_>,
    file: &ParsedFile,
    checked: &Checked<'_>,
) -> Result<Vec<(usize, f64)>, Unmeasured> {
    let because = |reason: &str| Unmeasured::Because(reason.to_owned());
    if let Some(reason) = engine.searcher().speechless() {
        return Err(Unmeasured::Because(reason));
    }
    if !says_enough(&checked.content) {
        return Err(because("the text is too short to tell its meaning"));
    }
    let unanswered = |error: Error| Unmeasured::Because(error.to_string());
    let (control, now) = (engine.control(call), engine.clock().now());
    let vector_of = |title: &str, body: &str| vector(engine, title, body, now).map_err(unanswered);
    let Some(text) = vector_of(checked.heading.as_str(), &checked.content)? else {
        return Err(because("the model does not read this language"));
    };
    let mut near = Vec::new();
    for (index, entry) in file.entries().iter().enumerate().take(MOST_SECTIONS) {
        control.check().map_err(Error::from)?;
        let body = file.body(index);
        // Of a section that says next to nothing the vector is that of its heading.
        let row = if says_enough(body) { vector_of(&entry.title, body)? } else { None };
        if let Some(row) = row {
            near.push((index, Row::cosine(&row, &text)?));
        }
    }
    near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    Ok(near)
}

fn says_enough(text: &str) -> bool {
    let chars = text.trim().chars().count();
    let is_wide = |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '가'..='힣');
    let least = if text.chars().any(is_wide) { LEAST_CHARS_WIDE } else { LEAST_CHARS };
    chars >= least
}
