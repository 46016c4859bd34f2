//! `compile_wiki`: the memories in force as pages that people read, one per layer, with where each comes from.

mod entries;
mod pages;

use std::{
    collections::BTreeMap,
    io::Read,
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::principal::{Principal, PrincipalKind};
use strata_store::files;

use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    paths,
    render::{Block, Document, Mark, Render, counted},
};
use pages::{INDEX, MARKER, Page};

/// See the module.
pub struct CompileWiki;

/// Where the home's own wiki lies, inside the home.
const OWN: [&str; 2] = ["vault", "wiki"];
/// The largest page that is compared with what would be written, in bytes.
const MAX_PAGE: u64 = 1 << 30;

/// Where to.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The folder to write into. Default: vault/wiki in the home, with all memories; any other folder gets what you see.
    pub dir: Option<String>,
}

/// What was compiled.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// The folder.
    pub dir: String,
    /// Entries by page; the index stands for all of them.
    pub files: BTreeMap<String, usize>,
    /// Memories in the wiki, each counted once.
    pub entries: usize,
    /// Pages written now.
    pub rewritten: usize,
    /// Pages that were as they should be.
    pub unchanged: usize,
    /// Pages of emptied layers that were removed.
    pub removed: usize,
}

impl Operation for CompileWiki {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "compile_wiki",
        cli: &["govern", "wiki"],
        positional: &["dir"],
        title: "Compile the wiki",
        about: "Writes the memories in force as Markdown pages, one per layer, with rules and an index: who wrote each and when, \
                which episodes, evidence or review it came from, what it replaced and who names it. Use it to read or to \
                publish what is known; to look something up call `recall`. The same memories give the same bytes, and only \
                pages that changed are written. Files that Strata did not write are left alone.",
        effect: Effect::Files,
        audience: Audience::Everyone,
    };
    const ALIASES: &'static [(&'static str, &'static str)] = &[("output_path", "dir"), ("target_dir", "dir")];
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["compile-wiki"]];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        engine.existing_ledger()?;
        let own = files::resolve(&own_folder(engine))?;
        let Some(dir) = request.dir.filter(|dir| !dir.trim().is_empty()) else {
            return compile_own(engine, call);
        };
        let dir = paths::writable(engine, call, "dir", &dir)?;
        if dir == own { compile_own(engine, call) } else { compile(engine, call, call, &dir) }
    }
}

/// Whether the home has a wiki of its own.
pub fn exists(engine: &Engine) -> bool {
    starts_as_ours(&own_folder(engine).join(INDEX)) == Some(true)
}

/// Whether a file is a page that was compiled. It repeats memories and is not a source of its own: it is neither
/// indexed, where everybody would find what only some may see, nor backed up, where a purge would leave it behind.
pub fn is_page(path: &Path) -> bool {
    if !std::fs::metadata(path).is_ok_and(|m| m.is_file()) {
        return false;
    }
    let mut start = [0; MARKER.len()];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *MARKER.as_bytes()
}

/// Compiles the home's own wiki. It holds all memories, whoever asks: else it would change with the reader.
pub fn compile_own(engine: &Engine, call: &Call<'_>) -> Result<Response, Error> {
    let system = Principal::new(PrincipalKind::System, "wiki").on_behalf_of(call.principal);
    let as_system = Call { principal: &system, ..*call };
    compile(engine, call, &as_system, &own_folder(engine))
}

fn own_folder(engine: &Engine) -> PathBuf {
    OWN.iter().fold(engine.home().to_path_buf(), |path, part| path.join(part))
}

/// Writes what `reader` sees into `dir`, where `call` may write.
fn compile(engine: &Engine, call: &Call<'_>, reader: &Call<'_>, dir: &Path) -> Result<Response, Error> {
    let ledger = engine.existing_ledger()?;
    let known = ledger.read(&engine.control(call), |r| entries::read(r, reader))?;
    let pages = pages::pages(&known);
    let mut files = BTreeMap::new();
    let mut plan = Vec::new();
    for page in &pages {
        files.insert(page.path.clone(), page.entries);
        plan.push((target(engine, call, dir, &page.path)?, page));
    }
    // Nothing is written before it is clear that everything may be.
    for (path, _) in &plan {
        if starts_as_ours(path) == Some(false) {
            let message = format!("holds {}, which Strata did not write", path.display());
            return Err(Error::argument("dir", message, "choose another folder, or move the file away"));
        }
    }
    let mut response =
        Response { dir: dir.display().to_string(), files, entries: known.len(), ..Response::default() };
    for (path, page) in plan {
        if call.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        if write_if_changed(&path, page)? { response.rewritten += 1 } else { response.unchanged += 1 }
    }
    response.removed = remove_emptied(engine, call, dir, &pages)?;
    Ok(response)
}

/// A file of the wiki, if it lies where the caller may write, wherever links lead.
fn target(engine: &Engine, call: &Call<'_>, dir: &Path, page: &str) -> Result<PathBuf, Error> {
    paths::writable(engine, call, "dir", &dir.join(page).to_string_lossy())
}

fn write_if_changed(path: &Path, page: &Page) -> Result<bool, Error> {
    if files::read_regular(path, MAX_PAGE).is_ok_and(|bytes| bytes == page.text.as_bytes()) {
        return Ok(false);
    }
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder)
        .map_err(|source| Error::File { path: folder.display().to_string(), source })?;
    files::write_atomic(path, page.text.as_bytes())?;
    Ok(true)
}

/// Removes pages of layers that have no entries any more, if Strata wrote them.
fn remove_emptied(engine: &Engine, call: &Call<'_>, dir: &Path, pages: &[Page]) -> Result<usize, Error> {
    let mut removed = 0;
    for name in pages::every_page().filter(|name| !pages.iter().any(|page| page.path == *name)) {
        let path = target(engine, call, dir, &name)?;
        if starts_as_ours(&path) == Some(true) {
            std::fs::remove_file(&path)
                .map_err(|source| Error::File { path: path.display().to_string(), source })?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Whether a file begins with our marker; `None` if there is none.
fn starts_as_ours(path: &Path) -> Option<bool> {
    match files::read_start(path, MARKER.len() as u64) {
        Ok(start) => Some(start.is_empty() || start == MARKER.as_bytes()),
        Err(_) if std::fs::symlink_metadata(path).is_err() => None,
        Err(_) => Some(false),
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let text = format!(
            "compiled {} into {}: {} written, {} unchanged, {} removed",
            counted(self.entries, "memory"),
            self.dir,
            self.rewritten,
            self.unchanged,
            self.removed
        );
        let rows = self.files.iter().map(|(path, entries)| vec![path.clone(), entries.to_string()]).collect();
        Document::new()
            .note(Mark::Good, text)
            .with(Block::Table { columns: ["page", "entries"].map(str::to_owned).to_vec(), rows })
    }
}
