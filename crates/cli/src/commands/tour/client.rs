//! The smallest MCP client that can drive our own server: one request, one answer, over its pipes.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

use crate::environment::{P_LAYER_PG_DSN, STRATA_NAMESPACE, STRATA_PROJECT, STRATA_STORE, STRATA_TENANT};

/// What would lead the server to the user's own memory. The home is given, and it has no configuration.
const ELSEWHERE: [&str; 5] = [STRATA_STORE, P_LAYER_PG_DSN, STRATA_TENANT, STRATA_NAMESPACE, STRATA_PROJECT];

/// A running server and the pipes to it. Dropping it closes its input, which ends it.
pub(super) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

/// What a tool said.
pub(super) struct Answer {
    /// The text of the first block.
    pub(super) text: String,
    /// Whether the tool failed.
    pub(super) failed: bool,
}

impl Client {
    /// Starts this very program as a server on `home` and shakes hands.
    pub(super) fn start(home: &Path, project: &Path) -> std::io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        for variable in ELSEWHERE {
            command.env_remove(variable);
        }
        let mut child = command
            .args(["serve", "--toolsets", "core,admin,governance", "--home"])
            .arg(home)
            .arg("--project")
            .arg(project)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()?;
        let lost = || std::io::Error::other("the server has no pipes");
        let input = child.stdin.take().ok_or_else(lost)?;
        let output = BufReader::new(child.stdout.take().ok_or_else(lost)?);
        let mut client = Self { child, input: Some(input), output, next: 1 };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "tour", "version": env!("CARGO_PKG_VERSION") },
        });
        client.request("initialize", &hello)?;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(client)
    }

    /// Calls a tool.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> std::io::Result<Answer> {
        let result = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        Ok(Answer {
            text: result["content"][0]["text"].as_str().unwrap_or_default().to_owned(),
            failed: result["isError"] == true,
        })
    }

    /// Sends a request and waits for its result.
    pub(super) fn request(&mut self, method: &str, params: &Value) -> std::io::Result<Value> {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                return Err(std::io::Error::other(format!("the server ended during `{method}`")));
            }
            let mut message: Value = serde_json::from_str(&line)?;
            if message["id"] == id {
                if let Some(error) = message.get("error") {
                    return Err(std::io::Error::other(format!("{method}: {}", error["message"])));
                }
                return Ok(message["result"].take());
            }
        }
    }

    fn send(&mut self, message: &Value) -> std::io::Result<()> {
        let input =
            self.input.as_mut().ok_or_else(|| std::io::Error::other("the server's input is closed"))?;
        writeln!(input, "{message}")?;
        input.flush()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        if self.child.wait().is_err() {
            // Already gone: nothing is left to wait for.
        }
    }
}
