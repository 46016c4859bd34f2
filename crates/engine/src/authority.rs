//! Who may: the policy applied to one call, with the refusal put on record.

use strata_core::{
    memory::Layer,
    policy::{self, Action, Verdict},
    principal::{Face, Principal, PrincipalKind},
    signing::{PublicKey, SecretKey},
};
use strata_store::{
    error::StoreError,
    ledger::{LedgerWrite, NewAudit},
};

use crate::{
    engine::Engine,
    error::{Error, at_a_terminal},
    operation::Call,
};

/// The setting that holds the public half of the human's secret, in hexadecimal.
pub const PUBLIC_KEY: &str = "public_key";

/// Decides whether the caller may do `action` in `layer` to `target` (empty for something new).
///
/// Returns who then acts: the caller, or the system on behalf of a human whose secret approved it.
///
/// # Errors
/// `Refused` or `ApprovalRequired`; the refusal is in the audit before this returns.
pub fn authorise(
    engine: &Engine,
    call: &Call<'_>,
    action: Action,
    layer: Layer,
    target: &str,
) -> Result<Principal, Error> {
    authorise_as(engine, call, action, action.as_str(), layer, target)
}

/// The same for an operation that goes on record under a `name` of its own.
///
/// # Errors
/// As for [`authorise`].
pub fn authorise_as(
    engine: &Engine,
    call: &Call<'_>,
    action: Action,
    name: &'static str,
    layer: Layer,
    target: &str,
) -> Result<Principal, Error> {
    let decision = policy::decide(action, call.principal, layer);
    match decision.verdict {
        Verdict::Allow => return Ok(call.principal.clone()),
        Verdict::NeedsApproval if holds_secret(engine, call)? => {
            return Ok(approval().on_behalf_of(call.principal));
        }
        Verdict::NeedsApproval | Verdict::Refuse => {}
    }
    // A person at the command line is about to be asked for the secret; that is no refusal yet.
    let will_be_asked = decision.verdict == Verdict::NeedsApproval
        && call.face == Face::Cli
        && call.principal.kind == PrincipalKind::Human
        && call.secret.is_none();
    if !will_be_asked {
        record_refusal(engine, call, name, Some(layer), target, decision.reason)?;
    }
    // Nobody but a person approves, and whoever else tries is told how one does.
    if decision.verdict == Verdict::NeedsApproval || action == Action::Approve {
        return Err(Error::ApprovalRequired {
            action: format!("{name} in {layer}"),
            reason: decision.reason.to_owned(),
            command: at_a_terminal(format_args!("strata {name} ...")),
        });
    }
    Err(Error::Refused {
        layer: layer.to_string(),
        action: name,
        principal: call.principal.to_string(),
        reason: decision.reason.to_owned(),
        allowed: match action {
            // Not a question of the layer.
            Action::Approve | Action::Purge => "human, with the passphrase".to_owned(),
            _ => policy::writers(layer).join(", "),
        },
    })
}

/// Who applies what a person's secret approved.
pub(crate) fn approval() -> Principal {
    Principal::new(PrincipalKind::System, "approval")
}

/// Of those who act at the two ends of a change, the one who goes on record: whoever acts on a person's approval,
/// so that it is signed.
pub(crate) fn either(first: Principal, second: Principal) -> Principal {
    if second.on_behalf_of.is_some() { second } else { first }
}

/// Puts a refusal on record; the same one again is counted.
pub fn record_refusal(
    engine: &Engine,
    call: &Call<'_>,
    action: &str,
    layer: Option<Layer>,
    target: &str,
    reason: &str,
) -> Result<(), Error> {
    let row = NewAudit { layer, reason, ..NewAudit::new(call.principal, call.face, action, target) };
    let ledger = engine.ledger(call)?;
    ledger.write(&engine.control(call), engine.clock().now(), |w| w.refuse(&row))?;
    Ok(())
}

/// Whether the call carries the secret that this store was given.
///
/// # Errors
/// A conflict when the store has no secret yet, or another one.
pub fn holds_secret(engine: &Engine, call: &Call<'_>) -> Result<bool, Error> {
    let Some(secret) = call.secret else { return Ok(false) };
    let ledger = engine.ledger(call)?;
    let known = ledger.read(&engine.control(call), |r| r.setting(PUBLIC_KEY))?;
    let Some(known) = known else { return Err(no_passphrase(engine)) };
    if public_key_text(secret) == known {
        return Ok(true);
    }
    Err(wrong_passphrase(engine, call)?)
}

/// Whether this store has a passphrase. One that is not there has none, and is not made.
///
/// # Errors
/// As the ledger's.
pub fn has_passphrase(engine: &Engine, call: &Call<'_>) -> Result<bool, Error> {
    match engine.is_initialised() {
        Ok(true) => Ok(engine.read(call, |r| r.setting(PUBLIC_KEY))?.is_some()),
        Ok(false) | Err(Error::Store(StoreError::CutOff { .. })) => Ok(false),
        Err(error) => Err(error),
    }
}

/// What needs a passphrase cannot be done before there is one.
pub fn no_passphrase(engine: &Engine) -> Error {
    Error::Conflict {
        message: format!("{} has no passphrase yet", engine.place()),
        hint: "run `strata init` at a terminal and choose one".into(),
    }
}

/// The passphrase that was given is another one. Whoever guesses leaves a trace in the audit.
///
/// # Errors
/// As the ledger's.
pub fn wrong_passphrase(engine: &Engine, call: &Call<'_>) -> Result<Error, Error> {
    record_refusal(engine, call, "passphrase", None, "", "a passphrase was given that is not this store's")?;
    Ok(Error::Conflict {
        message: format!("that is not the passphrase of {}", engine.place()),
        hint: "nothing was changed: run the command again and type the passphrase chosen at `strata init`, or check the \
               file named by --passphrase-file"
            .into(),
    })
}

/// The public half of a human's secret as the ledger keeps it.
pub fn public_key_text(secret: &SecretKey) -> String {
    hexadecimal(&secret.public().to_bytes())
}

/// The key in such a text; `None` when it is none.
pub fn parse_public_key(text: &str) -> Option<PublicKey> {
    let bytes = blake3::Hash::from_hex(text).ok()?;
    PublicKey::from_bytes(bytes.as_bytes()).ok()
}

/// Bytes as lower-case hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Signs the head of the audit when this change was approved with the secret.
pub fn seal(w: &LedgerWrite<'_>, call: &Call<'_>, actor: &Principal) -> Result<(), StoreError> {
    let approved = actor.kind == PrincipalKind::System && actor.on_behalf_of.is_some();
    if let (true, Some(secret)) = (approved, call.secret) {
        w.sign_head(secret)?;
    }
    Ok(())
}
