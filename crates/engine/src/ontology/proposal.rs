//! A proposal as it lies in its file, and the signature of who approved it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strata_core::{
    principal::Principal,
    signing::{PublicKey, SecretKey, Signature},
    time::Timestamp,
};

use super::entry::Entry;
use crate::{authority::hexadecimal, error::Error};

/// What the human signs, beside the digest of the proposal.
const ACTION: &str = "gate_approve";

/// Where a proposal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stage {
    Proposed,
    Approved,
    Applied,
    Deprecated,
}

impl Stage {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Approved => "approved",
            Self::Applied => "applied",
            Self::Deprecated => "deprecated",
        }
    }
}

/// One proposal. Keys that others put into its file stay.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Proposal {
    #[serde(rename = "schemaVersion")]
    pub(super) schema_version: u32,
    pub(super) id: String,
    pub(super) entry: Entry,
    #[serde(default)]
    pub(super) source_ref: String,
    pub(super) status: Stage,
    pub(super) created_at: String,
    pub(super) updated_at: String,
    #[serde(default)]
    pub(super) proposer: String,
    /// Tells it from an earlier proposal of the same id and text.
    #[serde(default)]
    pub(super) nonce: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) approval: Option<Approval>,
    #[serde(default)]
    pub(super) history: Vec<Step>,
    #[serde(flatten)]
    pub(super) others: Map<String, Value>,
}

/// Who approved, and the signature that proves it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Approval {
    pub(super) by: String,
    /// Microseconds since 1970, UTC: part of what is signed.
    pub(super) at: i64,
    pub(super) signature: String,
}

/// One change of stage.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) at: String,
    pub(super) to: Stage,
    #[serde(default)]
    pub(super) by: String,
}

impl Proposal {
    /// BLAKE3 of what the proposal says. Where it stands is no part of it.
    pub(super) fn digest(&self) -> [u8; 32] {
        let said = (&self.id, &self.entry, &self.source_ref, &self.created_at, &self.proposer, &self.nonce);
        let bytes = serde_json::to_vec(&said).expect("texts and lists of texts are always JSON");
        *blake3::hash(&bytes).as_bytes()
    }

    /// Moves it on.
    pub(super) fn step(&mut self, to: Stage, at: Timestamp, by: &Principal) {
        self.status = to;
        self.updated_at = at.to_rfc3339();
        self.history.push(Step { at: at.to_rfc3339(), to, by: by.to_string() });
    }

    /// Signs what it says as approved.
    pub(super) fn sign(&mut self, secret: &SecretKey, by: &Principal, at: Timestamp) {
        let signature = secret.sign_approval(ACTION, &hexadecimal(&self.digest()), at);
        self.approval = Some(Approval { by: by.to_string(), at: at.0, signature: hexadecimal(&signature.0) });
    }

    /// Whether a human whose key is `key` approved exactly what it says now.
    pub(super) fn is_signed(&self, key: &PublicKey) -> bool {
        let Some(approval) = &self.approval else { return false };
        let Some(signature) = digits(&approval.signature) else { return false };
        let target = hexadecimal(&self.digest());
        key.verify_approval(ACTION, &target, Timestamp(approval.at), &Signature(signature)).is_ok()
    }

    /// The file that holds it.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = serde_json::to_vec_pretty(self).map_err(|e| Error::Internal(e.to_string()))?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

/// Bytes from hexadecimal digits.
fn digits<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}
