//! The Model Context Protocol face, in both eras of the protocol.
//!
//! The only module that names the protocol library. `wire` reads lines that clients really send,
//! `transport` moves them, `handler` answers, `tools` and `documents` list, `admission`
//! decides when a call starts, `call` runs it, `reply` fits what came back into what clients can show.

mod admission;
mod call;
mod documents;
mod following;
mod handler;
mod idle;
mod instructions;
mod reply;
mod tools;
mod transport;
mod wire;
mod wording;

use std::{io, sync::Arc, time::Duration};

use strata_core::scope::Scope;
use strata_engine::{
    engine::Engine,
    error::Error,
    operation::{Selection, Toolset},
};
use tokio::io::{AsyncRead, AsyncWrite};

pub use crate::watch::Ended;
pub use tools::{FORMAT, with_format};

use self::{handler::Handler, transport::LineTransport};
use crate::watch::{Activity, until_useless};

/// Finds the scope a call stands in. Asked once per call, so that a change of branch is noticed.
pub type ScopeResolver = Arc<dyn Fn() -> Scope + Send + Sync>;

/// Opens the engine at the first call, so that listing tools reads no file. Errors are tried again.
pub type EngineSource = Arc<dyn Fn() -> Result<Engine, Error> + Send + Sync>;

/// How to serve.
#[derive(Debug, Clone)]
pub struct Options {
    /// The groups of operations to show.
    pub toolsets: Vec<Selection>,
    /// How long one call may take before it is answered with `deadline`.
    pub call_timeout: Duration,
    /// End after this long without a message; `None` is never.
    pub idle: Option<Duration>,
    /// Do the upkeep that is due after this long without a message, unless the configuration says no.
    pub upkeep_after: Duration,
}

impl Default for Options {
    /// The core toolset. 50 s per call stays under the shortest limit of common clients (60 s).
    fn default() -> Self {
        Self {
            toolsets: vec![Selection::Whole(Toolset::Core)],
            call_timeout: Duration::from_secs(50),
            idle: Some(Duration::from_secs(24 * 3600)),
            upkeep_after: Duration::from_secs(600),
        }
    }
}

/// Serves one client on standard input and output, until it leaves.
///
/// Errors: the machine refuses a runtime.
pub fn serve_stdio(engine: EngineSource, scope: ScopeResolver, options: &Options) -> io::Result<Ended> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let (reader, writer) = rmcp::transport::io::stdio_pipes();
        serve(engine, scope, options, reader, writer).await
    });
    // A read of standard input that is still pending must not hold the process.
    runtime.shutdown_background();
    Ok(ended)
}

/// Serves one client on any pair of streams.
pub async fn serve<R, W>(
    engine: EngineSource,
    scope: ScopeResolver,
    options: &Options,
    reader: R,
    writer: W,
) -> Ended
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let activity = Activity::new();
    let transport = LineTransport::new(reader, writer, activity.clone());
    let handler = Handler::new(engine, scope, options);
    let upkeep = handler.upkeep().watch(activity.clone(), options.upkeep_after);
    let with_files = options.toolsets.iter().any(|selected| selected.toolset() == Toolset::Project);
    let following = with_files.then(|| handler.following().start());
    // Served without the library's handshake gate: it ends the session on the first message it does
    // not expect, and both eras work without it.
    let running = rmcp::service::serve_directly(handler, transport, None);
    let ended = tokio::select! {
        _ = running.waiting() => Ended::Closed,
        ended = until_useless(&activity, options.idle) => ended,
        never = upkeep => match never {},
    };
    // Upkeep that is going on gives way.
    activity.touch();
    if let Some(following) = following {
        following.end().await;
    }
    ended
}
