//! Text without marks: paragraphs.

use crate::{lines::Lines, pack::Marks};

/// Cuts between paragraphs before cuts between lines.
pub(crate) fn marks(lines: &Lines<'_>) -> Marks {
    Marks::plain(lines)
}
