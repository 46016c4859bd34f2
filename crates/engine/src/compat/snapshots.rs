//! `knowledge_snapshot-create` and `knowledge_snapshot-rollback`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::line;
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render},
    snapshot::{
        create::{Create, Request as CreateRequest},
        rollback::{Request as RollbackRequest, Rollback},
    },
};

/// See the module.
pub struct KnowledgeSnapshotCreate;

/// What was created.
#[derive(Debug, Serialize)]
pub struct Created {
    /// Always true: a name that is taken is an error.
    pub created: bool,
    /// The snapshot's name.
    pub version_id: String,
}

impl Operation for KnowledgeSnapshotCreate {
    type Request = CreateRequest;
    type Response = Created;
    const SPEC: Spec = Spec {
        toolset: Toolset::Compat,
        tool: "knowledge_snapshot-create",
        cli: &["compat", "snapshot-create"],
        positional: &["version_id"],
        title: "Take a snapshot",
        about: "Takes a snapshot, as `snapshot_create` does, under the name and with the reply of p-layer's older server. A \
                name is given once. For clients that were set up for it; others use `snapshot_create`.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: CreateRequest) -> Result<Created, Error> {
        let done = Create::run(engine, call, request)?;
        Ok(Created { created: done.created, version_id: done.version_id })
    }
}

impl Render for Created {
    fn render(&self) -> Document {
        line(format!("snapshot '{}' created", self.version_id))
    }
}

/// See the module.
pub struct KnowledgeSnapshotRollback;

/// Which snapshot.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The snapshot's name.
    pub version_id: String,
}

/// What was done.
#[derive(Debug, Serialize)]
pub struct RolledBack {
    /// Memories in force that no longer are.
    pub rolled_back: usize,
    /// The snapshot's name.
    pub version_id: String,
    /// Memories that are in force again.
    pub restored: usize,
    /// The snapshot that undoes it, when anything changed.
    pub undo: Option<String>,
}

impl Operation for KnowledgeSnapshotRollback {
    type Request = Request;
    type Response = RolledBack;
    const SPEC: Spec = Spec {
        toolset: Toolset::Compat,
        tool: "knowledge_snapshot-rollback",
        cli: &["compat", "snapshot-rollback"],
        positional: &["version_id"],
        title: "Roll back to a snapshot",
        about: "Brings back exactly what was in force at a snapshot, as `snapshot_rollback` does, under the name and with the \
                reply of p-layer's older server. For clients that were set up for it; others use `snapshot_rollback`.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<RolledBack, Error> {
        let asked = RollbackRequest { version_id: request.version_id, dry_run: None };
        let done = Rollback::run(engine, call, asked)?;
        Ok(RolledBack {
            rolled_back: done.superseded,
            version_id: done.version_id,
            restored: done.restored,
            undo: done.undo,
        })
    }
}

impl Render for RolledBack {
    fn render(&self) -> Document {
        let text = format!(
            "rolled back to '{}': {} entry(ies) superseded, {} came back",
            self.version_id, self.rolled_back, self.restored
        );
        let document = line(text);
        match &self.undo {
            Some(undo) => document.note(Mark::Info, format!("to undo: `snapshot rollback {undo}`")),
            None => document,
        }
    }
}
