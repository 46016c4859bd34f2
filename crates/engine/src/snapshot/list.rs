//! `snapshot_list`: the snapshots there are, newest first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Render},
};

/// See the module.
pub struct List;

/// How many.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Most snapshots to list, 1 to 200. Default 20.
    #[schemars(range(min = 1, max = super::MOST_LISTED))]
    pub limit: Option<u32>,
}

/// The snapshots.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Newest first.
    pub snapshots: Vec<SnapshotLine>,
    /// How many older ones there are.
    pub more: usize,
}

/// One snapshot.
#[derive(Debug, Serialize)]
pub struct SnapshotLine {
    /// Its name.
    pub version_id: String,
    /// The change that it shows.
    pub seq: i64,
    /// When it was taken.
    pub at: String,
    /// Who took it.
    pub who: String,
    /// How many memories are in force in it.
    pub entries: i64,
    /// How many of them were purged since and cannot come back.
    pub purged: i64,
    /// What somebody said about it.
    pub label: String,
}

impl Operation for List {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "snapshot_list",
        cli: &["snapshot", "list"],
        positional: &[],
        title: "List snapshots",
        about: "Lists the snapshots there are, newest first: name, when, by whom, how many memories were in force, and the \
                label. Use it to find the name for `snapshot_show`, `snapshot_compare` or `snapshot_rollback`.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let limit = super::limit(request.limit);
        let ledger = engine.existing_ledger()?;
        let (snapshots, more) = ledger.read(&engine.control(call), |r| {
            let all = r.snapshots()?;
            let mut lines = Vec::new();
            for row in all.iter().take(limit) {
                lines.push(SnapshotLine {
                    version_id: row.name.clone(),
                    seq: row.seq,
                    at: row.at.to_rfc3339(),
                    who: row.who.clone(),
                    entries: row.live,
                    purged: r.snapshot_losses(&row.name)?,
                    label: row.label.clone(),
                });
            }
            Ok((lines, all.len().saturating_sub(limit)))
        })?;
        Ok(Response { snapshots, more })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.snapshots.is_empty() {
            return Document::new()
                .note(Mark::Info, "There are no snapshots. `snapshot create NAME` takes one.");
        }
        let columns = ["name", "change", "when", "who", "memories", "label"].map(str::to_owned).to_vec();
        let row = |s: &SnapshotLine| {
            let entries = if s.purged == 0 {
                s.entries.to_string()
            } else {
                format!("{} ({} purged)", s.entries, s.purged)
            };
            vec![
                s.version_id.clone(),
                s.seq.to_string(),
                s.at.clone(),
                s.who.clone(),
                entries,
                s.label.clone(),
            ]
        };
        let rows = self.snapshots.iter().map(row).collect();
        Document::new().with(Block::Table { columns, rows }).note_more(self.more)
    }
}
