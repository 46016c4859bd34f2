//! `index`: makes a folder of Markdown searchable where it lies, section by section.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{memory::Layer, policy::Action, time::Timestamp};
use strata_store::ledger::{NewAudit, NewSource, SourceRow, SourceState};

use super::import::index_all;
use crate::{
    authority,
    documents::{self, Section},
    engine::Engine,
    error::Error,
    job::Job,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    paths,
    render::{Block, Document, Mark, Render},
};

/// See the module.
pub struct IndexFiles;

/// Sections of one transaction.
const BATCH: usize = 500;
/// Problems listed in the reply.
const LISTED: usize = 20;
/// Endings of the files that are indexed.
const ENDINGS: [&str; 3] = ["md", "markdown", "mdx"];

/// Which folder.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Request {
    /// A Markdown file, or a folder that holds some. What .gitignore and .strataignore name is left out.
    #[schemars(required)]
    pub path: String,
}

/// What was indexed.
#[derive(Debug, Serialize, Default)]
pub struct Response {
    /// The folder.
    pub root: String,
    /// Files read.
    pub files: usize,
    /// Sections new or changed.
    pub changed: usize,
    /// Sections as before.
    pub unchanged: usize,
    /// Sections that are gone.
    pub gone: usize,
    /// Sections that could not be looked at; they are kept.
    pub unavailable: usize,
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
        job.finish(outcome, |r| format!("{} sections changed, {} gone", r.changed, r.gone))
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
        return Look { root, files: vec![path.to_owned()], problems: Vec::new() };
    }
    let mut look = Look { root: path.to_owned(), files: Vec::new(), problems: Vec::new() };
    let mut walk = ignore::WalkBuilder::new(path);
    walk.require_git(false).follow_links(false).add_custom_ignore_filename(".strataignore");
    walk.sort_by_file_path(Ord::cmp);
    for entry in walk.build() {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|t| t.is_file()) && is_markdown(entry.path()) => {
                look.files.push(entry.into_path());
            }
            Ok(_) => {}
            Err(error) => look.problems.push(error.to_string()),
        }
    }
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
    let known: HashMap<String, SourceRow> = engine
        .ledger(call)?
        .read(&engine.control(call), |r| r.sources(Some(&root)))?
        .into_iter()
        .filter(|s| s.namespace == call.scope.namespace && s.project == call.scope.project)
        .map(|s| (s.path.clone(), s))
        .collect();
    let mut pending: Vec<NewSource> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    let mut unreadable: HashSet<String> = HashSet::new();
    let total = look.files.len() as u64;
    response.problems = look.problems;
    for (done, file) in look.files.iter().enumerate() {
        let name = file.strip_prefix(&look.root).unwrap_or(file).to_string_lossy().replace('\\', "/");
        match read(file) {
            Ok((mtime, size, sections)) => {
                response.files += 1;
                for section in &sections {
                    let new = source(call, &root, &name, section, mtime, size);
                    seen.insert(new.path.clone());
                    let same = known.get(&new.path).is_some_and(|k| k.hash == new.hash && k.state == SourceState::Present);
                    if same { response.unchanged += 1 } else { pending.push(new) }
                }
            }
            Err(error) => {
                response.problems.push(error.to_string());
                unreadable.insert(name);
            }
        }
        if pending.len() >= BATCH {
            response.changed += write(engine, call, &std::mem::take(&mut pending))?;
            job.progress(done as u64 + 1, total, "reading files")?;
        }
    }
    response.changed += write(engine, call, &pending)?;
    retire(engine, call, path, &known, &seen, &unreadable, &mut response)?;
    response.problems.truncate(LISTED);
    index_all(engine, call, job)?;
    Ok(response)
}

fn read(file: &Path) -> Result<(Timestamp, u64, Vec<Section>), Error> {
    let failed = |source| Error::File { path: file.display().to_string(), source };
    let meta = std::fs::metadata(file).map_err(failed)?;
    let modified = meta.modified().ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
    let mtime = Timestamp(modified.and_then(|d| i64::try_from(d.as_micros()).ok()).unwrap_or(0));
    Ok((mtime, meta.len(), documents::read_sections(file)?))
}

fn source(call: &Call<'_>, root: &str, name: &str, section: &Section, mtime: Timestamp, size: u64) -> NewSource {
    let mut hasher = blake3::Hasher::new();
    hasher.update(section.title.as_bytes()).update(&[0]).update(section.body.as_bytes());
    NewSource {
        namespace: call.scope.namespace.clone(),
        project: call.scope.project.clone(),
        root: root.to_owned(),
        path: documents::join_path(name, &section.key),
        size: i64::try_from(size).unwrap_or(i64::MAX),
        mtime,
        hash: *hasher.finalize().as_bytes(),
        state: SourceState::Present,
    }
}

fn write(engine: &Engine, call: &Call<'_>, sections: &[NewSource]) -> Result<usize, Error> {
    if sections.is_empty() {
        return Ok(0);
    }
    let mut hasher = blake3::Hasher::new();
    for section in sections {
        hasher.update(&section.hash);
    }
    let target = format!("documents:{}", sections.len());
    let row = NewAudit {
        layer: Some(Layer::P5),
        after_hash: Some(*hasher.finalize().as_bytes()),
        ..NewAudit::new(call.principal, call.face, "index", &target)
    };
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        let seq = w.record(&row)?;
        for section in sections {
            w.record_source(section, seq)?;
        }
        Ok(())
    })?;
    Ok(sections.len())
}

/// Takes out the sections that are certainly gone, and marks those that could not be looked at.
fn retire(
    engine: &Engine,
    call: &Call<'_>,
    path: &Path,
    known: &HashMap<String, SourceRow>,
    seen: &HashSet<String>,
    unreadable: &HashSet<String>,
    response: &mut Response,
) -> Result<(), Error> {
    let mut marks: Vec<(i64, SourceState)> = Vec::new();
    let mut missing: Vec<&SourceRow> = known.values().filter(|k| !seen.contains(&k.path)).collect();
    missing.sort_by_key(|k| k.number);
    for row in missing {
        let (name, _) = documents::split_path(&row.path);
        let file = Path::new(&row.root).join(&name);
        if !file.starts_with(path) {
            continue;
        }
        let state = match std::fs::metadata(&file) {
            // Readable, so this section was edited away; or the file is now ignored.
            Ok(_) if !unreadable.contains(&name) => SourceState::Gone,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound && path.exists() => SourceState::Gone,
            _ => SourceState::Unavailable,
        };
        match state {
            SourceState::Gone => response.gone += usize::from(row.state != SourceState::Gone),
            _ => response.unavailable += 1,
        }
        // What could not be looked at stays as it was last seen, text and all.
        if state == SourceState::Gone && row.state != SourceState::Gone {
            marks.push((row.number, state));
        }
    }
    if marks.is_empty() {
        return Ok(());
    }
    let target = format!("documents:{}", marks.len());
    let row = NewAudit { layer: Some(Layer::P5), reason: "no longer there", ..NewAudit::new(call.principal, call.face, "index", &target) };
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        let seq = w.record(&row)?;
        marks.iter().try_for_each(|(number, state)| w.mark_source(*number, *state, seq))
    })?;
    Ok(())
}

impl Render for Response {
    fn render(&self) -> Document {
        let text = format!(
            "indexed {} files: {} sections new or changed, {} unchanged, {} gone",
            self.files, self.changed, self.unchanged, self.gone
        );
        let mut document = Document::new().note(Mark::Good, text);
        if self.unavailable > 0 {
            let text = format!("{} sections could not be looked at; they are kept as they were", self.unavailable);
            document = document.note(Mark::Warning, text);
        }
        if !self.problems.is_empty() {
            let rows = self.problems.iter().map(|p| vec![p.clone()]).collect();
            document = document.with(Block::Table { columns: vec!["problem".into()], rows });
        }
        document
    }
}
