//! What finished work leaves.
