//! `vault_import`: Markdown files of a folder become files of the vault.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::vault::Vault;

use super::{
    bring::{Bringing, Brought, Terms},
    l0,
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    paths,
    render::{Document, Mark, Render, counted},
};

/// See the module.
pub struct VaultImport;

const TOOL: &str = "vault_import";

/// Where from.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The folder; each folder in it is a namespace.
    pub dir: String,
    /// Replace files here that say something else, and bring back files that were deleted here.
    pub overwrite: Option<bool>,
    /// Only say what would be imported.
    pub dry_run: Option<bool>,
}

/// What was imported.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// The folder.
    pub dir: String,
    /// Its namespaces.
    pub namespaces: Vec<String>,
    /// What came of its files.
    #[serde(flatten)]
    pub files: Brought,
    /// Whether the index of knowledge shows them.
    pub l0_synced: bool,
    /// Whether this was only a look.
    pub dry_run: bool,
}

impl Operation for VaultImport {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: TOOL,
        cli: &["vault", "import"],
        positional: &["dir"],
        title: "Import files into the vault",
        about: "Takes the Markdown files of a folder into the vault: DIR/NAMESPACE/..., as `strata vault export` writes them. \
                Running it again adds nothing. What stays out is listed with the reason: a file that says something else here, \
                one that is not UTF-8 or too large, a name that the vault does not take, a link. Secrets are blacked out.",
        effect: Effect::Write,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let dir = folder(engine, call, "dir", &request.dir)?;
        let source = Vault::new(&dir, &engine.home().join("locks"));
        let unreadable = |source| Error::File { path: dir.display().to_string(), source };
        let namespaces = source.namespaces().map_err(unreadable)?;
        let from = dir.display().to_string();
        let terms = Terms {
            tool: TOOL,
            from: &from,
            overwrite: request.overwrite == Some(true),
            dry_run: request.dry_run == Some(true),
        };
        let mut bringing = Bringing::new(engine, call, terms);
        for (name, reason) in strays(&dir, &|name| namespaces.iter().any(|known| known.as_str() == name)) {
            bringing.brought.leave_out(name, reason);
        }
        for namespace in &namespaces {
            bringing.folder(&source, namespace, namespace, &|_| false)?;
        }
        let l0_synced = l0::sync_after_all(engine, call, &bringing.written).l0_synced;
        Ok(Response {
            dir: from.clone(),
            namespaces: namespaces.iter().map(ToString::to_string).collect(),
            files: bringing.brought,
            l0_synced,
            dry_run: terms.dry_run,
        })
    }
}

/// A folder that the caller named and may read.
pub(crate) fn folder(engine: &Engine, call: &Call<'_>, field: &str, given: &str) -> Result<PathBuf, Error> {
    let dir = paths::reachable(engine, call, field, given)?;
    if !dir.is_dir() {
        return Err(Error::argument(field, "is no folder", "name the folder that holds the files"));
    }
    Ok(dir)
}

/// What lies beside the namespaces' folders and looks as if it was meant to be imported.
fn strays(dir: &Path, is_namespace: &dyn Fn(&str) -> bool) -> Vec<(String, &'static str)> {
    let mut strays = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(sort) = entry.file_type() else { continue };
        if name.starts_with('.') || is_namespace(&name) {
            continue;
        }
        if sort.is_symlink() {
            strays.push((name, "it is a link; what it points at is not followed"));
        } else if sort.is_dir() {
            strays.push((name, "its name cannot be a namespace"));
        } else if name.ends_with(".md") {
            strays.push((name, "it lies in no namespace's folder"));
        }
    }
    strays.sort();
    strays
}

impl Render for Response {
    fn render(&self) -> Document {
        let done = if self.dry_run { "would import" } else { "imported" };
        let text = format!(
            "{done} {} from {} ({} replaced, {} known already, {} left out)",
            counted(self.files.added + self.files.replaced, "file"),
            self.dir,
            self.files.replaced,
            self.files.known,
            self.files.left_out
        );
        let mark = if self.files.left_out == 0 { Mark::Good } else { Mark::Warning };
        self.files.render(Document::new().note(mark, text))
    }
}
