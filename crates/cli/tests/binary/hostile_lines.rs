//! Lines that real clients, and clients gone wrong, have sent. None may end the session.

use serde_json::{Value, json};
use strata_testkit::{
    home::TestHome,
    mcp::{Era, McpScript},
};

use crate::strata;

fn script(home: &TestHome) -> McpScript {
    McpScript::start(&strata(home), Era::Handshake, &[])
}

#[track_caller]
fn alive(script: &mut McpScript) {
    assert!(!script.call("status", &json!({})).is_error);
}

#[test]
fn p_layer_c68_every_bad_line_gets_an_error_and_the_next_request_works() {
    let home = TestHome::new();
    let mut script = script(&home);
    for (line, code) in [
        ("not json at all", -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,", -32700),
        ("[]", -32600),
        ("[{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}]", -32600),
        ("{}", -32600),
        ("null", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"tools/call\",\"params\":3}", -32602),
        ("{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"tools/call\",\"params\":null}", -32602),
    ] {
        script.send_line(line.as_bytes());
        let reply = script.read();
        assert_eq!(reply["error"]["code"], code, "{line}: {reply}");
        alive(&mut script);
    }
    script.send_line(br#"{"jsonrpc":"2.0","id":"list","method":"tools/list","params":null}"#);
    assert!(script.read()["result"]["tools"].is_array());
}

#[test]
fn raw_bytes_lone_surrogates_and_nul_are_read_as_text() {
    let home = TestHome::new();
    let mut script = script(&home);
    for body in
        [&b"\xff\xfe\x80"[..], br"\ud800", br"\udc00\ud800", br"\u0000", "\u{202e}rtl e\u{301}".as_bytes()]
    {
        let head = br#"{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"status","arguments":{"x":""#;
        script.send_line(&[head, body, br#""}}}"#].concat());
        let reply = script.read();
        assert_eq!((&reply["id"], &reply["result"]["isError"]), (&json!("b"), &json!(true)), "{reply}");
    }
    alive(&mut script);
}

#[test]
fn very_long_lines_are_answered() {
    let home = TestHome::new();
    let mut script = script(&home);
    for megabytes in [5, 20] {
        let big = "x".repeat(megabytes << 20);
        let answer = script.call("status", &json!({ "x": big }));
        assert!(answer.is_error && answer.text.len() < 2000, "{}", answer.text.len());
        script.send_line(big.as_bytes());
        assert_eq!(script.read()["error"]["code"], -32700);
    }
    script.send_line(&vec![b'y'; 65 << 20]);
    assert_eq!(script.read()["error"]["code"], -32600);
    alive(&mut script);
}

#[test]
fn messages_before_the_handshake_and_stray_answers_do_not_end_the_session() {
    let home = TestHome::new();
    let mut script = McpScript::silent(&strata(&home), Era::Handshake, &[]);
    for line in [
        &br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#[..],
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#,
        br#"{"jsonrpc":"2.0","method":"notifications/unheard_of","params":{"a":1}}"#,
        br#"{"jsonrpc":"2.0","id":5,"result":{}}"#,
        br#"{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x"}}"#,
        b"",
        b"\r",
    ] {
        script.send_line(line);
    }
    assert_eq!(script.request("ping", json!({})), json!({}));
    alive(&mut script);
}

#[test]
fn arguments_as_text_or_nothing_are_understood() {
    let home = TestHome::new();
    let mut script = script(&home);
    for arguments in [json!("{}"), Value::Null, json!({ "format": "" }), json!({ "format": null })] {
        let answer = script.call("status", &arguments);
        assert!(!answer.is_error, "{arguments}: {}", answer.text);
    }
    let list = script.exchange("tools/call", json!({ "name": "status", "arguments": [1] }));
    assert_eq!(list["error"]["code"], -32602, "{list}");
}

#[test]
fn a_flood_of_requests_is_answered_one_by_one() {
    let home = TestHome::new();
    let mut script = script(&home);
    let ids: Vec<i64> =
        (0..300).map(|_| script.begin("tools/call", json!({ "name": "status", "arguments": {} }))).collect();
    let mut answered: Vec<i64> = Vec::new();
    while answered.len() < ids.len() {
        let reply = script.read();
        assert_eq!(reply["result"]["isError"], false, "{reply}");
        answered.extend(reply["id"].as_i64());
    }
    answered.sort_unstable();
    assert_eq!(answered, ids);
    alive(&mut script);
}
