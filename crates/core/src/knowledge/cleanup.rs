//! What can be put in order in the knowledge: what is safe to do, what a person decides, and what stays.
//!
//! The plan only reads. The fields of its items are named as clients know them.

mod apply;

use std::sync::LazyLock;

use regex::Regex;

use super::{
    governance::heading_families,
    health::LARGE,
    state::{Action, Finding, scan},
};
use crate::{redact::redact, route::Router, vocabulary::Vocabulary};

pub use apply::{Asked, Judgement, MarkerTodo, Rejection, SAFE_ACTIONS, Stale, UNSAFE_ACTIONS, Work, judge};

/// A file of the vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File<'a> {
    /// Its path below the namespace.
    pub path: &'a str,
    /// Its name without `.md`.
    pub domain: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// What is known beside the texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Standing {
    /// Backups that lie beside the files.
    pub legacy_backups: Vec<String>,
    /// Files that the index does not name. Empty when there is no index.
    pub orphaned_l1: Vec<String>,
    /// Files that the index names and that are gone.
    pub stale_l0_entries: Vec<String>,
    /// Vectors are missing or of another model.
    pub vectors_are_stale: bool,
}

/// A line with a marker of state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    /// The file.
    pub file: String,
    /// Its domain.
    pub domain: String,
    /// The line.
    pub finding: Finding,
}

/// What can be done without a decision, because it loses nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SafeFix {
    /// `migrate_legacy_backups`: move the backups out of the vault.
    MigrateLegacyBackups(Vec<String>),
    /// `sync_l0_index`: write the index anew.
    SyncL0Index {
        /// Files it does not name.
        orphaned_l1: Vec<String>,
        /// Files it names that are gone.
        stale_l0_entries: Vec<String>,
    },
    /// `reindex_vector_store`: make the vectors anew.
    ReindexVectorStore,
    /// `create_todo_from_marker`: make a todo of a line, which stays.
    CreateTodoFromMarker(Marked),
}

/// Why a person decides over an open line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Doubt {
    /// It looks as if it held a secret.
    Credential,
    /// It says too little to be a todo.
    TooShort,
}

/// What a person decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserDecision {
    /// `move_to_todo`: an open line that should not become a todo by itself.
    MoveToTodo(Marked, Doubt),
    /// `rewrite_as_current_rule`: a line that says how something was resolved.
    RewriteAsCurrentRule(Marked),
    /// `merge_heading_family`: one subject told several times.
    MergeHeadingFamily {
        /// The file.
        file: String,
        /// Its domain.
        domain: String,
        /// What the headings have in common.
        skeleton: String,
        /// The headings.
        headings: Vec<String>,
    },
    /// `oversized_file`: a file to be split.
    OversizedFile {
        /// The file.
        file: String,
        /// Its domain.
        domain: String,
        /// Its size.
        bytes: usize,
    },
}

/// The plan, in three buckets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// What can be done at once.
    pub safe_auto_fixes: Vec<SafeFix>,
    /// What a person decides.
    pub needs_user_decision: Vec<UserDecision>,
    /// `keep_with_reason`: lines that stay because their section says why.
    pub must_not_auto_fix: Vec<Marked>,
    /// How many there are in each bucket, also of what was cut off.
    pub found: [usize; 3],
}

impl Plan {
    /// The plan for these files.
    pub fn of(files: &[File<'_>], standing: &Standing, router: &Router, vocabulary: &Vocabulary) -> Self {
        let mut plan = Self { safe_auto_fixes: derived(standing), ..Self::default() };
        for file in files {
            for finding in scan(file.text, router, vocabulary) {
                plan.sort_in(file, finding);
            }
        }
        for file in files {
            plan.needs_user_decision.extend(families(file));
            if file.text.len() > LARGE {
                let (path, domain) = (file.path.to_owned(), file.domain.to_owned());
                let oversized = UserDecision::OversizedFile { file: path, domain, bytes: file.text.len() };
                plan.needs_user_decision.push(oversized);
            }
        }
        plan.found =
            [plan.safe_auto_fixes.len(), plan.needs_user_decision.len(), plan.must_not_auto_fix.len()];
        plan
    }

    /// Keeps the first `most` items of each bucket.
    #[must_use]
    pub fn cut(mut self, most: usize) -> Self {
        self.safe_auto_fixes.truncate(most);
        self.needs_user_decision.truncate(most);
        self.must_not_auto_fix.truncate(most);
        self
    }

    /// Whether a bucket was cut.
    pub fn is_truncated(&self) -> bool {
        let kept = [self.safe_auto_fixes.len(), self.needs_user_decision.len(), self.must_not_auto_fix.len()];
        kept != self.found
    }

    fn sort_in(&mut self, file: &File<'_>, finding: Finding) {
        let action = finding.action;
        let line = file.text.lines().nth(finding.line.saturating_sub(1)).unwrap_or_default();
        let doubt = doubt(line, &finding.marker);
        let marked = Marked { file: file.path.to_owned(), domain: file.domain.to_owned(), finding };
        match (action, doubt) {
            (Action::KeepWithReason, _) => self.must_not_auto_fix.push(marked),
            (Action::RewriteAsCurrentRule, _) => {
                self.needs_user_decision.push(UserDecision::RewriteAsCurrentRule(marked));
            }
            (Action::MoveToTodo, Some(doubt)) => {
                self.needs_user_decision.push(UserDecision::MoveToTodo(marked, doubt));
            }
            (Action::MoveToTodo, None) => {
                self.safe_auto_fixes.push(SafeFix::CreateTodoFromMarker(marked));
            }
        }
    }
}

/// What is made of the files and can be made anew.
fn derived(standing: &Standing) -> Vec<SafeFix> {
    let mut fixes = Vec::new();
    if !standing.legacy_backups.is_empty() {
        fixes.push(SafeFix::MigrateLegacyBackups(standing.legacy_backups.clone()));
    }
    if !(standing.orphaned_l1.is_empty() && standing.stale_l0_entries.is_empty()) {
        let (orphaned_l1, stale_l0_entries) =
            (standing.orphaned_l1.clone(), standing.stale_l0_entries.clone());
        fixes.push(SafeFix::SyncL0Index { orphaned_l1, stale_l0_entries });
    }
    if standing.vectors_are_stale {
        fixes.push(SafeFix::ReindexVectorStore);
    }
    fixes
}

fn families(file: &File<'_>) -> impl Iterator<Item = UserDecision> {
    heading_families(file.text).into_iter().map(|family| UserDecision::MergeHeadingFamily {
        file: file.path.to_owned(),
        domain: file.domain.to_owned(),
        skeleton: family.skeleton,
        headings: family.headings,
    })
}

/// Fewer letters and digits beside the marker say nothing.
const MIN_WORD_CHARS: usize = 3;

/// Why the line should not become a todo by itself.
fn doubt(line: &str, marker: &str) -> Option<Doubt> {
    if is_credential_like(line) {
        return Some(Doubt::Credential);
    }
    let word_chars = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
    let said = word_chars(line).saturating_sub(word_chars(marker));
    (said < MIN_WORD_CHARS).then_some(Doubt::TooShort)
}

/// Whether a line holds a secret, or a word for one with a value.
pub fn is_credential_like(line: &str) -> bool {
    static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
        let names =
            "password|passwd|secret|token|api[_-]?key|密码|口令|密钥|パスワード|暗証番号|비밀번호|암호";
        Regex::new(&format!(r"(?i)(?:{names})\s*[:=：＝]\s*\S{{6,}}")).expect("a fixed pattern is valid")
    });
    ASSIGNED.is_match(line) || line.contains("[REDACTED") || redact(line).is_redacted()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::built_in;

    fn file<'a>(path: &'a str, text: &'a str) -> File<'a> {
        File { path, domain: path.trim_end_matches(".md"), text }
    }

    fn plan(files: &[File<'_>], standing: &Standing) -> Plan {
        Plan::of(files, standing, built_in(), Vocabulary::built_in())
    }

    #[test]
    fn lines_fall_into_three_buckets() {
        let text = "# infra\n\n## Pool\n\nTODO: raise the pool limit\nTODO was resolved in May\nTODO: token = abcdef123456\nTODO: x\n\n## Keys\n\nKeep reason: the audit wants it\n\nPENDING until the auditor answers\n\n## Log 2026-01-01\n\na\n\n## Log 2026-01-02\n\nb\n";
        let standing = Standing { legacy_backups: vec!["infra.md.bak".to_owned()], ..Standing::default() };
        let found = plan(&[file("infra.md", text)], &standing);
        assert_eq!(found.found, [2, 4, 1]);
        let SafeFix::CreateTodoFromMarker(open) = &found.safe_auto_fixes[1] else {
            panic!("{:?}", found.safe_auto_fixes)
        };
        assert_eq!(
            (open.file.as_str(), open.finding.line, open.finding.marker.as_str()),
            ("infra.md", 5, "TODO")
        );
        let kinds: Vec<u8> = found
            .needs_user_decision
            .iter()
            .map(|item| match item {
                UserDecision::RewriteAsCurrentRule(_) => 0,
                UserDecision::MoveToTodo(_, Doubt::Credential) => 1,
                UserDecision::MoveToTodo(_, Doubt::TooShort) => 2,
                UserDecision::MergeHeadingFamily { .. } => 3,
                UserDecision::OversizedFile { .. } => 4,
            })
            .collect();
        assert_eq!(kinds, [0, 1, 2, 3]);
        assert_eq!(found.must_not_auto_fix[0].finding.keep_reason.as_deref(), Some("the audit wants it"));
        assert!(!found.is_truncated());
        let cut = found.cut(1);
        assert_eq!((cut.needs_user_decision.len(), cut.found, cut.is_truncated()), (1, [2, 4, 1], true));
    }

    #[test]
    fn what_is_derived_comes_first_and_a_clean_vault_has_no_plan() {
        let standing =
            Standing { orphaned_l1: vec!["a.md".to_owned()], vectors_are_stale: true, ..Standing::default() };
        let large = format!("## A\n\n{}", "word ".repeat(1_000));
        let found = plan(&[file("a.md", &large)], &standing);
        assert!(matches!(
            found.safe_auto_fixes[..],
            [SafeFix::SyncL0Index { .. }, SafeFix::ReindexVectorStore]
        ));
        assert!(matches!(found.needs_user_decision[..], [UserDecision::OversizedFile { bytes: 5_006, .. }]));
        assert_eq!(plan(&[file("a.md", "## A\n\nx\n")], &Standing::default()), Plan::default());
    }

    #[test]
    fn open_lines_of_four_languages_become_todos() {
        let text = "## A\n\nTODO: rotate the keys of the gateway\n待确认：网关的超时\n要確認：接続プールの上限\n확인 필요: 연결 풀의 크기\n";
        assert_eq!(plan(&[file("a.md", text)], &Standing::default()).found, [4, 0, 0]);
        for line in [
            "密码：hunter2-1",
            "パスワード: hunter2-1",
            "비밀번호=hunter2-1",
            "token: abcdef",
            "key [REDACTED]",
        ] {
            assert!(is_credential_like(line), "{line}");
        }
        for line in ["rotate the token", "token: ab", "密码策略待确认"] {
            assert!(!is_credential_like(line), "{line}");
        }
    }
}
