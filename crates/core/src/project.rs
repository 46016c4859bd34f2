//! What a task asks of a project's memory, and what finished work teaches it: what is to be done and how risky that is,
//! which parts of the project are named, what is to be kept and beside what, where it belongs, what may be put away.

pub mod areas;
pub mod budget;
pub mod decided;
pub mod gates;
pub mod intent;
pub mod likeness;
pub mod outcome;
pub mod paths;
pub mod placement;
pub mod promotion;
pub mod readme;
pub mod retention;
pub mod routing;
pub mod task;
pub mod wording;
pub mod words;
