//! `strata tour`: the main job in one command, on real input, in a home of its own that is thrown away.

mod client;

use std::{path::Path, time::Instant};

use clap::{Arg, ArgMatches, Command};
use client::Client;
use serde_json::{Value, json};
use strata_core::{
    cancel::Cancel,
    error::ErrorKind,
    principal::{Face, Principal, PrincipalKind},
    scope::Scope,
    time::Timestamp,
};
use strata_engine::{
    engine::Engine,
    operation::{Call, Toolset},
    registry,
    render::{Block, Document},
    settings::Settings,
};

use crate::{failure::Failure, out::Out};

const TRANSCRIPT: &str = include_str!("../../assets/tour/transcript.jsonl");

/// What can go wrong on the tour: always the tour's own fault, so the text is enough.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

pub(super) fn command() -> Command {
    Command::new("tour")
        .about("Show what Strata does, on real input, in a throwaway home")
        .long_about(
            "Start a server on a throwaway home and use it as a client would: import a sample of conversations and \
             the Markdown under PATH, remember, correct, recall, ask for a context pack, try to break a rule, propose it instead, find a cause. Nothing \
             of your own memory is touched.",
        )
        .arg(Arg::new("path").value_name("PATH").default_value(".").help("A folder with Markdown files"))
}

pub(super) fn run(matches: &ArgMatches, out: &Out) -> Result<(), Failure> {
    let path = matches.get_one::<String>("path").map_or(".", String::as_str);
    let folder = strata_store::files::canonical(Path::new(path)).map_err(|e| {
        let hint = "name a folder with Markdown files, or run it in one";
        Failure::new(ErrorKind::Unavailable, e.to_string(), hint)
    })?;
    tour(out, &folder).map_err(|e| {
        Failure::new(
            ErrorKind::Internal,
            format!("the tour ended early: {e}"),
            "run `strata doctor`, then try again",
        )
    })
}

/// Runs the tour over the Markdown under `path`.
fn tour(out: &Out, path: &Path) -> Outcome<()> {
    let home = tempfile::tempdir()?;
    out.line(&format!("A tour of Strata in a throwaway home, {}", home.path().display()))?;
    let rule = approved_rule(home.path())?;
    let started = Instant::now();
    let mut client = Client::start(home.path(), path)?;
    let tools = client.request("tools/list", &json!({}))?;
    let mut tour = Tour { out, client };
    tour.out.line(&format!(
        "The server answered `tools/list` {} ms after its start; it offers {} tools.",
        started.elapsed().as_millis(),
        tools["tools"].as_array().map_or(0, Vec::len),
    ))?;
    tour.import(home.path(), path)?;
    tour.remember_and_correct()?;
    tour.recall_and_context()?;
    tour.refusal(&rule)?;
    tour.proposal(&rule)?;
    tour.cause()?;
    drop(tour.client);
    configuration(tour.out)
}

struct Tour<'o> {
    out: &'o Out,
    client: Client,
}

impl Tour<'_> {
    fn import(&mut self, home: &Path, path: &Path) -> Outcome<()> {
        self.heading("1. Bring in what exists")?;
        let file = home.join("transcript.jsonl");
        strata_store::files::write_atomic(&file, TRANSCRIPT.as_bytes())?;
        self.show("import", &json!({ "path": file }))?;
        self.show("index", &json!({ "path": path }))?;
        Ok(())
    }

    fn remember_and_correct(&mut self) -> Outcome<()> {
        self.heading("2. Remember, and correct")?;
        self.show("remember", &json!({
            "text": "The staging database listens on port 5432.", "topic_key": "staging.db.port", "kind": "fact",
        }))?;
        self.show("remember", &json!({
            "text": "The staging database moved to port 5433, because 5432 clashed with the analytics replica.",
            "topic_key": "staging.db.port", "kind": "fact", "evidence": ["deploy log of the move"],
        }))?;
        self.show(
            "remember",
            &json!({
                "text": "部署前必须先跑数据库迁移，因为旧版本的表结构会让服务启动失败。", "kind": "decision",
            }),
        )?;
        self.show("remember", &json!({
            "text": "The deploy token is ghp_".to_owned() + &"aZ3".repeat(12) + " and belongs to the CI user.",
        }))?;
        Ok(())
    }

    fn recall_and_context(&mut self) -> Outcome<()> {
        self.heading("3. Recall")?;
        self.show("recall", &json!({ "query": "Which port does the staging database use?", "limit": 3 }))?;
        self.show("recall", &json!({ "query": "部署之前要做什么？", "limit": 2 }))?;
        self.show("recall", &json!({ "query": "recipe for sourdough bread" }))?;
        self.heading("4. A context pack for a task, inside a budget")?;
        self.show("context", &json!({ "query": "deploy the staging service", "budget_tokens": 600 }))?;
        Ok(())
    }

    fn refusal(&mut self, rule: &str) -> Outcome<()> {
        self.heading("5. Try to rewrite a rule")?;
        let answer =
            self.show_any("update", &json!({ "id": rule, "text": "Credentials may be committed." }))?;
        if !answer {
            return Err("the rule was rewritten; that must never happen".into());
        }
        self.heading("6. What is on record about it")?;
        self.show("inspect", &json!({ "id": rule }))
    }

    fn proposal(&mut self, rule: &str) -> Outcome<()> {
        self.heading("7. Propose it instead")?;
        self.show(
            "reflect",
            &json!({
                "amends": rule, "text": "Credentials never go into the repository; a hook refuses them.",
                "reason": "a token was committed by mistake",
            }),
        )?;
        self.out.line("")?;
        self.out.line(
            "The rule stays as it is until a person approves, at a terminal and with the passphrase; `strata review list` \
             shows what waits.",
        )?;
        Ok(())
    }

    fn cause(&mut self) -> Outcome<()> {
        self.heading("8. From a symptom to its cause and fix")?;
        let reply = self.client.call("remember", &json!({
            "text": "The staging service did not start after the deploy: it still connected to port 5432.",
            "kind": "incident",
        }))?;
        let incident = reply.text.split_whitespace().find(|word| word.starts_with("mem_"));
        let incident = incident.ok_or("`remember` gave no id")?.to_owned();
        for (label, kind) in [
            ("staging outage", "incident"),
            ("stale port", "pattern"),
            ("read the port from the settings", "decision"),
        ] {
            let mut entity = json!({ "label": label, "kind": kind });
            if kind == "incident" {
                entity["memory"] = json!(incident);
            }
            self.quietly("entity_add", &entity)?;
        }
        self.show(
            "relation_add",
            &json!({ "source": "stale port", "relation": "caused", "target": "staging outage" }),
        )?;
        self.quietly("relation_add", &json!({
            "source": "staging outage", "relation": "fixed_by", "target": "read the port from the settings",
        }))?;
        self.show("graph_rca", &json!({ "query": "the staging service does not start" }))
    }

    /// Calls a tool that must succeed and shows nothing.
    fn quietly(&mut self, tool: &str, arguments: &Value) -> Outcome<()> {
        let answer = self.client.call(tool, arguments)?;
        if answer.failed { Err(format!("`{tool}` failed: {}", answer.text).into()) } else { Ok(()) }
    }

    fn heading(&mut self, text: &str) -> std::io::Result<()> {
        self.out.line("")?;
        self.out.document(&Document::new().with(Block::Heading(text.to_owned())))
    }

    /// Calls a tool that must succeed and shows what it said.
    fn show(&mut self, tool: &str, arguments: &Value) -> Outcome<()> {
        if self.show_any(tool, arguments)? { Err(format!("`{tool}` failed").into()) } else { Ok(()) }
    }

    /// Calls a tool, shows the call, its time and its answer; tells whether it failed.
    fn show_any(&mut self, tool: &str, arguments: &Value) -> Outcome<bool> {
        let started = Instant::now();
        let answer = self.client.call(tool, arguments)?;
        let took = started.elapsed();
        self.out.line("")?;
        self.out.line(&format!("> {tool} {arguments}"))?;
        for line in answer.text.lines() {
            self.out.line(&format!("  {line}"))?;
        }
        self.out.line(&format!("  ({:.1} ms)", took.as_secs_f64() * 1e3))?;
        Ok(answer.failed)
    }
}

/// Stores the rule that the tour will try to break, as the system does after a human's approval.
fn approved_rule(home: &Path) -> Outcome<String> {
    let engine = Engine::new(Settings::for_home(home));
    let principal = Principal::new(PrincipalKind::System, "tour");
    let call = Call {
        principal: &principal,
        scope: &Scope::user(),
        face: Face::Library,
        deadline: Timestamp::MAX,
        cancel: &Cancel::default(),
        progress: &|_, _| {},
        secret: None,
    };
    let remember = registry::find(Toolset::Core, "remember").ok_or("no `remember` operation")?;
    let rule = json!({ "text": "Credentials never go into the repository.", "kind": "rule", "layer": "P0", "scope": "user" });
    let reply = (remember.run)(&engine, &call, rule).map_err(|e| e.to_string())?;
    Ok(reply.json["id"].as_str().unwrap_or_default().to_owned())
}

fn configuration(out: &Out) -> Outcome<()> {
    out.line("")?;
    out.document(
        &Document::new().with(Block::Heading("To use it, put this into your client's configuration".into())),
    )?;
    let command = std::env::current_exe()?;
    let block = json!({ "mcpServers": { "strata": { "command": command, "args": ["serve"] } } });
    out.line(&serde_json::to_string_pretty(&block)?)?;
    Ok(())
}
