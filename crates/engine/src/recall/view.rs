//! A hit as it is shown: the record, and how its score came about.

use jiff::tz::TimeZone;
use serde::Serialize;
use strata_store::{
    index::{self, cut},
    ledger::MemoryRow,
};

use super::{item::Item, search::Hit, seed_order::Boosts};
use crate::{
    operation::is_default,
    project::{anchors::AnchorView, layout::human::Word},
    render::Record,
};

/// Characters of one record's text that are shown; `inspect` shows the whole.
const EXCERPT: usize = 700;

/// One hit.
#[derive(Debug, Clone, Serialize)]
pub struct HitView {
    /// The id to use with `inspect`, `update`, `forget`.
    pub id: String,
    /// The memory's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<i64>,
    /// `memory`, `episode` or `document`.
    pub source: &'static str,
    /// Its layer.
    pub layer: String,
    /// Its kind.
    pub kind: String,
    /// Its date in the user's zone.
    pub date: String,
    /// With `explain`: when it was stored (a turn: said; a file: changed).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// How sure it is; absent for raw text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Where it comes from.
    pub origin: String,
    /// The session it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The id it had where it was imported from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// Its headline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its text, shortened when long.
    pub text: String,
    /// Comparable within this answer only.
    pub score: f64,
    /// Under p-layer's orders: the sum of the reciprocal ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rrf: Option<f64>,
    /// With `fusion = "rrf"`: what the score is the sum of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank_components: Option<Boosts>,
    /// The code that it is pinned to, and whether that has changed since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<AnchorView>,
    /// Of a file that people write for a project: whether a person trusts it as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<Word>,
    /// Further sources that say nearly the same.
    #[serde(skip_serializing_if = "is_default")]
    pub duplicates: usize,
    /// Whether it was drawn by chance and answers nothing.
    #[serde(rename = "_serendipity", skip_serializing_if = "std::ops::Not::not")]
    pub serendipity: bool,
    /// With `explain`: how the score came about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<serde_json::Value>,
}

/// A candidate that was not returned.
#[derive(Debug, Clone, Serialize)]
pub struct NearMiss {
    /// Why.
    pub reason: &'static str,
    /// The candidate.
    pub hit: HitView,
}

impl HitView {
    /// Shows a hit; `explain` adds how its score came about.
    pub fn new(hit: &Hit, zone: &TimeZone, explain: bool) -> Self {
        let item = &hit.item;
        let (number, confidence) = match item {
            Item::Memory(m) => (Some(m.number), Some(m.state.confidence)),
            _ => (None, None),
        };
        Self {
            id: item.id(),
            number,
            source: match item {
                Item::Memory(_) => "memory",
                Item::Episode(_) => "episode",
                Item::Document(..) => "document",
            },
            layer: item.layer().unwrap_or(hit.found.layer).to_string(),
            kind: item.kind().unwrap_or_else(|| hit.found.kind.clone()),
            date: item.at().to_date(zone),
            created_at: explain.then(|| item.created_at().to_rfc3339()),
            confidence,
            origin: item.origin(),
            session: item.session().map(str::to_owned),
            external_id: item.external_id().map(str::to_owned),
            title: item.title(),
            text: excerpt(item, hit.found.part),
            score: hit.score(),
            rrf: hit.rerank.map(|rerank| rerank.rrf),
            rerank_components: hit.rerank.and_then(|rerank| rerank.boosts),
            code: hit.code.clone(),
            written: hit.written,
            duplicates: hit.found.duplicates.len(),
            serendipity: false,
            explanation: explain.then(|| explanation(&hit.found)),
        }
    }

    /// A memory that was drawn by chance.
    pub(super) fn by_chance(memory: &MemoryRow, zone: &TimeZone, code: &[AnchorView]) -> Self {
        let item = Item::Memory(Box::new(memory.clone()));
        Self {
            id: memory.id.clone(),
            number: Some(memory.number),
            source: "memory",
            layer: memory.state.layer.to_string(),
            kind: memory.kind.to_string(),
            date: item.at().to_date(zone),
            created_at: None,
            confidence: Some(memory.state.confidence),
            origin: item.origin(),
            session: item.session().map(str::to_owned),
            external_id: None,
            title: item.title(),
            text: excerpt(&item, 0),
            score: 0.0,
            rrf: None,
            rerank_components: None,
            code: code.to_vec(),
            written: None,
            duplicates: 0,
            serendipity: true,
            explanation: None,
        }
    }

    /// The hit as a record.
    pub fn record(&self) -> Record {
        let mut attributes = Vec::new();
        attributes.extend(self.serendipity.then(|| "serendipity: drawn by chance".to_owned()));
        attributes.extend(self.number.map(|n| format!("#{n}")));
        attributes.push(format!("{} {}", self.layer, self.kind));
        attributes.push(self.date.clone());
        attributes.extend(self.confidence.map(|c| format!("confidence {c:.2}")));
        attributes.extend((!self.origin.is_empty()).then(|| format!("from {}", self.origin)));
        attributes.extend(self.code.iter().map(AnchorView::in_words));
        attributes.extend(self.written.map(|word| word.in_words().to_owned()));
        if self.duplicates > 0 {
            attributes.push(format!("{} more say the same", self.duplicates));
        }
        if let Some(created_at) = &self.created_at {
            attributes.push(format!("session={}", self.session.as_deref().unwrap_or("none")));
            attributes.push(format!("created={created_at}"));
        }
        if let Some(explanation) = &self.explanation {
            attributes.extend(in_words(self, explanation));
        }
        Record { id: self.id.clone(), attributes, title: self.title.clone(), text: self.text.clone() }
    }
}

impl NearMiss {
    /// The candidate as a record that says why it was left out.
    pub(super) fn record(&self) -> Record {
        let mut record = self.hit.record();
        record.attributes.insert(0, self.reason.to_owned());
        record
    }
}

/// An explanation for people: how the score came about, the ranks in both legs, the evidence.
fn in_words(hit: &HitView, explanation: &serde_json::Value) -> Vec<String> {
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or_default();
    let parts = explanation["components"].as_object().into_iter().flatten();
    let parts: Vec<String> = parts.map(|(name, v)| format!("{} {:+.2}", spaced(name), number(v))).collect();
    let mut words = vec![match hit.rrf {
        Some(rrf) => format!("score {:.6} from rrf {rrf:.4}", hit.score),
        None => format!("score {:.3} = {}", hit.score, parts.join(", ")),
    }];
    let legs = [("words", "lexical_rank"), ("meaning", "dense_rank")];
    let ranks = legs.map(|(leg, key)| match explanation[key].as_u64() {
        Some(rank) => format!("{leg} #{rank}"),
        None => format!("{leg} not ranked"),
    });
    words.push(format!("rank by {} (BM25 {:.2})", ranks.join(", by "), number(&explanation["bm25"])));
    let evidence = &explanation["evidence"];
    let mut found = vec![format!("{:.0} % of the query's words", 100.0 * number(&evidence["coverage"]))];
    let around = number(&evidence["context_coverage"]);
    if around > number(&evidence["coverage"]) {
        found.push(format!("{:.0} % with its neighbours", 100.0 * around));
    }
    found.extend(evidence["cosine"].as_f64().map(|cosine| format!("cosine {cosine:.2}")));
    for (key, what) in [("is_owner", "the person asked about"), ("is_dated", "the date asked about")] {
        found.extend((evidence[key] == true).then(|| what.to_owned()));
    }
    words.push(format!("evidence: {}", found.join(", ")));
    words
}

fn spaced(name: &str) -> String {
    name.replace('_', " ")
}

/// The part of a long text that was found, or its beginning.
fn excerpt(item: &Item, part: u32) -> String {
    let text = item.text();
    // The index hands over just the part of a document; of other texts the part is cut out here.
    let part = if matches!(item, Item::Document(_)) { 0 } else { part };
    let piece = cut(text).get(part as usize).copied().unwrap_or(text);
    let mut shown: String = piece.chars().take(EXCERPT).collect();
    if part > 0 {
        shown.insert_str(0, "… ");
    }
    if piece.chars().nth(EXCERPT).is_some() || (piece.len() < text.trim().len() && part == 0) {
        shown.push_str(" …");
    }
    shown
}

/// Legs, ranks, signals and evidence of a hit.
fn explanation(found: &index::Found) -> serde_json::Value {
    let (hit, c, e) = (&found.hit, &found.hit.components, &found.hit.evidence);
    let components = [
        ("lexical", c.lexical),
        ("dense", c.dense),
        ("neighbours", c.neighbours),
        ("neighbour_dense", c.neighbour_dense),
        ("group_best", c.group_best),
        ("group_lexical", c.group_lexical),
        ("group_dense", c.group_dense),
        ("owner", c.owner),
        ("date", c.date),
        ("when", c.when),
        ("question", c.question),
        ("length", c.length),
        ("signals", c.signals),
        ("rrf", c.rrf),
        ("confidence_boost", c.confidence_boost),
    ];
    let counted = components.into_iter().filter(|(_, v)| *v != 0.0);
    serde_json::json!({
        "bm25": rounded(hit.bm25),
        "lexical_rank": hit.lexical_rank,
        "dense_rank": hit.dense_rank,
        "components": counted.map(|(k, v)| (k.to_owned(), rounded(v))).collect::<serde_json::Map<_, _>>(),
        "evidence": {
            "coverage": rounded(e.coverage),
            "context_coverage": rounded(e.context_coverage),
            "group_coverage": rounded(e.group_coverage),
            "cosine": e.cosine.map(rounded),
            "is_owner": e.is_owner,
            "is_dated": e.is_dated,
        },
    })
}

fn rounded(value: f32) -> serde_json::Value {
    ((f64::from(value) * 1e4).round() / 1e4).into()
}
