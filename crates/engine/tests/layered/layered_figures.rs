//! How long the tools of layered knowledge take with 2 000 sections in a vault.
//! `cargo test --profile fast -p strata-engine --test layered layered_figures -- --ignored --nocapture --test-threads=1`
//! prints the figures, as time of the clock and as time that the calling thread was at work. On a machine that others use
//! too, the least of several medians tells most, and of it the time at work.

#![expect(clippy::print_stdout, reason = "the figures are the point")]

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use crate::knowledge_support::{change, on_disk};
use crate::support::Session;
use serde_json::{Value, json};
use strata_engine::engine::Engine;
use strata_store::files::write_atomic;

const FILES: usize = 50;
const SECTIONS: usize = 40;
/// Each figure is the least median of so many rounds.
const ROUNDS: usize = 3;

const THINGS: [&str; 32] = [
    "gateway",
    "connection pool",
    "read replica",
    "certificate",
    "job queue",
    "worker",
    "cache",
    "shard",
    "ledger",
    "proxy",
    "session store",
    "archive",
    "scheduler",
    "invoice export",
    "search index",
    "mailer",
    "网关",
    "连接池",
    "只读副本",
    "证书",
    "任务队列",
    "缓存",
    "分片",
    "代理",
    "会话存储",
    "归档",
    "调度器",
    "发票导出",
    "搜索索引",
    "邮件服务",
    "审计日志",
    "配置中心",
];
const ENGLISH: [&str; 12] = [
    "The {a} of {h} listens on port {n} and answers the {b} within {m} ms.",
    "We chose {n} entries for the {a} because the {b} could not hold more on {h}.",
    "When the {a} stalls, the {b} keeps {n} requests for {m} seconds before it gives up.",
    "Backups of the {a} run at {m}:30 on {h} and stay for {n} days.",
    "The owner of the {a} is team {t}; changes of the {b} need their review.",
    "Version 3.{m}.{n} of the {a} drops the older protocol of the {b}.",
    "Root cause of incident {n}: the {a} held a lock that the {b} of {h} waited for.",
    "Metrics of the {a} are labelled `{h}` and kept at a resolution of {m} s.",
    "A rollout of the {a} takes {m} minutes and drains the {b} first.",
    "The {b} trusts the {a} only through mutual TLS; its keys rotate every {n} hours.",
    "Writes to the {a} go through {h}; reads may come from any {b}.",
    "Capacity: {n} GiB for the {a}, {m} cores for the {b}.",
];
const CHINESE: [&str; 8] = [
    "{h} 上的{a}监听 {n} 端口，{b}在 {m} 毫秒内响应。",
    "{a}最多保留 {n} 条记录，因为{b}容量有限。",
    "{a}的负责人是{t}组，修改{b}需要他们评审。",
    "故障 {n} 的根因：{a}持有锁，{h} 的{b}一直等待。",
    "{a}每天 {m}:30 备份到 {h}，保留 {n} 天。",
    "升级{a}需要 {m} 分钟，先排空{b}。",
    "{a}的指标标签是 `{h}`，采样间隔 {m} 秒。",
    "{b}只通过双向 TLS 信任{a}，密钥每 {n} 小时轮换。",
];

/// A number that looks drawn, the same for the same seed.
fn drawn(seed: u64) -> usize {
    let mut x = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    usize::try_from((x ^ (x >> 31)) >> 33).unwrap_or(0)
}

/// Some lines on two things, in English or Chinese.
fn body(seed: u64) -> String {
    let chinese = drawn(seed).is_multiple_of(3);
    let mut text = String::new();
    for line in 0..3 + drawn(seed + 7) as u64 % 3 {
        let pick = |salt: u64| drawn(seed * 31 + line * 101 + salt);
        let things = if chinese { &THINGS[16..] } else { &THINGS[..16] };
        let templates: &[&str] = if chinese { &CHINESE } else { &ENGLISH };
        let filled = templates[pick(1) % templates.len()]
            .replace("{a}", things[pick(2) % things.len()])
            .replace("{b}", things[pick(3) % things.len()])
            .replace("{h}", &format!("{}-{}", ["db", "edge", "app", "log"][pick(4) % 4], pick(5) % 90))
            .replace("{n}", &(pick(6) % 9_000 + 10).to_string())
            .replace("{m}", &(pick(7) % 50 + 5).to_string())
            .replace("{t}", ["core", "data", "平台", "支付"][pick(8) % 4]);
        let _ = writeln!(text, "{filled}");
    }
    if drawn(seed + 3).is_multiple_of(25) {
        text.push_str("TODO: check it before 2026-01-15\n");
    }
    text
}

fn file(name: usize, sections: usize) -> String {
    let mut text = format!("# area {name}\n\n");
    for section in 0..sections {
        let seed = (name * 100_000 + section) as u64;
        let (a, b) = (THINGS[drawn(seed + 11) % 32], THINGS[drawn(seed + 13) % 32]);
        let _ = write!(text, "## {a}, {b} in place {section}\n\n{}\n", body(seed));
    }
    text
}

/// Time that this thread was at work; none where the system does not tell.
fn at_work() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let spent = told.and_then(|line| line.split(' ').next()?.parse().ok());
    spent.map_or(Duration::ZERO, Duration::from_nanos)
}

/// Prints how long `call` takes; it is given a number that grows.
fn figure(what: &str, calls: usize, call: &mut dyn FnMut(usize)) {
    let mut least = [Duration::MAX; 3];
    let mut number = 0;
    for _ in 0..ROUNDS {
        let (mut took, mut worked): (Vec<Duration>, Vec<Duration>) = (0..calls)
            .map(|_| {
                number += 1;
                let (started, before) = (Instant::now(), at_work());
                call(number);
                (started.elapsed(), at_work().saturating_sub(before))
            })
            .unzip();
        took.sort();
        worked.sort();
        let found = [took[calls / 2], took[calls * 95 / 100], worked[calls / 2]];
        least = [0, 1, 2].map(|at| least[at].min(found[at]));
    }
    let [middle, high, worked] = least.map(|took| took.as_secs_f64() * 1e3);
    println!("{what:<44} p50 {middle:8.2} ms, p95 {high:8.2} ms, at work {worked:8.2} ms");
}

fn real() -> Session {
    let mut s = Session::new();
    // Whether a file may change once more is told by the real time.
    s.engine = Engine::new(s.engine.settings().clone());
    s
}

/// A file that was saved this moment is read again, for it may change once more.
fn settle(s: &Session) {
    if on_disk(s) {
        std::thread::sleep(Duration::from_millis(2_500));
    }
}

fn filled() -> Session {
    let s = real();
    for name in 0..FILES {
        change(&s, &format!("area{name}"), Some(&file(name, SECTIONS)));
    }
    settle(&s);
    s.ok("recall_knowledge", json!({ "keyword": "gateway", "search_mode": "hybrid" }));
    s
}

fn inject(s: &Session, domain: &str, section: &str, content: &str, mode: &str) -> Value {
    s.ok(
        "inject_knowledge",
        json!({ "domain": domain, "section": section, "content": content, "mode": mode }),
    )
}

/// Sends a text as new sections and again with other values, appends and merges.
fn writes(s: &Session, calls: usize, area: &dyn Fn(usize) -> String) {
    let new = |at: usize| body(50_000_000 + at as u64);
    figure("inject upsert, a new section", calls, &mut |at| {
        inject(s, &area(at), &format!("Fresh fact {at}"), &new(at), "upsert");
    });
    figure("inject upsert, a section anew with a value", calls, &mut |at| {
        let text = format!("{}The limit is {at} requests.\n", new(at));
        inject(s, &area(at), &format!("Fresh fact {at}"), &text, "upsert");
    });
    figure("inject upsert, the same again", calls, &mut |at| {
        inject(s, &area(at), &format!("Fresh fact {at}"), &new(at), "upsert");
    });
    figure("inject append", calls, &mut |at| {
        inject(s, &area(at), &format!("Fresh fact {at}"), &body(70_000_000 + at as u64), "append");
    });
    figure("inject merge", calls, &mut |at| {
        inject(s, &area(at), &format!("Fresh fact {at}"), &body(80_000_000 + at as u64), "merge");
    });
    let held = s.ok("recall_knowledge", json!({ "keyword": "Fresh fact 3" }));
    assert!(held["matched_files"].as_u64() > Some(0), "{held}");
}

fn reads(s: &Session, calls: usize) {
    for (mode, keyword) in [
        ("keyword", "certificate"),
        ("keyword", "连接池"),
        ("fuzzy", "certifcate"),
        ("bm25", "gateway certificate port"),
        ("hybrid", "gateway certificate port"),
        ("hybrid", "连接池 端口"),
        ("semantic", "which port does the gateway listen on"),
    ] {
        figure(&format!("recall {mode} {keyword}"), calls, &mut |_| {
            let found = s.ok("recall_knowledge", json!({ "keyword": keyword, "search_mode": mode }));
            assert_eq!(found["success"], true);
        });
    }
    let text = "The gateway listens on port 8443; its certificate is renewed by the scheduler every week.";
    figure("classify_memory_item", calls, &mut |_| {
        s.ok("classify_memory_item", json!({ "content": text }));
    });
    figure("get_section", calls, &mut |at| {
        let list = json!({ "domain": format!("area{}", at % FILES), "section": "Fresh fact 1" });
        drop(s.reply("get_section", list));
    });
}

/// An audit of 2 000 sections takes this long at most.
const AUDIT: Duration = Duration::from_secs(2);

fn upkeep(s: &Session, calls: usize) {
    let started = Instant::now();
    figure("audit_rot, first", 1, &mut |_| drop(s.ok("audit_rot", json!({}))));
    let each = started.elapsed() / u32::try_from(ROUNDS).expect("few rounds");
    assert!(each < AUDIT, "an audit took {each:?}");
    figure("audit_rot", calls, &mut |_| drop(s.ok("audit_rot", json!({}))));
    figure("validate_knowledge", calls, &mut |_| drop(s.ok("validate_knowledge", json!({}))));
    figure("plan_knowledge_cleanup", calls, &mut |_| drop(s.ok("plan_knowledge_cleanup", json!({}))));
    figure("reconcile_knowledge", 1, &mut |_| drop(s.ok("reconcile_knowledge", json!({}))));
}

#[test]
#[ignore = "figures: on their own with --profile fast"]
fn two_thousand_sections_in_fifty_files() {
    let s = filled();
    writes(&s, 21, &|at| format!("area{}", at % FILES));
    settle(&s);
    reads(&s, 21);
    upkeep(&s, 3);
    batches(&s);
}

/// A batch of as many items as are taken, each for a section of its own.
fn batches(s: &Session) {
    figure("batch of 100 new sections in 50 files", 1, &mut |at| {
        let item = |n: usize| {
            let content = body((90_000_000 + at * 1_000 + n) as u64);
            json!({ "domain": format!("area{}", n % FILES), "section": format!("Batch {at} {n}"), "content": content })
        };
        let items: Vec<Value> = (0..100).map(item).collect();
        let done = s.ok("batch_inject_knowledge", json!({ "items": items }));
        assert_eq!(done["success_count"], 100, "{done}");
    });
}

#[test]
#[ignore = "figures: on their own with --profile fast"]
fn two_thousand_sections_in_one_file() {
    let s = real();
    change(&s, "whole", Some(&file(1, FILES * SECTIONS)));
    settle(&s);
    writes(&s, 5, &|_| "whole".to_owned());
    settle(&s);
    reads(&s, 5);
    upkeep(&s, 1);
}

#[test]
#[ignore = "figures: on their own with --profile fast"]
fn five_megabytes_are_taken_or_refused_soon() {
    let s = real();
    let section = |at: usize| format!("## Part {at}\n\n{}\n", body(at as u64));
    let mut text = String::from("# big\n\n");
    let mut at = 0;
    while text.len() < (9 << 19) {
        text.push_str(&section(at));
        at += 1;
    }
    println!("a file of {} bytes, {at} sections", text.len());
    change(&s, "big", Some(&text));
    settle(&s);
    writes(&s, 1, &|_| "big".to_owned());
    let mut long = String::new();
    while long.len() < (1 << 20) - 600 {
        long.push_str(&body(long.len() as u64));
    }
    figure("inject 1 MiB", 1, &mut |at| drop(inject(&s, &format!("long{at}"), "All", &long, "upsert")));
    figure("inject 1 MiB again", 1, &mut |at| {
        drop(inject(&s, &format!("long{at}"), "All", &long, "upsert"));
    });
    let lines: String = (0..(1 << 20) / 8).map(|line| format!("{line:07}\n")).collect();
    figure("inject 1 MiB of short lines", 1, &mut |at| {
        drop(inject(&s, &format!("lines{at}"), "All", &lines[..lines.len() - 64], "upsert"));
    });
    figure("create_knowledge_file of 5 MB", 1, &mut |at| {
        let mut content = text.clone();
        (0..)
            .take_while(|n| {
                content.push_str(&section(at * 100_000 + n));
                content.len() < 5_200_000
            })
            .for_each(drop);
        s.ok("create_knowledge_file", json!({ "filename": format!("made{at}.md"), "content": content }));
    });
    let content = text.repeat(2);
    figure("inject 9 MB, refused", 3, &mut |_| {
        let sent = json!({ "domain": "d", "section": "s", "content": content });
        assert!(s.reply("inject_knowledge", sent).is_err());
    });
}

#[test]
#[ignore = "figures: on their own with --profile fast"]
fn eleven_megabytes_that_hands_just_saved_are_found() {
    let s = real();
    change(&s, "first", Some("# first\n\n## One\n\nThe gateway is here.\n"));
    let (mut part, keyword) = (0_u64, json!({ "keyword": "gateway", "search_mode": "hybrid" }));
    for round in 1..=ROUNDS {
        for name in 0..11 {
            let mut text = format!("# round {round} area {name}\n\n");
            while text.len() < 1_000_000 {
                part += 1;
                let _ = write!(text, "## Part {part}\n\n{}\n", body(part));
            }
            let file = s.home.path().join(format!("vault/knowledge/shared/fresh{name}.md"));
            write_atomic(&file, text.as_bytes()).expect("saved");
        }
        for what in ["recall right after 11 MB were saved", "the same at once", "the same once more"] {
            let (started, before) = (Instant::now(), at_work());
            let found = s.ok("recall_knowledge", keyword.clone());
            let (took, worked) = (started.elapsed(), at_work().saturating_sub(before));
            println!("round {round}: {what:<40} {took:8.2?}, at work {worked:8.2?}");
            assert!(found["matched_files"].as_u64() > Some(9), "{found}");
        }
    }
}
