//! `plan_knowledge_cleanup`: what can be put in order. It only reads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::knowledge::cleanup::{self, Doubt, File, Marked, SafeFix, UserDecision};

use super::{Marker, Survey, Trouble, backups, recorded, shown, standing::standing};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::room::{REPLY, keep_fitting},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Record, Render, counted},
};

/// See the module.
pub struct PlanKnowledgeCleanup;

/// Items of a list when none are asked for.
const DEFAULT_ITEMS: u32 = 50;
/// Files or headings that one item names.
const NAMED: usize = 20;

/// How much.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Items of each list. Default 50.
    #[schemars(range(min = 1, max = 500))]
    pub max_items: Option<u32>,
}

/// The plan.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// Always true: nothing was changed.
    pub read_only: bool,
    /// How many there are of each.
    pub summary: Summary,
    /// What can be done at once.
    pub safe_auto_fixes: Vec<Fix>,
    /// What a person decides.
    pub needs_user_decision: Vec<Decision>,
    /// What stays as it is.
    pub must_not_auto_fix: Vec<Kept>,
    /// What the lists mean.
    pub policy: &'static str,
    /// Tools that tell more.
    pub see_also: [&'static str; 3],
    /// What to do next.
    pub how_to_apply: &'static str,
    /// What could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Trouble>,
}

/// How many there are, listed or not.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// What can be done at once.
    pub safe_auto_fixes: usize,
    /// What a person decides.
    pub needs_user_decision: usize,
    /// What stays.
    pub must_not_auto_fix: usize,
    /// Whether some are not listed.
    pub truncated: bool,
}

/// Something that loses nothing.
#[derive(Debug, Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Fix {
    /// Move copies of older programs out of the vault.
    MigrateLegacyBackups {
        /// How many.
        count: usize,
        /// Which, at most twenty.
        files: Vec<String>,
        /// Where to.
        destination: String,
    },
    /// Write the index anew.
    SyncL0Index {
        /// Files that it does not name, at most twenty.
        orphaned_l1: Vec<String>,
        /// Files that it names and that are gone, at most twenty.
        stale_l0_entries: Vec<String>,
    },
    /// Make vectors that are missing.
    ReindexVectorStore,
    /// Make a todo of an open line, which stays.
    CreateTodoFromMarker {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// Finds it again after it moved.
        line_hash: String,
        /// The domain.
        domain: String,
        /// The marker.
        marker: String,
        /// The heading it stands under.
        heading: String,
        /// Its beginning.
        text_preview: String,
        /// Always false.
        remove_source: bool,
    },
}

/// Something that a person decides.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Decision {
    /// An open line that does not become a todo by itself.
    MoveToTodo {
        /// The line.
        #[serde(flatten)]
        finding: Marker,
        /// Why not.
        reason: &'static str,
    },
    /// A line that says how something was resolved.
    RewriteAsCurrentRule {
        /// The line.
        #[serde(flatten)]
        finding: Marker,
    },
    /// One subject told several times.
    MergeHeadingFamily {
        /// The file.
        file: String,
        /// Its domain.
        domain: String,
        /// What the headings have in common.
        skeleton: String,
        /// How many headings.
        count: usize,
        /// The headings, at most twenty.
        headings: Vec<String>,
    },
    /// A file to be split.
    OversizedFile {
        /// The file.
        file: String,
        /// Its domain.
        domain: String,
        /// Its size.
        bytes: usize,
    },
}

/// Something that stays.
#[derive(Debug, Serialize)]
pub struct Kept {
    /// Always `keep_with_reason`.
    pub kind: &'static str,
    /// The line.
    #[serde(flatten)]
    pub finding: Marker,
}

impl Operation for PlanKnowledgeCleanup {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "plan_knowledge_cleanup",
        cli: &["knowledge", "plan"],
        positional: &[],
        title: "Plan what to put in order",
        about: "Plans a cleanup: what is safe to do, what a person decides, what stays. Changes nothing.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const OLDER_TOOLS: &'static [&'static str] = &["plan_knowledge_cleanup_tool"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let Survey { files, mut problems } = Survey::of(engine, call)?;
        let paths: Vec<String> = files.iter().map(|file| file.head.path.to_string()).collect();
        let texts: Vec<File<'_>> = files
            .iter()
            .zip(&paths)
            .map(|(file, path)| File { path, domain: file.head.domain(), text: file.file.text() })
            .collect();
        let (states, words) = engine.states();
        let plan = cleanup::Plan::of(&texts, &standing(engine, call)?, states, words);
        let found = plan.found;
        let plan = plan.cut(request.max_items.unwrap_or(DEFAULT_ITEMS) as usize);
        let fix = |fix| Fix::of(engine, fix);
        let mut safe: Vec<Fix> = plan.safe_auto_fixes.into_iter().map(fix).collect();
        let mut asked: Vec<Decision> = plan.needs_user_decision.into_iter().map(Decision::of).collect();
        let mut kept: Vec<Kept> = plan.must_not_auto_fix.into_iter().map(Kept::of).collect();
        keep_fitting(&mut safe, REPLY / 3);
        keep_fitting(&mut asked, REPLY / 3);
        keep_fitting(&mut kept, REPLY / 6);
        keep_fitting(&mut problems, REPLY / 10);
        let [safe_auto_fixes, needs_user_decision, must_not_auto_fix] = found;
        let truncated = [safe.len(), asked.len(), kept.len()] != found;
        Ok(Response {
            success: true,
            read_only: true,
            summary: Summary { safe_auto_fixes, needs_user_decision, must_not_auto_fix, truncated },
            safe_auto_fixes: safe,
            needs_user_decision: asked,
            must_not_auto_fix: kept,
            policy: "safe_auto_fixes lose nothing; a person decides needs_user_decision and writes the text; \
                     must_not_auto_fix stays",
            see_also: ["validate_knowledge", "audit_rot", "get_section"],
            how_to_apply: "send items of safe_auto_fixes as `actions` to apply_safe_knowledge_cleanup: first as \
                           a dry run, then with dry_run false",
            errors: problems,
        })
    }
}

impl Fix {
    fn of(engine: &Engine, fix: SafeFix) -> Self {
        let some = |files: Vec<String>| files.into_iter().take(NAMED).collect();
        match fix {
            SafeFix::MigrateLegacyBackups(files) => Self::MigrateLegacyBackups {
                count: files.len(),
                files: some(files),
                destination: backups::destination(engine).display().to_string(),
            },
            SafeFix::SyncL0Index { orphaned_l1, stale_l0_entries } => {
                Self::SyncL0Index { orphaned_l1: some(orphaned_l1), stale_l0_entries: some(stale_l0_entries) }
            }
            SafeFix::ReindexVectorStore => Self::ReindexVectorStore,
            SafeFix::CreateTodoFromMarker(marked) => {
                let Marker { file, domain, line, marker, heading, text_preview, line_hash, .. } =
                    Marker::from(marked);
                let remove_source = false;
                Self::CreateTodoFromMarker {
                    file,
                    line,
                    line_hash,
                    domain,
                    marker,
                    heading,
                    text_preview,
                    remove_source,
                }
            }
        }
    }

    fn sentence(&self) -> String {
        match self {
            Self::MigrateLegacyBackups { count, destination, .. } => {
                format!("migrate_legacy_backups: {} to {destination}", counted(*count, "copy"))
            }
            Self::SyncL0Index { orphaned_l1, stale_l0_entries } => {
                format!("sync_l0_index: {} to add, {} to remove", orphaned_l1.len(), stale_l0_entries.len())
            }
            Self::ReindexVectorStore => "reindex_vector_store: vectors are missing".to_owned(),
            Self::CreateTodoFromMarker { file, line, .. } => {
                format!("create_todo_from_marker: {file}:{line}")
            }
        }
    }
}

impl Decision {
    fn of(decision: UserDecision) -> Self {
        match decision {
            UserDecision::MoveToTodo(marked, doubt) => Self::MoveToTodo {
                finding: withheld(Marker::from(marked), doubt),
                reason: match doubt {
                    Doubt::Credential => "it looks as if it held a credential",
                    Doubt::TooShort => "it says too little to be a todo",
                },
            },
            UserDecision::RewriteAsCurrentRule(marked) => {
                Self::RewriteAsCurrentRule { finding: Marker::from(marked) }
            }
            UserDecision::MergeHeadingFamily { file, domain, skeleton, headings } => {
                Self::MergeHeadingFamily {
                    file,
                    domain,
                    skeleton: shown(&skeleton),
                    count: headings.len(),
                    headings: headings.iter().take(NAMED).map(|heading| shown(heading)).collect(),
                }
            }
            UserDecision::OversizedFile { file, domain, bytes } => {
                Self::OversizedFile { file, domain, bytes }
            }
        }
    }

    fn record(&self) -> Record {
        match self {
            Self::MoveToTodo { finding, .. } | Self::RewriteAsCurrentRule { finding } => finding.record(),
            Self::MergeHeadingFamily { file, headings, .. } => Record {
                id: file.clone(),
                attributes: vec!["merge_heading_family".to_owned()],
                title: None,
                text: headings.join("; "),
            },
            Self::OversizedFile { file, bytes, .. } => Record {
                id: file.clone(),
                attributes: vec!["oversized_file".to_owned()],
                title: None,
                text: format!("{bytes} bytes"),
            },
        }
    }
}

/// A line that may hold a secret of no known form is not shown, and neither is a digest by which it could be guessed.
fn withheld(marker: Marker, doubt: Doubt) -> Marker {
    match doubt {
        Doubt::Credential => {
            let (text_preview, line_hash) = (format!("{}: [REDACTED]", marker.marker), String::new());
            Marker { text_preview, line_hash, ..marker }
        }
        Doubt::TooShort => marker,
    }
}

impl Kept {
    fn of(marked: Marked) -> Self {
        Self { kind: "keep_with_reason", finding: Marker::from(marked) }
    }
}

impl From<Marked> for Marker {
    fn from(marked: Marked) -> Self {
        Self::of(marked.file, marked.domain, marked.finding)
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let kept = self.must_not_auto_fix.iter().map(|kept| kept.finding.record());
        let records = self.needs_user_decision.iter().map(Decision::record).chain(kept).collect();
        let mut document = recorded(records);
        for fix in &self.safe_auto_fixes {
            document = document.note(Mark::Info, fix.sentence());
        }
        for trouble in &self.errors {
            document = document.note(Mark::Warning, format!("{}: {}", trouble.file, trouble.error));
        }
        let Summary { safe_auto_fixes, needs_user_decision, must_not_auto_fix, .. } = &self.summary;
        let document = document.note(
            Mark::Info,
            format!("safe to do: {safe_auto_fixes}; to be decided: {needs_user_decision}; stays: {must_not_auto_fix}"),
        );
        if *safe_auto_fixes == 0 {
            return document;
        }
        let how = "`strata --json knowledge plan | strata knowledge apply -` tries what is safe; `--dry-run=false` does it";
        document.note(Mark::Info, how)
    }
}
