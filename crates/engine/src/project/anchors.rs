//! Memories pinned to code, and what became of that code.
