//! `retention_status`: what would be put away or summed up, and why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::ledger::MemoryRow;

use super::{Outlook, look};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Block, Document, Mark, Record, Render, Trust, counted, shortened},
};

/// See the module.
pub struct RetentionStatus;

/// Nothing is asked.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {}

/// What would become of a project's memories.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Whether any of it is done when it is due.
    pub enabled: bool,
    /// How many memories stand where in their life.
    pub counts: Vec<Count>,
    /// Candidates that waited too long.
    pub expiry_candidates: Vec<Due>,
    /// Memories that would be put away.
    pub archive_candidates: Vec<Due>,
    /// How many groups would be summed up.
    pub compaction_groups_found: usize,
    /// The first of them, by titles.
    pub compaction_groups: Vec<Vec<String>>,
    /// What the reader should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<&'static str>,
}

/// Why nothing of it is done.
const OFF: &str = "nothing of this is done: `enabled` under `[memory_retention]` in `config.toml` is false; true turns it on";

/// Memories of one status.
#[derive(Debug, Serialize)]
pub struct Count {
    /// The status.
    pub status: &'static str,
    /// How many.
    pub count: usize,
}

/// A memory that something is due for.
#[derive(Debug, Serialize)]
pub struct Due {
    /// The memory.
    pub id: String,
    /// Its title, or its first words.
    pub title: String,
    /// Why.
    pub reason: String,
}

/// Memories, and groups, that are listed.
const LISTED: usize = 10;
/// Titles of a group that are listed.
const TITLES: usize = 5;
/// Characters of a title.
const TITLE: usize = 80;

impl Operation for RetentionStatus {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "retention_status",
        cli: &["project", "retention", "status"],
        positional: &[],
        title: "What of a project would be put away",
        about: "Shows which memories of the project `retention_run` would put away or sum up, with the reason of each. Changes \
                nothing.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] =
        &[&["memory", "retention", "status"], &["memory", "retention", "report"]];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        Ok(Response::of(&look(engine, call)?))
    }
}

impl Response {
    /// What an outlook shows.
    pub fn of(outlook: &Outlook) -> Self {
        let due = |(number, reason): (i64, String)| {
            let row = outlook.rows.get(&number)?;
            Some(Due { id: row.id.clone(), title: title(row), reason })
        };
        let waited = |number: &i64| (*number, "waited too long for a decision".to_owned());
        let titles = |group: &Vec<i64>| {
            group.iter().filter_map(|number| outlook.rows.get(number)).take(TITLES).map(title).collect()
        };
        let notes = if outlook.enabled { Vec::new() } else { vec![OFF] };
        Self {
            enabled: outlook.enabled,
            notes,
            counts: outlook
                .counts
                .iter()
                .map(|(status, count)| Count { status: status.as_str(), count: *count })
                .collect(),
            expiry_candidates: outlook.plan.expired.iter().map(waited).filter_map(due).take(LISTED).collect(),
            archive_candidates: outlook
                .plan
                .archived
                .iter()
                .chain(&outlook.plan.of_branches)
                .cloned()
                .filter_map(due)
                .take(LISTED)
                .collect(),
            compaction_groups_found: outlook.plan.groups.len(),
            compaction_groups: outlook.plan.groups.iter().take(LISTED).map(titles).collect(),
        }
    }
}

fn title(row: &MemoryRow) -> String {
    if row.title.is_empty() { shortened(&row.body, TITLE) } else { row.title.clone() }
}

impl Render for Response {
    fn render(&self) -> Document {
        let counts = self.counts.iter().map(|c| (c.status.to_owned(), c.count.to_string())).collect();
        let mut records: Vec<Record> =
            self.expiry_candidates.iter().chain(&self.archive_candidates).map(Due::record).collect();
        let group = |(number, titles): (usize, &Vec<String>)| Record {
            id: format!("group {number}"),
            attributes: vec!["to be summed up".to_owned()],
            title: None,
            text: titles.join("\n"),
        };
        records.extend((1..).zip(&self.compaction_groups).map(group));
        let document =
            Document::new().with(Block::Pairs(counts)).with(Block::Records { trust: Trust::Data, records });
        let document = document.note(Mark::Info, counted(self.compaction_groups_found, "group"));
        self.notes.iter().fold(document, |document, note| document.note(Mark::Warning, *note))
    }
}

impl Due {
    fn record(&self) -> Record {
        let attributes = vec![self.reason.clone()];
        Record { id: self.id.clone(), attributes, title: None, text: self.title.clone() }
    }
}
