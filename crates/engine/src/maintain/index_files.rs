//! `index`: makes a folder of Markdown searchable where it lies, section by section.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{memory::Layer, policy::Action, redact::redact, time::Timestamp};
use strata_store::ledger::{NewAudit, NewSource, SourceRow, SourceState};

use super::reindex::index_everything;
use crate::{
    authority, documents,
    engine::Engine,
    error::Error,
    job::Job,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    paths,
    project::{ignores, storable},
    render::{Block, Document, Mark, Render, counted},
    wiki,
};

/// See the module.
pub struct IndexFiles;

/// Files of one transaction.
const BATCH: usize = 500;
/// Problems listed in the reply.
const LISTED: usize = 20;
/// Endings of the files that are indexed.
const ENDINGS: [&str; 3] = ["md", "markdown", "mdx"];

/// Which folder.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// A Markdown file, or a folder that holds some. What .gitignore and .strataignore name and pages that `compile_wiki` wrote are left out.
    pub path: String,
}

/// What was indexed.
#[derive(Debug, Serialize, Default)]
pub struct Response {
    /// The folder.
    pub root: String,
    /// Files new or changed.
    pub changed: usize,
    /// Files as before.
    pub unchanged: usize,
    /// Files that are gone.
    pub gone: usize,
    /// Files that could not be looked at; they stay searchable as they were.
    pub unavailable: usize,
    /// Sections in the files that were read.
    pub sections: usize,
    /// Files that could not be read, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Where they belong.
    pub scope: String,
}

impl Operation for IndexFiles {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "index",
        cli: &["index"],
        positional: &["path"],
        title: "Index Markdown files",
        about: "Makes Markdown files searchable by heading, where they lie. Run it again after changes: only what changed is \
                read anew, sections that are gone leave the search, and a folder that cannot be reached is never taken for \
                deleted. Their text stays in the files; nothing is copied into the ledger.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let path = paths::reachable(engine, call, "path", &request.path)?;
        authority::authorise(engine, call, Action::Remember, Layer::P5, "")?;
        let job = Job::start(engine, call, "index", 0)?;
        let outcome = index(engine, call, &job, &path);
        job.finish(outcome, |r| format!("{} changed, {} gone", counted(r.changed, "file"), r.gone))
    }
}

/// What one look at a folder found.
struct Look {
    root: PathBuf,
    files: Vec<PathBuf>,
    problems: Vec<String>,
}

fn look(path: &Path) -> Look {
    if path.is_file() {
        let root = path.parent().unwrap_or(path).to_owned();
        let files = if wiki::is_page(path) { Vec::new() } else { vec![path.to_owned()] };
        return Look { root, files, problems: Vec::new() };
    }
    let mut look = Look { root: path.to_owned(), files: Vec::new(), problems: Vec::new() };
    let closed = ignores::Closed::default();
    let Some(mut walk) = ignores::walk(path, &closed, |_| true) else {
        look.problems.push(ignores::refusal(""));
        return look;
    };
    walk.hidden(true).add_custom_ignore_filename(".strataignore");
    walk.sort_by_file_path(Ord::cmp);
    for entry in walk.build() {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|t| t.is_file()) && is_markdown(entry.path()) => {
                look.files.extend((!wiki::is_page(entry.path())).then(|| entry.into_path()));
            }
            Ok(_) => {}
            Err(error) => look.problems.push(error.to_string()),
        }
    }
    look.problems.extend(closed.folders().iter().map(|folder| ignores::refusal(&folder.to_string_lossy())));
    look
}

fn is_markdown(path: &Path) -> bool {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    ending.is_some_and(|e| ENDINGS.contains(&e.as_str()))
}

fn index(engine: &Engine, call: &Call<'_>, job: &Job<'_>, path: &Path) -> Result<Response, Error> {
    let look = look(path);
    let root = look.root.to_string_lossy().into_owned();
    let mut response = Response { root: root.clone(), scope: call.scope.to_string(), ..Response::default() };
    let known = known_files(engine, call, &root)?;
    let mut pending: Vec<NewSource> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    let total = look.files.len() as u64;
    response.problems = look.problems;
    for (done, file) in look.files.iter().enumerate() {
        let name = file.strip_prefix(&look.root).unwrap_or(file).to_string_lossy().replace('\\', "/");
        match read(call, &root, &name, file) {
            Ok((new, sections)) => {
                seen.insert(name.clone());
                response.sections += sections;
                let same =
                    known.get(&name).is_some_and(|k| k.hash == new.hash && k.state == SourceState::Present);
                if same { response.unchanged += 1 } else { pending.push(new) }
            }
            Err(error) => response.problems.push(error.to_string()),
        }
        if pending.len() >= BATCH {
            response.changed += write(engine, call, &std::mem::take(&mut pending))?;
            job.progress(done as u64 + 1, total, "reading files")?;
        }
    }
    response.changed += write(engine, call, &pending)?;
    retire(engine, call, path, &known, &seen, &mut response)?;
    response.problems.truncate(LISTED);
    index_everything(engine, call, &mut |done, total| job.progress(done, total, "indexing"))?;
    Ok(response)
}

fn known_files(engine: &Engine, call: &Call<'_>, root: &str) -> Result<HashMap<String, SourceRow>, Error> {
    let rows = engine.ledger(call)?.read(&engine.control(call), |r| r.sources(Some(root)))?;
    let here =
        rows.into_iter().filter(|s| s.namespace == call.scope.namespace && s.project == call.scope.project);
    Ok(here.map(|s| (s.path.clone(), s)).collect())
}

/// What a file is now, and how many sections it has.
fn read(call: &Call<'_>, root: &str, name: &str, file: &Path) -> Result<(NewSource, usize), Error> {
    let failed = |source| Error::File { path: file.display().to_string(), source };
    if redact(&file.to_string_lossy()).is_redacted() {
        // The path is stored and must lead back to the file, so it cannot be blacked out.
        let hint = "rename the file or its folder, then index it again";
        return Err(Error::argument("path", format!("`{}` has a secret in its name", storable(name)), hint));
    }
    let meta = std::fs::metadata(file).map_err(failed)?;
    let modified = meta.modified().ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
    let sections = documents::read_sections(file)?;
    let mut hasher = blake3::Hasher::new();
    for section in &sections {
        for text in [&section.title, &section.body] {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
    }
    let new = NewSource {
        namespace: call.scope.namespace.clone(),
        project: call.scope.project.clone(),
        root: root.to_owned(),
        path: name.to_owned(),
        size: i64::try_from(meta.len()).unwrap_or(i64::MAX),
        mtime: Timestamp(modified.and_then(|d| i64::try_from(d.as_micros()).ok()).unwrap_or(0)),
        hash: *hasher.finalize().as_bytes(),
        state: SourceState::Present,
    };
    Ok((new, sections.len()))
}

/// Records files as they are now, in one transaction, and returns how many.
pub(crate) fn write(engine: &Engine, call: &Call<'_>, files: &[NewSource]) -> Result<usize, Error> {
    if files.is_empty() {
        return Ok(0);
    }
    let mut hasher = blake3::Hasher::new();
    for file in files {
        hasher.update(&file.hash);
    }
    let target = format!("documents:{}", files.len());
    let row = NewAudit {
        layer: Some(Layer::P5),
        after_hash: Some(*hasher.finalize().as_bytes()),
        ..NewAudit::new(call.principal, call.face, "index", &target)
    };
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        let seq = w.record(&row)?;
        files.iter().try_for_each(|file| w.record_source(file, seq).map(drop))
    })?;
    Ok(files.len())
}

/// Takes out the files that are certainly gone. One that could not be looked at stays as it was last seen.
fn retire(
    engine: &Engine,
    call: &Call<'_>,
    path: &Path,
    known: &HashMap<String, SourceRow>,
    seen: &HashSet<String>,
    response: &mut Response,
) -> Result<(), Error> {
    let mut gone: Vec<i64> = Vec::new();
    for row in known.values().filter(|k| k.state != SourceState::Gone && !seen.contains(&k.path)) {
        let file = Path::new(&row.root).join(&row.path);
        if !file.starts_with(path) {
            continue;
        }
        match std::fs::File::open(&file) {
            // Readable but not listed: it is ignored now, or too large.
            Ok(_) => gone.push(row.number),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound && path.exists() => gone.push(row.number),
            Err(_) => response.unavailable += 1,
        }
    }
    response.gone = gone.len();
    forget(engine, call, gone)
}

/// Records files of these numbers as gone.
pub(crate) fn forget(engine: &Engine, call: &Call<'_>, mut gone: Vec<i64>) -> Result<(), Error> {
    if gone.is_empty() {
        return Ok(());
    }
    gone.sort_unstable();
    let target = format!("documents:{}", gone.len());
    let new = NewAudit::new(call.principal, call.face, "index", &target);
    let row = NewAudit { layer: Some(Layer::P5), reason: "no longer there", ..new };
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        let seq = w.record(&row)?;
        gone.iter().try_for_each(|number| w.mark_source(*number, SourceState::Gone, seq))
    })?;
    Ok(())
}

impl Render for Response {
    fn render(&self) -> Document {
        let text = format!(
            "indexed {}: {} new or changed, {} unchanged, {} gone; {}",
            self.root,
            counted(self.changed, "file"),
            self.unchanged,
            self.gone,
            counted(self.sections, "section")
        );
        let mut document = Document::new().note(Mark::Good, text);
        if self.unavailable > 0 {
            let text = format!(
                "{} could not be looked at and stays searchable as it was",
                counted(self.unavailable, "file")
            );
            document = document.note(Mark::Warning, text);
        }
        if !self.problems.is_empty() {
            let rows = self.problems.iter().map(|p| vec![p.clone()]).collect();
            document = document.with(Block::Table { columns: vec!["problem".into()], rows });
        }
        document
    }
}
