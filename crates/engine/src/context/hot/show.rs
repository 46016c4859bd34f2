//! `get_hot_page`: the hot page, or what changed in it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BUDGET, make, recent};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render, shortened},
};

/// See the module.
pub struct GetHotPage;

/// Most tokens of a page.
const MAX_BUDGET: u32 = 8_000;

/// Which part, and how much.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// A revision: only what changed since.
    pub since: Option<String>,
    /// Default 1000.
    #[schemars(range(min = 100, max = MAX_BUDGET))]
    pub budget_tokens: Option<u32>,
}

/// The page, or what changed in it.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// Names the page as it is now.
    pub revision: String,
    /// Whether it says anything else than the revision that was named.
    pub changed: bool,
    /// Whether `content` is the whole page. It is when no revision was named, when that one is not known, and when the
    /// changes are no shorter.
    pub is_whole: bool,
    /// Why the changes since the revision that was named cannot be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What `content` costs.
    pub tokens: u32,
    /// What a page may cost.
    pub budget_tokens: u32,
    /// Lines that there was no room for.
    pub left_out: usize,
    /// The text.
    pub content: String,
}

impl Operation for GetHotPage {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "get_hot_page",
        cli: &["hot"],
        positional: &["since"],
        title: "The hot page",
        about: "Shows rules, the index of knowledge and hot memories in short, or what changed in that since a revision.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const IS_DAILY: bool = true;
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let budget_tokens = request.budget_tokens.unwrap_or(BUDGET);
        let since = request.since.as_deref().map(str::trim).filter(|since| !since.is_empty());
        // Looked up first: showing the page again must not push it out.
        let older = since.and_then(|revision| recent::find(engine.home(), call.scope, revision));
        let page = make(engine, call, budget_tokens)?;
        let older = older.or_else(|| (since == Some(page.revision.as_str())).then(|| page.clone()));
        let note = since.filter(|_| older.is_none()).map(|since| {
            let since = shortened(since, 40);
            format!("revision `{since}` is not known here, or not any more: this is the whole page")
        });
        let changes = older.map(|older| page.since(&older)).filter(|(_, tokens)| *tokens < page.tokens);
        let is_whole = changes.is_none();
        let (content, tokens) = changes.unwrap_or((page.text, page.tokens));
        Ok(Response {
            success: true,
            changed: since != Some(page.revision.as_str()),
            revision: page.revision,
            is_whole,
            note,
            tokens,
            budget_tokens,
            left_out: page.left_out,
            content,
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let document = Document::new().text(self.content.clone());
        match &self.note {
            Some(note) => document.note(Mark::Info, note.clone()),
            None => document,
        }
    }
}
