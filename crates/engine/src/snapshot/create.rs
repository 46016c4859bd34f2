//! `snapshot_create`: gives the present state of the memory a name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{memory::Layer, policy::Action};

use super::{Measured, new_name, take};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    gate::Gate,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Document, Mark, Render, counted},
};

/// See the module.
pub struct Create;

/// The snapshot's name.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// A short name that no snapshot has yet, e.g. before-migration. It is given once and for ever.
    pub version_id: String,
    /// What it is for.
    pub label: Option<String>,
}

/// The snapshot.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true: a name that is taken is an error.
    pub created: bool,
    /// Its name.
    pub version_id: String,
    /// The change that it shows.
    pub seq: i64,
    /// How many memories are in force in it.
    pub entries: i64,
}

impl Operation for Create {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "snapshot_create",
        cli: &["snapshot", "create"],
        positional: &["version_id"],
        title: "Take a snapshot",
        about: "Gives the present state of the whole memory a name: which memories are in force, in which layer and tier, how \
                sure and how important. Take one before a large clean-up or import; `snapshot_rollback` returns to it, \
                `snapshot_compare` shows what has changed since. It costs next to nothing, and cannot be changed or taken again \
                under the same name. It is no copy of the data: for that there is `strata backup create`.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let name = new_name("version_id", &request.version_id)?;
        let label = Gate::default().field("label", request.label.as_deref())?.unwrap_or_default();
        let actor = authority::authorise(engine, call, Action::Snapshot, Layer::P5, &name)?;
        let ledger = engine.ledger(call)?;
        let control = engine.control(call);
        let (known, seen) = ledger.read(&control, |r| Ok((r.snapshot(&name)?, Measured::now(r)?)))?;
        if known.is_some() {
            return Err(taken(&name));
        }
        let stored = ledger.write(&control, engine.clock().now(), |w| {
            if w.snapshot(&name)?.is_some() {
                return Ok(None);
            }
            let measured = if w.head()?.seq == seen.seq { seen } else { Measured::now(w)? };
            let seq = take(w, call, &actor, (&name, &label), &measured)?;
            Ok(Some((seq.get(), measured.live())))
        })?;
        let (seq, entries) = stored.ok_or_else(|| taken(&name))?;
        Ok(Response { created: true, version_id: name, seq, entries })
    }
}

fn taken(name: &str) -> Error {
    Error::Conflict {
        message: format!("there is a snapshot '{name}' already, and snapshots do not change"),
        hint: "choose another name; `strata snapshot list` shows those there are".into(),
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let entries = counted(self.entries, "memory");
        let text = format!("snapshot '{}' created (#{}), {entries} in force", self.version_id, self.seq);
        Document::new().note(Mark::Good, text)
    }
}
