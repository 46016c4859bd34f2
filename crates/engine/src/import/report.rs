//! What every import says about rows: those it left out, those it changed, and secrets it blacked out.

use serde::Serialize;

use super::prepare::Prepared;
use crate::render::{Block, Document, Mark, counted};

/// Rows listed of each sort.
const LISTED: usize = 50;

/// Rows that did not come in as they stood.
#[derive(Debug, Default, Clone, Serialize)]
pub struct RowReport {
    /// Rows that were left out.
    pub rejected: usize,
    /// The first of them, by table and number, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Details of rows that were taken in otherwise than they stood.
    pub adjusted: usize,
    /// The first of those, by table and number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub adjustments: Vec<String>,
    /// Rows in which secrets were blacked out.
    pub redacted_rows: usize,
    /// Families of secrets that were blacked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
}

impl RowReport {
    pub(super) fn of(prepared: &Prepared) -> Self {
        let first = |all: &[String]| all.iter().take(LISTED).cloned().collect();
        Self {
            rejected: prepared.findings.rejected.len(),
            problems: first(&prepared.findings.rejected),
            adjusted: prepared.findings.adjusted.len(),
            adjustments: first(&prepared.findings.adjusted),
            redacted_rows: prepared.redacted_rows,
            redacted: prepared.redacted.clone(),
        }
    }

    /// Adds what there is to say to a reply.
    pub(super) fn render(&self, mut document: Document) -> Document {
        for (title, total, rows) in [
            ("left out", self.rejected, &self.problems),
            ("taken in otherwise", self.adjusted, &self.adjustments),
        ] {
            if total == 0 {
                continue;
            }
            let table = rows.iter().map(|row| vec![row.clone()]).collect();
            document = document.with(Block::Table { columns: vec![title.into()], rows: table });
            if total > rows.len() {
                document = document.text(format!("{} more {title}", total - rows.len()));
            }
        }
        if self.redacted_rows > 0 {
            let text = format!(
                "secrets were blacked out in {}: {}",
                counted(self.redacted_rows, "row"),
                self.redacted.join(", ")
            );
            document = document.note(Mark::Warning, text);
        }
        document
    }
}
