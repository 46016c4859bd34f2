//! `diff_knowledge`: what changed in a file from one version to another.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use similar::TextDiff;
use strata_core::redact::redact;

use super::{known, text_of};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{
        room::{REPLY, fitting},
        vault,
    },
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    render::{Block, Document, Mark, Render},
};

/// See the module.
pub struct DiffKnowledge;

/// The longest that lines are aligned; after it the difference is right and not the shortest.
const PATIENCE: Duration = Duration::from_secs(2);
/// Lines shown around a change.
const AROUND: usize = 3;

/// Which file and versions.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The file.
    pub filename: String,
    /// The version before. Default: the one before `to`.
    pub from: Option<i64>,
    /// The version after. Default: the file as it is.
    pub to: Option<i64>,
}

/// The difference.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// The file.
    pub file: String,
    /// The version before; 0 is no file.
    pub from: i64,
    /// The version after.
    pub to: i64,
    /// Lines that came.
    pub added: usize,
    /// Lines that went.
    pub removed: usize,
    /// The unified difference.
    pub diff: String,
    /// Whether it was cut.
    #[serde(skip_serializing_if = "is_default")]
    pub truncated: bool,
}

impl Operation for DiffKnowledge {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "diff_knowledge",
        cli: &["knowledge", "diff"],
        positional: &["filename", "from", "to"],
        title: "Compare versions of a file",
        about: "Shows what changed between two versions of a knowledge file.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const EXPLAINED: &'static [&'static str] = &["from"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let place = known(engine, call, &request.filename)?;
        let versions = vault::history(engine, call, &place)?;
        let newest = || versions.iter().find(|row| !row.is_failed).map_or(0, |row| row.generation);
        let to = request.to.unwrap_or_else(newest);
        let earlier =
            || versions.iter().find(|row| !row.is_failed && row.hash.is_some() && row.generation < to);
        let from = request.from.unwrap_or_else(|| earlier().map_or(0, |row| row.generation));
        let before = if from == 0 { String::new() } else { text_of(engine, call, &place, Some(from))? };
        let is_deletion = versions.iter().any(|row| row.generation == to && row.hash.is_none());
        let after = match is_deletion {
            true => String::new(),
            false => text_of(engine, call, &place, request.to)?,
        };
        let (before, after) = (redact(&before).text, redact(&after).text);
        let difference = TextDiff::configure().timeout(PATIENCE).diff_lines(before.as_ref(), after.as_ref());
        let count = |tag| difference.iter_all_changes().filter(|change| change.tag() == tag).count();
        let (added, removed) = (count(similar::ChangeTag::Insert), count(similar::ChangeTag::Delete));
        let file = place.path.to_string();
        let heads = (format!("{file}@{from}"), format!("{file}@{to}"));
        let whole = difference.unified_diff().context_radius(AROUND).header(&heads.0, &heads.1).to_string();
        let shown = fitting(&whole, REPLY);
        Ok(Response {
            success: true,
            truncated: shown.len() < whole.len(),
            diff: shown.to_owned(),
            file,
            from,
            to,
            added,
            removed,
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.diff.is_empty() {
            return Document::new().note(
                Mark::Info,
                format!("{}: versions {} and {} are the same", self.file, self.from, self.to),
            );
        }
        let document = Document::new().with(Block::Code { language: "diff", text: self.diff.clone() });
        if self.truncated {
            return document.note(Mark::Warning, "the difference is longer and was cut");
        }
        document.note(Mark::Info, format!("{} lines came, {} went", self.added, self.removed))
    }
}
