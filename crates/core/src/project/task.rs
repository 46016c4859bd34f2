//! What a task says of the project: its kind, its risk, the modules, symbols and words that it names.

use super::{
    intent::Intent,
    paths,
    words::{Words, by_script},
};

/// Words that a reading lists at most.
const KEYWORDS: usize = 20;

/// How much can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// Little.
    Low,
    /// Something.
    Medium,
    /// What many things rest on.
    High,
}

impl Risk {
    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Low, Self::Medium, Self::High]
            .into_iter()
            .find(|risk| risk.as_str().eq_ignore_ascii_case(word.trim()))
    }
}

/// A task, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// What kind of work it is.
    pub intent: Intent,
    /// How much can go wrong.
    pub risk: Risk,
    /// The word that the risk is high for, or `None`.
    pub risky_word: Option<&'static str>,
    /// Modules that it is likely about.
    pub modules: Vec<String>,
    /// Symbols that it is likely about.
    pub symbols: Vec<String>,
    /// Its words without those that say nothing, at most 20.
    pub keywords: Vec<String>,
    /// Whether what was learned must be shown with what it rests on.
    pub needs_evidence: bool,
    /// Words of the task.
    pub length: usize,
}

impl Task {
    /// Reads a task with the files and symbols that are being worked on. `intent` is what the caller says of it.
    pub fn read(task: &str, files: &[String], symbols: &[String], intent: Option<Intent>) -> Self {
        let intent = intent.unwrap_or_else(|| Intent::of_task(task));
        let said = Words::of(task);
        let around = Words::of(&[task, &files.join(" "), &symbols.join(" ")].join(" "));
        let risky_word = around.first_of(&HIGH_RISK);
        let active = matches!(intent, Intent::Refactor | Intent::FeatureImplementation | Intent::BugFix);
        let risk = match risky_word {
            Some(_) => Risk::High,
            None if active || around.has_any(&MEDIUM_RISK) => Risk::Medium,
            None => Risk::Low,
        };
        let needs_evidence = risk == Risk::High
            || matches!(intent, Intent::BugFix | Intent::TestFailure)
            || said.has_any(&EVIDENCE_WORDS);
        Self {
            intent,
            risk,
            risky_word,
            modules: modules(task, files),
            symbols: named_symbols(task, symbols),
            keywords: keywords(&said),
            needs_evidence,
            length: said.as_slice().len(),
        }
    }
}

/// What many things rest on. A word that ends in `*` stands for all that begin so.
const HIGH_RISK: [&str; 44] = [
    "state machine*",
    "lifecycle*",
    "life cycle*",
    "terminal state*",
    "terminal task*",
    "auth",
    "authn",
    "authz",
    "oauth*",
    "authent*",
    "authori*",
    "schema*",
    "migrat*",
    "payment*",
    "billing",
    "security",
    "credential*",
    "secret*",
    "token*",
    "permission*",
    "rbac",
    "public api*",
    "breaking change*",
    "shared infra*",
    "distributed",
    "consensus",
    "lock",
    "locks",
    "locking",
    "transaction*",
    "rollback*",
    "rolled back",
    "idempoten*",
    "password*",
    "认证",
    "授权",
    "权限",
    "迁移",
    "支付",
    "密钥",
    "認証",
    "마이그레이션",
    "인증",
    "결제",
];

const MEDIUM_RISK: [&str; 24] = [
    "retry",
    "retries",
    "retrying",
    "timeout*",
    "backoff",
    "queue*",
    "worker*",
    "scheduler*",
    "cron",
    "job",
    "jobs",
    "config*",
    "env",
    "environment",
    "setting*",
    "flag*",
    "cache*",
    "session*",
    "cookie*",
    "重试",
    "超时",
    "队列",
    "缓存",
    "再試行",
];

const EVIDENCE_WORDS: [&str; 15] = [
    "incident*",
    "bug*",
    "deadlock*",
    "regression*",
    "crash*",
    "starvation",
    "infinite loop*",
    "timeout*",
    "failure*",
    "broken",
    "flaky",
    "test fail*",
    "tests fail*",
    "ci fail*",
    "outage*",
];

/// The modules of the files, and what in the task looks like a module: `retry.policy`, `auth::token`.
fn modules(task: &str, files: &[String]) -> Vec<String> {
    let mut found: Vec<String> = files.iter().map(|file| paths::module_of(file)).collect();
    let words = task.split(|c: char| c.is_whitespace() || "\"'`(),;!?，。；：！？、（）「」".contains(c));
    for word in words.flat_map(by_script) {
        let word = word.trim_matches(|c: char| ".:".contains(c));
        let looks = (word.contains('/') || word.contains("::") || word.contains('.'))
            && word.chars().all(|c| c.is_alphanumeric() || "._-/:".contains(c))
            && word.chars().any(char::is_alphabetic)
            && word.split(['.', '/', ':']).filter(|part| part.chars().count() > 1).count() > 1;
        if looks {
            found.push(paths::module_of(word));
        }
    }
    unique(found)
}

/// The symbols of the caller, and what in the task is written like one: with humps or underscores, or in backticks.
pub fn named_symbols(task: &str, symbols: &[String]) -> Vec<String> {
    let mut found: Vec<String> = symbols.iter().map(|symbol| symbol.trim().to_owned()).collect();
    for word in task.split(|c: char| !(c.is_alphanumeric() || c == '_')).flat_map(by_script) {
        let pieces = word.split('_').filter(|piece| !piece.is_empty()).count();
        let humps =
            word.chars().zip(word.chars().skip(1)).filter(|(a, b)| a.is_lowercase() && b.is_uppercase());
        let is_symbol = word.chars().any(char::is_alphabetic) && (pieces > 1 || humps.count() > 0);
        found.extend(is_symbol.then(|| word.to_owned()));
    }
    unique(found)
}

fn keywords(words: &Words) -> Vec<String> {
    let says = |word: &&String| word.chars().count() > 2 && !EMPTY_WORDS.contains(&word.as_str());
    let mut all = unique(words.as_slice().iter().filter(says).cloned().collect());
    all.truncate(KEYWORDS);
    all
}

const EMPTY_WORDS: [&str; 38] = [
    "the", "and", "for", "with", "without", "that", "this", "from", "into", "onto", "when", "where", "which",
    "what", "how", "why", "does", "did", "are", "was", "were", "has", "have", "had", "not", "but", "can",
    "should", "would", "could", "its", "our", "your", "their", "all", "any", "please", "need",
];

/// Without what is empty and what was there before; the order stays.
fn unique(all: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    all.into_iter().filter(|one| !one.is_empty() && seen.insert(one.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(task: &str) -> Task {
        Task::read(task, &[], &[], None)
    }

    #[test]
    fn risky_words_are_found_in_every_form() {
        for task in ["authentication", "rotate the tokens", "schema migrations", "state-machine", "检查权限"]
        {
            assert_eq!(read(task).risk, Risk::High, "{task}");
        }
        assert_eq!(read("the author of the blocks").risk, Risk::Low);
        assert_eq!(read("what are retries").risk, Risk::Medium);
        assert!(read("look into the outage").needs_evidence);
    }

    #[test]
    fn modules_and_symbols_are_read_from_the_task_and_its_files() {
        let files = ["src/scheduler/retry.py".to_owned()];
        let task = Task::read(
            "Make `RetryPolicy.next_delay` in auth::token honest.",
            &files,
            &["Clock".into()],
            None,
        );
        assert_eq!(task.modules, ["scheduler.retry", "retrypolicy.next_delay", "auth.token"]);
        assert_eq!(task.symbols, ["Clock", "RetryPolicy", "next_delay"]);
        assert_eq!(task.keywords[0], "make");
        assert!(read("3.14 e.g. done.").modules.is_empty());
        let joined = read("修复src/retry.py的超时，让RetryPolicy类使用next_delay。");
        assert_eq!(joined.modules, ["retry"]);
        assert_eq!(joined.symbols, ["RetryPolicy", "next_delay"]);
    }
}
