//! `relation_remove`: takes a relation back. It ends; what it was stays on record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    id::{Id, IdKind},
    memory::Layer,
    policy::Action,
};
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, NewAudit, RelationRow},
};

use super::naming;
use crate::{
    authority,
    engine::Engine,
    error::Error,
    gate::Gate,
    memory::reference::sees_scope,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct RelationRemove;

/// Which relation, and why.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The relation by its id (rel_...), or the entity it starts from, by label or id.
    pub source: String,
    /// Its type, when `source` is an entity.
    pub relation: Option<String>,
    /// The entity it leads to, when `source` is an entity.
    pub target: Option<String>,
    /// Why it no longer holds.
    pub reason: Option<String>,
}

/// What was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Response {
    /// The relation's id.
    pub id: String,
    /// Always `superseded`.
    pub status: &'static str,
}

impl Operation for RelationRemove {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "relation_remove",
        cli: &["graph", "unrelate"],
        positional: &["source", "relation", "target"],
        title: "Take a relation back",
        about: "Ends a relation that no longer holds or was wrong: give its id, or source, relation and target. It leaves every \
                answer at once and stays on record with the reason; `relation_list` with `ended` shows it. The entities \
                stay.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("id", "source"), ("type", "relation"), ("rel", "relation"), ("from", "source"), ("to", "target")];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let reason = Gate::default().field("reason", request.reason.as_deref())?.unwrap_or_default();
        let control = engine.control(call);
        let ledger = engine.ledger(call)?;
        let old = ledger.read(&control, |read| find(read, call, &request))??;
        let actor = authority::authorise(engine, call, Action::Forget, Layer::P5, &old.id)?;
        let row = NewAudit {
            layer: Some(Layer::P5),
            reason: &reason,
            ..NewAudit::new(&actor, call.face, "relation_remove", &old.id)
        };
        let ended = ledger.write(&control, engine.clock().now(), |w| {
            if w.relation(&old.id)?.is_none_or(|now| !now.holds()) {
                return Ok(false);
            }
            let seq = w.record(&row)?;
            w.end_relation(&old.id, &reason, seq)?;
            authority::seal(w, call, &actor)?;
            Ok(true)
        })?;
        if ended { Ok(Response { id: old.id, status: "superseded" }) } else { Err(ended_before(&old.id)) }
    }
}

fn find(
    read: &LedgerRead<'_>,
    call: &Call<'_>,
    request: &Request,
) -> Result<Result<RelationRow, Error>, StoreError> {
    if let Ok(id) = Id::parse(&request.source)
        && id.kind() == IdKind::Relation
    {
        return Ok(match read.relation(id.as_str())?.filter(|r| sees_scope(call, &r.scope)) {
            Some(relation) if relation.holds() => Ok(relation),
            Some(relation) => Err(ended_before(&relation.id)),
            None => Err(missing(&request.source)),
        });
    }
    let (Some(relation), Some(target)) = (&request.relation, &request.target) else {
        let hint = "give the id of a relation (rel_...), or `source`, `relation` and `target`";
        return Ok(Err(Error::argument("source", "is not the id of a relation", hint)));
    };
    let ends = (naming::entity(read, call, &request.source)?, naming::entity(read, call, target)?);
    let (source, target) = match ends {
        (Some(source), Some(target)) => (source, target),
        (None, _) => return Ok(Err(naming::unknown(&request.source))),
        (_, None) => return Ok(Err(naming::unknown(target))),
    };
    let relation = relation.trim().to_lowercase();
    let seen = read.relations_between(source.number, &relation, target.number)?.into_iter();
    let seen = seen.filter(|r| sees_scope(call, &r.scope));
    // Of the same relation said in several places, the nearest one.
    let nearest = seen.max_by_key(|r| r.scope.nearness());
    Ok(nearest.ok_or_else(|| missing(&format!("{} {relation} {}", source.label, target.label))))
}

fn missing(name: &str) -> Error {
    Error::NotFound {
        what: "relation",
        id: name.to_owned(),
        hint: "`relation_list` shows the relations that hold, with their ids".into(),
    }
}

fn ended_before(id: &str) -> Error {
    Error::Conflict {
        message: format!("relation {id} was taken back already"),
        hint: "nothing is left to do; `relation_add` says it anew".into(),
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let text =
            format!("superseded {}: it no longer holds; `relation_list` with `ended` shows it", self.id);
        Document::new().note(Mark::Good, text)
    }
}
