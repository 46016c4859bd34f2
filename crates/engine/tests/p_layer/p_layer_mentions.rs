//! What is noticed in memories as they are written, and what becomes of it.

use crate::maintain_support::{Session, acting, become_owner, home};
use serde_json::{Value, json};
use strata_core::principal::PrincipalKind;

fn around(s: &Session, query: &str) -> Value {
    s.ok("graph_explore", json!({ "query": query }))["entities"][0].clone()
}

fn labels(rows: &Value) -> Vec<String> {
    let rows = rows.as_array().into_iter().flatten();
    rows.map(|row| row["label"].as_str().expect("a label").to_owned()).collect()
}

fn memories(entity: &Value) -> Vec<String> {
    let rows = entity["memories"].as_array().into_iter().flatten();
    rows.map(|row| row["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn what_is_related_is_known_without_linking() {
    let s = Session::new();
    let first = s.remember("The payment-service keeps its sessions in Redis.");
    let second = s.remember("redis runs on db-01, port 6380.");
    s.remember("The user prefers short answers.");
    let redis = around(&s, "redis");
    assert_eq!(
        (&redis["label"], &redis["origin"], &redis["type"]),
        (&json!("Redis"), &json!("inferred"), &json!("tool"))
    );
    assert_eq!(memories(&redis), [second, first]);
    assert_eq!(redis["memories"][0]["link"], "inferred");
    let mut together = labels(&redis["mentioned_with"]);
    together.sort();
    assert_eq!(together, ["db-01", "payment-service"]);
    assert_eq!(
        (&redis["mentioned_with"][0]["relation"], &redis["mentioned_with"][0]["count"]),
        (&json!("mentioned_with"), &json!(1))
    );
    assert_eq!(around(&s, "what do we know about redis here")["label"], "Redis", "a sentence names it too");
}

#[test]
fn a_known_label_is_linked_in_any_script() {
    let s = Session::new();
    for label in ["北极星", "Night Owl", "물류허브"] {
        s.ok("entity_add", json!({ "label": label, "kind": "tool" }));
    }
    for (text, label) in [
        ("北极星上线以后延迟下降了", "北极星"),
        ("the night owl missed a backup", "Night Owl"),
        ("물류허브가 멈췄다", "물류허브"),
    ] {
        let id = s.remember(text);
        assert_eq!(memories(&around(&s, label)), [id], "{text}");
    }
}

#[test]
fn an_update_is_read_anew_and_a_forgotten_memory_is_not_shown() {
    let s = Session::new();
    let first = s.remember("Sessions are kept in Memcached.");
    s.ok("entity_add", json!({ "label": "session store", "kind": "concept", "memory": first }));
    let updated = s.ok("update", json!({ "id": first, "text": "Sessions are kept in Valkey." }));
    let second = updated["id"].as_str().expect("an id").to_owned();
    assert_eq!(memories(&around(&s, "memcached")), Vec::<String>::new());
    assert_eq!(memories(&around(&s, "valkey")), std::slice::from_ref(&second));
    assert_eq!(
        memories(&around(&s, "session store")),
        std::slice::from_ref(&second),
        "what was stated goes along"
    );
    assert_eq!(labels(&around(&s, "valkey")["mentioned_with"]), ["session store"]);
    s.ok("forget", json!({ "id": second, "reason": "wrong" }));
    assert_eq!(memories(&around(&s, "valkey")), Vec::<String>::new());
    assert_eq!(labels(&around(&s, "valkey")["mentioned_with"]), Vec::<String>::new());
    s.ok("restore", json!({ "id": second }));
    assert_eq!(memories(&around(&s, "valkey")), [second]);
}

#[test]
fn a_symptom_leads_to_the_incident_its_like_and_the_fix() {
    let s = Session::new();
    let report = s.ok(
        "remember",
        json!({ "text": "Webhook deliveries piled up and checkout answered with timeouts for 40 minutes.", "kind": "incident" }),
    );
    for (label, kind) in
        [("INC-31", "incident"), ("unbounded retry", "pattern"), ("bounded backoff", "decision")]
    {
        s.ok("entity_add", json!({ "label": label, "kind": kind }));
    }
    s.ok("entity_add", json!({ "label": "INC-31", "memory": report["id"] }));
    for (source, relation, target) in
        [("unbounded retry", "caused", "INC-31"), ("INC-31", "fixed_by", "bounded backoff")]
    {
        s.ok("relation_add", json!({ "source": source, "relation": relation, "target": target }));
    }
    let rca =
        s.ok("graph_rca", json!({ "query": "checkout timeouts and webhook deliveries piling up again" }));
    let analysis = &rca["root_causes"][0];
    assert_eq!(
        (&analysis["incident"]["label"], &analysis["found_by"]),
        (&json!("INC-31"), &json!("symptom")),
        "{rca}"
    );
    assert_eq!(analysis["memories"][0]["id"], report["id"]);
    let events: Vec<_> = analysis["timeline"]
        .as_array()
        .expect("events")
        .iter()
        .map(|e| (e["type"].clone(), e["entity"].clone()))
        .collect();
    assert_eq!(
        events,
        [(json!("cause"), json!("unbounded retry")), (json!("fix"), json!("bounded backoff"))]
    );
}

#[test]
fn a_purge_takes_along_what_only_that_memory_said() {
    let mut s = home(31);
    let gone = s.remember("The HarborLightsImporter reads from Cassandra.");
    let stays = s.remember("Cassandra has three nodes.");
    s.ok("entity_add", json!({ "label": "StatedThing", "memory": gone }));
    become_owner(&mut s);
    let purged = s.ok("purge", json!({ "id": gone }));
    assert_eq!((&purged["remaining"], &purged["verified"]), (&json!([]), &json!(true)), "{purged}");
    let known = labels(&s.ok("entity_list", json!({}))["entities"]);
    assert_eq!(known, ["Cassandra", "StatedThing"]);
    assert_eq!(memories(&around(&s, "cassandra")), [stays]);
    let id = around(&s, "StatedThing")["id"].as_str().expect("an id").to_owned();
    let erased = s.ok("purge", json!({ "id": id }));
    assert_eq!((&erased["kind"], &erased["remaining"]), (&json!("entity"), &json!([])));
    assert_eq!(labels(&s.ok("entity_list", json!({}))["entities"]), ["Cassandra"]);
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn the_graph_moves_whole_and_nothing_comes_twice() {
    let mut s = home(41);
    s.remember("The ledger-api writes to Postgres on db-01.");
    for (label, kind) in
        [("ledger-api", "script"), ("Postgres", "tool"), ("slow vacuum", "pattern"), ("INC-9", "incident")]
    {
        s.ok("entity_add", json!({ "label": label, "kind": kind, "properties": { "note": "说明 of it" } }));
    }
    for (source, relation, target) in [
        ("ledger-api", "depends_on", "Postgres"),
        ("slow vacuum", "caused", "INC-9"),
        ("ledger-api", "relates_to", "INC-9"),
    ] {
        s.ok(
            "relation_add",
            json!({ "source": source, "relation": relation, "target": target, "confidence": 0.7 }),
        );
    }
    s.ok(
        "relation_remove",
        json!({ "source": "ledger-api", "relation": "relates_to", "target": "INC-9", "reason": "unproved" }),
    );
    become_owner(&mut s);
    let spare =
        acting(&mut s, PrincipalKind::Agent, |s| s.ok("entity_add", json!({ "label": "to be purged" })));
    s.ok("purge", json!({ "id": spare["id"] }));
    let export = |s: &Session, name: &str| {
        let path = s.home.path().join(name);
        let counted = s.ok("export", json!({ "path": path.to_string_lossy() }));
        (std::fs::read_to_string(path).expect("written"), counted)
    };
    let (first, counted) = export(&s, "a.jsonl");
    assert_eq!((&counted["entities"], &counted["relations"]), (&json!(5), &json!(3)), "{counted}");
    let fresh = home(99).of_kind(PrincipalKind::System);
    let given = fresh.home.path().join("given.jsonl");
    strata_store::files::write_atomic(&given, first.as_bytes()).expect("written");
    let loaded = fresh.ok("load", json!({ "path": given.to_string_lossy() }));
    assert_eq!(
        (&loaded["entities"], &loaded["relations"], &loaded["known"]),
        (&json!(5), &json!(3), &json!(0))
    );
    assert_eq!(export(&fresh, "b.jsonl").0, first);
    let again = fresh.ok("load", json!({ "path": given.to_string_lossy() }));
    assert_eq!((&again["entities"], &again["relations"]), (&json!(0), &json!(0)));
    assert_eq!(export(&fresh, "c.jsonl").0, first, "nothing comes twice");
    assert_eq!(around(&fresh, "postgres")["memories"].as_array().map(Vec::len), Some(1));
    assert_eq!(fresh.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn of_two_namespaces_with_the_label_an_agents_own_is_linked() {
    let mut s = Session::new();
    s.ok("entity_add", json!({ "label": "Night Owl", "kind": "tool" }));
    s.scope.namespace = "codex".into();
    let own = s.ok("entity_add", json!({ "label": "Night Owl", "kind": "tool" }))["id"].clone();
    let memory = s.remember("the night owl missed a backup");
    assert_eq!(memories(&around(&s, own.as_str().expect("an id"))), [memory]);
}
