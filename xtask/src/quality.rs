//! `quality`: figures of the release binary on this machine, and of redaction and routing on their corpora.
//! Figures, not tests: machines differ.

use std::{
    error::Error,
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use crate::{
    Outcome,
    shell::{cargo, run as run_command, say, target},
};

/// Starts that are measured.
const RUNS: usize = 30;

/// What a client sends first, in the newest era: no handshake, straight to the list.
const LIST: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"quality","version":"1"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    "\n"
);

pub(crate) fn run() -> Outcome {
    run_command(&mut cargo(["build", "--release", "--quiet", "--package", "strata"]))?;
    let binary = target().join("release/strata");
    let home = tempfile::tempdir()?;
    let mut times = Vec::with_capacity(RUNS);
    let mut memory = None;
    for _ in 0..RUNS {
        let (took, resident) = start(&binary, home.path())?;
        times.push(took);
        memory = memory.max(resident);
    }
    times.sort_unstable();
    let ms = |d: Duration| d.as_secs_f64() * 1000.0;
    say(&format!(
        "spawn to tools/list: median {:.1} ms, slowest {:.1} ms of {RUNS} starts",
        ms(times[RUNS / 2]),
        ms(times[RUNS - 1]),
    ));
    if let Some(kib) = memory {
        say(&format!("memory after tools/list: {:.1} MB resident", kib as f64 / 1024.0));
    }
    say(&format!("binary: {:.1} MB", fs::metadata(&binary)?.len() as f64 / 1e6));
    corpora()
}

/// Redaction and routing on their corpora, which the core crate holds.
fn corpora() -> Outcome {
    let example = ["run", "--release", "--quiet", "--package", "strata-core", "--example", "corpus_figures"];
    run_command(&mut cargo(example))
}

/// One start: time until the list is there, and resident memory in KiB where the system tells.
fn start(binary: &Path, home: &Path) -> Result<(Duration, Option<u64>), Box<dyn Error>> {
    let started = Instant::now();
    let mut child = Command::new(binary)
        .arg("serve")
        .env("STRATA_HOME", home.join("home"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
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
    if home.join("home").exists() {
        return Err("listing tools created the home".into());
    }
    Ok((took, memory))
}

fn resident(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find(|l| l.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
