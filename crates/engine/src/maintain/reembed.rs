//! `reembed`: makes the vectors of the embedding model in use beside those of the one before, and switches to them
//! when they are complete.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_embed::Semantic;

use super::reindex::{index_everything, with_writer};
use crate::{
    engine::Engine,
    error::Error,
    job::Job,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render, counted},
};

/// See the module.
pub struct Reembed;

/// Passages embedded before their vectors are written.
const BATCH: usize = 256;

/// Whether only to look.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Only say what would be embedded.
    pub dry_run: Option<bool>,
}

/// What was embedded. A short memory is one passage, a long one several.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// Passages in force.
    pub total: usize,
    /// Those that had a vector of the model in use.
    pub already: usize,
    /// Those that have one now; in a look, those that would be embedded.
    pub embedded: usize,
    /// Those whose text is not there any more; they are found by their words.
    pub failed: usize,
    /// Whether this was only a look.
    pub dry_run: bool,
    /// The model in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why nothing can be embedded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Operation for Reembed {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "reembed",
        cli: &["reembed"],
        positional: &[],
        title: "Embed with the present model",
        about: "Makes what is missing of the vectors of the embedding model in use. After a change of the model searches go by \
                words alone until all is embedded, and then by meaning again, from one moment to the next; vectors of two \
                models are never compared. The vectors of the model before stay. `strata maintain` does this too.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["memory", "semantic", "reindex"]];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        engine.existing_ledger()?;
        let dry_run = request.dry_run.unwrap_or(false);
        let searcher = engine.searcher();
        let Some(model) = searcher.model() else {
            let reason = match searcher.semantic() {
                Semantic::Off { reason } => reason,
                state => state.to_string(),
            };
            return Ok(Response { dry_run, reason: Some(reason), ..Response::default() });
        };
        if !dry_run {
            index_everything(engine, call, &mut |_, _| Ok(()))?;
        }
        let index = searcher.index();
        let total = index.live_passages(engine.tenant())?;
        let waiting = index.missing(engine.tenant(), model, usize::MAX)?.len();
        let found = Response {
            total,
            already: total.saturating_sub(waiting),
            dry_run,
            model: Some(model.to_owned()),
            ..Response::default()
        };
        if dry_run {
            return Ok(Response { embedded: waiting, ..found });
        }
        if waiting == 0 && searcher.semantic() != Semantic::Warming {
            return Ok(found);
        }
        let job = Job::start(engine, call, "reembed", waiting as u64)?;
        let made = complete(engine, call, &mut |done| job.progress(done, waiting as u64, "embedding"));
        let (embedded, failed) = job.finish(made, |(made, _)| counted(*made, "passage"))?;
        Ok(Response { embedded, failed, ..found })
    }
}

/// Embeds what has no vector of the model in use and lets the complete set answer searches. Returns how many
/// passages were embedded and how many had no text. What was embedded before an error stays.
///
/// # Errors
/// `Busy` when another process goes on indexing; `Embedding` when the model gives no answer; what `progress` says.
pub(super) fn complete(
    engine: &Engine,
    call: &Call<'_>,
    progress: &mut dyn FnMut(u64) -> Result<(), Error>,
) -> Result<(usize, usize), Error> {
    let searcher = engine.searcher();
    let (Some(model), Some(dimension)) = (searcher.model(), searcher.dimension()) else { return Ok((0, 0)) };
    let (index, ledger, control) = (searcher.index(), engine.existing_ledger()?, engine.control(call));
    let (mut embedded, mut failed) = (0, 0);
    searcher.wake();
    loop {
        control.check()?;
        let missing = index.missing(engine.tenant(), model, BATCH)?;
        if missing.is_empty() {
            break;
        }
        let (vectors, gone) = searcher.vectors_of(ledger, &control, &missing, engine.clock().now())?;
        with_writer(engine, call, index, |writer| {
            writer.put_vectors(engine.tenant(), model, dimension, &vectors)
        })?;
        embedded += vectors.len() - gone;
        failed += gone;
        progress((embedded + failed) as u64)?;
        if let Some(error) = searcher.failure() {
            return Err(error.into());
        }
    }
    let sets = index.vector_sets(engine.tenant())?;
    if sets.iter().any(|set| set.model == model && !set.is_active) {
        with_writer(engine, call, index, |writer| writer.switch_to(engine.tenant(), model))?;
    }
    Ok((embedded, failed))
}

impl Render for Response {
    fn render(&self) -> Document {
        if let Some(reason) = &self.reason {
            return Document::new().note(Mark::Warning, format!("nothing can be embedded: {reason}"));
        }
        let would = if self.dry_run { "would embed" } else { "embedded" };
        let text = format!(
            "{would} {} of {} ({} had a vector, {} without text)",
            self.embedded,
            counted(self.total, "passage"),
            self.already,
            self.failed
        );
        Document::new().note(Mark::Good, text)
    }
}
