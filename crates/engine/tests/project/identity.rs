//! Which project a directory is.
