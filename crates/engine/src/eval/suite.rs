//! `eval suite`: questions with what an answer must hold, asked of this home.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use strata_store::{files, index::SourceKind, ledger::MemoryFilter};

use super::{
    acl::Legacy,
    baseline::{Asking, Baseline},
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    paths,
    recall::search::{Query, search},
    render::{Block, Document, Mark, Render, counted},
    request::unit,
};

/// See the module.
pub struct EvalSuite;

/// The largest suite that is read: 16 MiB.
const MAX_FILE: u64 = 16 << 20;
/// Results per question, when the suite does not say.
const DEFAULT_K: usize = 5;
/// Most results per question.
const MAX_K: usize = 100;

/// A suite of questions.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {
    /// The suite: JSON with `queries`, a list of {query, expected: [parts of texts], k}; k is 5 unless given.
    pub file: String,
    /// The least share of the expected parts that must be found, 0 to 1; below it the command fails.
    pub min_recall: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Suite {
    queries: Vec<Case>,
}

#[derive(Debug, Deserialize)]
struct Case {
    query: String,
    expected: Vec<String>,
    k: Option<usize>,
}

/// The figures of one engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Total {
    /// Expected parts that were found.
    pub hits: usize,
    /// Expected parts.
    pub expected: usize,
}

/// The figures.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Per engine and question {recall@k, hits, expected}, and `_total`. `baseline` is the quote-stripped OR-join over
    /// whole words; `p_layer` is this home's recall, under the name that p-layer's reports give it.
    pub recall: Value,
    /// p-layer's thirty cases of permissions, tried in a throwaway home.
    pub acl: Legacy,
    /// Memories that were searched.
    pub memories: usize,
    /// The least share that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_recall: Option<f64>,
    /// Whether the permissions hold and the share, when one was asked for, was reached.
    pub passed: bool,
    #[serde(skip)]
    totals: [Total; 2],
}

impl Operation for EvalSuite {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "eval_suite",
        cli: &["eval", "suite"],
        positional: &["file"],
        title: "Ask a suite of questions of this home",
        about: "Asks every question of a suite and reports how many of the expected parts of texts are among the first k \
                memories, beside a plain word match over the same memories; and whether p-layer's thirty cases of permissions \
                hold (`eval acl` tries all). With `min_recall` it fails when fewer are found, so that a build can watch it. \
                It changes nothing.",
        effect: Effect::Read,
        audience: Audience::People,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["eval"]];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let min_recall = unit("min_recall", request.min_recall)?;
        let path = paths::reachable(engine, call, "file", &request.file)?;
        let suite = read(&files::read_regular(&path, MAX_FILE)?)?;
        engine.existing_ledger()?;
        measure(engine, call, &suite, min_recall)
    }
}

fn read(bytes: &[u8]) -> Result<Suite, Error> {
    let form = "give {\"queries\": [{\"query\": text, \"expected\": [text], \"k\": number}]}";
    let suite: Suite = serde_json::from_slice(bytes)
        .map_err(|e| Error::argument("file", format!("is no suite: {e}"), form))?;
    if suite.queries.is_empty() {
        return Err(Error::argument("file", "has no queries", form));
    }
    for (number, case) in (1..).zip(&suite.queries) {
        let wrong = if case.query.trim().is_empty() {
            "has no query"
        } else if case.expected.is_empty() || case.expected.iter().any(|part| part.trim().is_empty()) {
            "expects nothing"
        } else if case.k.is_some_and(|k| !(1..=MAX_K).contains(&k)) {
            "has a `k` outside 1 to 100"
        } else {
            continue;
        };
        return Err(Error::argument("file", format!("query {number} {wrong}"), form));
    }
    Ok(suite)
}

fn measure(
    engine: &Engine,
    call: &Call<'_>,
    suite: &Suite,
    min_recall: Option<f64>,
) -> Result<Response, Error> {
    let memories = memories(engine, call)?;
    let baseline = Baseline::new(memories.iter().map(|(text, kind)| (text.as_str(), kind.as_str())));
    let mut reports = [Map::new(), Map::new()];
    let mut totals = [Total::default(); 2];
    for (done, case) in suite.queries.iter().enumerate() {
        let k = case.k.unwrap_or(DEFAULT_K);
        let places = baseline.search(&case.query, Asking::OrJoin, k);
        let theirs: Vec<String> = places.into_iter().map(|at| memories[at].0.clone()).collect();
        let query = Query { sources: vec![SourceKind::Memory], ..Query::new(&case.query, call.scope, k) };
        let outcome = search(engine, call, &query)?;
        let ours: Vec<String> = outcome.hits.iter().map(|hit| hit.item.text().to_owned()).collect();
        for (engine, texts) in [theirs, ours].iter().enumerate() {
            let hits = found(&case.expected, texts);
            totals[engine].hits += hits;
            totals[engine].expected += case.expected.len();
            let report = json!({
                format!("recall@{k}"): share(hits, case.expected.len()), "hits": hits, "expected": case.expected.len(),
            });
            reports[engine].insert(unused(&reports[engine], &case.query), report);
        }
        (call.progress)(done as u64 + 1, suite.queries.len() as u64);
        if call.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
    }
    for (report, total) in reports.iter_mut().zip(totals) {
        let sum = json!({ "recall": total.recall(), "hits": total.hits, "expected": total.expected });
        report.insert("_total".into(), sum);
    }
    let [baseline, ours] = reports;
    let acl = Legacy::run(engine, call)?;
    Ok(Response {
        recall: json!({ "baseline": baseline, "p_layer": ours }),
        memories: memories.len(),
        min_recall,
        passed: acl.tally.holds() && min_recall.is_none_or(|least| totals[1].recall() >= least),
        acl,
        totals,
    })
}

/// Text and kind of every memory that the caller sees, oldest first.
fn memories(engine: &Engine, call: &Call<'_>) -> Result<Vec<(String, String)>, Error> {
    let filter =
        MemoryFilter { visible_from: Some(call.scope.clone()), limit: usize::MAX, ..MemoryFilter::default() };
    let mut rows = engine.existing_ledger()?.read(&engine.control(call), |r| r.memories(&filter))?;
    let now = engine.clock().now();
    rows.retain(|row| row.valid_to.is_none_or(|ends| now < ends));
    rows.sort_by_key(|row| row.number);
    Ok(rows.into_iter().map(|row| (row.body, row.kind.to_string())).collect())
}

/// How many of the expected parts are in any of the texts, whatever the case of their letters.
fn found(expected: &[String], texts: &[String]) -> usize {
    let texts: Vec<String> = texts.iter().map(|text| text.to_lowercase()).collect();
    expected.iter().filter(|part| texts.iter().any(|text| text.contains(&part.to_lowercase()))).count()
}

/// The question, or with a number behind it when the suite asks it again.
fn unused(report: &Map<String, Value>, query: &str) -> String {
    let mut names = std::iter::once(query.to_owned()).chain((2..).map(|n| format!("{query} ({n})")));
    names.find(|name| !report.contains_key(name)).unwrap_or_default()
}

fn share(hits: usize, expected: usize) -> f64 {
    if expected == 0 { 0.0 } else { hits as f64 / expected as f64 }
}

impl Total {
    /// The share that was found.
    pub fn recall(self) -> f64 {
        share(self.hits, self.expected)
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let row = |name: &str, total: Total| {
            vec![
                name.to_owned(),
                format!("{:.3}", total.recall()),
                format!("{}/{}", total.hits, total.expected),
            ]
        };
        let [baseline, ours] = self.totals;
        let document = Document::new()
            .text(counted(self.memories, "memory"))
            .with(Block::Table {
                columns: ["engine", "recall", "found"].map(str::to_owned).to_vec(),
                rows: vec![row("baseline", baseline), row("strata", ours)],
            })
            .text(format!("difference {:+.3}", ours.recall() - baseline.recall()));
        let document = self.acl.note(document);
        match self.min_recall {
            None => document,
            Some(least) if ours.recall() >= least => {
                document.note(Mark::Good, format!("recall is at least {least:.3}, as asked for"))
            }
            Some(least) => document.note(Mark::Bad, format!("recall is below {least:.3}")),
        }
    }

    fn is_alarming(&self) -> bool {
        !self.passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_without_questions_or_answers_is_none() {
        for text in [
            "",
            "{}",
            "{\"queries\": []}",
            "{\"queries\": [{\"expected\": [\"x\"]}]}",
            "{\"queries\": [{\"query\": \"x\", \"expected\": []}]}",
            "{\"queries\": [{\"query\": \" \", \"expected\": [\"x\"]}]}",
            "{\"queries\": [{\"query\": \"x\", \"expected\": [\"x\"], \"k\": 0}]}",
        ] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
        let suite = read(b"{\"queries\": [{\"query\": \"x\", \"expected\": [\"y\"]}], \"note\": 1}")
            .expect("a suite");
        assert_eq!(suite.queries.len(), 1);
    }
}
