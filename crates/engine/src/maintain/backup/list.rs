//! `backup list`: which backups there are, and whether they are whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::backup;

use super::{BackupView, directory};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Render},
};

/// See the module.
pub struct List;

/// How closely to look.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Also check every byte and the audit of each backup; slow for large ones.
    pub verify: Option<bool>,
}

/// The backups, newest first.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Where they lie.
    pub directory: String,
    /// Those that can be read.
    pub backups: Vec<Listed>,
    /// Those that cannot: directory and reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<[String; 2]>,
}

/// One backup.
#[derive(Debug, Serialize)]
pub struct Listed {
    /// What it holds.
    #[serde(flatten)]
    pub backup: BackupView,
    /// Whether it is whole; absent when that was not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<bool>,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

impl Operation for List {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "backup_list",
        cli: &["backup", "list"],
        positional: &[],
        title: "List backups",
        about: "Lists the backups in this home, newest first, with what they hold; with `verify`, checks every byte and the \
                audit of each. Use it before `backup restore`.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let place = directory(engine);
        let mut response =
            Response { directory: place.display().to_string(), backups: Vec::new(), damaged: Vec::new() };
        for found in backup::list(&place)? {
            let manifest = match found.manifest {
                Ok(manifest) => manifest,
                Err(error) => {
                    response.damaged.push([found.directory.display().to_string(), error.to_string()]);
                    continue;
                }
            };
            let findings = match request.verify {
                Some(true) => Some(backup::verify(&found.directory, &engine.control(call))?),
                _ => None,
            };
            response.backups.push(Listed {
                backup: BackupView::new(&manifest, &found.directory),
                whole: findings.as_ref().map(Vec::is_empty),
                findings: findings.unwrap_or_default(),
            });
        }
        Ok(response)
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let mut document = Document::new();
        if self.backups.is_empty() && self.damaged.is_empty() {
            return document.note(Mark::Info, "no backups yet; `strata backup create` makes one");
        }
        let row = |listed: &Listed| {
            let state = match listed.whole {
                None => "not checked",
                Some(true) => "whole",
                Some(false) => "damaged",
            };
            let b = &listed.backup;
            vec![
                b.id.clone(),
                b.created_at.clone(),
                b.seq.to_string(),
                b.files.to_string(),
                b.bytes.to_string(),
                state.to_owned(),
            ]
        };
        let columns = ["id", "made", "last change", "files", "bytes", "state"].map(str::to_owned).to_vec();
        document = document.with(Block::Table { columns, rows: self.backups.iter().map(row).collect() });
        for listed in &self.backups {
            for finding in &listed.findings {
                document = document.note(Mark::Bad, format!("{}: {finding}", listed.backup.id));
            }
        }
        for [place, reason] in &self.damaged {
            document = document.note(Mark::Bad, format!("{place}: {reason}"));
        }
        document
    }
}
