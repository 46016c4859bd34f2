//! `eval acl`: the permissions as they are enforced, not as they are written down. Every layer, every principal
//! and every operation that changes something goes through the real write path of a throwaway home; what is
//! expected is p-layer's matrix, kept here on its own, so that a wrong policy table fails too.

mod home;
mod legacy;
mod matrix;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Render},
};

/// See the module.
pub struct EvalAcl;

/// No arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {}

/// One attempt.
#[derive(Debug, Clone, Serialize)]
pub struct Case {
    /// The layer.
    pub layer: String,
    /// Who tried.
    pub who: String,
    /// What.
    pub operation: &'static str,
    /// `allow`, `deny`, `approval` or `invalid_layer`.
    pub expect: &'static str,
    /// What happened: the same words, or the failure.
    pub got: String,
    /// Whether that was as expected and, for a denial, on record and without effect.
    pub ok: bool,
}

/// How many attempts ended as they must.
#[derive(Debug, Serialize)]
pub struct Tally {
    /// 0 to 1, four decimals.
    pub pass_rate: f64,
    /// As expected.
    pub passed: usize,
    /// Attempts.
    pub total: usize,
}

/// p-layer's own thirty cases.
#[derive(Debug, Serialize)]
pub struct Legacy {
    /// How many passed.
    #[serde(flatten)]
    pub tally: Tally,
    /// All of them, in p-layer's order.
    pub cases: Vec<Case>,
}

/// Every layer, principal and operation.
#[derive(Debug, Serialize)]
pub struct Matrix {
    /// How many passed.
    #[serde(flatten)]
    pub tally: Tally,
    /// Denials, each of them found in the audit.
    pub denials: usize,
    /// The operations that were tried.
    pub operations: Vec<&'static str>,
    /// What did not end as it must.
    pub failed: Vec<Case>,
}

/// The report.
#[derive(Debug, Serialize)]
pub struct Response {
    /// How many of all attempts passed.
    #[serde(flatten)]
    pub tally: Tally,
    /// p-layer's own thirty cases.
    pub legacy: Legacy,
    /// The whole matrix.
    pub matrix: Matrix,
}

impl Operation for EvalAcl {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "eval_acl",
        cli: &["eval", "acl"],
        positional: &[],
        title: "Check that permissions hold",
        about: "Tries every operation that changes something, in every layer, as every principal, with and without the \
                secret, through the real write path of a throwaway home; and p-layer's own thirty cases. Each denial must \
                be in the audit and without effect. Exit code 1 when anything is not as it must be.",
        effect: Effect::Read,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        let legacy = Legacy::run(engine, call)?;
        let (cases, operations) = matrix::run(engine, call)?;
        let all = legacy.cases.iter().chain(&cases);
        Ok(Response {
            tally: Tally::of(all),
            matrix: Matrix {
                tally: Tally::of(cases.iter()),
                denials: cases.iter().filter(|case| case.expect != matrix::ALLOW).count(),
                operations,
                failed: cases.iter().filter(|case| !case.ok).cloned().collect(),
            },
            legacy,
        })
    }
}

impl Legacy {
    /// Tries the thirty cases in a throwaway home.
    pub(super) fn run(engine: &Engine, call: &Call<'_>) -> Result<Self, Error> {
        let cases = legacy::run(engine, call)?;
        Ok(Self { tally: Tally::of(cases.iter()), cases })
    }

    /// The line of a report.
    pub(super) fn note(&self, document: Document) -> Document {
        let mark = if self.tally.holds() { Mark::Good } else { Mark::Bad };
        document.note(mark, format!("ACL compliance: {} enforcement cases correct", self.tally.line()))
    }
}

impl Tally {
    fn of<'a>(cases: impl Iterator<Item = &'a Case>) -> Self {
        let (mut passed, mut total) = (0, 0);
        for case in cases {
            passed += usize::from(case.ok);
            total += 1;
        }
        let rate = passed as f64 / f64::max(total as f64, 1.0);
        Self { pass_rate: (rate * 1e4).round() / 1e4, passed, total }
    }

    pub(super) fn holds(&self) -> bool {
        self.total > 0 && self.passed == self.total
    }

    fn line(&self) -> String {
        format!("{:.1}% ({}/{})", self.pass_rate * 100.0, self.passed, self.total)
    }
}

impl Render for Response {
    fn is_alarming(&self) -> bool {
        !self.tally.holds()
    }

    fn render(&self) -> Document {
        let matrix = format!(
            "matrix: {} attempts as they must be, {} denials each on record, {} operations",
            self.matrix.tally.line(),
            self.matrix.denials,
            self.matrix.operations.len()
        );
        let mark = if self.matrix.tally.holds() { Mark::Good } else { Mark::Bad };
        let document = self.legacy.note(Document::new()).note(mark, matrix);
        let failed: Vec<&Case> =
            self.legacy.cases.iter().filter(|case| !case.ok).chain(&self.matrix.failed).collect();
        if failed.is_empty() {
            return document;
        }
        let columns = ["layer", "who", "operation", "expected", "got"].map(str::to_owned).to_vec();
        let row = |case: &&Case| {
            vec![
                case.layer.clone(),
                case.who.clone(),
                case.operation.to_owned(),
                case.expect.to_owned(),
                case.got.clone(),
            ]
        };
        document.with(Block::Table { columns, rows: failed.iter().map(row).collect() })
    }
}
