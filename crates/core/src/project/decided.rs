//! Decisions that a report states together with their reason: "we decided to use threads, because ...".
//!
//! Both must be said, and the decision of what was done: "not yet decided", "to be decided" and "whether" are none.

use super::words::Words;

/// What states a decision in English: the words before what was chosen.
const ENGLISH: [&str; 22] = [
    "decided to",
    "decided on",
    "decided against",
    "decided not to",
    "decided that",
    "decided for",
    "we decided",
    "was decided",
    "chose",
    "chosen to",
    "have chosen",
    "was chosen",
    "opted for",
    "opted to",
    "opted against",
    "settled on",
    "settled for",
    "agreed to",
    "agreed on",
    "agreed that",
    "picked",
    "the decision is",
];
/// What takes it back, close before it or after it.
const OPEN: [&str; 10] =
    ["not", "never", "yet", "whether", "if", "unless", "until", "undecided", "nothing", "once"];
/// Words before a decision among which it is taken back.
const NEAR: usize = 3;
/// What gives a reason in English.
const REASONS: [&str; 16] = [
    "because",
    "since",
    "so that",
    "due to",
    "in order to",
    "to avoid",
    "to keep",
    "to prevent",
    "instead of",
    "rather than",
    "as it",
    "as they",
    "as the",
    "therefore",
    "the reason",
    "otherwise",
];

/// A language that is looked through for whole phrases: what states a decision, what takes it back, what gives a reason.
struct Phrases {
    decides: &'static [&'static str],
    open: &'static [&'static str],
    reasons: &'static [&'static str],
}

const EAST_ASIAN: [Phrases; 3] = [
    Phrases {
        decides: &[
            "决定",
            "決定",
            "选择了",
            "選擇了",
            "选用",
            "選用",
            "改用",
            "采用",
            "採用",
            "选定",
            "選定",
        ],
        open: &[
            "尚未",
            "还没",
            "還沒",
            "没有决定",
            "沒有決定",
            "未决定",
            "未決定",
            "没决定",
            "是否",
            "待决定",
            "决定不了",
            "取决于",
        ],
        reasons: &["因为", "因為", "由于", "由於", "以免", "以便", "为了", "為了", "避免", "原因", "否则"],
    },
    Phrases {
        decides: &[
            "決めた",
            "決めました",
            "決定した",
            "決定しました",
            "ことにした",
            "ことにしました",
            "採用した",
            "採用しました",
            "選んだ",
            "選びました",
            "選択した",
            "選択しました",
            "に決定",
        ],
        open: &["まだ", "未定", "かどうか", "決めていない", "決まっていない"],
        reasons: &["ため", "ので", "から", "理由", "なぜなら", "避け", "防ぐ"],
    },
    Phrases {
        decides: &["기로 했", "기로 하였", "기로 결정", "결정했", "결정하였", "선택했", "채택했", "택했"],
        open: &["아직", "여부", "결정하지", "미정"],
        reasons: &["때문", "위해", "위하여", "므로", "니까", "이유", "않도록", "아서", "어서", "해서"],
    },
];

/// The sentence in which a text states a decision for which it gives a reason.
pub fn stated(text: &str) -> Option<&str> {
    let sentences: Vec<&str> = sentences(text);
    let at = sentences.iter().position(|sentence| decides(sentence))?;
    // The reason may be said right before or right after.
    let around = &sentences[at.saturating_sub(1)..sentences.len().min(at + 2)];
    around.iter().any(|sentence| gives_reason(sentence)).then(|| sentences[at].trim())
}

fn sentences(text: &str) -> Vec<&str> {
    text.split_inclusive(['\n', '。', '！', '？', ';', '；'])
        .flat_map(|part| part.split_inclusive(". "))
        .filter(|part| !part.trim().is_empty())
        .collect()
}

fn decides(sentence: &str) -> bool {
    let words = Words::of(sentence);
    let all = words.as_slice();
    let english = ENGLISH.iter().any(|phrase| {
        let parts: Vec<&str> = phrase.split(' ').collect();
        all.windows(parts.len()).enumerate().any(|(at, window)| {
            let before = &all[at.saturating_sub(NEAR)..at];
            window.iter().eq(parts.iter())
                && !before.iter().any(|word| OPEN.contains(&word.as_str()) || word == "t")
                && !all.get(at + parts.len()).is_some_and(|word| matches!(word.as_str(), "yet" | "whether"))
        })
    });
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| sentence.contains(phrase));
    // Japanese writes the noun as Chinese does.
    let has_kana = sentence.contains(|c| matches!(c, '\u{3040}'..='\u{30ff}'));
    let languages = if has_kana { &EAST_ASIAN[1..] } else { &EAST_ASIAN[..] };
    english || languages.iter().any(|language| has(language.decides) && !has(language.open))
}

fn gives_reason(sentence: &str) -> bool {
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| sentence.contains(phrase));
    Words::of(sentence).has_any(&REASONS) || EAST_ASIAN.iter().any(|language| has(language.reasons))
}

#[cfg(test)]
mod tests {
    use super::stated;

    #[test]
    fn a_decision_with_its_reason_is_told_from_an_open_question() {
        for text in [
            "We decided to use threads for the fetcher because asyncio made the tests flaky",
            "Asyncio made the tests flaky. We chose threads instead of it.",
            "我们决定在抓取器中使用线程，因为 asyncio 让测试不稳定。",
            "抓取器改用线程，以免测试不稳定",
            "テストが不安定になるため、フェッチャーにはスレッドを使うことにした。",
            "asyncio 때문에 테스트가 불안정해서 스레드를 쓰기로 했다.",
        ] {
            assert!(stated(text).is_some(), "{text}");
        }
        for text in [
            "We have not decided to use threads, because nobody measured it",
            "It is to be seen whether we decided on threads because of asyncio",
            "The fetcher uses threads because asyncio made the tests flaky",
            "We decided to use threads for the fetcher.",
            "因为没有数据，尚未决定是否使用线程。",
            "テストが不安定なため、まだ決定していない。",
            "데이터가 없기 때문에 아직 결정하지 못했다.",
        ] {
            assert_eq!(stated(text), None, "{text}");
        }
    }
}
