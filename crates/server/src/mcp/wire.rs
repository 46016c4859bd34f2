//! Lines as clients really send them, turned into messages or into the error they deserve.
//!
//! The protocol library drops a line it cannot parse and the client waits for ever; here every line
//! that asks for an answer gets one, and none ends the session.

use rmcp::{RoleServer, service::RxJsonRpcMessage};
use serde_json::{Map, Value, json};
use strata_core::surrogates::without_lone_surrogates;

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const INVALID_PARAMS: i64 = -32602;

/// What a line turned out to be.
#[derive(Debug)]
pub(super) enum Line {
    /// A message for the protocol library.
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// Not acceptable; this is the reply.
    Refused(Value),
    /// Nothing to do and nobody to answer.
    Ignored,
}

/// Reads one line, without its line break.
pub(super) fn read(line: &[u8]) -> Line {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Line::Ignored;
    }
    match parse(line) {
        Ok(Value::Object(object)) => message(object),
        Ok(Value::Array(_)) => {
            refusal(&Value::Null, INVALID_REQUEST, "batches are not supported: send one message per line")
        }
        Ok(_) => refusal(&Value::Null, INVALID_REQUEST, "a message must be a JSON object"),
        Err(error) => refusal(&Value::Null, PARSE_ERROR, &format!("the line is not JSON: {error}")),
    }
}

/// The refusal of a line longer than `limit` bytes.
pub(super) fn too_long(limit: usize) -> Value {
    error(&Value::Null, INVALID_REQUEST, &format!("the line is longer than {limit} bytes"))
}

/// Parses, repairing what is wrong with the text's encoding rather than with its JSON.
fn parse(line: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(line).or_else(|first| {
        let text = String::from_utf8_lossy(line);
        let repaired = without_lone_surrogates(&text);
        if repaired.as_bytes() == line { Err(first) } else { serde_json::from_str(&repaired) }
    })
}

fn message(mut object: Map<String, Value>) -> Line {
    let id = object.get("id").cloned();
    if !object.contains_key("method") {
        // We never ask, so whatever claims to be an answer belongs to nobody.
        let answer = object.contains_key("result") || object.contains_key("error");
        return if answer {
            Line::Ignored
        } else {
            refusal(&Value::Null, INVALID_REQUEST, "`method` is missing")
        };
    }
    if let Some(id) = &id
        && !(id.is_i64() || id.is_string())
    {
        return refusal(&Value::Null, INVALID_REQUEST, "`id` must be a whole number or a text");
    }
    if let Err(problem) = normalise_params(&mut object) {
        return id.map_or(Line::Ignored, |id| refusal(&id, INVALID_PARAMS, problem));
    }
    object.insert("jsonrpc".into(), "2.0".into());
    match serde_json::from_value(Value::Object(object)) {
        Ok(message) => Line::Message(Box::new(message)),
        Err(error) => id.map_or(Line::Ignored, |id| {
            refusal(&id, INVALID_REQUEST, &format!("not a message of this protocol: {error}"))
        }),
    }
}

/// Drops nulls that mean "none" and unwraps arguments that were sent as text.
fn normalise_params(object: &mut Map<String, Value>) -> Result<(), &'static str> {
    match object.get_mut("params") {
        None => Ok(()),
        Some(Value::Null) => {
            object.remove("params");
            Ok(())
        }
        Some(Value::Object(params)) => {
            if let Some(Value::String(text)) = params.get("arguments")
                && let Ok(Value::Object(arguments)) = serde_json::from_str(text)
            {
                params.insert("arguments".into(), Value::Object(arguments));
            }
            match params.get("arguments") {
                None | Some(Value::Object(_)) => Ok(()),
                Some(Value::Null) => {
                    params.remove("arguments");
                    Ok(())
                }
                Some(_) => Err("`arguments` must be an object: send {\"name\": value, ...}"),
            }
        }
        Some(_) => Err("`params` must be an object"),
    }
}

fn refusal(id: &Value, code: i64, message: &str) -> Line {
    Line::Refused(error(id, code, message))
}

fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &[u8]) -> Value {
        match read(line) {
            Line::Refused(reply) => reply,
            other => panic!("expected a refusal of {}, got {other:?}", String::from_utf8_lossy(line)),
        }
    }

    fn accepted(line: &[u8]) -> String {
        match read(line) {
            Line::Message(message) => format!("{message:?}"),
            other => panic!("expected a message from {}, got {other:?}", String::from_utf8_lossy(line)),
        }
    }

    #[test]
    fn what_is_no_message_gets_an_error() {
        for (line, code) in [
            (&b"not json"[..], PARSE_ERROR),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":", PARSE_ERROR),
            (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", INVALID_REQUEST),
            (b"[]", INVALID_REQUEST),
            (b"42", INVALID_REQUEST),
            (b"{}", INVALID_REQUEST),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", INVALID_REQUEST),
            (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", INVALID_REQUEST),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", INVALID_REQUEST),
            (b"\xff\xfe", PARSE_ERROR),
        ] {
            assert_eq!(refused(line)["error"]["code"], code, "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn errors_carry_the_id_when_there_is_one() {
        let reply = refused(b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\",\"params\":[1]}");
        assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!("a"), &json!(INVALID_PARAMS)));
        let line = br#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"x","arguments":[1]}}"#;
        assert_eq!(refused(line)["id"], 3);
    }

    #[test]
    fn nulls_and_arguments_in_quotes_are_understood() {
        accepted(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}"#);
        accepted(br#"{"id":1,"method":"ping"}"#);
        accepted(b"\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r");
        let line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":"{\"a\":7}"}}"#;
        assert!(accepted(line).contains("Number(7)"));
        let line =
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":null}}"#;
        assert!(accepted(line).contains("arguments: None"));
    }

    #[test]
    fn broken_encodings_are_repaired_not_refused() {
        let call = |body: &[u8]| -> Vec<u8> {
            let head =
                br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"q":""#;
            [head, body, br#""}}}"#].concat()
        };
        assert!(accepted(&call(br"a\ud800b")).contains('\u{fffd}'));
        assert!(accepted(&call(br"\udc00\ud83d\ude00")).contains('😀'));
        assert!(accepted(&call(br"a\\ud800b")).contains("ud800"), "an escaped backslash is no escape");
        assert!(accepted(&call(b"a\xffb")).contains('\u{fffd}'));
        accepted(&call(br"nul \u0000 inside"));
    }

    #[test]
    fn answers_and_unreadable_notifications_are_ignored() {
        for line in [
            &b""[..],
            b"  ",
            br#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            br#"{"jsonrpc":"2.0","method":"notifications/progress","params":7}"#,
        ] {
            assert!(matches!(read(line), Line::Ignored), "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn depth_does_not_overflow_the_stack() {
        let deep = [b"[".repeat(1_000_000), b"]".repeat(1_000_000)].concat();
        assert_eq!(refused(&deep)["error"]["code"], PARSE_ERROR);
    }

    #[test]
    fn a_request_with_any_one_byte_changed_is_answered_or_read() {
        let whole = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":{"q":"\ud83d"}}}"#;
        for at in 0..whole.len() {
            for byte in 0..=u8::MAX {
                let mut line = whole.to_vec();
                line[at] = byte;
                let text = String::from_utf8_lossy(&line);
                match read(&line) {
                    Line::Refused(reply) => assert!(reply["error"]["code"].is_i64(), "{text}"),
                    Line::Message(_) => {}
                    // Without its id it is a notification, which nobody answers.
                    Line::Ignored => assert!(!text.contains("\"id\":7,"), "{text}"),
                }
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_are_fatal(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            drop(read(&bytes));
        }

        #[test]
        fn repaired_text_has_no_lone_surrogate(units in proptest::collection::vec(0xD7F0_u16..0xE010, 0..6)) {
            let escaped: String = units.iter().map(|u| format!("\\u{u:04x}")).collect();
            let text: Result<String, _> = serde_json::from_str(&format!("\"{}\"", without_lone_surrogates(&escaped)));
            proptest::prop_assert_eq!(text.expect("valid"), String::from_utf16_lossy(&units));
        }
    }
}
