//! What finished work teaches: gates, candidates, and how a candidate becomes a memory.
