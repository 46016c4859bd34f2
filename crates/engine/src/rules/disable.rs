//! `rules_disable`: takes a rule out of force without forgetting it.

use super::{
    Changed,
    enable::{Request, switch},
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
};

/// See the module.
pub struct Disable;

impl Operation for Disable {
    type Request = Request;
    type Response = Changed;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "rules_disable",
        cli: &["rules", "disable"],
        positional: &["id"],
        title: "Disable a rule",
        about: "Takes a rule out of every context while it keeps its text, priority and condition; `rules_enable` puts it \
                back. Use it for a rule that shall rest; `forget` is for one that is wrong. A rule of P0 or P1 takes a human \
                with the passphrase; an agent is refused, on record.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Changed, Error> {
        switch(engine, call, &request, false)
    }
}
