//! The protocol's requests, answered from the table of operations.

use std::{future::ready, time::Duration};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
        CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
        InitializeRequestParams, InitializeResult, JsonObject, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ProgressNotificationParam, ProgressToken, PromptMessage, ReadResourceRequestParams,
        ReadResourceResponse, ReadResourceResult, ResourceContents, Role, ServerCapabilities, ServerConfig,
        Tool,
    },
    service::{Peer, RequestContext},
};
use serde_json::Value;
use strata_core::principal::{Principal, PrincipalKind};
use strata_engine::{
    engine::Engine,
    error::Error,
    operation::{Call, Effect, Entry},
};
use tokio::time::{Instant, interval_at, sleep};

use super::{
    EngineSource, FORMAT, Options, ScopeResolver,
    call::{Runner, Running},
    documents::{self, Documents},
    following::Following,
    idle::Upkeep,
    instructions,
    reply::{self, Failure, Form},
    tools, wording,
};
use crate::pool::Pool;

/// How often a waiting client hears of progress.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// How long clients may keep the list of tools, in milliseconds. It never changes while we run.
const LIST_TTL_MS: u64 = 3_600_000;

/// One server: what it shows and what it runs calls on.
pub(super) struct Handler {
    entries: Vec<&'static Entry>,
    documents: Documents,
    instructions: &'static str,
    runner: Runner,
}

impl Handler {
    pub(super) fn new(engine: EngineSource, scope: ScopeResolver, options: &Options) -> Self {
        let runner = Runner::new(engine, scope, Pool::for_machine(), options.call_timeout);
        Self {
            entries: tools::shown(&options.toolsets),
            documents: Documents::shown(&options.toolsets),
            instructions: instructions::of(&options.toolsets),
            runner,
        }
    }

    /// What does the upkeep of the same home.
    pub(super) fn upkeep(&self) -> Upkeep {
        self.runner.upkeep()
    }

    /// What follows the files of the project.
    pub(super) fn following(&self) -> Following {
        self.runner.following()
    }

    fn entry(&self, tool: &str) -> Result<&'static Entry, ErrorData> {
        tools::find(&self.entries, tool).ok_or_else(|| {
            let names: Vec<_> = self.entries.iter().map(|e| e.spec.tool).collect();
            let elsewhere = tools::toolset_of(tool).map_or_else(String::new, |set| {
                format!(" (it is in the toolset {set}: `strata serve --toolsets core,{set}`)")
            });
            let tool: String = tool.chars().take(64).collect();
            let message = format!("unknown tool `{tool}`{elsewhere}; there are: {}", names.join(", "));
            ErrorData::invalid_params(message, None)
        })
    }

    async fn call(
        &self,
        entry: &'static Entry,
        mut arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Result<String, String> {
        let mut form = Form::from(entry.text_form);
        let outcome = match take_form(entry, &mut arguments) {
            Ok(chosen) => {
                form = chosen;
                let run = entry.run;
                let work =
                    move |engine: &Engine, call: &Call<'_>| run(engine, call, Value::Object(arguments));
                self.run(entry.spec.effect, context, work).await
            }
            Err(error) => Err(error.into()),
        };
        let text = outcome.and_then(|reply| reply::text(&reply, form).map_err(Failure::from));
        text.or_else(|failure| {
            failure.advising(|next| wording::said(next, entry, &self.entries)).told(entry.spec.toolset, form)
        })
    }

    /// Runs `work` for a client that may withdraw it at any time.
    async fn run<T, F>(
        &self,
        effect: Effect,
        context: &RequestContext<RoleServer>,
        work: F,
    ) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnOnce(&Engine, &Call<'_>) -> Result<T, Error> + Send + 'static,
    {
        let principal = principal(context);
        let started = async { self.runner.start(principal, effect, work).await.map_err(Failure::from) };
        let outcome = async { Ok(wait(started.await?, context).await?) };
        tokio::select! {
            outcome = outcome => outcome,
            () = context.ct.cancelled() => Err(Error::Cancelled.into()),
            () = sleep(self.runner.timeout()) => Err(Error::Deadline.into()),
        }
    }
}

/// Waits for a call, passing its progress on when the client asked for it.
async fn wait<T>(mut running: Running<T>, context: &RequestContext<RoleServer>) -> Result<T, Error> {
    let Some(token) = context.meta.get_progress_token() else { return running.outcome().await };
    let started = Instant::now();
    let mut ticks = interval_at(started + PROGRESS_EVERY, PROGRESS_EVERY);
    let mut told = None;
    loop {
        tokio::select! {
            outcome = running.outcome() => return outcome,
            _ = ticks.tick() => {
                let count = running.progress();
                if count.is_none() || count != told {
                    tell_progress(&context.peer, token.clone(), count, started).await;
                }
                told = count;
            }
        }
    }
}

/// Tells the client that the call goes on. An operation that counts nothing is counted in
/// thousandths per second, so that a real count that starts later still grows.
async fn tell_progress(
    peer: &Peer<RoleServer>,
    token: ProgressToken,
    count: Option<(u64, u64)>,
    started: Instant,
) {
    let param = match count {
        Some((done, 0)) => ProgressNotificationParam::new(token, done as f64),
        Some((done, total)) => ProgressNotificationParam::new(token, done as f64).with_total(total as f64),
        None => ProgressNotificationParam::new(token, started.elapsed().as_secs_f64() / 1000.0),
    };
    if let Err(error) = peer.notify_progress(param).await {
        tracing::debug!(%error, "progress was not delivered");
    }
}

/// Removes the argument that belongs to this face from those of the operation.
fn take_form(entry: &Entry, arguments: &mut JsonObject) -> Result<Form, Error> {
    let own = (entry.request_schema)();
    let argument = if own["properties"].get(FORMAT).is_some() { None } else { arguments.remove(FORMAT) };
    Form::read(argument, entry.text_form.into())
}

/// The client as it names itself, in the handshake or with the request.
fn principal(context: &RequestContext<RoleServer>) -> Principal {
    let name = context.client_info().map(|client| client.name).unwrap_or_default();
    Principal::new(PrincipalKind::Agent, &name)
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("strata", env!("CARGO_PKG_VERSION")).with_title("Strata"))
            .with_instructions(self.instructions)
    }

    fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<InitializeResult, ErrorData>> + Send + '_ {
        let answer = self.negotiate_initialize(&request);
        if let Ok(agreed) = &answer {
            request.protocol_version = agreed.protocol_version.clone();
        }
        context.peer.set_peer_info(request);
        ready(answer)
    }

    fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListToolsResult, ErrorData>> + Send + '_ {
        let mut list = ListToolsResult::with_all_items(self.entries.iter().map(|e| tools::tool(e)).collect());
        list.ttl_ms = Some(LIST_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        ready(Ok(list))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.entry(name).ok().map(tools::tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let entry = self.entry(&request.name)?;
        let result = match self.call(entry, request.arguments.unwrap_or_default(), &context).await {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(text) => CallToolResult::error(vec![ContentBlock::text(text)]),
        };
        Ok(result.into())
    }

    fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListResourcesResult, ErrorData>> + Send + '_ {
        let all = self.documents.resources.iter().map(|resource| documents::resource(resource));
        let mut list = ListResourcesResult::with_all_items(all.collect());
        list.ttl_ms = Some(LIST_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        ready(Ok(list))
    }

    fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListResourceTemplatesResult, ErrorData>> + Send + '_ {
        let all = self.documents.templates.iter().map(|template| documents::template(template));
        let mut list = ListResourceTemplatesResult::with_all_items(all.collect());
        list.ttl_ms = Some(LIST_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        ready(Ok(list))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let found = self.documents.find(&request.uri)?;
        let mime = found.mime();
        let text = self.run(Effect::Read, &context, move |engine, call| found.read(engine, call)).await;
        let text = text.map_err(|failure| documents::protocol_error(&failure))?;
        let contents = ResourceContents::text(reply::capped_text(text), request.uri).with_mime_type(mime);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListPromptsResult, ErrorData>> + Send + '_ {
        let all = self.documents.prompts.iter().map(|prompt| documents::prompt(prompt));
        let mut list = ListPromptsResult::with_all_items(all.collect());
        list.ttl_ms = Some(LIST_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        ready(Ok(list))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = self.documents.find_prompt(&request.name)?;
        let text = prompt.text;
        let arguments = documents::filled_in(request.arguments);
        let text = self.run(Effect::Read, &context, move |engine, call| text(engine, call, &arguments)).await;
        let text = text.map_err(|failure| documents::protocol_error(&failure))?;
        let message = PromptMessage::new_text(Role::User, reply::capped_text(text));
        Ok(GetPromptResult::new(vec![message]).with_description(prompt.about).into())
    }

    /// A known method lands here when its parameters do not fit.
    fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CustomResult, ErrorData>> + Send + '_ {
        const KNOWN: &[&str] = &[
            "initialize",
            "prompts/get",
            "prompts/list",
            "resources/list",
            "resources/read",
            "resources/templates/list",
            "server/discover",
            "tools/call",
            "tools/list",
        ];
        let error = if KNOWN.contains(&request.method.as_str()) {
            ErrorData::invalid_params(format!("the parameters of `{}` do not fit", request.method), None)
        } else {
            let method: String = request.method.chars().take(64).collect();
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{method}`"), None)
        };
        ready(Err(error))
    }
}
