//! Dot products over int8 vectors.
