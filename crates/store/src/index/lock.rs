//! The index lock: one process at a time changes an index. It is only ever tried for, never waited
//! for, because whoever holds it indexes everyone's rows.

use std::path::Path;

use crate::{
    database::{Database, TenantLock},
    error::StoreError,
    files::open_private,
    held::Held,
    sql::Control,
};

/// Held until dropped; the operating system or the server frees it when the process dies.
#[derive(Debug)]
pub(crate) enum IndexLock<'d> {
    /// Of a file beside the database.
    File { _held: Held },
    /// Of the tenant's rows on a server.
    Server { _lock: Box<TenantLock<'d>> },
}

impl<'d> IndexLock<'d> {
    /// Takes the lock of `database`, or answers `None` when somebody has it.
    pub(crate) fn try_take(database: &'d Database, control: &Control) -> Result<Option<Self>, StoreError> {
        match database.place().file() {
            Some(path) => Ok(lock_beside(path)?.map(|held| Self::File { _held: held })),
            None => {
                Ok(database.try_lock(control, "index")?.map(|lock| Self::Server { _lock: Box::new(lock) }))
            }
        }
    }
}

fn lock_beside(database: &Path) -> Result<Option<Held>, StoreError> {
    let path = database.with_extension("lock");
    Held::try_take(open_private(&path)?, &path)
}
