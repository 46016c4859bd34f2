//! Token estimates and packing of whole records into a token budget.
