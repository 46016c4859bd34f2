//! `purge`: erases a memory or a raw event for good, and proves that it is gone.

mod resting;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    graph::Origin,
    id::{Id, IdKind},
    memory::{Layer, Status},
    policy::Action,
    principal::Principal,
};
use strata_store::{
    backup,
    index::{Source, SourceKind},
    ledger::{
        EntityFilter, EpisodeFilter, FILE_NAME, LOCAL, LedgerRead, MemoryFilter, NewAudit, OpenPurge,
        PurgedKind, RelationFilter, SourceState,
    },
};

use super::{
    backup::{FOLDER, directory},
    byte_scan::{Fragments, scan},
    counted, purged,
    reindex::{index_everything, with_writer},
};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    gate::Gate,
    memory::reference::Reference,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Render},
    wiki,
};

/// See the module.
pub struct Purge;

/// Rows read at a time.
const PAGE: usize = 500;

/// What to erase.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The whole id of a memory (mem_... or #number), a raw event (ep_...) or an entity (ent_...).
    pub id: String,
    /// Also rewrite the backups, so that they do not hold it either.
    pub backups: Option<bool>,
    /// Why, for the audit. Do not repeat the text here: the audit is never erased.
    pub reason: Option<String>,
}

/// What was erased, and what is left of it.
#[derive(Debug, Serialize)]
pub struct Response {
    /// What it was.
    pub id: String,
    /// `memory`, `episode` or `entity`.
    pub kind: &'static str,
    /// Its number, which is not given again.
    pub number: i64,
    /// Whether an earlier purge had removed it and this one only completed the work.
    pub completed_earlier: bool,
    /// Backups that were rewritten.
    pub backups_rewritten: usize,
    /// Old or damaged index files that were removed.
    pub index_files_removed: usize,
    /// Whether every file of the home was searched and none holds a piece of the text.
    pub verified: bool,
    /// Files searched.
    pub files_scanned: usize,
    /// Pieces of the text that were looked for; 0 when nothing in it tells it from other texts.
    pub fragments: usize,
    /// Files that still hold a piece of it.
    pub remaining: Vec<String>,
    /// Backups that still hold a piece of it.
    pub remaining_backups: Vec<String>,
    /// Files that could not be searched.
    pub unreadable: Vec<String>,
    /// Earlier and later versions of the memory; each is a memory of its own and is still there.
    pub other_versions: Vec<String>,
    /// Digests that had words of it and were erased with it. What else they covered is distilled anew.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub digests_erased: Vec<String>,
    /// Digests that cover it without its words, and later versions of erased ones; they are still here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub digests_kept: Vec<String>,
}

impl Operation for Purge {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "purge",
        cli: &["purge"],
        positional: &["id"],
        title: "Erase for good",
        about: "Erases a memory, raw event or entity from the ledger, the index and their logs, so that no byte of its text is left, \
                and looks through every file of the home to prove it. Cannot be undone; only the fact that it was purged \
                stays on record, so that no restore brings it back. Digests that quote it go with it. For people with the \
                passphrase only. To take something out of use, `forget` is enough.",
        effect: Effect::Destroy,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let id = target_id(engine, call, &request.id)?;
        let resting = resting::find(engine, call, &id)?;
        let erased = resting::erase(engine, call, &resting, request.backups)?;
        let mut response = one(engine, call, &id, &request)?;
        response.digests_kept = resting.others;
        response.digests_erased = erased;
        Ok(response)
    }
}

/// Erases one thing and looks for what is left of it.
fn one(engine: &Engine, call: &Call<'_>, id: &Id, request: &Request) -> Result<Response, Error> {
    let reason = Gate::default().field("reason", request.reason.as_deref())?.unwrap_or_default();
    let target = find(engine, call, id)?;
    let actor = authority::authorise(engine, call, Action::Purge, target.layer, id.as_str())?;
    let fragments = telling_fragments(engine, call, &target)?;
    let open = open(engine, call, &target, request.backups.unwrap_or(false))?;
    erase(engine, call, &actor, &target, &open, &reason)?;
    let (index_files_removed, backups_rewritten) = finish(engine, call, &actor, &target, &open)?;
    let mut response = Response {
        id: target.id.clone(),
        kind: target.kind.as_str(),
        number: target.number,
        completed_earlier: target.already,
        backups_rewritten,
        index_files_removed,
        verified: false,
        files_scanned: 0,
        fragments: fragments.len(),
        remaining: Vec::new(),
        remaining_backups: Vec::new(),
        unreadable: Vec::new(),
        other_versions: target.other_versions,
        digests_erased: Vec::new(),
        digests_kept: Vec::new(),
    };
    response.prove(engine.home(), &fragments)?;
    Ok(response)
}

/// The note of this purge; one that was cut short keeps what it was to do.
fn open(engine: &Engine, call: &Call<'_>, target: &Target, backups: bool) -> Result<OpenPurge, Error> {
    let known = engine.existing_ledger()?.read(&engine.control(call), |r| r.open_purges())?;
    let earlier = known.iter().any(|p| p.id == target.id && p.backups);
    Ok(OpenPurge { kind: target.kind, id: target.id.clone(), backups: backups || earlier })
}

/// Removes from all files what the ledger has given up. Can be done again at any point.
///
/// Returns how many index files were removed and how many backups rewritten.
fn finish(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    target: &Target,
    open: &OpenPurge,
) -> Result<(usize, usize), Error> {
    let control = engine.control(call);
    purged::add(engine.home(), &control, target.kind, &target.id, engine.clock().now())?;
    let index_files = erase_from_index(engine, call, target)?;
    let ledger = engine.existing_ledger()?;
    ledger.database().compact(&control)?;
    let backups = if open.backups { erase_from_backups(engine, call, actor, target)? } else { 0 };
    if wiki::exists(engine) {
        wiki::compile_own(engine, call)?;
    }
    ledger.write(&control, engine.clock().now(), |w| w.close_purge(&target.id))?;
    Ok((index_files, backups))
}

/// Completes a purge that was cut short; false if what it names is in the ledger (again).
pub(super) fn complete(engine: &Engine, call: &Call<'_>, open: &OpenPurge) -> Result<bool, Error> {
    let control = engine.control(call);
    let Some(target) = engine.existing_ledger()?.read(&control, |r| tombstone(r, open.kind, &open.id))?
    else {
        return Ok(false);
    };
    finish(engine, call, call.principal, &target, open)?;
    Ok(true)
}

/// What is to be erased.
struct Target {
    id: String,
    kind: PurgedKind,
    number: i64,
    layer: Layer,
    hash: Option<[u8; 32]>,
    texts: Vec<String>,
    other_versions: Vec<String>,
    already: bool,
}

fn target_id(engine: &Engine, call: &Call<'_>, text: &str) -> Result<Id, Error> {
    let hint = "a purge needs the whole id, such as mem_0123456789, ep_0123456789, ent_0123456789 or #12";
    let wrong = || Error::argument("id", "is not the whole id of a memory, event or entity", hint);
    if let Ok(Reference::Number(number)) = Reference::read("id", text) {
        let ledger = engine.existing_ledger()?;
        let id = ledger.read(&engine.control(call), |r| {
            let earlier =
                r.purged()?.into_iter().find(|p| p.kind == PurgedKind::Memory && p.number == number);
            Ok(r.memory_by_number(number)?.map(|m| m.id).or(earlier.map(|p| p.id)))
        })?;
        let missing = || Error::NotFound {
            what: "memory",
            id: format!("#{number}"),
            hint: "`strata recall` and `strata inspect` show ids".into(),
        };
        return Id::parse(&id.ok_or_else(missing)?).map_err(|_| wrong());
    }
    match Id::parse(text) {
        Ok(id) if matches!(id.kind(), IdKind::Memory | IdKind::Episode | IdKind::Entity) => Ok(id),
        _ => Err(wrong()),
    }
}

fn find(engine: &Engine, call: &Call<'_>, id: &Id) -> Result<Target, Error> {
    let ledger = engine.existing_ledger()?;
    let found = ledger.read(&engine.control(call), |r| match id.kind() {
        IdKind::Memory => memory(r, id.as_str()),
        IdKind::Entity => entity(r, id.as_str()),
        _ => episode(r, id.as_str()),
    })?;
    let what = match id.kind() {
        IdKind::Memory => "memory",
        IdKind::Entity => "entity",
        _ => "episode",
    };
    let hint = "`strata recall`, `strata inspect` and `strata graph entities` show whole ids";
    found.ok_or_else(|| Error::NotFound { what, id: id.to_string(), hint: hint.into() })
}

fn memory(r: &LedgerRead<'_>, id: &str) -> Result<Option<Target>, strata_store::error::StoreError> {
    let Some(row) = r.memory(id)? else { return tombstone(r, PurgedKind::Memory, id) };
    let line = r.history(row.number)?.line;
    let mut texts = vec![row.body, row.title];
    texts.extend(r.rule_history(row.number)?.into_iter().filter_map(|rule| rule.attributes.condition));
    for evidence in r.evidence(row.number)? {
        texts.extend([evidence.reference, evidence.note]);
    }
    Ok(Some(Target {
        id: row.id,
        kind: PurgedKind::Memory,
        number: row.number,
        layer: row.state.layer,
        hash: Some(row.content_hash),
        texts,
        other_versions: line.into_iter().map(|m| m.id).filter(|other| other != id).collect(),
        already: false,
    }))
}

fn episode(r: &LedgerRead<'_>, id: &str) -> Result<Option<Target>, strata_store::error::StoreError> {
    let Some(row) = r.episode(id)? else { return tombstone(r, PurgedKind::Episode, id) };
    Ok(Some(Target {
        id: row.id,
        kind: PurgedKind::Episode,
        number: row.number,
        layer: Layer::P2,
        hash: None,
        texts: vec![row.text],
        other_versions: Vec::new(),
        already: false,
    }))
}

fn entity(r: &LedgerRead<'_>, id: &str) -> Result<Option<Target>, strata_store::error::StoreError> {
    let Some(row) = r.entity(id)? else { return tombstone(r, PurgedKind::Entity, id) };
    let mut texts = vec![row.label];
    let mut described = vec![row.properties];
    let touching = RelationFilter {
        touching: Some(row.number),
        ended: true,
        limit: usize::MAX,
        ..RelationFilter::default()
    };
    for relation in r.relations(&touching)? {
        texts.push(relation.reason);
        described.push(relation.properties);
    }
    texts.extend(described.iter().flat_map(|json| property_texts(json)));
    Ok(Some(Target {
        id: row.id,
        kind: PurgedKind::Entity,
        number: row.number,
        layer: Layer::P5,
        hash: None,
        texts,
        other_versions: Vec::new(),
        already: false,
    }))
}

/// The texts in a JSON object of properties.
fn property_texts(json: &str) -> Vec<String> {
    let properties: BTreeMap<String, String> = serde_json::from_str(json).unwrap_or_default();
    properties.into_values().collect()
}

/// Something whose purge was begun: what is left of it can still be removed.
fn tombstone(
    r: &LedgerRead<'_>,
    kind: PurgedKind,
    id: &str,
) -> Result<Option<Target>, strata_store::error::StoreError> {
    let stone = r.purged()?.into_iter().find(|p| p.kind == kind && p.id == id);
    Ok(stone.map(|p| Target {
        id: p.id,
        kind,
        number: p.number,
        layer: Layer::P5,
        hash: None,
        texts: Vec::new(),
        other_versions: Vec::new(),
        already: true,
    }))
}

/// Pieces of the text that nothing else in the home says.
fn telling_fragments(engine: &Engine, call: &Call<'_>, target: &Target) -> Result<Fragments, Error> {
    let mut fragments = Fragments::of(target.texts.iter().map(String::as_str));
    if fragments.is_empty() {
        return Ok(fragments);
    }
    let ledger = engine.existing_ledger()?;
    let documents = ledger.read(&engine.control(call), |r| {
        forget_other_memories(r, target, &mut fragments)?;
        forget_other_episodes(r, target, &mut fragments)?;
        forget_other_entities(r, target, &mut fragments)?;
        r.sources(None)
    })?;
    let mut files: Vec<PathBuf> = documents
        .iter()
        .filter(|s| s.state == SourceState::Present)
        .map(|s| Path::new(&s.root).join(&s.path))
        .collect();
    files.dedup();
    for file in files {
        call_goes_on(call)?;
        // A file that cannot be read is in no other place to compare with; the scan errs on the safe side.
        if let Ok(bytes) = std::fs::read(&file) {
            fragments.forget_those_in(&String::from_utf8_lossy(&bytes));
        }
    }
    Ok(fragments)
}

fn forget_other_memories(
    r: &LedgerRead<'_>,
    target: &Target,
    fragments: &mut Fragments,
) -> Result<(), strata_store::error::StoreError> {
    let mut before = None;
    loop {
        let filter =
            MemoryFilter { statuses: Status::ALL.to_vec(), before, limit: PAGE, ..MemoryFilter::default() };
        let page = r.memories(&filter)?;
        let Some(last) = page.last() else { return Ok(()) };
        before = Some(last.number);
        for row in page.iter().filter(|row| row.id != target.id) {
            for text in [&row.body, &row.title] {
                fragments.forget_those_in(text);
            }
            for rule in r.rule_history(row.number)? {
                rule.attributes.condition.iter().for_each(|text| fragments.forget_those_in(text));
            }
            for evidence in r.evidence(row.number)? {
                fragments.forget_those_in(&evidence.reference);
                fragments.forget_those_in(&evidence.note);
            }
        }
    }
}

fn forget_other_episodes(
    r: &LedgerRead<'_>,
    target: &Target,
    fragments: &mut Fragments,
) -> Result<(), strata_store::error::StoreError> {
    let mut after = 0;
    loop {
        let page = r.episodes(&EpisodeFilter { after, limit: PAGE, ..EpisodeFilter::default() })?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.number;
        for row in page.iter().filter(|row| row.id != target.id) {
            fragments.forget_those_in(&row.text);
        }
    }
}

/// What somebody said of an entity stays when a memory goes that says the same.
fn forget_other_entities(
    r: &LedgerRead<'_>,
    target: &Target,
    fragments: &mut Fragments,
) -> Result<(), strata_store::error::StoreError> {
    let mut after = 0;
    loop {
        let stated =
            EntityFilter { origin: Some(Origin::Stated), after, limit: PAGE, ..EntityFilter::default() };
        let page = r.entities(&stated)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.number;
        for row in page.iter().filter(|row| row.id != target.id) {
            fragments.forget_those_in(&row.label);
            property_texts(&row.properties).iter().for_each(|text| fragments.forget_those_in(text));
        }
    }
}

fn call_goes_on(call: &Call<'_>) -> Result<(), Error> {
    if call.cancel.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}

fn erase(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    target: &Target,
    open: &OpenPurge,
    reason: &str,
) -> Result<(), Error> {
    let row = NewAudit {
        layer: Some(target.layer),
        reason,
        before_hash: target.hash,
        ..NewAudit::new(actor, call.face, Action::Purge.as_str(), &target.id)
    };
    engine.existing_ledger()?.write(&engine.control(call), engine.clock().now(), |w| {
        w.open_purge(open)?;
        if target.already {
            return Ok(());
        }
        let seq = w.record(&row)?;
        w.purge(target.kind, &target.id, seq)?;
        authority::seal(w, call, actor)
    })?;
    Ok(())
}

/// Removes the text from the index and removes every other index file: those of older versions and those
/// that were damaged hold it too, and come back by themselves where they are needed.
fn erase_from_index(engine: &Engine, call: &Call<'_>, target: &Target) -> Result<usize, Error> {
    let index = engine.searcher().index();
    if index.database().exists() {
        index_everything(engine, call, &mut |_, _| call_goes_on(call))?;
        let kind = match target.kind {
            PurgedKind::Memory => Some(SourceKind::Memory),
            PurgedKind::Episode => Some(SourceKind::Episode),
            // Entities are looked up in the ledger and have no passages.
            PurgedKind::Entity => None,
        };
        if let Some(kind) = kind {
            let source = Source { kind, number: target.number };
            with_writer(engine, call, index, |writer| writer.purge(LOCAL, &[source]))?;
        }
    }
    let files = other_index_files(engine.home(), index.path())?;
    for file in &files {
        std::fs::remove_file(file)
            .map_err(|source| Error::File { path: file.display().to_string(), source })?;
    }
    Ok(files.len())
}

/// Index files of the home that do not belong to the one in use.
pub(super) fn other_index_files(home: &Path, own: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |source| Error::File { path: home.display().to_string(), source };
    let own = own.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let mut files = Vec::new();
    for entry in std::fs::read_dir(home).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_index = name.starts_with("index-") && (name.contains(".db") || name.contains(".damaged-"));
        if is_index && !name.starts_with(&own) && entry.file_type().map_err(failed)?.is_file() {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

fn erase_from_backups(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    target: &Target,
) -> Result<usize, Error> {
    let purged = [(target.kind, target.id.clone())];
    let how = backup::Restore {
        epoch: "",
        now: engine.clock().now(),
        principal: actor,
        face: call.face,
        purged: &purged,
        force: false,
    };
    let mut rewritten = 0;
    for listed in backup::list(&directory(engine))? {
        call_goes_on(call)?;
        // A backup that cannot be read is left to the scan, which names it if it holds the text.
        if listed.manifest.is_ok() && backup::purge(&listed.directory, &engine.control(call), &how)? > 0 {
            rewritten += 1;
        }
    }
    Ok(rewritten)
}

impl Response {
    fn prove(&mut self, home: &Path, fragments: &Fragments) -> Result<(), Error> {
        let found = scan(home, fragments)?;
        let backups = home.join(FOLDER);
        let name = |path: &PathBuf| path.strip_prefix(home).unwrap_or(path).display().to_string();
        let (in_backups, remaining): (Vec<_>, Vec<_>) =
            found.holding.iter().partition(|path| path.starts_with(&backups));
        self.files_scanned = found.files;
        self.remaining = remaining.into_iter().map(name).collect();
        self.remaining_backups = in_backups.into_iter().map(name).collect();
        self.unreadable = found.unreadable.iter().map(name).collect();
        self.verified = !fragments.is_empty()
            && self.remaining.is_empty()
            && self.remaining_backups.is_empty()
            && self.unreadable.is_empty();
        Ok(())
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let mut document =
            Document::new().note(Mark::Good, format!("purged {} {} (#{})", self.kind, self.id, self.number));
        if !self.other_versions.is_empty() {
            let text = format!(
                "other versions are memories of their own and still here: {}; purge them too if they say it",
                self.other_versions.join(", ")
            );
            document = document.note(Mark::Warning, text);
        }
        if !self.digests_erased.is_empty() {
            let text =
                format!("erased with it the digests that quote it: {}", self.digests_erased.join(", "));
            document = document.note(Mark::Good, text);
        }
        if !self.digests_kept.is_empty() {
            let text = format!(
                "these rest on it without quoting it, or came of a digest that did, and are still here: {}",
                self.digests_kept.join(", ")
            );
            document = document.note(Mark::Warning, text);
        }
        if self.verified {
            let text = format!(
                "searched {} of the home: no byte of it is left",
                counted(self.files_scanned, "file")
            );
            return document.note(Mark::Good, text);
        }
        if self.fragments == 0 {
            let why = if self.completed_earlier {
                "its text was gone before, so there is nothing left to compare the files with"
            } else {
                "nothing in the text tells it from other stored texts, so no search can prove that it is gone"
            };
            document = document.note(Mark::Info, why);
        }
        let table = |title: &str, files: &[String]| Block::Table {
            columns: vec![title.to_owned()],
            rows: files.iter().map(|f| vec![f.clone()]).collect(),
        };
        let (ledger, files): (Vec<_>, Vec<_>) =
            self.remaining.iter().cloned().partition(|file| file.starts_with(FILE_NAME));
        if !ledger.is_empty() {
            let text = "the ledger still holds a piece of it where somebody repeated it: in a reason on record, which is never \
                        changed, or in another text; leave its file as it is";
            document = document.note(Mark::Bad, text);
        }
        if !files.is_empty() {
            document = document
                .note(Mark::Bad, "these files still hold a piece of it; edit or remove them")
                .with(table("file", &files));
        }
        if !self.remaining_backups.is_empty() {
            let text = format!("backups still hold it; `strata purge {} --backups` rewrites them", self.id);
            document = document.note(Mark::Warning, text).with(table("backup", &self.remaining_backups));
        }
        if !self.unreadable.is_empty() {
            document = document
                .note(Mark::Warning, "these files could not be searched")
                .with(table("file", &self.unreadable));
        }
        document
    }
}
