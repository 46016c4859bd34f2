//! Earlier texts of a file of the vault: which there are, what changed between two, and back to one.

pub mod diff;
pub mod list;
pub mod restore;

use super::vault::{self, Place};
use crate::{engine::Engine, error::Error, operation::Call};

/// The file that a name means, whether it is still there or only in the history.
fn known(engine: &Engine, call: &Call<'_>, filename: &str) -> Result<Place, Error> {
    vault::locate(engine, call, "filename", filename)
}

/// A text of a file: of the generation that is named, or the one that holds now.
fn text_of(
    engine: &Engine,
    call: &Call<'_>,
    place: &Place,
    generation: Option<i64>,
) -> Result<String, Error> {
    match generation {
        Some(generation) => vault::generation_text(engine, call, place, generation),
        None => Ok(vault::read(engine, call, place)?.text().to_owned()),
    }
}
