//! `scale`: many tenants on one server, written and read by several processes at once, and how that differs from each
//! of them alone. Figures for docs/scale.md, not tests: machines differ.

use std::{
    error::Error,
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::Instant,
};

use serde_json::{Value, json};

use super::{Kind, programs::Programs};
use crate::{
    Outcome, foreign,
    quality::corpus,
    shell::{output, say},
};

const USAGE: &str =
    "usage: cargo xtask scale --binary PATH [--tenants N] [--passages N] [--processes N] [--server URL]";

type Fallible<T> = Result<T, Box<dyn Error>>;

/// `scale`: see the module.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let plan = Plan::read(arguments)?;
    let started =
        if plan.server.is_none() { Some(Kind::Plain.begin(&foreign::directory()?)?.ready()?) } else { None };
    let url = plan.server.clone().or_else(|| started.as_ref().map(super::Server::url)).ok_or(USAGE)?;
    let trial = Trial { url, directory: tempfile::tempdir()?, plan };
    trial.run()
}

/// How large, and by what.
struct Plan {
    binary: PathBuf,
    tenants: usize,
    passages: usize,
    processes: usize,
    /// Recalls and writes per tenant and phase.
    recalls: usize,
    writes: usize,
    server: Option<String>,
}

impl Plan {
    fn read(arguments: &[String]) -> Fallible<Self> {
        let mut plan = Self {
            binary: PathBuf::new(),
            tenants: 10,
            passages: 10_000,
            processes: 4,
            recalls: 60,
            writes: 20,
            server: None,
        };
        for pair in arguments.chunks(2) {
            let [name, value] = pair else { return Err(USAGE.into()) };
            match name.as_str() {
                "--binary" => plan.binary = std::path::absolute(value)?,
                "--tenants" => plan.tenants = value.parse()?,
                "--passages" => plan.passages = value.parse()?,
                "--processes" => plan.processes = value.parse()?,
                "--server" => plan.server = Some(value.clone()),
                _ => return Err(USAGE.into()),
            }
        }
        let whole = plan.binary.is_file() && plan.tenants > 0 && plan.passages > 0 && plan.processes > 0;
        if whole { Ok(plan) } else { Err(USAGE.into()) }
    }
}

struct Trial {
    url: String,
    directory: tempfile::TempDir,
    plan: Plan,
}

impl Trial {
    fn run(&self) -> Outcome {
        let Plan { tenants, passages, processes, .. } = self.plan;
        say(&format!("{tenants} tenants, {passages} passages each, {processes} processes at once"));
        let empty = self.size()?;
        let started = Instant::now();
        for tenant in 0..tenants {
            self.fill(tenant)?;
        }
        let rate = (tenants * passages) as f64 / started.elapsed().as_secs_f64();
        say(&format!("imported {rate:.0} passages a second, one process after the other"));
        let alone = (0..tenants).map(|tenant| self.visit(tenant, 0)).collect::<Result<Vec<_>, _>>()?;
        let together = self.together()?;
        say("| tenant | recall alone, median / 95 % | together | remember alone | together |");
        say("| --- | --- | --- | --- | --- |");
        for (tenant, (one, all)) in alone.iter().zip(&together).enumerate() {
            let figures = [&one.recall, &all.recall, &one.remember, &all.remember].map(|times| pair(times));
            say(&format!("| {tenant} | {} |", figures.join(" | ")));
        }
        let joined = |visits: &[Visit], of: Times| {
            pair(&visits.iter().flat_map(|visit| of(visit).iter().copied()).collect::<Vec<_>>())
        };
        let recall: Times = |visit| &visit.recall;
        let remember: Times = |visit| &visit.remember;
        let sums = [(&alone, recall), (&together, recall), (&alone, remember), (&together, remember)];
        say(&format!("| all | {} |", sums.map(|(visits, of)| joined(visits, of)).join(" | ")));
        self.tables(empty)
    }

    /// Every process takes the next tenant when it is done with one.
    fn together(&self) -> Fallible<Vec<Visit>> {
        let Plan { tenants, processes, .. } = self.plan;
        let mut visits = thread::scope(|scope| {
            let workers: Vec<_> =
                (0..processes)
                    .map(|worker| {
                        scope.spawn(move || {
                            let own = (worker..tenants).step_by(processes);
                            own.map(|t| Ok((t, self.visit(t, 1).map_err(|e| e.to_string())?)))
                                .collect::<Result<Vec<_>, String>>()
                        })
                    })
                    .collect();
            workers
                .into_iter()
                .map(|w| w.join().map_err(|_| "a process's driver panicked".to_owned())?)
                .collect::<Result<Vec<_>, _>>()
        })?
        .concat();
        visits.sort_by_key(|(tenant, _)| *tenant);
        Ok(visits.into_iter().map(|(_, visit)| visit).collect())
    }

    fn command(&self, tenant: usize) -> Command {
        let mut command = Command::new(&self.plan.binary);
        command
            .env("STRATA_HOME", self.directory.path().join(format!("home-{tenant}")))
            .env("STRATA_STORE", &self.url)
            .env("STRATA_TENANT", format!("scale-{tenant}"))
            .current_dir(self.directory.path());
        command
    }

    /// Brings a tenant's passages in.
    fn fill(&self, tenant: usize) -> Outcome {
        let file = self.directory.path().join("events.jsonl");
        fs::File::create(&file)?
            .write_all(corpus::events_from(tenant * self.plan.passages, self.plan.passages).as_bytes())?;
        for arguments in [&[Path::new("import"), &file][..], &[Path::new("reindex")]] {
            output(self.command(tenant).args(arguments).stdin(Stdio::null()))?;
        }
        Ok(())
    }

    /// One process with one tenant: recalls with a write now and then.
    fn visit(&self, tenant: usize, phase: usize) -> Fallible<Visit> {
        let mut served = Served::start(&mut self.command(tenant))?;
        let mut visit = Visit::default();
        let first = tenant * self.plan.passages;
        served.call("recall", &json!({ "query": corpus::sentence(first) }))?;
        let own = format!("note of tenant {tenant}");
        for n in 0..self.plan.recalls {
            let words: Vec<String> = corpus::sentence(first + n * 7 % self.plan.passages)
                .split(' ')
                .step_by(3)
                .map(str::to_owned)
                .collect();
            let (took, found) = served.call("recall", &json!({ "query": words.join(" ") }))?;
            visit.recall.push(took);
            if found.contains("note of tenant") && !found.contains(&own) {
                return Err(format!("tenant {tenant} was shown another's: {found}").into());
            }
            if n * self.plan.writes / self.plan.recalls != (n + 1) * self.plan.writes / self.plan.recalls {
                let text = format!("{own}, {phase}.{n}: {}", corpus::sentence(first + n));
                visit.remember.push(served.call("remember", &json!({ "text": text }))?.0);
            }
        }
        Ok(visit)
    }

    fn size(&self) -> Fallible<u64> {
        Ok(self.ask("SELECT pg_database_size(current_database())")?.trim().parse()?)
    }

    /// What lies where, the largest first.
    fn tables(&self, empty: u64) -> Outcome {
        let passages = self.plan.tenants * self.plan.passages;
        let grown = self.size()? - empty;
        say(&format!(
            "{:.0} MB in all, {:.0} bytes a passage",
            grown as f64 / 1e6,
            grown as f64 / passages as f64
        ));
        say("| table | MB | bytes a passage |");
        say("| --- | --- | --- |");
        let sizes = self.ask(
            "SELECT n.nspname || '.' || c.relname, pg_total_relation_size(c.oid) FROM pg_class c
             JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname LIKE 'strata%' AND c.relkind = 'r' ORDER BY 2 DESC LIMIT 14",
        )?;
        for line in sizes.lines() {
            let (table, bytes) = line.split_once('|').ok_or("a name and a size")?;
            let bytes: f64 = bytes.parse()?;
            say(&format!("| {table} | {:.1} | {:.0} |", bytes / 1e6, bytes / passages as f64));
        }
        Ok(())
    }

    fn ask(&self, query: &str) -> Fallible<String> {
        let mut psql = Programs::plain()?.command("psql");
        output(psql.args([
            "--no-psqlrc",
            "--tuples-only",
            "--no-align",
            "--dbname",
            &self.url,
            "--command",
            query,
        ]))
    }
}

/// Milliseconds of the calls of one process with one tenant.
#[derive(Clone, Default)]
struct Visit {
    recall: Vec<f64>,
    remember: Vec<f64>,
}

/// Which calls of a visit.
type Times = fn(&Visit) -> &Vec<f64>;

/// Median and 95th percentile.
fn pair(times: &[f64]) -> String {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    format!("{:.1} / {:.1} ms", at(50), at(95))
}

/// A serving process.
struct Served {
    child: Child,
    input: ChildStdin,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    next: u64,
}

impl Served {
    fn start(command: &mut Command) -> Fallible<Self> {
        let mut child = command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().ok_or("no pipe to the process")?;
        let lines = BufReader::new(child.stdout.take().ok_or("no pipe from the process")?).lines();
        Ok(Self { child, input, lines, next: 1 })
    }

    /// Calls a tool; gives milliseconds and the answer's text.
    fn call(&mut self, tool: &str, arguments: &Value) -> Fallible<(f64, String)> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "scale", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {}
        });
        let message = json!({ "jsonrpc": "2.0", "id": self.next, "method": "tools/call",
            "params": { "name": tool, "arguments": arguments, "_meta": meta } });
        self.next += 1;
        let started = Instant::now();
        writeln!(self.input, "{message}")?;
        let answer = self.lines.next().ok_or("the process ended")??;
        let took = started.elapsed().as_secs_f64() * 1e3;
        let answer: Value = serde_json::from_str(&answer)?;
        if answer["result"]["isError"] == true || answer["result"]["content"].is_null() {
            return Err(format!("{tool}: {answer}").into());
        }
        Ok((took, answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_says_what_it_does_not_understand() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let program = std::env::current_exe().expect("this one").display().to_string();
        let plan = Plan::read(&words(&format!("--binary {program} --tenants 3 --passages 7"))).expect("read");
        assert_eq!((plan.tenants, plan.passages, plan.processes), (3, 7, 4));
        for wrong in ["--tenants 3", "--binary /absent", &format!("--binary {program} --tenants"), "--what 1"]
        {
            assert!(Plan::read(&words(wrong)).is_err(), "{wrong}");
        }
        assert_eq!(pair(&[3.0, 1.0, 2.0]), "2.0 / 3.0 ms");
    }
}
