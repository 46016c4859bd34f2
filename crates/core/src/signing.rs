//! Signatures by the secret a human holds.
