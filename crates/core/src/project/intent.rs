//! What kind of work a task is, by its words.

use super::words::Words;
use crate::error::ParseError;

/// Kinds of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Intent {
    /// Something is wrong and must be made right.
    BugFix,
    /// Something new.
    FeatureImplementation,
    /// The same in another shape.
    Refactor,
    /// How the whole is built.
    ArchitectureReview,
    /// What a piece does.
    CodeExplanation,
    /// Tests fail.
    TestFailure,
    /// Finding one's way in.
    RepositoryOnboarding,
    /// How something is done here.
    WorkflowQuestion,
    /// Words for readers.
    Documentation,
    /// A change that needs no knowledge.
    TrivialEdit,
    /// Nothing tells.
    Unknown,
}

impl Intent {
    /// Every intent, in documentation order.
    pub const ALL: [Self; 11] = [
        Self::BugFix,
        Self::FeatureImplementation,
        Self::Refactor,
        Self::ArchitectureReview,
        Self::CodeExplanation,
        Self::TestFailure,
        Self::RepositoryOnboarding,
        Self::WorkflowQuestion,
        Self::Documentation,
        Self::TrivialEdit,
        Self::Unknown,
    ];

    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BugFix => "bug_fix",
            Self::FeatureImplementation => "feature_implementation",
            Self::Refactor => "refactor",
            Self::ArchitectureReview => "architecture_review",
            Self::CodeExplanation => "code_explanation",
            Self::TestFailure => "test_failure",
            Self::RepositoryOnboarding => "repository_onboarding",
            Self::WorkflowQuestion => "workflow_question",
            Self::Documentation => "documentation",
            Self::TrivialEdit => "trivial_edit",
            Self::Unknown => "unknown",
        }
    }

    /// Reads the word, whatever its case.
    ///
    /// # Errors
    /// It is none of them.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let wanted = text.trim();
        Self::ALL.into_iter().find(|intent| intent.as_str().eq_ignore_ascii_case(wanted)).ok_or_else(|| {
            let words: Vec<&str> = Self::ALL.iter().map(|intent| intent.as_str()).collect();
            ParseError::new("task intent", text, format!("use one of {}", words.join(", ")))
        })
    }

    /// What a task most likely is. Failing tests come first; then the verb that the task begins with; then whatever
    /// else it names, faults before everything. A small edit is one only where nothing weightier is named: a crash in the
    /// comment parser is a fault.
    pub fn of_task(task: &str) -> Self {
        let words = Words::of(task);
        if words.are_near(&TEST_WORDS, &FAILING_WORDS, TEST_GAP) || words.has_any(&TEST_FAILURE) {
            return Self::TestFailure;
        }
        let is_fault = words.has_any(&FAULT);
        if !is_fault && is_trivial(&words) {
            return Self::TrivialEdit;
        }
        if let Some(asked) = question(&words).filter(|_| !is_fault) {
            return asked;
        }
        let first_verb =
            |(verbs, intent): &(&[&str], Self)| words.begins_with(verbs, VERB_WITHIN).then_some(*intent);
        if let Some(begun) = VERBS.iter().find_map(first_verb) {
            return begun;
        }
        let named = |(phrases, intent): &(&[&str], Self)| words.has_any(phrases).then_some(*intent);
        NAMED.iter().find_map(named).unwrap_or(Self::Unknown)
    }
}

/// Words between a test and its failing.
const TEST_GAP: usize = 4;
/// The verb of a task stands within so many of its first words.
const VERB_WITHIN: usize = 3;

const TEST_WORDS: [&str; 5] = ["test", "tests", "testcase*", "ci", "spec"];
const FAILING_WORDS: [&str; 7] = ["fail", "fails", "failed", "failing", "failure*", "flaky", "broken"];
const TEST_FAILURE: [&str; 11] = [
    "assertion error*",
    "assertionerror*",
    "test break*",
    "tests break*",
    "测试失败",
    "測試失敗",
    "单测",
    "テストが失敗",
    "テスト失敗",
    "테스트 실패",
    "테스트가 실패",
];

/// What is wrong for certain, whatever else a task says.
const FAULT: [&str; 18] = [
    "bug",
    "bugs",
    "crash*",
    "regression*",
    "exception*",
    "deadlock*",
    "incorrect*",
    "broken",
    "hang",
    "hangs",
    "崩溃",
    "崩潰",
    "バグ",
    "クラッシュ",
    "버그",
    "충돌",
    "死锁",
    "異常終了",
];

const TRIVIAL_VERBS: [&str; 8] =
    ["rename", "renames", "format", "reformat", "lint", "重命名", "リネーム", "이름 변경"];
const TRIVIAL_THINGS: [&str; 13] = [
    "typo",
    "typos",
    "whitespace",
    "lint",
    "formatting",
    "indentation",
    "spelling",
    "comment",
    "comments",
    "docstring",
    "docstrings",
    "错别字",
    "誤字",
];
const EDIT_VERBS: [&str; 9] =
    ["fix", "fixes", "correct", "remove", "update", "tidy", "add", "reword", "strip"];
/// Words of a small edit: one that says more is about more.
const TRIVIAL_WORDS: usize = 12;

fn is_trivial(words: &Words) -> bool {
    if words.as_slice().len() > TRIVIAL_WORDS {
        return false;
    }
    words.begins_with(&TRIVIAL_VERBS, 1)
        || words.has_any(&["重命名", "リネーム", "错别字", "誤字", "오타", "이름 변경"])
        || (words.begins_with(&EDIT_VERBS, 2) && words.are_near(&EDIT_VERBS, &TRIVIAL_THINGS, 2))
        || words.begins_with(&["typo", "typos", "whitespace", "lint"], 2)
}

/// What a question asks for.
fn question(words: &Words) -> Option<Intent> {
    let all = words.as_slice();
    let first = all.first().map(String::as_str)?;
    let is_asked = matches!(first, "how" | "what" | "where" | "which" | "who" | "can" | "could" | "please");
    if is_asked && words.has_any(&["how to", "how do i", "how do we", "how can i", "how should"]) {
        return Some(Intent::WorkflowQuestion);
    }
    if is_asked && words.has_any(&["architecture", "overview", "structured", "fit together"]) {
        return Some(Intent::ArchitectureReview);
    }
    let explains =
        words.has_any(&["how does", "how do", "how is", "how are", "what does", "what is", "what are"]);
    (explains && is_asked).then_some(Intent::CodeExplanation)
}

const VERBS: [(&[&str], Intent); 7] = [
    (&["fix", "fixes", "fixing", "debug", "repair", "resolve"], Intent::BugFix),
    (
        &[
            "refactor*",
            "restructure",
            "reorganize",
            "reorganise",
            "extract",
            "split",
            "decouple",
            "simplify",
            "deduplicate",
        ],
        Intent::Refactor,
    ),
    (&["explain", "describe", "understand", "walk"], Intent::CodeExplanation),
    (&["document", "documents"], Intent::Documentation),
    (
        &["add", "implement", "create", "build", "introduce", "support", "enable"],
        Intent::FeatureImplementation,
    ),
    (&["onboard", "onboarding", "orient"], Intent::RepositoryOnboarding),
    (&["review", "diagram"], Intent::ArchitectureReview),
];

const NAMED: [(&[&str], Intent); 9] = [
    (
        &[
            "bug*",
            "fix*",
            "regression*",
            "crash*",
            "error*",
            "exception*",
            "broken",
            "incorrect*",
            "deadlock*",
            "hang",
            "hangs",
            "wrong",
            "修复",
            "修復",
            "错误",
            "錯誤",
            "崩溃",
            "崩潰",
            "バグ",
            "エラー",
            "クラッシュ",
            "버그",
            "오류",
            "고치",
            "死锁",
        ],
        Intent::BugFix,
    ),
    (
        &[
            "refactor*",
            "restructur*",
            "reorgani*",
            "clean up",
            "cleanup",
            "extract*",
            "split*",
            "decoupl*",
            "重构",
            "重構",
            "リファクタ",
            "리팩터",
            "리팩토",
        ],
        Intent::Refactor,
    ),
    (
        &[
            "onboard*",
            "getting started",
            "get started",
            "orient",
            "入门",
            "上手",
            "入門",
            "オンボーディング",
            "온보딩",
        ],
        Intent::RepositoryOnboarding,
    ),
    (
        &[
            "add",
            "adds",
            "adding",
            "implement*",
            "creat*",
            "build",
            "introduc*",
            "support",
            "enabl*",
            "添加",
            "新增",
            "增加",
            "实现",
            "實現",
            "追加",
            "実装",
            "추가",
            "구현",
        ],
        Intent::FeatureImplementation,
    ),
    (
        &[
            "architectur*",
            "design",
            "designed",
            "system",
            "subsystem*",
            "overview",
            "diagram*",
            "架构",
            "架構",
            "アーキテクチャ",
            "设计",
            "設計",
            "아키텍처",
            "설계",
        ],
        Intent::ArchitectureReview,
    ),
    (
        &[
            "explain*",
            "understand*",
            "what does",
            "how does",
            "describe*",
            "walk me",
            "解释",
            "解釋",
            "说明",
            "說明",
            "如何工作",
            "怎么",
            "怎麼",
            "什么是",
            "説明",
            "どのように",
            "仕組み",
            "설명",
            "어떻게",
        ],
        Intent::CodeExplanation,
    ),
    (
        &[
            "workflow*",
            "process",
            "pipeline*",
            "procedure*",
            "how to",
            "流程",
            "步骤",
            "步驟",
            "手順",
            "ワークフロー",
            "절차",
        ],
        Intent::WorkflowQuestion,
    ),
    (
        &[
            "document",
            "documents",
            "documentation",
            "docs",
            "readme",
            "changelog",
            "spec",
            "文档",
            "文檔",
            "ドキュメント",
            "문서",
        ],
        Intent::Documentation,
    ),
    (&["typo*", "whitespace", "rename*", "lint", "docstring*"], Intent::TrivialEdit),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_told_by_their_words() {
        let cases = [
            ("The tests are failing since Tuesday.", Intent::TestFailure),
            ("test failure in login", Intent::TestFailure),
            ("Flaky test: upload", Intent::TestFailure),
            ("fix crash in comment parser", Intent::BugFix),
            ("Fix the incorrect total, please!", Intent::BugFix),
            ("fix typo in README", Intent::TrivialEdit),
            ("Rename a variable", Intent::TrivialEdit),
            ("Add error handling to the client", Intent::FeatureImplementation),
            (
                "Add exponential retry backoff without breaking terminal task state semantics.",
                Intent::FeatureImplementation,
            ),
            ("refactor the scheduler", Intent::Refactor),
            ("How does the retry backoff work?", Intent::CodeExplanation),
            ("How do I release a version?", Intent::WorkflowQuestion),
            ("What is the architecture of this service?", Intent::ArchitectureReview),
            ("onboarding", Intent::RepositoryOnboarding),
            ("Update the changelog", Intent::Documentation),
            ("修复登录时的崩溃", Intent::BugFix),
            ("为调度器添加重试", Intent::FeatureImplementation),
            ("ログインのバグを直す", Intent::BugFix),
            ("재시도 로직을 설명해 주세요", Intent::CodeExplanation),
            ("bananas", Intent::Unknown),
            ("", Intent::Unknown),
        ];
        for (task, intent) in cases {
            assert_eq!(Intent::of_task(task), intent, "{task}");
        }
    }

    #[test]
    fn words_inside_others_tell_nothing() {
        assert_eq!(Intent::of_task("the prefix of an address"), Intent::Unknown);
        assert_eq!(Intent::parse(" Bug_Fix "), Ok(Intent::BugFix));
        assert!(Intent::parse("bugfix").is_err());
    }
}
