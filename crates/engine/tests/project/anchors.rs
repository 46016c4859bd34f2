//! Memories pinned to code.

use std::fs;

use serde_json::{Value, json};
use strata_core::error::ErrorKind;
use strata_engine::{context::hot, project};

use crate::{
    repository::Checkout,
    support::{Session, with_call},
};

const CODE: &str = "//! Uploads.\n\n/// Tries three times.\npub fn upload(times: u32) -> bool {\n    (0..times).any(|_| send())\n}\n\nfn send() -> bool {\n    true\n}\n";

fn at(checkout: &Checkout) -> Session {
    let mut session = Session::with_settings(|settings| {
        settings.project_root = Some(checkout.root().to_owned());
    });
    session.scope = project::resolve(checkout.root(), None).expect("a project").scope("shared");
    session
}

fn pinned(session: &Session, text: &str, code: &str) -> String {
    let reply = session.ok("remember", json!({ "text": text, "evidence": [code] }));
    reply["id"].as_str().expect("an id").to_owned()
}

/// What a search says of the code behind its first hit.
fn code_of(session: &Session, query: &str) -> Value {
    session.ok("recall", json!({ "query": query }))["hits"][0]["code"][0].clone()
}

fn alarm(session: &Session, request: Value) -> (bool, Value) {
    let reply = session.reply("project_check", request).expect("checked");
    (reply.is_alarming, reply.json)
}

#[test]
fn code_is_fresh_where_it_moved_drifted_where_it_changed_and_gone_where_it_went() {
    let checkout = Checkout::begun();
    checkout.commit("src/upload.rs", CODE);
    let session = at(&checkout);
    let text = "An upload is tried three times because the gateway drops one in ten.";
    let id = pinned(&session, text, "code:src/upload.rs#upload");
    assert_eq!(code_of(&session, text)["state"], "fresh");
    assert!(!alarm(&session, json!({})).0);

    checkout.write("src/upload.rs", &format!("// A line more.\n{CODE}"));
    assert_eq!(code_of(&session, text)["state"], "fresh", "moved within its file");
    checkout.git(&["mv", "src/upload.rs", "src/gateway.rs"]);
    checkout.git(&["commit", "-q", "-a", "-m", "rename"]);
    let moved = code_of(&session, text);
    assert_eq!((&moved["state"], &moved["now"]), (&json!("fresh"), &json!("src/gateway.rs#upload")));

    let before = checkout.git(&["rev-parse", "HEAD"]);
    checkout.commit("src/gateway.rs", &CODE.replace("0..times", "0..times + 1"));
    assert_eq!(code_of(&session, text)["state"], "drifted");
    let shown = session.text("recall", json!({ "query": text }));
    assert!(shown.contains("code src/upload.rs#upload drifted, now src/gateway.rs#upload"), "{shown}");
    let (alarming, report) = alarm(&session, json!({ "diff": format!("{before}..HEAD") }));
    assert!(alarming, "{report}");
    assert_eq!(report["findings"][0]["id"], id.as_str());
    assert!(!alarm(&session, json!({ "gone_only": true })).0);

    checkout.commit("README.md", "# Another word\n");
    assert!(!alarm(&session, json!({ "diff": "HEAD~1..HEAD" })).0, "that change touched no pin");
    checkout.commit("src/gateway.rs", "fn send() -> bool {\n    true\n}\n");
    assert_eq!(code_of(&session, text)["state"], "gone");
    let (alarming, report) = alarm(&session, json!({ "gone_only": true }));
    assert!(alarming, "{report}");
}

#[test]
fn a_memory_that_is_seen_to_hold_again_is_pinned_to_the_code_as_it_is() {
    let checkout = Checkout::begun();
    checkout.commit("src/upload.rs", CODE);
    checkout.commit("src/old.rs", "fn old() {}\n");
    let session = at(&checkout);
    let text = "Sending always succeeds in the simulator.";
    let id = session.ok("remember", json!({ "text": text }))["id"].as_str().expect("an id").to_owned();
    let pin = |code: &[&str]| session.ok("project_pin", json!({ "id": id, "code": code }));
    let findings = || session.ok("project_check", json!({}))["findings"].clone();
    pin(&["src/upload.rs:8-10", "src/old.rs"]);
    let changed = CODE.replace("    true\n", "    maybe()\n");
    checkout.commit("src/upload.rs", &changed);
    assert_eq!(findings()[0]["state"], "drifted");
    assert_eq!(pin(&["src/upload.rs:8-10"])["pinned"][0]["state"], "fresh");
    assert_eq!((findings(), &pin(&["src/upload.rs:8-10"])["pinned"]), (json!([]), &json!([])));
    // A text that says what holds now is pinned to what is there now, and to nothing that is gone.
    checkout.commit("src/upload.rs", &changed.replace("maybe", "rarely"));
    checkout.git(&["rm", "-q", "src/old.rs"]);
    assert_eq!(findings().as_array().map(Vec::len), Some(2));
    session.ok("update", json!({ "id": id, "title": "In the simulator" }));
    assert_eq!(findings().as_array().map(Vec::len), Some(2), "nothing was said anew");
    let text = "Sending rarely succeeds in the simulator.";
    let head = session.recall(text).remove(0);
    session.ok("update", json!({ "id": head, "text": text }));
    assert_eq!(findings(), json!([]));
    assert_eq!(code_of(&session, text)["state"], "fresh");
}

#[test]
fn a_pin_goes_wherever_its_memory_goes() {
    let checkout = Checkout::begun();
    checkout.git(&["checkout", "-q", "-b", "feat"]);
    checkout.commit("src/upload.rs", CODE);
    let mut session = at(&checkout);
    let text = "Sending always succeeds in the simulator.";
    let id = session.ok("remember", json!({ "text": text }))["id"].as_str().expect("an id").to_owned();
    let reply = session.ok("project_pin", json!({ "id": id, "code": ["src/upload.rs:8-10"] }));
    assert_eq!(reply["pinned"][0]["state"], "fresh");
    assert_eq!(
        session.ok("project_pin", json!({ "id": id, "code": ["src/upload.rs:8-10"] }))["pinned"],
        json!([])
    );
    session.ok("update", json!({ "id": id, "text": format!("{text} It is a stub.") }));
    assert_eq!(code_of(&session, text)["state"], "fresh", "a new version");
    checkout.git(&["checkout", "-q", "main"]);
    checkout.git(&["merge", "-q", "--no-ff", "-m", "merge", "feat"]);
    session.scope = project::resolve(checkout.root(), None).expect("a project").scope("shared");
    assert_eq!(code_of(&session, text)["state"], "fresh", "a merge");
    checkout.write("src/upload.rs", &CODE.replace("    true\n", "    maybe()\n"));
    let drifted = code_of(&session, text);
    assert_eq!((&drifted["state"], &drifted["code"]), (&json!("drifted"), &json!("src/upload.rs:8-10")));
}

#[test]
fn a_memory_whose_code_changed_falls_behind_one_whose_code_stands() {
    let checkout = Checkout::begun();
    checkout.write("src/old.rs", "fn limit() -> u32 {\n    3\n}\n");
    checkout.commit("src/new.rs", "fn limit() -> u32 {\n    5\n}\n");
    let session = at(&checkout);
    let old = pinned(&session, "The upload limit of the exporter is three files.", "code:src/old.rs#limit");
    let new = pinned(&session, "The upload limit of the importer is five files.", "code:src/new.rs#limit");
    let order = |query: &str| -> Vec<String> {
        let reply = session.ok("recall", json!({ "query": query }));
        reply["hits"]
            .as_array()
            .expect("hits")
            .iter()
            .map(|h| h["id"].as_str().expect("id").to_owned())
            .collect()
    };
    let query = "upload limit files";
    let before = order(query);
    assert_eq!(before.len(), 2, "{before:?}");
    let (first, file) = if before[0] == old { (&old, "src/old.rs") } else { (&new, "src/new.rs") };
    fs::remove_file(checkout.root().join(file)).expect("removed");
    let after = order(query);
    assert_eq!(after.last(), Some(first), "{after:?}");
}

#[test]
fn pins_are_shown_wherever_a_memory_is() {
    let checkout = Checkout::begun();
    checkout.write("src/old.rs", "fn limit() -> u32 {\n    3\n}\n");
    checkout.commit("src/upload.rs", CODE);
    let session = at(&checkout);
    let remember = |kind: &str, text: &str, code: &str| {
        let asked = json!({ "text": text, "kind": kind, "evidence": [code], "importance": 0.95 });
        session.ok("remember", asked)["id"].as_str().expect("an id").to_owned()
    };
    let decision =
        remember("decision", "Uploads of the exporter end at three files.", "code:src/old.rs#limit");
    let wide = remember("constraint", "Sending always succeeds in the simulator.", "code:src/upload.rs#send");
    session.ok("remember", json!({ "text": "Uploads begin in the evening.", "importance": 0.9 }));
    let page = || with_call(&session, |call| hot::page(&session.engine, call)).expect("a page");
    let line_of = |page: &str, id: &str| page.lines().position(|line| line.contains(id)).expect("a line");
    let before = page();
    assert!(
        before.contains(&format!("- {decision} P5 decision (code src/old.rs#limit fresh): ")),
        "{before}"
    );
    let places = [&decision, &wide].map(|id| line_of(&before, id));

    fs::remove_file(checkout.root().join("src/old.rs")).expect("removed");
    checkout.write("src/upload.rs", &CODE.replace("    true\n", "    maybe()\n"));
    let after = page();
    assert!(after.contains("(code src/old.rs#limit gone)"), "{after}");
    assert!(after.contains("(code src/upload.rs#send drifted)"), "{after}");
    let now = [&decision, &wide].map(|id| line_of(&after, id));
    assert!(now[0] > places[0] && now[1] > places[1], "{before}\n{after}");

    let pack =
        session.ok("retrieve_agent_context", json!({ "task": "Uploads of the exporter", "trace": "full" }));
    let gone = &pack["decisions"][0];
    assert_eq!((&gone["id"], &gone["code"][0]["state"]), (&json!(decision), &json!("gone")), "{pack}");
    // What holds for the whole project is shown though the task has no word of it.
    let held = &pack["constraints"][0];
    assert_eq!((&held["id"], &held["code"][0]["state"]), (&json!(wide), &json!("drifted")), "{pack}");
    let trace = pack["retrieval_trace"].as_array().expect("a trace");
    let entry = trace.iter().find(|entry| entry["result_id"] == json!(decision)).expect("its entry");
    assert_eq!(entry["score_breakdown"]["code_freshness"], 0.5, "{entry}");
    assert!(
        session
            .text("retrieve_agent_context", json!({ "task": "Uploads" }))
            .contains("code src/old.rs#limit gone")
    );
    checkout.git(&["checkout", "-q", "--", "."]);
    let again =
        session.ok("retrieve_agent_context", json!({ "task": "Uploads of the exporter", "trace": "full" }));
    assert_eq!(again["decisions"][0]["code"][0]["state"], "fresh", "{again}");

    checkout.write("src/old.rs", "fn limit() -> u32 {\n    4\n}\n");
    let shown = session.ok("inspect_memory", json!({ "memory_id": decision }));
    assert_eq!(shown["memory"]["code"][0]["state"], "drifted", "{shown}");
    assert_eq!(shown["confidence_assessment"]["freshness"], 0.8, "{shown}");
    assert!(
        shown["inspection_trace"].to_string().contains("warning: code src/old.rs#limit drifted"),
        "{shown}"
    );
}

#[test]
fn only_what_is_there_and_may_be_read_is_pinned_to() {
    let checkout = Checkout::begun();
    checkout.write(".env", "TOKEN=1\n");
    checkout.commit("src/upload.rs", CODE);
    let session = at(&checkout);
    for code in [
        "code:src/none.rs",
        "code:src/upload.rs#nothing",
        "code:src/upload.rs:90-95",
        "code:../x",
        "code:.env",
    ] {
        let failed = session.fails("remember", json!({ "text": "Pinned to nothing.", "evidence": [code] }));
        assert_eq!(failed, ErrorKind::Invalid, "{code}");
    }
    assert_eq!(session.fails("project_check", json!({ "diff": "nothing..HEAD" })), ErrorKind::Invalid);
}

#[test]
fn a_check_is_written_as_sarif_and_as_markdown() {
    let checkout = Checkout::begun();
    checkout.commit("src/upload.rs", CODE);
    let session = at(&checkout);
    pinned(&session, "Sending always succeeds in the simulator.", "code:src/upload.rs:8-10");
    checkout.commit("src/upload.rs", &CODE.replace("    true\n", "    maybe()\n"));
    let reply = session.ok("project_check", json!({ "sarif": "check.sarif", "markdown": "check.md" }));
    assert_eq!(reply["written"].as_array().map(Vec::len), Some(2), "{reply}");
    let read = |name: &str| fs::read_to_string(checkout.root().join(name)).expect("written");
    let sarif: Value = serde_json::from_str(&read("check.sarif")).expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&json!("drifted"), &json!("warning")));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "src/upload.rs");
    assert_eq!(place["region"], json!({ "startLine": 8, "endLine": 10 }));
    pinned(&session, "The simulator never fails.", "code:src/upload.rs");
    checkout.write("src/upload.rs", "fn main() {}\n");
    session.ok("project_check", json!({ "sarif": "check.sarif" }));
    let sarif: Value = serde_json::from_str(&read("check.sarif")).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    let line = |result: &Value| result["locations"][0]["physicalLocation"]["region"]["startLine"].is_number();
    assert!(results.len() == 2 && results.iter().all(line), "{sarif:#}");
    assert!(read("check.md").contains("| src/upload.rs:8-10 | drifted |"), "{}", read("check.md"));
}

#[test]
fn a_report_names_files_as_addresses_and_symbols_by_their_lines() {
    let checkout = Checkout::begun();
    let path = "src/upload 100% 上传.rs";
    checkout.commit(path, CODE);
    checkout.commit("src/old.rs", &CODE.replace("send", "send_once"));
    let session = at(&checkout);
    pinned(&session, "Sending | always succeeds\nin the `simulator.", &format!("code:{path}#send"));
    pinned(&session, "The old way of sending is kept for one customer.", "code:src/old.rs#send_once");
    checkout.commit(path, &CODE.replace("    true\n", "    maybe()\n"));
    checkout.git(&["rm", "-q", "src/old.rs"]);
    checkout.git(&["commit", "-q", "-m", "gone"]);
    session.ok("project_check", json!({ "sarif": "check.sarif", "markdown": "check.md" }));
    let read = |name: &str| fs::read_to_string(checkout.root().join(name)).expect("written");
    let sarif: Value = serde_json::from_str(&read("check.sarif")).expect("JSON");
    let place = |uri: &str| {
        let results = sarif["runs"][0]["results"].as_array().expect("results");
        let mut places = results.iter().map(|result| &result["locations"][0]["physicalLocation"]);
        places.find(|place| place["artifactLocation"]["uri"] == uri).expect("a finding").clone()
    };
    let drifted = place("src/upload%20100%25%20%E4%B8%8A%E4%BC%A0.rs");
    assert_eq!(drifted["region"], json!({ "startLine": 8, "endLine": 10 }));
    assert!(place("src/old.rs").get("region").is_none(), "{sarif:#}");
    let markdown = read("check.md");
    assert!(markdown.contains(" | Sending \\| always succeeds in the \\`simulator. |"), "{markdown}");
}

#[test]
fn a_change_beside_a_secret_is_told_between_commits() {
    let checkout = Checkout::begun();
    let secret = ["hunter2", "hunter2"].concat();
    let code = CODE.replace("    (0..times)", &format!("    let password = \"{secret}\";\n    (0..times)"));
    checkout.commit("src/upload.rs", &code);
    let session = at(&checkout);
    pinned(&session, "An upload is tried three times.", "code:src/upload.rs#upload");
    checkout.commit("README.md", "# Another\n");
    let range = json!({ "diff": "HEAD~1..HEAD" });
    assert_eq!(alarm(&session, range.clone()).1["findings"], json!([]));
    checkout.commit("src/upload.rs", &code.replace("0..times", "0..times + 1"));
    let (is_alarming, reply) = alarm(&session, range);
    assert!(is_alarming && reply["findings"][0]["state"] == "drifted", "{reply:#}");
}

#[test]
fn lines_that_drifted_in_a_file_with_other_line_ends_are_told_alone() {
    let checkout = Checkout::begun();
    checkout.git(&["config", "core.autocrlf", "false"]);
    let windows = CODE.replace('\n', "\r\n");
    checkout.commit("src/upload.rs", &windows);
    let session = at(&checkout);
    pinned(&session, "An upload is tried three times.", "code:src/upload.rs:4-6");
    checkout.commit("src/upload.rs", &windows.replace("0..times", "0..times + 1"));
    let (_, reply) = alarm(&session, json!({}));
    let found = &reply["findings"][0];
    assert_eq!(
        (&found["state"], &found["code"]),
        (&json!("drifted"), &json!("src/upload.rs:4-6")),
        "{reply:#}"
    );
    assert_eq!(found["now"], Value::Null, "it stands where it stood: {reply:#}");
}

#[test]
fn code_that_changed_after_it_was_pinned_is_told_though_the_range_begins_before() {
    let checkout = Checkout::begun();
    let base = checkout.commit("README.md", "# Before\n");
    checkout.commit("src/upload.rs", CODE);
    let session = at(&checkout);
    pinned(&session, "An upload is tried three times.", "code:src/upload.rs#upload");
    checkout.commit("src/upload.rs", &CODE.replace("0..times", "0..times + 1"));
    let (is_alarming, reply) = alarm(&session, json!({ "diff": format!("{base}..HEAD") }));
    assert!(is_alarming && reply["findings"][0]["state"] == "drifted", "{reply:#}");
}

#[test]
fn code_that_any_way_in_names_as_evidence_is_pinned() {
    let checkout = Checkout::begun();
    checkout.commit("src/upload.rs", CODE);
    let session = at(&checkout);
    let code = "code:src/upload.rs#upload";
    let plain = session.ok("remember", json!({ "text": "Uploads are retried." }));
    session.ok("add_evidence", json!({ "node": plain["id"], "content": code }));
    let (title, summary) = ("Backoff", "The pause between two tries grows with each of them.");
    session.ok(
        "add_memory_node",
        json!({ "title": title, "summary": summary, "kind": "module", "evidence": [code] }),
    );
    let outcome =
        "Fixed the lost upload: the retry loop ended too early because the gateway drops one in ten.";
    let kept = session.ok(
        "reflect_and_write",
        json!({
            "task": "fix the lost upload", "outcome": outcome, "changed_files": ["src/upload.rs"],
            "verification_status": "tests_passed", "test_summary": "12 passed",
            "evidence_refs": [code, "code:src/nothing.rs#none"],
        }),
    );
    assert_eq!(alarm(&session, json!({})).1["findings"], json!([]));
    checkout.write("src/upload.rs", &CODE.replace("0..times", "0..times + 1"));
    let (_, reply) = alarm(&session, json!({}));
    let found: Vec<&str> =
        reply["findings"].as_array().expect("a list").iter().filter_map(|one| one["id"].as_str()).collect();
    assert!(found.len() >= 3 && found.iter().any(|id| kept.to_string().contains(id)), "{reply:#} {kept:#}");
}
