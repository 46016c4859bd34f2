//! What finished work teaches: whether a report is worth keeping, and what is to be kept of it.

use super::{
    areas::Areas,
    decided,
    intent::Intent,
    outcome::{TaskOutcome, Verification},
    paths::names,
    wording::{headline, module_of, word_count},
};
use crate::memory::words;

words! {
    /// Why nothing is kept of a report.
    SkipReason, "skip reason" {
        /// The work failed.
        TaskFailed = "task_failed",
        /// The work was taken back.
        TaskReverted = "task_reverted",
        /// It changed nothing that matters.
        TrivialChange = "trivial_change",
        /// Nothing speaks for it, and whoever reports is not sure.
        UnverifiedLowConfidence = "unverified_low_confidence",
        /// It says too little.
        LowValue = "low_value",
        /// It says nothing that is not known.
        NoNewKnowledge = "no_new_knowledge",
    }
}

/// The surest that nothing but a report's own word makes it.
const UNVERIFIED: f64 = 0.60;
/// Below this an unverified report is not kept.
const SURE_ENOUGH: f64 = 0.70;
/// By so much surer a constraint is that the report names by itself.
const NAMED: f64 = 0.05;
/// The least words of a report that says something by itself.
const MIN_WORDS: usize = 8;
/// Most tags of a candidate.
const MAX_TAGS: usize = 8;
/// Characters of a task in a title.
const TITLE: usize = 60;
/// From this many changed files on, work of an unknown sort says something of the module.
const MANY_FILES: usize = 3;

/// A report on finished work.
#[derive(Debug, Clone)]
pub struct Report<'a> {
    /// What was to be done.
    pub task: &'a str,
    /// What came of it.
    pub summary: &'a str,
    /// How it ended.
    pub outcome: TaskOutcome,
    /// What speaks for that.
    pub verification: Verification,
    /// What sort of work it was.
    pub work: Intent,
    /// How sure whoever reports is, 0 to 1.
    pub sureness: f64,
    /// Files that were changed, relative to the project.
    pub files: &'a [String],
    /// Names that were touched.
    pub symbols: &'a [String],
    /// The part of the project, where it was said.
    pub module_path: Option<&'a str>,
    /// Constraints that were found out.
    pub constraints: &'a [String],
    /// Procedures that were found out.
    pub procedures: &'a [String],
}

/// A memory that a report gives reason for.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The kind of memory: `constraint`, `procedure`, `incident`, `module` or `decision`.
    pub kind: &'static str,
    /// Its headline.
    pub title: String,
    /// Its text.
    pub text: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The part of the project that it is about.
    pub module_path: Option<String>,
    /// How much it matters, 0 to 1.
    pub importance: f64,
    /// How sure it is, 0 to 1.
    pub confidence: f64,
    /// Whether the report itself is what it rests on.
    pub rests_on_report: bool,
}

/// What is to be kept, or why nothing is.
#[derive(Debug, Clone, PartialEq)]
pub struct Reflection {
    /// Why nothing is kept.
    pub skipped: Option<SkipReason>,
    /// One sentence on each gate that spoke.
    pub reasons: Vec<String>,
    /// What is to be kept.
    pub candidates: Vec<Candidate>,
}

impl Verification {
    /// The surest that a report becomes by it.
    pub const fn ceiling(self) -> f64 {
        match self {
            Self::TestsPassed => 0.95,
            Self::BuildSuccess => 0.85,
            Self::ManualCheck => 0.75,
            Self::TestsFailed | Self::Unverified => UNVERIFIED,
        }
    }

    /// How sure a reporter who does not say is taken to be.
    pub const fn usual_sureness(self) -> f64 {
        if matches!(self, Self::Unverified) { 0.65 } else { 0.85 }
    }
}

/// Lets a report through the gates, in order, and draws what it teaches.
pub fn reflect(report: &Report<'_>, areas: &Areas) -> Reflection {
    let risky = areas.is_risky(&format!("{}\n{}", report.task, report.summary));
    let stated = decided::stated(report.summary);
    let found_out = risky || !report.constraints.is_empty() || !report.procedures.is_empty();
    let signal = found_out || stated.is_some();
    if let Some((skipped, reason)) = gate(report, signal) {
        return Reflection { skipped: Some(skipped), reasons: vec![reason], candidates: Vec::new() };
    }
    let candidates = candidates(report, risky, stated);
    if candidates.is_empty() {
        let reason = match report.outcome {
            TaskOutcome::PartiallyCompleted => {
                "the work is done in part: report again when it is whole".to_owned()
            }
            _ => format!(
                "{} work of this size teaches nothing that a memory is made for by itself: name what was found out in \
                 `discovered_constraints` or `discovered_procedures`, say the sort of work in `task_intent`, say what was decided \
                 and because of what, or store it with `add_memory_node`",
                report.work.as_str()
            ),
        };
        return Reflection {
            skipped: Some(SkipReason::NoNewKnowledge),
            reasons: vec![reason],
            candidates: Vec::new(),
        };
    }
    let mut reasons = vec![format!("the work is {}, {}", report.outcome, report.verification)];
    if stated.is_some() {
        reasons.push("it says what was decided, and why".to_owned());
    }
    if found_out {
        reasons.push("it found out rules, or touches a part where mistakes are costly".to_owned());
    }
    Reflection { skipped: None, reasons, candidates }
}

fn gate(report: &Report<'_>, signal: bool) -> Option<(SkipReason, String)> {
    let short = word_count(report.summary) < MIN_WORDS;
    match (report.outcome, report.verification) {
        (TaskOutcome::Failed, _) => {
            Some((SkipReason::TaskFailed, "the work failed: what it says of the system does not hold".into()))
        }
        (TaskOutcome::Reverted, _) => {
            Some((SkipReason::TaskReverted, "the work was taken back: nothing of it is in the code".into()))
        }
        (_, Verification::TestsFailed) => Some((SkipReason::TaskFailed, "its tests failed".into())),
        (_, Verification::Unverified) if report.sureness < SURE_ENOUGH => {
            let reason = format!(
                "nothing speaks for it and it is {:.2} sure, below {SURE_ENOUGH:.2}; send a `verification_status`",
                report.sureness
            );
            Some((SkipReason::UnverifiedLowConfidence, reason))
        }
        _ if report.work == Intent::TrivialEdit && !signal && short => {
            let reason = "it changes nothing that the code does; if it does, say the sort of work in `task_intent`, or name what was \
                          found out in `discovered_constraints`";
            Some((SkipReason::TrivialChange, reason.into()))
        }
        _ if short && !signal && report.files.is_empty() => {
            let reason = format!(
                "it has fewer than {MIN_WORDS} words and names no file: say cause, change and consequence in `outcome`, name \
                 `changed_files`, or what was found out in `discovered_constraints`"
            );
            Some((SkipReason::LowValue, reason))
        }
        _ => None,
    }
}

fn candidates(report: &Report<'_>, risky: bool, stated: Option<&str>) -> Vec<Candidate> {
    let draft = Draft::of(report);
    let mut found = draft.found_out(report);
    found.extend(draft.incident(report));
    found.extend(draft.module(report));
    found.extend(match stated {
        Some(sentence) => draft.stated(report, sentence),
        None => draft.decision(report).filter(|_| risky),
    });
    found
}

/// What all candidates of a report have in common.
struct Draft {
    confidence: f64,
    module: Option<String>,
    tags: Vec<String>,
    /// The headline of the task.
    task: String,
}

impl Draft {
    fn of(report: &Report<'_>) -> Self {
        let module = report.module_path.map(str::to_owned).or_else(|| module_of(report.files));
        Self {
            confidence: report.verification.ceiling().min(report.sureness.max(UNVERIFIED)),
            tags: tags(report, module.as_deref()),
            module,
            task: headline(report.task, TITLE),
        }
    }

    fn candidate(&self, kind: &'static str, title: String, text: &str, importance: f64) -> Candidate {
        Candidate {
            kind,
            title,
            text: text.trim().to_owned(),
            tags: self.tags.clone(),
            module_path: self.module.clone(),
            importance,
            confidence: self.confidence,
            rests_on_report: false,
        }
    }

    /// The constraints and procedures that the report names.
    fn found_out(&self, report: &Report<'_>) -> Vec<Candidate> {
        let named = |text: &&String| !text.trim().is_empty();
        let constraints = report.constraints.iter().filter(named).map(|text| Candidate {
            confidence: (self.confidence + NAMED).min(1.0),
            rests_on_report: true,
            ..self.candidate("constraint", headline(text, TITLE), text, 0.92)
        });
        let procedures = report.procedures.iter().filter(named).map(|text| Candidate {
            rests_on_report: true,
            ..self.candidate("procedure", headline(text, TITLE), text, 0.72)
        });
        constraints.chain(procedures).collect()
    }

    /// The fault that was repaired.
    fn incident(&self, report: &Report<'_>) -> Option<Candidate> {
        let incident =
            self.candidate("incident", format!("Fix: {}", without_fix(&self.task)), report.summary, 0.85);
        let is_told = report.outcome == TaskOutcome::Completed && repairs(report.work);
        is_told.then(|| Candidate { tags: with(&self.tags, &["incident", "bug"]), ..incident })
    }

    /// What the part of the project is now.
    fn module(&self, report: &Report<'_>) -> Option<Candidate> {
        let module = self.module.as_deref()?;
        let is_built = builds(report.work) && word_count(report.summary) >= MIN_WORDS;
        let is_large = report.work == Intent::Unknown
            && report.outcome == TaskOutcome::Completed
            && matches!(report.verification, Verification::TestsPassed | Verification::BuildSuccess)
            && report.files.len() >= MANY_FILES;
        let title = format!("{module} — updated");
        (is_built || is_large).then(|| self.candidate("module", title, report.summary, 0.62))
    }

    /// The decision that the report itself states, whatever sort of work it was.
    fn stated(&self, report: &Report<'_>, sentence: &str) -> Option<Candidate> {
        let text = format!("{}\n{}", report.task.trim(), report.summary.trim());
        let title = format!("Decision: {}", headline(sentence.trim_end_matches(['.', '。']), TITLE));
        let decision = self.candidate("decision", title, &text, 0.82);
        (report.outcome == TaskOutcome::Completed)
            .then(|| Candidate { tags: with(&self.tags, &["decision"]), ..decision })
    }

    /// What was decided.
    fn decision(&self, report: &Report<'_>) -> Option<Candidate> {
        // The task is a part of what was decided, and tells the decision from what is said of the module.
        let text = format!("{}\n{}", report.task.trim(), report.summary.trim());
        let decision = self.candidate("decision", format!("Decision: {}", self.task), &text, 0.82);
        let is_told = report.outcome == TaskOutcome::Completed && builds(report.work);
        is_told.then(|| Candidate { tags: with(&self.tags, &["decision"]), ..decision })
    }
}

/// A task without the word for mending that it begins with: a title says that itself.
fn without_fix(task: &str) -> &str {
    let rest = task.split_once([' ', ':']).filter(|(first, _)| {
        ["fix", "fixes", "fixed", "fixing"].iter().any(|word| first.trim().eq_ignore_ascii_case(word))
    });
    let rest = rest.map_or(task, |(_, rest)| rest.trim_start_matches([' ', ':']));
    if rest.is_empty() { task } else { rest }
}

/// Whether work of a sort repairs something.
const fn repairs(work: Intent) -> bool {
    matches!(work, Intent::BugFix | Intent::TestFailure)
}

/// Whether work of a sort changes how a part of the system is made.
const fn builds(work: Intent) -> bool {
    matches!(work, Intent::FeatureImplementation | Intent::Refactor | Intent::ArchitectureReview)
}

fn tags(report: &Report<'_>, module: Option<&str>) -> Vec<String> {
    let symbols = report.symbols.iter().take(5).map(|symbol| symbol.trim().to_owned());
    let files = report.files.iter().take(3).filter_map(|file| names(file).pop());
    let parts = module.map(names).unwrap_or_default();
    let all: Vec<String> = symbols.chain(files).chain(parts).collect();
    with(&[], &all.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Tags and some more, each once, at most [`MAX_TAGS`]; those that are added stay.
fn with(tags: &[String], more: &[&str]) -> Vec<String> {
    let kept = MAX_TAGS.saturating_sub(if tags.is_empty() { 0 } else { more.len() });
    let mut all: Vec<String> = tags.iter().take(kept).cloned().collect();
    for tag in more {
        if !tag.is_empty() && !all.iter().any(|known| known == tag) && all.len() < MAX_TAGS {
            all.push((*tag).to_owned());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "Pages are read one by one and the last of them says that it is the last";

    fn report<'a>(task: &'a str, summary: &'a str, files: &'a [String]) -> Report<'a> {
        Report {
            task,
            summary,
            outcome: TaskOutcome::Completed,
            verification: Verification::TestsPassed,
            work: Intent::of_task(task),
            sureness: 0.85,
            files,
            symbols: &[],
            module_path: None,
            constraints: &[],
            procedures: &[],
        }
    }

    fn skipped(report: &Report<'_>) -> Option<SkipReason> {
        let reflection = reflect(report, &Areas::default());
        assert_eq!(reflection.skipped.is_some(), reflection.candidates.is_empty());
        assert!(!reflection.reasons.is_empty());
        reflection.skipped
    }

    #[test]
    fn the_gates_speak_in_order() {
        let files = ["src/page.py".to_owned()];
        let good = report("Add paging", LONG, &files);
        assert_eq!(skipped(&good), None);
        let with = |change: &dyn Fn(&mut Report<'_>)| {
            let mut other = good.clone();
            change(&mut other);
            skipped(&other)
        };
        assert_eq!(with(&|r| r.outcome = TaskOutcome::Reverted), Some(SkipReason::TaskReverted));
        assert_eq!(with(&|r| r.outcome = TaskOutcome::Failed), Some(SkipReason::TaskFailed));
        assert_eq!(with(&|r| r.verification = Verification::TestsFailed), Some(SkipReason::TaskFailed));
        let unverified = |r: &mut Report<'_>, sureness| {
            (r.verification, r.sureness) = (Verification::Unverified, sureness);
        };
        assert_eq!(with(&|r| unverified(r, 0.65)), Some(SkipReason::UnverifiedLowConfidence));
        assert_eq!(with(&|r| unverified(r, 0.7)), None, "whoever is sure may say so");
        assert_eq!(skipped(&report("Fix typo", "Fixed the word", &files)), Some(SkipReason::TrivialChange));
        assert_eq!(skipped(&report("Look around", "Nothing much", &[])), Some(SkipReason::LowValue));
        assert_eq!(skipped(&report("Look around", LONG, &files)), Some(SkipReason::NoNewKnowledge));
    }

    #[test]
    fn a_stated_decision_is_kept_and_a_skip_names_what_to_give() {
        let said = "We decided to use threads for the fetcher because asyncio made the tests flaky";
        let reflection = reflect(&report("Look at the fetcher", said, &[]), &Areas::default());
        let [decision] = &reflection.candidates[..] else { panic!("{reflection:?}") };
        assert_eq!(decision.kind, "decision");
        assert!(decision.title.starts_with("Decision: We decided to use threads"), "{}", decision.title);
        assert!(decision.text.contains("asyncio made the tests flaky"));
        let skipped = reflect(&report("Look around", LONG, &[]), &Areas::default());
        for way in ["discovered_constraints", "task_intent", "add_memory_node"] {
            assert!(skipped.reasons[0].contains(way), "{:?}", skipped.reasons);
        }
    }

    #[test]
    fn a_title_says_once_that_something_was_mended() {
        let title = |task: &str| {
            let report = Report { work: Intent::BugFix, ..report(task, LONG, &[]) };
            reflect(&report, &Areas::default()).candidates[0].title.clone()
        };
        assert_eq!(title("Fix the crash of the page"), "Fix: the crash of the page");
        assert_eq!(title("fix: crash of the page"), "Fix: crash of the page");
        assert_eq!(title("Fixture loading crashes"), "Fix: Fixture loading crashes");
    }

    #[test]
    fn each_sort_of_work_leaves_what_it_teaches() {
        let files = ["src/scheduler/retry.py".to_owned()];
        let kinds = |report: &Report<'_>| {
            let found = reflect(report, &Areas::default()).candidates;
            found.iter().map(|c| (c.kind, c.importance)).collect::<Vec<_>>()
        };
        assert_eq!(kinds(&report("Fix crash of the page", LONG, &files)), [("incident", 0.85)]);
        assert_eq!(kinds(&report("Add paging", LONG, &files)), [("module", 0.62)]);
        let retry = report("Add retry with a guard for the terminal state", LONG, &files);
        assert_eq!(kinds(&retry), [("module", 0.62), ("decision", 0.82)]);
        let found = ["Never leave a terminal state".to_owned()];
        let learnt = Report { constraints: &found, procedures: &found, ..report("Look around", "ok", &[]) };
        assert_eq!(kinds(&learnt), [("constraint", 0.92), ("procedure", 0.72)]);
        let module = &reflect(&retry, &Areas::default()).candidates[0];
        assert_eq!(module.title, "scheduler.retry — updated");
        assert_eq!(module.tags, ["retry", "scheduler"]);
        assert!((module.confidence - 0.85).abs() < 1e-9);
    }
}
