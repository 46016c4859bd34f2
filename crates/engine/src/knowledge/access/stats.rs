//! `get_access_stats`: which knowledge is used, and which nobody looks at.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    knowledge::name::stem,
    time::{DAY, Timestamp},
};
use strata_store::ledger::{AccessFilter, FileAccesses};

use super::{recent, written};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::vault,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Block, Document, Mark, Render, counted, rounded},
};

/// See the module.
pub struct GetAccessStats;

const DEFAULT_DAYS: u32 = 30;
const DEFAULT_LIMIT: u32 = 20;
/// A file that is younger than this many days is no zombie.
const GRACE_DAYS: i64 = 30;

/// How far back, and how many.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Days back. Default 30.
    #[schemars(range(min = 1, max = 3650))]
    pub days: Option<u32>,
    /// Most files of each list. Default 20.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
}

/// The figures.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// In all.
    pub overview: Overview,
    /// The files that were found and read most often in the window.
    pub top_recalled: Vec<Top>,
    /// Files that nobody ever found or read, as far as the log reaches back, the oldest first.
    pub zombies: Vec<Zombie>,
    /// How many there are, shown or not.
    pub zombie_count: usize,
    /// A file younger than this is none.
    pub grace_days: i64,
}

/// The log in the window.
#[derive(Debug, Serialize)]
pub struct Overview {
    /// Days of the window.
    pub window_days: u32,
    /// Hits in it.
    pub total_events: i64,
    /// Files with a hit.
    pub active_domains: usize,
    /// Hits by how the file was come by.
    pub by_type: BTreeMap<&'static str, i64>,
}

/// A file that is used.
#[derive(Debug, Serialize)]
pub struct Top {
    /// The file.
    pub domain: String,
    /// Hits in the window.
    pub hits: i64,
    /// The latest.
    pub last_access: String,
    /// The mean of their scores, of those that have one.
    pub avg_score: Option<f64>,
}

/// A file that nobody looks at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Zombie {
    /// The file.
    pub domain: String,
    /// Days since it was changed; none when that is not known.
    pub age_days: Option<i64>,
}

impl Operation for GetAccessStats {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "get_access_stats",
        cli: &["knowledge", "access", "stats"],
        positional: &[],
        title: "Which knowledge is used",
        about: "Tells which files of knowledge are found and read most, and which nobody ever looked at.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        written(engine)?;
        let days = request.days.unwrap_or(DEFAULT_DAYS);
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT) as usize;
        let window = recent(engine, call, days);
        let ever = AccessFilter { since: Timestamp(i64::MIN), ..window.clone() };
        let (files, kinds, known) = engine.read(call, |r| {
            Ok((r.accesses_by_file(&window)?, r.accesses_by_kind(&window)?, r.accesses_by_file(&ever)?))
        })?;
        let mut zombies = zombies(&files_of(engine, call)?, &known, engine.clock().now());
        let zombie_count = zombies.len();
        zombies.truncate(limit);
        Ok(Response {
            success: true,
            overview: Overview {
                window_days: days,
                total_events: kinds.iter().map(|(_, count)| count).sum(),
                active_domains: files.len(),
                by_type: kinds.into_iter().map(|(kind, count)| (kind.as_str(), count)).collect(),
            },
            top_recalled: files.iter().take(limit).map(Top::of).collect(),
            zombies,
            zombie_count,
            grace_days: GRACE_DAYS,
        })
    }
}

impl Top {
    fn of(file: &FileAccesses) -> Self {
        Self {
            domain: stem(&file.path).to_owned(),
            hits: file.hits,
            last_access: file.last.to_rfc3339(),
            avg_score: file.score.map(|score| rounded(score, 2)),
        }
    }
}

/// A file of the vault, and when it was last changed.
struct Age {
    namespace: String,
    path: String,
    changed: Option<Timestamp>,
}

/// The files that the caller sees.
fn files_of(engine: &Engine, call: &Call<'_>) -> Result<Vec<Age>, Error> {
    let age = |head: vault::FileHead| Age {
        namespace: head.namespace.to_string(),
        path: head.path.to_string(),
        changed: (head.mtime.0 > 0).then_some(head.mtime),
    };
    Ok(vault::list(engine, call)?.into_iter().map(age).collect())
}

/// The files that nobody ever came by and that are old enough, or of unknown age; the oldest first.
fn zombies(files: &[Age], known: &[FileAccesses], now: Timestamp) -> Vec<Zombie> {
    let is_known =
        |file: &Age| known.iter().any(|known| known.namespace == file.namespace && known.path == file.path);
    let age = |file: &Age| file.changed.map(|changed| now.0.saturating_sub(changed.0) / DAY);
    let mut found: Vec<Zombie> = files
        .iter()
        .filter(|file| age(file).is_none_or(|days| days >= GRACE_DAYS) && !is_known(file))
        .map(|file| Zombie { domain: stem(&file.path).to_owned(), age_days: age(file) })
        .collect();
    found.sort_by(|a, b| b.age_days.cmp(&a.age_days).then(a.domain.cmp(&b.domain)));
    found
}

impl Render for Response {
    fn render(&self) -> Document {
        let columns = ["file", "hits", "last", "mean score"].map(str::to_owned).to_vec();
        let score = |top: &Top| top.avg_score.map_or_else(String::new, |score| score.to_string());
        let row =
            |top: &Top| vec![top.domain.clone(), top.hits.to_string(), top.last_access.clone(), score(top)];
        let rows = self.top_recalled.iter().map(row).collect();
        let Overview { total_events, window_days, active_domains, .. } = &self.overview;
        let said = format!(
            "{} on {} in {window_days} days",
            counted(*total_events, "hit"),
            counted(*active_domains, "file")
        );
        let document = Document::new().with(Block::Table { columns, rows }).note(Mark::Info, said);
        if self.zombies.is_empty() {
            return document;
        }
        let named = self.zombies.iter().map(|zombie| zombie.domain.as_str()).collect::<Vec<_>>().join(", ");
        let more = self.zombie_count - self.zombies.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        document.note(Mark::Warning, format!("nobody ever looked at {named}{more}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zombie_is_old_and_was_never_found() {
        let now = Timestamp(100 * DAY);
        let file = |path: &str, changed: Option<i64>| Age {
            namespace: "shared".into(),
            path: path.into(),
            changed: changed.map(|day| Timestamp(day * DAY)),
        };
        let files = [
            file("new.md", Some(71)),
            file("old.md", Some(70)),
            file("infra/older.md", Some(10)),
            file("unknown.md", None),
            file("read.md", Some(1)),
        ];
        let known = FileAccesses {
            namespace: "shared".into(),
            path: "read.md".into(),
            hits: 1,
            first: now,
            last: now,
            score: None,
        };
        let other = FileAccesses { namespace: "claude".into(), path: "old.md".into(), ..known.clone() };
        let found = zombies(&files, &[known, other], now);
        let found: Vec<_> = found.iter().map(|z| (z.domain.as_str(), z.age_days)).collect();
        assert_eq!(found, [("infra/older", Some(90)), ("old", Some(30)), ("unknown", None)]);
    }
}
