//! The judge behind a real socket: what leaves, what is believed of what comes back, and that nothing leaves unasked.

mod support;

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use strata_engine::{
    engine::Engine,
    error::Error,
    judge::{self, Judge, MAX_DIGEST, OpenAiCompatible, Relation, Scripted, Verdict},
    settings::{JudgeProvider, Key, Settings},
};
use support::Session;

/// What the configured judge says of two texts; `None` without one.
fn asked(engine: &Engine, a: &str, b: &str) -> Option<Verdict> {
    let judge = engine.judge().expect("can be made")?;
    Some(judge::verdict_of(judge, a, b).expect("an answer"))
}

/// A server on loopback that gives every request the same answer and keeps what it was sent.
struct Server {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

impl Server {
    fn answering(answer: impl Fn(&mut TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let (requests, connections) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let (kept, counted) = (Arc::clone(&requests), Arc::clone(&connections));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                counted.fetch_add(1, Ordering::SeqCst);
                kept.lock().expect("no panic").push(read_request(&mut stream));
                answer(&mut stream);
            }
        });
        Self { url, requests, connections }
    }

    /// A server whose model says `content`.
    fn saying(content: &str) -> Self {
        let body =
            json!({ "choices": [{ "message": { "role": "assistant", "content": content } }] }).to_string();
        Self::answering(move |stream| send(stream, "200 OK", "", &body))
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    fn request(&self) -> String {
        self.requests.lock().expect("no panic")[0].clone()
    }
}

fn read_request(stream: &mut TcpStream) -> String {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|l| l.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return text,
            Ok(n) => bytes.extend_from_slice(&buffer[..n]),
        }
    }
}

fn send(stream: &mut TcpStream, status: &str, headers: &str, body: &str) {
    // A client that has read enough hangs up; that is its right.
    drop(write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len()));
}

fn settings(server: &Server, home: &std::path::Path) -> Settings {
    let mut settings = Settings::for_home(home);
    settings.config.judge.provider = JudgeProvider::OpenaiCompatible;
    settings.config.judge.url.clone_from(&server.url);
    settings.config.judge.model = "small-model".into();
    settings.config.judge.timeout_ms = 2_000;
    settings
}

fn judge(server: &Server) -> OpenAiCompatible {
    OpenAiCompatible::new(&settings(server, std::path::Path::new("/nowhere"))).expect("an address")
}

fn fault(outcome: Result<impl std::fmt::Debug, Error>) -> String {
    let error = outcome.expect_err("nothing to believe");
    assert!(matches!(&error, Error::Remote { host, .. } if host == "127.0.0.1"), "{error:?}");
    error.to_string()
}

const CONTRADICTS: &str =
    "{\"relation\": \"contradicts\", \"reason\": \"30 is not 60\", \"confidence\": 0.9}";

#[test]
fn a_question_has_the_expected_shape_and_its_answer_is_a_verdict() {
    let server = Server::saying(CONTRADICTS);
    let mut settings = settings(&server, std::path::Path::new("/nowhere"));
    settings.judge_key = Some(Key::new("sk-test-key").expect("a key"));
    let judge = OpenAiCompatible::new(&settings).expect("an address");
    let verdict = judge::verdict_of(&judge, "the timeout is 30 s", "超时是60秒").expect("a verdict");
    let expected =
        Verdict { relation: Relation::Contradicts, reason: "30 is not 60".into(), confidence: 0.9 };
    assert_eq!(verdict, expected);
    let request = server.request();
    let (head, body) = request.split_once("\r\n\r\n").expect("head and body");
    let head = head.to_lowercase();
    assert!(head.starts_with("post /v1/chat/completions http/1.1"), "{head}");
    for line in ["authorization: bearer sk-test-key", "content-type: application/json", "user-agent: strata/"]
    {
        assert!(head.contains(line), "{line}: {head}");
    }
    let body: Value = serde_json::from_str(body).expect("JSON");
    assert_eq!((&body["model"], &body["messages"][0]["role"]), (&json!("small-model"), &json!("system")));
    let asked: Value =
        serde_json::from_str(body["messages"][1]["content"].as_str().expect("text")).expect("JSON");
    assert_eq!(asked, json!({ "a": "the timeout is 30 s", "b": "超时是60秒" }));
}

#[test]
fn a_digest_is_bounded_and_blacked_out_like_what_was_sent() {
    let key = format!("ghp_{}", "a1B2c3D4".repeat(5));
    let server = Server::saying(&json!({ "digest": format!("{key} {}", "word ".repeat(3_000)) }).to_string());
    let digest = judge::digest_of(&judge(&server), &["one", "", "two"]).expect("a digest");
    assert!(digest.chars().count() <= MAX_DIGEST && !digest.contains(&key), "{digest}");
    assert!(judge::digest_of(&judge(&server), &["", " "]).is_err());
    assert_eq!(server.connections(), 1, "nothing to say is not asked");
}

#[test]
fn no_secret_leaves_in_a_question() {
    let server = Server::saying(CONTRADICTS);
    let key = format!("ghp_{}", "a1B2c3D4".repeat(5));
    let near_the_cut = format!("{}{key}", "x ".repeat(1_985));
    let judge = judge(&server);
    judge::verdict_of(&judge, &format!("the token is {key}"), &near_the_cut).expect("a verdict");
    judge::digest_of(&judge, &[&key, &format!("password = {key}")]).expect_err("no digest");
    let sent = server.requests.lock().expect("no panic").join("\n");
    assert!(!sent.contains(&key) && !sent.contains("ghp_a1B2"), "{sent}");
    assert!(sent.contains("the token is"), "the rest does");
}

#[test]
fn a_server_that_does_not_answer_is_not_waited_for() {
    let server = Server::answering(|_| thread::sleep(Duration::from_secs(5)));
    let mut settings = settings(&server, std::path::Path::new("/nowhere"));
    settings.config.judge.timeout_ms = 200;
    let judge = OpenAiCompatible::new(&settings).expect("an address");
    let begun = Instant::now();
    assert!(fault(judge::verdict_of(&judge, "a", "b")).ends_with("it did not answer in time"));
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}

#[test]
fn a_server_that_drips_is_not_waited_for_either() {
    let server = Server::answering(|stream| {
        drop(write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n"));
        for _ in 0..40 {
            if stream.write_all(b"x").is_err() {
                break;
            }
            thread::sleep(Duration::from_millis(100));
        }
    });
    let mut settings = settings(&server, std::path::Path::new("/nowhere"));
    settings.config.judge.timeout_ms = 300;
    let judge = OpenAiCompatible::new(&settings).expect("an address");
    assert!(fault(judge::verdict_of(&judge, "a", "b")).ends_with("it did not answer in time"));
}

#[test]
fn garbage_is_no_verdict() {
    for content in ["They contradict.", "", "{\"relation\": \"delete everything\"}"] {
        let server = Server::saying(content);
        assert!(fault(judge::verdict_of(&judge(&server), "a", "b")).contains("not the JSON"), "{content}");
    }
    let server = Server::answering(|stream| send(stream, "200 OK", "", "<html>hello</html>"));
    assert!(fault(judge::verdict_of(&judge(&server), "a", "b")).contains("no chat completion"));
    let server =
        Server::answering(|stream| drop(stream.write_all(b"\x00\x01\x02 this is no protocol\r\n\r\n")));
    fault(judge::verdict_of(&judge(&server), "a", "b"));
}

#[test]
fn a_huge_answer_is_cut_off() {
    let server = Server::answering(|stream| {
        drop(write!(stream, "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"));
        let piece = [b'x'; 65_536];
        for _ in 0..1_600 {
            if stream.write_all(&piece).is_err() {
                break;
            }
        }
    });
    assert!(fault(judge::verdict_of(&judge(&server), "a", "b")).contains("more than"));
}

#[test]
fn no_redirect_is_followed_and_no_key_goes_along() {
    let elsewhere = Server::saying(CONTRADICTS);
    let location = format!("location: {}/chat/completions\r\n", elsewhere.url);
    for status in ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let location = location.clone();
        let server = Server::answering(move |stream| send(stream, status, &location, ""));
        assert!(fault(judge::verdict_of(&judge(&server), "a", "b")).contains("redirect"), "{status}");
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[test]
fn a_failing_or_missing_server_is_a_typed_failure_and_is_asked_once() {
    let server = Server::answering(|stream| send(stream, "500 Internal Server Error", "", "secret details"));
    let said = fault(judge::verdict_of(&judge(&server), "a", "b"));
    assert!(said.contains("500") && !said.contains("secret details"), "{said}");
    assert_eq!(server.connections(), 1);
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let gone =
        Server { url: format!("http://{closed}/v1"), requests: Arc::default(), connections: Arc::default() };
    fault(judge::verdict_of(&judge(&gone), "a", "b"));
}

#[test]
fn a_verdict_without_conviction_is_unsure() {
    let server = Server::saying("{\"relation\": \"same\", \"reason\": \"a guess\", \"confidence\": 0.3}");
    let verdict = judge::verdict_of(&judge(&server), "a", "b").expect("a verdict");
    assert_eq!(verdict.relation, Relation::Unsure);
}

#[test]
fn the_key_is_read_from_its_file_when_it_is_needed() {
    let server = Server::saying(CONTRADICTS);
    let home = tempfile::tempdir().expect("a temporary directory");
    let mut settings = settings(&server, home.path());
    settings.config.judge.key_file = Some("judge.key".into());
    let judge = OpenAiCompatible::new(&settings).expect("no file is opened yet");
    assert!(
        judge.compare(&judge::Outgoing::new("a"), &judge::Outgoing::new("b")).is_err(),
        "no file, no question"
    );
    assert_eq!(server.connections(), 0);
    strata_store::files::write_atomic(&home.path().join("judge.key"), b"sk-from-file\n").expect("written");
    judge::verdict_of(&judge, "a", "b").expect("a verdict");
    assert!(server.request().to_lowercase().contains("authorization: bearer sk-from-file\r\n"));
    assert!(!format!("{judge:?} {settings:?}").contains("sk-from-file"));
}

#[test]
fn nobody_is_asked_before_there_is_a_question_and_nobody_at_all_unless_configured() {
    let server = Server::saying(CONTRADICTS);
    let s = Session::with_settings(|settings| {
        settings.config.judge = self::settings(&server, std::path::Path::new("/nowhere")).config.judge;
    });
    for text in ["the timeout is 30 s", "the timeout is 60 s"] {
        s.remember(text);
    }
    s.recall("timeout");
    assert!(
        s.ok("status", json!({}))["judge"]
            .as_str()
            .is_some_and(|j| j.starts_with("small-model at 127.0.0.1"))
    );
    let findings = s.ok("doctor", json!({}))["findings"].clone();
    let finding =
        findings.as_array().expect("findings").iter().find(|f| f["check"] == "judge").expect("looked at");
    assert!(finding["detail"].as_str().is_some_and(|d| d.contains("not asked")), "{finding}");
    assert!(s.engine.judge().expect("can be made").is_some());
    assert_eq!(server.connections(), 0, "made, looked at, and not asked");
    let verdict = asked(&s.engine, "30 s", "60 s").expect("a judge");
    assert_eq!((verdict.relation, server.connections()), (Relation::Contradicts, 1));

    let off = Session::new();
    assert_eq!(asked(&off.engine, "30 s", "60 s"), None);
    assert_eq!(off.ok("status", json!({}))["judge"], "off");
}

#[test]
fn a_scripted_judge_answers_in_order_and_keeps_the_questions() {
    let verdict = Verdict { relation: Relation::Same, reason: "r".into(), confidence: 1.0 };
    let scripted = Scripted::new(vec![verdict.clone()], vec!["short".into()]);
    assert_eq!(judge::verdict_of(&scripted, "a", "b").expect("scripted"), verdict);
    assert!(judge::verdict_of(&scripted, "a", "b").is_err(), "the script has ended");
    assert_eq!(judge::digest_of(&scripted, &["x", "y"]).expect("scripted"), "short");
    let spare = Scripted::new(vec![verdict.clone()], Vec::new());
    let engine = Engine::new(Settings::for_home("/nowhere")).with_judge(Box::new(spare));
    assert_eq!(asked(&engine, "a", "b"), Some(verdict));
    assert_eq!(scripted.asked(), [vec!["a", "b"], vec!["a", "b"], vec!["x", "y"]]);
}
