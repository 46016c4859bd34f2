//! `quality`: figures of the release binary as a user's processes feel it, and of redaction and routing on
//! their corpora. Figures, not tests: machines differ. What happens inside one process is measured by
//! `strata bench`.

pub(crate) mod corpus;

use std::{
    error::Error,
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{
    Outcome,
    shell::{cargo, run as run_command, say, target},
};

/// Starts that are measured.
const RUNS: usize = 30;
/// Passages of the larger home.
const PASSAGES: usize = 10_000;
/// Processes that write at once, and what each writes.
const WRITERS: usize = 8;
const WRITES: usize = 100;

/// What a client sends first, in the newest era: no handshake, straight to the list.
const LIST: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"quality","version":"1"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    "\n"
);

type Fallible<T> = Result<T, Box<dyn Error>>;

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let trial = Trial { binary: binary(arguments)?, directory: tempfile::tempdir()? };
    say("| measure | target | median | slowest | processor time |");
    say("| --- | --- | --- | --- | --- |");
    let resident = trial.starts()?;
    trial.recalls()?;
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    if let Some(kib) = resident {
        row("resident after tools/list", "20 MB", &megabytes(kib * 1024));
    }
    row("binary", "40 MB", &megabytes(fs::metadata(&trial.binary)?.len()));
    row(&format!("{WRITERS} processes at once, {WRITES} memories each"), "no error", &trial.writers()?);
    corpora()
}

/// Redaction and routing on their corpora, which the core crate holds.
fn corpora() -> Outcome {
    let example = ["run", "--release", "--quiet", "--package", "strata-core", "--example", "corpus_figures"];
    run_command(&mut cargo(example))
}

/// The binary to measure: the one named, or the release build, made now.
fn binary(arguments: &[String]) -> Fallible<PathBuf> {
    match arguments {
        [] => {
            run_command(&mut cargo(["build", "--release", "--quiet", "--package", "strata"]))?;
            Ok(target().join("release/strata"))
        }
        [flag, path] if flag == "--binary" => Ok(std::path::absolute(path)?),
        _ => Err("quality takes nothing, or `--binary PATH`".into()),
    }
}

fn row(measure: &str, wanted: &str, figure: &str) {
    say(&format!("| {measure} | {wanted} | {figure} | | |"));
}

/// A binary and a place to try it in.
struct Trial {
    binary: PathBuf,
    directory: tempfile::TempDir,
}

impl Trial {
    fn command(&self, home: &str) -> Command {
        let mut command = Command::new(&self.binary);
        command.env("STRATA_HOME", self.directory.path().join(home)).current_dir(self.directory.path());
        command
    }

    /// From starting the server to its list of tools. Returns resident memory in KiB where the system tells.
    fn starts(&self) -> Fallible<Option<u64>> {
        let mut memory = None;
        let times = Times::of(RUNS, || {
            let (took, resident) = start(&mut self.command("untouched"))?;
            memory = memory.max(resident);
            Ok(took)
        })?;
        if self.directory.path().join("untouched").exists() {
            return Err("listing tools created the home".into());
        }
        times.say("spawn to tools/list", "100 ms");
        Ok(memory)
    }

    /// One recall per process, in a home of one memory and in a larger one.
    fn recalls(&self) -> Outcome {
        self.finish(self.command("small").args(["remember", "The build cache lives on the second disk"]))?;
        let events = self.directory.path().join("events.jsonl");
        fs::File::create(&events)?.write_all(corpus::events(PASSAGES).as_bytes())?;
        self.finish(self.command("large").arg("import").arg(&events))?;
        for (home, what) in [("small", "one memory".to_owned()), ("large", format!("{PASSAGES} passages"))] {
            let times = Times::of(RUNS, || {
                let started = Instant::now();
                self.finish(self.command(home).args(["recall", "build cache of the second disk"]))?;
                Ok(started.elapsed())
            })?;
            times.say(&format!("recall as a process, {what}"), "150 ms");
        }
        Ok(())
    }

    /// Several processes write to a fresh home at once; every memory must be there.
    fn writers(&self) -> Fallible<String> {
        let started = Instant::now();
        let write = |writer: usize| -> Result<(), String> {
            (0..WRITES).try_for_each(|n| {
                let text = format!(
                    "writer {writer} noted measurement {n}: {}",
                    corpus::sentence(writer * WRITES + n)
                );
                self.finish(self.command("shared").args(["remember", &text])).map_err(|e| e.to_string())
            })
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || write(writer))).collect();
            workers.into_iter().try_for_each(|w| w.join().map_err(|_| "a writer panicked".to_owned())?)
        })?;
        let took = started.elapsed().as_secs_f64();
        let status = self.command("shared").args(["status", "--json"]).output()?;
        let status: serde_json::Value = serde_json::from_slice(&status.stdout)?;
        let stored = &status["holds"]["memories"];
        if stored.as_u64() != Some((WRITERS * WRITES) as u64) {
            return Err(format!("{} memories were written and {stored} are there", WRITERS * WRITES).into());
        }
        Ok(format!("{stored} stored in {took:.1} s"))
    }

    fn finish(&self, command: &mut Command) -> Outcome {
        let output = command.stdin(Stdio::null()).output()?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("strata failed: {}", String::from_utf8_lossy(&output.stderr)).into())
    }
}

/// Times of several processes, sorted, and their processor time on the whole.
struct Times {
    sorted: Vec<Duration>,
    cpu: Option<f64>,
}

impl Times {
    fn of(runs: usize, mut once: impl FnMut() -> Fallible<Duration>) -> Fallible<Self> {
        let before = children_cpu();
        let mut sorted = (0..runs).map(|_| once()).collect::<Fallible<Vec<_>>>()?;
        let cpu = children_cpu().zip(before).map(|(after, before)| (after - before) * 1e3 / runs as f64);
        sorted.sort_unstable();
        Ok(Self { sorted, cpu })
    }

    fn say(&self, measure: &str, wanted: &str) {
        let ms = |d: Option<&Duration>| d.map_or(0.0, |d| d.as_secs_f64() * 1e3);
        let (median, slowest) = (ms(self.sorted.get(self.sorted.len() / 2)), ms(self.sorted.last()));
        let cpu = self.cpu.map_or_else(|| "-".to_owned(), |cpu| format!("{cpu:.1} ms"));
        say(&format!("| {measure} | {wanted} | {median:.1} ms | {slowest:.1} ms | {cpu} |"));
    }
}

/// Processor time of the children that have ended, in seconds; the system counts it in hundredths.
fn children_cpu() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // The name in parentheses may hold anything; the children's times are the 14th and 15th field behind it.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(13);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some((ticks()? + ticks()?) as f64 / 100.0)
}

/// One start: time until the list is there, and resident memory in KiB where the system tells.
fn start(command: &mut Command) -> Fallible<(Duration, Option<u64>)> {
    let started = Instant::now();
    let mut child = command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().ok_or("no pipe to the server")?;
    input.write_all(LIST.as_bytes())?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().ok_or("no pipe from the server")?).read_line(&mut line)?;
    let took = started.elapsed();
    if !line.contains("\"tools\"") {
        return Err(format!("the server answered: {line}").into());
    }
    let memory = resident(&child);
    drop(input);
    child.wait()?;
    Ok((took, memory))
}

fn resident(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(status_file(child)).ok()?;
    let line = status.lines().find(|l| l.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn status_file(child: &Child) -> impl AsRef<Path> {
    format!("/proc/{}/status", child.id())
}
