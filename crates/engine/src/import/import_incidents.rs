//! `import_incidents`: takes the Markdown files of a folder as raw events of kind incident.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{scope::Scope, time::Timestamp};
use strata_store::{
    files,
    ledger::{EpisodeFilter, LedgerRead},
};

use super::{
    decide::{authorise, decide},
    incoming::{Findings, Incoming, IncomingEpisode, RowKey},
    prepare::{Origin, prepare},
    report::RowReport,
    settle::settle,
};
use crate::{
    engine::Engine,
    error::Error,
    gate::MAX_BODY,
    memory::{draft::placed, remember::ScopeName},
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    paths,
    render::{Document, Mark, Render},
};

/// See the module.
pub struct ImportIncidents;

/// Where such events come from, as their source.
const SOURCE: &str = "incidents";
/// Metadata that holds the file's name.
const FILE: &str = "file";

/// Which folder.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The folder. Its files that end in .md are taken, those of folders in it are not.
    pub path: String,
    /// Where the incidents belong: the project when one is known, else everywhere.
    pub scope: Option<ScopeName>,
}

/// What was imported.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// Incidents stored now, new versions of changed files among them.
    pub imported: usize,
    /// Files that were here before as they are.
    pub known: usize,
    /// What is said about files.
    #[serde(flatten)]
    pub rows: RowReport,
    /// Where they belong.
    pub scope: String,
    /// The folder as it was named, when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

impl Operation for ImportIncidents {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "import_incidents",
        cli: &["import-incidents"],
        positional: &["path"],
        title: "Import incidents",
        about: "Takes every Markdown file of a folder as a raw event (P2) of kind incident, dated when the file last changed. \
                A file that is here as it is is not stored again, a changed one comes in as a new version beside the old \
                one. Files that cannot be read are listed.",
        effect: Effect::Write,
        audience: Audience::People,
    };
    const ALIASES: &'static [(&'static str, &'static str)] = &[("dir", "path")];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let scope = placed(call.scope, request.scope)?;
        let call = &Call { scope: &scope, ..*call };
        let mut response = Response { scope: scope.to_string(), ..Response::default() };
        let folder = match paths::reachable(engine, call, "path", &request.path) {
            Err(Error::File { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                response.missing = Some(request.path);
                return Ok(response);
            }
            found => found?,
        };
        let mut findings = Findings::default();
        let files = read_folder(&folder, &mut findings)?;
        let ledger = engine.ledger(call)?;
        let episodes = ledger.read(&engine.control(call), |r| name(r, &scope, files))?;
        let origin = Origin::new(engine, call, SOURCE);
        let incoming = Incoming { episodes, findings, ..Incoming::default() };
        let prepared = prepare(engine, &origin, incoming);
        let plan = ledger.read(&engine.control(call), |r| decide(r, &origin, &prepared))?;
        response.known = plan.episodes_known + plan.purged;
        response.rows = RowReport::of(&prepared);
        if !plan.is_empty() {
            let actors = authorise(engine, call, &origin, &prepared, &plan, "import-incidents PATH")?;
            let work = (&prepared, &plan, &actors);
            response.imported = settle(engine, call, &origin, work, None, true, |_| Ok(()))?.episodes;
        }
        Ok(response)
    }
}

/// A file that was read.
struct Incident {
    file: String,
    text: String,
    at: Option<Timestamp>,
}

/// The files of a folder by name. One that cannot be read is noted, and the others go on.
fn read_folder(folder: &Path, findings: &mut Findings) -> Result<Vec<Incident>, Error> {
    let failed = |source| Error::File { path: folder.display().to_string(), source };
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_markdown = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("md"));
        if is_markdown && !path.is_dir() {
            paths.push(path);
        }
    }
    paths.sort();
    let mut incidents = Vec::new();
    for path in paths {
        let file = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        match read_file(&path) {
            Ok(text) => incidents.push(Incident { at: modified(&path), file, text }),
            Err(why) => findings.reject(format_args!("`{file}`"), why),
        }
    }
    Ok(incidents)
}

fn read_file(path: &Path) -> Result<String, String> {
    let bytes = files::read_regular(path, MAX_BODY as u64).map_err(|e| e.to_string())?;
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text; save it as UTF-8")?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if text.trim().is_empty() { Err("it is empty".into()) } else { Ok(text.to_owned()) }
}

fn modified(path: &Path) -> Option<Timestamp> {
    let at = fs::metadata(path).and_then(|m| m.modified()).ok()?;
    jiff::Timestamp::try_from(at).ok().map(Timestamp::from)
}

/// The files as events, named by file and content, with the version that each would be.
fn name(
    r: &LedgerRead<'_>,
    scope: &Scope,
    files: Vec<Incident>,
) -> Result<Vec<IncomingEpisode>, strata_store::StoreError> {
    let stored = EpisodeFilter {
        exactly: Some(scope.clone()),
        source: Some(SOURCE.to_owned()),
        limit: usize::MAX,
        ..EpisodeFilter::default()
    };
    let mut versions: HashMap<String, usize> = HashMap::new();
    for episode in r.episodes(&stored)? {
        let metadata: BTreeMap<String, String> = serde_json::from_str(&episode.metadata).unwrap_or_default();
        *versions.entry(metadata.get(FILE).cloned().unwrap_or_default()).or_default() += 1;
    }
    files
        .into_iter()
        .map(|incident| {
            // Keyed with the store's own key: the name must not let anybody test what a purged text said.
            let content = blake3::Hash::from_bytes(r.content_key(&incident.text)?).to_hex().to_string();
            let version = versions.get(&incident.file).copied().unwrap_or(0) + 1;
            Ok(IncomingEpisode {
                key: RowKey { table: RowKey::FILE, id: incident.file.clone(), created: content },
                text: incident.text,
                session: None,
                at: incident.at,
                metadata: BTreeMap::from([
                    ("kind".to_owned(), "incident".to_owned()),
                    (FILE.to_owned(), incident.file),
                    ("version".to_owned(), version.to_string()),
                ]),
            })
        })
        .collect()
}

impl Render for Response {
    fn render(&self) -> Document {
        let mut text = format!("imported {} incident(s)", self.imported);
        if self.known > 0 {
            text.push_str(&format!(" ({} known already)", self.known));
        }
        let mark = if self.rows.rejected == 0 { Mark::Good } else { Mark::Warning };
        let document = match &self.missing {
            Some(path) => Document::new().note(Mark::Warning, format!("{text}: there is no folder {path}")),
            None => Document::new().note(mark, text),
        };
        self.rows.render(document)
    }
}
