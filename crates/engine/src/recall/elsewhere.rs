//! Where hits are when there are none here.

use serde::Serialize;
use strata_core::{
    principal::PrincipalKind,
    scope::{SHARED, Scope},
};

use super::search::{Query, search};
use crate::{engine::Engine, error::Error, operation::Call, render::counted};

/// Where else something was found. Never what: that would carry one project's text into another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Elsewhere {
    /// Hits here without the filters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_filters: Option<usize>,
    /// Projects with hits, for people only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<String>,
}

/// Most projects looked into.
const MAX_PROJECTS: usize = 20;
/// Hits counted per place.
const COUNTED: usize = 10;

/// Looks without the filters, and, for a person, into the other projects.
pub fn look(
    engine: &Engine,
    call: &Call<'_>,
    query: &Query,
    is_filtered: bool,
) -> Result<Option<Elsewhere>, Error> {
    let plain = |scope: &Scope| Query::new(&query.text, scope, COUNTED);
    if is_filtered {
        let hits = search(engine, call, &plain(call.scope))?.hits.len();
        let found = (hits > 0).then_some(Elsewhere { without_filters: Some(hits), projects: Vec::new() });
        return Ok(found);
    }
    if call.principal.kind != PrincipalKind::Human {
        return Ok(None);
    }
    let known = engine.read(call, |r| r.memory_counts())?;
    let mut others: Vec<String> = known
        .into_iter()
        .filter(|c| c.scope.namespace == SHARED)
        .filter_map(|c| c.scope.project)
        .filter(|p| Some(p) != call.scope.project.as_ref())
        .collect();
    others.sort_unstable();
    others.dedup();
    let mut projects = Vec::new();
    for project in others.into_iter().take(MAX_PROJECTS) {
        if !search(engine, call, &plain(&Scope::project(&project)))?.hits.is_empty() {
            projects.push(project);
        }
    }
    Ok((!projects.is_empty()).then_some(Elsewhere { without_filters: None, projects }))
}

impl Elsewhere {
    /// What to tell the reader.
    pub fn sentence(&self) -> String {
        match self.without_filters {
            Some(n) => format!("without the filters: {}; loosen them", counted(n, "hit")),
            None => format!("there are hits in: {}; pass --project to look there", self.projects.join(", ")),
        }
    }
}
