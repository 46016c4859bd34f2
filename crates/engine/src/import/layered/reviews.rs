//! The reviews of an older home: what waits for a decision there waits for one here.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;
use serde_json::Value;
use strata_core::{
    id::IdKind,
    knowledge::name::{Name, VaultPath},
    memory::{Kind, Layer, Status},
    policy::Action,
    scope::{SHARED, Scope},
};
use strata_store::{
    error::StoreError,
    foreign::{self, ForeignRow},
    ledger::{LedgerRead, NewAudit, NewMemory, NewReview, State},
};

use super::{OlderHome, is_file, text_of};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    import::{
        SOURCE_LAYERED,
        cells::{Fields, point_in_time},
        incoming::{Ending, Findings, Incoming, IncomingMemory, RowKey},
        prepare::{Origin, PreparedMemory, prepare},
        report::RowReport,
    },
    operation::Call,
    review,
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
    let prepared = prepare(engine, &origin, waiting(&rows));
    let mut report = ReviewReport { rows: RowReport::of(&prepared), ..ReviewReport::default() };
    let standing: Vec<Standing> =
        engine.read(call, |r| prepared.memories.iter().map(|row| Standing::of(r, &row.new)).collect())?;
    let new = sort(&prepared.memories, &standing, &mut report);
    let asked: Vec<_> =
        new.into_iter().map(|row| (candidate(row), ask(engine, home, &origin, row))).collect();
    report.added = asked.len();
    if !dry_run && !asked.is_empty() {
        store(engine, &there, &asked)?;
    }
    Ok(report)
}

/// The rows that wait, as memories.
fn waiting(rows: &[ForeignRow]) -> Incoming {
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

/// How a text stands here already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It came in before, or it is in force or waits.
    Known,
    /// It was erased, and stays out.
    Purged,
    /// Not at all.
    New,
}

impl Standing {
    fn of(r: &LedgerRead<'_>, new: &NewMemory) -> Result<Self, StoreError> {
        if r.is_purged(new.id.as_str())? {
            return Ok(Self::Purged);
        }
        if r.memory(new.id.as_str())?.is_some() {
            return Ok(Self::Known);
        }
        let same = r.by_content(&r.content_key(&new.identity)?)?;
        let counts = |status: Status| status == Status::Candidate || status.is_live();
        let is_known = same.iter().any(|memory| memory.scope == new.scope && counts(memory.state.status));
        Ok(if is_known { Self::Known } else { Self::New })
    }
}

/// Those that are new here, each text once. In a home that was never written to nothing is known: then `standing` is empty.
fn sort<'p>(
    rows: &'p [PreparedMemory],
    standing: &[Standing],
    report: &mut ReviewReport,
) -> Vec<&'p PreparedMemory> {
    let (mut new, mut said) = (Vec::new(), HashSet::new());
    for (at, row) in rows.iter().enumerate() {
        match standing.get(at).unwrap_or(&Standing::New) {
            Standing::Purged => report.purged += 1,
            Standing::New if said.insert(&row.new.identity) => new.push(row),
            Standing::New | Standing::Known => report.known += 1,
        }
    }
    new
}

fn candidate(row: &PreparedMemory) -> NewMemory {
    NewMemory { state: State { status: Status::Candidate, ..row.new.state }, ..row.new.clone() }
}

/// The question to a person. It says where the text stands without waiting for the answer.
fn ask(engine: &Engine, home: &OlderHome, origin: &Origin, row: &PreparedMemory) -> NewReview {
    let reason = match file_that_says(home, row) {
        Some(file) => format!("{TAKEN_OVER}; `{file}` of the vault says it already"),
        None => TAKEN_OVER.to_owned(),
    };
    NewReview {
        id: row.key.id(IdKind::Review, &origin.source, &origin.scope, ""),
        kind: review::CANDIDATE.into(),
        target: row.new.id.to_string(),
        proposal: serde_json::json!({ "approve": { "status": "active" } }).to_string(),
        reason,
        proposer: row.new.writer.clone(),
        created_at: row.new.created_at,
        salt: engine.ids().salt(),
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

/// Stores them, all or none.
fn store(engine: &Engine, call: &Call<'_>, asked: &[(NewMemory, NewReview)]) -> Result<(), Error> {
    let actor = authority::authorise(engine, call, Action::Propose, Layer::P5, "")?;
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        for (new, review) in asked {
            let row = NewAudit {
                layer: Some(new.state.layer),
                reason: TAKEN_OVER,
                after_hash: Some(new.audit_hash()),
                ..NewAudit::new(&actor, call.face, Action::Propose.as_str(), new.id.as_str()).asking(review)
            };
            let seq = w.record(&row)?;
            w.insert_memory(new, seq)?;
            w.insert_review(review, seq)?;
        }
        authority::seal(w, call, &actor)
    })?;
    Ok(())
}
