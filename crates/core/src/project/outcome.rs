//! How finished work ended: said by an explicit word or, where there is none, read from what the report says of it.
//!
//! A word like "failed" counts only where the sentence says it of the work itself ("it failed", "the migration was
//! rolled back", "could not reproduce"), and so does a success that is denied ("the tests did not pass"). It does not
//! count where it is denied ("no longer fails"), names what was worked on ("error handling", "failed logins"), lies in
//! the past of a repaired fault ("where it was rolled back twice"), or is made good by what follows ("the build failed;
//! now it passes").

mod east_asian;
mod english;

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

/// What a clause says of how the work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Claim {
    outcome: TaskOutcome,
    /// Whether it may be over: what is said later can make it good.
    is_past: bool,
}

/// Reads how the work ended from what was reported. What was taken back counts before what failed.
pub fn read(text: &str) -> TaskOutcome {
    let clauses = clauses(&text.to_lowercase());
    let mended =
        clauses.iter().rposition(|clause| english::is_mended(clause) || east_asian::is_mended(clause));
    let mut ended = if has_failures(&clauses) { TaskOutcome::Failed } else { TaskOutcome::Completed };
    for (at, clause) in clauses.iter().enumerate() {
        for claim in [english::claim(clause), east_asian::claim(clause)].into_iter().flatten() {
            let is_good = claim.is_past && mended.is_some_and(|mended| at < mended);
            if !(is_good && claim.outcome == TaskOutcome::Failed) {
                ended = worse(ended, claim.outcome);
            }
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

/// Of several claims of one clause the worst; of equal ones that which is not over.
fn worst(claims: impl IntoIterator<Item = Claim>) -> Option<Claim> {
    claims.into_iter().reduce(|a, b| match worse(a.outcome, b.outcome) {
        outcome if a.outcome == b.outcome => Claim { outcome, is_past: a.is_past && b.is_past },
        outcome if outcome == a.outcome => a,
        _ => b,
    })
}

/// Words at which something new begins to be said.
const TURNS: [&str; 10] = [
    " but ",
    " however ",
    " and then ",
    " though ",
    " and now ",
    " and is ",
    " and are ",
    "但是",
    "然而",
    "하지만",
];
/// Signs that end a clause.
const ENDS: [char; 16] =
    [';', '!', '?', '\n', ',', ':', '。', '；', '，', '、', '！', '？', '：', '(', ')', '|'];

/// Characters of a clause that are read: what is longer is no sentence.
const LONGEST: usize = 600;

/// The clauses of a text in lower case, in order.
fn clauses(lower: &str) -> Vec<String> {
    let plain = lower.replace(['\u{2019}', '\u{2018}'], "'");
    // What a turn says beside ` and ` belongs to the clause that it begins.
    let plain = TURNS.into_iter().fold(plain, |text, turn| {
        text.replace(turn, &format!(" ; {} ", turn.trim().trim_start_matches("and ")))
    });
    plain
        .split(ENDS)
        // A full stop inside of `v1.2` or `retry.py` ends nothing.
        .flat_map(|part| part.split(". "))
        .map(|clause| clause.trim().trim_end_matches('.').chars().take(LONGEST).collect::<String>())
        .filter(|clause| !clause.is_empty())
        .collect()
}

/// What test runners call tests that did not pass.
const FAILURES: [&str; 6] = ["failed", "failures", "failure", "failing", "errors", "error"];

/// Whether a test runner counted failures or says that there were some: `2 failures`, `Failures: 2, Errors: 0`, `FAIL`.
fn has_failures(clauses: &[String]) -> bool {
    let is_verdict = |clause: &String| {
        clause == "fail" || ["--- fail", "fail\t"].iter().any(|verdict| clause.starts_with(verdict))
    };
    let is_count = |text: &str| text.parse::<u32>().is_ok_and(|count| count > 0);
    let before = clauses.iter().any(|clause| {
        let words: Vec<&str> = clause.split_whitespace().collect();
        let counted = words.strip_prefix(&["with"]).or(words.strip_prefix(&["and"])).unwrap_or(&words);
        matches!(counted, [count, what] if is_count(count) && FAILURES.contains(what))
    });
    let after = clauses.windows(2).any(|pair| FAILURES.contains(&pair[0].as_str()) && is_count(&pair[1]));
    before || after || clauses.iter().any(is_verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORTS: &str = include_str!("../../testdata/outcome/reports.tsv");

    #[test]
    fn the_work_is_told_from_what_was_worked_on() {
        let lines = REPORTS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let reports: Vec<(TaskOutcome, String)> = lines
            .map(|line| {
                let (outcome, text) = line.split_once('\t').expect("an outcome and a report");
                let text = text.replace("\\n", "\n").replace("\\t", "\t");
                (TaskOutcome::parse(outcome).expect("an outcome"), text)
            })
            .collect();
        let misread: Vec<_> = reports
            .iter()
            .filter(|(outcome, text)| read(text) != *outcome)
            .map(|r| (read(&r.1), r))
            .collect();
        assert!(misread.is_empty(), "{} of {}: {misread:#?}", misread.len(), reports.len());
        assert!(reports.len() > 200, "{}", reports.len());
        assert_eq!(read(""), TaskOutcome::Completed);
    }

    #[test]
    fn a_long_report_is_read_in_one_pass() {
        for said in [
            "the tests did not pass, 修复没有成功, テストは通らなかった; ",
            "not done still fails 失败的",
            "失败",
        ] {
            let text = said.repeat(400_000 / said.len());
            assert_ne!(read(&text), TaskOutcome::Reverted);
        }
    }
}
