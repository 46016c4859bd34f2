//! The numbers of a report.

use serde::{Deserialize, Serialize};
use strata_core::time::{DAY, Timestamp};

use crate::{
    engine::Engine,
    error::Error,
    maintain::{due::overdue, jobs::is_stalled},
    operation::Call,
};

/// What counts as lately: a week.
const LATELY: i64 = 7 * DAY;

/// What is compared with the baseline. One that the baseline does not have yet is not compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metrics {
    /// Memories in force.
    pub knowledge_total: i64,
    /// Of them, those written in the last seven days.
    pub knowledge_7d: i64,
    /// Events of the last seven days.
    pub episodes_7d: i64,
    /// Rules in force.
    pub rules: i64,
    /// Memories in force in P0.
    pub p0_entries: i64,
    /// Reviews about P0 that wait.
    pub p0_open_proposals: i64,
    /// Rules in force that are not disabled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules_enabled: Option<i64>,
    /// Conflicts between memories that wait for a decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflicts_pending: Option<i64>,
    /// Entities of the graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entities: Option<i64>,
    /// Relations of the graph that hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relations: Option<i64>,
}

impl Metrics {
    /// Names and values, in order; no value where an older baseline has none.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, Option<i64>)> {
        [
            ("knowledge_total", Some(self.knowledge_total)),
            ("knowledge_7d", Some(self.knowledge_7d)),
            ("episodes_7d", Some(self.episodes_7d)),
            ("rules", Some(self.rules)),
            ("p0_entries", Some(self.p0_entries)),
            ("p0_open_proposals", Some(self.p0_open_proposals)),
            ("rules_enabled", self.rules_enabled),
            ("conflicts_pending", self.conflicts_pending),
            ("entities", self.entities),
            ("relations", self.relations),
        ]
        .into_iter()
    }
}

/// Is memory being distilled?
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Distilling {
    /// Events of the last seven days.
    pub episodes_7d: i64,
    /// Digests made in the last seven days.
    pub digests_7d: i64,
    /// Events that digests cover.
    pub distilled: i64,
    /// Events that none covers.
    pub backlog: i64,
    /// Days since the oldest of those happened.
    pub oldest_undistilled_days: Option<i64>,
}

/// Are the rules alive?
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RulesAlive {
    /// Rules in force that are not disabled.
    pub enabled: i64,
    /// Rules in force, disabled or not, recalled, given in a context or looked at in the last seven days.
    pub used_7d: i64,
    /// Refusals to change rules and identity in the last seven days.
    pub refusals_7d: i64,
    /// Amendments that wait.
    pub amendments_pending: i64,
    /// Amendments decided in the last seven days.
    pub amendments_decided_7d: i64,
}

/// Are there silent failures?
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Failures {
    /// Jobs that failed in the last seven days.
    pub failed_jobs_7d: i64,
    /// Jobs whose worker has gone.
    pub stalled_jobs: i64,
    /// Tasks of upkeep that are overdue.
    pub overdue_tasks: Vec<String>,
    /// Changes that the index has not followed.
    pub index_behind: i64,
    /// Indexed files that cannot be reached.
    pub unreadable_sources: i64,
    /// Purges that were cut short: bytes of what was to go may be left.
    pub open_purges: i64,
    /// Things refused again and again, the last time in the last seven days.
    pub repeated_refusals_7d: i64,
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Measured {
    pub(super) metrics: Metrics,
    pub(super) distilling: Distilling,
    pub(super) rules: RulesAlive,
    pub(super) failures: Failures,
}

/// Takes the numbers in one snapshot of the ledger.
pub(super) fn measure(engine: &Engine, call: &Call<'_>) -> Result<Measured, Error> {
    let now = engine.clock().now();
    let lately = Timestamp(now.0.saturating_sub(LATELY));
    let ledger = engine.existing_ledger()?;
    let (pulse, backlog, overdue, open_purges, head, jobs) = ledger.read(&engine.control(call), |r| {
        let open_purges = r.open_purges()?.len();
        let jobs = r.jobs(None, usize::MAX)?;
        Ok((r.pulse(lately)?, r.backlog()?, overdue(engine, r)?, open_purges, r.head()?.seq, jobs))
    })?;
    let stalled_jobs = jobs.iter().filter(|job| is_stalled(job, now)).count();
    let index = engine.searcher().index();
    let followed = if index.database().exists(&engine.control(call))? {
        index.cursor(engine.tenant())?.mark.seq
    } else {
        0
    };
    Ok(Measured {
        metrics: Metrics {
            knowledge_total: pulse.memories,
            knowledge_7d: pulse.recent_memories,
            episodes_7d: pulse.recent_episodes,
            rules: pulse.rules,
            p0_entries: pulse.p0_memories,
            p0_open_proposals: pulse.p0_pending,
            rules_enabled: Some(pulse.rules_enabled),
            conflicts_pending: Some(pulse.conflicts_pending),
            entities: Some(pulse.entities),
            relations: Some(pulse.relations),
        },
        distilling: Distilling {
            episodes_7d: pulse.recent_episodes,
            digests_7d: pulse.recent_digests,
            distilled: pulse.distilled,
            backlog: backlog.count,
            oldest_undistilled_days: backlog.oldest.map(|at| now.0.saturating_sub(at.0) / DAY),
        },
        rules: RulesAlive {
            enabled: pulse.rules_enabled,
            used_7d: pulse.rules_in_use,
            refusals_7d: pulse.recent_rule_refusals,
            amendments_pending: pulse.amendments_pending,
            amendments_decided_7d: pulse.recent_amendments,
        },
        failures: Failures {
            failed_jobs_7d: pulse.recent_failed_jobs,
            stalled_jobs: i64::try_from(stalled_jobs).unwrap_or(i64::MAX),
            overdue_tasks: overdue.into_iter().map(str::to_owned).collect(),
            index_behind: (head - followed).max(0),
            unreadable_sources: pulse.unavailable_sources,
            open_purges: i64::try_from(open_purges).unwrap_or(i64::MAX),
            repeated_refusals_7d: pulse.repeated_refusals,
        },
    })
}
