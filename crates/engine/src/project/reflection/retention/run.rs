//! `retention_run`: puts away what is old, and sums up what belongs together. Only a look unless it is told otherwise.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    duplicate,
    memory::{Relation, Status, Tier},
    principal::{Principal, PrincipalKind},
    project::retention::sum,
    time::Timestamp,
};
use strata_store::{
    error::StoreError,
    ledger::{EvidenceRow, LedgerWrite, MemoryRelation, MemoryRow, NewAudit, ReviewFilter},
};

use super::{Outlook, look, look_in, status::Response as Report};
use crate::{
    engine::Engine,
    error::Error,
    memory::{
        draft::{Draft, Placing},
        status,
        write::{self, Judged, Stored},
    },
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    project::{branches::close_if_left_by_all, reflection::known::SUM},
    render::{Document, Mark, Render, counted},
    review::{self, dispute::may_change},
};

/// See the module.
pub struct RetentionRun;

/// Whether anything is done.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Only show what would be done. Default true; send false to do it.
    pub dry_run: Option<bool>,
}

/// What was done.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Whether nothing was done.
    pub dry_run: bool,
    /// Candidates that were put away because nobody decided.
    pub expired: usize,
    /// Memories that were put away.
    pub archived: usize,
    /// Sums that were made.
    pub compacted: Vec<String>,
    /// What could not be done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What was found before.
    pub report: Report,
}

/// The word on record.
pub(crate) const ARCHIVE: &str = "archive";
/// Pieces of evidence that a sum takes over.
const EVIDENCE: usize = 64;

impl Operation for RetentionRun {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "retention_run",
        cli: &["project", "retention", "run"],
        positional: &[],
        title: "Put away what is old",
        about: "Archives stale, replaced and undecided memories of the project that are old, and what the settings have due of branches, and sums up small ones that belong \
                together: the sum is in force, its sources are archived and lead to it. Constraints, architecture and decisions \
                are left alone. Nothing is deleted, and `retention_restore` brings each back. Shows what it would do unless \
                `dry_run` is false.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["memory", "retention", "run"]];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let dry_run = request.dry_run.unwrap_or(true);
        let outlook = look(engine, call)?;
        let mut done = Response::of(&outlook, dry_run);
        if !dry_run && !engine.settings().config.project.memory_retention.enabled {
            done.notes.push("`memory_retention.enabled` is false: nothing was done".into());
        } else if !dry_run {
            done.put_away(engine, call, &outlook)?;
            done.sum_up(engine, call, &outlook)?;
        }
        Ok(done)
    }
}

impl Response {
    fn of(outlook: &Outlook, dry_run: bool) -> Self {
        let report = Report::of(outlook);
        Self { dry_run, expired: 0, archived: 0, compacted: Vec::new(), notes: Vec::new(), report }
    }

    fn put_away(&mut self, engine: &Engine, call: &Call<'_>, outlook: &Outlook) -> Result<(), Error> {
        for number in &outlook.plan.expired {
            engine.control(call).check()?;
            if let Some(row) = outlook.rows.get(number) {
                expire(engine, call, row)?;
                self.expired += 1;
            }
        }
        self.archive(engine, call, outlook, &outlook.plan.archived)?;
        self.leave_branches(engine, call, outlook)
    }

    fn archive(
        &mut self,
        engine: &Engine,
        call: &Call<'_>,
        outlook: &Outlook,
        due: &[(i64, String)],
    ) -> Result<(), Error> {
        for (number, reason) in due {
            engine.control(call).check()?;
            if let Some(row) = outlook.rows.get(number).filter(|row| self.may(call, row)) {
                status::change(engine, call, row, Status::Archived, (ARCHIVE, reason))?;
                self.archived += 1;
            }
        }
        Ok(())
    }

    /// Archives what is due because of its branch. A question about a branch that nothing stands on any more is taken back.
    fn leave_branches(&mut self, engine: &Engine, call: &Call<'_>, outlook: &Outlook) -> Result<(), Error> {
        let due = &outlook.plan.of_branches;
        self.archive(engine, call, outlook, due)?;
        let left = due.iter().filter_map(|(number, _)| outlook.rows.get(number)?.scope.branch.as_deref());
        let project = call.scope.project.as_deref().unwrap_or_default();
        for branch in left.collect::<BTreeSet<_>>() {
            close_if_left_by_all(engine, call, (project, branch))?;
        }
        Ok(())
    }

    fn sum_up(&mut self, engine: &Engine, call: &Call<'_>, outlook: &Outlook) -> Result<(), Error> {
        for group in &outlook.plan.groups {
            engine.control(call).check()?;
            let rows: Vec<&MemoryRow> = group.iter().filter_map(|number| outlook.rows.get(number)).collect();
            if rows.iter().all(|row| self.may(call, row)) {
                self.compacted.extend(compact(engine, call, &rows)?);
            }
        }
        Ok(())
    }

    /// Whether the caller may change a memory; a note is left where not.
    fn may(&mut self, call: &Call<'_>, row: &MemoryRow) -> bool {
        let may = may_change(call, row.state.layer);
        if !may {
            self.notes
                .push(format!("{} was left: {} may not change {}", row.id, call.principal, row.state.layer));
        }
        may
    }
}

/// Archives what the settings have due because of its branch, in every namespace of the project, and says how much that was:
/// what upkeep does of all this.
///
/// # Errors
/// Those of the store.
pub fn tidy_branches(engine: &Engine, call: &Call<'_>) -> Result<usize, Error> {
    let outlook = look_in(engine, call, None)?;
    let mut done = Response::of(&outlook, false);
    done.leave_branches(engine, call, &outlook)?;
    Ok(done.archived)
}

/// Puts a candidate away, and takes back the question about it. Nothing in force changes and its age alone decides, so the
/// system does it for whoever asked, whatever the layer.
fn expire(engine: &Engine, call: &Call<'_>, row: &MemoryRow) -> Result<(), Error> {
    let system = Principal::new(PrincipalKind::System, "retention").on_behalf_of(call.principal);
    let call = &Call { principal: &system, ..*call };
    let reason = "nobody decided about it in time";
    let waiting = ReviewFilter { target: Some(row.id.clone()), ..ReviewFilter::default() };
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        for review in w.reviews(&waiting)? {
            review::withdraw(w, call, &review, reason)?;
        }
        let line = NewAudit::new(call.principal, call.face, "expire", &row.id);
        status::turn(w, &line, row, (Status::Archived, reason))
    })?;
    Ok(())
}

/// Stores the sum of some memories and archives them, in one transaction; returns its id.
fn compact(engine: &Engine, call: &Call<'_>, rows: &[&MemoryRow]) -> Result<Option<String>, Error> {
    let Some(first) = rows.first() else { return Ok(None) };
    let texts: Vec<(&str, &str)> = rows.iter().map(|row| (row.title.as_str(), row.body.as_str())).collect();
    let (title, text) = sum(first.kind.as_str(), &texts);
    let config = &engine.settings().config.project.memory_retention.compaction;
    let grounds =
        if config.preserve_original_evidence { evidence_of(engine, call, rows)? } else { Vec::new() };
    let archives = config.auto_archive_source_memories;
    let draft = draft(first, rows, (title, text), grounds);
    let judged = Judged::new("sums up memories that belong together");
    let now = engine.clock().now();
    let stored = write::store_judged(engine, call, &draft, judged, &|w, stored| {
        if !stored.new {
            return Ok(());
        }
        if archives {
            archive(w, call, stored, rows)?;
        }
        lead_to(w, call, (stored, rows), now)
    })?;
    Ok(stored.new.then_some(stored.id))
}

/// Archives the sources of a sum.
fn archive(
    w: &LedgerWrite<'_>,
    call: &Call<'_>,
    stored: &Stored,
    rows: &[&MemoryRow],
) -> Result<(), StoreError> {
    let reason = format!("summed up in {}", stored.id);
    for row in rows {
        let line = NewAudit::new(call.principal, call.face, ARCHIVE, &row.id);
        status::turn(w, &line, row, (Status::Archived, &reason))?;
    }
    Ok(())
}

/// Lets a sum lead to its sources.
fn lead_to(
    w: &LedgerWrite<'_>,
    call: &Call<'_>,
    (stored, rows): (&Stored, &[&MemoryRow]),
    at: Timestamp,
) -> Result<(), StoreError> {
    let line = NewAudit {
        layer: Some(stored.layer),
        ..NewAudit::new(call.principal, call.face, "relate", &stored.id)
    };
    let seq = w.record(&line)?;
    let relation = Relation::CompactionSource;
    let to = |row: &&MemoryRow| MemoryRelation { source: stored.number, relation, target: row.number, at };
    w.relate_memories(&rows.iter().map(to).collect::<Vec<_>>(), seq)
}

fn evidence_of(engine: &Engine, call: &Call<'_>, rows: &[&MemoryRow]) -> Result<Vec<EvidenceRow>, Error> {
    engine.read(call, |r| {
        let mut all: Vec<EvidenceRow> = Vec::new();
        for row in rows {
            for piece in r.evidence(row.number)? {
                if all.len() < EVIDENCE && !all.contains(&piece) {
                    all.push(piece);
                }
            }
        }
        Ok(all)
    })
}

#[expect(clippy::cast_precision_loss, reason = "a few memories")]
fn draft(
    first: &MemoryRow,
    rows: &[&MemoryRow],
    (title, text): (String, String),
    grounds: Vec<EvidenceRow>,
) -> Draft {
    let mean = |of: fn(&MemoryRow) -> f64| rows.iter().map(|row| of(row)).sum::<f64>() / rows.len() as f64;
    Draft {
        bands: duplicate::bands(&text),
        text,
        kind: first.kind.clone(),
        title: Some(title),
        layer: first.state.layer,
        topic_key: None,
        supersedes: None,
        supersede_reason: None,
        tags: vec![SUM.to_owned()],
        confidence: mean(|row| row.state.confidence).clamp(0.0, 1.0),
        importance: mean(|row| row.state.importance).clamp(0.0, 1.0),
        source: Some("retention".into()),
        session: None,
        evidence: Vec::new(),
        grounds,
        valid_from: None,
        valid_to: None,
        scope: first.scope.clone(),
        placing: Placing { commit: None, module_path: None, ..Placing::of(first) },
        pinned: false,
        tier: Tier::Hot,
        metadata: BTreeMap::new(),
        redacted: Vec::new(),
        route: None,
        rule: None,
        action: "compact",
        writer: None,
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.dry_run {
            return self.report.render().note(Mark::Info, "nothing was changed; `--dry-run=false` does it");
        }
        let text = format!(
            "{} expired, {} archived, {} made",
            counted(self.expired, "candidate"),
            counted(self.archived, "memory"),
            counted(self.compacted.len(), "sum")
        );
        let document = Document::new().note(Mark::Good, text);
        self.notes.iter().fold(document, |document, note| document.note(Mark::Warning, note.clone()))
    }
}
