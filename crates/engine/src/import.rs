//! Bringing things in: episodes, memories, Markdown folders.

pub mod episodes;
