//! What the form of a sentence says of its worth: decisions, outcomes, corrections, numbers, questions.

/// Words of decisions: what was chosen, and what must hold.
const DECISIONS: &[&str] = &[
    "decid",
    "decision",
    "agreed",
    "we chose",
    "settled on",
    "switch",
    "instead of",
    "from now on",
    "must ",
    "never ",
    "always ",
    "will use",
    "we use",
    "policy",
    "rule:",
    "决定",
    "決定",
    "选择",
    "選擇",
    "改为",
    "改用",
    "必须",
    "必須",
    "不要",
    "一律",
    "今后",
    "统一",
    "采用",
    "決め",
    "採用",
    "変更",
    "必ず",
    "ことにし",
    "方針",
    "統一",
    "결정",
    "하기로",
    "변경",
    "반드시",
    "채택",
    "앞으로",
];

/// Words of outcomes: causes, fixes, results.
const OUTCOMES: &[&str] = &[
    "because",
    "root cause",
    "caused by",
    "the cause",
    "fixed",
    "fix:",
    "resolved",
    "solved",
    "turned out",
    "works now",
    "result",
    "released",
    "deployed",
    "shipped",
    "failed",
    "broke",
    "learned",
    "lesson",
    "therefore",
    "原因",
    "因为",
    "修复",
    "解决",
    "结果",
    "结论",
    "上线",
    "发布",
    "失败",
    "教训",
    "所以",
    "修正",
    "解決",
    "結果",
    "結論",
    "ため",
    "リリース",
    "失敗",
    "教訓",
    "원인",
    "때문",
    "수정",
    "해결",
    "결과",
    "결론",
    "배포",
    "실패",
    "교훈",
];

/// Words of corrections: what was thought before does not hold.
const CORRECTIONS: &[&str] = &[
    "actually",
    "correction",
    "in fact",
    "not anymore",
    "no longer",
    "wrong",
    "instead",
    "rather than",
    "was meant",
    "其实",
    "实际上",
    "更正",
    "纠正",
    "不再",
    "而不是",
    "错了",
    "実は",
    "実際",
    "訂正",
    "ではなく",
    "間違",
    "사실",
    "실제로",
    "정정",
    "아니라",
    "더 이상",
    "틀렸",
];

/// What the form adds to a sentence's score, as a factor of 1 or more.
pub(super) fn factor(sentence: &str) -> f64 {
    let lower = sentence.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let mut factor = 1.0;
    for (words, weight) in [(DECISIONS, 0.5), (OUTCOMES, 0.5), (CORRECTIONS, 0.4)] {
        if has(words) {
            factor += weight;
        }
    }
    if sentence.chars().any(|c| c.is_numeric()) {
        factor += 0.2;
    }
    factor
}

/// Whether the sentence asks: by its mark, or in Chinese, Japanese and Korean by its last particle.
pub(super) fn is_question(sentence: &str) -> bool {
    let said = sentence.trim_end_matches(['"', ')', '\u{300D}', '\u{201D}', '\u{FF09}']);
    if said.ends_with(['?', '\u{FF1F}']) {
        return true;
    }
    let said = said.trim_end_matches(['\u{3002}', '.', '\u{FF61}']);
    ["吗", "呢", "ですか", "ますか", "でしょうか", "니까", "나요", "까요"]
        .iter()
        .any(|end| said.ends_with(end))
}
