//! `init`: makes the home, and keeps the public half of the human's secret.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{principal::PrincipalKind, signing::SecretKey};
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
        about: "Makes the store, in the home directory or on the server that `--store` names, and, at a terminal, asks for the \
                passphrase that will protect rules, identity and purges. Running it again changes nothing that is there. Without a passphrase everything works \
                but what needs a human's approval.",
        effect: Effect::Write,
        audience: Audience::People,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["memory", "init"]];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let control = engine.control(call);
        // What is refused is refused before anything is made.
        check_role(engine, &control, request.app_role.as_deref())?;
        let has_one = check_secret(engine, call)?;
        engine.initialise(call)?;
        // A person at a terminal is asked for the passphrase once the store is there, and this runs again.
        let created = engine.has_made_ledger();
        prepare_server(engine, &control, request.app_role.as_deref())?;
        let wanted = call.secret.filter(|_| !has_one);
        if let Some(secret) = wanted {
            set_passphrase(engine, call, secret)?;
        }
        Ok(Response {
            home: engine.home().display().to_string(),
            store: engine.settings().store.as_ref().map(ToString::to_string),
            created,
            schema: SCHEMA.latest(),
            has_secret: has_one || wanted.is_some(),
            secret_set: wanted.is_some(),
        })
    }
}

/// Whether the role can be let in.
fn check_role(engine: &Engine, control: &Control, role: Option<&str>) -> Result<(), Error> {
    let Some(role) = role else { return Ok(()) };
    if engine.settings().store.is_none() {
        let hint = "leave it out, or name a server with `--store`";
        return Err(Error::argument("app_role", "a store in the home has no roles", hint));
    }
    Ok(engine.store().database().check_role(control, role)?)
}

/// Whether the store has a passphrase. One that is given must be that one, since silence would pass for a change of it;
/// where there is none yet, a person sets it.
fn check_secret(engine: &Engine, call: &Call<'_>) -> Result<bool, Error> {
    if authority::has_passphrase(engine, call)? {
        authority::holds_secret(engine, call)?;
        return Ok(true);
    }
    if call.secret.is_some() && call.principal.kind != PrincipalKind::Human {
        return Err(Error::ApprovalRequired {
            action: "setting the passphrase".into(),
            reason: "only a person at a terminal sets it".into(),
            command: "`strata init` at a terminal, or leave the passphrase out; nothing was made".into(),
        });
    }
    Ok(false)
}

/// Keeps the public half of the secret, with what the passphrase is salted with.
fn set_passphrase(engine: &Engine, call: &Call<'_>, secret: &SecretKey) -> Result<(), Error> {
    let key = public_key_text(secret);
    let row = NewAudit {
        reason: PASSPHRASE_SET,
        after_hash: Some(key_hash(&key)),
        ..NewAudit::new(call.principal, call.face, ACTION, "")
    };
    let salt = engine.drawn_salt().map(|salt| hexadecimal(&salt));
    let set = engine.existing_ledger()?.write(&engine.control(call), engine.clock().now(), |w| {
        if w.setting(PUBLIC_KEY)?.is_some() {
            return Ok(false);
        }
        w.record(&row)?;
        w.set_setting(PUBLIC_KEY, &key)?;
        if let Some(salt) = &salt {
            w.set_setting(SALT, salt)?;
        }
        w.sign_head(secret)?;
        Ok(true)
    })?;
    if set {
        return Ok(());
    }
    Err(Error::Conflict {
        message: "somebody else set a passphrase at the same moment".into(),
        hint: "run `strata init` again with theirs".into(),
    })
}

/// Makes the index's schema as well, which an application's role could not, and lets that role in.
fn prepare_server(engine: &Engine, control: &Control, role: Option<&str>) -> Result<(), Error> {
    if engine.settings().store.is_none() {
        return Ok(());
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
        Err(StoreError::ReadOnly { .. } | StoreError::Forbidden { .. } | StoreError::AwaitsOwner { .. }) => {
            Ok(())
        }
        outcome => Ok(outcome?),
    }
}

/// The salt of this store's passphrase. Where none is set yet it is drawn, and kept once the passphrase is.
///
/// # Errors
/// A conflict when there is a passphrase and its salt is gone: with another one nobody would ever be recognised.
pub fn salt(engine: &Engine, call: &Call<'_>) -> Result<[u8; 16], Error> {
    let has_one = authority::has_passphrase(engine, call)?;
    let kept = match engine.is_initialised() {
        Ok(true) => engine.read(call, |r| r.setting(SALT))?,
        // Nothing, or half a copy.
        _ => None,
    };
    let kept = match kept {
        Some(kept) => kept,
        None if !has_one => return Ok(engine.fresh_salt()),
        None => {
            return Err(Error::Conflict {
                message: format!("what the passphrase of {} is salted with is gone", engine.place()),
                hint: "somebody changed the ledger: restore a backup".into(),
            });
        }
    };
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
        let document = match &self.store {
            Some(_) => document.note(
                Mark::Info,
                "what follows needs the address too: by `--store URL`, STRATA_STORE or `store` in config.toml",
            ),
            None => document,
        };
        document.text("Next:").with(Block::Code {
            language: "sh",
            text: "strata remember \"your first memory\"\nstrata recall \"your topic\"\nstrata serve   # the MCP server for your client".into(),
        })
    }
}
