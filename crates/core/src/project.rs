//! What a task asks of a project's memory: what is to be done, how risky that is, which parts of the project it names,
//! and what those parts share with what is stored.

pub mod budget;
pub mod intent;
pub mod paths;
pub mod routing;
pub mod task;
pub mod words;
