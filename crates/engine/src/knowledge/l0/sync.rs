//! `sync_l0_index`: brings the index of knowledge up to date.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::knowledge::{
    l0::{self, Difference, Entry, Format, Rendered, TAG},
    name::{Name, stem},
};

use super::{
    IndexFile, build, build_known,
    events::{self, Turnover},
    file, manage, sync_each,
};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{
        room::{REPLY, fitting_names, sendable_lines},
        vault,
    },
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render, counted},
};

/// See the module.
pub struct SyncL0Index;

/// The tool that the changelog names.
const TOOL: &str = "sync_l0_index";

/// Characters that the names of either list may have: every write tells of them.
const NAMES: usize = REPLY / 10;

/// How.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Default: as configured.
    pub format: Option<FormatName>,
    /// Only show what would be written.
    pub dry_run: Option<bool>,
}

/// How the lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FormatName {
    /// `[L0] domain: title — words → knowledge/domain.md`
    Hermes,
    /// `[domain.md] title → words`
    Generic,
}

impl FormatName {
    /// The format, with the configured tag.
    fn format(self, configured: &Format) -> Format {
        match (self, configured) {
            (Self::Generic, _) => Format::Generic,
            (Self::Hermes, Format::Hermes(tag)) => Format::Hermes(tag.clone()),
            (Self::Hermes, Format::Generic) => Format::Hermes(TAG.to_owned()),
        }
    }
}

/// The word for a format.
pub(super) const fn word(format: &Format) -> &'static str {
    match format {
        Format::Hermes(_) => "hermes",
        Format::Generic => "generic",
    }
}

/// What was done to an index.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// Whether the index is up to date now.
    pub success: bool,
    /// Its file; none where it is made whenever it is read.
    pub l0_file: Option<String>,
    /// `hermes` or `generic`.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub l0_format: &'static str,
    /// Files of the vault.
    pub l1_files_found: usize,
    /// Entries that were not there.
    pub entries_added: usize,
    /// Entries that are not there any more.
    pub entries_removed: usize,
    /// Entries that stay, whatever they say now.
    pub entries_unchanged: usize,
    /// Of them, those that say something else now.
    pub entries_changed: usize,
    /// Lines of the index.
    pub total_entries: usize,
    /// Entries that did not fit.
    pub left_out: usize,
    /// Which were added, as many as have room.
    pub added: Vec<String>,
    /// Which were removed, as many as have room.
    pub removed: Vec<String>,
    /// Bytes of the file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_written: Option<usize>,
    /// Why nothing was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What would be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Report {
    /// Nothing was done, and why.
    pub(super) fn note(why: &str) -> Self {
        Self { note: Some(why.to_owned()), ..Self::default() }
    }

    /// Brings the file to its new text, where there is one and it has another, and tells which it was.
    fn write(&mut self, file: Option<&IndexFile>, text: &str) -> Result<(), Error> {
        match file {
            None => self.note = Some("the index is made whenever it is read; there is no file".into()),
            Some(file) if file.text.as_deref() == Some(text) => {
                self.note = Some("the file was up to date".into());
            }
            Some(file) => {
                file.replace(text)?;
                self.bytes_written = Some(text.len());
            }
        }
        Ok(())
    }

    /// It could not be done.
    pub(super) fn failed(error: &Error) -> Self {
        Self { error: Some(format!("{error}; {}", error.hint())), ..Self::default() }
    }
}

/// How an index is to be synced.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// The format, where it is not the configured one.
    pub(super) format: Option<Format>,
    /// Look only.
    pub(super) dry_run: bool,
    /// Take over lines that somebody wrote into the file.
    pub(super) adopt: bool,
    /// Whether entries may have come or gone without the file telling.
    pub(super) set_may_differ: bool,
    /// Whether the caller has just looked at the folder.
    pub(super) has_looked: bool,
    /// The tool that the changelog names.
    pub(super) tool: &'static str,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            format: None,
            dry_run: false,
            adopt: true,
            set_may_differ: false,
            has_looked: false,
            tool: TOOL,
        }
    }
}

impl Operation for SyncL0Index {
    type Request = Request;
    type Response = Report;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: TOOL,
        cli: &["l0", "sync"],
        positional: &[],
        title: "Bring the index of knowledge up to date",
        about: "Writes the index of knowledge anew from the files. Every write does it; use this after edits by hand.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const OLDER_TOOLS: &'static [&'static str] = &["sync_l0_index_tool"];
    const EXPLAINED: &'static [&'static str] = &["format"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Report, Error> {
        let configured = engine.settings().config.knowledge.l0.line_format();
        let format = request.format.map(|name| name.format(&configured));
        let dry_run = request.dry_run.unwrap_or(false);
        let wanted = Wanted { format: format.clone(), dry_run, set_may_differ: true, ..Wanted::default() };
        let own = vault::own_namespace(engine, call)?;
        let mut report = sync_each(engine, call, vec![own.clone()], &wanted, &own)?;
        if format.is_some_and(|format| format != configured) && !dry_run && report.bytes_written.is_some() {
            let word = word(&configured);
            report.note = Some(format!(
                "the next write goes back to {word}: `knowledge.l0.format` in config.toml is that"
            ));
        }
        Ok(report)
    }
}

/// Brings the index of a namespace up to date, while no other process does.
pub(super) fn sync(
    engine: &Engine,
    call: &Call<'_>,
    namespace: &Name,
    wanted: &Wanted,
) -> Result<Report, Error> {
    let config = &engine.settings().config.knowledge.l0;
    let format = wanted.format.clone().unwrap_or_else(|| config.line_format());
    let _lock = if wanted.dry_run { None } else { file::lock(engine, call, namespace)? };
    let file = IndexFile::read(engine, namespace)?;
    let build = if wanted.has_looked { build_known } else { build };
    let mut index = build(engine, call, namespace)?;
    let old_text = file.as_ref().and_then(|file| file.text.as_deref());
    let read = |text: &str| engine.index_entries().lines(text, &format);
    let old = old_text.map(read);
    if let (Some(file), Some(old), true) = (&file, &old, wanted.adopt && !wanted.dry_run)
        && manage::adopt(engine, call, &index, old, &file.path)?
    {
        index = build(engine, call, namespace)?;
    }
    let rendered = index.render(engine, call, &format, config.budget_bytes)?;
    // Where there is no file to compare with, the changelog tells what came and went.
    let found = old.as_ref().map(|old| l0::difference(old, &read(&rendered.text)));
    let differs = found.as_ref().is_some_and(|found| !found.added.is_empty() || !found.removed.is_empty());
    let turnover = if differs || wanted.set_may_differ {
        events::turnover(engine, call, &index)?
    } else {
        Turnover::default()
    };
    let mut report = Report {
        l0_file: file.as_ref().map(|file| file.path.display().to_string()),
        l0_format: word(&format),
        l1_files_found: index.files,
        ..told(&index.entries, &rendered, found, &turnover, old_text)
    };
    if wanted.dry_run {
        report.preview = Some(sendable_lines(call, &rendered.text).0.to_owned());
        return Ok(report);
    }
    report.write(file.as_ref(), &rendered.text)?;
    events::record(engine, call, &index, &turnover, wanted.tool)?;
    Ok(report)
}

/// The figures of a report. Lines that a small budget let in or kept out neither came nor went.
fn told(
    entries: &[Entry],
    rendered: &Rendered,
    found: Option<Difference>,
    turnover: &Turnover,
    old_text: Option<&str>,
) -> Report {
    let is_cut = rendered.left_out > 0 || old_text.is_some_and(|text| l0::left_out(text) > 0);
    let changed = found.as_ref().map_or(0, |found| found.changed.len());
    let (added, removed) = match found {
        Some(found) if !is_cut => (found.added, found.removed),
        _ => (turnover.added.clone(), turnover.removed.clone()),
    };
    let domains = |paths: &[String]| {
        let domains: Vec<_> = paths.iter().map(|path| stem(path).to_owned()).collect();
        fitting_names(&domains, NAMES).0.to_vec()
    };
    Report {
        success: true,
        entries_added: added.len(),
        entries_removed: removed.len(),
        entries_unchanged: entries.len().saturating_sub(added.len()),
        entries_changed: changed,
        total_entries: entries.len() - rendered.left_out,
        left_out: rendered.left_out,
        added: domains(&added),
        removed: domains(&removed),
        ..Report::default()
    }
}

impl Render for Report {
    fn is_alarming(&self) -> bool {
        !self.success
    }

    fn render(&self) -> Document {
        let place = self.l0_file.as_deref().unwrap_or("the index");
        let entries = counted(self.total_entries, "entry");
        let what = match (&self.bytes_written, &self.preview) {
            (Some(bytes), _) => format!("wrote {place}: {entries}, {bytes} bytes"),
            (None, Some(_)) => format!("would hold {entries}"),
            (None, None) => format!("{place}: {entries}"),
        };
        let mut document = match &self.preview {
            Some(preview) => Document::new().text(preview.clone()),
            None => Document::new(),
        };
        document = document.note(Mark::Good, what);
        for (verb, which) in [("added", &self.added), ("removed", &self.removed)] {
            if !which.is_empty() {
                document = document.note(Mark::Info, format!("{verb}: {}", which.join(", ")));
            }
        }
        match &self.note {
            Some(note) => document.note(Mark::Info, note.clone()),
            None => document,
        }
    }
}
