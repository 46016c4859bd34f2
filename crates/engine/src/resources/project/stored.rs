//! The documents of a project that show what is stored: it stands between the tags that say that it is data.

use strata_core::memory::{Kind, Layer, Status};
use strata_store::ledger::{MemoryFilter, MemoryRow};

use crate::{
    engine::Engine,
    error::Error,
    operation::Call,
    project::{
        anchors::pins::Pins,
        files::{follow::Place, kind::HUMAN_FILES},
        layout::human,
        node::{branch_scope, title, wire_kind},
        retrieve::tree,
    },
    render::{Trust, fenced, neutral, one_line, shortened},
};

/// Memories that are read to choose from.
const READ: usize = 5000;
/// Characters of a memory's text in a list.
const TEXT: usize = 1200;

pub(super) fn constraints(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let mut rows = of_kinds(engine, call, &["constraint", "rule"])?;
    rows.truncate(20);
    let code = Pins::of(engine, call, rows.iter())?;
    let told = |row: &&MemoryRow| section(row, Some(row.state.layer.to_string()), &code);
    // What is in the two layers above was put there by a person.
    let is_approved = |row: &&MemoryRow| matches!(row.state.layer, Layer::P0 | Layer::P1);
    let approved: Vec<String> = rows.iter().filter(is_approved).map(|row| told(&row)).collect();
    let mut others: Vec<String> = rows.iter().filter(|row| !is_approved(row)).map(|row| told(&row)).collect();
    others.extend(written(engine, call)?);
    let stored = [fenced(Trust::Approved, &approved.join("\n")), fenced(Trust::Data, &others.join("\n"))];
    Ok(document("Project Constraints", &stored, ("Constraints", "No constraints stored yet.")))
}

/// What people wrote as constraints and rules for the project, each file under its name with how it counts.
fn written(engine: &Engine, call: &Call<'_>) -> Result<Vec<String>, Error> {
    let Some(place) = Place::of(engine, call)? else { return Ok(Vec::new()) };
    let files = HUMAN_FILES.iter().filter(|path| !path.ends_with("decisions.md"));
    let told = files.filter_map(|path| {
        let file = place.gate.read(path).ok().filter(|file| !file.text.trim().is_empty())?;
        let word = human::word_of(engine, call, path, &file.hash).in_words();
        Some(format!("## {path}  [{word}]\n\n{}\n", file.text.trim()))
    });
    Ok(told.collect())
}

pub(super) fn architecture(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let mut rows = of_kinds(engine, call, &["architecture", "module"])?;
    rows.truncate(15);
    let code = Pins::of(engine, call, rows.iter())?;
    let told = |row: &MemoryRow| section(row, Some(row.kind.to_string()), &code);
    let sections: Vec<String> = rows.iter().map(told).collect();
    let stored = [fenced(Trust::Data, &sections.join("\n"))];
    Ok(document("Architecture Summaries", &stored, ("Architecture", "No architecture stored yet.")))
}

pub(super) fn incidents(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let mut rows = of_kinds(engine, call, &["incident", "fix"])?;
    rows.sort_by_key(|row| std::cmp::Reverse((row.state_seq, row.number)));
    rows.truncate(10);
    let code = Pins::of(engine, call, rows.iter())?;
    let told = |row: &MemoryRow| {
        let figures =
            format!("Confidence {:.2}, importance {:.2}", row.state.confidence, row.state.importance);
        let pins: String = code.in_words(row).map(|pin| format!(", {pin}")).collect();
        format!("## {}\n\n{figures}{pins}\n\n{}\n", one_line(&title(row)), shortened(&row.body, TEXT))
    };
    let sections: Vec<String> = rows.iter().map(told).collect();
    let stored = [fenced(Trust::Data, &sections.join("\n"))];
    Ok(document("Recent Incidents", &stored, ("Incidents", "No incidents stored yet.")))
}

pub(super) fn outline(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let mut rows = tree::outline(engine, call)?;
    let left = rows.len().saturating_sub(50);
    rows.truncate(50);
    let code = Pins::of(engine, call, rows.iter().map(|(row, _)| row))?;
    let more = if left == 0 { String::new() } else { format!("{left} more.") };
    let stored = [fenced(Trust::Data, &tree::text(&rows, &code)), more];
    Ok(document("Memory Tree", &stored, ("Memory Tree", "No memories stored yet.")))
}

pub(super) fn branches(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let filter =
        MemoryFilter { visible_from: Some(call.scope.clone()), limit: READ, ..MemoryFilter::default() };
    let mut rows = engine.read(call, |r| r.memories(&filter))?;
    rows.retain(|row| row.scope.project == call.scope.project);
    rows.sort_by(|a, b| b.state.importance.total_cmp(&a.state.importance).then(a.number.cmp(&b.number)));
    let Some(branch) = &call.scope.branch else {
        let all: Vec<&MemoryRow> = rows.iter().take(30).collect();
        return Ok(format!("# Branch Memory Summary\n\n{}", of_branch(engine, call, &all)?));
    };
    let (mut own, mut others): (Vec<&MemoryRow>, Vec<&MemoryRow>) =
        rows.iter().partition(|row| row.scope.branch.as_ref() == Some(branch));
    own.truncate(20);
    others.truncate(20);
    let (own, others) = (of_branch(engine, call, &own)?, of_branch(engine, call, &others)?);
    let name = neutral(branch);
    Ok(format!(
        "# Branch Memory Summary: {name}\n\n## Branch {name}\n\n{own}\n## Global/Mainline\n\n{others}"
    ))
}

/// Memories by title, each with its branch, or how it follows branches.
fn of_branch(engine: &Engine, call: &Call<'_>, rows: &[&MemoryRow]) -> Result<String, Error> {
    if rows.is_empty() {
        return Ok("None.\n".to_owned());
    }
    let code = Pins::of(engine, call, rows.iter().copied())?;
    let line = |row: &&MemoryRow| {
        let place = row.scope.branch.as_deref().unwrap_or_else(|| branch_scope(row));
        let marks: Vec<String> = std::iter::once(place.to_owned()).chain(code.in_words(row)).collect();
        format!("- [{}] {} [{}]", wire_kind(&row.kind), one_line(&title(row)), marks.join(", "))
    };
    let lines: Vec<String> = rows.iter().map(line).collect();
    Ok(format!("{}\n", fenced(Trust::Data, &lines.join("\n"))))
}

/// The live memories of these kinds that the caller sees, weightiest first.
fn of_kinds(engine: &Engine, call: &Call<'_>, kinds: &[&str]) -> Result<Vec<MemoryRow>, Error> {
    let kinds = kinds.iter().map(|kind| Kind::parse(kind)).collect::<Result<_, _>>();
    let filter = MemoryFilter {
        visible_from: Some(call.scope.clone()),
        kinds: kinds.map_err(|error| Error::parse("kind", &error))?,
        statuses: vec![Status::Active, Status::Stale, Status::NeedsReview],
        limit: READ,
        ..MemoryFilter::default()
    };
    let mut rows = engine.read(call, |r| r.memories(&filter))?;
    rows.sort_by(|a, b| b.state.importance.total_cmp(&a.state.importance).then(a.number.cmp(&b.number)));
    Ok(rows)
}

/// A memory under its title, with what must be known of it; the text below stands on its own.
fn section(row: &MemoryRow, mark: Option<String>, code: &Pins) -> String {
    let disputed = (row.state.status != Status::Active).then(|| row.state.status.to_string());
    let marks: Vec<String> = mark.into_iter().chain(disputed).chain(code.in_words(row)).collect();
    let marks = if marks.is_empty() { String::new() } else { format!("  [{}]", marks.join(", ")) };
    format!("## {}{marks}\n\n{}\n", one_line(&title(row)), shortened(&row.body, TEXT))
}

/// A document: its heading in our words, then what is stored; `nothing` where that is not anything.
fn document(heading: &str, stored: &[String], (empty, nothing): (&str, &str)) -> String {
    match stored.iter().all(String::is_empty) {
        true => format!("# {empty}\n\n{nothing}\n"),
        false => {
            let stored: Vec<&str> =
                stored.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
            format!("# {heading}\n\n{}\n", stored.join("\n\n"))
        }
    }
}
