//! A project's files as documents: which may be read, how they are followed, what the index is told of them.
