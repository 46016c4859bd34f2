//! What the system and the server tell: processor time, memory, sizes, and what autovacuum did.

use std::{fs, path::Path, process::Command};

use super::Fallible;
use crate::{postgres::programs::Programs, shell::output};

/// Processor time is counted in hundredths of a second.
const TICKS: f64 = 100.0;

/// A process of this machine, by its number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Process(pub(super) u32);

impl Process {
    /// Seconds of processor time so far.
    pub(super) fn cpu(self) -> Option<f64> {
        let times = self.times()?;
        Some(times.own / TICKS)
    }

    /// MiB that it holds now.
    pub(super) fn resident_mib(self) -> Option<f64> {
        self.mib("status", "VmRSS:")
    }

    /// The most MiB that it ever held.
    pub(super) fn peak_mib(self) -> Option<f64> {
        self.mib("status", "VmHWM:")
    }

    fn mib(self, file: &str, field: &str) -> Option<f64> {
        let text = fs::read_to_string(format!("/proc/{}/{file}", self.0)).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(field))?;
        let kib: f64 = line.split_whitespace().next()?.parse().ok()?;
        Some(kib / 1024.0)
    }

    fn times(self) -> Option<Times> {
        Times::read(&fs::read_to_string(format!("/proc/{}/stat", self.0)).ok()?)
    }
}

/// From a process's `stat`.
struct Times {
    parent: u32,
    /// Ticks of its own.
    own: f64,
    /// Ticks of its children that have ended.
    ended: f64,
}

impl Times {
    /// The second field is a name in parentheses that may hold anything.
    fn read(stat: &str) -> Option<Self> {
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
        let parent = fields.get(1)?.parse().ok()?;
        Some(Self { parent, own: ticks(11)? + ticks(12)?, ended: ticks(13)? + ticks(14)? })
    }
}

/// A server as its administrator and, where it runs on this machine, the system see it.
pub(super) struct Observed {
    url: String,
    psql: Programs,
    first: Option<Process>,
}

impl Observed {
    pub(super) fn new(url: &str) -> Fallible<Self> {
        let mut observed = Self { url: url.to_owned(), psql: Programs::plain()?, first: None };
        let directory = observed.ask("SHOW data_directory")?;
        let number = fs::read_to_string(Path::new(directory.trim()).join("postmaster.pid")).ok();
        observed.first = number.and_then(|text| text.lines().next()?.trim().parse().ok().map(Process));
        Ok(observed)
    }

    /// What a query says: a line a row, columns apart by `|`.
    pub(super) fn ask(&self, query: &str) -> Fallible<String> {
        let mut psql: Command = self.psql.command("psql");
        let plain = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"];
        psql.env("PGOPTIONS", "-c client_min_messages=warning");
        output(psql.args(plain).args(["--dbname", &self.url, "--command", query]))
    }

    pub(super) fn number(&self, query: &str) -> Fallible<f64> {
        Ok(self.ask(query)?.trim().parse()?)
    }

    pub(super) fn size(&self) -> Fallible<f64> {
        self.number("SELECT pg_database_size(current_database())")
    }

    /// Bytes of the server's log since it was made.
    pub(super) fn log_written(&self) -> Fallible<f64> {
        self.number("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")
    }

    /// Seconds of processor time of the server, those of ended connections too.
    pub(super) fn cpu(&self) -> f64 {
        let Some(first) = self.first.and_then(Process::times) else { return 0.0 };
        let living: f64 =
            self.children().iter().filter_map(|child| child.times()).map(|t| t.own + t.ended).sum();
        (first.own + first.ended + living) / TICKS
    }

    /// MiB of the server, what its processes share counted once; and how many processes those are.
    pub(super) fn memory(&self) -> (f64, usize) {
        let mut all = self.children();
        all.extend(self.first);
        let share: Vec<f64> = all.iter().filter_map(|one| one.mib("smaps_rollup", "Pss:")).collect();
        (share.iter().sum(), share.len())
    }

    fn children(&self) -> Vec<Process> {
        let Some(first) = self.first else { return Vec::new() };
        let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
        let processes = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok().map(Process));
        processes.filter(|one| one.times().is_some_and(|times| times.parent == first.0)).collect()
    }

    /// Name, bytes of rows, bytes of indexes, and bytes set aside for long values, of the largest tables.
    pub(super) fn tables(&self, most: usize) -> Fallible<Vec<(String, [f64; 3])>> {
        let sizes = self.ask(&format!(
            "SELECT n.nspname || '.' || c.relname, pg_relation_size(c.oid), pg_indexes_size(c.oid),
                    pg_table_size(c.oid) - pg_relation_size(c.oid)
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname LIKE 'strata%' AND c.relkind = 'r'
             ORDER BY pg_total_relation_size(c.oid) DESC LIMIT {most}"
        ))?;
        let row = |line: &str| -> Fallible<(String, [f64; 3])> {
            let mut columns = line.split('|');
            let name = columns.next().ok_or("a name")?.to_owned();
            let mut bytes = [0.0; 3];
            for one in &mut bytes {
                *one = columns.next().ok_or("a size")?.parse()?;
            }
            Ok((name, bytes))
        };
        sizes.lines().map(row).collect()
    }

    /// Of each tenant of the trial the bytes of its rows, over the tables named.
    pub(super) fn rows_of_tenants(&self, tables: &[String]) -> Fallible<Vec<(String, f64)>> {
        let each: Vec<String> = tables
            .iter()
            .map(|t| format!("SELECT tenant, sum(pg_column_size(t.*)) AS bytes FROM {t} t GROUP BY tenant"))
            .collect();
        let sums = self.ask(&format!(
            "SELECT tenant, sum(bytes) FROM ({}) parts GROUP BY tenant ORDER BY tenant",
            each.join(" UNION ALL ")
        ))?;
        let row = |line: &str| -> Fallible<(String, f64)> {
            let (tenant, bytes) = line.split_once('|').ok_or("a tenant and its bytes")?;
            Ok((tenant.to_owned(), bytes.parse()?))
        };
        sums.lines().map(row).collect()
    }

    /// Rows that are there and rows that are dead, and how often autovacuum came by and took statistics.
    pub(super) fn upkeep(&self) -> Fallible<String> {
        let line = self.ask(
            "SELECT sum(n_live_tup), sum(n_dead_tup), sum(autovacuum_count), sum(autoanalyze_count)
             FROM pg_stat_user_tables WHERE schemaname LIKE 'strata%'",
        )?;
        let mut columns = line.trim().split('|');
        let mut next = || columns.next().unwrap_or("-").to_owned();
        let (live, dead, vacuums, analyses) = (next(), next(), next(), next());
        Ok(format!(
            "rows: {live} alive, {dead} dead; autovacuum came {vacuums} times, its statistics {analyses} times"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_behind_a_name_with_parentheses_and_blanks() {
        let stat = "42 (a) b (c)) S 7 42 42 0 -1 4194304 100 0 0 0 30 20 5 4 20 0 1 0 100";
        let times = Times::read(stat).expect("read");
        assert_eq!((times.parent, times.own, times.ended), (7, 50.0, 9.0));
        assert!(Times::read("42 (a").is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_memory() {
        let own = Process(std::process::id());
        let (now, peak) = (own.resident_mib().expect("told"), own.peak_mib().expect("told"));
        assert!(now > 0.5 && peak >= now / 2.0, "{now} {peak}");
        assert!(own.cpu().is_some());
    }
}
