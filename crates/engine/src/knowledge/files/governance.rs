//! What there is to say of a file that was written whole: advice, and nothing is changed by it.

use serde::Serialize;
use strata_core::knowledge::{
    governance::{PROCEDURE_SCORE, Procedure, heading_families, procedures},
    health::LARGE,
    name::VaultPath,
};

use crate::{
    engine::Engine,
    knowledge::upkeep::{
        Marker,
        markers::{Lines, Markers},
        shown,
    },
};

/// Findings of one sort that are listed.
const LISTED: usize = 10;
/// What clients know as the way out of a procedure.
const TO_SKILL: &str = "extract_to_agent_skill_surface";

/// What there is to say of a file.
#[derive(Debug, Serialize)]
pub struct Governance {
    /// `create` or `update`.
    pub write_kind: &'static str,
    /// The file's name without `.md`.
    pub domain: String,
    /// Whether nothing asks for attention.
    pub clean: bool,
    /// Lines that say that something is open, or was.
    pub state_markers: StateMarkers,
    /// Sections that tell how to do something, which belongs to the agent's skills.
    pub procedure_contamination: Procedures,
    /// Sections that are one subject told several times.
    pub heading_families: Vec<Family>,
    /// How large it is.
    pub size: Size,
    /// What to do about all of that.
    pub suggestions: Vec<String>,
}

/// Lines that say that something is open, or was.
#[derive(Debug, Serialize)]
pub struct StateMarkers {
    /// How many.
    pub summary: Markers,
    /// Open lines, at most ten.
    pub findings: Vec<Marker>,
    /// Every line with a marker, at most ten.
    pub lifecycle_findings: Vec<Marker>,
}

/// Sections that tell how to do something.
#[derive(Debug, Serialize)]
pub struct Procedures {
    /// How many.
    pub summary: ProcedureCount,
    /// The surest, at most ten.
    pub findings: Vec<ProcedureFinding>,
    /// Whether there are more.
    pub truncated: bool,
}

/// How many sections are procedures.
#[derive(Debug, Serialize)]
pub struct ProcedureCount {
    /// Sections.
    pub sections_flagged: usize,
    /// From this score on.
    pub score_floor: f64,
}

/// A section that is a procedure.
#[derive(Debug, Serialize)]
pub struct ProcedureFinding {
    /// The file.
    pub file: String,
    /// Its domain.
    pub domain: String,
    /// The heading.
    pub heading: String,
    /// Its line, counted from 1.
    pub line: usize,
    /// Where it belongs.
    pub surface: &'static str,
    /// Whose that is.
    pub ownership: &'static str,
    /// The router's score.
    pub score: f64,
    /// What that rests on.
    pub confidence_basis: &'static str,
    /// What spoke for it.
    pub signals: Vec<String>,
    /// What to do about it.
    pub suggested_action: &'static str,
    /// Always false: what the agent owns is not written.
    pub framework_can_apply: bool,
}

/// Headings that differ in a date, version or number only.
#[derive(Debug, Serialize)]
pub struct Family {
    /// What they have in common.
    pub skeleton: String,
    /// Sections.
    pub count: usize,
    /// Their headings, at most ten.
    pub headings: Vec<String>,
}

/// How large a file is.
#[derive(Debug, Serialize)]
pub struct Size {
    /// Bytes.
    pub bytes: usize,
    /// Larger ones are oversized.
    pub threshold: usize,
    /// Whether it is.
    pub oversized: bool,
}

impl Governance {
    /// Looks at what was written.
    pub(super) fn of(engine: &Engine, write_kind: &'static str, path: &VaultPath, text: &str) -> Self {
        let words = engine.words();
        let mut lines = Lines::default();
        lines.read(path, text, &words.states, &words.state_words);
        let oversized = text.len() > LARGE;
        let mut found = Self {
            write_kind,
            domain: path.domain().to_owned(),
            clean: false,
            state_markers: StateMarkers {
                summary: lines.summary,
                findings: lines.open,
                lifecycle_findings: lines.all,
            },
            procedure_contamination: Procedures::of(path, procedures(text, &words.router)),
            heading_families: families(text),
            size: Size { bytes: text.len(), threshold: LARGE, oversized },
            suggestions: Vec::new(),
        };
        found.suggestions = found.advice();
        found.clean = found.suggestions.is_empty();
        found
    }

    fn advice(&self) -> Vec<String> {
        let lines = &self.state_markers.summary.by_action;
        let advice = [
            (lines.move_to_todo, "open lines", "make todos of them, or give the reason why they stay"),
            (lines.rewrite_as_current_rule, "lines that tell what was done", "say what holds now"),
            (
                self.procedure_contamination.summary.sections_flagged,
                "sections that are procedures",
                "they belong to the agent's skills",
            ),
            (self.heading_families.len(), "subjects told several times", "make one section of each"),
            (usize::from(self.size.oversized), "files over 4 KiB", "split it or say it shorter"),
        ];
        let told = advice.into_iter().filter(|(count, ..)| *count > 0);
        told.map(|(count, what, advice)| format!("{what}: {count}; {advice}")).collect()
    }
}

impl Procedures {
    fn of(path: &VaultPath, mut found: Vec<Procedure>) -> Self {
        found.sort_by(|a, b| b.decision.score.total_cmp(&a.decision.score).then(a.line.cmp(&b.line)));
        let findings = found.iter().take(LISTED).map(|procedure| ProcedureFinding::of(path, procedure));
        Self {
            summary: ProcedureCount { sections_flagged: found.len(), score_floor: PROCEDURE_SCORE },
            findings: findings.collect(),
            truncated: found.len() > LISTED,
        }
    }
}

impl ProcedureFinding {
    fn of(path: &VaultPath, procedure: &Procedure) -> Self {
        let decision = &procedure.decision;
        Self {
            file: path.to_string(),
            domain: path.domain().to_owned(),
            heading: shown(&procedure.heading),
            line: procedure.line,
            surface: decision.route.as_str(),
            ownership: decision.route.ownership().as_str(),
            score: decision.score,
            confidence_basis: decision.basis.as_str(),
            signals: decision.deciding().map(|signal| signal.name.clone()).collect(),
            suggested_action: TO_SKILL,
            framework_can_apply: false,
        }
    }
}

fn families(text: &str) -> Vec<Family> {
    let found = heading_families(text).into_iter().take(LISTED);
    let told = found.map(|family| Family {
        count: family.headings.len(),
        headings: family.headings.iter().take(LISTED).map(|heading| shown(heading)).collect(),
        skeleton: family.skeleton,
    });
    told.collect()
}
