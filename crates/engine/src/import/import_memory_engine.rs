//! `import_memory_engine`: takes over a `.memory-engine/` folder: the files that people wrote, its settings, its memories.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::id::IdKind;
use strata_store::{
    files::{read_regular, write_atomic},
    foreign,
    ledger::{MemoryRelation, NewAudit},
};

use super::{
    decide::{Plan, authorise, decide},
    incoming::RowKey,
    layered::config,
    memory_engine::{self, IncomingRelation, MemoryEngineDatabase},
    prepare::{Origin, Prepared, PreparedMemory, prepare},
    report::RowReport,
    settle::settle,
    waiting,
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    paths,
    project::{
        layout::{self, HUMAN_FILES},
        root_of,
    },
    render::{Block, Document, Mark, Render, counted},
    settings::{CONFIG_FILE, Config, keys::Given, project_keys::PROJECT_KEYS},
};

/// See the module.
pub struct ImportMemoryEngine;

/// Rows of this source are told from those of others by its name.
const SOURCE: &str = "memory-engine";
/// The folder that memory-engine keeps in a project.
const OLDER: &str = ".memory-engine";
/// Why a candidate of it waits here.
const WAITED: &str = "waited for a decision in memory-engine";
/// A larger file is none that people wrote: 4 MiB.
const MAX_FILE: u64 = 4 << 20;

/// Which folder.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The folder `.memory-engine`, or the project that it lies in; the project at hand by default.
    pub path: Option<String>,
    /// Only say what would be imported.
    pub dry_run: Option<bool>,
}

/// What was imported.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// The folder.
    pub path: String,
    /// The key of the project that it came into.
    pub project: String,
    /// Files that people wrote, and what became of them.
    pub files: Vec<Taken>,
    /// Lines of `config.toml` that say what its config.yaml says.
    pub config_lines: Vec<String>,
    /// Where they were written; nowhere when the project has settings of its own already.
    pub config_written: Option<String>,
    /// Settings of its config.yaml that have no twin here, or a value that makes no sense here.
    pub config_without_twin: Vec<String>,
    /// Memories stored now.
    pub memories: usize,
    /// Memories that were here before.
    pub known: usize,
    /// Memories that were purged here; they stay out.
    pub purged: usize,
    /// How many ways in which memories stand to each other were put down now.
    pub relations: usize,
    /// Candidates that wait here for a decision now.
    pub candidates: usize,
    /// Those that were here before, or whose text is.
    pub candidates_known: usize,
    /// What is said about rows.
    #[serde(flatten)]
    pub rows: RowReport,
    /// The same about candidates.
    pub candidate_rows: RowReport,
    /// What is not taken over.
    pub not_taken_over: Vec<Loss>,
    /// Whether this was only a look.
    pub dry_run: bool,
}

/// A file, and what became of it.
#[derive(Debug, Serialize)]
pub struct Taken {
    /// Its name.
    pub name: &'static str,
    /// `added`, `known`, or why it was left out.
    pub status: String,
}

/// What is not taken over.
#[derive(Debug, Serialize)]
pub struct Loss {
    /// What.
    pub what: String,
    /// How much.
    pub count: u64,
    /// Why.
    pub why: String,
}

impl Operation for ImportMemoryEngine {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "import_memory_engine",
        cli: &["import", "memory-engine"],
        positional: &["path"],
        title: "Import a .memory-engine folder",
        about: "Takes over a project's `.memory-engine/`: `constraints.md`, `team-rules.md` and `decisions.md`, config.yaml as lines of \
                `.strata/config.toml`, and the memories with their dates, evidence, tree, relations and branches; what waited for a decision waits for one here. The folder is only read. Files \
                that are here already are not replaced; running it again adds nothing. Documents are indexed anew from the project's \
                files. It says what it leaves behind. Begin with a dry run. Secrets are blacked out.",
        effect: Effect::Write,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let root = root_of(engine)?;
        let older = folder(engine, call, &root, request.path.as_deref())?;
        let mut response = Response {
            path: older.display().to_string(),
            project: call.scope.project.clone().unwrap_or_default(),
            dry_run: request.dry_run == Some(true),
            ..Response::default()
        };
        if response.project.is_empty() {
            return Err(Error::argument(
                "path",
                "there is no project here to import into",
                "pass --project-root DIR",
            ));
        }
        // Memories first: what is wrong with the database is told before any file is written.
        response.memories(engine, call, &older)?;
        if !response.dry_run {
            layout::ensure(engine, &root)?;
        }
        response.human_files(&root, &older)?;
        response.settings(&root, &older)?;
        Ok(response)
    }
}

/// The folder that was named, or the one in the project that was, or in the project at hand.
fn folder(engine: &Engine, call: &Call<'_>, root: &Path, given: Option<&str>) -> Result<PathBuf, Error> {
    let named = match given.filter(|given| !given.trim().is_empty()) {
        Some(given) => paths::reachable(engine, call, "path", given)?,
        None => root.to_owned(),
    };
    let inner = named.join(OLDER);
    let folder = if inner.is_dir() { inner } else { named };
    let has = |name: &str| folder.join(name).is_file();
    let is_it = has("memory.db") || has("config.yaml") || HUMAN_FILES.iter().any(|name| has(name));
    if is_it && folder != root {
        return Ok(folder);
    }
    Err(Error::argument(
        "path",
        format!("there is no `{OLDER}` at `{}`", folder.display()),
        "name the folder, or its project",
    ))
}

impl Response {
    fn memories(&mut self, engine: &Engine, call: &Call<'_>, older: &Path) -> Result<(), Error> {
        let path = older.join("memory.db");
        if !path.is_file() {
            return Ok(());
        }
        let database = foreign::read(&path, &engine.control(call), memory_engine::read)?;
        let MemoryEngineDatabase { incoming, candidates, relations, left, projects } = database;
        let loss = |(what, count, why): (&str, u64, &str)| Loss { what: what.into(), count, why: why.into() };
        self.not_taken_over.extend(left.into_iter().map(loss));
        if projects.len() > 1 {
            let why = format!("all come into this project: {}", projects.join(", "));
            self.not_taken_over.push(Loss {
                what: "walls between projects".into(),
                count: projects.len() as u64 - 1,
                why,
            });
        }
        let origin = Origin::new(engine, call, SOURCE);
        let prepared = prepare(engine, &origin, incoming);
        self.rows = RowReport::of(&prepared);
        let plan = match engine.is_initialised()? {
            true => engine.read(call, |r| decide(r, &origin, &prepared))?,
            false => Plan { new: (0..prepared.memories.len()).collect(), ..Plan::default() },
        };
        self.store(engine, call, &origin, (&prepared, &plan))?;
        self.relate(engine, call, &origin, (&prepared, &relations))?;
        let waiting = prepare(engine, &origin, candidates);
        self.candidate_rows = RowReport::of(&waiting);
        let why = |_: &PreparedMemory| WAITED.to_owned();
        let filed = waiting::file(engine, call, &origin, &waiting, (WAITED, &why), self.dry_run)?;
        (self.candidates, self.candidates_known) = (filed.added, filed.known);
        self.purged += filed.purged;
        Ok(())
    }

    /// Puts down how the memories stand to each other, as far as that is not known yet.
    fn relate(
        &mut self,
        engine: &Engine,
        call: &Call<'_>,
        origin: &Origin,
        (prepared, relations): (&Prepared, &[IncomingRelation]),
    ) -> Result<(), Error> {
        let id = |key: &RowKey| key.id(IdKind::Memory, &origin.source, &origin.scope, "").to_string();
        if !engine.is_initialised()? {
            let come: HashSet<&str> = prepared.memories.iter().map(|row| row.new.id.as_str()).collect();
            let is_told = |key: &RowKey| come.contains(id(key).as_str());
            self.relations = relations.iter().filter(|r| is_told(&r.source) && is_told(&r.target)).count();
            return Ok(());
        }
        let will_come: HashSet<&str> = match self.dry_run {
            true => prepared.memories.iter().map(|row| row.new.id.as_str()).collect(),
            false => HashSet::new(),
        };
        let (new, to_come, lost) = engine.read(call, |r| {
            let (mut new, mut to_come, mut lost) = (Vec::new(), 0, 0);
            for one in relations {
                let (source, target) = (id(&one.source), id(&one.target));
                match (r.memory(&source)?, r.memory(&target)?) {
                    (Some(source), Some(target)) => {
                        let (source, relation, target) = (source.number, one.relation, target.number);
                        let known = r.memory_relations(source)?;
                        let is_it = |k: &MemoryRelation| {
                            (k.source, k.relation, k.target) == (source, relation, target)
                        };
                        if !known.iter().any(is_it) {
                            new.push(MemoryRelation {
                                source,
                                relation,
                                target,
                                at: one.at.unwrap_or(origin.now),
                            });
                        }
                    }
                    _ if will_come.contains(source.as_str()) || will_come.contains(target.as_str()) => {
                        to_come += 1;
                    }
                    _ => lost += 1,
                }
            }
            Ok((new, to_come, lost))
        })?;
        if lost > 0 {
            let why = "one of the two memories was left out, or was purged here".to_owned();
            self.not_taken_over.push(Loss { what: "relations of memories".into(), count: lost, why });
        }
        self.relations = new.len() + to_come;
        if self.dry_run || new.is_empty() {
            return Ok(());
        }
        engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
            let line = NewAudit::new(call.principal, call.face, "relate", &self.project);
            let seq = w.record(&NewAudit { reason: "imported from memory-engine", ..line })?;
            w.relate_memories(&new, seq)
        })?;
        Ok(())
    }

    fn store(
        &mut self,
        engine: &Engine,
        call: &Call<'_>,
        origin: &Origin,
        (prepared, plan): (&Prepared, &Plan),
    ) -> Result<(), Error> {
        (self.known, self.purged) = (plan.known, plan.purged);
        if self.dry_run || plan.is_empty() {
            self.memories = plan.new.len();
            return Ok(());
        }
        let actors = authorise(engine, call, origin, prepared, plan, "import memory-engine DIR")?;
        let settled = settle(engine, call, origin, (prepared, plan, &actors), None, true, |_| Ok(()))?;
        self.memories = settled.added;
        Ok(())
    }

    fn human_files(&mut self, root: &Path, older: &Path) -> Result<(), Error> {
        for name in HUMAN_FILES {
            let from = older.join(name);
            if std::fs::symlink_metadata(&from).is_err() {
                continue;
            }
            let status = match read_regular(&from, MAX_FILE) {
                Err(error) => error.to_string(),
                Ok(bytes) => self.human_file(&layout::folder(root).join(name), &bytes)?,
            };
            self.files.push(Taken { name, status });
        }
        Ok(())
    }

    fn human_file(&self, to: &Path, bytes: &[u8]) -> Result<String, Error> {
        match std::fs::symlink_metadata(to) {
            Ok(_) if read_regular(to, MAX_FILE).is_ok_and(|held| held == bytes) => Ok("known".into()),
            Ok(_) => Ok(format!("left out: `{}` says something else and stays", to.display())),
            Err(_) => {
                if !self.dry_run {
                    write_atomic(to, bytes)?;
                }
                Ok("added".into())
            }
        }
    }

    fn settings(&mut self, root: &Path, older: &Path) -> Result<(), Error> {
        let from = older.join("config.yaml");
        if std::fs::symlink_metadata(&from).is_err() {
            return Ok(());
        }
        let Ok(Ok(text)) = read_regular(&from, MAX_FILE).map(String::from_utf8) else {
            self.config_without_twin.push("config.yaml cannot be read".into());
            return Ok(());
        };
        let mut lines: Vec<(&str, &str, String)> = Vec::new();
        for (name, given) in config::settings(&text) {
            match twin(&name, &given) {
                Twin::Same => {}
                Twin::Line(key, value) => {
                    let (table, inner) = key.rsplit_once('.').unwrap_or(("", key));
                    lines.retain(|(t, i, _)| (*t, *i) != (table, inner));
                    lines.push((table, inner, value));
                }
                Twin::None => self.config_without_twin.push(name),
            }
        }
        self.config_lines =
            lines.iter().map(|(table, name, value)| format!("{table}.{name} = {value}")).collect();
        let to = layout::folder(root).join(CONFIG_FILE);
        if lines.is_empty() || has_settings(&to) {
            return Ok(());
        }
        if !self.dry_run {
            write_atomic(&to, written(&lines).as_bytes())?;
        }
        self.config_written = Some(to.display().to_string());
        Ok(())
    }
}

/// What a setting of the older file is here.
enum Twin {
    /// What holds anyway.
    Same,
    /// This value of this setting.
    Line(&'static str, String),
    /// Nothing.
    None,
}

fn twin(name: &str, given: &Given) -> Twin {
    // What memory-engine wrote into every new file, and what needs no setting here.
    let text = match given {
        Given::Text(text) => text.as_str(),
        Given::List(_) => "",
    };
    match (name, text) {
        ("project.root_path", "auto") | (_, "null" | "~") | ("project.name", "auto") => return Twin::Same,
        ("knowledge.include", _) if matches!(given, Given::List(list) if list.iter().eq(USUAL_FILES.iter())) =>
        {
            return Twin::Same;
        }
        // Vectors come from the index, by whichever library they came before.
        ("retrieval.vector_backend", "ephemeral" | "sqlite_vec" | "qdrant_embedded") => return Twin::Same,
        _ => {}
    }
    let Some(key) = PROJECT_KEYS.iter().find(|key| key.name == name) else { return Twin::None };
    match key.value_of(given) {
        None => Twin::None,
        Some(value) if key.line_of(&Config::default()).as_ref() == Some(&value) => Twin::Same,
        Some(value) => Twin::Line(key.name, value),
    }
}

/// The files that memory-engine looked at unless told otherwise; here it is all of them.
const USUAL_FILES: [&str; 8] =
    ["README.md", "README.rst", "docs/**", "src/**", "app/**", "lib/**", "tests/**", "*.md"];

/// Whether a file sets anything: one whose every line is a comment does not.
fn has_settings(path: &Path) -> bool {
    match read_regular(path, MAX_FILE) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).lines().any(|line| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#')
        }),
        Err(_) => std::fs::symlink_metadata(path).is_ok(),
    }
}

fn written(lines: &[(&str, &str, String)]) -> String {
    let mut text = String::from(
        "# Taken over from memory-engine's config.yaml. What loosens needs `strata project trust`.\n",
    );
    let mut tables: Vec<&str> = Vec::new();
    for (table, ..) in lines {
        if !tables.contains(table) {
            tables.push(table);
        }
    }
    for table in tables {
        text.push_str(&format!("\n[{table}]\n"));
        for (_, name, value) in lines.iter().filter(|(of, ..)| *of == table) {
            text.push_str(&format!("{name} = {value}\n"));
        }
    }
    text
}

impl Render for Response {
    fn render(&self) -> Document {
        let would = if self.dry_run { "would import" } else { "imported" };
        let added = self.files.iter().filter(|file| file.status == "added").count();
        let text = format!(
            "{would} {}, {}, {} and {} from {} into {} ({} known already)",
            counted(self.memories, "memory"),
            counted(self.relations, "relation"),
            counted(self.candidates, "candidate"),
            counted(added, "file"),
            self.path,
            self.project,
            self.known
        );
        let mut document =
            self.candidate_rows.render(self.rows.render(Document::new().note(Mark::Good, text)));
        for file in self.files.iter().filter(|file| file.status != "added" && file.status != "known") {
            document = document.note(Mark::Warning, format!("{}: {}", file.name, file.status));
        }
        if !self.not_taken_over.is_empty() {
            let row = |loss: &Loss| vec![loss.what.clone(), loss.count.to_string(), loss.why.clone()];
            document = document.with(Block::Table {
                columns: ["not taken over", "count", "why"].map(str::to_owned).to_vec(),
                rows: self.not_taken_over.iter().map(row).collect(),
            });
        }
        if !self.config_lines.is_empty() {
            let said = match &self.config_written {
                Some(path) => format!("settings, in {path}:"),
                None => "the project has settings of its own; its config.yaml says:".to_owned(),
            };
            document = document
                .text(said)
                .with(Block::Code { language: "toml", text: self.config_lines.join("\n") });
        }
        if !self.config_without_twin.is_empty() {
            let names = self.config_without_twin.join(", ");
            document = document.text(format!("settings of config.yaml that have no twin here: {names}"));
        }
        document
    }
}
