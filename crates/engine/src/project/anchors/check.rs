//! `project_check`: the memories whose code has changed, as a report that a build can fail on.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::{files::write_atomic, ledger::MemoryRow};

use super::{Anchor, AnchorView, CODE, Code, Freshness, pins};
use crate::{
    engine::Engine,
    error::Error,
    memory::reference::sees_scope,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    paths,
    project::branches::no_project,
    render::{Document, Mark, Render, counted, shortened},
    vcs::Fault,
};

/// See the module.
pub struct Check;

/// Characters of a memory's words that are shown.
const SHOWN: usize = 160;

/// What to compare.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Only what a change invalidates, as BASE..HEAD: commits, branches or tags. Default: what has changed since each was pinned.
    pub diff: Option<String>,
    /// Let drifted code pass; only code that is gone counts. Default false.
    pub gone_only: Option<bool>,
    /// Also write the findings as SARIF 2.1.0 into this file.
    pub sarif: Option<String>,
    /// Also write the findings as Markdown into this file.
    pub markdown: Option<String>,
}

/// What was found.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Memories with pins that were looked at.
    pub checked: usize,
    /// The commit that was compared from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The commit that was compared to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// What no longer stands as it was pinned, by path.
    pub findings: Vec<Finding>,
    /// Files that were written.
    #[serde(skip_serializing_if = "is_default")]
    pub written: Vec<String>,
}

/// A memory whose code has changed.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// The memory.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// Its headline, or the beginning of its text.
    pub title: String,
    /// What became of the code.
    #[serde(flatten)]
    pub code: AnchorView,
    /// Its lines as they are now; `None` where its file is gone.
    #[serde(skip)]
    pub lines: Option<RangeInclusive<usize>>,
}

impl Operation for Check {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "project_check",
        cli: &["project", "check"],
        positional: &[],
        title: "Check memories against the code",
        about: "Lists the memories of this project whose pinned code has drifted or is gone, or with `diff` only those that a \
                change invalidates. The command ends with 1 when there are any, for use in a build; `sarif` and `markdown` \
                write reports. Use it after a change: say of each memory that it no longer holds (`mark_stale`) or still \
                does (`project_pin`).",
        effect: Effect::Files,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let code = Code::of(engine, call).ok_or_else(no_project)?;
        let pinned = pinned(engine, call)?;
        let mut response = Response {
            checked: pinned.len(),
            base: None,
            head: None,
            findings: Vec::new(),
            written: Vec::new(),
        };
        let found = match request.diff.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            None => compare(code, None, &pinned),
            Some(range) => {
                let (base, head) = ends(&code, range)?;
                let before = Code::of(engine, call).ok_or_else(no_project)?.at(&base);
                let found = compare(code.at(&head), Some(before), &pinned);
                (response.base, response.head) = (Some(base), Some(head));
                found
            }
        };
        let least = if request.gone_only.unwrap_or(false) { Freshness::Gone } else { Freshness::Drifted };
        response.findings = found.into_iter().filter(|finding| finding.code.state >= least).collect();
        response.findings.sort_by(|a, b| (&a.code.code, a.number).cmp(&(&b.code.code, b.number)));
        let reports = [
            ("sarif", &request.sarif, response.sarif().to_string()),
            ("markdown", &request.markdown, response.render().to_markdown()),
        ];
        for (field, path, text) in reports {
            let Some(path) = path.as_deref().filter(|path| !path.trim().is_empty()) else { continue };
            let path = paths::writable(engine, call, field, path)?;
            write_atomic(&path, text.as_bytes())?;
            response.written.push(path.display().to_string());
        }
        Ok(response)
    }
}

/// The live memories that the caller sees here and that have pins.
fn pinned(engine: &Engine, call: &Call<'_>) -> Result<Vec<(MemoryRow, Vec<Anchor>)>, Error> {
    let found = engine.read(call, |r| {
        let numbers = r.memories_resting_on(CODE)?;
        Ok((r.memories_by_numbers(&numbers)?, r.evidence_of(&numbers)?))
    })?;
    let (rows, mut evidence) = found;
    let mut pinned = Vec::new();
    for row in rows {
        let here = row.scope.project == call.scope.project && call.scope.sees(&row.scope);
        if !here || !sees_scope(call, &row.scope) || !row.state.status.is_live() {
            continue;
        }
        let anchors = pins(&evidence.remove(&row.number).unwrap_or_default());
        pinned.push((row, anchors));
    }
    Ok(pinned)
}

/// What stands otherwise than it was pinned; with `before`, otherwise than it stood then.
fn compare(mut code: Code, mut before: Option<Code>, pinned: &[(MemoryRow, Vec<Anchor>)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (row, anchors) in pinned {
        for anchor in anchors {
            let Some(view) = code.look(anchor) else { continue };
            // Before it was pinned it was as it was then.
            let before = before.as_mut().filter(|before| !before.is_older_than(anchor));
            let was = before.and_then(|before| before.look(anchor)).map(|view| view.state);
            if view.state == Freshness::Fresh || was.is_some_and(|was| was >= view.state) {
                continue;
            }
            let title = if row.title.is_empty() { &row.body } else { &row.title };
            let title = shortened(title, SHOWN);
            let lines = code.lines_of(&view);
            findings.push(Finding { id: row.id.clone(), number: row.number, title, code: view, lines });
        }
    }
    findings
}

/// The commits that a range names.
fn ends(code: &Code, range: &str) -> Result<(String, String), Error> {
    let wrong = |what: &str| {
        Error::argument(
            "diff",
            format!("`{range}`: {what}"),
            "send two commits, branches or tags as BASE..HEAD",
        )
    };
    let (base, head) = range.split_once("..").ok_or_else(|| wrong("is no range"))?;
    let head = head.trim_start_matches('.');
    let git = code.git().ok_or(Fault::None)?;
    let commit = |name: &str| {
        let name = if name.is_empty() { "HEAD" } else { name };
        git.repository.resolve(name).map_err(|_| wrong(&format!("there is no commit `{name}`")))
    };
    Ok((commit(base)?, commit(head)?))
}

impl Render for Response {
    /// A build that runs this is to fail on it.
    fn is_alarming(&self) -> bool {
        !self.findings.is_empty()
    }

    fn render(&self) -> Document {
        let checked = counted(self.checked, "memory");
        let mut document = Document::new();
        if self.checked == 0 {
            // A build that looks into the wrong store is not to pass without a word.
            let said = "no memory in this store is pinned to this project's code; `project_pin` pins one";
            document = document.note(Mark::Info, said);
        } else if self.findings.is_empty() {
            document =
                document.note(Mark::Good, format!("the code stands as pinned, among {checked} with pins"));
        } else {
            let columns = ["code", "state", "now", "memory", "says"];
            let row = |finding: &Finding| {
                let AnchorView { code, state, now, .. } = &finding.code;
                let memory = format!("#{} {}", finding.number, finding.id);
                let now = now.clone().unwrap_or_default();
                vec![code.clone(), state.as_str().to_owned(), now, memory, finding.title.clone()]
            };
            let rows = self.findings.iter().map(row).collect();
            let many = counted(self.findings.len(), "pin");
            document = document
                .note(Mark::Warning, format!("{many} changed, among {checked} with pins"))
                .with_stored_table(&columns, rows)
                .note(
                    Mark::Info,
                    "say of each with `mark_stale` that it no longer holds, with `project_pin` that it does, or \
                     correct it with `strata update`",
                );
        }
        self.written
            .iter()
            .fold(document, |document, path| document.note(Mark::Info, format!("written: {path}")))
    }
}
