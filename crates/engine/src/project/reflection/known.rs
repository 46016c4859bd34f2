//! The memories of a project that a new one is compared with.

use strata_core::{
    duplicate,
    memory::{Kind, Layer, Status},
    principal::PrincipalKind,
    project::{areas::Areas, likeness::Node, promotion::Known},
    scope::Scope,
};
use strata_store::{index::SourceKind, ledger::MemoryRow};

use crate::{
    engine::Engine,
    error::Error,
    operation::Call,
    recall::{
        item::Item,
        search::{Floor, Query, search},
    },
};

/// Kinds of memory that make up a project's tree.
pub const KINDS: [&str; 7] =
    ["architecture", "module", "incident", "decision", "procedure", "constraint", "outcome"];
/// The tag of a memory that sums up others.
pub const SUM: &str = "compacted";
/// Memories that share wording, and those that the search finds, which are compared.
const COMPARED: usize = 24;
/// Characters of a text that are searched with.
const SEARCHED: usize = 600;

/// The parts of a system where the same statement with another value is a matter for a person.
pub fn areas(engine: &Engine) -> Areas {
    Areas::configured(&engine.settings().config.project.memory.conflict_areas)
}

/// The kinds of a project's tree, as the store takes them.
pub fn kinds() -> Vec<Kind> {
    KINDS.into_iter().filter_map(|word| Kind::parse(word).ok()).collect()
}

/// The memories in force of the project and, on a branch, of that branch, that may say what a new one says. Nothing that
/// was replaced or put away is among them. What shares wording comes first.
///
/// # Errors
/// Those of the search.
pub fn like(
    engine: &Engine,
    call: &Call<'_>,
    scope: &Scope,
    (title, text): (&str, &str),
) -> Result<Vec<MemoryRow>, Error> {
    let bands: Vec<i64> = duplicate::bands(text).into_iter().map(u64::cast_signed).collect();
    let mut rows = engine.read(call, |r| {
        let hits = r.by_bands(&bands, scope, COMPARED)?;
        r.memories_by_numbers(&hits.iter().map(|hit| hit.number).collect::<Vec<_>>())
    })?;
    let asked: String = format!("{title}\n{text}").chars().take(SEARCHED).collect();
    let query = Query {
        kinds: kinds(),
        sources: vec![SourceKind::Memory],
        floor: Floor::Off,
        words_only: true,
        ..Query::new(&asked, scope, COMPARED)
    };
    for hit in search(engine, call, &query)?.hits {
        let Item::Memory(row) = hit.item else { continue };
        if rows.iter().all(|known| known.number != row.number) {
            rows.push(*row);
        }
    }
    rows.retain(|row| {
        row.state.status.is_live()
            && row.scope.namespace == scope.namespace
            && row.scope.project == scope.project
            && KINDS.contains(&row.kind.as_str())
    });
    Ok(rows)
}

/// A stored memory as it is compared with one that is written to `scope` by the caller.
pub fn compared<'r>(call: &Call<'_>, scope: &Scope, row: &'r MemoryRow) -> Known<'r> {
    Known { node: node(row), gives_way: gives_way(call, scope, row) }
}

/// A stored memory as far as it is compared.
pub fn node(row: &MemoryRow) -> Node<'_> {
    Node {
        kind: row.kind.as_str(),
        title: &row.title,
        text: &row.body,
        module_path: row.module_path.as_deref(),
        confidence: row.state.confidence,
    }
}

/// Whether a memory may be replaced by what the caller reports: it stands in the very same scope, is not disputed, not
/// pinned, of the layers that agents write, sums up nothing, and no person wrote it, unless a person reports.
fn gives_way(call: &Call<'_>, scope: &Scope, row: &MemoryRow) -> bool {
    let human = format!("{}:", PrincipalKind::Human.as_str());
    let mine = call.principal.kind == PrincipalKind::Human || !row.writer.starts_with(&human);
    let open = matches!(row.state.layer, Layer::P4 | Layer::P5 | Layer::P6);
    let undisputed = row.state.status != Status::NeedsReview;
    mine && open
        && undisputed
        && !row.state.pinned
        && row.scope == *scope
        && !row.tags.iter().any(|t| t == SUM)
}
