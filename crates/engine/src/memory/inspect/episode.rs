//! A raw event with the turns around it.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use serde::Serialize;
use strata_core::id::PartialId;
use strata_store::{
    error::StoreError,
    ledger::{EpisodeRow, LedgerRead, RawKind},
};

use super::{
    super::reference::{reader, sees_scope},
    budget, stamp,
};
use crate::{
    error::Error,
    operation::Call,
    recall::item::metadata,
    render::{Block, Document, Record, Trust, neutral},
};

/// A raw event with its neighbours.
#[derive(Debug, Serialize)]
pub struct EpisodeView {
    /// Its id.
    pub id: String,
    /// Its layer, always P2.
    pub layer: &'static str,
    /// The session it belongs to.
    pub session: String,
    /// Who spoke.
    pub speaker: String,
    /// user, assistant, tool, ...
    pub role: String,
    /// When.
    pub at: String,
    /// What was said.
    pub text: String,
    /// Where it came from.
    pub source: String,
    /// The id it had there.
    pub external_id: Option<String>,
    /// Further facts.
    pub metadata: BTreeMap<String, String>,
    /// The digests that were made of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub digests: Vec<String>,
    /// The turns around it, itself included, in order.
    pub around: Vec<Turn>,
    /// What was left out for `budget_tokens`, with how many there are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// One turn near an event.
#[derive(Debug, Serialize)]
pub struct Turn {
    /// Its id.
    pub id: String,
    /// Who spoke.
    pub speaker: String,
    /// What was said.
    pub text: String,
}

/// Turns shown on either side of an event.
const AROUND: usize = 2;

pub(super) fn episode(
    r: &LedgerRead<'_>,
    call: &Call<'_>,
    id: &PartialId,
    zone: &TimeZone,
) -> Result<EpisodeView, Error> {
    let hint = "use an id from `recall`";
    let missing = || Error::NotFound { what: "episode", id: id.text.clone(), hint: hint.into() };
    let row = match r.episode_by_prefix(id, reader(call)) {
        Err(StoreError::NotFound { .. }) => return Err(missing()),
        row => row?,
    };
    if !sees_scope(call, &row.scope) {
        return Err(missing());
    }
    let around = r.session_neighbours(&row, AROUND, AROUND)?;
    let digests = r.digests_of(RawKind::Episode, row.number)?;
    let digests = digests.into_iter().map(|(memory, _)| memory.id).collect();
    Ok(EpisodeView { digests, ..EpisodeView::new(row, around, zone) })
}

impl EpisodeView {
    fn new(row: EpisodeRow, around: Vec<EpisodeRow>, zone: &TimeZone) -> Self {
        Self {
            around: around.into_iter().map(|e| Turn { id: e.id, speaker: e.speaker, text: e.text }).collect(),
            id: row.id,
            layer: "P2",
            session: row.session,
            speaker: row.speaker,
            role: row.role,
            at: stamp(row.at, zone),
            text: row.text,
            source: row.source,
            external_id: row.external_id,
            metadata: metadata(&row.metadata),
            digests: Vec::new(),
            left_out: Vec::new(),
        }
    }

    pub(super) fn render(&self) -> Document {
        let turns = self.around.iter().map(|turn| Record {
            id: turn.id.clone(),
            attributes: vec![turn.speaker.clone()],
            title: None,
            text: turn.text.clone(),
        });
        let mut pairs = vec![
            ("episode".into(), self.id.clone()),
            ("session".into(), neutral(&self.session)),
            ("when".into(), self.at.clone()),
        ];
        if !self.digests.is_empty() {
            pairs.push(("distilled into".into(), self.digests.join(" ")));
        }
        let document = Document::new()
            .with(Block::Pairs(pairs))
            .with(Block::Records { trust: Trust::Data, records: turns.collect() });
        budget::tell(document, &self.left_out)
    }
}
