//! `reconcile_knowledge`: looks at the knowledge as a whole, by meaning. It writes nothing.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    knowledge::{
        name::stem,
        promotion::{MOST_PAIRS, nearest_pairs},
    },
    scope::SHARED,
};

use super::{
    Survey,
    promotion::{self, Candidate},
    shown,
    standing::vectors_are_whole,
};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{
        bands::{Calibration, in_force},
        files::Readable,
        room::{REPLY, keep_fitting},
        vault::{self, Place},
        vectors::{Embedded, MOST_SECTIONS, misfit},
    },
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Record, Render, counted, rounded},
};

/// See the module.
pub struct ReconcileKnowledge;

/// The checks, sorted.
const CHECKS: [&str; 4] = ["calibrate", "cross_dup", "split", "vector_health"];
/// All of them.
const ALL: &str = "all";

/// Which checks, on what.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Some of cross_dup, split, calibrate, vector_health. Default all.
    pub checks: Option<Vec<String>>,
    /// Cosine for cross_dup. Default as calibrated.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub dup_threshold: Option<f64>,
    /// Only these files.
    pub domains: Option<Vec<String>>,
}

/// What was found.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// The checks, sorted.
    pub ran: Vec<&'static str>,
    /// Sections of different files that are near in meaning, the nearest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cross_dup: Option<Vec<Pair>>,
    /// Topics for a file of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Vec<Candidate>>,
    /// Thresholds that would fit the files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibrate: Option<Calibration>,
    /// Whether every passage has its vector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector_health: Option<bool>,
    /// What was not looked at, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Two sections of different files.
#[derive(Debug, Serialize)]
pub struct Pair {
    /// The file of the first, without `.md`.
    pub domain_a: String,
    /// The first.
    pub section_a: String,
    /// The file of the second.
    pub domain_b: String,
    /// The second.
    pub section_b: String,
    /// Their cosine.
    pub similarity: f64,
    /// Where the second file lies: `namespace` or `shared`.
    pub scope_b: &'static str,
}

impl Operation for ReconcileKnowledge {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "reconcile_knowledge",
        cli: &["knowledge", "reconcile"],
        positional: &[],
        title: "Look at the knowledge as a whole",
        about: "Finds near duplicates across files, topics to split and thresholds that fit, by meaning. Writes nothing.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const OLDER_TOOLS: &'static [&'static str] = &["reconcile_knowledge_tool"];
    const EXPLAINED: &'static [&'static str] = &["checks"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let checks = chosen(request.checks.as_deref().unwrap_or_default())?;
        let only = asked(engine, call, request.domains.as_deref().unwrap_or_default())?;
        let mut files = Survey::of(engine, call)?.files;
        files.retain(|file| only.is_empty() || only.contains(&file.head.place()));
        let mut response =
            Response { success: true, ran: checks.iter().copied().collect(), ..Response::default() };
        if checks.contains("cross_dup") || checks.contains("calibrate") {
            by_meaning(engine, call, &files, &checks, request.dup_threshold, &mut response)?;
        }
        if checks.contains("split") {
            let all: Vec<&Readable> = files.iter().collect();
            let mut split = match only.is_empty() {
                true => promotion::watched(engine, call, &files)?,
                false => promotion::in_files(engine, call, &all)?,
            };
            keep_fitting(&mut split, REPLY / 3);
            response.split = Some(split);
        }
        if checks.contains("vector_health") {
            response.vector_health = Some(vectors_are_whole(engine)?);
        }
        Ok(response)
    }
}

fn chosen(words: &[String]) -> Result<BTreeSet<&'static str>, Error> {
    let words = words.iter().map(|word| word.trim()).filter(|word| !word.is_empty());
    let mut checks = BTreeSet::new();
    for word in words {
        match CHECKS.iter().find(|check| **check == word) {
            Some(check) => drop(checks.insert(*check)),
            None if word == ALL => checks.extend(CHECKS),
            None => {
                let message = format!("there is no check `{}`", crate::render::shortened(word, 60));
                return Err(Error::argument(
                    "checks",
                    message,
                    format!("use {ALL}, or {}", CHECKS.join(", ")),
                ));
            }
        }
    }
    if checks.is_empty() {
        checks.extend(CHECKS);
    }
    Ok(checks)
}

/// The places of the files that were asked for.
fn asked(engine: &Engine, call: &Call<'_>, domains: &[String]) -> Result<Vec<Place>, Error> {
    domains.iter().map(|name| vault::locate_existing(engine, call, "domains", name)).collect()
}

/// What takes the vectors of all sections.
fn by_meaning(
    engine: &Engine,
    call: &Call<'_>,
    files: &[Readable],
    checks: &BTreeSet<&'static str>,
    threshold: Option<f64>,
    response: &mut Response,
) -> Result<(), Error> {
    let embedded = Embedded::of(engine, call, files.iter().enumerate())?;
    let Some(embedded) = embedded else {
        response.notes.push("no model answers: nothing was compared by meaning".to_owned());
        response.cross_dup = checks.contains("cross_dup").then(Vec::new);
        let none = Calibration::none("no model answers");
        response.calibrate = checks.contains("calibrate").then_some(none);
        return Ok(());
    };
    if embedded.places.len() == MOST_SECTIONS {
        response.notes.push(format!("the first {MOST_SECTIONS} sections were looked at; name `domains`"));
    }
    if checks.contains("cross_dup") {
        let least = match threshold {
            Some(threshold) => threshold,
            None => in_force(engine, call)?.bands.fuse,
        };
        let mut pairs = pairs(files, &embedded, least)?;
        keep_fitting(&mut pairs, REPLY / 2);
        response.cross_dup = Some(pairs);
    }
    if checks.contains("calibrate") {
        let mut found = Calibration::of(&embedded)?;
        if found.calibrated {
            "`reindex_vector_store` makes them hold for writes".clone_into(&mut found.reason);
        }
        response.calibrate = Some(found);
    }
    Ok(())
}

fn pairs(files: &[Readable], embedded: &Embedded, least: f64) -> Result<Vec<Pair>, Error> {
    let groups: Vec<usize> = embedded.places.iter().map(|(file, _)| *file).collect();
    let found =
        nearest_pairs(&embedded.vectors(), &groups, least as f32, MOST_PAIRS).map_err(|e| misfit(&e))?;
    let named = |row: usize| {
        let (file, section) = embedded.places[row];
        let Readable { head, file } = &files[file];
        let path = head.path.to_string();
        let domain = stem(&path).to_owned();
        (head, domain, shown(&file.entries()[section].title))
    };
    Ok(found
        .into_iter()
        .map(|pair| {
            let ((_, domain_a, section_a), (head, domain_b, section_b)) = (named(pair.a), named(pair.b));
            let scope_b = if head.namespace.as_str() == SHARED { "shared" } else { "namespace" };
            let similarity = rounded(f64::from(pair.cosine).min(1.0), 4);
            Pair { domain_a, section_a, domain_b, section_b, similarity, scope_b }
        })
        .collect())
}

impl Render for Response {
    fn render(&self) -> Document {
        let pairs = self.cross_dup.iter().flatten().map(|pair| Record {
            id: pair.domain_a.clone(),
            attributes: vec![format!("cosine {}", pair.similarity), format!("near {}", pair.domain_b)],
            title: None,
            text: format!("{} / {}", pair.section_a, pair.section_b),
        });
        let topics = self.split.iter().flatten().map(|topic| Record {
            id: topic.watch_domain.clone(),
            attributes: vec![format!("could be {}", topic.suggested_domain)],
            title: None,
            text: topic.cluster_sections.join("; "),
        });
        let mut document = super::recorded(pairs.chain(topics).collect());
        if let Some(pairs) = &self.cross_dup {
            document =
                document.note(Mark::Info, format!("near each other: {}", counted(pairs.len(), "pair")));
        }
        if let Some(found) = &self.calibrate {
            let said = match (found.fuse, found.merge) {
                (Some(fuse), Some(merge)) => {
                    format!("thresholds: fuse {fuse}, merge {merge}; {}", found.reason)
                }
                _ => format!("no thresholds: {}", found.reason),
            };
            document = document.note(Mark::Info, said);
        }
        match self.vector_health {
            Some(true) => document = document.note(Mark::Good, "every passage has its vector"),
            Some(false) => document = document.note(Mark::Warning, "vectors are missing: `strata reembed`"),
            None => {}
        }
        self.notes.iter().fold(document, |document, note| document.note(Mark::Info, note.clone()))
    }
}
