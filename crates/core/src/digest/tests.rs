use super::*;

fn digest(texts: &[&str], budget: usize) -> Vec<Picked> {
    let mut background = Background::default();
    texts.iter().for_each(|text| background.add(text));
    pick(texts, &background, budget, 0)
}

fn said(texts: &[&str]) -> String {
    digest(texts, 300).into_iter().map(|p| p.text).collect::<Vec<_>>().join("\n")
}

#[test]
fn text_is_cut_where_its_language_ends_a_sentence() {
    let cut = |text: &str| sentences(text).into_iter().map(|s| s.into_owned()).collect::<Vec<_>>();
    assert_eq!(
        cut("We use v2.1 of foo.py, e.g. for J. Smith. It works! Does it?"),
        ["We use v2.1 of foo.py, e.g. for J. Smith.", "It works!", "Does it?"]
    );
    assert_eq!(
        cut("数据库迁移到东京。端口是5433！可以吗？"),
        ["数据库迁移到东京。", "端口是5433！", "可以吗？"]
    );
    assert_eq!(
        cut("「明日公開します。」と彼は言った。次へ"),
        ["「明日公開します。」", "と彼は言った。", "次へ"]
    );
    assert_eq!(cut("배포가 실패했다. 원인은 캐시였다."), ["배포가 실패했다.", "원인은 캐시였다."]);
    assert_eq!(
        cut("# Incident\n\n- the pump **stopped**\n1. we ran\n```\nls -l\n```\n---\n> so be it"),
        ["Incident", "the pump stopped", "we ran", "so be it"]
    );
    let long = cut(&"word ".repeat(200));
    assert!(
        long.len() == 1 && long[0].chars().count() <= 240 && long[0].ends_with("word\u{2026}"),
        "{long:?}"
    );
}

#[test]
fn the_whole_group_has_its_say_and_not_only_its_beginning() {
    let talk = [
        "Hello there! How are you?",
        "The build of the payment service takes long today.",
        "I looked at the build of the payment service. Nothing yet.",
        "Let me look at the payment service again.",
        "The payment service logs are long.",
        "Root cause: the retry limit of the payment gateway was 3 and must be 8.",
        "Thanks a lot!",
        "We decided to move the invoices to the Tokyo region.",
    ];
    let digest = said(&talk);
    assert!(digest.contains("retry limit") && digest.contains("Tokyo"), "{digest}");
    for out in ["Hello", "How are you", "Thanks"] {
        assert!(!digest.contains(out), "{digest}");
    }
}

#[test]
fn chinese_japanese_and_korean_are_read_as_well() {
    let chinese = said(&[
        "你好！",
        "今天天气不错，大家都在。",
        "我们决定把数据库端口改为5433，因为5432被占用。",
        "谢谢！",
        "可以吗？",
    ]);
    assert!(chinese.starts_with("今天") || chinese.starts_with("我们决定"), "{chinese}");
    assert!(
        chinese.contains("5433") && !chinese.contains("谢谢") && !chinese.contains("可以吗"),
        "{chinese}"
    );
    let japanese = said(&[
        "お疲れ様です。",
        "原因はキャッシュの期限切れでした。",
        "期限を三十分に変更することにしました。いいですか。",
    ]);
    assert!(
        japanese.contains("原因は") && japanese.contains("変更") && !japanese.contains("いいですか"),
        "{japanese}"
    );
    let korean = said(&[
        "안녕하세요!",
        "배포 실패의 원인은 오래된 인증서였다.",
        "인증서를 매달 갱신하기로 결정했다. 괜찮을까요?",
    ]);
    assert!(
        korean.contains("원인은") && korean.contains("결정") && !korean.contains("괜찮을까요"),
        "{korean}"
    );
}

#[test]
fn the_same_words_are_said_once_but_another_number_is_another_statement() {
    let digest = said(&[
        "The port of the database is 5432 on staging.",
        "The port of the database on staging is 5432.",
        "Correction: the port of the database is 5433 on staging.",
    ]);
    assert_eq!(digest.matches("5432").count(), 1, "{digest}");
    assert!(digest.contains("5433"), "{digest}");
}

#[test]
fn the_budget_holds_the_order_stays_and_nothing_is_made_of_nothing() {
    let texts: Vec<String> =
        (0..200).map(|n| format!("Machine {n} was moved to rack {} in hall {n}.", n * 7)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let picked = digest(&texts, 500);
    assert!(picked.len() > 3 && picked.iter().map(|p| p.text.chars().count()).sum::<usize>() <= 500);
    assert!(picked.windows(2).all(|w| w[0].item <= w[1].item));
    assert_eq!(picked, digest(&texts, 500));
    assert!(digest(&[], 500).is_empty() && digest(&["", "---"], 500).is_empty());
    assert_eq!(said(&["Is anybody there?"]), "Is anybody there?", "where there is nothing else, a question");
    assert_eq!(digest(&[&"a".repeat(5000)], 100).len(), 1, "one sentence at least");
}
