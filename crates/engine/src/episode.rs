//! `episode_record`: writes down one raw event (P2), as an importer would.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::time::{Timestamp, parse_range};

use crate::{
    engine::Engine,
    error::Error,
    import::episodes::EpisodeLine,
    maintain::import::{Plan, store_one},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct EpisodeRecord;

/// The entry of an episode's metadata that says what it is.
pub const KIND: &str = "kind";

/// What happened.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// What was said or happened, as it was. Kept word for word.
    pub text: String,
    /// The session it belongs to. Events of one session are distilled together.
    pub session: Option<String>,
    /// Who said it.
    pub speaker: Option<String>,
    /// user, assistant, tool, or another word for the part they played.
    pub role: Option<String>,
    /// What it is. Default: session with a session, else event.
    pub kind: Option<EpisodeKind>,
    /// When it happened, e.g. 2026-03-31 15:00. Default: now. Without it, the same text in the same session is stored once.
    pub at: Option<String>,
    /// Further facts about it, as names and texts.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
}

/// What sort of event it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EpisodeKind {
    /// a turn of a conversation
    Session,
    /// something that went wrong
    Incident,
    /// looking back at finished work
    Retro,
    /// anything else that happened
    Event,
}

impl EpisodeKind {
    /// The word in the metadata.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Incident => "incident",
            Self::Retro => "retro",
            Self::Event => "event",
        }
    }
}

/// What became of it.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The event's id.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// `created`, or `known` when it was stored before.
    pub status: &'static str,
    /// What it is.
    pub kind: &'static str,
    /// The session it belongs to; empty if to none.
    pub session: String,
    /// When it happened.
    pub at: String,
    /// Who wrote it.
    pub writer: String,
    /// Where it belongs.
    pub scope: String,
    /// Families of secrets that were blacked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
}

impl Operation for EpisodeRecord {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "episode_record",
        cli: &["govern", "episode"],
        positional: &["text"],
        title: "Write down an event",
        about: "Writes down one raw event (P2) as it was: a turn of a conversation, an incident, a retrospective, something \
                that happened. Use it for what should be kept before anybody knows what it is worth; `consolidate` distils \
                the events of a session later. The same event twice is stored once. For a fact, decision or lesson that is \
                known to matter call `remember`; for whole conversations use `strata import`.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("content", "text"), ("payload", "text"), ("session_id", "session")];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let has_session = request.session.as_deref().is_some_and(|s| !s.trim().is_empty());
        let kind =
            request.kind.unwrap_or(if has_session { EpisodeKind::Session } else { EpisodeKind::Event });
        let mut metadata = request.metadata;
        metadata.insert(KIND.to_owned(), kind.as_str().to_owned());
        let line = EpisodeLine {
            id: None,
            session: request.session,
            at: moment(engine, request.at.as_deref())?,
            speaker: request.speaker,
            role: request.role,
            text: request.text,
            metadata,
        };
        let plan = Plan {
            source: "episode_record".into(),
            scope: call.scope.whole_project(),
            gateway: call.principal.name.clone(),
            dry_run: false,
        };
        let (inserted, episode, redacted) = store_one(engine, call, &line, &plan)?;
        Ok(Response {
            id: inserted.id,
            number: inserted.number,
            status: if inserted.added { "created" } else { "known" },
            kind: kind.as_str(),
            session: episode.session,
            at: episode.at.to_rfc3339(),
            writer: episode.writer,
            scope: episode.scope.to_string(),
            redacted,
        })
    }
}

fn moment(engine: &Engine, given: Option<&str>) -> Result<Option<Timestamp>, Error> {
    let Some(given) = given.filter(|text| !text.trim().is_empty()) else { return Ok(None) };
    let range = parse_range(given, &engine.settings().zone).map_err(|e| Error::parse("at", &e))?;
    Ok(Some(range.from))
}

impl Render for Response {
    fn render(&self) -> Document {
        let what = format!("episode #{} {} ({}, {})", self.number, self.id, self.kind, self.scope);
        let text =
            if self.status == "created" { format!("created {what}") } else { format!("{what} is known") };
        Document::new().note(Mark::Good, text).note_redacted(&self.redacted)
    }
}
