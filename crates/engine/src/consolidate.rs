//! `consolidate`: distils raw material (P2) into insights (P5), each with the episodes it rests on.

mod advised;
mod groups;
mod text;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::principal::{Principal, PrincipalKind};
use strata_store::ledger::{DigestLink, LedgerWrite};

pub use text::Summarise;

use crate::{
    engine::Engine,
    error::Error,
    job::Job,
    maintain::reindex::index_everything,
    memory::{
        draft::Draft,
        remember::{LayerName, Request as RememberRequest},
        write::{Derived, store_derived},
    },
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    render::{Block, Document, Mark, Render, counted},
};
use advised::Advised;
use groups::{Group, Pending};
use text::{Digest, Raw};

/// See the module.
pub struct Consolidate;

/// Fewest episodes of a session that are distilled, unless told otherwise.
const MIN_EPISODES: u32 = 3;
/// How sure a digest is: drawn from what was said, confirmed by nobody.
const CONFIDENCE: f64 = 0.7;
/// The audit action.
const ACTION: &str = "consolidate";
/// Digests named in the reply.
const NAMED: usize = 50;

/// How much it takes, and whether only to look.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Fewest new episodes of a session that make a digest, 1 or more. Default 3. Fewer wait for more.
    pub min_episodes: Option<u32>,
    /// Only say what would be distilled.
    pub dry_run: Option<bool>,
}

/// What was distilled.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// Digests stored now. In a look the fewest there will be: a summariser takes a long session in several.
    pub digests: usize,
    /// Episodes (and memories of P2) that they cover.
    pub episodes_covered: usize,
    /// Groups with too few new episodes, which wait for more.
    pub skipped: usize,
    /// Whether this was only a look.
    pub dry_run: bool,
    /// The new digests, at most 50.
    pub ids: Vec<String>,
    /// Digests that were drawn from the texts because the summariser failed.
    #[serde(skip_serializing_if = "is_default")]
    pub without_summariser: usize,
}

impl Operation for Consolidate {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "consolidate",
        cli: &["govern", "consolidate"],
        positional: &[],
        title: "Distil raw events",
        about: "Distils raw events (P2) into insights (P5): the most telling sentences of each session, each with the episode \
                it is from. Sessions with too few new events wait. What was distilled once is not distilled again; later \
                events of a session get a digest of their own. `strata maintain` does this every night, so call it only \
                when a digest is wanted now. `inspect` shows which episodes a digest rests on.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["consolidate"]];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        as_configured(engine, call, &request)
    }
}

/// Distils as [`consolidate`] does, with the judge as the summariser where one is configured.
///
/// # Errors
/// As for [`consolidate`].
pub fn as_configured(engine: &Engine, call: &Call<'_>, request: &Request) -> Result<Response, Error> {
    // A judge that cannot be made is told by `doctor`; the work goes on without it.
    let advised = engine.judge().ok().flatten().map(Advised::new);
    consolidate(engine, call, request, advised.as_ref().map(|advised| advised as &dyn Summarise))
}

/// Distils what the caller sees and no digest covers yet. Without a summariser, or where it fails, a digest is
/// extracted.
///
/// # Errors
/// An argument error for `min_episodes` 0; `Cancelled` between two digests, which then stand.
pub fn consolidate(
    engine: &Engine,
    call: &Call<'_>,
    request: &Request,
    summariser: Option<&dyn Summarise>,
) -> Result<Response, Error> {
    let least = request.min_episodes.unwrap_or(MIN_EPISODES) as usize;
    if least == 0 {
        return Err(Error::argument("min_episodes", "is 0", "send 1 or more; the default is 3"));
    }
    let dry_run = request.dry_run.unwrap_or(false);
    let mut response = Response { dry_run, ..Response::default() };
    if !engine.is_initialised()? {
        return Ok(response);
    }
    let Pending { groups, skipped } = groups::pending(engine, call, least)?;
    response.skipped = skipped;
    if dry_run || groups.is_empty() {
        response.digests = groups.len();
        response.episodes_covered = groups.iter().map(|group| group.pieces.len()).sum();
        return Ok(response);
    }
    let job = Job::start(engine, call, ACTION, groups.len() as u64)?;
    let outcome = distil_all(engine, call, &job, &groups, summariser, &mut response);
    job.finish(outcome, |()| counted(response.digests, "digest"))?;
    Ok(response)
}

fn distil_all(
    engine: &Engine,
    call: &Call<'_>,
    job: &Job<'_>,
    groups: &[Group],
    summariser: Option<&dyn Summarise>,
    response: &mut Response,
) -> Result<(), Error> {
    // Of a task of upkeep, whoever started that.
    let for_whom = call.principal.on_behalf_of.clone().unwrap_or_else(|| call.principal.to_string());
    let system =
        Principal { on_behalf_of: Some(for_whom), ..Principal::new(PrincipalKind::System, "consolidation") };
    let as_system = Call { principal: &system, ..*call };
    let backgrounds = groups::backgrounds(engine, call, groups)?;
    for (done, group) in (1u64..).zip(groups) {
        let raw = groups::read(engine, call, &group.pieces)?;
        let background = backgrounds.get(&group.collection()).cloned().unwrap_or_default();
        for part in text::parts(&raw, summariser) {
            let digest = text::digest(group, part, &background, summariser, engine.settings());
            let is_extracted = digest.method == text::EXTRACTIVE;
            response.without_summariser += usize::from(summariser.is_some() && is_extracted);
            if let Some(id) = store(engine, &as_system, group, part, &digest)? {
                response.digests += 1;
                response.episodes_covered += part.len();
                if response.ids.len() < NAMED {
                    response.ids.push(id);
                }
            }
        }
        job.progress(done, groups.len() as u64, "distilling")?;
    }
    index_everything(engine, call, &mut |_, _| Ok(()))?;
    Ok(())
}

/// Stores a digest and marks what it covers, in one transaction. Nothing is stored when somebody else has
/// distilled a part of it meanwhile.
fn store(
    engine: &Engine,
    call: &Call<'_>,
    group: &Group,
    raw: &[Raw],
    digest: &Digest,
) -> Result<Option<String>, Error> {
    if raw.is_empty() {
        return Ok(None);
    }
    let request = RememberRequest {
        text: digest.body.clone(),
        title: Some(digest.title.clone()),
        kind: Some("insight".into()),
        layer: Some(LayerName::P5),
        source: Some(format!("consolidation:{}", group.short_key())),
        session: Some(group.session.clone()),
        tags: vec!["consolidated".into()],
        confidence: Some(CONFIDENCE),
        metadata: [("method".to_owned(), digest.method.clone())].into(),
        ..RememberRequest::default()
    };
    let mut draft = Draft::from_request(engine, call, &request)?;
    draft.scope = group.scope.clone();
    let link = |(place, piece): (usize, &Raw)| DigestLink {
        kind: piece.kind,
        source: piece.number,
        quoted: digest.quoted.contains(&place),
    };
    let links: Vec<DigestLink> = raw.iter().enumerate().map(link).collect();
    let is_open = |w: &LedgerWrite<'_>| {
        for link in &links {
            if w.is_distilled(link.kind, link.source)? || !w.is_there(link.kind, link.source)? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    let reason = format!("{} of {}", counted(raw.len(), "episode"), group.short_key());
    let derived = Derived { action: ACTION, reason: &reason };
    store_derived(engine, call, &draft, &derived, &is_open, &|w, number, seq| {
        w.link_digest(number, &links, seq)
    })
}

impl Render for Response {
    fn render(&self) -> Document {
        let verb = if self.dry_run { "would distil" } else { "distilled" };
        let text = format!(
            "{verb} {} into {}",
            counted(self.episodes_covered, "episode"),
            counted(self.digests, "digest")
        );
        let mut document = Document::new().note(Mark::Good, text);
        if self.skipped > 0 {
            let text = format!("groups with too few new episodes, which wait for more: {}", self.skipped);
            document = document.note(Mark::Info, text);
        }
        if self.without_summariser > 0 {
            let text = format!("extracted because the summariser failed: {}", self.without_summariser);
            document = document.note(Mark::Warning, text);
        }
        if self.ids.is_empty() {
            return document;
        }
        let rows = self.ids.iter().map(|id| vec![id.clone()]).collect();
        document.with(Block::Table { columns: vec!["digest".into()], rows })
    }
}
