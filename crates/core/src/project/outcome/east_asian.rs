//! The same as Chinese, Japanese and Korean reports say it: there what stands around a word tells whether it is a verb.

use super::{Claim, TaskOutcome, worst};
use TaskOutcome::{Failed, PartiallyCompleted, Reverted};

/// How a language says how work ended.
struct Language {
    /// Names that an ending makes verbs of; bare at the end of a clause they count where they are said of the work.
    verbs: &'static [(&'static str, TaskOutcome)],
    /// Those endings.
    endings: &'static [&'static str],
    /// Verbs that need no ending.
    whole: &'static [(TaskOutcome, &'static str)],
    /// What says that some of the work is done, whatever follows.
    parts: &'static str,
    /// What, before a verb in its clause, makes it no outcome: a condition, an earlier time, a fault that was repaired.
    cancels: &'static str,
    /// Whether a verb tells an outcome with this text behind it; else it describes what follows.
    stands: fn(&str) -> bool,
}

const LANGUAGES: [Language; 3] = [CHINESE, JAPANESE, KOREAN];

const CHINESE: Language = Language {
    verbs: &[
        ("回滚", Reverted),
        ("回滾", Reverted),
        ("撤销", Reverted),
        ("撤回", Reverted),
        ("失败", Failed),
        ("失敗", Failed),
    ],
    endings: &["了"],
    whole: &[
        (
            Failed,
            "未能|没能|没有成功|没成功|未成功|没有通过|没通过|未通过|不通过|没有解决|没解决|未解决|没有修复|没修好|未修复|没有生效|\
             未生效|无法复现|无法重现|无法解决|无法修复|无法完成|编译不过|依然存在|仍然存在|仍存在|依旧存在|还是存在|依然出现|\
             仍然出现|仍会出现|沒有通過|未通過|沒有成功|沒有解決",
        ),
        (PartiallyCompleted, "未完成|没有完成|没完成|沒有完成"),
    ],
    parts: "部分完成|只完成了|完成了一部分|完成了一半|还没做|还没有做|尚未实现|还没实现",
    cancels: "修复了|解决了|处理了|修正了|修好了|避免|防止|以免|之前|原来|此前|以前|曾|如果|若|一旦|假如",
    stands: |after| {
        let names = ["的问题", "的缺陷", "的错误", "的故障", "的情况", "的现象", "的测试", "的bug", "的 bug"];
        let is_when = ["的", "时", "后", "则", "問題"].iter().any(|word| after.starts_with(word));
        !is_when && !names.iter().any(|name| after.contains(name))
    },
};

const JAPANESE: Language = Language {
    verbs: &[("ロールバック", Reverted), ("失敗", Failed)],
    endings: &[
        "しました",
        "した",
        "しています",
        "している",
        "する",
        "します",
        "されました",
        "された",
        "となった",
        "に終わった",
    ],
    whole: &[
        (Reverted, "元に戻しました|元に戻した|取り消しました|取り消した"),
        (
            Failed,
            "できなかった|できませんでした|できていません|できていない|通らなかった|通りませんでした|通りません|通っていません|\
             通っていない|解決していません|解決していない|解決しませんでした|解決しなかった|直っていません|直っていない|\
             直りませんでした|直らなかった|成功しませんでした|成功しなかった|動きませんでした|動かなかった|動きません|\
             動作しませんでした|動作しません|うまくいきませんでした|うまくいかなかった",
        ),
        (PartiallyCompleted, "完了していません|完了していない|終わっていません|終わっていない"),
    ],
    parts: "途中まで|一部のみ|一部だけ|半分だけ|未完了|作業中",
    cancels: "以前|これまで|従来|修正前|もし",
    // A verb that ends no clause is an attribute: a request that failed.
    stands: |after| {
        after.is_empty() || ["が", "けど", "けれど", "。"].iter().any(|go_on| after.starts_with(go_on))
    },
};

const KOREAN: Language = Language {
    verbs: &[("롤백", Reverted), ("실패", Failed)],
    endings: &["했", "하였", "합니다", "한다", "해요", "함", "됐", "되었", "됩니다", "하고 있"],
    whole: &[
        (Reverted, "되돌렸|되돌려졌|원복했"),
        (
            Failed,
            "못했|못함|통과하지 않|통과되지 않|해결되지 않|고쳐지지 않|수정되지 않|성공하지 않|동작하지 않|작동하지 않|수 없었|\
             재현할 수 없|해결할 수 없|완료할 수 없",
        ),
        (PartiallyCompleted, "완료되지 않|완료하지 않|끝나지 않"),
    ],
    parts: "일부만|절반만|아직 구현되지|진행 중입니다",
    cancels: "이전에|예전에|기존에|만약",
    // With these a verb is an attribute, a reason or a condition.
    stands: |after| {
        let verb = ["았", "었", "습니다"].iter().find_map(|end| after.strip_prefix(end)).unwrap_or(after);
        !["던", "는", "은", "을", "기 ", "으면"].iter().any(|end| verb.starts_with(end))
    },
};

/// What denies the word behind it.
const DENIALS: &str = "没有|没|未|不再|无|不会|并未|沒有|沒|안 ";
/// What the work is called, and what says that something became of it at last: behind these a bare name is an outcome.
const LED_BY: &str = "部署|构建|测试|发布|迁移|编译|修复|合并|上线|升级|重构|尝试|运行|改动|变更|修改|代码|提交|版本|构建都|都|均|全部|最终|\
                      最后|仍然|依然|依旧|还是|還是|又|再次|已|已经|已被|被|デプロイ|テスト|ビルド|リリース|移行|修正|빌드|테스트|배포|\
                      마이그레이션|컴파일|시도|결국|여전히|또|다시";
/// What says that it is so at the time of the report.
const STILL: &str = "仍|依然|依旧|还是|還是|まだ|依然として|여전히|아직";
/// What makes good what was said before.
const MENDED: &str = "全部通过|都通过|通过了|已修复|已解决|已经修复|已经解决|恢复正常|不再失败|修好了|通るようになっ|通りました|直しました|\
                      解決しました|修正しました|해결했|수정했|고쳤|통과합니다|통과했";

/// What a clause says of how the work ended.
pub(super) fn claim(clause: &str) -> Option<Claim> {
    if clause.is_ascii() {
        return None;
    }
    let is_past = first_in(clause, STILL).is_none();
    let outcomes = LANGUAGES.iter().flat_map(|language| language.outcomes(clause));
    worst(outcomes.map(|outcome| Claim { outcome, is_past }))
}

/// Whether a clause makes good what was said before it.
pub(super) fn is_mended(clause: &str) -> bool {
    !clause.is_ascii() && first_in(clause, MENDED).is_some()
}

/// The first of the words in a list that a text has.
fn first_in<'w>(text: &str, words: &'w str) -> Option<&'w str> {
    words.split('|').find(|word| text.contains(word))
}

impl Language {
    fn outcomes(&self, clause: &str) -> Vec<TaskOutcome> {
        let mut found = Vec::new();
        for (name, outcome) in self.verbs {
            let is_said = |before: &str, after: &str| {
                let bare = after.is_empty() && (before.is_empty() || ends_with(before.trim_end(), LED_BY));
                let verb = self.endings.iter().find_map(|ending| after.strip_prefix(ending));
                bare || verb.is_some_and(self.stands)
            };
            found.extend(self.is_outcome(clause, name, is_said).then_some(*outcome));
        }
        for (outcome, verbs) in self.whole {
            let is_said = |verb| self.is_outcome(clause, verb, |_, after| (self.stands)(after));
            found.extend(verbs.split('|').any(is_said).then_some(*outcome));
        }
        let is_part = |part| self.is_outcome(clause, part, |_, after| !after.starts_with('的'));
        found.extend(self.parts.split('|').any(is_part).then_some(PartiallyCompleted));
        found
    }

    /// Whether a word stands in a clause where nothing denies or cancels it, and is said between what is before it and
    /// after it.
    fn is_outcome(&self, clause: &str, word: &str, is_said: impl Fn(&str, &str) -> bool) -> bool {
        clause.match_indices(word).any(|(at, _)| {
            let (before, after) = (&clause[..at], clause[at + word.len()..].trim_start());
            let is_off = ends_with(before, DENIALS) || first_in(before, self.cancels).is_some();
            !is_off && is_said(before, after)
        })
    }
}

fn ends_with(text: &str, words: &str) -> bool {
    words.split('|').any(|word| text.ends_with(word))
}
