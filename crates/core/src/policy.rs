//! Who may change which layer. The whole table is data, with a reason in every cell, and this
//! module is the only place that decides.

use crate::{
    memory::Layer,
    principal::{Principal, PrincipalKind},
};

/// What a principal wants to do to a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Store something new.
    Remember,
    /// Replace something by a successor.
    Update,
    /// Move something to the trash.
    Forget,
    /// Bring something back from the trash.
    Restore,
    /// Ask for a change that somebody else decides.
    Propose,
    /// Decide that something proposed takes effect.
    Approve,
    /// Give a place in the order of changes a name, to come back to.
    Snapshot,
    /// Decide that something proposed does not take effect.
    Reject,
    /// Bring a layer back to what a snapshot shows.
    Rollback,
    /// Erase something everywhere, for good.
    Purge,
}

impl Action {
    /// Every action, in table order.
    pub const ALL: [Self; 10] = [
        Self::Remember,
        Self::Update,
        Self::Forget,
        Self::Restore,
        Self::Propose,
        Self::Approve,
        Self::Snapshot,
        Self::Reject,
        Self::Rollback,
        Self::Purge,
    ];

    /// The word written to the audit.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Remember => "remember",
            Self::Update => "update",
            Self::Forget => "forget",
            Self::Restore => "restore",
            Self::Propose => "propose",
            Self::Approve => "approve",
            Self::Snapshot => "snapshot",
            Self::Reject => "reject",
            Self::Rollback => "rollback",
            Self::Purge => "purge",
        }
    }
}

/// What the policy says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Go ahead.
    Allow,
    /// Go ahead once a human has approved with the secret; the system then acts on their behalf.
    NeedsApproval,
    /// Never.
    Refuse,
}

/// A verdict and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// What the policy says.
    pub verdict: Verdict,
    /// One sentence for people and the audit.
    pub reason: &'static str,
}

const fn allow(reason: &'static str) -> Decision {
    Decision { verdict: Verdict::Allow, reason }
}

const fn approve(reason: &'static str) -> Decision {
    Decision { verdict: Verdict::NeedsApproval, reason }
}

const fn refuse(reason: &'static str) -> Decision {
    Decision { verdict: Verdict::Refuse, reason }
}

const SYSTEM: Decision = allow("the system applies what was approved and what its jobs derive");
const RULE_FROM_HUMAN: Decision = approve("a human changes rules and identity by approving with the secret");
const RULE_FROM_AGENT: Decision =
    refuse("an agent never writes rules or identity; it proposes, a human approves");
const RULE_FROM_PROGRAM: Decision = refuse("rules and identity change only by a human's approval");
const EVENTS_IN: Decision = allow("raw events and integrations come in through importers and schedules");
const RAW_FROM_OUTSIDE: Decision = refuse("raw sessions are imported, never written by hand");
const INTEGRATION_FROM_HUMAN: Decision = approve("a human adds an integration by approving with the secret");
const INTEGRATION_PROPOSED: Decision = refuse("integrations are proposed and reviewed, not written");
const LEARNED: Decision = allow("agents and people record what was learned");
const SCHEDULED: Decision = allow("scheduled work distils into this layer");
const GATEWAY_ABOVE_RAW: Decision = refuse("importers write raw events (P2) and integrations (P3) only");
const TOOL_RESULT: Decision = allow("tools store results as knowledge and incidents");
const TOOL_SKILL: Decision = refuse("a tool has no skills to record; it may write P5 and P6");

/// Rows: P0 to P6. Columns: system, gateway, cron, agent, human, tool.
const WRITES: [[Decision; 6]; 7] = [
    [SYSTEM, RULE_FROM_PROGRAM, RULE_FROM_PROGRAM, RULE_FROM_AGENT, RULE_FROM_HUMAN, RULE_FROM_PROGRAM],
    [SYSTEM, RULE_FROM_PROGRAM, RULE_FROM_PROGRAM, RULE_FROM_AGENT, RULE_FROM_HUMAN, RULE_FROM_PROGRAM],
    [SYSTEM, EVENTS_IN, EVENTS_IN, RAW_FROM_OUTSIDE, RAW_FROM_OUTSIDE, RAW_FROM_OUTSIDE],
    [SYSTEM, EVENTS_IN, EVENTS_IN, INTEGRATION_PROPOSED, INTEGRATION_FROM_HUMAN, INTEGRATION_PROPOSED],
    [SYSTEM, GATEWAY_ABOVE_RAW, SCHEDULED, LEARNED, LEARNED, TOOL_SKILL],
    [SYSTEM, GATEWAY_ABOVE_RAW, SCHEDULED, LEARNED, LEARNED, TOOL_RESULT],
    [SYSTEM, GATEWAY_ABOVE_RAW, SCHEDULED, LEARNED, LEARNED, TOOL_RESULT],
];

/// Decides whether `principal` may do `action` in `layer`.
///
/// Remember, update, forget, restore and rollback follow the write table. Anyone may propose and take a
/// snapshot. An approval and a purge take a human's secret whatever the layer; turning down takes a human.
pub fn decide(action: Action, principal: &Principal, layer: Layer) -> Decision {
    match action {
        Action::Propose => allow("anyone may propose; the review queue decides"),
        Action::Snapshot => allow("a snapshot names a place in the order of changes and alters no memory"),
        Action::Approve if principal.kind == PrincipalKind::Human => {
            approve("what was proposed takes effect when a human approves it with the secret")
        }
        Action::Approve => refuse("only a human with the secret approves"),
        Action::Reject if principal.kind == PrincipalKind::Human => {
            allow("a human turns down what was proposed; nothing in force changes")
        }
        Action::Reject => refuse("only a human turns down what was proposed"),
        Action::Purge if principal.kind == PrincipalKind::Human => {
            approve("a purge erases for good, so a human confirms it with the secret")
        }
        Action::Purge => refuse("only a human with the secret purges"),
        Action::Remember | Action::Update | Action::Forget | Action::Restore | Action::Rollback => {
            WRITES[layer.index()][principal.kind as usize]
        }
    }
}

/// The words of the principals that may write `layer` outright, for error messages.
pub fn writers(layer: Layer) -> Vec<&'static str> {
    PrincipalKind::ALL
        .into_iter()
        .filter(|kind| WRITES[layer.index()][*kind as usize].verdict == Verdict::Allow)
        .map(PrincipalKind::as_str)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seed's matrix, `A` allowed, `-` refused, `?` needs approval, in column order
    /// system, gateway, cron, agent, human, tool.
    const EXPECTED: [&str; 7] = ["A---?-", "A---?-", "AAA---", "AAA-?-", "A-AAA-", "A-AAAA", "A-AAAA"];

    #[test]
    fn every_cell_is_as_documented() {
        for layer in Layer::ALL.iter().copied() {
            for (column, kind) in PrincipalKind::ALL.into_iter().enumerate() {
                let principal = Principal::new(kind, "test");
                for action in
                    [Action::Remember, Action::Update, Action::Forget, Action::Restore, Action::Rollback]
                {
                    let decision = decide(action, &principal, layer);
                    let mark = match decision.verdict {
                        Verdict::Allow => 'A',
                        Verdict::NeedsApproval => '?',
                        Verdict::Refuse => '-',
                    };
                    assert_eq!(
                        mark,
                        char::from(EXPECTED[layer.index()].as_bytes()[column]),
                        "{layer} {principal}"
                    );
                    assert!(!decision.reason.is_empty());
                }
            }
        }
    }

    #[test]
    fn purge_and_approval_are_for_humans_and_proposals_for_all() {
        for kind in PrincipalKind::ALL {
            let principal = Principal::new(kind, "test");
            let human = kind == PrincipalKind::Human;
            let expected = if human { Verdict::NeedsApproval } else { Verdict::Refuse };
            assert_eq!(decide(Action::Purge, &principal, Layer::P5).verdict, expected);
            assert_eq!(decide(Action::Approve, &principal, Layer::P5).verdict, expected);
            let rejects = if human { Verdict::Allow } else { Verdict::Refuse };
            assert_eq!(decide(Action::Reject, &principal, Layer::P0).verdict, rejects);
            assert_eq!(decide(Action::Propose, &principal, Layer::P0).verdict, Verdict::Allow);
            assert_eq!(decide(Action::Snapshot, &principal, Layer::P0).verdict, Verdict::Allow);
        }
    }

    #[test]
    fn detail_after_the_colon_never_raises_authority() {
        let fake = Principal::new(PrincipalKind::Agent, "system");
        assert_eq!(decide(Action::Remember, &fake, Layer::P0).verdict, Verdict::Refuse);
    }
}
