//! How finished work ended: said by an explicit word or, where there is none, read from what the report says of it.
//!
//! A word like "failed" counts only where the sentence says it of the work itself ("it failed", "the migration was
//! rolled back", "could not reproduce"); not where it is denied ("no longer fails"), names what was worked on
//! ("error handling", "failed logins"), or lies in the past of a repaired fault ("where it was rolled back twice").

use crate::memory::words;

words! {
    /// How work ended.
    TaskOutcome, "task outcome" {
        /// Done.
        Completed = "completed",
        /// Some of it is done.
        PartiallyCompleted = "partially_completed",
        /// Done, and taken back.
        Reverted = "reverted",
        /// Not done.
        Failed = "failed",
    }
}

words! {
    /// What speaks for an outcome.
    Verification, "verification status" {
        /// The tests ran and passed.
        TestsPassed = "tests_passed",
        /// It builds.
        BuildSuccess = "build_success",
        /// Somebody looked.
        ManualCheck = "manual_check",
        /// The tests ran and failed.
        TestsFailed = "tests_failed",
        /// Nothing.
        Unverified = "unverified",
    }
}

/// Reads how the work ended from what was reported. What was taken back counts before what failed.
pub fn read(text: &str) -> TaskOutcome {
    let mut ended = TaskOutcome::Completed;
    for clause in clauses(&text.to_lowercase()) {
        for told in [latin(&clause), east_asian(&clause)].into_iter().flatten() {
            ended = worse(ended, told);
        }
    }
    ended
}

fn worse(a: TaskOutcome, b: TaskOutcome) -> TaskOutcome {
    let rank = |outcome| match outcome {
        TaskOutcome::Completed => 0,
        TaskOutcome::PartiallyCompleted => 1,
        TaskOutcome::Failed => 2,
        TaskOutcome::Reverted => 3,
    };
    if rank(b) > rank(a) { b } else { a }
}

fn clauses(lower: &str) -> Vec<String> {
    let plain = lower.replace(['\u{2019}', '\u{2018}'], "'");
    let plain = [" but ", " however ", " and then ", " though "]
        .into_iter()
        .fold(plain, |text, word| text.replace(word, " ; "));
    let ends = [';', '!', '?', '\n', ',', ':', '。', '；', '，', '、', '！', '？', '(', ')'];
    plain
        .split(|c| ends.contains(&c))
        // A full stop inside of `v1.2` or `retry.py` ends nothing.
        .flat_map(|part| part.split(". "))
        .map(|clause| clause.trim().trim_end_matches('.').to_owned())
        .filter(|clause| !clause.is_empty())
        .collect()
}

/// What marks an outcome, as words in a row.
const MARKS: [(&str, TaskOutcome); 38] = [
    ("rolled back", TaskOutcome::Reverted),
    ("rolling back", TaskOutcome::Reverted),
    ("roll back", TaskOutcome::Reverted),
    ("roll it back", TaskOutcome::Reverted),
    ("rolled it back", TaskOutcome::Reverted),
    ("backed out", TaskOutcome::Reverted),
    ("backed it out", TaskOutcome::Reverted),
    ("reverted", TaskOutcome::Reverted),
    ("revert", TaskOutcome::Reverted),
    ("undone", TaskOutcome::Reverted),
    ("could not", TaskOutcome::Failed),
    ("couldn't", TaskOutcome::Failed),
    ("cannot", TaskOutcome::Failed),
    ("can't", TaskOutcome::Failed),
    ("unable to", TaskOutcome::Failed),
    ("did not work", TaskOutcome::Failed),
    ("didn't work", TaskOutcome::Failed),
    ("does not work", TaskOutcome::Failed),
    ("doesn't work", TaskOutcome::Failed),
    ("not working", TaskOutcome::Failed),
    ("gave up", TaskOutcome::Failed),
    ("unsuccessful", TaskOutcome::Failed),
    ("without success", TaskOutcome::Failed),
    ("failed", TaskOutcome::Failed),
    ("fails", TaskOutcome::Failed),
    ("failing", TaskOutcome::Failed),
    ("abandoned", TaskOutcome::Failed),
    ("broken", TaskOutcome::Failed),
    ("broke", TaskOutcome::Failed),
    ("in progress", TaskOutcome::PartiallyCompleted),
    ("half done", TaskOutcome::PartiallyCompleted),
    ("not finished", TaskOutcome::PartiallyCompleted),
    ("not complete", TaskOutcome::PartiallyCompleted),
    ("unfinished", TaskOutcome::PartiallyCompleted),
    ("incomplete", TaskOutcome::PartiallyCompleted),
    ("partially", TaskOutcome::PartiallyCompleted),
    ("partly", TaskOutcome::PartiallyCompleted),
    ("partial", TaskOutcome::PartiallyCompleted),
];

/// What the work is called, or stands for it.
const WORK: &str = "it|this|that|we|i|they|everything|all|change|changes|fix|patch|attempt|work|task|deploy|deployment|\
                    rollout|release|migration|implementation|feature|refactor|refactoring|approach|commit|pr|merge|build|\
                    test|tests|suite|ci|upgrade|update|solution|result|code|pipeline|run|experiment|rewrite|here|today";
/// What may stand between the work and what became of it.
const BETWEEN: &str = "was|were|is|are|be|been|being|got|get|has|have|had|to|then|later|finally|eventually|again|still|also|\
                       so|now|unfortunately|ultimately|immediately|completely|entirely|fully|only|just|currently|decided|\
                       needed|must|needs|need|forced|quickly|soon|yet|simply";
/// What begins anew within a clause.
const STARTS: &str =
    "and|but|then|or|so|unfortunately|finally|eventually|ultimately|however|later|still|because|as";
/// What denies.
const DENIALS: &str =
    "not|no|never|without|none|nothing|n't|instead|avoid|avoids|avoiding|prevent|prevents|hardly|neither|nor";
/// What begins a clause that says when or which, and not how it ended.
const SUBORDINATE: &str =
    "where|when|whenever|if|which|who|whose|unless|whether|while|until|after|before|why|how|once";
/// What may follow where the work is not named: it failed in production, with a timeout.
const FOLLOWS: &str = "in|on|at|to|with|because|due|for|under|during|after|as|when|since|by|completely|entirely|badly|again|\
                       the|this|my|our|it|all|everything|from|and|so|reproduce|find|get|make|done|implemented|complete|\
                       completed|finished|working|works|fixed";
/// What puts it into the past.
const PAST: &str = "before|previously|earlier|formerly|until|prior|originally";

fn is_among(list: &str, word: &str) -> bool {
    list.split('|').any(|known| known == word)
}

fn latin(clause: &str) -> Option<TaskOutcome> {
    let words: Vec<&str> = clause
        .split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '_'))
        .filter(|word| !word.is_empty())
        .collect();
    let mut found = None;
    for (mark, outcome) in MARKS {
        let mark: Vec<&str> = mark.split(' ').collect();
        let places = words.windows(mark.len()).enumerate().filter(|(_, run)| *run == mark.as_slice());
        for (at, _) in places {
            if is_of_the_work(&words, at, at + mark.len(), mark[0]) {
                found = Some(found.map_or(outcome, |known| worse(known, outcome)));
            }
        }
    }
    found
}

/// Whether the words from `at` to `end` are said of the work.
fn is_of_the_work(words: &[&str], at: usize, end: usize, mark: &str) -> bool {
    let (before, after) = (&words[..at], &words[end..]);
    if before.iter().any(|word| is_among(SUBORDINATE, word)) || after.iter().any(|word| is_among(PAST, word))
    {
        return false;
    }
    // What cannot be brought about any more is gone.
    let is_over = |word: &&str| matches!(*word, "anymore" | "longer");
    let is_over = after.iter().any(is_over) || after.windows(2).any(|two| two == ["any", "more"]);
    if is_over && after.first().is_some_and(|next| matches!(*next, "reproduce" | "be" | "see" | "trigger")) {
        return false;
    }
    let mut rest = before;
    let mut is_verb = false;
    while let Some((last, earlier)) = rest.split_last() {
        if is_denial(last) {
            return false;
        }
        if !is_among(BETWEEN, last) {
            break;
        }
        is_verb = true;
        rest = earlier;
    }
    if rest.iter().rev().take(2).any(|word| is_denial(word)) {
        return false;
    }
    // "revert" and "broken" are names as often as they are outcomes, so something must lead to them.
    let needs_verb =
        matches!(mark, "revert" | "roll" | "broken" | "undone" | "failing" | "partial" | "incomplete");
    let follows = after.first().is_none_or(|next| is_among(FOLLOWS, next) || is_among(WORK, next));
    match rest.last() {
        _ if needs_verb && !is_verb => false,
        Some(last) if last.chars().all(|c| c.is_ascii_digit()) => last.chars().any(|c| c != '0') && follows,
        Some(last) if is_among(WORK, last) => true,
        Some(last) if is_among(STARTS, last) => follows,
        Some(_) => false,
        None => follows,
    }
}

fn is_denial(word: &str) -> bool {
    word.ends_with("n't") || is_among(DENIALS, word)
}

/// The same in Chinese, Japanese and Korean, where what follows the word tells whether it is a verb.
const WIDE_MARKS: [(&str, TaskOutcome); 22] = [
    ("回滚", TaskOutcome::Reverted),
    ("回滾", TaskOutcome::Reverted),
    ("撤销", TaskOutcome::Reverted),
    ("撤回", TaskOutcome::Reverted),
    ("取り消し", TaskOutcome::Reverted),
    ("元に戻し", TaskOutcome::Reverted),
    ("ロールバック", TaskOutcome::Reverted),
    ("되돌렸", TaskOutcome::Reverted),
    ("롤백", TaskOutcome::Reverted),
    ("失败", TaskOutcome::Failed),
    ("失敗", TaskOutcome::Failed),
    ("未能", TaskOutcome::Failed),
    ("没能", TaskOutcome::Failed),
    ("没有成功", TaskOutcome::Failed),
    ("できなかった", TaskOutcome::Failed),
    ("できませんでした", TaskOutcome::Failed),
    ("실패", TaskOutcome::Failed),
    ("못했", TaskOutcome::Failed),
    ("部分完成", TaskOutcome::PartiallyCompleted),
    ("未完成", TaskOutcome::PartiallyCompleted),
    ("途中まで", TaskOutcome::PartiallyCompleted),
    ("일부만", TaskOutcome::PartiallyCompleted),
];
/// What makes a verb of the word before it, or ends the clause.
const WIDE_FOLLOWS: [&str; 12] =
    ["了", "した", "しました", "された", "されました", "た", "ました", "했", "하였", "됐", "되었", "함"];
const WIDE_DENIALS: [&str; 8] = ["没有", "没", "未", "不再", "无", "防止", "避免", "不会"];

fn east_asian(clause: &str) -> Option<TaskOutcome> {
    let mut found = None;
    for (mark, outcome) in WIDE_MARKS {
        for (at, _) in clause.match_indices(mark) {
            let (before, after) = (&clause[..at], clause[at + mark.len()..].trim_start());
            let denied = WIDE_DENIALS.iter().any(|denial| before.ends_with(denial));
            // These are whole verbs of their own.
            let whole =
                matches!(mark, "未能" | "没能" | "部分完成" | "未完成" | "途中まで" | "일부만" | "没有成功")
                    || mark.ends_with("た")
                    || matches!(mark, "되돌렸" | "못했");
            let verb = whole || after.is_empty() || WIDE_FOLLOWS.iter().any(|end| after.starts_with(end));
            if verb && !denied {
                found = Some(found.map_or(outcome, |known| worse(known, outcome)));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_is_told_from_what_was_worked_on() {
        use TaskOutcome::{Completed, Failed, PartiallyCompleted, Reverted};
        for (text, expected) in [
            ("failed in production and was reverted entirely", Reverted),
            ("Changes were reverted", Reverted),
            ("We had to revert the change.", Reverted),
            ("The migration was rolled back after an hour", Reverted),
            ("Rolled back", Reverted),
            ("It works, but the deploy failed", Failed),
            ("Could not reproduce the bug", Failed),
            ("We could not reproduce the failure anymore after fixing the reader", Completed),
            ("The crash cannot be triggered any longer", Completed),
            ("The fix did not work", Failed),
            ("The build is still broken", Failed),
            ("44 passed, 3 failed", Failed),
            ("We tried two things; it still fails on Windows", Failed),
            ("Only partially done", PartiallyCompleted),
            ("Partially implemented: the cache is missing", PartiallyCompleted),
            ("The refactoring is in progress", PartiallyCompleted),
            ("回滚了这次修改", Reverted),
            ("最终部署失败", Failed),
            ("デプロイに失敗しました", Failed),
            ("배포에 실패했다", Failed),
            ("Improved error handling for callers so retries stop", Completed),
            ("Fixed the bug where the migration was rolled back twice", Completed),
            ("Retries no longer fail", Completed),
            ("The tests did not fail", Completed),
            ("47 passed, 0 failed", Completed),
            ("No tests failed", Completed),
            ("Failed logins are now counted", Completed),
            ("Added a revert button to the editor", Completed),
            ("Users could not log in because of the clock; the check is fixed", Completed),
            ("The tests failed before the change and pass now", Completed),
            ("Broken links are reported", Completed),
            ("Added partial index support for the queue", Completed),
            ("The error is gone; nothing failed", Completed),
            ("修复了登录失败的问题", Completed),
            ("没有失败", Completed),
            ("失敗する問題を修正した", Completed),
            ("실패하지 않는다", Completed),
            ("", Completed),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
