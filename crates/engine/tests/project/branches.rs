//! Memories on branches, with real repositories.
