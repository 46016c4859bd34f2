//! Near-duplicate and contradiction signals between texts.
