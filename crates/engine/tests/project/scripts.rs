//! Tasks in one script about code in another.

use serde_json::json;

use crate::retrieve::{Made, paths, retrieve, store, titles, with_files};

const HTTP: &str = r#""""The client that talks to other services over HTTP."""
import socket


class HttpClient:
    """Sends requests; a connection that is not made in time fails with a timeout."""

    def connect(self, host, seconds=10):
        """Opens a connection to the host."""
        return socket.create_connection((host, 443), timeout=seconds)
"#;

const RETRY: &str = r#""""Retrying of calls."""


class RetryPolicy:
    """Decides how long a failed call waits before it is made again."""

    def next_delay(self, attempt):
        """Exponential backoff."""
        return 2 ** attempt
"#;

const CACHE: &str = r#""""Answers that are kept in Redis."""


def put(redis, key, value, seconds):
    """Keeps a value until it expires."""
    redis.set(key, value, ex=seconds)
"#;

const TOKENS: &str = r#""""Tokens of sessions."""


class TokenStore:
    """Keeps the tokens of those who are signed in, encrypted."""

    def save(self, user, token):
        self.rows[user] = token
"#;

const SOCKET: &str = r#"/** Keeps a websocket open by asking again and again whether the other side is there. */
export function heartbeat(websocket, seconds) {
    setInterval(() => websocket.ping(), 1000 * seconds);
}
"#;

const CRON: &str = r#""""When jobs run."""


def parse(line):
    """Reads a cron expression of five fields; another number of fields is an error."""
    return line.split()
"#;

/// A project in English with files enough that one word does not decide.
fn project() -> crate::support::Session {
    let filler: Vec<(String, String)> = (0..40)
        .map(|n| {
            let text = format!(
                "\"\"\"Report {n} of the warehouse.\"\"\"\n\n\ndef rows_{n}(shelf):\n    \"\"\"Counts the boxes of shelf {n}.\"\"\"\n    return shelf[{n}]\n"
            );
            (format!("src/reports/report_{n}.py"), text)
        })
        .collect();
    let mut files: Vec<(&str, &str)> =
        filler.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.extend([
        ("src/http_client.py", HTTP),
        ("src/retry.py", RETRY),
        ("src/cache.py", CACHE),
        ("src/tokens.py", TOKENS),
        ("web/socket.js", SOCKET),
        ("src/cron.py", CRON),
    ]);
    with_files(&files)
}

#[test]
fn a_task_in_another_script_finds_the_code_that_its_latin_words_name() {
    let session = project();
    for (task, path) in [
        ("为 HTTP 客户端加一个连接超时", "src/http_client.py"),
        ("修复RetryPolicy类的退避时间计算错误", "src/retry.py"),
        ("把 websocket 的心跳间隔改成三十秒", "web/socket.js"),
        ("调度器遇到写错的cron表达式就崩溃，请修复并补充单元测试", "src/cron.py"),
        ("HTTPクライアントに接続タイムアウトを追加する", "src/http_client.py"),
        ("Redisに保存された値の有効期限を短くしたい", "src/cache.py"),
        ("HTTP 클라이언트에 연결 시간 제한을 추가해 주세요", "src/http_client.py"),
        ("TokenStore가 로그인한 사용자의 토큰을 어떻게 보관하는지 설명해 줘", "src/tokens.py"),
        ("redis에 저장된 값의 만료 시간을 줄여 줘", "src/cache.py"),
        ("Добавь ограничение времени соединения в HTTP клиент", "src/http_client.py"),
    ] {
        let pack = retrieve(&session, json!({ "task": task }));
        let found = paths(&pack, "knowledge_chunks", "source_path");
        assert_eq!(found.first().map(String::as_str), Some(path), "{task}: {pack}");
    }
}

#[test]
fn a_task_in_another_script_finds_memories_by_name() {
    let session = project();
    let made = |kind, title, body| Made { kind, title, body, ..Made::default() };
    store(
        &session,
        &[
            made("decision", "Time limits", "Every call over HTTP has a time limit of ten seconds."),
            made("decision", "Colours", "Reports are printed in black and white."),
        ],
    );
    for task in ["为 HTTP 客户端加一个连接超时", "HTTPクライアントの設定", "HTTP 연결 설정"]
    {
        let pack = retrieve(&session, json!({ "task": task }));
        assert_eq!(titles(&pack, "decisions"), ["Time limits"], "{task}: {pack}");
    }
}

#[test]
fn a_question_about_something_else_finds_nothing_in_any_script() {
    let session = project();
    for task in [
        "披萨烤箱 oven 的温度为什么不对？",
        "明天下午三点东京的天气怎么样",
        "Tokyoの天気はどうですか",
        "Michelin 식당은 어디에 있나요",
        "Кто написал Moby Dick и когда",
    ] {
        let pack = retrieve(&session, json!({ "task": task }));
        assert_eq!(paths(&pack, "knowledge_chunks", "source_path"), Vec::<String>::new(), "{task}: {pack}");
    }
}
