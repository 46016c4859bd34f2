//! Words that turn a statement into its opposite: negations, and antonyms by pairs.

use std::{collections::HashMap, sync::LazyLock};

use aho_corasick::{AhoCorasick, MatchKind};

/// What a polar word does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Polar {
    /// Negates.
    Negation,
    /// One side of the antonym pair of that number; `true` for the first.
    Side(u16, bool),
}

/// English negations, as the tokeniser cuts words.
const NEGATIONS: &[&str] = &[
    "not", "never", "no", "cannot", "without", "neither", "nor", "none", "nobody", "nothing", "nowhere",
    "cant", "dont", "doesnt", "didnt", "isnt", "arent", "wasnt", "werent", "wont", "wouldnt", "shouldnt",
    "mustnt", "couldnt", "hasnt", "havent", "hadnt", "refuse", "refuses", "refused", "lacks",
];

/// English words that hold a negation but do not negate: the word before and the word itself.
const HARMLESS: &[(&str, &str)] =
    &[("no", "matter"), ("no", "doubt"), ("not", "only"), ("not", "just"), ("no", "problem")];

/// English antonyms; each side lists its forms.
const ENGLISH: &[(&str, &str)] = &[
    (
        "love loves loved loving like likes liked enjoy enjoys adore adores",
        "hate hates hated hating dislike dislikes disliked detest detests loathe loathes",
    ),
    ("prefer prefers preferred", "avoid avoids avoided"),
    ("enable enables enabled enabling", "disable disables disabled disabling"),
    ("on", "off"),
    (
        "allow allows allowed permit permits permitted",
        "forbid forbids forbidden deny denies denied block blocks blocked prohibit prohibits prohibited ban banned disallow disallows disallowed",
    ),
    ("true", "false"),
    (
        "accept accepts accepted approve approves approved",
        "reject rejects rejected decline declines declined",
    ),
    ("open opens opened", "close closes closed"),
    ("start starts started begin begins", "stop stops stopped end ends ended"),
    ("add adds added", "remove removes removed delete deletes deleted drop drops dropped"),
    (
        "increase increases increased raise raises raised grow grows grew up higher high",
        "decrease decreases decreased lower lowers lowered reduce reduces reduced shrink shrinks shrank down low",
    ),
    ("before", "after"),
    ("above", "below"),
    ("over more", "under less"),
    ("maximum max most", "minimum min least"),
    ("dark", "light"),
    ("public", "private"),
    ("sync synchronous synchronously", "async asynchronous asynchronously"),
    ("first", "last"),
    ("mandatory required", "optional"),
    (
        "succeed succeeds succeeded success passes pass passed works working",
        "fail fails failed failure broken breaks broke",
    ),
    ("show shows shown visible", "hide hides hidden invisible"),
    ("lock locks locked", "unlock unlocks unlocked"),
    ("include includes included including", "exclude excludes excluded excluding"),
    ("good", "bad"),
    ("agree agrees agreed", "disagree disagrees disagreed"),
    ("automatic automatically", "manual manually"),
    ("left", "right"),
    ("fast faster", "slow slower"),
    ("safe", "dangerous unsafe"),
    ("keep keeps kept", "discard discards discarded"),
    ("writable", "readonly"),
    ("cheap cheaper", "expensive"),
    ("support supports supported", "oppose opposes opposed"),
    ("early earlier", "late later"),
    ("tabs", "spaces"),
    ("deprecated", "recommended"),
    ("temporary", "permanent"),
    ("hot", "cold"),
    ("online", "offline"),
    ("upgrade upgraded", "downgrade downgraded"),
];

/// Chinese, Japanese and Korean antonyms; forms are found inside running text, longest first.
const EAST_ASIAN: &[(&str, &str)] = &[
    ("喜欢 喜歡 喜爱 热爱 爱吃 爱喝", "讨厌 討厭 厌恶 反感 痛恨"),
    ("启用 啟用", "禁用 停用"),
    ("开启 打开 开放 開啟 打開", "关闭 關閉 关掉"),
    ("允许 允許 准许 許可", "禁止 不准 不许 严禁 拒否"),
    ("总是 總是 始终 一直", "从不 從不 从来不 永不"),
    ("支持", "反对 反對"),
    ("同意 接受 批准", "拒绝 拒絕 驳回"),
    ("增加 提高 上升 增长 调高", "减少 降低 下降 缩减 调低"),
    ("成功", "失败 失敗"),
    ("公开 公開", "私有 保密 非公開"),
    ("必须 必須", "可选 不必 任意"),
    ("包含 包括", "排除 不含"),
    ("同步 同期", "异步 異步 非同期"),
    ("之前 以前", "之后 以后 之後"),
    ("大于 高于 超过 多于", "小于 低于 少于"),
    ("最大 最多 至多", "最小 最少 至少"),
    ("正确", "错误"),
    ("安全", "危险 危険"),
    ("显示 表示", "隐藏 非表示"),
    ("深色 暗色", "浅色 亮色"),
    ("加密", "明文"),
    ("有效 有効", "无效 無効"),
    ("自动 自動", "手动 手動"),
    ("早上 上午 午前", "晚上 下午 午後"),
    ("开始 開始", "停止 结束 終了"),
    ("添加 追加 新增", "删除 移除 削除"),
    ("保留", "丢弃 删掉"),
    ("好き", "嫌い"),
    ("オン", "オフ"),
    ("常に 必ず いつも", "決して"),
    ("増やす 増える 増やし", "減らす 減る 減らし"),
    ("開く 開ける 開け", "閉じる 閉める 閉じ"),
    ("賛成", "反対"),
    ("可能", "不可能"),
    ("明るい", "暗い"),
    ("以上", "以下"),
    ("必須", "任意"),
    ("좋아 사랑", "싫어 혐오"),
    ("활성화", "비활성화"),
    ("허용", "차단"),
    ("항상 언제나", "절대 결코"),
    ("켜 켠", "꺼 끄 끈"),
    ("성공", "실패"),
    ("증가 늘리 늘려 늘린", "감소 줄이 줄여 줄인"),
    ("공개", "비공개"),
    ("비동기", "동기"),
    ("최대", "최소"),
    ("자동", "수동"),
    ("필수", "선택"),
    ("찬성 동의", "반대"),
    ("추가", "삭제 제거"),
    ("시작", "중지 종료"),
    ("열어 열린 열려", "닫아 닫힌 닫혀"),
    ("있습 있다 있어 있음 있지", "없습 없다 없어 없음 없지"),
    ("가능", "불가능"),
    ("포함", "제외"),
    ("밝은", "어두운"),
    ("이전", "이후"),
    ("빠르", "느리"),
];

/// Chinese, Japanese and Korean negations.
const EAST_ASIAN_NEGATIONS: &str = "不再 不要 不能 不会 不會 不是 不 没有 沒有 没 沒 未 无法 無法 无需 无 別 别 勿 莫 并非 非 决不 绝不 \
    ない なかった なく ません ませんで ぬ ずに 不可 無し なし 않 못하 못한 못합 없이 아니 아닌 마세요 마십시오 말아 말 것 금지";

/// Words that hold the characters of a negation and negate nothing.
const EAST_ASIAN_NEUTRAL: &str = "不同 不过 不過 不仅 不但 不只 不错 不久 不断 不如 对不起 不得不 差不多 不管 不论 不少 \
    没关系 沒關係 没问题 未来 未來 无论 無論 无线 無線 分别 特别 特別 别人 级别 区别 类别 别名 识别 性别 差别 个别 別に 別の 個別 区別 種別 \
    非常 除非 是非 かもしれない しなければならない なければならない なければなりません ないといけない なくてはならない ないといけません 少ない 危ない つまらない もったいない 間違いない 仕方ない \
    だけでなく ではないか 않으면 못지않 말씀 말해 말하 아니라";

/// What an English word does. The word is lower-case, its apostrophe removed; `next` is the word after, in any case.
pub(super) fn english(word: &str, next: Option<&str>) -> Option<Polar> {
    let polar = TABLES.english.get(word).copied()?;
    let next = next.map(str::to_lowercase);
    let is_harmless = next.is_some_and(|next| HARMLESS.contains(&(word, next.as_str())));
    (!is_harmless).then_some(polar)
}

/// One piece of a run of Chinese, Japanese or Korean text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Ordinary text.
    Text(&'a str),
    /// A polar word.
    Polar(&'a str, Polar),
}

/// Cuts a run into ordinary text and polar words.
pub(super) fn east_asian(run: &str) -> Vec<Piece<'_>> {
    // Alone, 안 and 못 are adverbs of negation; inside a word they are just syllables.
    if matches!(run, "안" | "못") {
        return vec![Piece::Polar(run, Polar::Negation)];
    }
    let mut pieces = Vec::new();
    let mut from = 0;
    for hit in TABLES.searcher.find_iter(run) {
        let Some(polar) = TABLES.meaning[hit.pattern().as_usize()] else { continue };
        if from < hit.start() {
            pieces.push(Piece::Text(&run[from..hit.start()]));
        }
        pieces.push(Piece::Polar(&run[hit.range()], polar));
        from = hit.end();
    }
    if from < run.len() {
        pieces.push(Piece::Text(&run[from..]));
    }
    pieces
}

/// What the word becomes by adding or dropping a negating prefix: stable, unstable.
pub(super) fn by_prefix(word: &str) -> Vec<String> {
    const PREFIXES: [&str; 9] = ["un", "in", "im", "ir", "dis", "non", "non-", "de", "a"];
    const MIN_BASE: usize = 4;
    if !word.is_ascii() || word.len() < MIN_BASE {
        return Vec::new();
    }
    let bases = PREFIXES.iter().filter_map(|prefix| word.strip_prefix(prefix));
    let longer = PREFIXES.iter().map(|prefix| format!("{prefix}{word}"));
    bases.filter(|base| base.len() >= MIN_BASE).map(str::to_owned).chain(longer).collect()
}

struct Tables {
    english: HashMap<&'static str, Polar>,
    searcher: AhoCorasick,
    /// Per pattern of `searcher`; `None` for the neutral words.
    meaning: Vec<Option<Polar>>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let pairs = ENGLISH.iter().zip(0_u16..);
    let sides = pairs.flat_map(|((a, b), pair)| side(a, pair, true).chain(side(b, pair, false)));
    let english = NEGATIONS.iter().map(|word| (*word, Polar::Negation)).chain(sides).collect();

    let pairs = EAST_ASIAN.iter().zip(1000_u16..);
    let sides = pairs.flat_map(|((a, b), pair)| side(a, pair, true).chain(side(b, pair, false)));
    let negations = EAST_ASIAN_NEGATIONS.split_whitespace().map(|word| (word, Some(Polar::Negation)));
    let neutral = EAST_ASIAN_NEUTRAL.split_whitespace().map(|word| (word, None));
    let all = neutral.chain(sides.map(|(word, polar)| (word, Some(polar)))).chain(negations);
    let (words, meaning): (Vec<_>, Vec<_>) = all.unzip();
    let searcher = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(words)
        .expect("a few hundred constant words fit any automaton");
    Tables { english, searcher, meaning }
});

fn side(forms: &'static str, pair: u16, first: bool) -> impl Iterator<Item = (&'static str, Polar)> {
    forms.split_whitespace().map(move |word| (word, Polar::Side(pair, first)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polar_words(run: &str) -> Vec<&str> {
        let polar = |piece| match piece {
            Piece::Polar(word, _) => Some(word),
            Piece::Text(_) => None,
        };
        east_asian(run).into_iter().filter_map(polar).collect()
    }

    #[test]
    fn negations_are_found_and_lookalikes_left_alone() {
        assert_eq!(polar_words("我不喜欢咖啡"), ["不", "喜欢"]);
        assert_eq!(polar_words("这个非常特别"), Vec::<&str>::new());
        assert_eq!(polar_words("使わないでください"), ["ない"]);
        assert_eq!(polar_words("再起動しなければならない"), Vec::<&str>::new());
        assert_eq!(polar_words("안전"), Vec::<&str>::new());
        assert_eq!(polar_words("안"), ["안"]);
        assert_eq!(polar_words("비활성화한다"), ["비활성화"]);
        assert_eq!(english("not", Some("only")), None);
        assert_eq!(english("not", Some("allowed")), Some(Polar::Negation));
    }

    #[test]
    fn pieces_cover_the_run() {
        for run in ["我不喜欢咖啡", "使わない", "별로", "", "不"] {
            let whole: String = east_asian(run)
                .into_iter()
                .map(|piece| match piece {
                    Piece::Text(text) | Piece::Polar(text, _) => text,
                })
                .collect();
            assert_eq!(whole, run);
        }
    }
}
