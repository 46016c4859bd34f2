//! Recall over the files of the vault: what each mode finds, how it is scored, and how much of it is shown.

use crate::knowledge_support::{on_disk, stand_in, write};
use crate::support::Session;
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, principal::PrincipalKind, scope::Scope};
use strata_store::files::write_atomic;

fn recall(s: &Session, keyword: &str, mode: &str) -> Value {
    s.ok("recall_knowledge", json!({ "keyword": keyword, "search_mode": mode }))
}

fn files(reply: &Value) -> Vec<&str> {
    reply["results"]
        .as_array()
        .expect("results")
        .iter()
        .map(|hit| hit["file"].as_str().expect("a file"))
        .collect()
}

const PROXY: &str = "# proxy\n\nThe proxy stands before [[gateway]].\n\n## Pool\n\nThe connection pool holds 20 connections.\n\n### Pool timeouts\n\nA pool waits 30 seconds.\n\n## TLS\n\nCertificates are renewed weekly, see [[gateway#Certificates]] and [[infra/dns]].\n";

#[test]
fn layered_29_the_keyword_score_is_the_documented_sum_and_only_matching_sections_come() {
    let s = Session::new();
    write(&s, "infra/pool.md", PROXY);
    write(&s, "other", "# other\n\n## Notes\n\nThe swimming pool is closed.\n");
    write(&s, "apart", "# apart\n\n## Notes\n\nNothing of the kind.\n");
    let reply = recall(&s, "Pool", "keyword");
    let places = PROXY.to_lowercase().matches("pool").count() as f64;
    let expected = 10.0 + 3.0 * 2.0 + (0.5 * places).min(5.0);
    assert_eq!(files(&reply), ["infra/pool.md", "other.md"]);
    assert_eq!(reply["results"][0]["score"], json!(expected));
    assert_eq!(reply["results"][1]["score"], json!(0.5));
    assert_eq!((reply["total_files"].as_u64(), reply["matched_files"].as_u64()), (Some(3), Some(2)));
    let first = &reply["results"][0];
    assert_eq!(first["matched_sections"], 2);
    assert_eq!(
        first["sections"],
        json!([
            { "title": "Pool", "content": "## Pool\n\nThe connection pool holds 20 connections." },
            { "title": "Pool timeouts", "content": "### Pool timeouts\n\nA pool waits 30 seconds." },
        ])
    );
    assert_eq!(first["wiki_links"], json!(["gateway", "infra/dns"]));
    assert_eq!(reply["success"], true);
    assert_eq!(reply["search_mode"], "keyword");
    let usual = s.ok("recall_knowledge", json!({ "keyword": "Pool" }));
    assert_eq!(usual["results"], reply["results"]);
    let one = s.ok("recall_knowledge", json!({ "keyword": "pool", "top_n": 1 }));
    assert_eq!((files(&one).len(), one["matched_files"].as_u64()), (1, Some(2)));
}

#[test]
fn layered_30_every_mode_finds_and_an_unknown_one_is_refused_with_the_words() {
    let s = Session::new();
    write(&s, "infra", PROXY);
    write(&s, "people", "# people\n\n## Lunch\n\nWe eat at noon in the canteen.\n");
    for mode in ["keyword", "fuzzy", "bm25", "hybrid", "semantic"] {
        let reply = recall(&s, "connection pool", mode);
        assert_eq!(files(&reply).first(), Some(&"infra.md"), "{mode}: {reply}");
        let first = &reply["results"][0];
        assert!(first["score"].as_f64().is_some_and(|score| score > 0.0), "{mode}: {reply}");
        let content = first["sections"][0]["content"].as_str().unwrap_or_default();
        assert!(content.starts_with("## Pool\n\nThe connection pool"), "{mode}: {reply}");
        assert!(!first.to_string().contains("Certificates are renewed"), "{mode}: {reply}");
    }
    let fused = recall(&s, "connection pool", "hybrid")["results"][0]["score"].as_f64().expect("a score");
    assert!((1.0 / 90.0..=2.0 / 61.0 + 1e-4).contains(&fused), "a sum of reciprocal ranks: {fused}");
    let cosine = recall(&s, "connection pool", "semantic")["results"][0]["score"].as_f64();
    assert!(cosine.is_some_and(|cosine| cosine <= 1.0));
    assert_eq!(files(&recall(&s, "pol timeuots", "fuzzy")).first(), Some(&"infra.md"));
    for (keyword, mode) in [("zeppelin", "keyword"), ("zeppelin", "bm25"), ("qqzzxx", "fuzzy")] {
        assert_eq!(files(&recall(&s, keyword, mode)), Vec::<&str>::new(), "{mode}");
    }
    let Err(error) = s.reply("recall_knowledge", json!({ "keyword": "x", "search_mode": "vector" })) else {
        panic!("an unknown mode was taken");
    };
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.hint().contains("keyword, fuzzy, bm25, hybrid, semantic"), "{}", error.hint());
    assert_eq!(s.fails("recall_knowledge", json!({ "keyword": "  " })), ErrorKind::Invalid);
}

#[test]
fn layered_27_chinese_terms_are_found_in_every_mode() {
    let s = Session::new();
    write(&s, "数据库", "# 数据库\n\n## 连接池\n\n生产环境的连接池上限是二十个连接，超时三十秒。\n");
    write(&s, "午饭", "# 午饭\n\n## 时间\n\n每天中午十二点在食堂吃饭。\n");
    for mode in ["keyword", "fuzzy", "bm25", "hybrid"] {
        let reply = recall(&s, "连接池", mode);
        assert_eq!(files(&reply), ["数据库.md"], "{mode}: {reply}");
        assert_eq!(reply["results"][0]["sections"][0]["title"], "连接池", "{mode}");
    }
    for mode in ["bm25", "hybrid"] {
        let reply = recall(&s, "连接池超时", mode);
        assert_eq!(files(&reply).first(), Some(&"数据库.md"), "{mode}: {reply}");
    }
}

#[test]
fn layered_31_a_write_is_seen_by_the_next_recall_in_every_mode() {
    let s = Session::new();
    write(&s, "a", "## Port\n\nThe gateway listens on port eighty.\n");
    for mode in ["keyword", "fuzzy", "bm25", "hybrid"] {
        assert_eq!(files(&recall(&s, "gateway", mode)), ["a.md"], "{mode}");
    }
    write(&s, "a", "## Port\n\nThe turnstile listens on port ninety.\n");
    for mode in ["keyword", "bm25", "hybrid"] {
        assert!(files(&recall(&s, "gateway", mode)).is_empty(), "{mode}");
        assert_eq!(files(&recall(&s, "turnstile", mode)), ["a.md"], "{mode}");
    }
}

#[test]
fn layered_32_own_files_stand_before_shared_ones_and_those_of_others_are_not_there() {
    let mut s = Session::new();
    write(&s, "both", "## Motto\n\nThe heron of all.\n");
    write(&s, "common", "## Bird\n\nAnother heron.\n");
    stand_in(&mut s, "codex");
    write(&s, "hidden", "## Secret\n\nThe heron of codex.\n");
    stand_in(&mut s, "claude");
    write(&s, "own", "## Mine\n\nA heron of mine.\n");
    for mode in ["keyword", "bm25", "hybrid"] {
        let reply = recall(&s, "heron", mode);
        let mut found = files(&reply);
        found.sort_unstable();
        assert_eq!(found, ["both.md", "common.md", "own.md"], "{mode}");
        assert_eq!(reply["total_files"], 3);
    }
    s.scope = Scope::user();
    assert_eq!(recall(&s, "heron", "keyword")["total_files"], 2, "nobody's own files are shared");
}

#[test]
fn recall_cuts_long_sections_around_the_keyword_and_the_whole_reply() {
    let s = Session::new();
    let filler = "An ordinary line of text about nothing in particular.\n".repeat(400);
    write(&s, "long", &format!("# long\n\n## Story\n\n{filler}\nthe needle lies here\n\n{filler}"));
    let reply = recall(&s, "needle", "keyword");
    let section = &reply["results"][0]["sections"][0];
    let content = section["content"].as_str().expect("content");
    assert!(content.starts_with("## Story\n…\n") && content.contains("the needle lies here"), "{content}");
    assert!(content.len() < 2_300, "{}", content.len());
    assert_eq!((&section["truncated"], &reply["truncated"]), (&json!(true), &json!(true)));
    for number in 0..20 {
        let section = |at: usize| format!("## Part {at}\n\nneedle {}\n\n", "word ".repeat(380));
        let text: String = (0..4).map(section).collect();
        write(&s, &format!("many{number}"), &text);
    }
    let reply = s.ok("recall_knowledge", json!({ "keyword": "needle", "top_n": 50 }));
    assert_eq!(files(&reply).len(), 21, "every file is named");
    assert_eq!(reply["results"][1]["matched_sections"], 4);
    assert!(reply["results"][1]["sections"].as_array().is_some_and(|shown| shown.len() == 3));
    assert!(reply["truncated"] == true && reply.to_string().len() < 30_000, "{}", reply.to_string().len());
}

#[test]
fn recall_without_knowledge_says_so_and_a_broken_file_stands_in_no_ones_way() {
    let s = Session::new();
    let reply = recall(&s, "anything", "hybrid");
    assert_eq!((reply["success"].as_bool(), reply["keyword"].as_str()), (Some(false), Some("anything")));
    assert!(reply["error"].as_str().is_some_and(|error| error.starts_with("No knowledge files found")));
    write(&s, "fine", "## A\n\nThe kestrel nests here.\n");
    if on_disk(&s) {
        let folder = s.home.path().join("vault").join("knowledge").join("shared");
        write_atomic(&folder.join("broken.md"), b"## A\n\nkestrel \xff\xfe\n").expect("saved");
        write_atomic(&folder.join("hand.md"), b"## B\n\nA kestrel by hand, password = hunter2trombone9\n")
            .expect("saved");
        let reply = recall(&s, "kestrel", "keyword");
        assert_eq!(files(&reply), ["fine.md", "hand.md"], "{reply}");
        assert!(!reply.to_string().contains("hunter2trombone9"), "{reply}");
    }
    assert_eq!(files(&recall(&s, "kestrel", "bm25")).first(), Some(&"fine.md"));
}

#[test]
fn recall_is_on_the_access_log_with_rank_and_score() {
    let mut s = Session::new();
    write(&s, "infra/proxy.md", PROXY);
    recall(&s, "pool", "keyword");
    recall(&s, "pool", "hybrid");
    let timeline = s.ok("get_domain_timeline", json!({ "domain": "infra/proxy" }));
    assert_eq!(timeline["stats"]["total_hits"], 2, "{timeline}");
    assert!(timeline["stats"]["avg_score"].as_f64().is_some_and(|score| score > 0.0));
    s.set_kind(PrincipalKind::Human);
    let shown = s.text("recall_knowledge", json!({ "keyword": "pool" }));
    assert!(shown.contains("infra/proxy.md") && shown.contains("pool holds 20"), "{shown}");
}

#[test]
fn recall_warns_of_an_index_that_is_behind_and_of_no_other() {
    let s = Session::new();
    write(&s, "nets", "# nets\n\n## Heron\n\nA heron stands.\n");
    write(&s, "birds", "# birds\n\n## Heron\n\nA heron flies.\n");
    let warning = |s: &Session| recall(s, "heron", "keyword").get("l0_staleness_warning").cloned();
    assert_eq!(warning(&s), None);
    if !on_disk(&s) {
        return;
    }
    let file = s.home.path().join("vault").join("knowledge").join("shared").join("birds.md");
    std::thread::sleep(std::time::Duration::from_millis(20));
    write_atomic(&file, b"# birds\n\n## Heron\n\nA  heron  flies.\n").expect("saved");
    assert_eq!(warning(&s), None, "the index would say the same");
    write_atomic(&file, b"# all birds\n\n## Heron\n\nA heron of another title.\n").expect("saved");
    let told = warning(&s).expect("behind");
    assert_eq!(
        (&told["stale"], &told["stale_files"], &told["stale_count"]),
        (&json!(true), &json!(["birds.md"]), &json!(1))
    );
    assert!(told["l0_mtime"].as_str() <= told["newest_l1_mtime"].as_str(), "{told}");
    s.ok("sync_l0_index", json!({}));
    assert_eq!(warning(&s), None);
}

#[test]
fn the_one_that_is_named_is_found_among_thousands_of_sections_that_are_nearly_alike() {
    let s = Session::new();
    for file in 0..10 {
        let section = |n: usize| match n % 2 {
            0 => format!("## Service {n}\n\nThe service listens on a port behind the proxy.\n"),
            _ => format!("## Service {n}\n\nThe service number {n} listens on port {}.\n", 9_000 + n),
        };
        let text: String = (file * 200..file * 200 + 200).map(section).collect();
        write(&s, &format!("services{file}"), &text);
    }
    for (question, named) in [
        ("service 1234", "Service 1234"),
        ("which port does service 1234 listen on", "Service 1234"),
        ("port 10235", "Service 1235"),
        ("service behind the proxy", ""),
    ] {
        for mode in ["bm25", "hybrid"] {
            let reply = recall(&s, question, mode);
            let first = &reply["results"][0]["sections"];
            let titles: Vec<_> = first.as_array().into_iter().flatten().map(|part| &part["title"]).collect();
            assert!(!titles.is_empty(), "{mode} finds nothing for `{question}`");
            let is_named = |title: &&Value| title.as_str().is_some_and(|title| title.ends_with(named));
            assert!(titles.iter().any(is_named), "{mode}, `{question}`: {titles:?}");
        }
    }
}
