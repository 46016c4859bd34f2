//! `backup restore`: puts a backup in the place of the ledger. What was purged stays purged.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    id::{Id, IdKind},
    memory::Layer,
    policy::Verdict,
    principal::{Principal, PrincipalKind},
};
use strata_store::{
    backup::{self, FileEntry},
    error::StoreError,
    files,
    ledger::{Ledger, LedgerRead, LedgerWrite, MemoryFilter, RuleAttributes},
};

use super::{directory, make};
use crate::{
    authority::{self, PUBLIC_KEY, hexadecimal},
    engine::Engine,
    error::{Error, at_a_terminal},
    knowledge::{l0, vault},
    maintain::{init::SALT, left_to_owner, purged, reindex::index_everything},
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Document, Mark, Render, counted},
    rules,
};

/// See the module.
pub struct Restore;

/// Which backup.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The backup's id, from `backup list`.
    pub id: String,
    /// Give up what was stored since the backup was made.
    pub force: Option<bool>,
}

/// What was done.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The backup that is in place now.
    pub id: String,
    /// The last change of the ledger.
    pub seq: i64,
    /// The line of changes that began.
    pub epoch: String,
    /// Things that the backup held although they were purged, and that were purged again.
    pub purged_again: usize,
    /// A backup of what was in place before, for the way back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
    /// Where the ledger lies that was in place and could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_aside: Option<String>,
    /// Files of the backup that were missing in the home and were put back.
    pub files_restored: Vec<String>,
    /// Files of the backup that differ from those in the home, which were left alone.
    pub files_kept: Vec<String>,
    /// Changes that the index has not followed yet.
    pub index_behind: u64,
    /// What would take the bytes of what was replaced out of the server's files: statements for its owner.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_to_owner: Vec<String>,
}

impl Operation for Restore {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "backup_restore",
        cli: &["backup", "restore"],
        positional: &["id"],
        title: "Restore a backup",
        about: "Puts a backup in the place of the ledger, after checking every byte of it. What is in place is backed up \
                first. Needs `force` when that holds changes the backup does not have, and the passphrase when the home has \
                one or when rules or identity would be others than now. What was purged since is purged from the restored ledger too; the index follows by itself.",
        effect: Effect::Destroy,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let place = find(engine, &request.id)?;
        let force = request.force.unwrap_or(false);
        let set_aside = if force { set_aside_unreadable(engine, call)? } else { None };
        let held = Held::look(engine, call, &place)?;
        let actor = authorise(engine, call, &request.id, &held)?;
        let had_one = engine.is_initialised()?;
        let ledger = engine.ledger(call)?;
        let previous = if had_one { Some(make(engine, call)?.id) } else { None };
        let list = purged::read(engine.home())?.entries;
        let mut epoch = [0; 8];
        engine.ids().fill(&mut epoch);
        let epoch = hexadecimal(&epoch);
        let how = backup::Restore {
            epoch: &epoch,
            now: engine.clock().now(),
            principal: &actor,
            face: call.face,
            purged: &list,
            force,
        };
        let seal = |write: &LedgerWrite<'_>| seal(call, write, &held);
        let restored = backup::restore(&place, ledger, &engine.control(call), &how, &seal)?;
        remember_purges(engine, call, ledger)?;
        let (files_restored, files_kept) = put_back(engine.home(), &place)?;
        // Those of the vault come from the ledger.
        vault::materialise(engine, call)?;
        l0::sync_everything(engine, call)?;
        let index_behind = index_everything(engine, call, &mut |done, total| {
            (call.progress)(done, total);
            Ok(())
        })?;
        Ok(Response {
            id: request.id,
            seq: restored.head.seq,
            epoch,
            purged_again: restored.purged_again,
            previous,
            set_aside,
            files_restored,
            files_kept,
            index_behind,
            left_to_owner: restored.left,
        })
    }
}

/// The backup's directory. The id is looked up, never joined to a path unread.
fn find(engine: &Engine, id: &str) -> Result<PathBuf, Error> {
    let hint = "`strata backup list` shows the ids";
    let id = Id::parse(id).map_err(|_| Error::argument("id", "is not the id of a backup", hint))?;
    let place = directory(engine).join(id.as_str());
    if id.kind() == IdKind::Backup && place.is_dir() {
        return Ok(place);
    }
    Err(Error::NotFound { what: "backup", id: id.to_string(), hint: hint.to_owned() })
}

/// What a ledger holds that takes the secret to change.
#[derive(PartialEq)]
struct Guarded {
    /// The public half of the secret.
    key: Option<String>,
    /// What the passphrase is salted with.
    salt: Option<String>,
    /// Rules and identity in force, with all that they say.
    standing: Vec<(String, [String; 4], RuleAttributes)>,
}

impl Guarded {
    fn read(r: &LedgerRead<'_>) -> Result<Self, StoreError> {
        let filter =
            MemoryFilter { layers: vec![Layer::P0, Layer::P1], limit: usize::MAX, ..MemoryFilter::default() };
        let standing = rules::in_order(r, &filter)?.into_iter().map(|rule| {
            let m = rule.memory;
            let says = [m.state.layer.to_string(), m.kind.to_string(), m.title, m.body];
            (m.id, says, rule.attributes)
        });
        let standing = standing.collect();
        Ok(Self { key: r.setting(PUBLIC_KEY)?, salt: r.setting(SALT)?, standing })
    }
}

/// What is guarded in the home, and in the backup that would take its place.
struct Held {
    /// `None` when there is nothing in place yet.
    here: Option<Guarded>,
    there: Guarded,
}

impl Held {
    fn look(engine: &Engine, call: &Call<'_>, place: &Path) -> Result<Self, Error> {
        let control = engine.control(call);
        let here = match engine.is_initialised()? {
            true => Some(engine.existing_ledger()?.read(&control, Guarded::read)?),
            false => None,
        };
        Ok(Self { here, there: backup::look_into(place, &control, Guarded::read)? })
    }

    /// Whether a person needs the secret: where one was set, and where rules or identity would change.
    fn takes_secret(&self) -> bool {
        self.here.as_ref().is_some_and(|here| here.key.is_some() || here.standing != self.there.standing)
    }

    /// Whether the backup would bring another secret along, and with it another owner.
    fn has_other_owner(&self) -> bool {
        let here = self.here.as_ref().and_then(|here| here.key.as_ref());
        here.is_some() && self.there.key.is_some() && here != self.there.key.as_ref()
    }
}

/// A person restores; where a secret was set, or rules and identity would change, with it.
fn authorise(engine: &Engine, call: &Call<'_>, id: &str, held: &Held) -> Result<Principal, Error> {
    let action = "restore";
    let allowed = match call.principal.kind {
        PrincipalKind::System => Verdict::Allow,
        PrincipalKind::Human if !held.takes_secret() => Verdict::Allow,
        PrincipalKind::Human => Verdict::NeedsApproval,
        _ => Verdict::Refuse,
    };
    if allowed != Verdict::Refuse && held.has_other_owner() {
        return Err(Error::Conflict {
            message: format!("backup {id} belongs to another passphrase than this store"),
            hint:
                "restore it into a home of its own with `--home DIR`, and `export` what is wanted from there"
                    .into(),
        });
    }
    match allowed {
        Verdict::Allow => return Ok(call.principal.clone()),
        Verdict::NeedsApproval if authority::holds_secret(engine, call)? => {
            return Ok(authority::approval().on_behalf_of(call.principal));
        }
        Verdict::NeedsApproval | Verdict::Refuse => {}
    }
    let reason = "a restore replaces rules, identity and the audit, so a person confirms it";
    authority::record_refusal(engine, call, action, None, id, reason)?;
    Err(Error::ApprovalRequired {
        action: "restoring a backup".into(),
        reason: reason.into(),
        command: at_a_terminal(format_args!("strata backup restore {id}")),
    })
}

/// Moves a ledger that cannot be read out of the way, so that a backup can take its place.
///
/// Only a person decides that: an unreadable ledger cannot say whether it has a secret.
fn set_aside_unreadable(engine: &Engine, call: &Call<'_>) -> Result<Option<String>, Error> {
    if !engine.is_initialised()?
        || !matches!(call.principal.kind, PrincipalKind::Human | PrincipalKind::System)
    {
        return Ok(None);
    }
    let ledger = engine.existing_ledger()?;
    match ledger.read(&engine.control(call), |r| r.head().and(r.setting(PUBLIC_KEY))) {
        Err(StoreError::Corrupt { .. } | StoreError::Foreign { .. }) => {}
        outcome => return Ok(outcome.map(|_| None)?),
    }
    let database = ledger.database();
    database.close();
    // On a server a restore replaces the tenant's rows, readable or not.
    let Some(path) = database.place().file() else { return Ok(None) };
    let aside = (1..=u64::from(u32::MAX))
        .map(|n| path.with_extension(format!("damaged-{n}")))
        .find(|candidate| !candidate.exists())
        .ok_or_else(|| Error::Internal("no free name".into()))?;
    for suffix in ["-wal", "-shm", ""] {
        let from = beside(path, suffix);
        if from.exists() {
            std::fs::rename(&from, beside(&aside, suffix))
                .map_err(|source| Error::File { path: from.display().to_string(), source })?;
        }
    }
    Ok(Some(aside.display().to_string()))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Keeps the home's passphrase when the backup is older than it, and signs the new head when the caller holds
/// the secret of the ledger that comes into place. An approval is never seen without its signature.
fn seal(call: &Call<'_>, write: &LedgerWrite<'_>, held: &Held) -> Result<(), StoreError> {
    let here = held.here.as_ref().and_then(|here| Some((here.key.as_ref()?, here.salt.as_ref())));
    if let (Some((key, salt)), None) = (here, write.setting(PUBLIC_KEY)?) {
        write.set_setting(PUBLIC_KEY, key)?;
        salt.map_or(Ok(()), |salt| write.set_setting(SALT, salt))?;
    }
    let Some(secret) = call.secret else { return Ok(()) };
    if write.setting(PUBLIC_KEY)? == Some(authority::public_key_text(secret)) {
        write.sign_head(secret)?;
    }
    Ok(())
}

/// The restored ledger's own tombstones belong on the list too: this home may never have seen them.
fn remember_purges(engine: &Engine, call: &Call<'_>, ledger: &Ledger) -> Result<(), Error> {
    let control = engine.control(call);
    for stone in ledger.read(&control, |r| r.purged())? {
        purged::add(engine.home(), &control, stone.kind, &stone.id, stone.at)?;
    }
    Ok(())
}

/// Puts files of the backup back that are missing in the home; never replaces one.
fn put_back(home: &Path, place: &Path) -> Result<(Vec<String>, Vec<String>), Error> {
    let (mut restored, mut kept) = (Vec::new(), Vec::new());
    for FileEntry { name, hash, .. } in backup::read_manifest(place)?.files {
        let Some(own) = name.strip_prefix("files/") else { continue };
        let target = home.join(own);
        let read = |path: &Path| {
            std::fs::read(path).map_err(|source| Error::File { path: path.display().to_string(), source })
        };
        if target.exists() {
            if blake3::hash(&read(&target)?).as_bytes() != &hash {
                kept.push(own.to_owned());
            }
            continue;
        }
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent)
                .map_err(|source| Error::File { path: parent.display().to_string(), source })?;
        }
        files::write_atomic(&target, &read(&place.join(&name))?)?;
        restored.push(own.to_owned());
    }
    Ok((restored, kept))
}

impl Render for Response {
    fn render(&self) -> Document {
        let mut document = Document::new()
            .note(Mark::Good, format!("restored {}; the ledger ends at change {}", self.id, self.seq));
        if self.purged_again > 0 {
            document = document.note(
                Mark::Info,
                format!(
                    "purged again, because the backup still held it: {}",
                    counted(self.purged_again, "thing")
                ),
            );
        }
        if let Some(previous) = &self.previous {
            document = document.note(Mark::Info, format!("what was in place before is kept as {previous}"));
        }
        if let Some(aside) = &self.set_aside {
            document =
                document.note(Mark::Warning, format!("the ledger that could not be read lies at {aside}"));
        }
        for (what, names) in
            [("put back", &self.files_restored), ("left as they are in the home", &self.files_kept)]
        {
            if !names.is_empty() {
                document = document.note(Mark::Info, format!("files {what}: {}", names.join(", ")));
            }
        }
        if self.index_behind > 0 {
            document = document.note(
                Mark::Info,
                format!("changes not indexed yet: {}; the next search catches up", self.index_behind),
            );
        }
        let why = "the server's files may hold what was in place before until something is written over it";
        left_to_owner::told(document, why, &self.left_to_owner)
    }
}
