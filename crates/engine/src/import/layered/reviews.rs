//! The reviews of an older home: what waits for a decision there waits for one here.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use strata_core::{
    knowledge::name::{Name, VaultPath},
    memory::{Kind, Layer},
    scope::{SHARED, Scope},
};
use strata_store::foreign::{self, ForeignRow};

use super::{OlderHome, is_file, text_of};
use crate::{
    engine::Engine,
    error::Error,
    import::{
        SOURCE_LAYERED,
        cells::{Fields, point_in_time},
        incoming::{Ending, Findings, Incoming, IncomingMemory, RowKey},
        prepare::{Origin, PreparedMemory, prepare},
        report::RowReport,
        waiting,
    },
    operation::Call,
};

/// Where they lie in an older home.
pub(super) const FILE: &str = "data/review_queue.db";
/// Their table.
pub(super) const TABLE: &str = "review_queue";
/// How one stands that nobody has decided.
pub(super) const PENDING: &str = "pending";
const COLUMNS: &[&str] = &["id", "entry_json", "submitted_at", "status"];
/// The kinds of an older entry; they are kinds of memories here.
const KINDS: [&str; 7] = ["config", "pitfall", "decision", "preference", "fact", "procedure", "relationship"];
/// The kind of an entry that has none.
const DEFAULT_KIND: &str = "fact";
/// What is on record of one that was taken over.
const TAKEN_OVER: &str = "waited for review in layered-memory";

/// What came of the reviews that wait.
#[derive(Debug, Default, Serialize)]
pub struct ReviewReport {
    /// Reviews that wait here now.
    pub added: usize,
    /// Those that were here before, whatever was decided here, or whose text stands or waits here already.
    pub known: usize,
    /// Those whose text was purged here; they stay out.
    pub purged: usize,
    /// What is said about rows.
    #[serde(flatten)]
    pub rows: RowReport,
}

/// Takes over those that wait: each is a candidate, in force once a person approves it.
pub(in crate::import) fn take(
    engine: &Engine,
    call: &Call<'_>,
    home: &OlderHome,
    dry_run: bool,
) -> Result<ReviewReport, Error> {
    let path = home.file(FILE);
    if !is_file(&path) {
        return Ok(ReviewReport::default());
    }
    let rows = foreign::read(&path, &engine.control(call), |reader| reader.rows(TABLE, COLUMNS, None));
    let rows = match rows {
        Ok(rows) => rows,
        Err(error) => {
            let problems = vec![format!("{FILE}: {error}")];
            let rows = RowReport { rejected: 1, problems, ..RowReport::default() };
            return Ok(ReviewReport { rows, ..ReviewReport::default() });
        }
    };
    let scope = Scope::user();
    let there = Call { scope: &scope, ..*call };
    let origin = Origin::new(engine, &there, SOURCE_LAYERED);
    let prepared = prepare(engine, &origin, of_rows(&rows));
    let why = |row: &PreparedMemory| reason(home, row);
    let filed = waiting::file(engine, &there, &origin, &prepared, (TAKEN_OVER, &why), dry_run)?;
    Ok(ReviewReport {
        added: filed.added,
        known: filed.known,
        purged: filed.purged,
        rows: RowReport::of(&prepared),
    })
}

/// The rows that wait, as memories.
fn of_rows(rows: &[ForeignRow]) -> Incoming {
    let mut incoming = Incoming::default();
    for row in rows {
        let fields = Fields { names: COLUMNS, row };
        let is_pending = match fields.text("status") {
            Ok(status) => status.is_none_or(|word| word.trim() == PENDING),
            Err(_) => false,
        };
        if !is_pending {
            continue;
        }
        let id = fields.text("id").ok().flatten().unwrap_or_else(|| row.place.to_string());
        let created = fields.date_as_written("submitted_at");
        let key = RowKey { table: TABLE, id: id.trim().to_owned(), created };
        match read(&fields, key.clone(), &mut incoming.findings) {
            Ok(memory) => incoming.memories.push(memory),
            Err(why) => incoming.findings.reject(key, why),
        }
    }
    incoming
}

/// One row: its entry is a JSON object, in which anything may be missing but the text.
fn read(fields: &Fields<'_>, key: RowKey, findings: &mut Findings) -> Result<IncomingMemory, String> {
    let json = fields.needed("entry_json")?;
    let entry: Value = serde_json::from_str(&json).map_err(|_| "its entry is no JSON".to_owned())?;
    let text =
        |value: &Value| value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let said = text(&entry["content"]).or_else(|| text(&entry["summary"])).ok_or("its entry says nothing")?;
    let word = text(&entry["type"]).unwrap_or_else(|| DEFAULT_KIND.to_owned()).to_lowercase();
    if !KINDS.contains(&word.as_str()) {
        findings.adjust(&key, format!("there is no type `{word}`; it is a {DEFAULT_KIND}"));
    }
    let kind = Kind::parse(if KINDS.contains(&word.as_str()) { &word } else { DEFAULT_KIND });
    let created_at = fields.date("submitted_at").ok();
    if created_at.is_none() {
        findings.adjust(&key, "when it was proposed cannot be read");
    }
    let mut metadata = BTreeMap::new();
    for name in ["domain", "summary"] {
        metadata.extend(text(&entry[name]).map(|text| (name.to_owned(), text)));
    }
    let tags: Vec<_> = entry["tags"].as_array().into_iter().flatten().filter_map(text).collect();
    if !tags.is_empty() {
        metadata.insert("tags".into(), tags.join(", "));
    }
    Ok(IncomingMemory {
        detail: None,
        kind: kind.map_err(|error| error.to_string())?,
        title: text(&entry["section"]),
        text: said,
        layer: Layer::P5,
        who: text(&entry["source"]["extracted_by"]),
        confidence: entry["confidence"].as_f64().filter(|sure| (0.0..=1.0).contains(sure)).unwrap_or(0.5),
        created_at: created_at.or_else(|| point_in_time(&text(&entry["created_at"])?)),
        valid_to: None,
        session: text(&entry["source"]["session_id"]),
        origin: None,
        number: None,
        metadata,
        rule: None,
        ending: Ending::InForce,
        key,
    })
}

/// Why a person is asked. It says where the text stands without waiting for the answer.
fn reason(home: &OlderHome, row: &PreparedMemory) -> String {
    match file_that_says(home, row) {
        Some(file) => format!("{TAKEN_OVER}; `{file}` of the vault says it already"),
        None => TAKEN_OVER.to_owned(),
    }
}

/// The file that came in with the same home and has the text: that program put some into a file before they were
/// decided.
fn file_that_says(home: &OlderHome, row: &PreparedMemory) -> Option<VaultPath> {
    let metadata: Value = serde_json::from_str(&row.new.metadata).ok()?;
    let path = VaultPath::parse(&format!("{}.md", metadata["domain"].as_str()?)).ok()?;
    let text = text_of(home, &Name::parse(SHARED).ok()?, &path)?;
    text.contains(row.new.body.trim()).then_some(path)
}
