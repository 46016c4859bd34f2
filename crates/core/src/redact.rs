//! Secret detection and redaction.
