//! What sort of work a report tells of.

use super::outcome::TaskOutcome;
use crate::memory::words;

words! {
    /// What sort of work.
    Work, "task intent" {
        /// A fault was repaired.
        BugFix = "bug_fix",
        /// Something new was built.
        Feature = "feature_implementation",
        /// Something was rebuilt, to do the same.
        Refactor = "refactor",
        /// The whole was looked at.
        ArchitectureReview = "architecture_review",
        /// Code was explained.
        CodeExplanation = "code_explanation",
        /// A failing test was looked into.
        TestFailure = "test_failure",
        /// Somebody was shown around.
        Onboarding = "repository_onboarding",
        /// How something is done.
        Workflow = "workflow_question",
        /// Words were written for people.
        Documentation = "documentation",
        /// Nothing that changes what the code does.
        Trivial = "trivial_edit",
        /// None of these can be told.
        Unknown = "unknown",
    }
}

/// What tells of each, the surest first. One that ends in `*` stands for all words that begin so.
const SIGNS: [(Work, &str); 8] = [
    (
        Work::TestFailure,
        "failing test*|test failure*|tests fail*|test fails|flaky*|assertion error*|ci fail*|测试失败|テスト失敗|테스트 실패",
    ),
    (
        Work::BugFix,
        "bug|bugs|bugfix*|crash*|regression*|exception*|deadlock*|race condition*|memory leak*|incorrect*|broken|hang|hangs|\
         incident*|outage*|故障|崩溃|缺陷|修复|バグ|不具合|障害|クラッシュ|修正|버그|장애|오류|수정",
    ),
    (
        Work::Trivial,
        "typo*|rename*|renaming|whitespace|indentation|formatting|reformat*|docstring*|lint*|spelling|comment|comments|\
         错别字|格式化|重命名|誤字|タイポ|오타",
    ),
    (
        Work::Refactor,
        "refactor*|restructur*|reorgani*|clean up|cleanup|extract*|split|decouple*|simplif*|重构|リファクタ*|리팩터*|리팩토링",
    ),
    (Work::BugFix, "fix|fixes|fixed|fixing|error|errors|wrong|fails|failure*|repair*|correct"),
    (
        Work::Feature,
        "add|adds|added|adding|implement*|create*|creating|build|builds|built|introduce*|support|supports|supported|enable*|\
         extend*|新增|添加|实现|支持|追加|実装|対応|추가|구현|지원",
    ),
    (
        Work::ArchitectureReview,
        "architecture|architectural|subsystem*|design review|架构|設計|アーキテクチャ|아키텍처",
    ),
    (Work::Documentation, "document*|docs|readme|changelog|文档|ドキュメント|문서"),
];

impl Work {
    /// Reads the sort of work from the words of a task: whole words, so that a prefix fixes nothing and an address adds
    /// nothing.
    pub fn of(task: &str) -> Self {
        let plain: String = task.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
        let plain = format!(" {} ", plain.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" "));
        let has = |word: &str| match word.strip_suffix('*') {
            _ if !word.trim_end_matches('*').is_ascii() => plain.contains(word.trim_end_matches('*')),
            Some(stem) => plain.contains(&format!(" {stem}")),
            None => plain.contains(&format!(" {word} ")),
        };
        let found = SIGNS.iter().find(|(_, words)| words.split('|').any(has));
        found.map_or(Self::Unknown, |(work, _)| *work)
    }

    /// Whether it repairs something.
    pub const fn repairs(self) -> bool {
        matches!(self, Self::BugFix | Self::TestFailure)
    }

    /// Whether it changes how a part of the system is made.
    pub const fn builds(self) -> bool {
        matches!(self, Self::Feature | Self::Refactor | Self::ArchitectureReview)
    }

    /// Whether it left something that can be said of a part of the system.
    pub fn has_built(self, outcome: TaskOutcome) -> bool {
        self.builds() && matches!(outcome, TaskOutcome::Completed | TaskOutcome::PartiallyCompleted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sort_of_work_is_read_from_whole_words() {
        for (task, work) in [
            ("Fix crash in comment parser", Work::BugFix),
            ("Fix typo in README", Work::Trivial),
            ("Fix the failing test of the queue", Work::TestFailure),
            ("Add exponential retry backoff", Work::Feature),
            ("Refactor error handling", Work::Refactor),
            ("Look at the address prefix", Work::Unknown),
            ("修复登录问题", Work::BugFix),
            ("재시도 기능 추가", Work::Feature),
            ("Describe the architecture of the store", Work::ArchitectureReview),
        ] {
            assert_eq!(Work::of(task), work, "{task}");
        }
    }
}
