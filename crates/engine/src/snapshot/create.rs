//! `snapshot_create`: gives the present state of the memory a name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{memory::Layer, policy::Action, principal::Principal};

use super::{Measured, new_name, take};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    gate::Gate,
    knowledge::vault,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Document, Mark, Render, counted},
};

/// See the module.
pub struct Create;

/// How often the present is measured without holding others up.
const ATTEMPTS: usize = 5;

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
        // What hands did to the vault until now belongs to it.
        vault::look_everywhere(engine, call)?;
        for attempt in 1.. {
            match store(engine, call, &actor, (&name, &label), attempt == ATTEMPTS)? {
                Attempt::Stored { seq, entries } => {
                    return Ok(Response { created: true, version_id: name, seq, entries });
                }
                Attempt::Taken => break,
                Attempt::Moved => {}
            }
        }
        Err(taken(&name))
    }
}

/// What came of trying to store a snapshot.
enum Attempt {
    Stored {
        seq: i64,
        entries: i64,
    },
    /// The name has been given.
    Taken,
    /// Somebody wrote since the present was measured.
    Moved,
}

/// Measures the present, and stores it if it still is. `at_last` measures once more while others wait.
fn store(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    (name, label): (&str, &str),
    at_last: bool,
) -> Result<Attempt, Error> {
    let ledger = engine.ledger(call)?;
    let control = engine.control(call);
    let (known, seen) = ledger.read(&control, |r| Ok((r.snapshot(name)?, Measured::now(r)?)))?;
    if known.is_some() {
        return Ok(Attempt::Taken);
    }
    Ok(ledger.write(&control, engine.clock().now(), |w| {
        if w.snapshot(name)?.is_some() {
            return Ok(Attempt::Taken);
        }
        let measured = match w.head()?.seq == seen.seq {
            true => seen,
            false if at_last => Measured::now(w)?,
            false => return Ok(Attempt::Moved),
        };
        let seq = take(w, call, actor, (name, label), &measured)?;
        Ok(Attempt::Stored { seq: seq.get(), entries: measured.live() })
    })?)
}

fn taken(name: &str) -> Error {
    Error::Conflict {
        message: format!("there is a snapshot '{name}' already, and snapshots do not change"),
        hint: "choose another name; `snapshot_list` shows those there are".into(),
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let entries = counted(self.entries, "memory");
        let text = format!("snapshot '{}' created (#{}), {entries} in force", self.version_id, self.seq);
        Document::new().note(Mark::Good, text)
    }
}
