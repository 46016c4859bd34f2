//! A stretch of a session with what lies around it.

use super::{EpisodeRow, LedgerRead, episodes};
use crate::{error::StoreError, params};

/// A turn's place in its session: when it happened, then its number.
type Place = (i64, i64);

impl LedgerRead<'_> {
    /// The turns of `session` in a namespace and project (`""` is the user level) from `beside` turns
    /// before `first` to `beside` turns after `last`, inclusive, in order.
    pub fn session_span(
        &self,
        (namespace, project): (&str, &str),
        session: &str,
        first: Place,
        last: Place,
        beside: usize,
    ) -> Result<Vec<EpisodeRow>, StoreError> {
        let beside = i64::try_from(beside).unwrap_or(i64::MAX);
        let turns = |condition: &str| {
            format!(
                "SELECT {} FROM episodes
                 WHERE tenant = $1 AND namespace = $2 AND project = $3 AND session = $4 AND {condition}",
                episodes::COLUMNS
            )
        };
        let sql = format!(
            "SELECT {columns} FROM ({}) a UNION ALL SELECT {columns} FROM ({}) b UNION ALL SELECT {columns} FROM ({}) c",
            turns("(at, number) < ($5, $6) ORDER BY at DESC, number DESC LIMIT $9"),
            turns("(at, number) >= ($5, $6) AND (at, number) <= ($7, $8)"),
            turns("(at, number) > ($7, $8) ORDER BY at, number LIMIT $9"),
            columns = episodes::COLUMNS
        );
        let values =
            params![self.tenant, namespace, project, session, first.0, first.1, last.0, last.1, beside];
        let mut span = self.transaction.query(&sql, values, episodes::episode_from)?;
        span.sort_by_key(|turn| (turn.at, turn.number));
        Ok(span)
    }
}
