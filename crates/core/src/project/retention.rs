//! What of a project's memories may be put away, and which may be summed up in one. Nothing is ever deleted by it.

use std::collections::BTreeMap;

use super::wording::headline;
use crate::{
    memory::Status,
    time::{DAY, Timestamp},
};

/// How long what is kept in sight. Days are of 24 hours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Days that a proposal waits before it is put away.
    pub candidate_days: u32,
    /// Days without change after which a stale memory is put away.
    pub stale_days: u32,
    /// Days after which a memory that was replaced is put away.
    pub superseded_days: u32,
    /// Kinds that are never put away, nor summed up.
    pub protected: Vec<String>,
    /// Whether memories are summed up at all.
    pub compacts: bool,
    /// Memories that are summed up together, at the least.
    pub compact_least: usize,
    /// Days that a memory must be old to be summed up.
    pub compact_days: u32,
    /// Whether only memories under the same one are summed up together.
    pub compact_by_parent: bool,
    /// Whether only memories of one kind are summed up together.
    pub compact_by_kind: bool,
    /// Days without change from which on what stands on a branch is put away; never when absent.
    pub branch_days: Option<u32>,
    /// Days after a merge from which on what stayed on the branch is put away; never when absent.
    pub merged_days: Option<u32>,
    /// Whether what came to the mainline from a branch stays all the same.
    pub keeps_promoted: bool,
}

impl Default for Policy {
    fn default() -> Self {
        let protected = ["constraint", "security_rule", "architecture", "decision"];
        Self {
            candidate_days: 30,
            stale_days: 180,
            superseded_days: 120,
            protected: protected.map(str::to_owned).to_vec(),
            compacts: true,
            compact_least: 3,
            compact_days: 14,
            compact_by_parent: true,
            compact_by_kind: true,
            branch_days: None,
            merged_days: Some(30),
            keeps_promoted: true,
        }
    }
}

/// A memory as far as its age matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aged {
    /// Its number.
    pub number: i64,
    /// Its kind.
    pub kind: String,
    /// Where it stands in its life.
    pub status: Status,
    /// When it was written.
    pub created_at: Timestamp,
    /// Since when it stands there.
    pub changed_at: Timestamp,
    /// The id of the memory that it stands under; empty if under none.
    pub parent: String,
    /// The branch that it belongs to; empty for all.
    pub branch: String,
    /// When that branch was seen to be merged without it.
    pub merged_at: Option<Timestamp>,
    /// The branch that it came to the mainline from; empty if from none.
    pub came_from: String,
    /// Whether it must stay as it is: pinned, or not of the layers that are kept tidy.
    pub is_kept: bool,
    /// Whether it is a sum itself.
    pub is_sum: bool,
    /// Whether it is of the project's tree. What is not is put away for its branch alone, or as a proposal.
    pub in_tree: bool,
}

/// What would be put away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Proposals that waited too long, by number.
    pub expired: Vec<i64>,
    /// Memories to be put away, with the reason, by number.
    pub archived: Vec<(i64, String)>,
    /// Memories to be put away because of the branch that they stand on or came from, with the reason, by number.
    pub of_branches: Vec<(i64, String)>,
    /// Memories to be summed up, each group by number.
    pub groups: Vec<Vec<i64>>,
}

/// Looks through memories, given in order of their numbers.
pub fn plan(memories: &[Aged], policy: &Policy, now: Timestamp) -> Plan {
    let mut plan = Plan::default();
    let mut groups: BTreeMap<(&str, &str, &str), Vec<i64>> = BTreeMap::new();
    let age = |since: Timestamp| now.0.saturating_sub(since.0);
    let days = |since: Timestamp| age(since) / DAY;
    let is_older = |since: Timestamp, days: u32| age(since) > i64::from(days) * DAY;
    for memory in memories.iter().filter(|memory| !memory.is_kept) {
        let protected = policy.protected.contains(&memory.kind);
        let (changed, unchanged) = (memory.changed_at, days(memory.changed_at));
        if let Some(reason) = of_branch(memory, policy, &days).filter(|_| !protected) {
            plan.of_branches.push((memory.number, reason));
            continue;
        }
        match memory.status {
            // Whatever is proposed, and for whichever layer.
            Status::Candidate if is_older(changed, policy.candidate_days) => plan.expired.push(memory.number),
            _ if !memory.in_tree => {}
            Status::Stale if !protected && is_older(changed, policy.stale_days) => {
                plan.archived.push((memory.number, format!("stale for {unchanged} days")));
            }
            Status::Superseded if !protected && is_older(changed, policy.superseded_days) => {
                plan.archived.push((memory.number, format!("replaced {unchanged} days ago")));
            }
            Status::Active
                if policy.compacts
                    && !protected
                    && !memory.is_sum
                    && is_older(memory.created_at, policy.compact_days) =>
            {
                let parent = if policy.compact_by_parent { memory.parent.as_str() } else { "" };
                let kind = if policy.compact_by_kind { memory.kind.as_str() } else { "" };
                groups.entry((&memory.branch, parent, kind)).or_default().push(memory.number);
            }
            _ => {}
        }
    }
    plan.groups = groups.into_values().filter(|group| group.len() >= policy.compact_least.max(2)).collect();
    plan
}

/// Why a memory in force is put away because of the branch that it stands on, or came from.
fn of_branch(memory: &Aged, policy: &Policy, days: &dyn Fn(Timestamp) -> i64) -> Option<String> {
    if !matches!(memory.status, Status::Active | Status::Stale) {
        return None;
    }
    let unchanged = days(memory.changed_at);
    let merged = |name: &str, since: i64| {
        let is_over = policy.merged_days.is_some_and(|limit| since >= limit.into());
        is_over.then(|| format!("its branch `{name}` was merged {since} days ago"))
    };
    if memory.branch.is_empty() {
        let came_from =
            Some(memory.came_from.as_str()).filter(|name| !name.is_empty() && !policy.keeps_promoted);
        return came_from.and_then(|name| merged(name, unchanged));
    }
    let left = memory.merged_at.and_then(|at| merged(&memory.branch, days(at)));
    left.or_else(|| {
        let is_over = policy.branch_days.is_some_and(|limit| unchanged >= limit.into());
        is_over.then(|| format!("unchanged on the branch `{}` for {unchanged} days", memory.branch))
    })
}

/// Characters of each text in a sum.
const EXCERPT: usize = 200;
/// Titles named in the title of a sum.
const NAMED: usize = 5;
/// Characters of a title.
const TITLE: usize = 256;

/// Title and text of the sum of some memories, given with title and text.
pub fn sum(kind: &str, memories: &[(&str, &str)]) -> (String, String) {
    let name = |(title, text): &(&str, &str)| -> String {
        if title.trim().is_empty() { headline(text, 60) } else { title.trim().to_owned() }
    };
    let names: Vec<String> = memories.iter().map(name).collect();
    let mut capital = kind.chars();
    let kind: String = capital.next().into_iter().flat_map(char::to_uppercase).chain(capital).collect();
    let mut title = format!("[Compacted] {kind} group: {}", names[..names.len().min(NAMED)].join(", "));
    if names.len() > NAMED {
        title.push_str(&format!(" (+{} more)", names.len() - NAMED));
    }
    let line = |(name, (_, text)): (&String, &(&str, &str))| {
        let text: String = text.trim().chars().take(EXCERPT).collect();
        format!("- {name}: {}", text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let lines: Vec<String> = names.iter().zip(memories).map(line).collect();
    (title.chars().take(TITLE).collect(), lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aged(number: i64, kind: &str, status: Status, days: i64) -> Aged {
        let then = Timestamp(-days * DAY);
        Aged {
            number,
            kind: kind.into(),
            status,
            created_at: then,
            changed_at: then,
            parent: String::new(),
            branch: String::new(),
            merged_at: None,
            came_from: String::new(),
            is_kept: false,
            is_sum: false,
            in_tree: true,
        }
    }

    #[test]
    fn what_is_old_is_put_away_and_what_is_protected_stays() {
        let memories = [
            aged(1, "incident", Status::Stale, 181),
            aged(2, "incident", Status::Stale, 180),
            aged(3, "decision", Status::Stale, 1000),
            aged(4, "module", Status::Superseded, 121),
            aged(5, "constraint", Status::Superseded, 1000),
            aged(6, "insight", Status::Candidate, 31),
            aged(7, "insight", Status::Candidate, 30),
            Aged { in_tree: false, ..aged(9, "rule", Status::Candidate, 31) },
            Aged { in_tree: false, ..aged(10, "rule", Status::Stale, 1000) },
            Aged { is_kept: true, ..aged(8, "incident", Status::Stale, 1000) },
        ];
        let found = plan(&memories, &Policy::default(), Timestamp(0));
        assert_eq!(found.archived.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [1, 4]);
        assert_eq!((found.expired, found.groups), (vec![6, 9], vec![]));
    }

    #[test]
    fn what_stayed_on_a_branch_is_put_away_as_the_settings_say() {
        let on = |number, days| Aged { branch: "x".into(), ..aged(number, "incident", Status::Active, days) };
        let merged = |number, ago: i64| Aged { merged_at: Some(Timestamp(-ago * DAY)), ..on(number, 100) };
        let memories = [
            on(1, 40),
            on(2, 39),
            merged(3, 30),
            merged(4, 29),
            Aged { kind: "decision".into(), ..merged(5, 400) },
            Aged { status: Status::NeedsReview, ..merged(6, 400) },
            Aged { came_from: "x".into(), ..aged(7, "incident", Status::Active, 31) },
            Aged { in_tree: false, ..aged(8, "fact", Status::Stale, 400) },
            Aged { in_tree: false, kind: "fact".into(), ..merged(9, 31) },
        ];
        let archived = |policy: Policy| {
            let policy = Policy { compacts: false, ..policy };
            plan(&memories, &policy, Timestamp(0)).of_branches.iter().map(|(n, _)| *n).collect::<Vec<_>>()
        };
        assert_eq!(archived(Policy::default()), [3, 9]);
        assert_eq!(archived(Policy { merged_days: None, ..Policy::default() }), [0; 0]);
        assert_eq!(archived(Policy { branch_days: Some(40), ..Policy::default() }), [1, 3, 4, 9]);
        assert_eq!(archived(Policy { merged_days: Some(29), ..Policy::default() }), [3, 4, 9]);
        assert_eq!(archived(Policy { keeps_promoted: false, ..Policy::default() }), [3, 7, 9]);
    }

    #[test]
    fn groups_are_of_one_kind_parent_and_branch() {
        let mut memories: Vec<Aged> = (1..=4).map(|n| aged(n, "incident", Status::Active, 15)).collect();
        memories.extend((5..=7).map(|n| aged(n, "decision", Status::Active, 1000)));
        memories.extend((8..=9).map(|n| aged(n, "module", Status::Active, 15)));
        memories.push(Aged { branch: "x".into(), ..aged(10, "module", Status::Active, 15) });
        memories.push(Aged { is_sum: true, ..aged(11, "module", Status::Active, 15) });
        memories.push(aged(12, "incident", Status::Active, 14));
        let found = plan(&memories, &Policy::default(), Timestamp(0));
        assert_eq!(found.groups, [[1, 2, 3, 4]]);
        let off = Policy { compacts: false, ..Policy::default() };
        assert_eq!(plan(&memories, &off, Timestamp(0)), Plan::default());
    }

    #[test]
    fn a_sum_names_what_it_is_of() {
        let texts: Vec<String> = (0..7).map(|n| format!("Lesson {n}\nin two lines")).collect();
        let memories: Vec<(&str, &str)> = texts.iter().map(|text| ("", text.as_str())).collect();
        let (title, text) = sum("incident", &memories);
        assert!(title.starts_with("[Compacted] Incident group: Lesson 0, ") && title.ends_with("(+2 more)"));
        assert_eq!(
            (text.lines().count(), text.lines().next()),
            (7, Some("- Lesson 0: Lesson 0 in two lines"))
        );
    }
}
