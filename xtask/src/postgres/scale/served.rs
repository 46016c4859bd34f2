//! The processes of the trial: those that bring passages in, and those that serve one tenant each.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{Fallible, observed::Process};

/// How often a working process's memory is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// What a finished process took.
pub(super) struct Finished {
    pub(super) seconds: f64,
    /// Processor time, as far as it was seen.
    pub(super) cpu: f64,
    /// The most memory it held, MiB.
    pub(super) peak: f64,
}

/// Runs a command to its end.
pub(super) fn finish(command: &mut Command) -> Fallible<Finished> {
    let started = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let process = Process(child.id());
    let (mut cpu, mut peak) = (0.0, 0.0);
    loop {
        cpu = process.cpu().unwrap_or(cpu);
        peak = process.peak_mib().unwrap_or(peak);
        match child.try_wait()? {
            Some(status) if status.success() => {
                return Ok(Finished { seconds: started.elapsed().as_secs_f64(), cpu, peak });
            }
            Some(status) => return Err(format!("{command:?} failed ({status})").into()),
            None => thread::sleep(LOOK),
        }
    }
}

/// A serving process.
pub(super) struct Served {
    child: Child,
    input: ChildStdin,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    next: u64,
}

impl Served {
    pub(super) fn start(command: &mut Command) -> Fallible<Self> {
        let mut child = command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().ok_or("no pipe to the process")?;
        let lines = BufReader::new(child.stdout.take().ok_or("no pipe from the process")?).lines();
        Ok(Self { child, input, lines, next: 1 })
    }

    /// What the system tells about it.
    pub(super) fn process(&self) -> Process {
        Process(self.child.id())
    }

    /// Calls a tool; gives milliseconds and the answer's text.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Fallible<(f64, String)> {
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
