//! What a project's memory decides from values alone: what finished work teaches, what becomes of it beside what is
//! known, where it belongs, and what may be put away.

pub mod areas;
pub mod gates;
pub mod likeness;
pub mod outcome;
pub mod placement;
pub mod promotion;
pub mod readme;
pub mod retention;
pub mod wording;
pub mod work;
