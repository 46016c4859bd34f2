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

/// A small store per language, questions with the sentence that answers them, and questions about nothing in
/// it.
fn answers(store: &[&str], answered: &[(&str, usize)], unrelated: &[&str]) {
    for (query, at) in answered {
        assert_eq!(find(store, query).first(), Some(&store[*at]), "{query}");
    }
    for query in unrelated {
        assert!(find(store, query).is_empty(), "{query}");
    }
}

#[test]
fn korean_questions_find_their_sentence() {
    let store = [
        "배포는 매주 화요일 오후에 스테이징 서버에서 먼저 진행한다.",
        "결제 모듈은 지난달에 새로운 게이트웨이로 옮겼다.",
        "민지는 회의록을 짧게 쓰는 것을 좋아한다.",
        "데이터베이스 백업은 매일 새벽 세 시에 실행된다.",
        "고객 문의는 이틀 안에 답해야 한다.",
        "로그 보관 기간은 구십 일이다.",
    ];
    let answered = [
        ("백업은 언제 실행되나요?", 3),
        ("결제 모듈을 어디로 옮겼나요?", 1),
        ("배포는 무슨 요일에 하나요?", 0),
        ("로그는 얼마나 보관하나요?", 5),
        ("고객 문의 답변 기한", 4),
    ];
    answers(
        &store,
        &answered,
        &["김치찌개는 어떻게 끓이나요?", "양자 얽힘이란 무엇인가요?", "비트코인 가격"],
    );
}

#[test]
fn japanese_questions_find_their_sentence() {
    let store = [
        "デプロイは毎週火曜日の午後に行う。",
        "決済モジュールは先月新しいゲートウェイに移行した。",
        "田中さんは短い議事録を好む。",
        "データベースのバックアップは毎日午前三時に実行される。",
        "ログの保存期間は九十日である。",
    ];
    let answered = [
        ("バックアップはいつ実行されますか？", 3),
        ("決済モジュールはどこに移行しましたか？", 1),
        ("デプロイは何曜日ですか？", 0),
        ("ログはどのくらい保存しますか？", 4),
    ];
    answers(&store, &answered, &["カレーの作り方を教えて", "量子もつれとは何ですか？"]);
}

#[test]
fn chinese_questions_find_their_sentence() {
    let store = [
        "部署在每周二下午先在预发环境进行。",
        "支付模块上个月迁移到了新的网关。",
        "小李喜欢简短的会议纪要。",
        "数据库每天凌晨三点备份。",
        "日志保留九十天。",
    ];
    let answered = [
        ("数据库什么时候备份？", 3),
        ("支付模块迁移到了哪里？", 1),
        ("日志要保留多久？", 4),
        ("谁喜欢简短的会议纪要？", 2),
    ];
    answers(&store, &answered, &["红烧肉怎么做才好吃？", "量子纠缠是什么意思？", "如何申请签证？"]);
}

#[test]
fn code_words_find_code() {
    let store = [
        "fn parse_retry_after(header: &str) -> Option<Duration> { header.parse().ok().map(Duration::from_secs) }",
        "def flatten_nested_list(items):\n    return [x for sub in items for x in sub]",
        "class HttpClientPool { acquireConnection() { return this.idle.pop(); } }",
    ];
    let answered = [
        ("parse retry after header", 0),
        ("flatten a nested list", 1),
        ("acquireConnection", 2),
        ("http client pool", 2),
        ("HttpClientPool.acquireConnection", 2),
    ];
    answers(&store, &answered, &["bake sourdough bread", "tomato plants"]);
}
