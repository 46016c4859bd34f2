//! A project's files in the index.
