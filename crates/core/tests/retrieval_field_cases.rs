//! Inputs that broke other products, searched by keyword alone in a small store. The numbers are those of the
//! project's field cases and of the conformance checks.

use strata_core::rank::{Corpus, Item, Settings};

/// The texts found for a query, best first.
fn find<'a>(texts: &[&'a str], query: &str) -> Vec<&'a str> {
    let items: Vec<Item<'_>> =
        (1u64..).zip(texts).map(|(stable, text)| Item { text, stable, ..Item::default() }).collect();
    let ranking = Corpus::build(&items).search(query, None, &Settings::default(), 10);
    ranking.hits.iter().map(|h| texts[h.place.slot as usize]).collect()
}

fn finds(text: &str, query: &str) {
    let others = ["The weekly report goes out on Friday.", "咖啡机在三楼。", "점심은 열두 시에 먹는다", text];
    assert_eq!(find(&others, query).first(), Some(&text), "{query:?} should find {text:?}");
}

#[test]
fn field_a1_a_path_is_found() {
    finds("Recordings are kept in Downloads/transcripts until they are imported.", "Downloads/transcripts");
}

#[test]
fn field_a2_an_apostrophe_is_no_syntax() {
    finds("Please don't use agents for billing changes.", "don't use agents");
}

#[test]
fn field_a3_dotted_names_and_versions_are_found() {
    finds("The health.base module checks the disks.", "health.base");
    finds("Build images run ubuntu 20.04 until autumn.", "ubuntu 20.04");
}

#[test]
fn field_a4_query_syntax_is_text() {
    finds("The migration has status: done since Monday.", "status: done");
    finds("The gateway answered with a timeout error.", "timeout \"error");
    finds("Failed jobs retry three times.", "retry OR");
}

#[test]
fn field_a6_hyphens_and_commas_are_text() {
    finds("Run skill-audit before every release.", "skill-audit");
    finds("Options a, b and c were weighed.", "a, b");
}

#[test]
fn field_b11_cjk_words_are_found_by_keyword() {
    finds("今日は成語しりとりをした", "しりとり");
    finds("오늘 끝말잇기 게임을 했다", "끝말잇기");
    finds("今天玩成语接龙游戏", "成语接龙");
}

#[test]
fn field_b12_parts_of_a_chinese_sentence_are_found() {
    finds("人工智能技术发展迅速", "人工智能");
    finds("人工智能技术发展迅速", "技术");
}

#[test]
fn field_b14_mixed_scripts_are_found_by_either() {
    finds("文档 L0录入 已完成", "录入");
    finds("文档 L0录入 已完成", "L0");
    finds("重跑gen-itgc后再提交", "gen-itgc");
}

#[test]
fn p_layer_c32_query_operators_never_matter() {
    let text = "The cache was moved to Redis because of latency.";
    for query in [
        "why was the cache moved?",
        "cache: redis",
        "cache - redis",
        "\"cache",
        "cache*",
        "cache AND redis",
        "cache OR redis",
        "cache NOT redis",
        "cache NEAR redis",
        "NEAR(cache redis, 5)",
        "^cache (",
    ] {
        finds(text, query);
    }
}

#[test]
fn p_layer_c33_every_kind_of_name_finds_its_text() {
    let text = "blue-green deployment of Caroline's foo/bar.py v2.1";
    for query in ["blue-green", "Caroline's", "bar.py", "v2.1", "foo/bar.py", "Caroline", "2.1"] {
        finds(text, query);
    }
}

#[test]
fn p_layer_c34_korean_and_chinese_words_are_found() {
    finds("결제시스템을 포트원으로 변경했다", "결제");
    finds("결제시스템을 포트원으로 변경했다", "포트원");
    finds("我们切换到新的支付系统", "支付");
}

#[test]
fn a_small_store_is_searched_sensibly() {
    let store = [
        "We use Stripe for payments in the web shop.",
        "Ada prefers short commit messages.",
        "The staging database is restored every night.",
    ];
    assert_eq!(find(&store, "payment"), [store[0]]);
    assert_eq!(find(&store, "how are payments handled"), [store[0]]);
    assert_eq!(find(&store, "staging").len(), 1);
    for unrelated in
        ["kubernetes ingress", "what is the capital of France?", "如何申请签证？", "김치찌개", "🎉", ""]
    {
        assert!(find(&store, unrelated).is_empty(), "{unrelated}");
    }
    assert!(find(&[], "anything").is_empty());
}
