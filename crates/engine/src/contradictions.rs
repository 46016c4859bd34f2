//! `contradictions`: what stored memories say against each other.

pub mod advice;
mod book;
pub mod file;
pub mod scan;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset, is_default},
    render::{Block, Document, Mark, Record, Render, Trust, counted},
    request::unit,
};
use file::{Filing, file};
use scan::{Finding, Scanned, scan};

/// See the module.
pub struct Contradictions;

/// Findings shown when the caller names no number.
const DEFAULT_LIMIT: u32 = 50;

/// What to look for, and whether to file it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Only look: file nothing for review.
    #[serde(default)]
    pub dry_run: bool,
    /// Most findings shown, 1 to 500; filed are those, too, that are not shown. Default: 50.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
    /// Only findings at least this sure, 0 to 1. Default: 0, all.
    pub min_score: Option<f64>,
}

/// What was found.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The findings, the severest and surest first.
    pub findings: Vec<Finding>,
    /// How many there are, shown or not.
    pub total: usize,
    /// Memories read.
    pub memories: usize,
    /// Pairs compared.
    pub compared: usize,
    /// Findings that were put into the review queue by this call.
    pub filed: usize,
    /// Findings that had been filed before, decided or not.
    pub known: usize,
    /// Findings that were not filed because three questions about one of the two wait already: decide those, and look again.
    #[serde(skip_serializing_if = "is_default")]
    pub left_out: usize,
    /// Findings that were not filed because the configured judge is sure that both can hold.
    #[serde(skip_serializing_if = "is_default")]
    pub dismissed: usize,
    /// Whether nothing was filed because only a look was wanted.
    pub dry_run: bool,
}

impl Operation for Contradictions {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "contradictions",
        cli: &["govern", "contradictions"],
        positional: &[],
        title: "Find contradictions",
        about: "Finds memories in force here that say of one thing what cannot both hold: another number, version or date, a \
                negation, always against never, must against must not, enabled against disabled, another thing chosen. \
                Compares across all layers and with the scopes above. Each new finding is put into the review queue, once \
                per pair and at most three for a memory at a time; no memory is changed. A judge, where one is configured, adds its opinion to doubtful ones; of what it is sure \
                can both hold nothing is filed. Use it before you rely on what is stored, or on a schedule. It judges by \
                wording, in English, Chinese, Korean and Japanese; a paraphrase in other words is not seen.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["contradictions"]];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let min_score = unit("min_score", request.min_score)?.unwrap_or(0.0);
        let Scanned { mut findings, memories, compared } = scan(engine, call)?;
        findings.retain(|finding| finding.score >= min_score);
        let Filing { filed, known, left_out, dismissed } = match request.dry_run {
            true => Filing::default(),
            false => file(engine, call, &mut findings)?,
        };
        let total = findings.len();
        findings.truncate(request.limit.unwrap_or(DEFAULT_LIMIT) as usize);
        Ok(Response {
            findings,
            total,
            memories,
            compared,
            filed,
            known,
            left_out,
            dismissed,
            dry_run: request.dry_run,
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.total == 0 {
            let text = format!("no contradictions found among {}", counted(self.memories, "memory"));
            return self.tell_dismissed(Document::new().note(Mark::Good, text));
        }
        let document = self.findings.iter().fold(Document::new(), show);
        let document = document.note_more(self.total.saturating_sub(self.findings.len()));
        let found = format!("{} found among {}", self.total, counted(self.memories, "memory"));
        let outcome = match self.dry_run {
            true => format!("{found}; nothing was filed"),
            false => format!(
                "{found}: {} filed for review, {} known before; no memory was changed",
                self.filed, self.known
            ),
        };
        let document = self.tell_dismissed(document).note(Mark::Info, outcome);
        match self.left_out {
            0 => document,
            n => {
                let text = format!(
                    "{n} not filed: enough is asked about their memories; decide that, and look again"
                );
                document.note(Mark::Info, text)
            }
        }
    }
}

impl Response {
    fn tell_dismissed(&self, document: Document) -> Document {
        match self.dismissed {
            0 => document,
            n => document.note(Mark::Info, format!("{n} not filed: the judge is sure that both can hold")),
        }
    }
}

fn show(document: Document, finding: &Finding) -> Document {
    let [was, is] = &finding.values;
    let review = finding.review.as_ref().map_or_else(String::new, |id| format!(" · {id}"));
    let head = format!(
        "[{}] {}: {} · {was} against {is} · score {:.2}{review}",
        finding.severity, finding.axis, finding.subject, finding.score
    );
    let record = |side: &scan::Side| Record {
        id: side.id.clone(),
        attributes: vec![
            format!("#{}", side.number),
            side.layer.clone(),
            side.kind.clone(),
            side.scope.clone(),
        ],
        title: None,
        text: side.text.clone(),
    };
    let records = vec![record(&finding.a), record(&finding.b)];
    let document = document.note(Mark::Warning, head);
    let document = match &finding.judge {
        Some(opinion) => document.note(Mark::Info, format!("judge: {opinion}")),
        None => document,
    };
    document.with(Block::Records { trust: Trust::Data, records })
}
