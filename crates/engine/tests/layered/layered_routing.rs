//! The router, its settings and what writes do about it.

#![allow(clippy::pedantic, reason = "a test reads best plain")]

use serde_json::{Value, json};
use strata_engine::{
    knowledge::routing::{Asked, Override, Ruling, decide},
    settings::{
        Config,
        layered::{Routing, RoutingMode},
    },
};

use crate::support::Session;

const RUNBOOK: &str =
    "Deploy checklist\n1. git pull\n2. docker build -t app .\n3. kubectl rollout status deploy/app";
const LOG: &str = "2026-02-11 10:00:01 INFO boot\n2026-02-11 10:00:02 INFO ready";

fn classify(session: &Session, content: &str) -> Value {
    session.ok("classify_memory_item", json!({ "content": content }))
}

fn with(change: impl FnOnce(&mut Config)) -> Session {
    Session::with_settings(|settings| change(&mut settings.config))
}

fn strict() -> Session {
    with(|config| config.routing.enforce_direct_writes = true)
}

fn ruled(session: &Session, content: &str, section: &str, said: Override) -> Ruling {
    let asked = Asked { content, domain: Some("ops"), section: Some(section), supported: &[] };
    decide(&session.engine, &asked, said)
}

#[test]
fn layered_40_steps_with_commands_are_a_skill_that_the_agent_may_keep() {
    let session = Session::new();
    let request = json!({ "content": RUNBOOK, "domain": "ops", "section": "## Release" });
    let found = session.ok("classify_memory_item", request);
    assert_eq!((&found["success"], &found["schema_version"]), (&json!(true), &json!(1)));
    assert_eq!((&found["surface"], &found["ownership"]), (&json!("skill"), &json!("agent")));
    assert_eq!((&found["score"], &found["confidence_basis"]), (&json!(0.88), &json!("mixed")));
    let action = &found["suggested_action"];
    assert_eq!((&action["kind"], &action["operation"]), (&json!("agent_native_write"), &json!("create")));
    assert!(action["shape_hint"].as_array().is_some_and(|parts| parts.contains(&json!("steps"))), "{action}");
    assert_eq!((&action["title"], &action["source_content"]), (&json!("Release"), &json!(RUNBOOK)));
    assert_eq!(action["requires_user_confirmation"], false);
    assert_eq!((&found["framework_can_apply"], &found["agent_should_apply"]), (&json!(false), &json!(true)));
    assert_eq!(found["echo"]["domain"], "ops");
    let signals = found["signals"].as_array().expect("signals");
    assert!(signals.iter().any(|s| s["kind"] == "structure"), "{signals:?}");
    let marker = signals.iter().find(|s| s["name"] == "checklist").expect("the word");
    assert_eq!(marker["evidence"], "Deploy checklist");
    assert!(marker["weight"].as_f64().is_some_and(|weight| weight > 0.0), "{marker}");
}

#[test]
fn layered_41_a_note_that_mentions_a_procedure_is_knowledge() {
    let session = Session::new();
    let found =
        classify(&session, "架构说明：引擎负责写入，发布流程和验证由网关完成，两者的边界是消息队列。");
    assert_eq!((&found["surface"], &found["suggested_action"]), (&json!("l1_knowledge"), &Value::Null));
    assert_eq!((&found["ownership"], &found["application_mode"]), (&json!("framework"), &json!("apply")));
    let signals = found["signals"].as_array().expect("signals");
    let negative = signals.iter().find(|s| s["kind"] == "negative").expect("what does not count");
    assert_eq!(negative["name"], "skill_markers_without_structure");
}

#[test]
fn layered_42_a_todo_is_known_and_a_name_is_none() {
    let session = Session::new();
    for text in ["TODO: wire up the exporter", "待拍板的方案", "할 일: 로그 정리", "要対応: 証明書の更新"]
    {
        assert_eq!(classify(&session, text)["surface"], "todo", "{text}");
    }
    assert_eq!(classify(&session, "todo_store is a module")["surface"], "undecided");
}

#[test]
fn layered_43_preferences_logs_and_the_agents_own_memory() {
    let session = Session::new();
    let profile = classify(&session, "From now on I prefer short answers in all projects");
    assert_eq!(profile["surface"], "user_profile");
    assert_eq!(profile["suggested_action"]["requires_user_confirmation"], true);
    assert_eq!(profile["suggested_action"]["operation"], "update");
    let log = classify(&session, LOG);
    assert_eq!((&log["surface"], &log["application_mode"]), (&json!("ephemeral"), &json!("none")));
    assert_eq!(classify(&session, "Agent memory holds the tone of voice")["surface"], "agent_other");
}

#[test]
fn layered_44_length_alone_decides_weakly_and_always_alike() {
    let session = Session::new();
    let (short, long) = ("x".repeat(79), "x".repeat(80));
    assert_eq!(classify(&session, &short)["surface"], "undecided");
    let found = classify(&session, &long);
    assert_eq!(
        (&found["surface"], &found["confidence_basis"]),
        (&json!("l1_knowledge"), &json!("insufficient"))
    );
    assert_eq!(found["warnings"].as_array().map(Vec::len), Some(1));
    assert_eq!(classify(&session, "")["surface"], "undecided");
    for text in [&long, RUNBOOK, LOG, "待拍板的方案"] {
        assert_eq!(classify(&session, text), classify(&Session::new(), text));
    }
}

#[test]
fn layered_45_nothing_is_suggested_for_a_surface_that_the_caller_lacks() {
    let session = Session::new();
    for surfaces in [json!("l1_knowledge,todo"), json!(["todo"])] {
        let request = json!({ "content": RUNBOOK, "supported_surfaces": surfaces });
        let found = session.ok("classify_memory_item", request);
        assert_eq!((&found["surface"], &found["suggested_action"]), (&json!("skill"), &Value::Null));
        assert_eq!(found["agent_should_apply"], false);
        assert_eq!(found["warnings"].as_array().map(Vec::len), Some(1), "{found}");
    }
    let request = json!({ "content": RUNBOOK, "supported_surfaces": "skill, skil" });
    let found = session.ok("classify_memory_item", request);
    assert!(found["suggested_action"].is_object());
    assert!(found["warnings"][0].as_str().is_some_and(|w| w.contains("`skil`")), "{found}");
}

#[test]
fn the_mode_is_the_configured_one_unless_another_is_asked_for() {
    let session = with(|config| config.routing.mode = RoutingMode::Enforce);
    assert_eq!(classify(&session, "x")["mode"], "enforce");
    let found = session.ok("classify_memory_item", json!({ "content": "x", "mode": "advisory" }));
    assert_eq!(found["mode"], "advisory");
    let item = "x".repeat((5 << 20) + 1);
    let error = session.reply("classify_memory_item", json!({ "content": item })).expect_err("too large");
    assert!(error.to_string().contains("5242880"), "{error}");
}

#[test]
fn layered_48_words_come_and_go_by_the_configuration() {
    let plain = Session::new();
    for (text, surface) in [("the cookbook says so", "undecided"), ("TODO: the report", "todo")] {
        assert_eq!(classify(&plain, text)["surface"], surface, "{text}");
    }
    let session = with(|config| {
        config.routing = Routing {
            extra_todo_markers: vec!["needs sign-off".into(), "要签字".into()],
            extra_profile_markers: vec!["addresses me as".into()],
            extra_knowledge_markers: vec!["service contract".into()],
            extra_skill_markers: vec!["cookbook".into()],
            disabled_markers: vec!["TODO".into()],
            vocabulary: Some("[ephemeral]\ntells = ['scratch output']\n".into()),
            ..Routing::default()
        };
    });
    for (text, surface) in [
        ("the plan needs sign-off", "todo"),
        ("这份合同要签字", "todo"),
        ("she addresses me as Ann", "user_profile"),
        ("the service contract of billing", "l1_knowledge"),
        ("cookbook\n1. git pull\n2. make\n3. make check", "skill"),
        ("scratch output of the linter", "ephemeral"),
        ("TODO: the report", "undecided"),
    ] {
        assert_eq!(classify(&session, text)["surface"], surface, "{text}");
    }
}

#[test]
fn words_of_states_are_those_of_the_configuration() {
    let session = with(|config| {
        config.governance.open_markers = vec!["WIP".into()];
        config.governance.disabled_markers = vec!["TBD".into()];
    });
    let found = |session: &Session, text: &str| {
        let (router, words) = session.engine.states();
        strata_core::knowledge::state::scan(text, router, words).len()
    };
    let plain = Session::new();
    assert_eq!((found(&plain, "the cache is WIP\n"), found(&plain, "the port is TBD\n")), (0, 1));
    assert_eq!((found(&session, "the cache is WIP\n"), found(&session, "the port is TBD\n")), (1, 0));
}

#[test]
fn layered_49_what_strata_writes_and_what_it_leaves_to_the_agent() {
    let found = Session::new().ok("get_memory_surface_capabilities", json!({}));
    for surface in ["skill", "user_profile", "agent_other"] {
        let told = &found["extension_surfaces"][surface];
        assert_eq!((&told["can_apply"], &told["owned_by"]), (&json!(false), &json!("agent")), "{surface}");
        let blockers = json!(["extensions_disabled", "surface_disabled", "mode_suggest", "no_handler"]);
        assert_eq!(told["apply_blockers"], blockers, "{surface}");
    }
    for surface in ["l0_index", "l1_knowledge", "todo", "memory_changelog"] {
        assert_eq!(found["core_surfaces"][surface]["can_apply"], true, "{surface}");
        assert!(found["core_surfaces"][surface]["store_path"].is_string(), "{surface}");
    }
    for surface in ["undecided", "ephemeral"] {
        assert_eq!(found["no_write_surfaces"][surface]["default_behavior"], "none", "{surface}");
    }
    assert_eq!(
        (&found["routing_mode"], &found["source_owned_evidence"]),
        (&json!("advisory"), &json!(["raw_session"]))
    );
    let session = with(|config| config.changelog.enabled = false);
    let found = session.ok("get_memory_surface_capabilities", json!({}));
    assert_eq!(found["core_surfaces"]["memory_changelog"]["can_apply"], false);
}

#[test]
fn by_default_a_decision_is_a_note_beside_the_write() {
    let session = Session::new();
    let Ruling::Write(note) = ruled(&session, RUNBOOK, "Release", Override::None) else { panic!("refused") };
    let told = serde_json::to_value(&note).expect("JSON");
    assert_eq!(told["routing"]["surface"], "skill");
    assert!(told["routing_warning"].as_str().is_some_and(|w| w.contains("skill")), "{told}");
    assert!(told.get("routing_enforcement").is_none() && told.get("routing_override_applied").is_none());
    let signal = &told["routing"]["signals"][0];
    assert!(
        signal.get("weight").is_none() && told["routing"]["suggested_action"].get("source_content").is_none()
    );
    let fact = "We decided on PostgreSQL because the team knows it";
    let Ruling::Write(note) = ruled(&session, fact, "Database", Override::None) else { panic!("refused") };
    assert_eq!(note.routing_warning, None);
    let off = with(|config| {
        config.routing.enabled = false;
        config.routing.enforce_direct_writes = true;
    });
    let Ruling::Write(note) = ruled(&off, RUNBOOK, "Release", Override::None) else { panic!("refused") };
    assert_eq!(serde_json::to_value(&note).expect("JSON"), json!({}));
}

#[test]
fn the_strict_gate_refuses_what_belongs_elsewhere_and_says_everything() {
    let session = strict();
    let Ruling::Refuse(refusal) = ruled(&session, RUNBOOK, "Release", Override::None) else {
        panic!("written")
    };
    let told = serde_json::to_value(&refusal).expect("JSON");
    let keys: Vec<&str> = told.as_object().expect("an object").keys().map(String::as_str).collect();
    let expected = [
        "success",
        "action",
        "error",
        "message",
        "written",
        "domain",
        "section",
        "routing",
        "routing_warning",
        "suggested_action",
        "routing_enforcement",
        "hint",
    ];
    assert_eq!(keys, expected);
    assert_eq!((&told["success"], &told["written"]), (&json!(false), &json!(false)));
    assert_eq!(told["action"], "routing_refused");
    assert_eq!(told["error"], "routing_enforce_direct_write_refused");
    assert_eq!(told["suggested_action"]["source_content"], RUNBOOK);
    let enforcement = &told["routing_enforcement"];
    assert_eq!(
        (&enforcement["gate_active"], &enforcement["override_applied"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(enforcement["override_requested"], "none");
}

#[test]
fn a_todo_is_refused_with_the_todo_it_would_make() {
    let session = strict();
    let text = "待拍板：下个季度是否迁移到新的集群";
    let Ruling::Refuse(refusal) = ruled(&session, text, "", Override::None) else { panic!("written") };
    let told = serde_json::to_value(&refusal).expect("JSON");
    let candidate = &told["todo_candidate"];
    assert_eq!((&candidate["surface"], &candidate["content"]), (&json!("todo"), &json!(text)));
    assert_eq!(candidate["title"], text);
    assert!(told["hint"].as_str().is_some_and(|hint| hint.contains("add_todo")), "{told}");
    let Ruling::Refuse(refusal) = ruled(&session, LOG, "Boot", Override::None) else { panic!("written") };
    assert!(refusal.todo_candidate.is_none() && refusal.suggested_action.is_none());
}

#[test]
fn an_override_lets_it_through_and_so_does_what_nothing_tells() {
    let session = strict();
    let Ruling::Write(note) = ruled(&session, RUNBOOK, "Release", Override::ForceL1) else {
        panic!("refused")
    };
    assert!(note.routing_override_applied);
    let enforcement = note.routing_enforcement.expect("the gate is on");
    assert!(enforcement.override_applied && enforcement.override_requested == "force_l1");
    let Ruling::Write(note) = ruled(&session, "blue", "Colour", Override::None) else { panic!("refused") };
    let enforcement = note.routing_enforcement.expect("the gate is on");
    assert!(enforcement.insufficient_evidence && note.routing_warning.is_some());
    assert!(!note.routing_override_applied);
    let fact = "We decided on PostgreSQL because the team knows it";
    let Ruling::Write(note) = ruled(&session, fact, "Database", Override::ForceL1) else { panic!("refused") };
    assert!(!note.routing_override_applied, "nothing had to be overridden");
    assert!(Override::parse(Some("force")).is_err());
    assert_eq!(Override::parse(Some(" ")).expect("nothing"), Override::None);
}

#[test]
fn by_default_remember_notes_where_a_text_might_belong_and_stores_it() {
    let session = Session::new();
    let stored = session.ok("remember", json!({ "text": "TODO: wire up the exporter" }));
    assert_eq!((&stored["status"], &stored["kind"]), (&json!("saved"), &json!("fact")));
    assert!(stored["route"].as_str().is_some_and(|route| route.starts_with("todo: ")), "{stored}");
    assert_eq!(session.ok("list_todos", json!({}))["count"], 0);
    let off = with(|config| config.routing.enabled = false);
    assert_eq!(off.ok("remember", json!({ "text": "TODO: wire up the exporter" })).get("route"), None);
    assert_eq!(session.ok("remember", json!({ "text": LOG }))["status"], "saved");
}

#[test]
fn where_the_router_decides_a_todo_becomes_a_todo_once() {
    for session in [strict(), with(|config| config.routing.mode = RoutingMode::Enforce)] {
        let text = "TODO: wire up the exporter";
        let request = json!({ "text": text, "title": "Exporter", "source": "retro", "session": "s-1" });
        let stored = session.ok("remember", request.clone());
        assert_eq!((&stored["status"], &stored["kind"]), (&json!("todo"), &json!("todo")));
        let todos = session.ok("list_todos", json!({}));
        assert_eq!(todos["count"], 1, "{todos}");
        let todo = &todos["todos"][0];
        assert_eq!(
            (&todo["id"], &todo["content"], &todo["title"]),
            (&stored["id"], &json!(text), &json!("Exporter"))
        );
        assert_eq!(todo["notes"], "from retro");
        let again = session.ok("remember", request);
        assert_eq!((&again["status"], &again["id"]), (&json!("unchanged"), &stored["id"]));
        assert_eq!(session.ok("list_todos", json!({}))["count"], 1);
        assert_eq!(session.recall("exporter"), Vec::<String>::new(), "no memory was stored");
        let told = session.text("remember", json!({ "text": "待拍板：是否迁移到新的集群" }));
        assert!(told.contains("saved #2") && told.contains("it is a todo now"), "{told}");
    }
}

#[test]
fn where_the_router_decides_what_passes_is_declined_with_its_reason() {
    let session = with(|config| config.routing.mode = RoutingMode::Enforce);
    let error = session.reply("remember", json!({ "text": LOG })).expect_err("declined");
    assert!(error.to_string().contains("log shaped"), "{error}");
    assert!(error.hint().contains("routing_override"), "{}", error.hint());
    assert_eq!(session.recall("boot"), Vec::<String>::new());
    let forced = session.ok("remember", json!({ "text": LOG, "routing_override": "force_l1" }));
    assert_eq!(forced["status"], "saved");
    let todo = session.ok("remember", json!({ "text": "TODO: rotate", "routing_override": "force_l1" }));
    assert_eq!((&todo["status"], &todo["kind"]), (&json!("saved"), &json!("fact")));
    let reply = session.ok("knowledge_remember", json!({ "fact": "TODO: rotate the other keys" }));
    assert!(reply["memory_id"].as_str().is_some_and(|id| id.starts_with("mem_")), "{reply}");
}

#[test]
fn what_was_given_another_place_or_replaces_a_memory_stays_a_memory() {
    let session = with(|config| config.routing.mode = RoutingMode::Enforce);
    for request in [
        json!({ "text": LOG, "kind": "incident" }),
        json!({ "text": RUNBOOK }),
        json!({ "text": "i prefer tabs" }),
        json!({ "text": "blue" }),
    ] {
        assert_eq!(session.ok("remember", request.clone())["status"], "saved", "{request}");
    }
    let id = session.remember("The exporter is wired up.");
    let request = json!({ "text": "TODO: wire up the exporter again", "supersedes": id });
    let stored = session.ok("remember", request);
    assert_eq!((&stored["status"], &stored["superseded"]), (&json!("saved"), &json!(id)));
}
