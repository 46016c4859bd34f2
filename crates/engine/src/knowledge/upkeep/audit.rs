//! `audit_rot`: what decays in the knowledge.

use jiff::{civil::Date, tz::TimeZone};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    knowledge::{
        inject::without_provenance,
        part::{self, parts},
        rot::{self, Part, Rot},
    },
    time::Timestamp,
};

use super::{
    Survey, Trouble,
    promotion::{self, Candidate},
    recorded, shown,
};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{
        files::Readable,
        room::{REPLY, keep_fitting},
    },
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    render::{Document, Mark, Record, Render, counted},
};

/// See the module.
pub struct AuditRot;

/// Findings of one sort that are listed.
const LISTED: usize = 50;

/// Nothing.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {}

/// What decays.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// 0 to 100.
    pub health_score: u32,
    /// Files.
    pub total_files: usize,
    /// Sections of level 2 and 3.
    pub total_sections: usize,
    /// What was found, at most fifty of a sort.
    pub findings: Findings,
    /// How many there are of each sort.
    pub summary: Summary,
    /// What to do.
    pub recommendations: Vec<String>,
    /// How many findings are not listed.
    #[serde(skip_serializing_if = "is_default")]
    pub findings_left_out: usize,
    /// What could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Trouble>,
}

/// What was found.
#[derive(Debug, Default, Serialize)]
pub struct Findings {
    /// Sections that grew too large.
    pub oversized: Vec<Oversized>,
    /// Headings whose words ran together.
    pub garbled_heading: Vec<Place>,
    /// Something is open and its date has passed.
    pub stale: Vec<Place>,
    /// The same in two files.
    pub cross_file_duplicate: Vec<Pair>,
    /// The same twice in a file.
    pub same_file_duplicate: Vec<Pair>,
    /// Topics that deserve a file of their own.
    pub promotion_candidates: Vec<Candidate>,
}

/// A section.
#[derive(Debug, Clone, Serialize)]
pub struct Place {
    /// Its file.
    pub file: String,
    /// Its heading.
    pub heading: String,
    /// The line of the heading, counted from 1.
    pub line: usize,
}

/// A section and its size.
#[derive(Debug, Serialize)]
pub struct Oversized {
    /// Which.
    #[serde(flatten)]
    pub place: Place,
    /// Bytes of its text.
    pub size_bytes: usize,
}

/// Two sections that say the same.
#[derive(Debug, Serialize)]
pub struct Pair {
    /// The file of the first.
    pub file_a: String,
    /// The first.
    pub heading_a: String,
    /// The file of the second.
    pub file_b: String,
    /// The second.
    pub heading_b: String,
}

/// How many there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Sections that grew too large.
    pub oversized: usize,
    /// Headings whose words ran together.
    pub garbled_heading: usize,
    /// Open, and past the date.
    pub stale: usize,
    /// The same in two files.
    pub cross_file_duplicate: usize,
    /// The same twice in a file.
    pub same_file_duplicate: usize,
    /// Topics for a file of their own.
    pub promotion_candidates: usize,
}

impl Operation for AuditRot {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "audit_rot",
        cli: &["knowledge", "audit"],
        positional: &[],
        title: "Find what decays in the knowledge",
        about: "Finds oversized, stale and duplicate sections, bad headings and topics for a file of their own. Score 0 to 100.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const OLDER_TOOLS: &'static [&'static str] = &["audit_rot_tool"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, _: Request) -> Result<Response, Error> {
        let survey = Survey::of(engine, call)?;
        let audit = Audit::of(engine, call, &survey.files, None)?;
        let (mut findings, mut errors) = (audit.findings(), survey.problems);
        keep_fitting(&mut errors, REPLY / 10);
        findings.fit(REPLY * 4 / 5);
        let summary = audit.summary();
        Ok(Response {
            success: true,
            health_score: audit.score(),
            total_files: survey.files.len(),
            total_sections: audit.sections.len(),
            findings_left_out: summary.total() - findings.summary().total(),
            recommendations: summary.recommendations(),
            findings,
            summary,
            errors,
        })
    }
}

/// The sections of files and what was found in them.
pub(super) struct Audit {
    sections: Vec<Section>,
    rot: Rot,
    candidates: Vec<Candidate>,
}

struct Section {
    file: String,
    heading: String,
    line: usize,
    bytes: usize,
}

impl Audit {
    /// Looks at all files; with `only`, says what concerns that one.
    pub(super) fn of(
        engine: &Engine,
        call: &Call<'_>,
        files: &[Readable],
        only: Option<&str>,
    ) -> Result<Self, Error> {
        let paths: Vec<String> = files.iter().map(|file| file.head.path.to_string()).collect();
        let split: Vec<(&str, part::Part<'_>)> = files
            .iter()
            .zip(&paths)
            .flat_map(|(file, path)| {
                parts(file.file.text()).into_iter().map(move |part| (path.as_str(), part))
            })
            .collect();
        // Sections of one agent are not alike because it signed them.
        let bodies: Vec<_> = split.iter().map(|(_, part)| without_provenance(part.body)).collect();
        let looked_at: Vec<Part<'_>> = split
            .iter()
            .zip(&bodies)
            .map(|((file, part), body)| Part { file, heading: &part.heading, body })
            .collect();
        let (states, _) = engine.states();
        let mut rot = rot::audit(&looked_at, today(engine.clock().now()), states);
        let mut candidates = promotion::watched(engine, call, files)?;
        if let Some(only) = only {
            concern(&mut rot, &looked_at, only);
            let domain = files.iter().find(|file| file.head.path.to_string() == only);
            candidates.retain(|one| domain.is_some_and(|file| file.head.domain() == one.watch_domain));
        }
        let sections = split
            .iter()
            .map(|(file, part)| Section {
                file: (*file).to_owned(),
                heading: shown(&part.heading),
                line: part.line,
                bytes: part.body.len(),
            })
            .collect();
        Ok(Self { sections, rot, candidates })
    }

    pub(super) fn score(&self) -> u32 {
        self.rot.score(self.candidates.len())
    }

    pub(super) fn summary(&self) -> Summary {
        Summary {
            oversized: self.rot.oversized.len(),
            garbled_heading: self.rot.garbled.len(),
            stale: self.rot.stale.len(),
            cross_file_duplicate: self.rot.across_files.len(),
            same_file_duplicate: self.rot.within_file.len(),
            promotion_candidates: self.candidates.len(),
        }
    }

    fn findings(&self) -> Findings {
        let place = |at: &usize| {
            let Section { file, heading, line, .. } = &self.sections[*at];
            Place { file: file.clone(), heading: heading.clone(), line: *line }
        };
        let pair = |(a, b): &(usize, usize)| {
            let (a, b) = (place(a), place(b));
            Pair { file_a: a.file, heading_a: a.heading, file_b: b.file, heading_b: b.heading }
        };
        let oversized = |at: &usize| Oversized { place: place(at), size_bytes: self.sections[*at].bytes };
        Findings {
            oversized: self.rot.oversized.iter().take(LISTED).map(oversized).collect(),
            garbled_heading: self.rot.garbled.iter().take(LISTED).map(place).collect(),
            stale: self.rot.stale.iter().take(LISTED).map(place).collect(),
            cross_file_duplicate: self.rot.across_files.iter().take(LISTED).map(pair).collect(),
            same_file_duplicate: self.rot.within_file.iter().take(LISTED).map(pair).collect(),
            promotion_candidates: self.candidates.iter().take(LISTED).cloned().collect(),
        }
    }
}

/// The day in UTC.
fn today(now: Timestamp) -> Date {
    TimeZone::UTC.to_datetime(now.to_jiff().unwrap_or_default()).date()
}

/// Leaves what concerns one file.
fn concern(rot: &mut Rot, parts: &[Part<'_>], file: &str) {
    let is_of = |at: &usize| parts[*at].file == file;
    for list in [&mut rot.oversized, &mut rot.garbled, &mut rot.stale] {
        list.retain(is_of);
    }
    for pairs in [&mut rot.across_files, &mut rot.within_file] {
        pairs.retain(|(a, b)| is_of(a) || is_of(b));
    }
    let excess = |at: &usize| parts[*at].body.len().saturating_sub(strata_core::knowledge::health::LARGE);
    rot.excess = rot.oversized.iter().map(excess).sum();
}

impl Findings {
    /// Leaves what fits into `most` characters of JSON.
    fn fit(&mut self, most: usize) {
        let share = most / 6;
        keep_fitting(&mut self.oversized, share);
        keep_fitting(&mut self.garbled_heading, share);
        keep_fitting(&mut self.stale, share);
        keep_fitting(&mut self.cross_file_duplicate, share);
        keep_fitting(&mut self.same_file_duplicate, share);
        keep_fitting(&mut self.promotion_candidates, share);
    }

    fn summary(&self) -> Summary {
        Summary {
            oversized: self.oversized.len(),
            garbled_heading: self.garbled_heading.len(),
            stale: self.stale.len(),
            cross_file_duplicate: self.cross_file_duplicate.len(),
            same_file_duplicate: self.same_file_duplicate.len(),
            promotion_candidates: self.promotion_candidates.len(),
        }
    }
}

impl Summary {
    fn each(&self) -> [(usize, &'static str, &'static str); 6] {
        [
            (self.oversized, "sections over 4 KiB", "split them"),
            (self.garbled_heading, "headings whose words ran together", "`rename_section` gives them words"),
            (self.stale, "open lines past their date", "say what holds now, or make todos of them"),
            (self.cross_file_duplicate, "sections that another file has too", "keep one and link to it"),
            (self.same_file_duplicate, "sections that their file has twice", "make one of them"),
            (
                self.promotion_candidates,
                "topics that grew in a file for anything",
                "`move_section` gives them their own",
            ),
        ]
    }

    fn total(&self) -> usize {
        self.each().iter().map(|(count, ..)| count).sum()
    }

    fn recommendations(&self) -> Vec<String> {
        let found = self.each().into_iter().filter(|(count, ..)| *count > 0);
        found.map(|(count, what, todo)| format!("{what}: {count}; {todo}")).collect()
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let said = format!(
            "health {} of 100: {} in {}",
            self.health_score,
            counted(self.total_sections, "section"),
            counted(self.total_files, "file")
        );
        let mut document = recorded(self.findings.records()).note(Mark::Info, said);
        for recommendation in &self.recommendations {
            document = document.note(Mark::Warning, recommendation.clone());
        }
        for trouble in &self.errors {
            document = document.note(Mark::Warning, format!("{}: {}", trouble.file, trouble.error));
        }
        document
    }
}

impl Findings {
    fn records(&self) -> Vec<Record> {
        let oversized = self.oversized.iter().map(|one| one.place.record("oversized"));
        let garbled = self.garbled_heading.iter().map(|place| place.record("garbled heading"));
        let stale = self.stale.iter().map(|place| place.record("stale"));
        let pairs = self.cross_file_duplicate.iter().chain(&self.same_file_duplicate);
        oversized.chain(garbled).chain(stale).chain(pairs.map(Pair::record)).collect()
    }
}

impl Place {
    fn record(&self, what: &str) -> Record {
        let id = format!("{}:{}", self.file, self.line);
        Record { id, attributes: vec![what.to_owned()], title: None, text: self.heading.clone() }
    }
}

impl Pair {
    fn record(&self) -> Record {
        let attributes = vec![format!("the same as in {}", self.file_a), self.heading_a.clone()];
        Record { id: self.file_b.clone(), attributes, title: None, text: self.heading_b.clone() }
    }
}
