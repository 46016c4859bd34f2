//! Every layer, principal and operation that changes something.

use serde_json::{Value, json};
use strata_core::{
    memory::Layer,
    principal::{Principal, PrincipalKind},
};

use super::{
    Case,
    home::{Actor, Trial, outcome},
};
use crate::{engine::Engine, error::Error, operation::Call};

/// Goes through.
pub(super) const ALLOW: &str = "allow";
const DENY: &str = "deny";
const APPROVAL: &str = "approval";

/// p-layer's matrix, layer by layer: `A` may write, `-` may not, `?` may with the secret. Columns: system,
/// gateway, cron, agent, human, tool.
const WRITERS: [&str; 7] = ["A---?-", "A---?-", "AAA---", "AAA-?-", "A-AAA-", "A-AAAA", "A-AAAA"];

/// Who tries. A person tries without the secret and with it.
const ACTORS: [Actor; 7] = [
    Actor { kind: PrincipalKind::System, has_secret: false },
    Actor { kind: PrincipalKind::Gateway, has_secret: false },
    Actor { kind: PrincipalKind::Cron, has_secret: false },
    Actor { kind: PrincipalKind::Agent, has_secret: false },
    Actor { kind: PrincipalKind::Human, has_secret: false },
    Actor { kind: PrincipalKind::Human, has_secret: true },
    Actor { kind: PrincipalKind::Tool, has_secret: false },
];

/// Which right an operation takes.
#[derive(Clone, Copy)]
enum Right {
    /// To write the layer.
    Write,
    /// To let what was proposed take effect: a human's, with the secret.
    Approve,
    /// To turn it down: a human's.
    Reject,
    /// To erase: a human's, with the secret.
    Purge,
    /// To ask: anybody's.
    Propose,
}

/// Prepares a target, in a layer and with a text; returns its id and the arguments of the operation.
type Arrange = fn(&Trial<'_>, &str, &str) -> Result<(String, Value), Error>;

/// An operation, how its target comes to be, and what is then asked of it.
struct Attempt {
    name: &'static str,
    tool: &'static str,
    right: Right,
    arrange: Arrange,
}

const ATTEMPTS: [Attempt; 17] = [
    Attempt {
        name: "remember",
        tool: "remember",
        right: Right::Write,
        arrange: |_, layer, text| {
            Ok((String::new(), json!({ "text": text, "layer": layer, "kind": "note" })))
        },
    },
    Attempt {
        name: "update",
        tool: "update",
        right: Right::Write,
        arrange: |trial, layer, text| {
            let id = note(trial, layer, text)?;
            Ok((id.clone(), json!({ "id": id, "text": format!("{text}, corrected") })))
        },
    },
    Attempt {
        name: "update in place",
        tool: "update",
        right: Right::Write,
        arrange: |trial, layer, text| {
            let id = note(trial, layer, text)?;
            Ok((id.clone(), json!({ "id": id, "importance": 0.1 })))
        },
    },
    Attempt {
        name: "replace",
        tool: "remember",
        right: Right::Write,
        arrange: |trial, layer, text| {
            let id = note(trial, layer, text)?;
            let arguments = json!({ "text": format!("{text}, replaced"), "layer": layer, "kind": "note", "supersedes": id });
            Ok((id, arguments))
        },
    },
    Attempt {
        name: "forget",
        tool: "forget",
        right: Right::Write,
        arrange: |trial, layer, text| {
            let id = note(trial, layer, text)?;
            Ok((id.clone(), json!({ "id": id })))
        },
    },
    Attempt {
        name: "restore",
        tool: "restore",
        right: Right::Write,
        arrange: |trial, layer, text| {
            let id = note(trial, layer, text)?;
            trial.prepare("forget", json!({ "id": id }))?;
            Ok((id.clone(), json!({ "id": id })))
        },
    },
    Attempt {
        name: "rule add",
        tool: "rules_add",
        right: Right::Write,
        arrange: |_, layer, text| Ok((String::new(), json!({ "text": text, "layer": layer }))),
    },
    Attempt {
        name: "rule edit",
        tool: "rules_edit",
        right: Right::Write,
        arrange: |trial, layer, text| {
            let id = rule(trial, layer, text)?;
            Ok((id.clone(), json!({ "id": id, "text": format!("{text}, edited") })))
        },
    },
    Attempt {
        name: "rule priority",
        tool: "rules_edit",
        right: Right::Write,
        arrange: |trial, layer, text| {
            let id = rule(trial, layer, text)?;
            Ok((id.clone(), json!({ "id": id, "priority": 1 })))
        },
    },
    Attempt {
        name: "rule disable",
        tool: "rules_disable",
        right: Right::Write,
        arrange: |trial, layer, text| {
            let id = rule(trial, layer, text)?;
            Ok((id.clone(), json!({ "id": id })))
        },
    },
    Attempt {
        name: "rule enable",
        tool: "rules_enable",
        right: Right::Write,
        arrange: |trial, layer, text| {
            let id = rule(trial, layer, text)?;
            trial.prepare("rules_disable", json!({ "id": id }))?;
            Ok((id.clone(), json!({ "id": id })))
        },
    },
    Attempt {
        name: "propose",
        tool: "reflect",
        right: Right::Propose,
        arrange: |_, layer, text| Ok((String::new(), json!({ "text": text, "layer": layer }))),
    },
    Attempt { name: "approve candidate", tool: "review_approve", right: Right::Approve, arrange: candidate },
    Attempt {
        name: "approve amendment",
        tool: "review_approve",
        right: Right::Approve,
        arrange: |trial, layer, text| {
            let id = rule(trial, layer, text)?;
            let filed =
                trial.prepare("reflect", json!({ "amends": id, "text": format!("{text}, amended") }))?;
            Ok((id, json!({ "id": filed["review"] })))
        },
    },
    Attempt { name: "reject", tool: "review_reject", right: Right::Reject, arrange: candidate },
    Attempt {
        name: "resolve",
        tool: "review_resolve",
        right: Right::Write,
        arrange: |trial, layer, text| {
            // The older side is nobody's: what gives way is the newer one, in the layer in question.
            let a = note(trial, "P5", &format!("{text}, as it was"))?;
            let b = note(trial, layer, &format!("{text}, the other way round"))?;
            let proposal =
                json!({ "a": a, "b": b, "axis": "state", "subject": text, "values": ["one", "other"] });
            let review = trial.file("conflict", &b, &proposal)?;
            Ok((b, json!({ "id": review, "decision": "keep_a" })))
        },
    },
    Attempt {
        name: "purge",
        tool: "purge",
        right: Right::Purge,
        arrange: |trial, layer, text| {
            let id = note(trial, layer, text)?;
            Ok((id.clone(), json!({ "id": id })))
        },
    },
];

/// Tries everything; returns the cases and the names of the operations.
pub(super) fn run(engine: &Engine, call: &Call<'_>) -> Result<(Vec<Case>, Vec<&'static str>), Error> {
    let trial = Trial::new(engine, call)?;
    let mut cases = Vec::new();
    let total = (ATTEMPTS.len() + 1) * ACTORS.len() * Layer::ALL.len();
    for actor in ACTORS {
        for layer in Layer::ALL.iter().copied() {
            for attempt in &ATTEMPTS {
                trial.goes_on()?;
                cases.push(case(&trial, attempt, actor, layer)?);
                (call.progress)(cases.len() as u64, total as u64);
            }
            cases.push(moved(&trial, actor, layer)?);
        }
    }
    let names = ATTEMPTS.iter().map(|attempt| attempt.name).chain([MOVE]).collect();
    Ok((cases, names))
}

fn case(trial: &Trial<'_>, attempt: &Attempt, actor: Actor, layer: Layer) -> Result<Case, Error> {
    let expect = expected(attempt.right, actor, layer);
    let text = format!("{} of {} in {layer}, {}", attempt.name, actor.kind.as_str(), actor.word());
    let (id, arguments) = (attempt.arrange)(trial, layer.as_str(), &text)?;
    judge(trial, (attempt.name, attempt.tool), actor, (layer, layer), (&id, arguments), expect)
}

/// Runs one attempt as a principal of its own, so that its denial is told from all others; `judged` is the
/// layer whose right is missing.
fn judge(
    trial: &Trial<'_>,
    (name, tool): (&'static str, &str),
    actor: Actor,
    (layer, judged): (Layer, Layer),
    (id, arguments): (&str, Value),
    expect: &'static str,
) -> Result<Case, Error> {
    let who = format!("{layer}-{}-{}", name.replace(' ', "-"), actor.word());
    let principal = Principal::new(actor.kind, &who);
    let look = |trial: &Trial<'_>| Ok::<_, Error>((trial.state_of(id)?, trial.memories()?));
    let before = look(trial)?;
    let result = trial.run(&principal, actor.has_secret, tool, arguments);
    let got = outcome(&result);
    let changed = look(trial)? != before;
    let ok = got == expect
        && match expect {
            ALLOW => changed,
            _ => !changed && trial.has_on_record(&principal, judged)?,
        };
    Ok(Case { layer: layer.to_string(), who: principal.to_string(), operation: name, expect, got, ok })
}

/// The name of the one operation that takes the right to two layers.
const MOVE: &str = "move into the layer";

/// From P5 into `layer`: both have to allow it.
fn moved(trial: &Trial<'_>, actor: Actor, layer: Layer) -> Result<Case, Error> {
    let from = if layer == Layer::P5 { Layer::P6 } else { Layer::P5 };
    let text = format!("moved by {} into {layer}, {}", actor.kind.as_str(), actor.word());
    let id = note(trial, from.as_str(), &text)?;
    let leaving = expected(Right::Write, actor, from);
    // The old layer is asked first, and its refusal is the one on record.
    let (expect, judged) =
        if leaving == ALLOW { (expected(Right::Write, actor, layer), layer) } else { (leaving, from) };
    let arguments = json!({ "id": id, "layer": layer.as_str() });
    judge(trial, (MOVE, "update"), actor, (layer, judged), (&id, arguments), expect)
}

fn expected(right: Right, actor: Actor, layer: Layer) -> &'static str {
    let human = actor.kind == PrincipalKind::Human;
    let with_secret = if actor.has_secret { ALLOW } else { APPROVAL };
    match right {
        Right::Propose => ALLOW,
        Right::Reject if human => ALLOW,
        Right::Approve | Right::Purge if human => with_secret,
        Right::Approve => APPROVAL,
        Right::Reject | Right::Purge => DENY,
        Right::Write => {
            let column = PrincipalKind::ALL.iter().position(|kind| *kind == actor.kind);
            match column.and_then(|column| WRITERS[layer.index()].chars().nth(column)) {
                Some('A') => ALLOW,
                Some('?') => with_secret,
                _ => DENY,
            }
        }
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn note(trial: &Trial<'_>, layer: &str, text: &str) -> Result<String, Error> {
    let stored = trial.prepare("remember", json!({ "text": text, "layer": layer, "kind": "note" }))?;
    Ok(text_of(&stored["id"]))
}

fn rule(trial: &Trial<'_>, layer: &str, text: &str) -> Result<String, Error> {
    let stored = trial.prepare("rules_add", json!({ "text": text, "layer": layer }))?;
    Ok(text_of(&stored["rule"]["id"]))
}

fn candidate(trial: &Trial<'_>, layer: &str, text: &str) -> Result<(String, Value), Error> {
    let filed = trial.prepare("reflect", json!({ "text": text, "layer": layer }))?;
    Ok((text_of(&filed["id"]), json!({ "id": filed["review"] })))
}
