//! `vault_export`: the files of the vault as files in a folder, also where the vault itself is rows on a server.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::files;

use super::{
    bring::{Brought, listed},
    vault::{self, FileHead, FileState},
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    paths,
    render::{Document, Mark, Render, counted},
};

/// See the module.
pub struct VaultExport;

/// Files named in a refusal.
const NAMED: usize = 5;

/// Where to.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The folder; each namespace gets a folder in it.
    pub dir: String,
    /// Replace files there that say something else.
    pub overwrite: Option<bool>,
    /// Only say what would be written.
    pub dry_run: Option<bool>,
}

/// What was written.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// The folder.
    pub dir: String,
    /// Namespaces that have files.
    pub namespaces: Vec<String>,
    /// Files that were not there.
    pub written: usize,
    /// Files that said something else.
    pub replaced: usize,
    /// Files that said the same.
    pub unchanged: usize,
    /// What stayed out.
    #[serde(flatten)]
    pub stayed: Stayed,
    /// Whether this was only a look.
    pub dry_run: bool,
}

/// What stayed out of an export.
#[derive(Debug, Default, Serialize)]
pub struct Stayed {
    /// How many.
    pub left_out: usize,
    /// The first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<super::bring::LeftOut>,
}

impl Operation for VaultExport {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "vault_export",
        cli: &["vault", "export"],
        positional: &["dir"],
        title: "Export the vault",
        about: "Writes the Markdown files of your namespace and of the shared one into a folder, one folder per namespace. Files \
                there that say something else are not replaced unless you say so; then nothing is written. `strata vault \
                import` reads such a folder. For a copy of everything that is stored use `strata export`.",
        effect: Effect::Files,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let dir = paths::writable(engine, call, "dir", &request.dir)?;
        if dir.exists() && !dir.is_dir() {
            return Err(Error::argument("dir", "is a file", "name a folder, or one that is not there yet"));
        }
        let overwrite = request.overwrite == Some(true);
        let mut response = Response {
            dir: dir.display().to_string(),
            dry_run: request.dry_run == Some(true),
            ..Response::default()
        };
        let plan = plan(engine, call, &dir, &mut response)?;
        let differing: Vec<&Step> = plan.iter().filter(|step| step.there == There::Differs).collect();
        if !differing.is_empty() && !overwrite {
            return Err(refusal(&differing));
        }
        for step in &plan {
            if call.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            match step.there {
                There::Same => response.unchanged += 1,
                There::Nothing => response.written += 1,
                There::Differs => response.replaced += 1,
            }
            if step.there != There::Same && !response.dry_run {
                files::make_private_directory(files::directory_of(&step.path))?;
                let text = vault::parsed(engine, call, &step.head)?;
                files::write_atomic(&step.path, text.text().as_bytes())?;
            }
        }
        Ok(response)
    }
}

/// One file and where it goes.
struct Step {
    head: FileHead,
    path: PathBuf,
    there: There,
}

/// What is at a file's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum There {
    Nothing,
    Same,
    Differs,
}

/// Compares every file with what is at its place. Nothing is written before it is clear that everything may be.
fn plan(engine: &Engine, call: &Call<'_>, dir: &Path, response: &mut Response) -> Result<Vec<Step>, Error> {
    let (mut plan, mut out) = (Vec::new(), Brought::default());
    for namespace in vault::namespaces(engine, call)? {
        let seen = vault::look(engine, call, &namespace)?;
        if let Some(reason) = &seen.unavailable {
            out.leave_out(namespace.as_str(), reason);
        }
        for problem in &seen.problems {
            out.leave_out(format!("{namespace}/{}", problem.place), &problem.reason);
        }
        let present: Vec<FileHead> =
            seen.files.into_iter().filter(|head| head.state == FileState::Present).collect();
        if !present.is_empty() {
            response.namespaces.push(namespace.to_string());
        }
        for head in present {
            let place = dir.join(namespace.as_str()).join(head.path.to_string());
            let path = paths::writable(engine, call, "dir", &place.to_string_lossy())?;
            let there = compare(engine, call, &head, &path)?;
            plan.push(Step { head, path, there });
        }
    }
    response.stayed = Stayed { left_out: out.left_out, problems: out.problems };
    Ok(plan)
}

fn compare(engine: &Engine, call: &Call<'_>, head: &FileHead, path: &Path) -> Result<There, Error> {
    if std::fs::symlink_metadata(path).is_err() {
        return Ok(There::Nothing);
    }
    let text = vault::parsed(engine, call, head)?;
    let is_same =
        files::read_regular(path, vault::MAX_FILE).is_ok_and(|bytes| bytes == text.text().as_bytes());
    Ok(if is_same { There::Same } else { There::Differs })
}

fn refusal(differing: &[&Step]) -> Error {
    let named: Vec<String> =
        differing.iter().take(NAMED).map(|step| format!("`{}`", step.path.display())).collect();
    let more = match differing.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let they = if differing.len() == 1 { "says" } else { "say" };
    Error::Conflict {
        message: format!("{}{more} {they} something else; nothing was written", named.join(", ")),
        hint: "choose another folder, or pass `overwrite` to replace what is there".into(),
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let done = if self.dry_run { "would export" } else { "exported" };
        let text = format!(
            "{done} {} to {} ({} replaced, {} unchanged, {} left out)",
            counted(self.written + self.replaced, "file"),
            self.dir,
            self.replaced,
            self.unchanged,
            self.stayed.left_out
        );
        let mark = if self.stayed.left_out == 0 { Mark::Good } else { Mark::Warning };
        listed(Document::new().note(mark, text), self.stayed.left_out, &self.stayed.problems)
    }
}
