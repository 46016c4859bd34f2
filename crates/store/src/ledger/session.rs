//! A stretch of a session with what lies around it.

use super::{EpisodeRow, LedgerRead, episodes};
use crate::{error::StoreError, params, sql::Param};

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
        let turns = |condition: &str, bounds: &[Param<'_>]| {
            let sql = format!(
                "SELECT {} FROM episodes
                 WHERE tenant = $1 AND namespace = $2 AND project = $3 AND session = $4 AND {condition}",
                episodes::COLUMNS
            );
            let mut all = params![self.tenant, namespace, project, session].to_vec();
            all.extend_from_slice(bounds);
            self.transaction.query(&sql, &all, episodes::episode_from)
        };
        let mut span = turns(
            "(at, number) < ($5, $6) ORDER BY at DESC, number DESC LIMIT $7",
            params![first.0, first.1, beside],
        )?;
        span.reverse();
        span.extend(turns(
            "(at, number) >= ($5, $6) AND (at, number) <= ($7, $8) ORDER BY at, number",
            params![first.0, first.1, last.0, last.1],
        )?);
        span.extend(turns(
            "(at, number) > ($5, $6) ORDER BY at, number LIMIT $7",
            params![last.0, last.1, beside],
        )?);
        Ok(span)
    }
}
