//! How fast a project is indexed, and what a caller notices of it: the figures that docs/figures.md shows.
//!
//! `STRATA_FIGURES_REPOSITORY` names a git repository; it is cloned and never written to. What of it may not be read (tools'
//! folders, credentials, what is no text) is in no count of what was indexed.

use std::{
    fmt::Display,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use strata_testkit::{
    binary::Binary,
    home::TestHome,
    mcp::{Era, McpScript},
};

use crate::strata;

/// Files that differ between the two branches.
const SWITCHED: usize = 20;

/// How often what is short is measured.
const TIMES: usize = 7;

fn git(at: &Path, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "advice.detachedHead=false"];
    let output =
        Command::new("git").args(identity).args(arguments).current_dir(at).output().expect("git runs");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// A clone of the repository that is to be measured, and how many files and bytes it has.
fn clone(home: &TestHome) -> (PathBuf, usize, u64) {
    let from =
        std::env::var("STRATA_FIGURES_REPOSITORY").expect("STRATA_FIGURES_REPOSITORY names a repository");
    let root = home.outside().join("project");
    git(home.outside(), &["clone", "-q", "--no-hardlinks", &from, &root.to_string_lossy()]);
    git(&root, &["checkout", "-q", "-B", "main"]);
    let files = tracked(&root);
    let bytes = files.iter().map(|file| fs::metadata(root.join(file)).map_or(0, |file| file.len())).sum();
    (root, files.len(), bytes)
}

fn tracked(root: &Path) -> Vec<String> {
    git(root, &["ls-files"]).lines().map(str::to_owned).collect()
}

fn on<'h>(home: &'h TestHome, root: &Path) -> Binary<'h> {
    strata(home).with("STRATA_PROJECT", &root.to_string_lossy())
}

fn serve(binary: &Binary<'_>) -> McpScript {
    McpScript::start(binary, Era::Handshake, &["--toolsets", "core,project"])
}

fn ask(server: &mut McpScript, tool: &str) -> Value {
    let answer = server.call(tool, &json!({}));
    assert!(!answer.is_error, "{}", answer.text);
    serde_json::from_str(&answer.text).expect("the answer is JSON")
}

/// The most memory that a process had so far, in MB; 0 where the system does not tell.
fn peak(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024 / 1_000_000
}

/// Runs the command line to its end; what it says, how long it took, and the most memory it had.
fn run(binary: &Binary<'_>, arguments: &[&str]) -> (Value, Duration, u64) {
    let mut command = binary.command();
    command.arg("--json").args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
    let began = Instant::now();
    let mut child = command.spawn().expect("it starts");
    let mut most = 0;
    while child.try_wait().expect("it can be waited for").is_none() {
        most = most.max(peak(child.id()));
        std::thread::sleep(Duration::from_millis(2));
    }
    let took = began.elapsed();
    let output = child.wait_with_output().expect("it ended");
    assert!(output.status.success(), "{arguments:?}");
    (serde_json::from_slice(&output.stdout).expect("the answer is JSON"), took, most)
}

#[expect(clippy::print_stdout, reason = "the figures are the point")]
fn show(what: &str, value: impl Display) {
    println!("{what:<46} {value}");
}

/// The least, the middle and the most of some times.
fn spread(mut times: Vec<Duration>) -> String {
    times.sort();
    let ms = |at: usize| times[at].as_secs_f64() * 1_000.0;
    format!(
        "{:.1} ms ({:.1} to {:.1}, {} times)",
        ms(times.len() / 2),
        ms(0),
        ms(times.len() - 1),
        times.len()
    )
}

/// Indexes everything from nothing by the command line, and tells how many files that were.
fn index_anew(binary: &Binary<'_>, tracked: usize, bytes: u64) -> usize {
    let (reply, took, most) = run(binary, &["project", "index"]);
    let files = reply["changes"]["new"].as_u64().expect("a number") as usize;
    assert!(files > tracked / 2, "most files are indexed: {reply}");
    show("files that may be read, of all, bytes of all", format!("{files} of {tracked}, {bytes}"));
    let rate = files as f64 / took.as_secs_f64();
    show("indexed from nothing, start included", format!("{:.2} s, {rate:.0} files/s", took.as_secs_f64()));
    show("memory at most", format!("{most} MB"));
    files
}

/// Looks again at what has not changed.
fn look_again(server: &mut McpScript, files: usize) {
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let began = Instant::now();
        let reply = ask(server, "refresh_project_knowledge");
        times.push(began.elapsed());
        assert_eq!(reply["changes"]["unchanged"], json!(files), "{reply}");
    }
    show("looking again, nothing changed", spread(times));
}

/// Switches to and fro between two branches and has the index follow.
#[expect(clippy::disallowed_methods, reason = "the files of a project are not Strata's")]
fn switch_branches(server: &mut McpScript, root: &Path, files: usize) {
    git(root, &["checkout", "-q", "-b", "other"]);
    let all = tracked(root);
    for path in all.iter().step_by((all.len() / SWITCHED).max(1)).take(SWITCHED) {
        let path = root.join(path);
        let mut text = fs::read(&path).expect("a file");
        text.extend_from_slice(b"\nAnother line on another branch.\n");
        fs::write(&path, text).expect("a file");
    }
    git(root, &["commit", "-qam", "other"]);
    git(root, &["checkout", "-q", "main"]);
    ask(server, "refresh_project_knowledge");
    let (mut times, mut changed) = (Vec::new(), 0);
    for turn in 0..TIMES {
        git(root, &["checkout", "-q", if turn % 2 == 0 { "other" } else { "main" }]);
        let began = Instant::now();
        let reply = ask(server, "refresh_project_knowledge");
        times.push(began.elapsed());
        changed = reply["changes"]["changed"].as_u64().expect("a number") as usize;
        assert!(changed > SWITCHED / 2 && changed <= SWITCHED, "{reply}");
        let rest = json!(files - changed);
        assert_eq!(reply["changes"]["unchanged"], rest, "only what differs is read: {reply}");
    }
    show(&format!("a branch switch of {changed} files, until indexed"), spread(times));
}

/// Asks a server again and again while it indexes.
fn ask_meanwhile(home: &TestHome, root: &Path) {
    let mut server = serve(&on(home, root));
    let (mut pings, mut statuses) = (Vec::new(), Vec::new());
    let began = Instant::now();
    let mut most = 0;
    loop {
        let asked = Instant::now();
        server.request("ping", json!({}));
        pings.push(asked.elapsed());
        if pings.len() % 20 == 0 {
            let asked = Instant::now();
            let status = ask(&mut server, "memory_status");
            statuses.push(asked.elapsed());
            most = most.max(peak(server.id()));
            let is_ready = status["bootstrap_status"] == "READY";
            if is_ready && status["knowledge_documents"].as_u64() > Some(0) {
                break;
            }
            assert!(began.elapsed() < Duration::from_secs(1_800), "{status}");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    show("indexed by a server that is asked meanwhile", format!("{:.2} s", began.elapsed().as_secs_f64()));
    show("its memory at most", format!("{most} MB"));
    show("ping meanwhile", spread(pings));
    show("memory_status meanwhile", spread(statuses));
    server.finish();
}

#[test]
#[ignore = "figures: on their own with --profile fast, and a repository"]
fn a_project_is_indexed() {
    let home = TestHome::new();
    let (root, tracked, bytes) = clone(&home);
    let binary = on(&home, &root);
    let files = index_anew(&binary, tracked, bytes);
    let mut server = serve(&binary);
    look_again(&mut server, files);
    switch_branches(&mut server, &root, files);
    server.finish();
    let (_, took, _) = run(&binary, &["project", "index"]);
    show("the same by the command line, start included", format!("{:.0} ms", took.as_secs_f64() * 1_000.0));
}

#[test]
#[ignore = "figures: on their own with --profile fast, and a repository"]
fn a_server_answers_while_it_indexes() {
    let home = TestHome::new();
    let (root, ..) = clone(&home);
    ask_meanwhile(&home, &root);
}
