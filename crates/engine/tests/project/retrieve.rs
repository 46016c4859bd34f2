//! What a task is given.
