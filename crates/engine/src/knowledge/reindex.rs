//! `reindex_vector_store`: makes what is searched anew from the files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    bands::{Calibration, recalibrate},
    figures::sections,
    files::{self, Readable},
    vault,
};
use crate::{
    engine::Engine,
    error::Error,
    maintain::reindex::{self, Reindex, index_everything},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render, counted},
};

/// See the module.
pub struct ReindexVectorStore;

/// How.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Begin anew. Default true; false adds what is missing.
    pub drop_existing: Option<bool>,
}

/// What was made.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Whether everything is in it.
    pub success: bool,
    /// Files.
    pub domains: usize,
    /// Sections with a text.
    pub sections: usize,
    /// Files.
    pub files: usize,
    /// What could not be read, and why.
    pub errors: Vec<String>,
    /// Thresholds of likeness by meaning that fit the files; they hold from now on.
    pub calibration: Calibration,
    /// Changes that another process still follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Operation for ReindexVectorStore {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "reindex_vector_store",
        cli: &["knowledge", "reindex"],
        positional: &[],
        title: "Make the search index anew",
        about: "Makes the search index anew. Nothing is lost: it is derived.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const OLDER_TOOLS: &'static [&'static str] = &["reindex_vector_store_tool"];
    const EXPLAINED: &'static [&'static str] = &["drop_existing"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let files = files::readable(engine, call)?;
        let behind = match request.drop_existing {
            _ if !engine.is_initialised()? => 0,
            Some(false) => index_everything(engine, call, &mut |_, _| Ok(()))?,
            _ => Reindex::run(engine, call, reindex::Request {})?.behind,
        };
        Ok(Response {
            success: behind == 0,
            domains: files.len(),
            sections: files.iter().map(|Readable { file, .. }| sections(file)).sum(),
            files: files.len(),
            errors: unreadable(engine, call)?,
            calibration: match engine.is_initialised()? {
                true => recalibrate(engine, call)?,
                false => Calibration::none("there are no files yet"),
            },
            error: (behind > 0)
                .then(|| format!("{} left; another process indexes them", counted(behind, "change"))),
        })
    }
}

/// What the caller should see and cannot be read.
fn unreadable(engine: &Engine, call: &Call<'_>) -> Result<Vec<String>, Error> {
    let mut errors = Vec::new();
    for namespace in vault::namespaces(engine, call)? {
        let seen = vault::look(engine, call, &namespace)?;
        errors.extend(seen.problems.iter().map(|problem| format!("{}: {}", problem.place, problem.reason)));
        errors.extend(seen.unavailable.map(|reason| format!("{namespace}: {reason}")));
    }
    Ok(errors)
}

impl Render for Response {
    fn is_alarming(&self) -> bool {
        !self.success
    }

    fn render(&self) -> Document {
        let said =
            format!("{} of {} can be found", counted(self.sections, "section"), counted(self.files, "file"));
        let document = match &self.error {
            None => Document::new().note(Mark::Good, said),
            Some(error) => Document::new().note(Mark::Warning, error.clone()),
        };
        let document = match (&self.calibration.fuse, &self.calibration.merge) {
            (Some(fuse), Some(merge)) => {
                document.note(Mark::Info, format!("thresholds: fuse {fuse}, merge {merge}"))
            }
            _ => document.note(Mark::Info, format!("no thresholds fitted: {}", self.calibration.reason)),
        };
        self.errors.iter().fold(document, |document, error| document.note(Mark::Warning, error.clone()))
    }
}
