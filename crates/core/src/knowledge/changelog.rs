//! The log of changes to the knowledge: which changes are events, and how much an event may say. Never a body.

use unicode_segmentation::UnicodeSegmentation;

/// A change that the log records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// A section was added.
    SectionCreated,
    /// Text was added to a section.
    SectionUpdated,
    /// Missing lines were added to a section.
    SectionMerged,
    /// The text of a section was replaced.
    SectionReplaced,
    /// A section was deleted, or moved away.
    SectionDeleted,
    /// A section got another heading.
    SectionRenamed,
    /// A file was made.
    DomainCreated,
    /// A file was replaced.
    DomainUpdated,
    /// A file was deleted.
    DomainDeleted,
    /// A fused text was written under its token.
    FusionWriteback,
    /// A consolidated text was written under its token.
    ConsolidationWriteback,
    /// The index got an entry.
    IndexEntryAdded,
    /// The index lost an entry.
    IndexEntryRemoved,
    /// An entry of the index got another text.
    IndexEntryRenamed,
}

impl Operation {
    /// Every operation, in documentation order.
    pub const ALL: [Self; 14] = [
        Self::SectionCreated,
        Self::SectionUpdated,
        Self::SectionMerged,
        Self::SectionReplaced,
        Self::SectionDeleted,
        Self::SectionRenamed,
        Self::DomainCreated,
        Self::DomainUpdated,
        Self::DomainDeleted,
        Self::FusionWriteback,
        Self::ConsolidationWriteback,
        Self::IndexEntryAdded,
        Self::IndexEntryRemoved,
        Self::IndexEntryRenamed,
    ];

    /// The word in the log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SectionCreated => "l1_section_created",
            Self::SectionUpdated => "l1_section_updated",
            Self::SectionMerged => "l1_section_merged",
            Self::SectionReplaced => "l1_section_replaced",
            Self::SectionDeleted => "l1_section_deleted",
            Self::SectionRenamed => "l1_section_renamed",
            Self::DomainCreated => "l1_domain_created",
            Self::DomainUpdated => "l1_domain_updated",
            Self::DomainDeleted => "l1_domain_deleted",
            Self::FusionWriteback => "l1_fusion_writeback",
            Self::ConsolidationWriteback => "l1_consolidation_writeback",
            Self::IndexEntryAdded => "l0_entry_added",
            Self::IndexEntryRemoved => "l0_entry_removed",
            Self::IndexEntryRenamed => "l0_entry_renamed",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.as_str() == word)
    }

    /// The surface it changes: `l0_index` or `l1_knowledge`.
    pub const fn surface(self) -> &'static str {
        match self {
            Self::IndexEntryAdded | Self::IndexEntryRemoved | Self::IndexEntryRenamed => "l0_index",
            _ => "l1_knowledge",
        }
    }

    /// The event of a write with this outcome; `None` when nothing was changed. `is_fusion` tells a replacement under a
    /// token from another one.
    pub fn of_write(action: &str, is_fusion: bool) -> Option<Self> {
        match action {
            "created" => Some(Self::DomainCreated),
            "section_created" => Some(Self::SectionCreated),
            "appended" => Some(Self::SectionUpdated),
            "merged" => Some(Self::SectionMerged),
            "replaced" if is_fusion => Some(Self::FusionWriteback),
            "replaced" => Some(Self::SectionReplaced),
            "consolidated" => Some(Self::ConsolidationWriteback),
            _ => None,
        }
    }
}

/// What happens without an event, by the names under which the statistics list it.
pub const NOT_RECORDED: [&str; 9] = [
    "vector_reindex",
    "search_index_rebuild",
    "l0_index_resync_no_semantic_change",
    "raw_session_scan",
    "routing_decision_without_write",
    "agent_extension_recommendation",
    "todo_created",
    "todo_status_changed",
    "todo_deleted",
];

/// The longest summary of an event, in user-perceived characters.
pub const MAX_SUMMARY: usize = 300;
/// The longest reason.
pub const MAX_REASON: usize = 500;
/// The longest text in the metadata.
pub const MAX_VALUE: usize = 200;
/// The most entries in the metadata.
pub const MAX_METADATA: usize = 24;

/// Cuts a text to `max` user-perceived characters; a cut one ends in `…`, which counts.
pub fn clip(text: &str, max: usize) -> String {
    if text.grapheme_indices(true).nth(max).is_none() {
        return text.to_owned();
    }
    let end = text.grapheme_indices(true).nth(max.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_its_word_and_surface() {
        assert!(Operation::ALL.into_iter().all(|op| Operation::parse(op.as_str()) == Some(op)));
        for operation in Operation::ALL {
            let prefix = &operation.surface()[..2];
            assert!(operation.as_str().starts_with(prefix), "{operation:?}");
        }
        assert!(NOT_RECORDED.iter().all(|word| Operation::parse(word).is_none()));
    }

    #[test]
    fn only_what_changed_a_file_is_an_event() {
        assert_eq!(Operation::of_write("created", false), Some(Operation::DomainCreated));
        assert_eq!(Operation::of_write("replaced", true), Some(Operation::FusionWriteback));
        assert_eq!(Operation::of_write("replaced", false), Some(Operation::SectionReplaced));
        for action in
            ["skipped", "deferred_fusion", "merged_no_change", "fuse_conflict", "routing_refused", ""]
        {
            assert_eq!(Operation::of_write(action, false), None, "{action}");
        }
    }

    #[test]
    fn texts_are_cut_with_a_mark() {
        assert_eq!(clip("短い文", 3), "短い文");
        assert_eq!(clip("短い文章", 3), "短い…");
        assert_eq!(clip("", 0), "");
    }
}
