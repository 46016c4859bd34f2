//! `load`: brings what `export` wrote into this home. Ids stay, nothing comes twice.

mod graph;
mod incoming;
mod loading;
mod todos;
mod vault;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::{
    incoming::{Actors, Incoming},
    loading::Loading,
};
use super::{
    import::MAX_FILE,
    reindex::{index_everything, look_at_tables},
    transfer::{self, bad_line},
};
use strata_store::files;

use crate::{
    authority::{self, hexadecimal},
    engine::Engine,
    error::Error,
    knowledge::vault::{look_everywhere, materialise},
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    paths,
    render::{Block, Document, Mark, Render, counted},
};

/// See the module.
pub struct Load;

/// Which file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// A file that `strata export` wrote.
    pub path: String,
}

/// What came in.
#[derive(Debug, Default, Clone, Serialize)]
pub struct Response {
    /// Memories stored now.
    pub memories: usize,
    /// Raw events stored now.
    pub episodes: usize,
    /// Reviews stored now.
    pub reviews: usize,
    /// Entries of the index of knowledge that came in.
    pub l0_entries: usize,
    /// Snapshots stored now.
    pub snapshots: usize,
    /// Snapshots left out, because they would show something else here than where they come from.
    pub snapshots_left_out: usize,
    /// Entities of the graph stored now.
    pub entities: usize,
    /// Relations stored now.
    pub relations: usize,
    /// Todos stored now.
    pub todos: usize,
    /// Files of the vault stored now.
    pub vault_files: usize,
    /// Tombstones stored now.
    pub purged: usize,
    /// Lines whose memory, event or review was here before.
    pub known: usize,
    /// Lines left out because this store has purged what they carry.
    pub refused_purged: usize,
    /// Memories and events that got another number, because theirs was taken.
    pub renumbered: usize,
    /// Memories that are kept but not in force, because something in force here says it already or otherwise.
    pub set_aside: usize,
    /// The first of those, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
    /// Families of secrets that were blacked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
    /// Whether the home held nothing, and so began a new epoch.
    pub was_empty: bool,
}

impl Operation for Load {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "load",
        cli: &["load"],
        positional: &["path"],
        title: "Load an export",
        about: "Brings a file that `strata export` wrote into this store: memories with ids, history and evidence, raw \
                events, reviews, the graph, todos. All of it or, when a line is wrong, nothing. What is here already is left as it is, and \
                what was purged here stays out. Rules, identity and integrations in the file need a human's approval. For \
                conversations of other programs use `import`.",
        effect: Effect::Write,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let path = paths::reachable(engine, call, "path", &request.path)?;
        let bytes = files::read_regular(&path, MAX_FILE)?;
        let text = String::from_utf8(bytes).map_err(|_| {
            Error::argument("path", "is not UTF-8 text", "give a file that `strata export` wrote")
        })?;
        let file = transfer::parse(&text)?;
        let mut incoming = Incoming::default();
        for (number, line) in file.lines {
            let taken = incoming.take(engine, line);
            taken.map_err(|e| bad_line(number, &e.to_string()))?;
        }
        let actors = incoming.authorise(engine, call)?;
        incoming.restrict(engine, call)?;
        // A file that lies in the vault already has its place before one that comes in.
        look_everywhere(engine, call)?;
        let loaded = store(engine, call, &incoming, &actors)?;
        materialise(engine, call)?;
        index_everything(engine, call, &mut |_, _| Ok(()))?;
        look_at_tables(engine, call, loaded.memories + loaded.episodes + loaded.entities + loaded.relations);
        Ok(Response { redacted: incoming.gate.redacted.clone(), ..loaded })
    }
}

fn store(engine: &Engine, call: &Call<'_>, incoming: &Incoming, actors: &Actors) -> Result<Response, Error> {
    let mut epoch = [0; 8];
    engine.ids().fill(&mut epoch);
    let epoch = hexadecimal(&epoch);
    let ledger = engine.ledger(call)?;
    let now = engine.clock().now();
    // One transaction: the file is in or it is not.
    Ok(ledger.write(&engine.control(call), now, |w| {
        let mut loading = Loading { w, call, actors, loaded: Response::default(), linked: Vec::new() };
        loading.everything(incoming)?;
        if loading.loaded.was_empty {
            w.set_epoch(&epoch)?;
        }
        authority::seal(w, call, &actors.owner)?;
        Ok(loading.loaded)
    })?)
}

impl Render for Response {
    fn render(&self) -> Document {
        let text = format!(
            "loaded {}, {}, {}, {}, {}, {}, {} and {} ({} known already)",
            counted(self.memories, "memory"),
            counted(self.episodes, "episode"),
            counted(self.reviews, "review"),
            counted(self.entities, "entity"),
            counted(self.relations, "relation"),
            counted(self.todos, "todo"),
            counted(self.vault_files, "vault file"),
            counted(self.purged, "tombstone"),
            self.known
        );
        let mut document = Document::new().note(Mark::Good, text);
        if self.renumbered > 0 {
            document = document
                .note(Mark::Info, format!("given another #number, under the same id: {}", self.renumbered));
        }
        if self.snapshots_left_out > 0 {
            let text = format!(
                "snapshots left out, because here they would show something else: {}",
                self.snapshots_left_out
            );
            document = document.note(Mark::Info, text);
        }
        if self.refused_purged > 0 {
            document = document
                .note(Mark::Info, format!("purged here before and left out: {}", self.refused_purged));
        }
        if self.set_aside > 0 {
            let text =
                format!("kept but not in force, so that what holds here goes on holding: {}", self.set_aside);
            let rows = self.conflicts.iter().map(|c| vec![c.clone()]).collect();
            document = document
                .note(Mark::Warning, text)
                .with(Block::Table { columns: vec!["not in force".into()], rows });
        }
        if !self.redacted.is_empty() {
            document = document
                .note(Mark::Warning, format!("secrets were blacked out: {}", self.redacted.join(", ")));
        }
        document
    }
}
