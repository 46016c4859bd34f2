//! Memories on branches: what a reader sees, and how those of a merged branch become the project's.
