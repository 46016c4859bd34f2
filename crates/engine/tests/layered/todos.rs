//! Todos: what they may say, how they move on, where they are shown, and that nothing of them is lost or left.

use crate::maintain_support::{Session, acting, become_owner, holding, home};
use serde_json::{Value, json};
use strata_core::{
    cancel::Cancel,
    error::ErrorKind,
    knowledge::todo::TodoId,
    principal::{Face, PrincipalKind},
    scope::Scope,
    time::Timestamp,
};
use strata_engine::{
    error::Error,
    knowledge::todo::{Created, NewTodo, create},
    operation::Call,
};

fn add(s: &Session, todo: Value) -> String {
    let reply = s.ok("add_todo", todo);
    assert_eq!(reply["success"], true, "{reply}");
    reply["id"].as_str().expect("an id").to_owned()
}

fn list(s: &Session, filter: Value) -> Vec<Value> {
    let reply = s.ok("list_todos", filter);
    let todos = reply["todos"].as_array().expect("todos").clone();
    assert_eq!((&reply["success"], &reply["count"]), (&json!(true), &json!(todos.len())));
    todos
}

fn titles(s: &Session, filter: Value) -> Vec<String> {
    list(s, filter).iter().map(|todo| todo["title"].as_str().expect("a title").to_owned()).collect()
}

/// The todo with this id, whatever its status.
fn one(s: &Session, id: &str) -> Value {
    list(s, json!({})).into_iter().find(|todo| todo["id"] == id).expect("listed")
}

/// What a failed call says, and its hint. One that succeeds says neither.
fn refused(s: &Session, tool: &str, arguments: Value) -> String {
    match s.reply(tool, arguments) {
        Ok(reply) => format!("accepted: {}", reply.json["id"]),
        Err(error) => format!("{error}; {}", error.hint()),
    }
}

fn created(s: &Session, new: &NewTodo) -> Result<Created, Error> {
    let call = Call {
        principal: &s.principal,
        scope: &s.scope,
        face: Face::Library,
        deadline: Timestamp::MAX,
        cancel: &Cancel::default(),
        progress: &|_, _| {},
        secret: s.secret.as_ref(),
    };
    create(&s.engine, &call, new)
}

fn marked(digits: &str, content: &str) -> NewTodo {
    NewTodo {
        id: Some(TodoId::parse(&format!("gov-{digits}")).expect("an id")),
        domain: "infra".into(),
        content: content.into(),
        ..NewTodo::default()
    }
}

#[test]
fn layered_60_a_list_fits_into_a_reply_whatever_the_todos_hold() {
    let s = Session::new();
    for n in 0..50 {
        add(
            &s,
            json!({ "content": format!("todo {n}: {}", "x".repeat(if n == 49 { 50_000 } else { 900 })) }),
        );
    }
    let listed = s.ok("list_todos", json!({}));
    let length = listed.to_string().chars().count();
    let (shown, more) = (listed["todos"].as_array().map_or(0, Vec::len) as u64, listed["more"].as_u64());
    assert!(length <= 32_000 && shown > 10 && more == Some(50 - shown), "{length} {shown} {more:?}");
    assert_eq!(listed["todos"][0]["is_cut"], true, "the newest is the long one");
    let mut read = std::collections::BTreeSet::new();
    let (mut page, mut pages) = (listed, 1);
    loop {
        let todos = page["todos"].as_array().expect("todos");
        assert!(todos.iter().all(|todo| read.insert(todo["id"].to_string())), "none is shown twice");
        let Some(next) = page["next_offset"].as_u64() else { break };
        (page, pages) = (s.ok("list_todos", json!({ "offset": next, "limit": 20 })), pages + 1);
    }
    assert_eq!((read.len(), &page["more"], pages > 2), (50, &Value::Null, true), "the end can be read");
    assert_eq!(s.ok("list_todos", json!({ "offset": 50 }))["count"], 0);
}

#[test]
fn layered_60_a_todo_moves_on_and_its_stamps_follow() {
    let s = Session::new();
    let id = add(
        &s,
        json!({ "domain": "infra", "content": "renew the certificate\nbefore June", "source_session_id": "s1" }),
    );
    assert!(id.starts_with("todo_") && id.len() == 15, "{id}");
    let first = &list(&s, json!({ "status": "pending" }))[0];
    let expected = json!({
        "id": id, "number": 1, "domain": "infra", "title": "renew the certificate",
        "content": "renew the certificate\nbefore June", "blocked_by": [], "priority": "medium", "status": "pending",
        "source_session_id": "s1", "notes": "", "created_at": first["created_at"], "updated_at": first["updated_at"],
        "completed_at": null, "cancelled_at": null,
    });
    assert_eq!(first, &expected);
    assert!(
        first["created_at"]
            .as_str()
            .is_some_and(|at| at.starts_with("2026-06-15T12:00:") && at.ends_with('Z'))
    );
    let moved = |status: &str| {
        let reply = s.ok("update_todo", json!({ "todo_id": id, "status": status }));
        assert_eq!(
            (&reply["success"], &reply["id"], &reply["status"]),
            (&json!(true), &json!(id), &json!(status))
        );
        let now = one(&s, &id);
        (now["completed_at"].is_string(), now["cancelled_at"].is_string())
    };
    assert_eq!(moved("in_progress"), (false, false));
    assert_eq!(moved("completed"), (true, false));
    assert_eq!(moved("cancelled"), (false, true));
    assert_eq!(moved("completed"), (true, false));
    assert_eq!(moved("pending"), (false, false));
    for (tool, arguments, words) in [
        (
            "update_todo",
            json!({ "todo_id": id, "status": "done" }),
            "pending, in_progress, completed, cancelled",
        ),
        (
            "update_todo",
            json!({ "todo_id": id, "priority": "urgent" }),
            "blocker, high, medium, low, waiting",
        ),
        (
            "add_todo",
            json!({ "content": "x", "domain": "d", "priority": "urgent" }),
            "blocker, high, medium, low, waiting",
        ),
        ("update_todo", json!({ "todo_id": "todo_0000000000", "status": "completed" }), "no todo"),
        ("update_todo", json!({ "todo_id": "nothing", "status": "completed" }), "todo_0123456789"),
        ("update_todo", json!({ "todo_id": id }), "nothing to change"),
        (
            "list_todos",
            json!({ "status": "done" }),
            "pending, in_progress, completed, cancelled, open, deleted",
        ),
        ("list_todos", json!({ "priority": "urgent" }), "blocker, high, medium, low, waiting"),
        ("add_todo", json!({ "content": "x", "domain": "../x" }), "cannot name a domain"),
        ("add_todo", json!({ "content": "  ", "domain": "d" }), "must not be empty"),
    ] {
        let said = refused(&s, tool, arguments.clone());
        assert!(said.contains(words), "{tool} {arguments}: {said}");
    }
    add(&s, json!({ "content": "second", "domain": "web", "priority": "blocker" }));
    let closed = add(&s, json!({ "content": "third", "domain": "web" }));
    s.ok("update_todo", json!({ "todo_id": closed, "status": "completed" }));
    let stats = s.ok("get_todo_stats", json!({}));
    assert_eq!(
        stats,
        json!({ "success": true, "stats": {
            "by_status": [{ "status": "pending", "count": 2 }, { "status": "completed", "count": 1 }],
            "by_domain": [{ "domain": "infra", "count": 1 }, { "domain": "web", "count": 1 }],
            "by_priority": [{ "priority": "blocker", "count": 1 }, { "priority": "medium", "count": 1 }],
            "total": 3,
        }})
    );
    assert_eq!(s.ok("status", json!({}))["holds"]["open_todos"], 2);
}

#[test]
fn open_ones_come_first_then_the_most_pressing_then_the_newest() {
    let s = Session::new();
    for (content, priority) in [
        ("low", "low"),
        ("older", "high"),
        ("newer", "high"),
        ("waits", "waiting"),
        ("done", "blocker"),
        ("stops all", "blocker"),
    ] {
        let id = add(&s, json!({ "content": content, "priority": priority, "domain": "My Notes" }));
        if content == "done" {
            s.ok("update_todo", json!({ "todo_id": id, "status": "completed" }));
        }
    }
    assert_eq!(titles(&s, json!({})), ["stops all", "newer", "older", "low", "waits", "done"]);
    assert_eq!(titles(&s, json!({ "status": "open", "limit": 2 })), ["stops all", "newer"]);
    assert_eq!(s.ok("list_todos", json!({ "limit": 2 }))["more"], 4);
    assert_eq!(titles(&s, json!({ "priority": "high", "domain": "my-notes.md" })), ["newer", "older"]);
    assert_eq!(titles(&s, json!({ "domain": "elsewhere" })), [""; 0]);
    assert_eq!(add(&s, json!({ "content": "no domain" })), list(&s, json!({ "domain": "general" }))[0]["id"]);
}

#[test]
fn what_blocks_must_be_there_and_must_not_wait_for_itself() {
    let s = Session::new();
    let [a, b, c] = ["a", "b", "c"].map(|content| add(&s, json!({ "content": content })));
    s.ok("update_todo", json!({ "todo_id": b, "blocked_by": [a, a] }));
    s.ok("update_todo", json!({ "todo_id": c, "blocked_by": format!("[\"{b}\", \"#1\"]") }));
    assert_eq!(one(&s, &b)["blocked_by"], json!([a]));
    assert_eq!(one(&s, &c)["blocked_by"], json!([b, a]));
    for wrong in [json!([c]), json!([b]), json!([a])] {
        let said = refused(&s, "update_todo", json!({ "todo_id": a, "blocked_by": wrong }));
        assert!(said.contains("would wait for itself"), "{said}");
    }
    for wrong in
        [json!("notjson"), json!("[\"todo_"), json!(["todo_0000000000"]), json!("{\"a\":1}"), json!(["#9"])]
    {
        for (tool, mut arguments) in
            [("update_todo", json!({ "todo_id": a })), ("add_todo", json!({ "content": "d" }))]
        {
            arguments["blocked_by"] = wrong.clone();
            assert_eq!(s.fails(tool, arguments), ErrorKind::Invalid, "{tool} {wrong}");
        }
    }
    s.ok("update_todo", json!({ "todo_id": c, "blocked_by": "[]" }));
    assert_eq!(one(&s, &c)["blocked_by"], json!([]));
    s.ok("update_todo", json!({ "todo_id": b, "clear": ["blocked_by"] }));
    assert_eq!(one(&s, &b)["blocked_by"], json!([]));
    s.ok("update_todo", json!({ "todo_id": a, "blocked_by": [c] }));
    s.ok("delete_todo", json!({ "todo_id": b }));
    assert_eq!(s.fails("update_todo", json!({ "todo_id": c, "blocked_by": [b] })), ErrorKind::Invalid);
    assert_eq!(list(&s, json!({})).len(), 2, "nothing came of the refused ones");
}

#[test]
fn fields_are_replaced_and_emptied_and_the_same_again_changes_nothing() {
    let s = Session::new();
    let id = add(&s, json!({ "content": "write the guide", "notes": "ask Ana", "title": "Guide" }));
    s.ok("update_todo", json!({ "todo_id": id, "clear": ["notes", "title"], "priority": "high" }));
    let now = one(&s, &id);
    assert_eq!(
        (&now["notes"], &now["title"], &now["priority"]),
        (&json!(""), &json!("write the guide"), &json!("high"))
    );
    s.ok("update_todo", json!({ "todo_id": id, "content": "write both guides", "notes": "" }));
    assert_eq!(one(&s, &id)["title"], "write both guides", "a title made from the content follows it");
    s.ok("update_todo", json!({ "todo_id": "#1", "title": "The guides" }));
    s.ok("update_todo", json!({ "todo_id": id, "content": "write three guides" }));
    let before = one(&s, &id);
    assert_eq!(before["title"], "The guides");
    let audit = |s: &Session| s.ok("status", json!({}))["holds"]["audit"].clone();
    let lines = audit(&s);
    let same = s.ok("update_todo", json!({ "todo_id": id, "status": "pending", "title": "The guides" }));
    assert_eq!((&same["success"], &same["changed"]), (&json!(true), &json!(false)));
    assert_eq!((one(&s, &id), audit(&s)), (before, lines));
    let wrong = json!({ "todo_id": id, "clear": ["content"] });
    assert!(refused(&s, "update_todo", wrong).contains("title, blocked_by, notes"));
    let both = json!({ "todo_id": id, "clear": ["notes"], "notes": "new" });
    assert_eq!(s.fails("update_todo", both), ErrorKind::Invalid);
}

#[test]
fn a_deleted_todo_is_out_of_every_list_and_comes_back_as_it_was() {
    let s = Session::new();
    let id = add(&s, json!({ "content": "empty the cellar", "priority": "blocker" }));
    s.ok("update_todo", json!({ "todo_id": id, "status": "in_progress" }));
    let before = one(&s, &id);
    assert_eq!(
        s.ok("delete_todo", json!({ "todo_id": id })),
        json!({ "success": true, "id": id, "deleted": true })
    );
    assert_eq!(list(&s, json!({})), Vec::<Value>::new());
    assert_eq!(s.ok("get_todo_stats", json!({}))["stats"]["total"], 0);
    assert_eq!(s.ok("status", json!({}))["holds"]["open_todos"], 0);
    assert!(!s.ok("context", json!({ "query": "the cellar is empty" }))["ids"].to_string().contains(&id));
    for tool in ["delete_todo", "update_todo"] {
        let mut arguments = json!({ "todo_id": id });
        if tool == "update_todo" {
            arguments["status"] = "pending".into();
        }
        assert_eq!(s.fails(tool, arguments), ErrorKind::NotFound, "{tool}");
    }
    let deleted = list(&s, json!({ "status": "deleted" }));
    assert!(deleted[0]["id"] == id && deleted[0]["deleted_at"].is_string(), "{deleted:?}");
    let whole = s.ok("inspect", json!({ "id": id }));
    assert_eq!(
        (whole["versions"].as_array().map(Vec::len), &whole["versions"][2]["deleted"]),
        (Some(3), &json!(true))
    );
    s.ok("restore_todo", json!({ "todo_id": id }));
    let mut back = one(&s, &id);
    back["updated_at"] = before["updated_at"].clone();
    assert_eq!(back, before);
    assert_eq!(s.fails("restore_todo", json!({ "todo_id": id })), ErrorKind::NotFound);
}

#[test]
fn todos_in_chinese_japanese_and_korean_touch_a_task_in_their_language() {
    let s = Session::new();
    for n in 0..30 {
        add(&s, json!({ "content": format!("filler {n}: water the plants"), "domain": "家" }));
    }
    let long = "续签网关证书。".repeat(20);
    let chinese = add(&s, json!({ "content": long, "domain": "基础设施", "priority": "low" }));
    let japanese = add(&s, json!({ "content": "会議室の予約システムを直す", "domain": "設備" }));
    let korean =
        add(&s, json!({ "content": "배포 인증서를 갱신한다", "domain": "인프라", "priority": "blocker" }));
    assert_eq!(one(&s, &chinese)["title"].as_str().map(|t| t.chars().count()), Some(50));
    assert_eq!(titles(&s, json!({ "domain": "인프라" })), ["배포 인증서를 갱신한다"]);
    for (task, id) in [
        ("网关的证书什么时候到期", &chinese),
        ("会議室の予約について調べる", &japanese),
        ("배포 인증서 확인", &korean),
    ] {
        let pack = s.ok("context", json!({ "query": task }));
        assert_eq!(pack["ids"][0], **id, "{task}: {pack}");
        let shown = pack["context"].as_str().expect("text");
        assert!(shown.contains("## Open todos") && !shown.contains("filler"), "{shown}");
    }
}

#[test]
fn context_shows_a_few_open_todos_that_touch_the_task_blockers_first_inside_the_budget() {
    let s = Session::new();
    for n in 0..8 {
        add(&s, json!({ "content": format!("check proxy timeout number {n}"), "priority": "low" }));
    }
    let stops = add(&s, json!({ "content": "the proxy timeout must be raised", "priority": "blocker" }));
    let closed = add(&s, json!({ "content": "proxy timeout measured", "priority": "blocker" }));
    s.ok("update_todo", json!({ "todo_id": closed, "status": "completed" }));
    s.ok("add_todo", json!({ "content": "paint the fence and the gate", "priority": "blocker" }));
    s.remember("the proxy timeout is 30 seconds");
    let pack = s.ok("context", json!({ "query": "raise the timeout of the proxy" }));
    let ids: Vec<&str> = pack["ids"].as_array().expect("ids").iter().filter_map(Value::as_str).collect();
    let todos: Vec<&&str> = ids.iter().filter(|id| id.starts_with("todo_")).collect();
    assert_eq!((todos.len(), *todos[0]), (5, stops.as_str()), "{ids:?}");
    assert!(ids.iter().any(|id| id.starts_with("mem_")), "{ids:?}");
    let text = pack["context"].as_str().expect("text");
    assert!(!text.contains("measured") && !text.contains("fence"), "{text}");
    let small = s.ok("context", json!({ "query": "raise the timeout of the proxy", "budget_tokens": 150 }));
    assert!(small["tokens"].as_u64() <= Some(150), "{small}");
    assert!(
        !s.ok("context", json!({}))["ids"].to_string().contains("todo_"),
        "without a task none is touched"
    );
}

#[test]
fn a_todo_belongs_to_namespace_and_project() {
    let mut s = Session::new();
    let shared = add(&s, json!({ "content": "for all" }));
    s.scope = Scope {
        namespace: "codex".into(),
        project: Some("atlas".into()),
        branch: Some("feat".into()),
        ancestors: Vec::new(),
    };
    let own = add(&s, json!({ "content": "for codex in atlas" }));
    assert_eq!(titles(&s, json!({})), ["for codex in atlas", "for all"]);
    assert_eq!(one(&s, &own)["project"], "atlas");
    for scope in
        [Scope::project("atlas"), Scope { namespace: "codex".into(), ..Scope::user() }, Scope::user()]
    {
        s.scope = scope;
        assert_eq!(titles(&s, json!({})), ["for all"], "{}", s.scope);
        assert_eq!(s.ok("get_todo_stats", json!({}))["stats"]["total"], 1);
        let foreign = json!({ "todo_id": own, "status": "completed" });
        assert_eq!(s.fails("update_todo", foreign), ErrorKind::NotFound);
        assert_eq!(s.fails("inspect", json!({ "id": own })), ErrorKind::NotFound);
        assert_eq!(
            s.fails("update_todo", json!({ "todo_id": shared, "blocked_by": [own] })),
            ErrorKind::Invalid
        );
        assert!(!s.ok("context", json!({ "query": "codex in atlas" }))["ids"].to_string().contains(&own));
    }
}

#[test]
fn a_todo_passes_the_gate_and_the_policy() {
    let mut s = Session::new();
    let key = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let reply =
        s.ok("add_todo", json!({ "content": format!("rotate {key} soon"), "notes": format!("old: {key}") }));
    assert_eq!(reply["redacted"].as_array().map(Vec::len), Some(1), "{reply}");
    assert!(!list(&s, json!({}))[0].to_string().contains(&key));
    let id = reply["id"].as_str().expect("an id").to_owned();
    s.set_kind(PrincipalKind::Gateway);
    for (tool, arguments) in [
        ("add_todo", json!({ "content": "from a hook" })),
        ("update_todo", json!({ "todo_id": id, "status": "completed" })),
        ("delete_todo", json!({ "todo_id": id })),
    ] {
        assert_eq!(s.fails(tool, arguments), ErrorKind::Refused, "{tool}");
    }
    s.set_kind(PrincipalKind::Human);
    let audit = s.ok("memory_audit", json!({}));
    let of = |action: &str, denied: bool| {
        let entries = audit.as_array().or_else(|| audit["entries"].as_array()).expect("lines");
        entries.iter().filter(|e| e["action"] == action && e["denied"] == denied).count()
    };
    assert_eq!((of("todo_add", false), of("todo_add", true), of("todo_delete", true)), (1, 1, 1), "{audit}");
}

#[test]
fn an_id_made_from_a_marker_is_stored_once_and_never_again() {
    let mut s = home(7);
    become_owner(&mut s);
    let mut known = Vec::new();
    for digits in ["0123456789abcdef", "00000000000000aa", "00000000000000bb"] {
        let first = acting(&mut s, PrincipalKind::Agent, |s| {
            created(s, &marked(digits, "quillwater sluice")).expect("stored")
        });
        assert!(!first.existed && first.id == format!("gov-{digits}"), "{first:?}");
        known.push(first.id);
    }
    assert!(created(&s, &marked("0123456789abcdef", "other words")).expect("known").existed);
    s.ok("delete_todo", json!({ "todo_id": known[1] }));
    assert_eq!(s.ok("purge", json!({ "id": known[2] }))["kind"], "todo");
    for id in &known {
        let again = created(&s, &marked(&id[4..], "other words")).expect("known");
        assert!(again.existed, "{id}");
    }
    assert_eq!(titles(&s, json!({})), ["quillwater sluice"]);
    s.ok("update_todo", json!({ "todo_id": known[0], "status": "completed" }));
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn a_purge_leaves_no_byte_of_any_version() {
    const PIECES: [&str; 4] = ["zanzibarquokka", "設備番号四七", "blue cellar door", "harbourmaster"];
    let mut s = home(7);
    become_owner(&mut s);
    let id = acting(&mut s, PrincipalKind::Agent, |s| {
        let id = add(
            s,
            json!({ "content": "ask zanzibarquokka about 設備番号四七", "notes": "at the blue cellar door" }),
        );
        s.ok(
            "update_todo",
            json!({ "todo_id": id, "content": "tell the harbourmaster at once", "clear": ["notes"] }),
        );
        add(s, json!({ "content": "stays", "blocked_by": [id] }));
        id
    });
    let held = |s: &Session| PIECES.iter().filter(|piece| !holding(s.home.path(), piece).is_empty()).count();
    let in_files = s.home.database().is_none();
    assert!(!in_files || held(&s) == PIECES.len(), "every version is kept");
    let backup = s.ok("backup_create", json!({}))["id"].clone();
    let reply = s.ok("purge", json!({ "id": id, "backups": true, "reason": "asked to" }));
    assert_eq!((&reply["verified"], &reply["kind"]), (&json!(true), &json!("todo")), "{reply}");
    assert_eq!(held(&s), 0);
    assert_eq!(titles(&s, json!({})), ["stays"]);
    assert_eq!(s.fails("update_todo", json!({ "todo_id": id, "status": "completed" })), ErrorKind::NotFound);
    let report = s.ok("doctor", json!({ "full": true }));
    assert_eq!(report["healthy"], true, "{report}");
    s.ok("backup_restore", json!({ "id": backup, "force": true }));
    assert_eq!((held(&s), titles(&s, json!({}))), (0, vec!["stays".to_owned()]));
    assert_eq!(s.ok("purge", json!({ "id": id }))["completed_earlier"], true);
}

#[test]
fn an_export_takes_every_version_along() {
    let mut s = home(7);
    become_owner(&mut s);
    acting(&mut s, PrincipalKind::Agent, |s| {
        let first = add(s, json!({ "content": "第一件事", "domain": "基础", "notes": "重要" }));
        let second = add(s, json!({ "content": "two", "blocked_by": [first], "source_session_id": "s1" }));
        s.ok("update_todo", json!({ "todo_id": first, "status": "completed", "content": "第一件事做完了" }));
        s.ok("delete_todo", json!({ "todo_id": second }));
        created(s, &marked("0123456789abcdef", "from a marker")).expect("stored");
    });
    let gone = created(&s, &marked("00000000000000ff", "to be purged")).expect("stored").id;
    s.ok("purge", json!({ "id": gone }));
    let file = |s: &Session, name: &str| {
        let path = s.home.path().join(name);
        let reply = s.ok("export", json!({ "path": path.display().to_string() }));
        (reply, std::fs::read_to_string(path).expect("written"))
    };
    let (reply, text) = file(&s, "a.jsonl");
    assert_eq!((&reply["todos"], &reply["purged"]), (&json!(3), &json!(1)));
    assert_eq!(text.matches("\"by\":\"todo_").count(), 5, "{text}");
    let other = home(99).of_kind(PrincipalKind::System);
    let given = other.home.file("given.jsonl", &text).display().to_string();
    let loaded = other.ok("load", json!({ "path": given }));
    assert_eq!((&loaded["todos"], &loaded["was_empty"]), (&json!(3), &json!(true)), "{loaded}");
    assert_eq!(file(&other, "b.jsonl").1, text);
    let again = other.ok("load", json!({ "path": given }));
    assert_eq!((&again["todos"], &again["known"]), (&json!(0), &json!(4)), "{again}");
    assert_eq!(file(&other, "c.jsonl").1, text);
    let report = other.ok("doctor", json!({ "full": true }));
    assert_eq!(report["healthy"], true, "{report}");
    assert!(created(&other, &marked("00000000000000ff", "to be purged")).expect("known").existed);
    let id = list(&other, json!({ "status": "deleted" }))[0]["id"].clone();
    other.ok("restore_todo", json!({ "todo_id": id }));
    assert_eq!(other.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn a_rollback_leaves_todos_as_they_are() {
    let mut s = home(7);
    become_owner(&mut s);
    let id = add(&s, json!({ "content": "before the snapshot" }));
    s.ok("snapshot_create", json!({ "version_id": "v1" }));
    s.ok("update_todo", json!({ "todo_id": id, "status": "completed" }));
    add(&s, json!({ "content": "after the snapshot" }));
    s.remember("what a rollback takes back");
    let before = list(&s, json!({}));
    s.ok("snapshot_rollback", json!({ "version_id": "v1" }));
    assert_eq!(list(&s, json!({})), before);
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn reading_creates_nothing() {
    let s = Session::with_settings(|_| {});
    assert_eq!(s.ok("list_todos", json!({})), json!({ "success": true, "count": 0, "todos": [] }));
    assert_eq!(s.ok("get_todo_stats", json!({}))["stats"]["total"], 0);
    assert_eq!(s.ok("status", json!({}))["status"], "not_initialized");
}
