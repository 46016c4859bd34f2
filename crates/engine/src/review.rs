//! The review queue: what was proposed, and what contradicts itself, until a person decides.
//!
//! A `candidate` is a memory that is not in force yet, an `amendment` a change of one that is, a `conflict` a
//! pair that cannot both hold. Filing one changes no memory; deciding is one transaction.

pub mod amendment;
pub mod approve;
pub(crate) mod dispute;
pub mod list;
pub mod reject;
pub mod resolve;
pub mod show;

use strata_core::{
    id::{Id, IdKind},
    memory::Layer,
};
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, MemoryRow, ReviewRow, ReviewStatus},
};

use crate::{engine::Engine, error::Error, gate::Gate, memory::reference::sees_scope, operation::Call};

/// The kind of a proposed memory.
pub const CANDIDATE: &str = "candidate";
/// The kind of a proposed change.
pub const AMENDMENT: &str = "amendment";
/// The kind of two memories that contradict each other.
pub const CONFLICT: &str = "conflict";

/// The two sides of a conflict, as its proposal names them.
#[derive(Debug, Clone, serde::Deserialize)]
pub(crate) struct Conflict {
    /// The older memory's id.
    pub(crate) a: String,
    /// The newer memory's id.
    pub(crate) b: String,
    /// What they differ in: the word of an axis of contradiction, such as number, deontic or choice. Only shown.
    #[serde(default)]
    pub(crate) axis: String,
    /// What both are about.
    #[serde(default)]
    pub(crate) subject: String,
    /// The value on either side.
    #[serde(default)]
    pub(crate) values: Vec<String>,
    /// How sure it is that they contradict each other, 0 to 1.
    #[serde(default)]
    pub(crate) score: Option<f64>,
    /// What the judge said of it, if it was asked.
    #[serde(default)]
    pub(crate) judge: Option<crate::contradictions::advice::Opinion>,
}

/// A review that waits, and the memory it is about.
struct Open {
    review: ReviewRow,
    /// Absent when it was purged, or names none.
    memory: Option<MemoryRow>,
}

impl Open {
    /// Finds what a decision names: by whole id, visible, and waiting.
    fn find(engine: &Engine, call: &Call<'_>, id: &str) -> Result<Self, Error> {
        let id = whole_id(id)?;
        let found = engine.ledger(call)?.read(&engine.control(call), |r| {
            let Some(review) = r.review(id.as_str())? else { return Ok(None) };
            let memory = r.memory(&review.target)?;
            Ok(Some(Self { review, memory }))
        })?;
        let open = found
            .filter(|open| is_visible(call, open.memory.as_ref()))
            .ok_or_else(|| missing(id.as_str()))?;
        if open.review.status != ReviewStatus::Pending {
            return Err(Error::Conflict {
                message: format!("review {} was decided before: {}", id, open.review.status.as_str()),
                hint: format!("`review show {id}` shows the decision"),
            });
        }
        Ok(open)
    }

    /// The memory it is about.
    fn memory(&self) -> Result<&MemoryRow, Error> {
        self.memory.as_ref().ok_or_else(|| Error::Conflict {
            message: format!("what review {} is about is no longer here", self.review.id),
            hint: format!("`strata review reject {}` closes it", self.review.id),
        })
    }

    fn layer(&self) -> Option<Layer> {
        self.memory.as_ref().map(|memory| memory.state.layer)
    }
}

/// Why a decision was taken, as its audit row says it: which review, and the person's words.
pub(crate) fn on_record(review: &ReviewRow, note: &str) -> String {
    if note.is_empty() { review.id.clone() } else { format!("{}: {note}", review.id) }
}

/// What somebody says about a decision.
fn note(text: Option<&str>) -> Result<String, Error> {
    Ok(Gate::default().field("note", text)?.unwrap_or_default())
}

fn whole_id(text: &str) -> Result<Id, Error> {
    let hint = "give the whole id, as `review list` shows it";
    match Id::parse(text) {
        Ok(id) if id.kind() == IdKind::Review => Ok(id),
        _ => Err(Error::argument("id", format!("`{}` is not the id of a review", text.trim()), hint)),
    }
}

fn missing(id: &str) -> Error {
    Error::NotFound { what: "review", id: id.to_owned(), hint: "`review list` shows what waits".into() }
}

/// Whether the caller may see a review about `memory`: what is about nothing that is left is a person's affair.
fn is_visible(call: &Call<'_>, memory: Option<&MemoryRow>) -> bool {
    use strata_core::principal::PrincipalKind;
    match memory {
        Some(memory) => sees_scope(call, &memory.scope),
        None => matches!(call.principal.kind, PrincipalKind::Human | PrincipalKind::System),
    }
}

/// A memory that somebody else changed since it was proposed to change it.
fn moved_on(review: &ReviewRow, memory: &MemoryRow) -> Error {
    let what = match &memory.superseded_by {
        Some(by) => format!("was replaced by {by}"),
        None if memory.state.status.is_live() => "was changed".to_owned(),
        None => format!("is {}", memory.state.status),
    };
    Error::Conflict {
        message: format!("memory {} {what} since review {} was filed", memory.id, review.id),
        hint: format!(
            "`review show {}` shows both; reject it, and propose the change anew with `reflect`",
            review.id
        ),
    }
}

/// The memories on both sides of a conflict.
fn sides(
    r: &LedgerRead<'_>,
    conflict: &Conflict,
) -> Result<(Option<MemoryRow>, Option<MemoryRow>), StoreError> {
    Ok((r.memory(&conflict.a)?, r.memory(&conflict.b)?))
}
