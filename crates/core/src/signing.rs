//! Signatures by the secret a human holds.
//!
//! An agent runs as the same operating-system user as the human, so a file of keys would protect
//! nothing. The key is therefore not stored: it is derived each time from a passphrase that only the
//! human knows (argon2id to an Ed25519 seed), signs, and is wiped. The home keeps the salt, the
//! parameters and the public key.

use std::{fmt, hint::black_box};

use argon2::{Algorithm, Argon2, Block, Version};
use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use unicode_normalization::UnicodeNormalization;

use crate::{chain::Canonical, error::ErrorKind, time::Timestamp};

/// Fewest characters of a passphrase.
pub const MIN_PASSPHRASE_CHARS: usize = 8;
/// Most characters of a passphrase; more is a mistake, such as a pasted file.
pub const MAX_PASSPHRASE_CHARS: usize = 1024;

const HEAD: &str = "strata audit head v1";
const APPROVAL: &str = "strata approval v1";

/// The cost of deriving a key. Stored beside the salt, so that it can be raised later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DerivationParams {
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes over the memory.
    pub passes: u32,
    /// Lanes; they run one after another here.
    pub lanes: u32,
}

impl DerivationParams {
    /// 64 MiB, 3 passes: the second recommended set of RFC 9106 (section 4) with one lane.
    pub const RECOMMENDED: Self = Self { memory_kib: 64 * 1024, passes: 3, lanes: 1 };
    /// Almost free, and worthless as protection: for tests.
    pub const CHEAP: Self = Self { memory_kib: 8, passes: 1, lanes: 1 };
    /// The most memory that stored parameters may ask for: 1 GiB, so that an altered file cannot
    /// exhaust the machine.
    pub const MAX_MEMORY_KIB: u32 = 1024 * 1024;
    /// The most passes that stored parameters may ask for.
    pub const MAX_PASSES: u32 = 32;
    /// The most lanes that stored parameters may ask for.
    pub const MAX_LANES: u32 = 16;

    fn to_argon2(self) -> Result<argon2::Params, SigningError> {
        let bounded = self.memory_kib <= Self::MAX_MEMORY_KIB
            && self.passes <= Self::MAX_PASSES
            && self.lanes <= Self::MAX_LANES;
        let params = argon2::Params::new(self.memory_kib, self.passes, self.lanes, Some(32));
        params.ok().filter(|_| bounded).ok_or(SigningError::Params(self))
    }
}

/// The human's signing key. Lives only as long as it is needed; wiped when dropped, and its
/// `Debug` form shows nothing of it.
pub struct SecretKey(SigningKey);

impl SecretKey {
    /// Derives the key from a passphrase: NFC (so that it does not depend on the keyboard), then
    /// argon2id version 1.3 with `salt` (16 random bytes, kept by the caller).
    ///
    /// Errors: a passphrase shorter than [`MIN_PASSPHRASE_CHARS`] or longer than
    /// [`MAX_PASSPHRASE_CHARS`] characters; parameters outside their bounds.
    pub fn derive(passphrase: &str, salt: &[u8; 16], params: DerivationParams) -> Result<Self, SigningError> {
        if passphrase.chars().nth(MAX_PASSPHRASE_CHARS).is_some() {
            return Err(SigningError::TooLong);
        }
        let mut normal: Vec<u8> = Vec::with_capacity(passphrase.len() * 4);
        passphrase.nfc().for_each(|c| normal.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()));
        let derived = if passphrase.nfc().count() < MIN_PASSPHRASE_CHARS {
            Err(SigningError::TooShort)
        } else {
            derive_key(&normal, salt, params)
        };
        wipe(&mut normal);
        derived
    }

    /// The key others verify with.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs the head of the audit chain of one ledger epoch.
    pub fn sign_head(&self, seq: i64, hash: &[u8; 32], epoch: &str) -> Signature {
        Signature(self.0.sign(&head_message(seq, hash, epoch)).to_bytes())
    }

    /// Signs that the human approves `action` on `target`, at `at`. The target must pin what is
    /// approved, as an id together with the hash of its text does.
    pub fn sign_approval(&self, action: &str, target: &str, at: Timestamp) -> Signature {
        Signature(self.0.sign(&approval_message(action, target, at)).to_bytes())
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(hidden)")
    }
}

/// The key that verifies what the human signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Reads the 32 bytes of a stored key. Error: they are not a point of the curve.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, SigningError> {
        VerifyingKey::from_bytes(bytes).map(Self).map_err(|_| SigningError::PublicKey)
    }

    /// The bytes to store.
    pub fn to_bytes(self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// Verifies the signature of an audit head. Error: it is not this human's signature of exactly
    /// this head.
    pub fn verify_head(
        &self,
        seq: i64,
        hash: &[u8; 32],
        epoch: &str,
        signature: &Signature,
    ) -> Result<(), SigningError> {
        self.verify(&head_message(seq, hash, epoch), signature)
    }

    /// Verifies an approval. Error: it is not this human's signature of exactly this approval.
    pub fn verify_approval(
        &self,
        action: &str,
        target: &str,
        at: Timestamp,
        signature: &Signature,
    ) -> Result<(), SigningError> {
        self.verify(&approval_message(action, target, at), signature)
    }

    fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), SigningError> {
        let signature = ed25519_dalek::Signature::from_bytes(&signature.0);
        self.0.verify_strict(message, &signature).map_err(|_| SigningError::Signature)
    }
}

/// An Ed25519 signature, as the 64 bytes to store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature(pub [u8; 64]);

/// Why a key could not be derived, or a signature not be accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SigningError {
    /// The passphrase is too short.
    #[error("the passphrase has fewer than {MIN_PASSPHRASE_CHARS} characters")]
    TooShort,
    /// The passphrase is too long.
    #[error("the passphrase has more than {MAX_PASSPHRASE_CHARS} characters")]
    TooLong,
    /// The derivation parameters are out of bounds.
    #[error("key derivation parameters out of bounds: {} KiB, {} passes, {} lanes", .0.memory_kib, .0.passes, .0.lanes)]
    Params(DerivationParams),
    /// Stored bytes are not a public key.
    #[error("the stored public key is damaged")]
    PublicKey,
    /// The signature does not fit.
    #[error("the signature does not fit")]
    Signature,
}

impl SigningError {
    /// The kind of failure.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::TooShort | Self::TooLong => ErrorKind::Invalid,
            Self::Params(_) | Self::PublicKey => ErrorKind::Corrupt,
            Self::Signature => ErrorKind::Refused,
        }
    }

    /// What to do next.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::TooShort => "choose at least 8 characters; a sentence of five words is better",
            Self::TooLong => "choose at most 1024 characters",
            Self::Params(_) | Self::PublicKey => "restore the home from a backup: `strata backup list`",
            Self::Signature => "enter the passphrase that was set at `strata init`",
        }
    }
}

fn derive_key(passphrase: &[u8], salt: &[u8], params: DerivationParams) -> Result<SecretKey, SigningError> {
    let settings = params.to_argon2()?;
    let mut memory = vec![Block::default(); settings.block_count()];
    let mut seed = [0_u8; 32];
    let filled = Argon2::new(Algorithm::Argon2id, Version::V0x13, settings).hash_password_into_with_memory(
        passphrase,
        salt,
        &mut seed,
        &mut memory,
    );
    memory.fill(Block::default());
    black_box(&memory);
    let key = filled.map(|()| SecretKey(SigningKey::from_bytes(&seed)));
    wipe(&mut seed);
    key.map_err(|_| SigningError::Params(params))
}

/// Overwrites a secret. `black_box` keeps the compiler from dropping the write as useless.
fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    black_box(bytes);
}

fn head_message(seq: i64, hash: &[u8; 32], epoch: &str) -> Vec<u8> {
    let mut bytes = Canonical::default();
    bytes.text(HEAD).integer(seq).hash(hash).text(epoch);
    bytes.0
}

fn approval_message(action: &str, target: &str, at: Timestamp) -> Vec<u8> {
    let mut bytes = Canonical::default();
    bytes.text(APPROVAL).text(action).text(target).integer(at.0);
    bytes.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const SALT: [u8; 16] = *b"sixteen byte slt";
    const AT: Timestamp = Timestamp(1_790_000_000_000_000);

    fn key(passphrase: &str) -> SecretKey {
        SecretKey::derive(passphrase, &SALT, DerivationParams::CHEAP).expect("a valid passphrase")
    }

    #[test]
    fn the_same_passphrase_and_salt_give_the_same_key() {
        let known = key("correct horse").public();
        assert_eq!(key("correct horse").public(), known);
        assert_ne!(key("correct horse ").public(), known);
        let other = SecretKey::derive("correct horse", &[1; 16], DerivationParams::CHEAP);
        assert_ne!(other.expect("valid").public(), known);
        let dearer = DerivationParams { passes: 2, ..DerivationParams::CHEAP };
        let other = SecretKey::derive("correct horse", &SALT, dearer);
        assert_ne!(other.expect("valid").public(), known);
    }

    #[test]
    fn composed_and_decomposed_passphrases_are_one() {
        assert_eq!(key("crème brûlée").public(), key("cre\u{300}me bru\u{302}le\u{301}e").public());
    }

    #[test]
    fn short_and_long_passphrases_are_refused() {
        let derive = |p: &str| SecretKey::derive(p, &SALT, DerivationParams::CHEAP).map(|k| k.public());
        assert_eq!(derive("1234567"), Err(SigningError::TooShort));
        assert_eq!(derive("e\u{301}e\u{301}e\u{301}e\u{301}"), Err(SigningError::TooShort));
        assert!(derive("口令口令口令口令").is_ok());
        assert!(derive(&"x".repeat(1024)).is_ok());
        assert_eq!(derive(&"x".repeat(1025)), Err(SigningError::TooLong));
    }

    #[test]
    fn altered_parameters_cannot_exhaust_the_machine() {
        let params = [
            DerivationParams { memory_kib: u32::MAX, passes: 1, lanes: 1 },
            DerivationParams { memory_kib: 64, passes: u32::MAX, lanes: 1 },
            DerivationParams { memory_kib: 64, passes: 1, lanes: 17 },
            DerivationParams { memory_kib: 64, passes: 1, lanes: 0 },
            DerivationParams { memory_kib: 0, passes: 1, lanes: 1 },
        ];
        for p in params {
            let refused = SecretKey::derive("long enough", &SALT, p).map(|k| k.public());
            assert_eq!(refused, Err(SigningError::Params(p)));
        }
    }

    #[test]
    fn a_head_signature_fits_only_that_head() {
        let secret = key("correct horse");
        let public = PublicKey::from_bytes(&secret.public().to_bytes()).expect("a stored key");
        let signature = secret.sign_head(7, &[3; 32], "e1");
        assert_eq!(public.verify_head(7, &[3; 32], "e1", &signature), Ok(()));
        let wrong = Err(SigningError::Signature);
        assert_eq!(public.verify_head(8, &[3; 32], "e1", &signature), wrong);
        assert_eq!(public.verify_head(7, &[4; 32], "e1", &signature), wrong);
        assert_eq!(public.verify_head(7, &[3; 32], "e2", &signature), wrong);
        assert_eq!(key("another one").public().verify_head(7, &[3; 32], "e1", &signature), wrong);
        let mut bent = signature;
        bent.0[5] ^= 1;
        assert_eq!(public.verify_head(7, &[3; 32], "e1", &bent), wrong);
    }

    #[test]
    fn an_approval_fits_only_that_action_target_and_time() {
        let secret = key("correct horse");
        let public = secret.public();
        let signature = secret.sign_approval("rule add", "mem_x", AT);
        assert_eq!(public.verify_approval("rule add", "mem_x", AT, &signature), Ok(()));
        let wrong = Err(SigningError::Signature);
        assert_eq!(public.verify_approval("rule ad", "dmem_x", AT, &signature), wrong);
        assert_eq!(public.verify_approval("rule add", "mem_y", AT, &signature), wrong);
        assert_eq!(public.verify_approval("rule add", "mem_x", Timestamp(AT.0 + 1), &signature), wrong);
    }

    #[test]
    fn debug_shows_nothing() {
        let shown = format!("{:?}", key("correct horse"));
        assert_eq!(shown, "SecretKey(hidden)");
    }

    #[test]
    fn the_recommended_parameters_work() {
        let secret = SecretKey::derive("correct horse", &SALT, DerivationParams::RECOMMENDED);
        assert!(secret.is_ok());
    }
}
