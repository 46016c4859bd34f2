//! Real inputs that broke other memories, by the number of their report, as they reach the binary.

use serde_json::{Value, json};
use strata_testkit::{
    binary::Binary,
    home::TestHome,
    mcp::{Era, McpScript},
};

use crate::strata;

/// What is printed is UTF-8 wherever it is printed: a console of one byte per character decides nothing.
#[test]
fn field_case_16_marks_and_emoji_come_out_whatever_the_locale() {
    let home = TestHome::new();
    let note = home.file("⚙️ notes/in.jsonl", "{\"text\":\"✓ the ⟦gate⟧ is open 🦀\"}\n");
    let folder = note.parent().expect("a folder").display().to_string();
    for locale in ["C", "POSIX", "en_US.ISO-8859-1", "zh_CN.GBK", "tr_TR.CP1254"] {
        let binary = strata(&home)
            .with("LC_ALL", locale)
            .with("LANG", locale)
            .with("STRATA_PROJECT", &folder)
            .with("PYTHONIOENCODING", "cp1252");
        binary.run(["import", &note.display().to_string()]).success();
        let shown = binary.run(["recall", "gate open"]).success().stdout;
        assert!(shown.contains("✓ the ⟦gate⟧ is open 🦀"), "{locale}: {shown}");
        let refused = binary.run(["import", "⚙️.jsonl"]).failure(8);
        assert!(refused.stderr.contains("⚙️"), "{locale}: {}", refused.stderr);
        let mut script = McpScript::start(&binary, Era::Handshake, &[]);
        let hot = script.call("context", &json!({ "query": "gate" })).text;
        assert!(hot.contains("⟦gate⟧ is open 🦀"), "{locale}: {hot}");
    }
}

/// A file manager spells an accented name in parts, a keyboard in one.
#[test]
fn field_case_17_a_name_in_either_spelling_is_one_project() {
    let home = TestHome::new();
    let said = |name: &str, text: &str| {
        strata(&home).run(["remember", text, "--project", name]).success();
    };
    said("Caf\u{e9}", "the grinder is set to nine");
    said("Cafe\u{301}", "the grinder is cleaned on Mondays");
    for name in ["Caf\u{e9}", "Cafe\u{301}"] {
        let found = strata(&home).json(["recall", "grinder", "--project", name]);
        assert_eq!(found["hits"].as_array().map(Vec::len), Some(2), "{found:#}");
    }
}

#[test]
fn field_case_23_joined_and_truncated_lines_cost_only_themselves() {
    let home = TestHome::new();
    let lines = "{\"type\":\"relation\",\"text\":\"the dam feeds the mill\"}{\"type\":\"entity\",\"text\":\"the mill grinds\"}\n\
                 {\"text\":\"the weir is low\"}\n{\"text\":\"the slu";
    let file = home.file("work/memory.jsonl", lines).display().to_string();
    let binary = strata(&home).with("STRATA_PROJECT", &home.outside().join("work").display().to_string());
    let output = binary.run(["import", &file]);
    let told = format!("{}{}", output.stdout, output.stderr);
    assert!(told.contains("line 3"), "the cut line is named: {told}");
    assert_eq!(binary.json(["status"])["holds"]["episodes"], 3);
    let mut script = McpScript::start(&binary, Era::Stateless, &[]);
    assert!(script.call("recall", &json!({ "query": "mill grinds" })).text.contains("the mill grinds"));
}

/// The secrets of the report, in every place a caller can put them.
#[test]
fn field_case_44_secrets_reach_no_file_and_no_log() {
    let home = TestHome::new();
    let body = "MIIEpAIBAAKCAQEA0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL";
    let pem = format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----");
    let binary = strata(&home).with("RUST_LOG", "trace");
    let mut script = McpScript::start(&binary, Era::Handshake, &[]);
    let text = format!(
        "Remember: prod DB password is hunter2 and my API key is sk-abc123.\n{pem}\nAuthorization: Bearer \
         q7Rt2Lm9Xw4Zp1Vb\nhttps://vault.example/v1/secret/Nc3Ks8Dy5Hg0Jf2T\nThe office is blue."
    );
    let arguments = json!({
        "text": text, "title": "key sk-proj-q7Rt2Lm9Xw4Zp1VbAA", "topic_key": "db", "tags": ["office"],
        "metadata": { "password": "hunter2", "note": "api_key=Zz9Yy8Xx7Ww6" },
        "evidence": ["curl -H 'Authorization: Bearer q7Rt2Lm9Xw4Zp1Vb'"],
    });
    let reply = script.call("remember", &arguments);
    assert!(!reply.is_error, "{}", reply.text);
    script.call("reflect", &json!({ "text": "the password of the router is hunter2, says the label" }));
    let shown = script.call("recall", &json!({ "query": "office blue" })).text;
    assert!(shown.contains("The office is blue") && shown.contains("prod DB password is"), "{shown}");
    let log = script.finish().stderr;
    let secrets = ["hunter2", "sk-abc123", body, "q7Rt2Lm9Xw4Zp1Vb", "Nc3Ks8Dy5Hg0Jf2T", "Zz9Yy8Xx7Ww6"];
    for secret in secrets {
        assert!(!shown.contains(secret), "{secret}: {shown}");
        assert!(!log.contains(secret), "{secret} is in the log");
        for (name, bytes) in files(home.path()) {
            assert!(!bytes.windows(secret.len()).any(|w| w == secret.as_bytes()), "{secret} in {name}");
        }
    }
}

/// Every file below a folder with its bytes.
fn files(folder: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.push((path.display().to_string(), std::fs::read(&path).unwrap_or_default()));
        }
    }
    all
}

/// Two unrelated repositories with a file of the same name, found by directory as clients name them.
#[test]
fn field_case_40_another_repository_is_told_nothing() {
    let home = TestHome::new();
    for name in ["a", "b"] {
        home.file(&format!("{name}/app/.git/HEAD"), "ref: refs/heads/main\n");
        home.file(&format!("{name}/app/src/auth.ts"), "export {};\n");
    }
    let at = |name: &str| {
        let folder = home.outside().join(name).join("app").display().to_string();
        strata(&home).with("CLAUDE_PROJECT_DIR", &folder)
    };
    let mut first = McpScript::start(&at("a"), Era::Handshake, &[]);
    first.call("remember", &json!({ "text": "src/auth.ts crashed: the Express JWT middleware ran twice" }));
    let mut second = McpScript::start(&at("b"), Era::Stateless, &[]);
    for (tool, arguments) in [
        ("recall", json!({ "query": "src/auth.ts crash" })),
        ("context", json!({ "query": "src/auth.ts crash" })),
        ("context", json!({})),
    ] {
        let text = second.call(tool, &arguments).text;
        assert!(!text.contains("Express") && !text.contains("mem_"), "{tool}: {text}");
    }
    let own = first.call("recall", &json!({ "query": "src/auth.ts crash" })).text;
    assert!(own.contains("Express"), "{own}");
}

/// One process after the other is told what the documentation says.
#[test]
fn every_exit_code_is_as_documented() {
    let home = TestHome::new();
    let binary = strata(&home);
    binary.run(["status"]).failure(0);
    binary.run(["doctor"]).failure(1);
    binary.run(["recall", "x", "--limit", "many"]).failure(2);
    let id = text_of(&binary.json(["remember", "the kiln cools overnight"])["id"]);
    binary.run(["remember", "obey", "--layer", "P0"]).failure(3);
    binary.run(["inspect", "mem_zzzzzzzzzz"]).failure(4);
    binary.run(["forget", &id]).success();
    binary.run(["forget", &id]).failure(5);
    binary.run(["import", "nowhere.jsonl"]).failure(8);
    home.file("home/ledger.db", "SQLite format 3\0 and then nonsense ".repeat(400));
    let damaged = binary.run(["recall", "kiln"]);
    assert!([8, 9].contains(&damaged.code), "{}: {}", damaged.code, damaged.stderr);
    assert!(!damaged.stderr.contains("panicked"), "{}", damaged.stderr);
}

fn text_of(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// Every use but `status` and `doctor` makes the home; those two leave nothing, however they are called.
#[test]
fn looking_at_a_home_that_is_not_there_creates_nothing() {
    let home = TestHome::new();
    let binary: Binary<'_> = strata(&home);
    for arguments in
        [&["status"][..], &["--json", "status"], &["doctor"], &["doctor", "--full"], &["jobs", "list"]]
    {
        binary.run(arguments);
        assert!(!home.path().exists(), "{arguments:?}");
    }
    let mut script = McpScript::start(&binary, Era::Handshake, &["--toolsets", "core,admin"]);
    script.call("status", &json!({}));
    script.call("doctor", &json!({}));
    script.request("resources/read", json!({ "uri": "memory://status" }));
    script.finish();
    assert!(!home.path().exists(), "over MCP");
}
