//! Signatures by the secret a human holds.

/// A human's signing key.
pub struct SecretKey;
