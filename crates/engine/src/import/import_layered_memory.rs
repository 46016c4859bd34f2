//! `import_layered_memory`: takes over a home of layered-memory: its files, what was written into its index by hand, its
//! todos, the reviews that wait. What it cannot take over it counts.

use std::{collections::BTreeSet, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{knowledge::name::Name, scope::SHARED};

use super::{
    SOURCE_LAYERED,
    layered::{
        OlderHome,
        beside::{Loss, losses},
        config,
        index::{self, IndexReport},
        reviews::{self, ReviewReport},
        todos::{self, TodoReport},
    },
};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{
        bring::{Bringing, Brought, Terms},
        import::folder,
        l0,
    },
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Render, counted},
};

/// See the module.
pub struct ImportLayeredMemory;

const TOOL: &str = "import_layered_memory";

/// Which home.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The home; the one that LAYERED_MEMORY_HOME names by default, else ~/.layered-memory.
    pub path: Option<String>,
    /// Folders of its knowledge that are namespaces; all of them by default when one of them is `shared`, else none.
    pub namespaces: Option<Vec<String>>,
    /// Its index, where that is not L0.md in the home.
    pub l0_file: Option<String>,
    /// Replace files here that say something else, and bring back files that were deleted here.
    pub overwrite: Option<bool>,
    /// Only say what would be imported.
    pub dry_run: Option<bool>,
}

/// What was imported.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// The home.
    pub path: String,
    /// Folders that are namespaces; what lies in none of them is shared.
    pub namespaces: Vec<String>,
    /// What came of its files.
    pub files: Brought,
    /// What came of its index.
    pub index: IndexReport,
    /// What came of its todos.
    pub todos: TodoReport,
    /// What came of the reviews that wait.
    pub reviews: ReviewReport,
    /// What is not taken over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_taken_over: Vec<Loss>,
    /// Lines of `config.toml` that say what its config.yaml says; they are not written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub config_lines: Vec<String>,
    /// Settings of its config.yaml that have no twin here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub config_without_twin: Vec<String>,
    /// Whether this was only a look.
    pub dry_run: bool,
}

impl Operation for ImportLayeredMemory {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: TOOL,
        cli: &["import", "layered-memory"],
        positional: &["path"],
        title: "Import a layered-memory home",
        about: "Takes over a home of layered-memory: Markdown of every namespace, index entries that were written by hand, todos \
                with their dates, reviews that wait. The home is only read. Running it again adds nothing; files that say something \
                else here are listed, not replaced. Changelog, uses, embeddings and decided reviews are counted and stay. It says \
                which lines of config.toml mean what config.yaml says. Begin with a dry run. Secrets are blacked out.",
        effect: Effect::Write,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let dry_run = request.dry_run == Some(true);
        let root = home(engine, call, request.path.as_deref())?;
        let from = root.display().to_string();
        let older = OlderHome::open(engine, call, root, request.namespaces.as_deref())?;
        let terms = Terms { tool: TOOL, from: &from, overwrite: request.overwrite == Some(true), dry_run };
        let files = files(engine, call, &older, terms)?;
        let index = index::take(engine, call, &older, request.l0_file.as_deref(), (TOOL, dry_run))?;
        if index.added > 0 && !dry_run && engine.settings().config.knowledge.l0.auto_sync {
            l0::sync_everything(engine, call)?;
        }
        let config = config::read(&older);
        Ok(Response {
            path: from.clone(),
            namespaces: older.namespaces.iter().map(ToString::to_string).collect(),
            files,
            index,
            todos: todos::take(engine, call, &older, dry_run)?,
            reviews: reviews::take(engine, call, &older, dry_run)?,
            not_taken_over: losses(engine, call, &older)?,
            config_lines: config.lines,
            config_without_twin: config.without,
            dry_run,
        })
    }
}

/// The home that was named, or the one that the older program's settings name.
fn home(engine: &Engine, call: &Call<'_>, given: Option<&str>) -> Result<PathBuf, Error> {
    if let Some(given) = given.filter(|given| !given.trim().is_empty()) {
        return folder(engine, call, "path", given);
    }
    let hint = "name the home of layered-memory";
    let Some(path) = engine.settings().older_layered_home.as_deref() else {
        return Err(Error::argument("path", "is missing", hint));
    };
    if !path.is_dir() {
        let message = format!("is missing, and there is no `{}`", path.display());
        return Err(Error::argument("path", message, hint));
    }
    folder(engine, call, "path", &path.to_string_lossy())
}

/// Brings the files: what lies in no namespace's folder is shared, as is what lies in the folder of that name.
fn files(engine: &Engine, call: &Call<'_>, older: &OlderHome, terms: Terms<'_>) -> Result<Brought, Error> {
    let shared = Name::parse(SHARED).map_err(|e| Error::Internal(e.to_string()))?;
    let mut bringing = Bringing::new(engine, call, terms);
    bringing.folder(&older.whole, &older.folder, &shared, &|place| older.is_of_namespace(place))?;
    for namespace in &older.namespaces {
        bringing.folder(&older.parts, namespace, namespace, &|_| false)?;
    }
    l0::sync_after_all(engine, call, &bringing.written);
    Ok(bringing.brought)
}

impl Render for Response {
    fn render(&self) -> Document {
        let would = if self.dry_run { "would import" } else { "imported" };
        let beside = self.todos.left_out + self.reviews.rows.rejected + self.index.left_out.len();
        let left_out = self.files.left_out + beside;
        let text = format!(
            "{would} {}, {}, {} and {} of the index from {SOURCE_LAYERED} at {} ({} known already, {} left out)",
            counted(self.files.added + self.files.replaced, "file"),
            counted(self.todos.added, "todo"),
            counted(self.reviews.added, "review"),
            counted(self.index.added, "line"),
            self.path,
            self.files.known + self.todos.known + self.reviews.known + self.index.known,
            left_out
        );
        let mark = if left_out == 0 { Mark::Good } else { Mark::Warning };
        let document = self.files.render(self.render_namespaces(Document::new().note(mark, text)));
        let document = self.render_rows(document);
        self.render_losses(document)
    }
}

impl Response {
    fn render_namespaces(&self, document: Document) -> Document {
        if self.namespaces.is_empty() {
            return document;
        }
        let names = self.namespaces.join(", ");
        document.text(format!("folders taken for namespaces: {names}; `--namespaces` names others"))
    }

    fn render_rows(&self, mut document: Document) -> Document {
        let table = |title: &str, rows: Vec<String>| Block::Table {
            columns: vec![title.to_owned()],
            rows: rows.into_iter().map(|row| vec![row]).collect(),
        };
        let entry = |left: &crate::knowledge::bring::LeftOut| format!("{}: {}", left.file, left.reason);
        let mut left_out = self.todos.problems.clone();
        left_out.extend(self.reviews.rows.problems.iter().cloned());
        left_out.extend(self.index.left_out.iter().map(entry));
        let otherwise = self.todos.adjustments.iter().chain(&self.reviews.rows.adjustments);
        for (title, rows) in
            [("left out beside files", left_out), ("taken in otherwise", otherwise.cloned().collect())]
        {
            if !rows.is_empty() {
                document = document.with(table(title, rows));
            }
        }
        if self.todos.purged > 0 {
            let text = format!("{} were purged here and stay out", counted(self.todos.purged, "todo"));
            document = document.text(text);
        }
        if self.reviews.purged > 0 {
            let text = format!("{} were purged here and stay out", counted(self.reviews.purged, "review"));
            document = document.text(text);
        }
        let families = self.todos.redacted.iter().chain(&self.reviews.rows.redacted);
        let families: BTreeSet<&'static str> = families.copied().collect();
        document.note_redacted(&families.into_iter().collect::<Vec<_>>())
    }

    fn render_losses(&self, mut document: Document) -> Document {
        if !self.not_taken_over.is_empty() {
            let row = |loss: &Loss| vec![loss.what.to_owned(), loss.count.to_string(), loss.why.clone()];
            document = document.with(Block::Table {
                columns: ["not taken over", "count", "why"].map(str::to_owned).to_vec(),
                rows: self.not_taken_over.iter().map(row).collect(),
            });
        }
        if !self.config_lines.is_empty() {
            document = document
                .text("its config.yaml says what these lines of config.toml say; they are not written")
                .with(Block::Code { language: "toml", text: self.config_lines.join("\n") });
        }
        if !self.config_without_twin.is_empty() {
            let names = self.config_without_twin.join(", ");
            document = document.text(format!("settings of config.yaml that have no twin here: {names}"));
        }
        document
    }
}
