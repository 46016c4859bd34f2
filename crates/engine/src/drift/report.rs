//! Comparing with the baseline, and the report for people.

use serde::Serialize;
use serde_json::Value;
use strata_core::time::Timestamp;

use super::{Baseline, Metrics, Response, measure::Measured};
use crate::render::counted;

/// A change above this, in percent, is drift.
const TOLERATED: f64 = 30.0;
/// Undistilled events older than this many days want attention.
const OLD_BACKLOG: i64 = 14;
/// An index this many changes behind is not just about to catch up.
const FAR_BEHIND: i64 = 1_000;

/// A metric that changed by more than is tolerated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Delta {
    /// Its name.
    pub metric: &'static str,
    /// Its value in the baseline.
    pub base: i64,
    /// Its value now.
    pub cur: i64,
    /// The change in percent of the baseline, to one decimal.
    pub delta_pct: f64,
}

/// Compares with the baseline; without one nothing has changed.
pub(super) fn compare(measured: Measured, baseline: Option<Baseline>) -> Response {
    let base = baseline.as_ref().map_or(measured.metrics, |baseline| baseline.metrics);
    let mut deltas = changes(&base, &measured.metrics);
    deltas.retain(|delta| delta.delta_pct.abs() > TOLERATED);
    Response {
        status: if deltas.is_empty() { "no change" } else { "drift" },
        alerts: alerts(&measured),
        deltas,
        metrics: Some(measured.metrics),
        distilling: Some(measured.distilling),
        rules: Some(measured.rules),
        failures: Some(measured.failures),
        baseline_at: baseline.map(|baseline| baseline.created_at),
        ..Response::default()
    }
}

fn changes(base: &Metrics, now: &Metrics) -> Vec<Delta> {
    let pairs = base.named().zip(now.named());
    pairs
        .filter_map(|((metric, base), (_, cur))| {
            let (base, cur) = base.zip(cur)?;
            Some(Delta { metric, base, cur, delta_pct: percent(base, cur) })
        })
        .collect()
}

/// 100 (cur - base) / |base| to one decimal; from nothing to something is 100.
fn percent(base: i64, cur: i64) -> f64 {
    if base == 0 {
        return if cur == 0 { 0.0 } else { 100.0 };
    }
    let change = 100.0 * (cur as f64 - base as f64) / (base as f64).abs();
    (change * 10.0).round() / 10.0
}

/// What wants attention.
fn alerts(measured: &Measured) -> Vec<String> {
    let Measured { distilling, rules, failures, .. } = measured;
    let mut alerts = Vec::new();
    if let Some(days) = distilling.oldest_undistilled_days.filter(|days| *days > OLD_BACKLOG) {
        alerts.push(format!(
            "not distilled: {}, the oldest for {days} days; run `strata maintain`, or `strata govern consolidate \
             --min-episodes 1` for sessions that are too short",
            counted(distilling.backlog, "episode")
        ));
    }
    if rules.enabled > 0 && rules.used_7d == 0 {
        alerts.push(
            "no rule was recalled, given in a context or looked at for seven days; see whether clients ask for `context`".into(),
        );
    }
    if !failures.overdue_tasks.is_empty() {
        alerts
            .push(format!("upkeep is overdue: {}; run `strata maintain`", failures.overdue_tasks.join(", ")));
    }
    let failures_found = [
        (failures.failed_jobs_7d, "failed job", "`strata jobs list` shows why"),
        (failures.stalled_jobs, "job without a worker", "`strata doctor --fix` ends them"),
        (failures.unreadable_sources, "indexed file out of reach", "`strata doctor` names them"),
        (failures.open_purges, "purge cut short", "`strata doctor --fix` completes them"),
        (
            failures.repeated_refusals_7d,
            "refused again and again",
            "`strata govern audit --denied-only` shows it",
        ),
    ];
    let found = failures_found.into_iter().filter(|(number, ..)| *number > 0);
    alerts.extend(found.map(|(number, what, next)| format!("{what}: {number}; {next}")));
    if failures.index_behind > FAR_BEHIND {
        alerts.push(format!(
            "the index is {} behind; run `strata reindex`",
            counted(failures.index_behind, "change")
        ));
    }
    alerts
}

/// The report as Markdown.
pub(super) fn markdown(response: &Response, now: Timestamp) -> String {
    let mut text = format!("# Drift report, {}\n\nStatus: {}\n\n", now.to_rfc3339(), response.status);
    match &response.baseline_at {
        Some(at) => text.push_str(&format!("Compared with the baseline of {at}.\n\n")),
        None => text.push_str("This is the first report; its numbers are the baseline.\n\n"),
    }
    if let Some(metrics) = &response.metrics {
        text.push_str("| metric | current | change beyond 30 % |\n| --- | --- | --- |\n");
        for (name, value) in metrics.named().filter_map(|(name, value)| Some((name, value?))) {
            let delta = response.deltas.iter().find(|delta| delta.metric == name);
            let change = delta.map_or(String::new(), |d| format!("{:+.1} % from {}", d.delta_pct, d.base));
            text.push_str(&format!("| {name} | {value} | {change} |\n"));
        }
    }
    for (question, numbers) in answers(response) {
        text.push_str(&format!("\n## {question}\n\n"));
        numbers.iter().for_each(|(name, value)| text.push_str(&format!("- {name}: {value}\n")));
    }
    text.push_str("\n## What wants attention\n\n");
    if response.alerts.is_empty() {
        text.push_str("Nothing.\n");
    }
    response.alerts.iter().for_each(|alert| text.push_str(&format!("- {alert}\n")));
    text
}

/// The three questions, each with its numbers in words.
pub(super) fn answers(response: &Response) -> Vec<(&'static str, Vec<(String, String)>)> {
    let numbers = |answer: serde_json::Result<Value>| match answer {
        Ok(Value::Object(numbers)) => {
            numbers.iter().map(|(name, value)| (name.replace('_', " "), words(value))).collect()
        }
        _ => Vec::new(),
    };
    vec![
        ("Is memory being distilled?", numbers(serde_json::to_value(response.distilling))),
        ("Are the rules alive?", numbers(serde_json::to_value(response.rules))),
        ("Are there silent failures?", numbers(serde_json::to_value(&response.failures))),
    ]
}

fn words(value: &Value) -> String {
    match value {
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => items.iter().filter_map(|item| item.as_str()).collect::<Vec<_>>().join(", "),
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    }
}
