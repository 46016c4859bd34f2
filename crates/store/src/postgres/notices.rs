//! What a server says beside its answers, for whom it matters.

use std::{
    future::poll_fn,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::{AsyncMessage, Connection};

/// Details of the server's notices while somebody listens to them. Clones hear the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Notices(Arc<Mutex<Option<Vec<String>>>>);

impl Notices {
    /// Looks after a connection until it ends. What its end was, the client says.
    pub(super) async fn hear<S, T>(self, mut connection: Connection<S, T>)
    where
        S: AsyncRead + AsyncWrite + Unpin,
        T: AsyncRead + AsyncWrite + Unpin,
    {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            let AsyncMessage::Notice(notice) = message else { continue };
            let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let (Some(heard), Some(detail)) = (heard.as_mut(), notice.detail()) {
                heard.push(detail.to_owned());
            }
        }
    }

    /// What `work` returns, and the details of what the server said meanwhile.
    pub(super) fn during<T>(&self, work: impl FnOnce() -> T) -> (T, Vec<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Vec::new());
        let outcome = work();
        let heard = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        (outcome, heard.unwrap_or_default())
    }
}
