//! Memories pinned to code.
