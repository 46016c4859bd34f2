//! Raw events from outside, and what the night makes of them.

use std::time::{Duration, Instant};

use crate::support::{NOON, Session, with_call};
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, memory::Kind, principal::PrincipalKind, scope::Scope, time::Timestamp};
use strata_engine::{
    consolidate::{Request, Summarise, consolidate},
    error::Error,
    import::episodes::EpisodeLine,
    judge::{Scripted, digest_of},
    maintain::import::{Plan, store},
};
use strata_store::{
    ledger::{AuditFilter, MemoryFilter, MemoryRow},
    sql::Control,
};

#[test]
fn an_episode_is_written_by_the_gateway_on_behalf_of_the_caller_and_only_once() {
    let s = Session::new();
    let say = json!({ "text": "the deploy stood still for an hour", "session": "s1", "speaker": "ana",
                      "kind": "incident", "metadata": { "ticket": "OPS-7" } });
    let first = s.ok("episode_record", say.clone());
    assert_eq!((&first["status"], &first["writer"]), (&json!("created"), &json!("gateway:test")));
    let again = s.ok("episode_record", say);
    assert_eq!((&again["status"], &again["id"]), (&json!("known"), &first["id"]));
    let shown = s.ok("inspect", json!({ "id": first["id"] }));
    assert_eq!(shown["metadata"], json!({ "kind": "incident", "ticket": "OPS-7" }));
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let lines = ledger.read(&Control::default(), |r| r.audit(&AuditFilter::default())).expect("read");
    assert_eq!(lines.len(), 1, "the second time changed nothing");
    let entry = &lines[0].entry;
    assert_eq!(
        (entry.action.as_str(), entry.principal.as_str(), entry.on_behalf_of.as_deref()),
        ("import", "gateway:test", Some("agent:test"))
    );
    let jobs = ledger.read(&Control::default(), |r| r.jobs(None, 10)).expect("read");
    assert!(jobs.is_empty(), "one event is no job");
    assert_eq!(s.ok("recall", json!({ "query": "deploy stood still" }))["hits"][0]["id"], first["id"]);
}

#[test]
fn what_is_no_event_is_refused_and_a_time_tells_equal_words_apart() {
    let s = Session::new();
    assert_eq!(s.fails("episode_record", json!({ "text": "  " })), ErrorKind::Invalid);
    assert_eq!(s.fails("episode_record", json!({ "text": "x", "at": "soon" })), ErrorKind::Invalid);
    assert_eq!(s.fails("episode_record", json!({ "text": "x", "kind": "party" })), ErrorKind::Invalid);
    for at in ["2026-06-01 10:00", "2026-06-01 11:00"] {
        assert_eq!(s.ok("episode_record", json!({ "text": "ok", "at": at }))["status"], "created");
    }
    let token = format!("the key is ghp_{}", "A1b2C3d4E5f6".repeat(3));
    let reply = s.ok("episode_record", json!({ "text": token }));
    assert_eq!(reply["redacted"].as_array().map(Vec::len), Some(1), "{reply}");
    let s = s.of_kind(PrincipalKind::Human);
    assert_eq!(s.ok("status", json!({}))["holds"]["episodes"], 3);
}

/// Three events of s1, two of s2 and one of no session.
fn six_events(s: &Session) {
    let told = [
        ("s1", "Hello everybody!"),
        ("s1", "The nightly export of the billing service failed again."),
        ("s1", "Root cause: the certificate of the billing gateway had expired on 2026-06-01."),
        ("s2", "我们决定把数据库端口改为5433，因为5432被占用。"),
        ("s2", "谢谢！"),
        ("", "A lonely remark about the weather."),
    ];
    for (session, text) in told {
        s.ok("episode_record", json!({ "text": text, "session": session, "speaker": "ana" }));
    }
}

fn insights(s: &Session) -> Vec<MemoryRow> {
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let filter =
        MemoryFilter { kinds: vec![Kind::parse("insight").expect("a kind")], ..MemoryFilter::default() };
    let mut rows = ledger.read(&Control::default(), |r| r.memories(&filter)).expect("read");
    rows.reverse();
    rows
}

#[test]
fn p_layer_c57_sessions_are_distilled_once_and_a_look_writes_nothing() {
    let s = Session::new();
    six_events(&s);
    let counts = |reply: &Value| {
        [&reply["digests"], &reply["episodes_covered"], &reply["skipped"], &reply["dry_run"]]
            .map(Value::clone)
    };
    let before = s.ok("status", json!({}));
    let look = s.ok("consolidate", json!({ "min_episodes": 2, "dry_run": true }));
    assert_eq!(counts(&look), [json!(2), json!(5), json!(1), json!(true)]);
    assert_eq!(s.ok("status", json!({})), before);
    let done = s.ok("consolidate", json!({ "min_episodes": 2 }));
    assert_eq!(counts(&done), [json!(2), json!(5), json!(1), json!(false)]);
    let again = s.ok("consolidate", json!({ "min_episodes": 2 }));
    assert_eq!(counts(&again), [json!(0), json!(0), json!(1), json!(false)]);
    let rows = insights(&s);
    let sources: Vec<&str> = rows.iter().map(|row| row.source.as_str()).collect();
    assert_eq!(sources, ["consolidation:s1", "consolidation:s2"]);
    for row in &rows {
        assert_eq!((row.writer.as_str(), row.state.layer.as_str()), ("system:consolidation", "P5"));
        assert!((row.state.confidence - 0.7).abs() < 1e-9);
    }
    assert!(rows[0].body.contains("certificate") && !rows[0].body.contains("Hello"), "{}", rows[0].body);
    assert!(rows[1].body.contains("5433") && !rows[1].body.contains("谢谢"), "{}", rows[1].body);
    let shown = s.ok("inspect", json!({ "id": rows[0].id }));
    assert_eq!(shown["distils"].as_array().map(Vec::len), Some(3), "{shown}");
    let episode = s.ok("inspect", json!({ "id": shown["distils"][2] }));
    assert_eq!(episode["digests"], json!([rows[0].id]));
    let audit = &shown["audit"][0];
    assert_eq!((&audit["action"], &audit["on_behalf_of"]), (&json!("consolidate"), &json!("agent:test")));
    assert_eq!(
        s.ok("recall", json!({ "query": "expired certificate billing gateway" }))["hits"]
            .as_array()
            .map(Vec::is_empty),
        Some(false)
    );
}

#[test]
fn later_events_of_a_session_get_a_digest_of_their_own() {
    let s = Session::new();
    six_events(&s);
    s.ok("consolidate", json!({ "min_episodes": 2 }));
    s.ok("episode_record", json!({ "text": "The certificate is renewed by a timer now.", "session": "s1" }));
    assert_eq!(s.ok("consolidate", json!({ "min_episodes": 2 }))["digests"], 0, "one waits for more");
    s.ok("episode_record", json!({ "text": "We must watch the timer of the certificate.", "session": "s1" }));
    let reply = s.ok("consolidate", json!({ "min_episodes": 2 }));
    assert_eq!((&reply["digests"], &reply["episodes_covered"]), (&json!(1), &json!(2)));
    let rows = insights(&s);
    assert_eq!(rows.len(), 3);
    assert!(rows[2].body.contains("timer") && !rows[2].body.contains("Root cause"), "{}", rows[2].body);
    assert_eq!(s.fails("consolidate", json!({ "min_episodes": 0 })), ErrorKind::Invalid);
}

#[test]
fn incidents_are_distilled_by_what_they_say_and_memories_of_p2_too() {
    let s = Session::new();
    for (file, what) in [
        ("a.md", "The pump stopped because the valve was shut."),
        ("b.md", "The fan broke."),
        ("c.md", "The belt was wrong."),
    ] {
        let payload = json!({ "file": file, "content": what }).to_string();
        s.ok("episode_record", json!({ "text": payload, "kind": "incident" }));
    }
    let s = s.of_kind(PrincipalKind::System);
    for text in
        ["The crane was oiled.", "The crane was painted.", "The crane failed at noon because of frost."]
    {
        s.ok("remember", json!({ "text": text, "layer": "P2", "session": "crane" }));
    }
    let reply = s.ok("consolidate", json!({}));
    assert_eq!((&reply["digests"], &reply["episodes_covered"]), (&json!(2), &json!(6)), "{reply}");
    let rows = insights(&s);
    assert!(rows.iter().any(|r| r.source == "consolidation:unattributed:incident"
        && r.body.contains("valve was shut")
        && !r.body.contains("a.md")));
    let crane = rows.iter().find(|r| r.source == "consolidation:crane").expect("a digest");
    assert_eq!(s.ok("inspect", json!({ "id": crane.id }))["distils"].as_array().map(Vec::len), Some(3));
    assert_eq!(s.ok("consolidate", json!({}))["digests"], 0);
}

#[test]
fn two_at_once_make_one_digest_and_a_long_session_is_distilled_in_stretches() {
    let s = Session::new();
    let lines: Vec<EpisodeLine> = (0..600)
        .map(|n| EpisodeLine {
            session: Some("long".into()),
            text: format!("Shelf {n} was moved to hall {} by crew {}.", n / 7, n % 5),
            at: Some(Timestamp(NOON.0 + n)),
            ..EpisodeLine::default()
        })
        .collect();
    let plan = Plan { source: "t".into(), scope: Scope::user(), gateway: "t".into(), dry_run: false };
    with_call(&s, |call| store(&s.engine, call, &lines, &plan).map(drop)).expect("stored");
    let other =
        Session { engine: s.reopened(), home: strata_testkit::home::TestHome::new(), ..Session::new() };
    let digests: u64 = std::thread::scope(|scope| {
        let runs: Vec<_> = [&s, &other].map(|s| scope.spawn(|| s.ok("consolidate", json!({})))).into();
        runs.into_iter().map(|run| run.join().expect("no panic")["digests"].as_u64().expect("a number")).sum()
    });
    assert_eq!(digests, 3, "600 events in stretches of 200");
    let rows = insights(&s);
    assert_eq!(rows.len(), 3);
    for row in rows {
        let size = row.body.chars().count();
        assert!((400..=900).contains(&size), "{size}: {}", row.body);
    }
}

#[test]
fn a_summariser_writes_the_digest_and_its_failure_costs_nothing() {
    struct Model(bool);
    impl Summarise for Model {
        fn name(&self) -> &str {
            "model"
        }
        fn summarise(&self, title: &str, texts: &[String]) -> Result<String, Error> {
            assert!(title.contains("s1") || title.contains("s2"));
            if self.0 { Ok(format!("{} texts in one word", texts.len())) } else { Err(Error::Deadline) }
        }
    }
    for works in [true, false] {
        let s = Session::new();
        six_events(&s);
        let request = Request { min_episodes: Some(2), dry_run: None };
        let reply = with_call(&s, |call| consolidate(&s.engine, call, &request, Some(&Model(works))))
            .expect("distilled");
        assert_eq!((reply.digests, reply.without_summariser), (2, if works { 0 } else { 2 }));
        let body = insights(&s).remove(0).body;
        assert_eq!(body.contains("3 texts in one word"), works, "{body}");
        assert_eq!(body.contains("certificate"), !works, "{body}");
    }
}

/// Ten thousand events: a fifth in one long session, the rest in sessions of twenty.
fn ten_thousand() -> Vec<EpisodeLine> {
    let words =
        ["gateway", "invoice", "cache", "certificate", "pump", "valve", "index", "backup", "queue", "ledger"];
    (0..10_000_i64)
        .map(|n| {
            let word = |k: i64| words[usize::try_from((n * 7 + k * 13 + n / 11) % 10).unwrap_or(0)];
            EpisodeLine {
                session: Some(if n < 2_000 { "long".into() } else { format!("s{}", n / 20) }),
                speaker: Some("ana".into()),
                text: format!(
                    "I looked at the {} of the {} today. We decided to move {} number {n} to rack {} because of {}. Is that all right?",
                    word(1), word(2), word(3), n % 97, word(4)
                ),
                at: Some(Timestamp(NOON.0 + n)),
                ..EpisodeLine::default()
            }
        })
        .collect()
}

#[test]
#[ignore = "a figure: run by cargo xtask test; on its own with --profile fast it shows 10 000 episodes under 10 s"]
fn ten_thousand_episodes_are_distilled_without_holding_anybody_up() {
    let s = Session::new();
    let plan = Plan { source: "t".into(), scope: Scope::user(), gateway: "t".into(), dry_run: false };
    with_call(&s, |call| store(&s.engine, call, &ten_thousand(), &plan).map(drop)).expect("stored");
    let done = std::sync::atomic::AtomicBool::new(false);
    let (mut waits, took) = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let ledger = s.engine.existing_ledger().expect("a ledger");
            let mut waits = Vec::new();
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let begun = Instant::now();
                ledger.write(&Control::default(), NOON, |w| w.set_setting("probe", "1")).expect("written");
                waits.push(begun.elapsed());
                std::thread::sleep(Duration::from_millis(2));
            }
            waits
        });
        let begun = Instant::now();
        let reply = s.ok("consolidate", json!({}));
        let took = begun.elapsed();
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(reply["episodes_covered"], 10_000);
        (other.join().expect("no panic"), took)
    });
    waits.sort_unstable();
    println!(
        "10 000 episodes in {took:?}; another writer waited at most {:?}, median {:?}, {} writes",
        waits[waits.len() - 1],
        waits[waits.len() / 2],
        waits.len()
    );
    assert!(took < Duration::from_secs(if cfg!(debug_assertions) { 120 } else { 10 }), "{took:?}");
}

#[test]
fn the_configured_judge_writes_the_digest_which_says_so_and_passes_the_gate() {
    let key = format!("ghp_{}", "A1b2C3d4E5f6".repeat(3));
    let said = format!("The certificate had expired; renew it with {key}.");
    let (s, judge) = Session::new().advised(vec![], vec![said]);
    six_events(&s);
    let reply = s.ok("consolidate", json!({ "min_episodes": 2 }));
    assert_eq!((&reply["digests"], &reply["without_summariser"]), (&json!(2), &json!(1)), "{reply}");
    assert_eq!(judge.asked()[0].len(), 3, "the texts of one session at a time");
    let rows = insights(&s);
    assert!(rows[0].body.contains("(written by scripted)\nThe certificate had expired"), "{}", rows[0].body);
    assert!(!rows[0].body.contains(&key), "{}", rows[0].body);
    let shown = s.ok("inspect", json!({ "id": rows[0].id }));
    assert_eq!(shown["metadata"]["method"], "scripted");
    assert_eq!(shown["distils"].as_array().map(Vec::len), Some(3));
    assert!(rows[1].body.contains("5433") && !rows[1].body.contains("written by"), "{}", rows[1].body);
}

#[test]
fn a_digest_holds_as_much_as_a_judge_may_say() {
    let said = format!("{} end", "word ".repeat(2_000));
    let judge = Scripted::new(vec![], vec![said.clone()]);
    let given = digest_of(&judge, &["a text", "another"]).expect("a digest");
    let (s, _) = Session::new().advised(vec![], vec![said]);
    six_events(&s);
    s.ok("consolidate", json!({ "min_episodes": 2 }));
    let body = &insights(&s)[0].body;
    assert!(given.len() > 1_500 && body.contains(given.trim()), "{} and {}", given.len(), body.len());
}

#[test]
fn what_is_too_much_for_the_judge_is_cut_and_nothing_is_left_out() {
    for (events, length, sizes) in [(130, 40, vec![44, 43, 43]), (10, 4_000, vec![6, 4])] {
        let (s, judge) =
            Session::new().advised(vec![], vec!["One word.".into(), "Two.".into(), "Three.".into()]);
        for n in 0..events {
            let text = format!("event {n} {}", "x y".repeat(length / 3));
            let text: String = text.chars().take(length).collect();
            s.ok("episode_record", json!({ "text": text, "session": "long", "at": format!("2026-06-01 10:{:02}:{:02}", n / 60, n % 60) }));
        }
        let reply = s.ok("consolidate", json!({}));
        assert_eq!(
            (&reply["digests"], &reply["episodes_covered"]),
            (&json!(sizes.len()), &json!(events)),
            "{reply}"
        );
        assert_eq!(judge.asked().iter().map(Vec::len).collect::<Vec<_>>(), sizes);
        assert_eq!(s.ok("consolidate", json!({}))["digests"], 0);
    }
}

#[test]
fn a_judge_that_is_away_is_given_up_and_everything_is_extracted() {
    let (s, judge) = Session::new().advised(vec![], vec![]);
    for session in ["a", "b", "c", "d", "e"] {
        for n in 0..3 {
            s.ok("episode_record", json!({ "text": format!("Pump {n} of hall {session} broke because of ice."), "session": session }));
        }
    }
    let reply = s.ok("maintain", json!({ "task": "consolidate" }));
    assert_eq!(reply["failed"], 0, "{reply}");
    assert_eq!((insights(&s).len(), judge.asked().len()), (5, 3));
}
