//! `eval locomo` and `eval jsonl`.

use std::{collections::BTreeMap, path::Path};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    dataset::{self, Dataset},
    evidence::{self, Evidence},
    locomo::{self, Named},
    metrics::{DEPTHS, Row, Summary, summarise},
    run::{Legs, measure},
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    paths,
    render::{Block, Document, Mark, Render},
};

/// Measures on a LoCoMo file.
pub struct EvalLocomo;

/// Measures on any labelled set.
pub struct EvalJsonl;

/// Which legs of the search take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LegsName {
    /// words alone
    Keyword,
    /// the settings of this home
    Default,
}

/// A LoCoMo file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct LocomoRequest {
    /// The data set's JSON file.
    pub file: String,
    /// Which legs of the search take part; default by default.
    pub legs: Option<LegsName>,
    /// Also report p-layer's published figure: evidence among the first ten, beside p-layer's own engine. Of each piece
    /// of evidence the first turn counts.
    pub evidence: Option<bool>,
}

/// A labelled set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct JsonlRequest {
    /// Items, one JSON object a line: {scope, id, text, session, pos, speaker, time, kind}; the first three are needed.
    pub docs: String,
    /// Questions, one JSON object a line: {scope, qid, query, category, relevant}.
    pub queries: String,
    /// Which legs of the search take part; default by default.
    pub legs: Option<LegsName>,
}

/// The figures.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Version of this binary.
    pub version: &'static str,
    /// BLAKE3 of the data, first 16 digits.
    pub data: String,
    /// `keyword` or `default`.
    pub legs: &'static str,
    /// The embedding model that took part.
    pub model: Option<String>,
    /// Items stored.
    pub items: usize,
    /// Items whose time could not be read; they took part without one.
    pub unread_times: usize,
    /// Means over all questions and per category.
    pub summary: BTreeMap<String, Summary>,
    /// With `evidence`: p-layer's published figure for each engine, over all questions and per category.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub evidence: BTreeMap<String, Evidence>,
    /// Every question with its result.
    pub rows: Vec<Row>,
}

impl Operation for EvalLocomo {
    type Request = LocomoRequest;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "eval_locomo",
        cli: &["eval", "locomo"],
        positional: &["file"],
        title: "Measure retrieval on LoCoMo",
        about: "Stores the conversations of a LoCoMo file in a throwaway home, each turn as one episode, asks every question \
                with an answer, and reports how often the evidence was found. Recall is the product's own.",
        effect: Effect::Read,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: LocomoRequest) -> Result<Response, Error> {
        let text = read(engine, call, "file", &request.file)?;
        if request.evidence != Some(true) {
            return report(engine, call, &locomo::read(&text, Named::All)?, request.legs, &[&text]);
        }
        let dataset = locomo::read(&text, Named::First)?;
        let mut response = report(engine, call, &dataset, request.legs, &[&text])?;
        response.evidence = evidence::compare(&dataset, &locomo::spoken(&text)?, &response.rows);
        Ok(response)
    }
}

impl Operation for EvalJsonl {
    type Request = JsonlRequest;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "eval_jsonl",
        cli: &["eval", "jsonl"],
        positional: &[],
        title: "Measure retrieval on a labelled set",
        about: "Stores the items of a labelled set in a throwaway home, asks its questions and reports how often the relevant \
                items were found. Items with a place in a session are stored as episodes, others as memories.",
        effect: Effect::Read,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: JsonlRequest) -> Result<Response, Error> {
        let docs = read(engine, call, "docs", &request.docs)?;
        let queries = read(engine, call, "queries", &request.queries)?;
        report(engine, call, &dataset::read_jsonl(&docs, &queries)?, request.legs, &[&docs, &queries])
    }
}

fn read(engine: &Engine, call: &Call<'_>, field: &str, path: &str) -> Result<String, Error> {
    let path = paths::reachable(engine, call, field, path)?;
    read_file(&path)
}

fn read_file(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|source| Error::File { path: path.display().to_string(), source })
}

fn report(
    engine: &Engine,
    call: &Call<'_>,
    dataset: &Dataset,
    legs: Option<LegsName>,
    data: &[&str],
) -> Result<Response, Error> {
    let (legs, name) = match legs {
        Some(LegsName::Keyword) => (Legs::Keyword, "keyword"),
        Some(LegsName::Default) | None => (Legs::Default, "default"),
    };
    let rows = measure(engine, call, dataset, legs)?;
    let mut hasher = blake3::Hasher::new();
    for part in data {
        hasher.update(part.as_bytes());
    }
    Ok(Response {
        version: env!("CARGO_PKG_VERSION"),
        data: hasher.finalize().to_hex()[..16].to_owned(),
        legs: name,
        model: engine.searcher().model().filter(|_| legs == Legs::Default).map(str::to_owned),
        items: dataset.items.len(),
        unread_times: dataset.unread_times,
        summary: summarise(&rows),
        evidence: BTreeMap::new(),
        rows,
    })
}

impl Render for Response {
    fn render(&self) -> Document {
        let model = self.model.as_deref().unwrap_or("none");
        let head = format!(
            "Strata {}, {} items, data {}, legs {}, model {model}",
            self.version, self.items, self.data, self.legs
        );
        let mut columns = vec!["questions".to_owned(), "n".to_owned()];
        columns.extend(DEPTHS.map(|k| format!("hit@{k}")));
        columns.extend([5, 10].map(|k| format!("recall@{k}")));
        columns.extend(["MRR@10", "nDCG@10", "session@5", "p50 ms", "p95 ms"].map(str::to_owned));
        let rows = self.summary.iter().map(|(name, s)| summary_row(name, s)).collect();
        let mut document = Document::new().text(head);
        if self.unread_times > 0 {
            let text = format!(
                "{} items have a time that could not be read; they took part without one",
                self.unread_times
            );
            document = document.note(Mark::Warning, text);
        }
        document = document.with(Block::Table { columns, rows });
        if self.evidence.is_empty() {
            return document;
        }
        let columns = ["questions", "n", "strata hit@10", "p-layer's words hit@10", "OR-join hit@10"];
        let rows = self.evidence.iter().map(|(name, e)| {
            let mut row = vec![name.clone(), e.questions.to_string()];
            row.extend([e.strata, e.p_layer_words, e.or_join].map(|figure| format!("{figure:.4}")));
            row
        });
        document
            .with(Block::Heading("Evidence among the first ten".into()))
            .with(Block::Table { columns: columns.map(str::to_owned).to_vec(), rows: rows.collect() })
    }
}

fn summary_row(name: &str, s: &Summary) -> Vec<String> {
    let number = |v: f64| format!("{v:.3}");
    let mut row = vec![name.to_owned(), s.questions.to_string()];
    row.extend(s.mean.hit.map(number));
    row.extend([s.mean.recall[1], s.mean.recall[2], s.mean.mrr_at_10, s.mean.ndcg_at_10].map(number));
    row.push(s.mean.session_recall.map_or_else(|| "-".to_owned(), |r| number(r[1])));
    row.extend(s.milliseconds.map(|v| format!("{v:.1}")));
    row
}
