//! `get_knowledge_history`: the generations of a file, newest first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::principal::Face;

use super::known;
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{
        room::{REPLY, keep_fitting},
        vault::{self, GenerationRow},
    },
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    render::{Block, Document, Mark, Render},
};

/// See the module.
pub struct GetKnowledgeHistory;

const DEFAULT_LIMIT: u32 = 20;

/// Which file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The file, deleted ones too.
    pub filename: String,
    /// Default 20.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
}

/// The generations, newest first.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// The file.
    pub file: String,
    /// How many there are.
    pub total: usize,
    /// The newest of them.
    pub generations: Vec<Item>,
}

/// A generation.
#[derive(Debug, Serialize)]
pub struct Item {
    /// Its number, from 1.
    pub generation: i64,
    /// When it was written.
    pub at: String,
    /// `tool`, `hand`, `import`, `restore`, `delete`.
    pub origin: &'static str,
    /// Who wrote it.
    pub writer: String,
    /// Bytes.
    pub size_bytes: i64,
    /// Whether the file was deleted.
    #[serde(skip_serializing_if = "is_default")]
    pub deleted: bool,
    /// Whether the file never came to hold it.
    #[serde(skip_serializing_if = "is_default")]
    pub failed: bool,
    /// Whether its text is still kept, so that it can be shown and restored.
    pub kept: bool,
}

impl From<GenerationRow> for Item {
    fn from(row: GenerationRow) -> Self {
        Self {
            generation: row.generation,
            at: row.at.to_rfc3339(),
            origin: row.origin.as_str(),
            writer: row.writer,
            size_bytes: row.size,
            deleted: row.hash.is_none(),
            failed: row.is_failed,
            kept: row.has_content,
        }
    }
}

impl Operation for GetKnowledgeHistory {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "get_knowledge_history",
        cli: &["knowledge", "history"],
        positional: &["filename"],
        title: "Earlier versions of a file",
        about: "Lists the versions of a knowledge file.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const EXPLAINED: &'static [&'static str] = &["filename"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let place = known(engine, call, &request.filename)?;
        let rows = vault::history(engine, call, &place)?;
        if rows.is_empty() {
            return Err(Error::NotFound {
                what: "file of knowledge, now or earlier,",
                id: place.path.to_string(),
                hint: "`list_memory_stats` and `strata knowledge stats` list the files that are there".into(),
            });
        }
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT) as usize;
        let total = rows.len();
        let mut generations: Vec<Item> = rows.into_iter().take(limit).map(Item::from).collect();
        if call.face == Face::Mcp {
            keep_fitting(&mut generations, REPLY);
        }
        Ok(Response { success: true, file: place.path.to_string(), total, generations })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let columns = ["version", "when", "by", "how", "bytes"].map(str::to_owned).to_vec();
        let row = |item: &Item| {
            let how = match (item.deleted, item.failed, item.kept) {
                (true, ..) => "deleted".to_owned(),
                (_, true, _) => "never written".to_owned(),
                (.., false) => format!("{}, text no longer kept", item.origin),
                _ => item.origin.to_owned(),
            };
            let (version, size) = (item.generation.to_string(), item.size_bytes.to_string());
            vec![version, item.at.clone(), item.writer.clone(), how, size]
        };
        let rows = self.generations.iter().map(row).collect();
        let note = format!("{} of {} versions of {}", self.generations.len(), self.total, self.file);
        Document::new().with(Block::Table { columns, rows }).note(Mark::Info, note)
    }
}
