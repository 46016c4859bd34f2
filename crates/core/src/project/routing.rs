//! What a kind of work needs: which memories, in which layers of detail, for how much.

use super::{
    intent::Intent,
    task::{Risk, Task},
};

/// How involved a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Complexity {
    /// Nothing to think about.
    Trivial,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

impl Complexity {
    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trivial => "trivial",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// What is advised for a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// How involved it is.
    pub complexity: Complexity,
    /// How much can go wrong.
    pub risk: Risk,
    /// Whether to ask the memory before.
    pub should_recall: bool,
    /// Whether what is learned may be kept.
    pub persistence_allowed: bool,
    /// Whether single memories are worth a closer look.
    pub should_inspect: bool,
    /// Tokens that what is recalled is worth.
    pub budget: u32,
    /// Sorts of memory that help, most first.
    pub memory_types: Vec<&'static str>,
}

/// Flags of a caller that wants no memory.
const NO_MEMORY: [&str; 6] =
    ["no_memory", "no-memory", "isolated", "isolated_task", "do_not_use_memory", "do_not_persist"];

/// Whether a flag says that memory takes no part.
pub fn forbids_memory(flag: &str) -> bool {
    NO_MEMORY.contains(&flag.trim().to_lowercase().as_str())
}

/// Advice for a task; `hint` may raise its risk, never lower it.
pub fn plan(task: &Task, files: usize, symbols: usize, hint: Option<Risk>, flags: &[String]) -> Plan {
    let risk = hint.map_or(task.risk, |hint| hint.max(task.risk));
    let complexity = complexity(task, files, symbols);
    let is_forbidden = flags.iter().any(|flag| forbids_memory(flag));
    let wanted = match task.intent {
        Intent::TrivialEdit => risk >= Risk::Medium,
        Intent::Documentation => risk > Risk::Low,
        _ => complexity != Complexity::Trivial,
    };
    let deep = matches!(task.intent, Intent::BugFix | Intent::TestFailure | Intent::Refactor);
    Plan {
        complexity,
        risk,
        should_recall: wanted && !is_forbidden,
        persistence_allowed: !is_forbidden,
        should_inspect: (risk == Risk::High || deep) && !is_forbidden,
        budget: if is_forbidden { 0 } else { budget(task.intent) },
        memory_types: memory_types(task.intent, risk),
    }
}

fn complexity(task: &Task, files: usize, symbols: usize) -> Complexity {
    match task.intent {
        Intent::TrivialEdit => return Complexity::Trivial,
        Intent::Documentation | Intent::WorkflowQuestion => return Complexity::Low,
        _ => {}
    }
    let points = [
        task.length > 15,
        task.length > 30,
        files > 2,
        symbols > 3,
        matches!(task.intent, Intent::Refactor | Intent::FeatureImplementation),
        matches!(task.intent, Intent::BugFix | Intent::TestFailure),
    ];
    match points.into_iter().filter(|point| *point).count() {
        0 => Complexity::Low,
        1 | 2 => Complexity::Medium,
        _ => Complexity::High,
    }
}

const fn budget(intent: Intent) -> u32 {
    match intent {
        Intent::BugFix => 5500,
        Intent::TestFailure | Intent::FeatureImplementation => 5000,
        Intent::Refactor => 6000,
        Intent::ArchitectureReview => 4000,
        Intent::CodeExplanation | Intent::Unknown => 3000,
        Intent::RepositoryOnboarding => 4500,
        Intent::WorkflowQuestion => 2500,
        Intent::Documentation => 2000,
        Intent::TrivialEdit => 0,
    }
}

/// Sorts of memory that help with a kind of work, most first.
pub fn memory_types(intent: Intent, risk: Risk) -> Vec<&'static str> {
    const SEMANTIC: &str = "semantic_memory";
    const PROCEDURAL: &str = "procedural_memory";
    const DECISION: &str = "decision_memory";
    const INCIDENT: &str = "incident_memory";
    const CONSTRAINT: &str = "constraint_memory";
    let mut types: Vec<&'static str> = match intent {
        Intent::BugFix => vec![CONSTRAINT, SEMANTIC, INCIDENT, DECISION],
        Intent::TestFailure => vec![INCIDENT, PROCEDURAL, CONSTRAINT, SEMANTIC],
        Intent::Refactor => vec![CONSTRAINT, SEMANTIC, DECISION, INCIDENT],
        Intent::FeatureImplementation => vec![SEMANTIC, CONSTRAINT, PROCEDURAL, DECISION],
        Intent::CodeExplanation => vec![SEMANTIC, DECISION],
        Intent::RepositoryOnboarding => vec![SEMANTIC, CONSTRAINT, PROCEDURAL],
        Intent::WorkflowQuestion => vec![PROCEDURAL, SEMANTIC],
        Intent::ArchitectureReview | Intent::Documentation | Intent::Unknown => vec![SEMANTIC],
        Intent::TrivialEdit => Vec::new(),
    };
    if risk == Risk::High {
        types.retain(|sort| *sort != CONSTRAINT);
        types.insert(0, CONSTRAINT);
        if !types.contains(&INCIDENT) {
            types.push(INCIDENT);
        }
    }
    types
}

/// How much a memory of a kind helps with a kind of work, 0 to 1.
pub fn compatibility(intent: Intent, kind: &str) -> f32 {
    // Incidents, constraints, decisions, modules, procedures, architecture, outcomes.
    let row: [f32; 7] = match intent {
        Intent::BugFix => [1.0, 0.9, 0.8, 0.7, 0.6, 0.4, 0.3],
        Intent::TestFailure => [1.0, 0.8, 0.5, 0.6, 0.9, 0.3, 0.4],
        Intent::Refactor => [0.6, 0.9, 0.85, 0.8, 0.4, 1.0, 0.3],
        Intent::FeatureImplementation => [0.3, 0.85, 0.65, 1.0, 0.7, 0.8, 0.4],
        Intent::ArchitectureReview => [0.2, 0.6, 0.5, 0.7, 0.2, 1.0, 0.3],
        Intent::CodeExplanation => [0.4, 0.6, 0.7, 1.0, 0.5, 0.9, 0.5],
        Intent::RepositoryOnboarding => [0.3, 0.75, 0.5, 0.8, 0.7, 1.0, 0.4],
        Intent::WorkflowQuestion => [0.2, 0.4, 0.3, 0.5, 1.0, 0.6, 0.3],
        Intent::TrivialEdit => [0.1; 7],
        Intent::Documentation | Intent::Unknown => [0.5; 7],
    };
    let column = match kind {
        "incident" | "debug" | "fix" => 0,
        "constraint" | "rule" => 1,
        "decision" => 2,
        "module" => 3,
        "procedure" | "skill" => 4,
        "architecture" => 5,
        "outcome" => 6,
        _ => return 0.5,
    };
    row[column]
}

/// The sizes at which a found piece can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// One statement.
    Proposition,
    /// A line about a piece.
    Paragraph,
    /// A few lines about a file.
    Summary,
}

impl Layer {
    /// Every layer, finest first.
    pub const ALL: [Self; 3] = [Self::Proposition, Self::Paragraph, Self::Summary];

    /// The word used on every face.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Proposition => "proposition",
            Self::Paragraph => "paragraph",
            Self::Summary => "summary",
        }
    }

    /// Reads the word, alone or in the plural.
    pub fn parse(word: &str) -> Option<Self> {
        let wanted = word.trim().to_lowercase();
        Self::ALL.into_iter().find(|layer| {
            layer.as_str() == wanted.trim_end_matches('s')
                || matches!((layer, wanted.as_str()), (Self::Summary, "summaries"))
        })
    }
}

/// Layers for a kind of work, and the sorts of statement that matter for it; no sorts is all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granularity {
    /// Best first.
    pub layers: Vec<Layer>,
    /// Sorts of statement by their words.
    pub propositions: Vec<String>,
}

/// Which layers are looked at for a kind of work. `preferred` replaces them and lets every sort of statement in, unless
/// `propositions` names some.
pub fn granularity(intent: Intent, preferred: &[Layer], propositions: Option<&[String]>) -> Granularity {
    use Layer::{Paragraph, Proposition, Summary};
    let (layers, usual): (&[Layer], &[&str]) = match intent {
        Intent::BugFix => (&[Proposition, Paragraph], &["constraint", "security_rule", "risk"]),
        Intent::TestFailure => (&[Proposition, Paragraph], &["test_evidence", "risk", "constraint"]),
        Intent::Refactor => (&[Paragraph, Summary], &["architecture", "decision", "constraint"]),
        Intent::FeatureImplementation => (&[Paragraph, Proposition, Summary], &[]),
        Intent::ArchitectureReview => (&[Summary, Paragraph], &["architecture", "decision"]),
        Intent::CodeExplanation => (&[Paragraph, Proposition], &[]),
        Intent::RepositoryOnboarding => (&[Summary, Paragraph], &["architecture", "constraint"]),
        Intent::WorkflowQuestion => (&[Proposition, Paragraph], &["procedure", "behavior"]),
        Intent::Documentation => (&[Paragraph, Summary], &[]),
        Intent::TrivialEdit => (&[Paragraph], &[]),
        Intent::Unknown => (&[Proposition, Paragraph, Summary], &[]),
    };
    let mut chosen = Granularity {
        layers: layers.to_vec(),
        propositions: usual.iter().map(|word| (*word).to_owned()).collect(),
    };
    if !preferred.is_empty() {
        chosen.layers.clear();
        for layer in preferred {
            if !chosen.layers.contains(layer) {
                chosen.layers.push(*layer);
            }
        }
        chosen.propositions.clear();
    }
    if let Some(named) = propositions {
        chosen.propositions = named.to_vec();
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(task: &str, flags: &[String]) -> Plan {
        plan(&Task::read(task, &[], &[], None), 0, 0, None, flags)
    }

    #[test]
    fn small_edits_need_nothing_unless_they_are_risky() {
        assert!(!planned("fix typo in README", &[]).should_recall);
        assert!(planned("rename the auth token", &[]).should_recall);
        let hinted = plan(&Task::read("explain the parser", &[], &[], None), 0, 0, Some(Risk::High), &[]);
        assert_eq!((hinted.risk, hinted.should_inspect), (Risk::High, true));
        let lowered = plan(&Task::read("migrate the schema", &[], &[], None), 0, 0, Some(Risk::Low), &[]);
        assert_eq!(lowered.risk, Risk::High);
    }

    #[test]
    fn a_caller_that_wants_no_memory_gets_none() {
        let isolated = planned("fix the crash", &["isolated_task".into()]);
        assert_eq!(
            (isolated.should_recall, isolated.persistence_allowed, isolated.budget),
            (false, false, 0)
        );
    }

    #[test]
    fn preferred_layers_replace_the_usual_ones_and_their_sorts() {
        let usual = granularity(Intent::BugFix, &[], None);
        assert_eq!(usual.propositions, ["constraint", "security_rule", "risk"]);
        let own = granularity(Intent::BugFix, &[Layer::Summary, Layer::Summary], None);
        assert_eq!((own.layers.as_slice(), own.propositions.len()), ([Layer::Summary].as_slice(), 0));
        let named = granularity(Intent::BugFix, &[], Some(&["risk".to_owned()]));
        assert_eq!(named.propositions, ["risk"]);
        assert_eq!(Layer::parse("Summaries"), Some(Layer::Summary));
        assert_eq!(Layer::parse("chunk"), None);
    }

    #[test]
    fn risk_puts_constraints_first() {
        assert_eq!(memory_types(Intent::FeatureImplementation, Risk::High)[0], "constraint_memory");
        assert!(memory_types(Intent::Documentation, Risk::High).contains(&"incident_memory"));
    }
}
