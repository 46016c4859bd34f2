//! What becomes of a report beside what is known: the rows of the table that change something, who decides a conflict, and
//! what is seen of it until then.

use std::sync::Barrier;

use serde_json::{Value, json};
use strata_core::{
    cancel::Cancel,
    error::ErrorKind,
    principal::{Face, PrincipalKind},
    time::Timestamp,
};
use strata_engine::{engine::Engine, operation::Call, registry::OPERATIONS};

use super::reflection::{LESSON, bug, later, reflect, session, shown, titles};
use crate::support::Session;

/// A report that found out a rule.
fn rule(text: &str) -> Value {
    json!({
        "task": "Look into payments",
        "outcome": "The gateway answers a second request with a second charge; the notes tell how that came about.",
        "verification_status": "tests_passed",
        "discovered_constraints": [text],
    })
}

/// The ids and states of the constraints that a task about payments is given.
fn constraints(s: &Session) -> Vec<(String, String)> {
    let pack = s.ok(
        "retrieve_agent_context",
        json!({ "task": "Change how requests to the payment service are retried" }),
    );
    let text = |node: &Value, key: &str| node[key].as_str().expect("a text").to_owned();
    let nodes = pack["constraints"].as_array().expect("a list").iter();
    let mut all: Vec<_> = nodes.map(|node| (text(node, "id"), text(node, "status"))).collect();
    all.sort();
    all
}

fn in_order(mut pairs: Vec<(&Value, &str)>) -> Vec<(String, String)> {
    pairs.sort_by_key(|(id, _)| id.as_str().expect("an id").to_owned());
    pairs.into_iter().map(|(id, state)| (id.as_str().expect("an id").to_owned(), state.to_owned())).collect()
}

const MUST: &str = "Requests to the payment service must be retried";
const MUST_NOT: &str = "Requests to the payment service must not be retried";

#[test]
fn what_a_less_sure_report_adds_is_merged_with_the_surer_one() {
    let s = session();
    let first = reflect(&s, bug(LESSON))["candidates"][0]["id"].clone();
    let more = "An empty batch is written down as done, so that its number is never given out again.";
    let mut less_sure = bug(more);
    less_sure["verification_status"] = json!("manual_check");
    less_sure["test_summary"] = json!("looked at three batches");
    let reply = reflect(&s, less_sure.clone());
    let merged = &reply["candidates"][0];
    assert_eq!((&merged["action"], &merged["target"]), (&json!("merge"), &first), "{reply}");
    let memory = shown(&s, &merged["id"]);
    assert_eq!(memory["text"], format!("{LESSON}\n\nAdditionally: {more}"), "both are whole");
    assert_eq!((&memory["title"], &memory["confidence"]), (&shown(&s, &first)["title"], &json!(0.85)));
    assert!(memory["evidence"].to_string().contains("looked at three batches"), "{memory}");
    assert_eq!(shown(&s, &first)["status"], "superseded");
    assert_eq!(titles(&s, "incident").len(), 1);
    for again in [less_sure, bug(LESSON)] {
        let reply = reflect(&s, again);
        assert_eq!(reply["candidates"][0]["action"], "discard", "{reply}");
        assert_eq!(reply["candidates"][0]["id"], merged["id"]);
    }
}

#[test]
fn every_report_again_changes_nothing() {
    let s = session();
    let mut less_sure = bug("An empty batch is written down as done, so that its number is never given out.");
    less_sure["verification_status"] = json!("manual_check");
    let reports = [
        bug(LESSON),
        bug(&format!("{LESSON} It gives the lock back when the batch is written.")),
        less_sure,
        rule(MUST),
        rule(MUST_NOT),
        json!({
            "task": "Add paging with a guard for terminal states",
            "outcome": "Pages are read one by one, and a page in a terminal state is never read a second time.",
            "verification_status": "tests_passed",
            "changed_files": ["src/page.py"],
            "test_summary": "9 passed",
        }),
    ];
    let actions = |reply: &Value| -> Vec<String> {
        let all = reply["candidates"].as_array().expect("candidates").iter();
        all.map(|c| c["action"].as_str().expect("an action").to_owned()).collect()
    };
    let done: Vec<String> = reports.iter().flat_map(|report| actions(&reflect(&s, report.clone()))).collect();
    assert_eq!(done, ["create", "supersede", "merge", "create", "needs_review", "create", "create"]);
    let before = s.ok("status", json!({}))["audit"].clone();
    for report in reports {
        let reply = reflect(&s, report);
        assert_eq!(
            (&reply["outcome"], &reply["skip_reason"]),
            (&json!("skipped"), &json!("no_new_knowledge"))
        );
        assert!(actions(&reply).iter().all(|action| action == "discard"), "{reply}");
    }
    assert_eq!(s.ok("status", json!({}))["audit"], before, "nothing was written");
}

#[test]
fn candidates_that_nobody_decides_about_expire() {
    let s = session();
    let proposed = s.ok(
        "reflect",
        json!({ "text": "Drain the queue before the workers are stopped", "kind": "procedure" }),
    );
    let fresh = later(s, 29);
    assert_eq!(fresh.ok("retention_run", json!({ "dry_run": false }))["expired"], 0, "not yet");
    let s = later(fresh, 31);
    let look = s.ok("retention_run", json!({}));
    assert_eq!(look["report"]["expiry_candidates"][0]["id"], proposed["id"], "{look}");
    assert_eq!(shown(&s, &proposed["id"])["status"], "candidate", "only a look");
    let done = s.ok("retention_run", json!({ "dry_run": false }));
    assert_eq!((&done["expired"], &done["archived"]), (&json!(1), &json!(0)), "{done}");
    assert_eq!(shown(&s, &proposed["id"])["status"], "archived", "and not deleted");
    let review = s.ok("review_show", json!({ "id": proposed["review"] }));
    assert!(review.to_string().contains("withdrawn"), "{review}");
    assert_eq!(s.ok("retention_run", json!({ "dry_run": false }))["expired"], 0, "once");
    let doctor = s.ok("doctor", json!({}));
    assert_eq!(doctor["healthy"], true, "{doctor}");
}

#[test]
fn what_is_proposed_for_any_layer_expires_and_is_found_in_its_history_and_in_the_queue() {
    let s = session();
    let proposals = [
        ("rule", "P0", "Nobody deploys on a Friday afternoon"),
        ("identity", "P1", "The assistant signs its reports with the name of the team"),
        ("integration", "P3", "Reports are sent to the board through the mail gateway"),
        ("insight", "P5", "Most faults of the night worker come from its clock"),
    ];
    let proposed: Vec<Value> = proposals
        .iter()
        .map(|(kind, layer, text)| s.ok("reflect", json!({ "text": text, "kind": kind, "layer": layer })))
        .collect();
    let s = later(s, 31);
    let look = s.ok("retention_run", json!({}))["report"]["expiry_candidates"].to_string();
    assert!(proposed.iter().all(|one| look.contains(one["id"].as_str().expect("an id"))), "{look}");
    assert_eq!(s.ok("retention_run", json!({ "dry_run": false }))["expired"], proposals.len());
    for one in &proposed {
        let memory = shown(&s, &one["id"]);
        assert_eq!((&memory["status"], &memory["layer"]), (&json!("archived"), &one["layer"]), "{memory}");
        let chain = s.ok("memory_chain", json!({ "id": one["id"] }));
        let ended = &chain["versions"][0]["ended"];
        assert_eq!(
            (&ended["action"], &ended["who"]),
            (&json!("expire"), &json!("system:retention")),
            "{chain}"
        );
        assert!(ended["reason"].as_str().is_some_and(|why| why.contains("in time")), "{chain}");
        let review = s.ok("review_show", json!({ "id": one["review"] }));
        assert!(review.to_string().contains("withdrawn"), "{review}");
    }
    let waiting = s.ok("review_list", json!({}));
    assert_eq!(waiting["reviews"], json!([]));
    let withdrawn = s.ok("review_list", json!({ "status": "withdrawn" }));
    assert_eq!(withdrawn["reviews"].as_array().map(Vec::len), Some(proposals.len()), "{withdrawn}");
    // It may be proposed again, and waits anew.
    let again = s.ok("reflect", json!({ "text": proposals[0].2, "kind": "rule", "layer": "P0" }));
    assert_eq!(again["was_waiting"], false, "{again}");
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn another_value_is_asked_about_in_an_area_that_was_configured() {
    let told = |areas: &[&str]| {
        let areas: Vec<String> = areas.iter().map(|area| (*area).to_owned()).collect();
        let mut s = Session::with_settings(|settings| {
            settings.config.project.memory.conflict_areas = areas;
        });
        s.scope = session().scope;
        let of = |city: &str| {
            rule(&format!(
                "A tariff that {city} wrote is checked by the gateway and then sent to the printer"
            ))
        };
        reflect(&s, of("Berlin"));
        let reply = reflect(&s, of("Hamburg"));
        (reply["candidates"][0]["action"].clone(), s)
    };
    assert_eq!(told(&["auth", "retry"]).0, "create", "no area of these");
    let (action, s) = told(&["pricing: tariff*, price*"]);
    assert_eq!(action, "needs_review");
    assert_eq!(titles(&s, "constraint").len(), 2, "both are in force");
}

#[test]
fn a_conflict_of_a_branch_is_nobody_elses() {
    let mut s = session();
    let main = reflect(&s, rule(MUST))["candidates"][0]["id"].clone();
    s.scope.branch = Some("feature/x".into());
    let reply = reflect(&s, rule(MUST_NOT));
    let asked = &reply["candidates"][0];
    assert_eq!((&asked["action"], &asked["target"]), (&json!("needs_review"), &main), "{reply}");
    let both = in_order(vec![(&main, "active"), (&asked["id"], "needs_review")]);
    assert_eq!(constraints(&s), both, "whoever is on the branch sees both sides");
    s.scope.branch = None;
    assert_eq!(
        constraints(&s),
        in_order(vec![(&main, "active")]),
        "the mainline is not disputed by a branch"
    );

    s.scope.branch = Some("feature/x".into());
    s.set_kind(PrincipalKind::Human);
    let decide = |decision: &str| json!({ "id": asked["review"], "decision": decision });
    assert_eq!(s.fails("review_resolve", decide("keep_b")), ErrorKind::Conflict, "it holds there alone");
    assert_eq!(shown(&s, &main)["status"], "active");
    s.ok("review_resolve", decide("keep_both"));
    assert_eq!(constraints(&s), in_order(vec![(&main, "active"), (&asked["id"], "active")]));
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn both_sides_are_retrieved_until_a_person_has_decided() {
    // What the person says, and how the older and the newer side stand then.
    for (tool, decision, older, newer) in [
        ("review_resolve", "keep_a", Some("active"), None),
        ("review_resolve", "keep_b", None, Some("active")),
        ("review_reject", "", Some("active"), Some("active")),
    ] {
        let mut s = session();
        let first = reflect(&s, rule(MUST))["candidates"][0]["id"].clone();
        let second = reflect(&s, rule(MUST_NOT))["candidates"][0].clone();
        let disputed = in_order(vec![(&first, "needs_review"), (&second["id"], "needs_review")]);
        assert_eq!(constraints(&s), disputed, "both, and marked");
        assert_eq!(
            s.fails("review_reject", json!({ "id": second["review"] })),
            ErrorKind::Refused,
            "an agent"
        );
        s.set_kind(PrincipalKind::Human);
        assert_eq!(s.fails("review_approve", json!({ "id": second["review"] })), ErrorKind::Conflict);
        let mut said = json!({ "id": second["review"] });
        if !decision.is_empty() {
            said["decision"] = json!(decision);
        }
        s.ok(tool, said);
        s.set_kind(PrincipalKind::Agent);
        let sides = [(&first, older), (&second["id"], newer)];
        let stands = sides.into_iter().filter_map(|(id, state)| Some((id, state?))).collect();
        assert_eq!(constraints(&s), in_order(stands), "{tool} {decision}");
    }
}

#[test]
fn a_memory_tells_of_what_is_in_force_right_below_it() {
    let s = session();
    let add = |title: &str, path: &str, parent: &Value| {
        let node = json!({
            "title": title, "summary": format!("{title} runs by itself."), "kind": "module", "module_path": path,
        });
        let mut node = node;
        if parent.is_string() {
            node["parent"] = parent.clone();
        }
        s.ok("add_memory_node", node)["id"].clone()
    };
    let top = add("Scheduler", "scheduler", &Value::Null);
    let middle = add("Retry", "scheduler.retry", &top);
    let lowest = add("Backoff", "scheduler.retry.backoff", &middle);
    let told = |id: &Value| shown(&s, id)["consolidated"].clone();
    assert_eq!(told(&top), "- Retry: Retry runs by itself.", "not of what is further down");
    assert_eq!(told(&middle), "- Backoff: Backoff runs by itself.");
    s.ok("mark_stale", json!({ "node": lowest, "reason": "the curve is another" }));
    assert_eq!(told(&middle), "- Backoff: Backoff runs by itself.", "stale, and in force");
    s.ok("forget", json!({ "id": lowest }));
    assert_eq!(told(&middle), Value::Null);
    assert_eq!(shown(&s, &middle)["text"], "Retry runs by itself.", "the text is its writer's");
}

/// What an agent in the project is answered by one of several engines.
fn told(engine: &Engine, s: &Session, report: Value) -> Value {
    let entry = OPERATIONS.iter().find(|entry| entry.spec.tool == "reflect_and_write").expect("the tool");
    let call = Call {
        principal: &s.principal,
        scope: &s.scope,
        face: Face::Mcp,
        deadline: Timestamp::MAX,
        cancel: &Cancel::default(),
        progress: &|_, _| {},
        secret: None,
    };
    (entry.run)(engine, &call, report).expect("reported").json
}

#[test]
fn of_two_servers_that_are_told_nearly_the_same_at_once_the_second_sees_the_first() {
    let s = session();
    let other = s.reopened();
    let lessons = [
        "The worker read the queue before it took the lock, so two of them took one batch.",
        "The page forgot its place when the window was made smaller than its own heading.",
        "A name with a blank in it was cut in half by the script that renames the pictures.",
        "The clock of the meter ran backwards in autumn and hours were counted twice.",
    ];
    for (n, lesson) in lessons.iter().enumerate() {
        let report = |text: String| {
            let mut report = bug(&text);
            (report["task"], report["test_summary"]) = (json!(format!("Fix fault {n}")), json!("7 passed"));
            report
        };
        let (short, long) = (report((*lesson).to_owned()), report(format!("{lesson} A test shows it now.")));
        let start = Barrier::new(2);
        let (first, second) = std::thread::scope(|threads| {
            let here = threads.spawn(|| {
                start.wait();
                told(&s.engine, &s, short)
            });
            start.wait();
            let there = told(&other, &s, long);
            (here.join().expect("no panic"), there)
        });
        assert_eq!(titles(&s, "incident").len(), n + 1, "{first} {second}");
        let kept = if first["candidates"][0]["action"] == "discard" { &second } else { &first };
        let memory = shown(&s, &kept["candidates"][0]["id"]);
        assert_eq!(memory["evidence"].to_string().matches("7 passed").count(), 1, "{memory}");
    }
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}
