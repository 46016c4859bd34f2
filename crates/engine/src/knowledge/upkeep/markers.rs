//! What files say about things that are open, or were: figures, and the first of the lines.

use serde::Serialize;
use strata_core::{
    knowledge::{
        name::VaultPath,
        state::{Action, Finding, scan},
    },
    route::Router,
    vocabulary::Vocabulary,
};

use super::Marker;

/// Lines of one sort that are listed.
const LISTED: usize = 10;

/// How many lines have a marker.
#[derive(Debug, Default, Serialize)]
pub struct Markers {
    /// Files that were read.
    pub files_scanned: usize,
    /// Open lines.
    pub state_markers: usize,
    /// Lines with an open marker that say they are done.
    pub suppressed_completed: usize,
    /// Open lines with a reason to stay.
    pub suppressed_keep_reason: usize,
    /// All lines, by what to do.
    pub by_action: ByAction,
    /// Files that have an open line.
    pub files_with_markers: usize,
}

/// How many lines ask for what.
#[derive(Debug, Default, Serialize)]
pub struct ByAction {
    /// Open ones.
    pub move_to_todo: usize,
    /// Those that tell what was done.
    pub rewrite_as_current_rule: usize,
    /// Those with a reason to stay.
    pub keep_with_reason: usize,
}

/// The lines of some files.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pub(crate) summary: Markers,
    /// Open ones, at most ten.
    pub(crate) open: Vec<Marker>,
    /// All, at most ten.
    pub(crate) all: Vec<Marker>,
    /// Whether there are more of either.
    pub(crate) truncated: bool,
}

impl Lines {
    /// Reads a file.
    pub(crate) fn read(&mut self, path: &VaultPath, text: &str, states: &Router, words: &Vocabulary) {
        let before = self.summary.state_markers;
        self.summary.files_scanned += 1;
        for finding in scan(text, states, words) {
            self.add(path, finding);
        }
        self.summary.files_with_markers += usize::from(self.summary.state_markers > before);
    }

    fn add(&mut self, path: &VaultPath, finding: Finding) {
        let summary = &mut self.summary;
        let is_open = finding.action == Action::MoveToTodo;
        let is_done = finding.resolved_marker.is_some();
        summary.state_markers += usize::from(is_open);
        summary.suppressed_completed += usize::from(is_done && finding.says_open());
        summary.suppressed_keep_reason += usize::from(!is_done && finding.action == Action::KeepWithReason);
        *match finding.action {
            Action::MoveToTodo => &mut summary.by_action.move_to_todo,
            Action::RewriteAsCurrentRule => &mut summary.by_action.rewrite_as_current_rule,
            Action::KeepWithReason => &mut summary.by_action.keep_with_reason,
        } += 1;
        let marker = Marker::of(path.to_string(), path.domain().to_owned(), finding);
        for list in [is_open.then_some(&mut self.open), Some(&mut self.all)].into_iter().flatten() {
            if list.len() < LISTED {
                list.push(marker.clone());
            } else {
                self.truncated = true;
            }
        }
    }
}
