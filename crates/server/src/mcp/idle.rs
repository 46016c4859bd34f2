//! Upkeep while the client is silent. It gives way at the client's next message.

use std::{convert::Infallible, sync::Arc, thread, time::Duration};

use strata_core::{
    cancel::Cancel,
    principal::{Face, Principal, PrincipalKind},
    time::Timestamp,
};
use strata_engine::{engine::Engine, maintain::due, operation::Call, project::identity::resolve};
use tokio::{sync::oneshot, time::interval};

use super::{ScopeResolver, call::Opening};
use crate::watch::Activity;

/// How long after one look at what is due the next one comes, while the silence lasts.
const AGAIN: Duration = Duration::from_secs(30 * 60);

/// What is due, done in the silences of one server.
pub(super) struct Upkeep {
    pub(super) engine: Arc<Opening>,
    pub(super) scope: ScopeResolver,
}

impl Upkeep {
    /// Waits for silences of at least `silence` and does what is due in them; never ends.
    ///
    /// An engine that no call has opened stays closed: a server that nobody asked anything reads no file.
    pub(super) async fn watch(self, activity: Activity, silence: Duration) -> Infallible {
        let mut ticks = interval(Duration::from_secs(1));
        let mut next = silence;
        loop {
            ticks.tick().await;
            let quiet = activity.quiet_for();
            if quiet < silence {
                next = silence;
            }
            if quiet < next {
                continue;
            }
            next = quiet.saturating_add(AGAIN);
            let Some(engine) = self.engine.opened().filter(|e| e.settings().config.maintain.idle) else {
                continue;
            };
            let cancel = activity.until_message();
            let scope = Arc::clone(&self.scope);
            let (sender, done) = oneshot::channel();
            let work = move || {
                attend(&engine, &scope, &cancel);
                sender.send(()).ok();
            };
            // Not on the pool: its threads are for calls.
            if thread::Builder::new().name("upkeep".into()).spawn(work).is_ok() {
                done.await.ok();
            }
        }
    }
}

fn attend(engine: &Engine, scope: &ScopeResolver, cancel: &Cancel) {
    let principal = Principal::new(PrincipalKind::System, "server");
    let call = Call {
        principal: &principal,
        scope: &resolve(engine, scope()),
        face: Face::Library,
        deadline: Timestamp::MAX,
        cancel,
        progress: &|_, _| {},
        secret: None,
    };
    match due::when_idle(engine, &call) {
        Ok(done) => tracing::debug!(tasks = done.tasks.len(), failed = done.failed, "upkeep while idle"),
        Err(error) => tracing::debug!(%error, "upkeep while idle gave way"),
    }
}
