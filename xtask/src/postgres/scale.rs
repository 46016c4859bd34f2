//! `scale`: many tenants on one server, written and read by several processes at once, how that differs from each
//! of them alone, and what grows how. Figures for docs/scale.md, not tests: machines differ.

mod observed;
mod report;
mod served;

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use super::{Kind, server::Purpose};
use crate::{
    Outcome, foreign,
    quality::corpus,
    shell::{output, say},
};
use observed::Observed;
use served::{Served, finish};

const USAGE: &str = "usage: cargo xtask scale --binary PATH [--tenants N] [--passages N] [--processes N] \
                     [--minutes N] [--gigabytes N] [--server URL]";

/// Recalls that are timed for a tenant, alone and again while others write.
const RECALLS: usize = 60;
/// Writes that are timed for a tenant alone.
const WRITES: usize = 20;
/// Every so many words of a sentence make a question of 8.
const EVERY: usize = 3;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// `scale`: see the module.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let plan = Plan::read(arguments)?;
    let started = match plan.server {
        None => Some(Kind::Plain.begin_for(&foreign::directory()?, Purpose::Figures)?.ready()?),
        Some(_) => None,
    };
    let administrator =
        plan.server.clone().or_else(|| started.as_ref().map(super::Server::url)).ok_or(USAGE)?;
    let place = Place::make(&administrator)?;
    let directory = tempfile::tempdir()?;
    let server = Observed::new(&place.administrator)?;
    let trial =
        Trial { begun: Instant::now(), filled: vec![0; plan.tenants], directory, place, server, plan };
    trial.run()
}

/// How large, and by what.
struct Plan {
    binary: PathBuf,
    tenants: usize,
    passages: usize,
    processes: usize,
    /// Nothing more is brought in after so many minutes.
    minutes: u64,
    /// Nor once the database is so large.
    gigabytes: f64,
    server: Option<String>,
}

impl Plan {
    fn read(arguments: &[String]) -> Fallible<Self> {
        let mut plan = Self {
            binary: PathBuf::new(),
            tenants: 10,
            passages: 10_000,
            processes: 4,
            minutes: 45,
            gigabytes: 15.0,
            server: None,
        };
        for pair in arguments.chunks(2) {
            let [name, value] = pair else { return Err(USAGE.into()) };
            match name.as_str() {
                "--binary" => plan.binary = std::path::absolute(value)?,
                "--tenants" => plan.tenants = value.parse()?,
                "--passages" => plan.passages = value.parse()?,
                "--processes" => plan.processes = value.parse()?,
                "--minutes" => plan.minutes = value.parse()?,
                "--gigabytes" => plan.gigabytes = value.parse()?,
                "--server" => plan.server = Some(value.clone()),
                _ => return Err(USAGE.into()),
            }
        }
        let whole = plan.binary.is_file() && plan.tenants > 1 && plan.passages >= 10 && plan.processes > 1;
        if whole { Ok(plan) } else { Err(USAGE.into()) }
    }
}

/// A database of the trial's own, with an owner and a role for the application, as docs/postgres.md has it.
struct Place {
    outside: String,
    administrator: String,
    owner: String,
    application: String,
}

const DATABASE: &str = "strata_scale";
const OWNER: &str = "strata_scale_owner";
const APPLICATION: &str = "strata_scale_app";

impl Place {
    fn make(administrator: &str) -> Fallible<Self> {
        let outside = Observed::new(administrator)?;
        for statement in [
            format!("DROP DATABASE IF EXISTS {DATABASE}"),
            format!("DROP ROLE IF EXISTS {OWNER}, {APPLICATION}"),
            format!("CREATE ROLE {OWNER} LOGIN PASSWORD '{OWNER}' NOSUPERUSER NOBYPASSRLS"),
            format!("CREATE ROLE {APPLICATION} LOGIN PASSWORD '{APPLICATION}' NOSUPERUSER NOBYPASSRLS"),
            format!("CREATE DATABASE {DATABASE} OWNER {OWNER} TEMPLATE template0 ENCODING 'UTF8'"),
        ] {
            outside.ask(&statement)?;
        }
        let (scheme, rest) = administrator.split_once("://").ok_or("a server's address")?;
        let (user, host) = rest.split_once('@').ok_or("an address with a user")?;
        let host = host.split(['/', '?']).next().unwrap_or(host);
        let of = |who: &str| format!("{scheme}://{who}@{host}/{DATABASE}");
        Ok(Self {
            outside: administrator.to_owned(),
            administrator: of(user),
            owner: of(&format!("{OWNER}:{OWNER}")),
            application: of(&format!("{APPLICATION}:{APPLICATION}")),
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Ok(outside) = Observed::new(&self.outside) else { return };
        // What cannot be dropped is dropped before the next trial.
        outside.ask(&format!("DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")).ok();
        outside.ask(&format!("DROP ROLE IF EXISTS {OWNER}, {APPLICATION}")).ok();
    }
}

struct Trial {
    begun: Instant,
    /// Passages of each tenant so far.
    filled: Vec<usize>,
    directory: tempfile::TempDir,
    server: Observed,
    place: Place,
    plan: Plan,
}

/// Milliseconds of the calls for one tenant, and what its process took.
#[derive(Clone, Default)]
struct Visit {
    tenant: usize,
    /// Opening and first recall.
    first: f64,
    recall: Vec<f64>,
    remember: Vec<f64>,
    /// Processor time of a recall: of the process and of the server.
    cpu: (f64, f64),
    resident: f64,
    /// MiB and processes of the server, with everybody still connected.
    server: (f64, usize),
}

impl Trial {
    fn run(mut self) -> Outcome {
        let Plan { tenants, passages, processes, .. } = self.plan;
        say(&format!("{tenants} tenants, up to {passages} passages each, {processes} processes"));
        say(&self.server.ask("SELECT version()")?);
        let init = ["init", "--app-role", APPLICATION];
        output(self.command(0).env("STRATA_STORE", &self.place.owner).args(init))?;
        for passages in [passages / 10, passages] {
            say(&format!("\n## {passages} passages each\n"));
            let complete = self.fill(passages)?;
            self.server.ask("CHECKPOINT")?;
            self.measure()?;
            if !complete {
                say("A limit was reached: not every tenant has all of its passages.");
                break;
            }
        }
        Ok(())
    }

    /// Times each tenant alone, then each while others write, and looks at what is there.
    fn measure(&self) -> Outcome {
        let tenants = || (0..self.plan.tenants).filter(|t| self.filled.get(*t).is_some_and(|n| *n > 0));
        let alone = tenants().map(|tenant| self.alone(tenant)).collect::<Fallible<Vec<_>>>()?;
        let mut writes = Vec::new();
        let mut together = Vec::new();
        for tenant in tenants() {
            let (visit, of_others) = self.while_others_write(tenant)?;
            together.push(visit);
            writes.extend(of_others);
        }
        report::latencies(&self.filled, &alone, &together, &writes);
        self.look_for_strangers()?;
        report::sizes(&self.server, &self.filled)
    }

    fn command(&self, tenant: usize) -> Command {
        let mut command = Command::new(&self.plan.binary);
        command
            .env("STRATA_HOME", self.directory.path().join(format!("home-{tenant}")))
            .env("STRATA_STORE", &self.place.application)
            .env("STRATA_TENANT", name(tenant))
            .current_dir(self.directory.path());
        command
    }

    /// The number of a tenant's `n`-th sentence: no two tenants have one in common.
    const fn sentence(&self, tenant: usize, n: usize) -> usize {
        tenant * self.plan.passages + n
    }

    /// Brings every tenant to so many passages, several at once. False when a limit ended it early.
    fn fill(&mut self, passages: usize) -> Fallible<bool> {
        let before = (self.server.cpu(), self.server.log_written()?);
        let started = Instant::now();
        let had: usize = self.filled.iter().sum();
        let imports = self.imports(passages)?;
        for import in &imports {
            if let Some(filled) = self.filled.get_mut(import.tenant) {
                *filled = passages;
            }
        }
        let added = self.filled.iter().sum::<usize>() - had;
        let server = (self.server.cpu() - before.0, self.server.log_written()? - before.1);
        report::imports(&imports, added, started.elapsed().as_secs_f64(), server);
        Ok(self.filled.iter().all(|filled| *filled == passages))
    }

    fn imports(&self, passages: usize) -> Fallible<Vec<Import>> {
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || -> Result<(), String> {
            loop {
                let tenant = next.fetch_add(1, Ordering::Relaxed);
                if tenant >= self.plan.tenants || self.is_enough().map_err(|e| e.to_string())? {
                    return Ok(());
                }
                let import = self.import(tenant, passages).map_err(|e| e.to_string())?;
                done.lock().unwrap_or_else(PoisonError::into_inner).push(import);
            }
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..self.plan.processes).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(join)
        })?;
        let mut imports = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        imports.sort_by_key(|import| import.tenant);
        Ok(imports)
    }

    /// Whether time or room is used up.
    fn is_enough(&self) -> Fallible<bool> {
        let late = self.begun.elapsed() > Duration::from_secs(self.plan.minutes * 60);
        Ok(late || self.server.size()? > self.plan.gigabytes * 1e9)
    }

    /// Brings a tenant from what it has to so many passages, by one process.
    fn import(&self, tenant: usize, passages: usize) -> Fallible<Import> {
        let had = self.filled.get(tenant).copied().unwrap_or_default();
        let file = self.directory.path().join(format!("events-{tenant}.jsonl"));
        let events = corpus::events_from(self.sentence(tenant, had), passages - had);
        #[expect(clippy::disallowed_methods, reason = "half a file only fails this trial")]
        fs::write(&file, events)?;
        let arguments = [Path::new("import"), &file, Path::new("--source"), Path::new("scale")];
        let finished = finish(self.command(tenant).args(arguments))?;
        fs::remove_file(&file)?;
        Ok(Import { tenant, added: passages - had, finished })
    }

    /// One process with one tenant and nobody else: recalls, then writes.
    fn alone(&self, tenant: usize) -> Fallible<Visit> {
        let mut served = Served::start(&mut self.command(tenant))?;
        let mut visit = self.recalls(tenant, &mut served)?;
        for n in 0..WRITES {
            visit.remember.push(self.remember(tenant, &mut served, "alone", n)?);
        }
        visit.resident = served.process().resident_mib().unwrap_or_default();
        Ok(visit)
    }

    /// Recalls of one tenant while the other processes write for others without a pause; and the times of their writes.
    fn while_others_write(&self, tenant: usize) -> Fallible<(Visit, Vec<f64>)> {
        let over = AtomicBool::new(false);
        let others = (1..self.plan.processes).map(|n| (tenant + n) % self.plan.tenants);
        let others: Vec<usize> =
            others.filter(|t| *t != tenant && self.filled.get(*t).is_some_and(|n| *n > 0)).collect();
        thread::scope(|scope| {
            let write = |other: usize| self.writes_until(other, tenant, &over).map_err(|e| e.to_string());
            let writers: Vec<_> = others.iter().map(|other| scope.spawn(move || write(*other))).collect();
            let visit = Served::start(&mut self.command(tenant)).and_then(|mut served| {
                let visit = self.recalls(tenant, &mut served)?;
                Ok(Visit { server: self.server.memory(), ..visit })
            });
            over.store(true, Ordering::Relaxed);
            let mut times = Vec::new();
            for writer in writers {
                times.extend(join(writer)?);
            }
            Ok((visit?, times))
        })
    }

    fn writes_until(&self, tenant: usize, round: usize, over: &AtomicBool) -> Fallible<Vec<f64>> {
        let mut served = Served::start(&mut self.command(tenant))?;
        let mut times = Vec::new();
        while !over.load(Ordering::Relaxed) {
            times.push(self.remember(tenant, &mut served, &format!("beside {round}"), times.len())?);
        }
        Ok(times)
    }

    fn recalls(&self, tenant: usize, served: &mut Served) -> Fallible<Visit> {
        let mut visit = Visit { tenant, ..Visit::default() };
        let filled = self.filled.get(tenant).copied().unwrap_or_default().max(1);
        let question = |n: usize| {
            let sentence = corpus::sentence(self.sentence(tenant, n * 7_919 % filled));
            json!({ "query": sentence.split(' ').step_by(EVERY).collect::<Vec<_>>().join(" ") })
        };
        visit.first = served.call("recall", &question(0))?.0;
        let cpu = |served: &Served| (served.process().cpu().unwrap_or_default(), self.server.cpu());
        let before = cpu(served);
        for n in 1..=RECALLS {
            let (took, found) = served.call("recall", &question(n))?;
            self.is_own(tenant, &found)?;
            visit.recall.push(took);
        }
        let after = cpu(served);
        let each = |seconds: f64| seconds * 1e3 / RECALLS as f64;
        visit.cpu = (each(after.0 - before.0), each(after.1 - before.1));
        Ok(visit)
    }

    fn remember(&self, tenant: usize, served: &mut Served, when: &str, n: usize) -> Fallible<f64> {
        let filled = self.filled.get(tenant).copied().unwrap_or_default();
        let words = corpus::sentence(self.sentence(tenant, n * 31 % filled.max(1)));
        let text = format!("{}, {when}, {filled}, {n}: {words}", note_of(tenant));
        Ok(served.call("remember", &json!({ "text": text }))?.0)
    }

    /// Asks each tenant for every other's notes.
    fn look_for_strangers(&self) -> Outcome {
        for tenant in (0..self.plan.tenants).filter(|t| self.filled.get(*t).is_some_and(|n| *n > 0)) {
            let mut served = Served::start(&mut self.command(tenant))?;
            for other in 0..self.plan.tenants {
                let (_, found) = served.call("recall", &json!({ "query": note_of(other) }))?;
                self.is_own(tenant, &found)?;
            }
        }
        say("no tenant was shown another's note");
        Ok(())
    }

    fn is_own(&self, tenant: usize, found: &str) -> Outcome {
        let strange = (0..self.plan.tenants).filter(|other| *other != tenant).map(note_of);
        match strange.into_iter().find(|note| found.contains(note.as_str())) {
            Some(note) => Err(format!("tenant {tenant} was shown `{note}`: {found}").into()),
            None => Ok(()),
        }
    }
}

/// What one process brought in for one tenant.
struct Import {
    tenant: usize,
    added: usize,
    finished: served::Finished,
}

fn name(tenant: usize) -> String {
    format!("scale-{tenant}")
}

/// What a tenant's notes begin with: a word of its own, that is not the beginning of another's.
fn note_of(tenant: usize) -> String {
    format!("note of tenant number{tenant:04}")
}

fn join<T>(worker: thread::ScopedJoinHandle<'_, Result<T, String>>) -> Fallible<T> {
    Ok(worker.join().map_err(|_| "a process's driver panicked".to_owned())??)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_says_what_it_does_not_understand() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let program = std::env::current_exe().expect("this one").display().to_string();
        let plan =
            Plan::read(&words(&format!("--binary {program} --tenants 3 --passages 70"))).expect("read");
        assert_eq!((plan.tenants, plan.passages, plan.processes), (3, 70, 4));
        for wrong in [
            "--tenants 3",
            "--binary /absent",
            &format!("--binary {program} --tenants"),
            &format!("--binary {program} --tenants 1"),
            "--what 1",
        ] {
            assert!(Plan::read(&words(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn no_tenants_note_begins_as_anothers() {
        for (one, other) in [(1, 10), (0, 1), (12, 1)] {
            assert!(!note_of(one).contains(&note_of(other)), "{one} {other}");
        }
    }
}
