//! `project_trust`: a person lets the files of a project's folder count.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{memory::Layer, policy::Action};
use strata_store::{files, ledger::NewAudit};

use super::{
    HUMAN_FILES, folder,
    trust::{Trusted, TrustedFile, hash},
};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    project::{
        identity::{key_at_hand, people_only},
        root_of,
    },
    render::{Block, Document, Mark, Render},
    settings::CONFIG_FILE,
};

/// See the module.
pub struct Trust;

/// A larger file is not trusted: 1 MiB.
const MAX_FILE: u64 = 1 << 20;

/// What to trust.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Only these files of the folder; all of `config.toml`, `constraints.md`, `team-rules.md`, `decisions.md` by default.
    #[serde(default)]
    pub files: Vec<String>,
    /// Take the trust back instead.
    #[serde(default)]
    pub revoke: bool,
    /// Only show how the files stand.
    #[serde(default)]
    pub show: bool,
}

/// How the files stand now.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// The project's key.
    pub project: String,
    /// The files.
    pub files: Vec<Standing>,
}

/// How a file stands.
#[derive(Debug, Serialize)]
pub struct Standing {
    /// Its name in the folder.
    pub name: String,
    /// `trusted`, `not trusted`, `changed` since it was trusted, or `absent`.
    pub status: &'static str,
    /// The BLAKE3 of its bytes, where it is there.
    pub hash: Option<String>,
}

/// Files that are meant, with their bytes where they are there.
type Found = Vec<(&'static str, Option<Vec<u8>>)>;

impl Operation for Trust {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "project_trust",
        cli: &["project", "trust"],
        positional: &["files"],
        title: "Trust a project's own files",
        about: "Lets the files of `.strata/` count as yours: until then, and again after any change, `config.toml` only narrows \
                and the rules in the others are unconfirmed text. Read them first. Only a person may, with the passphrase. \
                `show` tells anybody how they stand, `revoke` takes the trust back.",
        effect: Effect::Write,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        if !request.show {
            let why = "whether a project's own files count is for a person to say";
            people_only(engine, call, Self::SPEC.tool, why)?;
        }
        let root = root_of(engine)?;
        let project = key_at_hand(call)?;
        let found: Found = names(&request.files)?.into_iter().map(|name| (name, read(&root, name))).collect();
        if request.show {
            return Ok(standing(&Trusted::read(engine.home()), project, &found));
        }
        if !request.revoke && found.iter().all(|(_, bytes)| bytes.is_none()) {
            let message = format!("there is nothing to trust in `{}`", folder(&root).display());
            return Err(Error::Conflict { message, hint: "write one of the files first".into() });
        }
        record(engine, call, &request, &project, &found)?;
        let at = engine.clock().now().to_rfc3339();
        let trusted = Trusted::change(engine.home(), &engine.control(call), |files| {
            files.retain(|file| file.project != project || found.iter().all(|(name, _)| file.name != *name));
            if !request.revoke {
                files.extend(found.iter().filter_map(|(name, bytes)| {
                    let (project, at, hash) = (project.clone(), at.clone(), hash(bytes.as_ref()?));
                    Some(TrustedFile { project, name: (*name).to_owned(), hash, at })
                }));
            }
        })?;
        Ok(standing(&trusted, project, &found))
    }
}

/// Puts it on record before it counts: a trust that the audit does not know would be worse than one that failed.
fn record(
    engine: &Engine,
    call: &Call<'_>,
    request: &Request,
    project: &str,
    found: &Found,
) -> Result<(), Error> {
    let (action, word) = match request.revoke {
        true => (Action::Reject, "project_distrust"),
        false => (Action::Approve, Trust::SPEC.tool),
    };
    let actor = authority::authorise_as(engine, call, action, word, Layer::P5, project)
        .map_err(|e| e.with_command("strata project trust"))?;
    let names: Vec<&str> = found.iter().filter(|(_, bytes)| bytes.is_some()).map(|(name, _)| *name).collect();
    let names = names.join(", ");
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        let row = NewAudit::new(&actor, call.face, word, project);
        w.record(&NewAudit { reason: &names, layer: Some(Layer::P5), ..row })?;
        authority::seal(w, call, &actor)
    })?;
    Ok(())
}

/// The files that are meant.
fn names(asked: &[String]) -> Result<Vec<&'static str>, Error> {
    let known: Vec<&'static str> = [CONFIG_FILE].into_iter().chain(HUMAN_FILES).collect();
    if asked.is_empty() {
        return Ok(known);
    }
    let hint = format!("use some of {}", known.join(", "));
    let found = |name: &String| known.iter().copied().find(|known| known == name);
    let wrong = || Error::argument("files", "names a file that cannot be trusted", hint.clone());
    asked.iter().map(|name| found(name).ok_or_else(wrong)).collect()
}

/// A plain file's bytes; a link in a clone leads elsewhere.
fn read(root: &Path, name: &str) -> Option<Vec<u8>> {
    let folder = folder(root);
    let is_plain = std::fs::symlink_metadata(&folder).is_ok_and(|found| found.is_dir());
    is_plain.then(|| files::read_regular(&folder.join(name), MAX_FILE).ok()).flatten()
}

fn standing(trusted: &Trusted, project: String, found: &Found) -> Response {
    let of = |(name, bytes): &(&'static str, Option<Vec<u8>>)| {
        let was = trusted.of(&project).any(|file| file.name == *name);
        let status = match bytes {
            None => "absent",
            Some(bytes) if trusted.has(name, bytes) => "trusted",
            Some(_) if was => "changed",
            Some(_) => "not trusted",
        };
        Standing { name: (*name).to_owned(), status, hash: bytes.as_ref().map(|bytes| hash(bytes)) }
    };
    Response { files: found.iter().map(of).collect(), project }
}

impl Render for Response {
    fn render(&self) -> Document {
        let row = |file: &Standing| {
            let hash = file.hash.as_deref().unwrap_or("").chars().take(12).collect();
            vec![file.name.clone(), file.status.to_owned(), hash]
        };
        let columns = ["file", "status", "hash"].map(str::to_owned).to_vec();
        let rows = self.files.iter().map(row).collect();
        let document = Document::new().with(Block::Table { columns, rows });
        if self.files.iter().any(|file| file.status == "changed") {
            let said = "A file changed since it was trusted. Read it, then run `strata project trust` again.";
            return document.note(Mark::Warning, said);
        }
        document
    }
}
