//! Scripts that speak MCP to the real server over its pipes, in either era of the protocol.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use serde_json::{Map, Value, json};

use crate::binary::Binary;

/// How long a script waits for an answer before the test fails. Only a hang is this slow.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// An era of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// A handshake with `initialize`, then plain requests.
    Handshake,
    /// No handshake: every request carries version, client and capabilities.
    Stateless,
}

impl Era {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Handshake, Self::Stateless];

    /// The protocol version that scripts of this era speak.
    pub const fn version(self) -> &'static str {
        match self {
            Self::Handshake => "2025-11-25",
            Self::Stateless => "2026-07-28",
        }
    }
}

/// The name by which scripts introduce themselves.
pub const CLIENT: &str = "script";

/// A running server and the script that drives it.
#[derive(Debug)]
pub struct McpScript {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Option<JoinHandle<String>>,
    era: Era,
    next_id: i64,
    transcript: Vec<String>,
}

/// What a tool answered.
#[derive(Debug)]
pub struct ToolAnswer {
    /// The text of the first block.
    pub text: String,
    /// Whether the tool failed.
    pub is_error: bool,
}

/// How a server ended.
#[derive(Debug)]
pub struct Ending {
    /// Its exit status.
    pub status: ExitStatus,
    /// Everything it wrote to standard error.
    pub stderr: String,
    /// Every line it wrote to standard output.
    pub lines: Vec<String>,
    /// From the end of its input to its own end.
    pub took: Duration,
}

impl McpScript {
    /// Starts `strata serve` with further arguments and, in the era of handshakes, shakes hands.
    ///
    /// # Panics
    /// The server does not start or does not answer.
    pub fn start(binary: &Binary<'_>, era: Era, arguments: &[&str]) -> Self {
        let mut script = Self::silent(binary, era, arguments);
        if era == Era::Handshake {
            script.request(
                "initialize",
                json!({ "protocolVersion": era.version(), "capabilities": {}, "clientInfo": client_info() }),
            );
            script.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        }
        script
    }

    /// Starts `strata serve` and says nothing yet.
    ///
    /// # Panics
    /// The server does not start.
    pub fn silent(binary: &Binary<'_>, era: Era, arguments: &[&str]) -> Self {
        let mut child = binary
            .command()
            .arg("serve")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a piped output"));
        let mut stderr = child.stderr.take().expect("a piped error stream");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            // Ends with the server's output, or with the script that listened.
            output
                .split(b'\n')
                .map_while(Result::ok)
                .try_for_each(|line| sender.send(String::from_utf8_lossy(&line).into_owned()))
        });
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            stderr.read_to_end(&mut text).ok();
            String::from_utf8_lossy(&text).into_owned()
        });
        Self { child, input, lines, errors: Some(errors), era, next_id: 1, transcript: Vec::new() }
    }

    /// The server's process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends bytes and a line break, whatever they are.
    ///
    /// # Panics
    /// The server does not read any more.
    pub fn send_line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        input
            .write_all(line)
            .and_then(|()| input.write_all(b"\n"))
            .and_then(|()| input.flush())
            .expect("the server reads");
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes());
    }

    /// Sends a request and gives its id.
    pub fn begin(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        let params = self.params(params);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a request and gives the whole answer to it. Other messages before it are skipped.
    pub fn exchange(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        loop {
            let message = self.read();
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Sends a request and gives its result.
    ///
    /// # Panics
    /// The answer is an error.
    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.exchange(method, params);
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Calls a tool.
    ///
    /// # Panics
    /// The answer is a protocol error, or has no text.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: &Value) -> ToolAnswer {
        let result = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        let text = result["content"][0]["text"].as_str();
        ToolAnswer {
            text: text.unwrap_or_else(|| panic!("a text block in {result}")).to_owned(),
            is_error: result["isError"] == true,
        }
    }

    /// The next message.
    ///
    /// # Panics
    /// None arrives in time, or a line is no JSON-RPC message.
    #[track_caller]
    pub fn read(&mut self) -> Value {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                let message = message_of(&line);
                self.transcript.push(line);
                message
            }
            Err(RecvTimeoutError::Timeout) => panic!("the server is silent"),
            Err(RecvTimeoutError::Disconnected) => panic!("the server closed its output"),
        }
    }

    /// Closes the server's input and waits for its end.
    ///
    /// # Panics
    /// It does not end in time.
    pub fn finish(mut self) -> Ending {
        drop(self.input.take());
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the server can be waited for") {
                break status;
            }
            assert!(started.elapsed() < PATIENCE, "the server outlives its input");
            std::thread::sleep(Duration::from_millis(2));
        };
        let took = started.elapsed();
        let stderr =
            self.errors.take().map(|e| e.join().expect("the error stream is read")).unwrap_or_default();
        let mut lines = std::mem::take(&mut self.transcript);
        // What it wrote last may still be on its way here; the reader ends where its output does.
        lines.extend(std::iter::from_fn(|| self.lines.recv_timeout(PATIENCE).ok()));
        Ending { status, stderr, lines, took }
    }

    fn params(&self, params: Value) -> Value {
        let Value::Object(mut params) = params else { return params };
        if self.era == Era::Stateless {
            let meta = params.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
            meta["io.modelcontextprotocol/protocolVersion"] = self.era.version().into();
            meta["io.modelcontextprotocol/clientInfo"] = client_info();
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        Value::Object(params)
    }
}

impl Drop for McpScript {
    /// Leaves no server behind when a test fails half-way.
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn client_info() -> Value {
    json!({ "name": CLIENT, "version": "1.0.0" })
}

/// A line as the JSON-RPC message that it must be.
///
/// # Panics
/// It is not one.
#[track_caller]
pub fn message_of(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("JSON ({e}): {line}"));
    assert_eq!(message["jsonrpc"], "2.0", "{line}");
    let speaks = ["method", "result", "error"].iter().filter(|k| message.get(**k).is_some()).count();
    assert_eq!(speaks, 1, "a request, a result or an error: {line}");
    message
}
