//! `project_pin`: pins a memory to code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::policy::Action;
use strata_store::ledger::{EvidenceRow, NewAudit};

use super::{Anchor, AnchorView, CODE, Code, hint_for, pins};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    memory::{forget::find, update::must_stand},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    project::branches::no_project,
    render::{Document, Mark, Render},
};

/// See the module.
pub struct Pin;

/// The word on record.
const PINNED: &str = "pin";
/// Pins of one call.
const MAX_PINS: usize = 32;

/// Which memory, to what.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {
    /// The memory, by its whole id or #number.
    pub id: String,
    /// The code, one entry each: PATH, PATH:FIRST-LAST or PATH#SYMBOL, from the project's root.
    pub code: Vec<String>,
}

/// What was pinned.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The memory.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// Its new pins; those that it had already are not repeated.
    pub pinned: Vec<AnchorView>,
}

impl Operation for Pin {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "project_pin",
        cli: &["project", "pin"],
        positional: &["id", "code"],
        title: "Pin a memory to code",
        about: "Pins a memory to files, lines or symbols of this project as they are now. Hits then say whether that code is \
                fresh, drifted or gone, and `project_check` lists what a change invalidates. Use it for what is true only as \
                long as the code is. Moved lines and renamed files are followed. Pin the same code again to say that the memory \
                still holds. A new text of the memory says so too, and lets go of code that is gone.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        if request.code.is_empty() || request.code.len() > MAX_PINS {
            let hint = format!("name 1 to {MAX_PINS} places");
            return Err(Error::argument("code", format!("has {} entries", request.code.len()), hint));
        }
        let row = find(engine, call, &request.id)?;
        must_stand(&row)?;
        let mut code = Code::of(engine, call).ok_or_else(no_project)?;
        let mut anchors = Vec::new();
        for text in &request.code {
            let anchor = Anchor::parse(&format!("code:{}", text.trim().trim_start_matches("code:")))
                .filter(|anchor| anchor.made.is_none())
                .ok_or_else(|| {
                    Error::argument("code", format!("`{text}` names no code"), hint_for("code"))
                })?;
            anchors.push(code.pin(&anchor, "code")?);
        }
        let actor = authority::authorise(engine, call, Action::Update, row.state.layer, &row.id)?;
        let (ledger, control) = (engine.ledger(call)?, engine.control(call));
        let known = ledger.read(&control, |r| r.evidence(row.number))?;
        let known = pins(&known);
        anchors.retain(|anchor| !known.contains(anchor));
        let at = engine.clock().now();
        let places: Vec<String> = anchors.iter().map(Anchor::place).collect();
        let reason = format!("pinned to {}", places.join(", "));
        let audit = NewAudit {
            layer: Some(row.state.layer),
            reason: &reason,
            ..NewAudit::new(&actor, call.face, PINNED, &row.id)
        };
        if !anchors.is_empty() {
            ledger.write(&control, at, |w| {
                w.record(&audit)?;
                anchors.iter().try_for_each(|anchor| {
                    let (kind, note) = (CODE.to_owned(), String::new());
                    w.add_evidence(row.number, &EvidenceRow { kind, reference: anchor.text(), note, at })
                })?;
                authority::seal(w, call, &actor)
            })?;
        }
        let pinned = anchors.iter().filter_map(|anchor| code.look(anchor)).collect();
        Ok(Response { id: row.id, number: row.number, pinned })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let places: Vec<&str> = self.pinned.iter().map(|view| view.code.as_str()).collect();
        let text = match places.is_empty() {
            true => format!("#{} {} had these pins already", self.number, self.id),
            false => format!("pinned #{} {} to {}", self.number, self.id, places.join(", ")),
        };
        Document::new().note(Mark::Good, text)
    }
}
