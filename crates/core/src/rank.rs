//! Scoring: BM25, fusion, structure, floor, collapse.
