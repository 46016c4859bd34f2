//! Text to terms: the versioned analyser shared by index and query.
