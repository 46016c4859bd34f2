//! The derived index: passages, postings and vectors, rebuilt from the ledger at any time.
