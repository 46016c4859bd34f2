//! Layered knowledge needs no network: a whole round of its tools where there is none, and nothing in it tries.

#![cfg(target_os = "linux")]

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use strata_store::files::write_atomic;
use strata_testkit::{
    binary::Binary,
    home::TestHome,
    mcp::{Era, McpScript},
};

/// Counters of a network namespace that move when something in it tries to reach anybody, loopback included.
const TRIES: [(&str, &str); 5] = [
    ("Ip", "OutRequests"),
    ("Ip", "OutNoRoutes"),
    ("Tcp", "ActiveOpens"),
    ("Tcp", "PassiveOpens"),
    ("Udp", "OutDatagrams"),
];
/// The same of IPv6.
const TRIES_6: [&str; 2] = ["Ip6OutNoRoutes", "Udp6OutDatagrams"];

/// The counters of the namespace that a process stands in.
fn tries(process: &str) -> Vec<(String, u64)> {
    let read = |name: &str| fs::read_to_string(format!("/proc/{process}/net/{name}")).unwrap_or_default();
    let (four, six) = (read("snmp"), read("snmp6"));
    let mut found = Vec::new();
    for (protocol, name) in TRIES {
        let start = format!("{protocol}: ");
        let rows: Vec<Vec<&str>> = four
            .lines()
            .filter_map(|line| line.strip_prefix(&start))
            .map(|row| row.split_whitespace().collect())
            .collect();
        let at = rows[0].iter().position(|column| *column == name).expect(name);
        found.push((format!("{protocol}.{name}"), rows[1][at].parse().expect("a number")));
    }
    for line in six.lines() {
        let mut words = line.split_whitespace();
        if let (Some(name), Some(value)) = (words.next(), words.next())
            && TRIES_6.contains(&name)
        {
            found.push((name.to_owned(), value.parse().expect("a number")));
        }
    }
    found
}

/// Whether any counter moved. Neighbour discovery of a new interface is the kernel's own.
pub(crate) fn tried(process: &str) -> bool {
    tries(process).iter().any(|(_, count)| *count > 0)
}

/// Sockets among the open files of a process that are none within the machine: the runtime wakes itself by a pair of
/// those.
fn sockets(process: u32) -> BTreeSet<String> {
    let open = || -> BTreeSet<String> {
        let files = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        let targets = files.filter_map(|entry| fs::read_link(entry.path()).ok());
        let sockets = targets.filter_map(|target| {
            Some(target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
        });
        sockets.collect()
    };
    let mut found = open();
    let within = fs::read_to_string(format!("/proc/{process}/net/unix")).unwrap_or_default();
    for inode in within.lines().filter_map(|line| line.split_whitespace().nth(6)) {
        found.remove(inode);
    }
    // One that was closed meanwhile is in neither list.
    let still = open();
    found.retain(|inode| still.contains(inode));
    found
}

/// Whether this process may make network namespaces: root may, but not in every container.
pub(crate) fn may_separate() -> bool {
    Command::new("unshare").args(["-n", "true"]).output().is_ok_and(|done| done.status.success())
}

/// A program that runs the binary where there is no network, under the same process id.
pub(crate) fn without_network(home: &TestHome) -> PathBuf {
    let script = format!("#!/bin/sh\nexec unshare -n -- '{}' \"$@\"\n", env!("CARGO_BIN_EXE_strata"));
    let path = home.outside().join("strata-without-network");
    write_atomic(&path, script.as_bytes()).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("made a program");
    path
}

/// What each tool is asked that needs something, in an order in which it is there.
fn round() -> Vec<(&'static str, Value)> {
    let section = |domain: &str, section: &str, content: &str| json!({ "domain": domain, "section": section, "content": content });
    vec![
        ("inject_knowledge", section("infra", "Port", "The proxy listens on port 8443.")),
        (
            "batch_inject_knowledge",
            json!({ "items": [section("infra", "Mail", "Mail goes through the relay.")] }),
        ),
        (
            "create_knowledge_file",
            json!({ "filename": "db.md", "content": "# db\n\n## Pool\n\n连接池上限二十。\n" }),
        ),
        (
            "update_knowledge_file",
            json!({ "filename": "db.md", "content": "# db\n\n## Pool\n\n连接池上限四十。\n" }),
        ),
        ("get_knowledge_file", json!({ "filename": "infra.md" })),
        ("list_sections", json!({ "domain": "infra" })),
        ("get_section", json!({ "domain": "infra", "section": "Port" })),
        ("rename_section", json!({ "domain": "infra", "section": "Port", "new_section": "Ports" })),
        ("move_section", json!({ "domain": "infra", "section": "Mail", "to_domain": "mail" })),
        ("get_knowledge_history", json!({ "filename": "db.md" })),
        ("diff_knowledge", json!({ "filename": "db.md" })),
        ("restore_knowledge", json!({ "filename": "db.md", "generation": 1 })),
        (
            "recall_knowledge",
            json!({ "keyword": "which port does the proxy listen on", "search_mode": "hybrid" }),
        ),
        ("search_semantic", json!({ "query": "how large is the pool" })),
        ("get_knowledge_by_id", json!({ "entry_id": "e1" })),
        (
            "manage_l0_entry",
            json!({ "action": "replace", "domain": "db", "summary": "https://example.com/pool" }),
        ),
        ("get_domain_timeline", json!({ "domain": "db" })),
        ("classify_memory_item", json!({ "content": "TODO: fetch https://example.com" })),
        ("add_todo", json!({ "content": "Ask http://127.0.0.1:9/ whether it is up", "domain": "infra" })),
        ("update_todo", json!({ "todo_id": "todo_0123456789", "status": "completed" })),
        ("delete_todo", json!({ "todo_id": "todo_0123456789" })),
        ("approve_knowledge", json!({ "entry_id": "rev_0123456789" })),
        ("reject_knowledge", json!({ "entry_id": "rev_0123456789" })),
        (
            "apply_safe_knowledge_cleanup",
            json!({ "actions": [{ "action": "sync_l0_index" }], "dry_run": false }),
        ),
        ("delete_section", json!({ "domain": "mail", "section": "Mail" })),
        ("delete_knowledge_file", json!({ "filename": "db.md" })),
    ]
}

#[test]
fn layered_66_every_tool_works_where_there_is_no_network_and_none_tries_to_reach_one() {
    let home = TestHome::new();
    let is_apart = may_separate();
    let program = if is_apart { without_network(&home) } else { env!("CARGO_BIN_EXE_strata").into() };
    let mut script =
        McpScript::start(&Binary::new(program, &home), Era::Handshake, &["--toolsets", "layered"]);
    let process = script.id();
    let (done, seen) = (AtomicBool::new(false), Mutex::new(BTreeSet::new()));
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                seen.lock().expect("no panic").extend(sockets(process));
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let list = script.request("tools/list", json!({}));
        let mut left: Vec<String> = list["tools"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|tool| Some(tool["name"].as_str()?.to_owned()))
            .collect();
        let mut ask = |tool: &str, arguments: &Value| {
            let start = Instant::now();
            let answer = script.call(tool, arguments);
            // A call that waits for a name to be resolved takes five seconds and more.
            assert!(start.elapsed() < Duration::from_secs(5), "{tool} took {:?}", start.elapsed());
            assert!(!answer.is_error, "{tool}: {}", answer.text);
        };
        for (tool, arguments) in round() {
            ask(tool, &arguments);
            left.retain(|name| name != tool);
        }
        for tool in left {
            ask(&tool, &json!({}));
        }
        if is_apart {
            let counters = tries(&process.to_string());
            assert!(counters.len() >= TRIES.len(), "{counters:?}");
            assert!(!tried(&process.to_string()), "something tried to reach a network: {counters:?}");
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(seen.into_inner().expect("no panic"), BTreeSet::<String>::new(), "sockets of the server");
    assert!(script.finish().status.success());
}

#[test]
fn a_try_to_reach_a_network_is_noticed_where_there_is_none() {
    if !may_separate() {
        return;
    }
    let asks = "import socket, sys\n\
                s = socket.socket(socket.AF_INET, getattr(socket, sys.argv[1]))\n\
                try: s.connect((sys.argv[2], 9)); s.send(b'x')\n\
                except OSError: pass\n\
                print('asked', flush=True); sys.stdin.read()\n";
    for (sort, host) in
        [("SOCK_STREAM", "192.0.2.1"), ("SOCK_DGRAM", "192.0.2.1"), ("SOCK_STREAM", "127.0.0.1")]
    {
        let mut child = Command::new("unshare")
            .args(["-n", "python3", "-c", asks, sort, host])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("starts");
        let mut line = String::new();
        let mut output = std::io::BufReader::new(child.stdout.take().expect("piped"));
        std::io::BufRead::read_line(&mut output, &mut line).expect("a line");
        let process = child.id();
        assert!(tried(&process.to_string()), "{sort} to {host}: {:?}", tries(&process.to_string()));
        assert_eq!(sockets(process).len(), 1);
        drop(child.stdin.take());
        assert!(child.wait().expect("ends").success());
    }
}
