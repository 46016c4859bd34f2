//! `knowledge_memory-stats`.

use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    stats::{Request, Response, stats},
};

/// See the module.
pub struct KnowledgeMemoryStats;

impl Operation for KnowledgeMemoryStats {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Compat,
        tool: "knowledge_memory-stats",
        cli: &["compat", "memory-stats"],
        positional: &[],
        title: "Figures of the memory",
        about: "Counts what the memory holds, as `memory_stats` does, under the name of p-layer's older server. For clients \
                that were set up for it; others use `memory_stats`.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        stats(engine, call)
    }
}
