//! `init`: makes the home, and keeps the public half of the human's secret.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::principal::PrincipalKind;
use strata_store::{
    Control, Database, StoreError,
    ledger::{NewAudit, SCHEMA},
};

use crate::{
    authority::{self, PUBLIC_KEY, hexadecimal, public_key_text},
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Render},
};

/// See the module.
pub struct Init;

/// The setting that salts the passphrase, in hexadecimal.
pub const SALT: &str = "passphrase_salt";

/// The word on record, and the reason where a passphrase was set.
pub(crate) const ACTION: &str = "init";
/// See [`ACTION`].
pub(crate) const PASSPHRASE_SET: &str = "passphrase set";

/// The hash that goes on record of the public half of a passphrase.
pub(crate) fn key_hash(key: &str) -> [u8; 32] {
    *blake3::hash(key.as_bytes()).as_bytes()
}

/// The passphrase is asked for at the terminal.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {
    /// On a server: the role that the application connects as. It may read and write every tenant's memory, each under its
    /// tenant's name, but not change the schema. Run as the owner of the database.
    pub app_role: Option<String>,
}

/// What was made.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The home directory.
    pub home: String,
    /// The server that holds the store, its user and its database; absent when the store is in the home.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
    /// Whether this call made the store.
    pub created: bool,
    /// The version of its schema.
    pub schema: i64,
    /// Whether a secret protects rules, identity and purges.
    pub has_secret: bool,
    /// Whether this call set it.
    pub secret_set: bool,
}

impl Operation for Init {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "init",
        cli: &["init"],
        positional: &[],
        title: "Set up the home",
        about: "Makes the store in the home directory and, at a terminal, asks for the passphrase that will protect rules, \
                identity and purges. Running it again changes nothing that is there. Without a passphrase everything works \
                but what needs a human's approval.",
        effect: Effect::Write,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        engine.initialise(call)?;
        // The passphrase's salt may have been asked for just before, and made the store.
        let created = engine.has_made_ledger();
        let ledger = engine.existing_ledger()?;
        let control = engine.control(call);
        prepare_server(engine, &control, request.app_role.as_deref())?;
        let known = ledger.read(&control, |r| r.setting(PUBLIC_KEY))?;
        // A passphrase that is given again must be this home's: silence would pass for a change of it.
        if known.is_some() {
            authority::holds_secret(engine, call)?;
        }
        let wanted = call.secret.filter(|_| known.is_none());
        if let Some(secret) = wanted {
            if call.principal.kind != PrincipalKind::Human {
                return Err(Error::ApprovalRequired {
                    action: "setting the passphrase".into(),
                    reason: "only a person at a terminal sets it".into(),
                    command: "strata init".into(),
                });
            }
            let key = public_key_text(secret);
            let row = NewAudit {
                reason: PASSPHRASE_SET,
                after_hash: Some(key_hash(&key)),
                ..NewAudit::new(call.principal, call.face, ACTION, "")
            };
            ledger.write(&control, engine.clock().now(), |w| {
                w.record(&row)?;
                w.set_setting(PUBLIC_KEY, &key)?;
                w.sign_head(secret).map(drop)
            })?;
        }
        Ok(Response {
            home: engine.home().display().to_string(),
            store: engine.settings().store.as_ref().map(ToString::to_string),
            created,
            schema: SCHEMA.latest(),
            has_secret: known.is_some() || wanted.is_some(),
            secret_set: wanted.is_some(),
        })
    }
}

/// Makes the index's schema as well, which an application's role could not, and lets that role in.
fn prepare_server(engine: &Engine, control: &Control, role: Option<&str>) -> Result<(), Error> {
    if engine.settings().store.is_none() {
        return match role {
            None => Ok(()),
            Some(_) => Err(Error::argument(
                "app_role",
                "a store in the home has no roles",
                "leave it out, or name a server with `--store`",
            )),
        };
    }
    let databases = [engine.existing_ledger()?.database(), engine.searcher().index().database()];
    for database in databases {
        match role {
            Some(role) => database.admit(control, role)?,
            None => create_if_allowed(database, control)?,
        }
    }
    Ok(())
}

/// Another role than the owner finds the schemas made.
fn create_if_allowed(database: &Database, control: &Control) -> Result<(), Error> {
    match database.create(control) {
        Err(StoreError::ReadOnly { .. }) => Ok(()),
        outcome => Ok(outcome?),
    }
}

/// The salt of this home's passphrase, drawn at the first request.
///
/// # Errors
/// A conflict when there is a passphrase and its salt is gone: with another one nobody would ever be recognised.
pub fn salt(engine: &Engine, call: &Call<'_>) -> Result<[u8; 16], Error> {
    let ledger = engine.ledger(call)?;
    let mut fresh = [0; 16];
    engine.ids().fill(&mut fresh);
    let fresh = hexadecimal(&fresh);
    let kept = ledger.write(&engine.control(call), engine.clock().now(), |w| match w.setting(SALT)? {
        Some(kept) => Ok(Some(kept)),
        None if w.setting(PUBLIC_KEY)?.is_some() => Ok(None),
        None => w.set_setting(SALT, &fresh).map(|()| Some(fresh.clone())),
    })?;
    let kept = kept.ok_or_else(|| Error::Conflict {
        message: "what this home's passphrase is salted with is gone".into(),
        hint: "somebody changed the ledger's file: restore a backup".into(),
    })?;
    parse_salt(&kept).ok_or_else(|| Error::Internal("the passphrase's salt is damaged".into()))
}

pub(crate) fn parse_salt(text: &str) -> Option<[u8; 16]> {
    let bytes: Option<Vec<u8>> =
        (0..text.len()).step_by(2).map(|i| u8::from_str_radix(text.get(i..i + 2)?, 16).ok()).collect();
    bytes?.try_into().ok()
}

impl Render for Response {
    fn render(&self) -> Document {
        let what = if self.created { "initialized" } else { "already initialized:" };
        let document = Document::new().note(
            Mark::Good,
            format!("{what} {} (schema version {})", self.store.as_ref().unwrap_or(&self.home), self.schema),
        );
        let document = match (self.secret_set, self.has_secret) {
            (true, _) => document.note(Mark::Good, "passphrase set; rules, identity and purges now need it"),
            (false, true) => document,
            (false, false) => document.note(
                Mark::Info,
                "no passphrase: run `strata init` at a terminal to protect rules and purges",
            ),
        };
        document.text("Next:").with(Block::Code {
            language: "sh",
            text: "strata remember \"your first memory\"\nstrata recall \"your topic\"\nstrata serve   # the MCP server for your client".into(),
        })
    }
}
