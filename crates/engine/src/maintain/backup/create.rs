//! `backup create`: a checked copy of the ledger and of what people wrote into the home.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{BackupView, make};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Document, Mark, Render, counted},
};

/// See the module.
pub struct Create;

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {}

impl Operation for Create {
    type Request = Request;
    type Response = BackupView;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "backup_create",
        cli: &["backup", "create"],
        positional: &[],
        title: "Make a backup",
        about: "Copies the ledger, with its audit, and the files that people wrote in the home into a new backup with a \
                checksum for every file. Others may go on reading and writing meanwhile. Make one before anything that you \
                might want to undo; the index is not copied, it comes back by itself.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<BackupView, Error> {
        make(engine, call)
    }
}

impl Render for BackupView {
    fn render(&self) -> Document {
        Document::new()
            .note(
                Mark::Good,
                format!("backed up {}, {} bytes, as {}", counted(self.files, "file"), self.bytes, self.id),
            )
            .note(
                Mark::Info,
                format!("it lies at {}; `strata backup restore {}` brings it back", self.path, self.id),
            )
    }
}
