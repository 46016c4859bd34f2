//! Those who read from before something was removed. The server keeps for them what was removed since, and copies it into
//! a table that is written anew.

use std::time::{Duration, Instant};

use super::{connection::Connection, names::literal};
use crate::{error::StoreError, sql::Control};

/// How long a rewriting waits for those who began to read before it, where the caller's patience is no shorter.
const LONGEST_READER: Duration = Duration::from_secs(3);

/// Waits, for a while, until nobody reads from before this moment, and nobody writes since before it: a rewriting counts from
/// the oldest transaction that writes, whichever database of the server it writes in.
pub(super) fn outlive(connection: &Connection, control: &Control) -> Result<(), StoreError> {
    let until = Instant::now() + LONGEST_READER.min(control.longest_wait());
    let now = connection.texts(control, "SELECT pg_catalog.pg_current_xact_id()::xid::text")?;
    let Some(now) = now.first().and_then(|row| row.first()?.clone()) else { return Ok(()) };
    let strangers = connection.texts(control, STRANGERS)?;
    let strangers: Vec<String> = strangers.into_iter().flatten().flatten().map(|id| literal(&id)).collect();
    let earlier = format!(
        "SELECT 1 FROM pg_catalog.pg_stat_activity WHERE datname = current_database()
         AND pid <> pg_catalog.pg_backend_pid() AND age(backend_xmin) > age('{now}'::xid)
         UNION ALL SELECT 1 FROM pg_catalog.pg_locks WHERE locktype = 'virtualxid' AND virtualxid = virtualtransaction
         AND virtualxid IN (NULL, {})
         UNION ALL SELECT 1 WHERE age(pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())::xid) > age('{now}'::xid)",
        if strangers.is_empty() { "NULL".to_owned() } else { strangers.join(", ") }
    );
    while !connection.texts(control, &earlier)?.is_empty() && Instant::now() < until {
        control.check()?;
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// The transactions of other roles. What they read from is shown to few, that they go on is shown to everyone.
const STRANGERS: &str = "SELECT l.virtualxid FROM pg_catalog.pg_locks l
    JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'virtualxid' AND l.virtualxid = l.virtualtransaction
    AND a.datname = current_database() AND a.state IS NULL AND a.pid <> pg_catalog.pg_backend_pid()";

/// Whether a table that was written anew holds nothing of what was removed, as the server says in `VERBOSE`: the first
/// line of the one detail has the number of rows it had to keep, in whatever language.
pub(super) fn nothing_was_kept(details: &[String]) -> bool {
    details.first().and_then(|detail| detail.lines().next()).is_some_and(|line| {
        let digits: String = line.chars().filter(char::is_ascii_digit).collect();
        digits.parse() == Ok(0_u64)
    })
}

#[cfg(test)]
mod tests {
    use super::nothing_was_kept;

    #[test]
    fn what_the_server_had_to_keep_is_read_in_any_language() {
        let none =
            ["0 dead row versions cannot be removed yet.\nCPU: user: 0.01 s, system: 0.00 s".to_owned()];
        assert!(nothing_was_kept(&none));
        let some = ["12 tote Zeilenversionen können noch nicht entfernt werden.\nCPU: 0.00 s".to_owned()];
        assert!(!nothing_was_kept(&some));
        assert!(!nothing_was_kept(&["nothing that is understood".to_owned()]) && !nothing_was_kept(&[]));
    }
}
