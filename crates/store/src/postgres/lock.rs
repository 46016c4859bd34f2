//! A lock that is held by a connection and not by a transaction: whoever dies lets it go.

use super::{Store, connection::Connection, names::key};
use crate::{error::StoreError, pool::Lease, sql::Control};

/// Held until dropped.
pub(crate) struct SessionLock<'s> {
    lease: Lease<'s, Connection>,
    key: i64,
}

impl Store {
    /// Takes the lock called `name` of this schema and tenant, or answers `None` when somebody has it.
    pub(crate) fn try_lock(
        &self,
        control: &Control,
        name: &str,
    ) -> Result<Option<SessionLock<'_>>, StoreError> {
        let Some(mut lease) = self.0.locks.try_lease(|| self.connect(control))? else { return Ok(None) };
        let key = key(&[name, self.namespace(), self.tenant()]);
        let ask = format!("SELECT pg_catalog.pg_try_advisory_lock({key})");
        let mut answer = lease.get()?.texts(control, &ask);
        if matches!(answer, Err(StoreError::Disconnected { .. })) {
            lease.replace(|| self.connect(control))?;
            answer = lease.get()?.texts(control, &ask);
        }
        let taken = answer? == [[Some("t".to_owned())]];
        Ok(taken.then_some(SessionLock { lease, key }))
    }
}

impl Drop for SessionLock<'_> {
    fn drop(&mut self) {
        if let Ok(connection) = self.lease.get() {
            let free = format!("SELECT pg_catalog.pg_advisory_unlock({})", self.key);
            connection.send(&free);
        }
    }
}

impl std::fmt::Debug for SessionLock<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionLock").field("key", &self.key).finish_non_exhaustive()
    }
}
