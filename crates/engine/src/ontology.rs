//! The ontology and the gate before it: entries live in a file of JSON lines, and change only by a proposal that a
//! person approved with the secret.
//!
//! propose -> approve -> apply (or retire) -> deprecate. The proposal's file shows where it stands; that it was
//! approved is a signature over what it says, and what was decided of it is in the audit, so that editing the file
//! moves nothing.

pub mod apply;
pub mod approve;
pub mod deprecate;
mod desk;
pub mod entry;
pub mod fresh;
mod proposal;
pub mod propose;
pub mod retire;
pub mod validate;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::render::{Document, Mark, Render};

/// Which proposal takes a step.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {
    /// The proposal's id.
    pub id: String,
}

/// What became of a step.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// Whether it was done, or had been done already.
    pub ok: bool,
    /// What happened, or why nothing did.
    pub message: String,
}

impl Outcome {
    fn done(message: impl Into<String>) -> Self {
        Self { ok: true, message: message.into() }
    }

    fn not(message: impl Into<String>) -> Self {
        Self { ok: false, message: message.into() }
    }
}

impl Render for Outcome {
    fn render(&self) -> Document {
        Document::new().note(if self.ok { Mark::Good } else { Mark::Bad }, self.message.clone())
    }

    fn is_alarming(&self) -> bool {
        !self.ok
    }
}
