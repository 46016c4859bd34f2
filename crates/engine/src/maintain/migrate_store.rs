//! `migrate-store`: moves the ledger from the home to a server, or back. What it leaves stays as it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    policy::Verdict,
    principal::{Principal, PrincipalKind},
};
use strata_store::{
    Server,
    ledger::{LOCAL, LedgerWrite},
    moving::{self, Move, Moved, TableDigest},
};

use super::reindex::{index_everything, look_at_tables};
use crate::{
    authority::{self, PUBLIC_KEY, hexadecimal, parse_public_key, public_key_text},
    engine::Engine,
    error::{Error, at_a_terminal},
    knowledge::vault,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Render, counted},
    settings::{Settings, StoreAddress},
};

/// See the module.
pub struct MigrateStore;

/// The word for the files of the home.
const SQLITE: &str = "sqlite";
/// The words for the server that the configuration names.
const CONFIGURED: [&str; 3] = ["postgres", "server", "store"];
/// What there is to choose from.
const WORDS: &str = "`sqlite` is the home's files; `postgres`, `server` or `store` is the server that `--store URL`, STRATA_STORE \
                     or the configuration names; else write a server's address, `postgres://USER@HOST/DATABASE`";

/// What is said of a place to which a move was cut off once its rows were there, and what to do.
pub(crate) const CUT_OFF: [&str; 2] = [
    "a move to this store was cut off before it was complete",
    "run the same `strata migrate-store` again before anything is stored here: it begins anew, and the old place is as it was",
];

/// From where to where.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Where the memory is: `sqlite` for the home's files, `postgres` for the configured server, or a server's address.
    pub from: String,
    /// Where it is to go, in the same words; nothing of the tenant may be there yet.
    pub to: String,
    /// Whose memory on a server that is given by its address; `local` when absent.
    pub server_tenant: Option<String>,
    /// Only copy into a temporary file and check that; nothing is written to the new place.
    pub dry_run: Option<bool>,
}

/// What was moved.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Whether nothing was written to the new place.
    pub dry_run: bool,
    /// Where the memory was, and still is.
    pub from: String,
    /// Where it is now, too.
    pub to: String,
    /// Every table, with what both sides hold of it.
    pub tables: Vec<Table>,
    /// Rows in all tables.
    pub rows: u64,
    /// The last change at the old place.
    pub from_seq: i64,
    /// The last change at the new place: the move itself is on record there.
    pub seq: i64,
    /// The line of changes that began there; absent in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<String>,
    /// Changes that the index there has not followed yet.
    pub index_behind: u64,
    /// How Strata is told of the new place; empty in a dry run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
}

/// One table, alike on both sides.
#[derive(Debug, Serialize)]
pub struct Table {
    /// Its name.
    pub table: String,
    /// Its rows.
    pub rows: u64,
    /// BLAKE3 of what they hold.
    pub hash: String,
}

impl From<TableDigest> for Table {
    fn from(digest: TableDigest) -> Self {
        Self { table: digest.table, rows: digest.rows, hash: hexadecimal(&digest.hash) }
    }
}

impl Operation for MigrateStore {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "migrate_store",
        cli: &["migrate-store"],
        positional: &[],
        title: "Move the memory to a server or back",
        about: "Copies the whole ledger, with its audit and signatures, from the home's files to a PostgreSQL server or back, \
                compares every table on both sides, follows the audit at the new place, and builds the index there. Nobody \
                can write meanwhile; the old place stays as it is. The new place must be empty. Afterwards name it in the \
                configuration; the answer says how. Needs the passphrase of the old place when it has one. Try it with `dry_run` first.",
        effect: Effect::Write,
        audience: Audience::People,
    };

    /// The old place: the new one holds nothing yet.
    fn confirmed_by(engine: &Engine, request: &Request) -> Result<Option<Engine>, Error> {
        let tenant = request.server_tenant.as_deref();
        Ok(Some(beside(engine, place(engine.settings(), "from", &request.from, tenant)?)))
    }

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let tenant = request.server_tenant.as_deref();
        let from = beside(engine, place(engine.settings(), "from", &request.from, tenant)?);
        let to = beside(engine, place(engine.settings(), "to", &request.to, tenant)?);
        if from.place() == to.place() && from.tenant() == to.tenant() {
            return Err(Error::argument("to", "is the place that the memory is to be moved from", WORDS));
        }
        let source = from.existing_ledger()?;
        let actor = authorise(&from, call)?;
        let dry_run = request.dry_run.unwrap_or(false);
        let mut epoch = [0; 8];
        engine.ids().fill(&mut epoch);
        let epoch = hexadecimal(&epoch);
        let control = engine.control(call);
        let key = source.read(&control, |r| r.setting(PUBLIC_KEY))?;
        let public = key.as_deref().and_then(parse_public_key);
        let how = Move {
            epoch: &epoch,
            now: engine.clock().now(),
            principal: &actor,
            face: call.face,
            key: public.as_ref(),
            dry_run,
        };
        let seal = |write: &LedgerWrite<'_>| match call.secret {
            Some(secret) if key == Some(public_key_text(secret)) => write.sign_head(secret).map(drop),
            _ => Ok(()),
        };
        if !dry_run {
            vault::look_everywhere(&from, call)?;
        }
        let moved = moving::move_ledger(source, to.store(), &control, engine.home(), &how, &seal)?;
        let index_behind = if dry_run { 0 } else { complete(&to, call)? };
        Ok(answer(moved, (&from, &to), (!dry_run).then_some(epoch), index_behind))
    }
}

/// Builds the index at the new place and lets it count. Returns how many changes the index has not followed yet.
fn complete(to: &Engine, call: &Call<'_>) -> Result<u64, Error> {
    let index_behind = index_everything(to, call, &mut |done, total| {
        (call.progress)(done, total);
        Ok(())
    })?;
    moving::finish(to.existing_ledger()?, &to.control(call), to.clock().now())?;
    vault::materialise(to, call)?;
    look_at_tables(to, call, usize::MAX);
    Ok(index_behind)
}

fn answer(
    moved: Moved,
    (from, to): (&Engine, &Engine),
    epoch: Option<String>,
    index_behind: u64,
) -> Response {
    let next = if epoch.is_some() { switch(to) } else { Vec::new() };
    Response {
        dry_run: epoch.is_none(),
        from: from.place(),
        to: to.place(),
        rows: moved.tables.iter().map(|table| table.rows).sum(),
        tables: moved.tables.into_iter().map(Table::from).collect(),
        from_seq: moved.from.seq,
        seq: moved.head.seq,
        epoch,
        index_behind,
        next,
    }
}

/// What a person does so that Strata uses the new place.
fn switch(to: &Engine) -> Vec<String> {
    let config = to.home().join(crate::settings::CONFIG_FILE).display().to_string();
    let mut next =
        vec!["end the programs that use the old place: what they write there now is not moved".to_owned()];
    if to.settings().store.is_some() {
        next.push(format!(
            "put `store = \"postgres://...\"` with the address into {config}, or set STRATA_STORE"
        ));
        if to.tenant() != LOCAL {
            next.push(format!("put `tenant = \"{}\"` beside it", to.tenant()));
        }
    } else {
        next.push(format!("take `store` and `tenant` out of {config} and out of the environment"));
    }
    next.push("look it over with `strata doctor`, and remove the old place when you are content".to_owned());
    next
}

/// The server that a word means; none is the home.
fn place(
    settings: &Settings,
    field: &str,
    word: &str,
    tenant: Option<&str>,
) -> Result<Option<Server>, Error> {
    match word {
        SQLITE => Ok(None),
        word if CONFIGURED.contains(&word) => settings.store.clone().map(Some).ok_or_else(|| {
            let hint = "name it with `--store URL`, STRATA_STORE or `store` in the configuration, or write its address here";
            Error::argument(field, format!("is `{word}`, and no server is configured"), hint)
        }),
        address if Server::is_address(address) => {
            StoreAddress::new(address).server(tenant, &settings.tls).map(Some)
        }
        // It may be a mistyped address with a password in it, so it is not repeated.
        _ => Err(Error::argument(field, "is no place that a memory can be moved from or to", WORDS)),
    }
}

/// The same home with its ledger and index in another place.
fn beside(engine: &Engine, store: Option<Server>) -> Engine {
    Engine::new(Settings { store, ..engine.settings().clone() })
}

/// Rules, identity and audit come to another place, where other people may have other rights: a person decides it.
fn authorise(from: &Engine, call: &Call<'_>) -> Result<Principal, Error> {
    let verdict = match call.principal.kind {
        PrincipalKind::System => Verdict::Allow,
        PrincipalKind::Human if authority::has_passphrase(from, call)? => Verdict::NeedsApproval,
        PrincipalKind::Human => Verdict::Allow,
        _ => Verdict::Refuse,
    };
    match verdict {
        Verdict::Allow => return Ok(call.principal.clone()),
        Verdict::NeedsApproval if authority::holds_secret(from, call)? => {
            return Ok(Principal::new(PrincipalKind::System, "approval").on_behalf_of(call.principal));
        }
        Verdict::NeedsApproval | Verdict::Refuse => {}
    }
    let reason = "a move takes rules, identity and the audit along, so a person confirms it";
    authority::record_refusal(from, call, "migrate_store", None, "", reason)?;
    Err(Error::ApprovalRequired {
        action: "moving the memory".into(),
        reason: reason.into(),
        command: at_a_terminal(format_args!("strata migrate-store")),
    })
}

impl Render for Response {
    fn render(&self) -> Document {
        let rows = self.tables.iter().filter(|table| table.rows > 0);
        let row =
            |table: &Table| vec![table.table.clone(), table.rows.to_string(), table.hash[..16].to_owned()];
        let columns = ["table", "rows", "digest"].map(str::to_owned).to_vec();
        let document = Document::new().with(Block::Table { columns, rows: rows.map(row).collect() });
        let count = counted(usize::try_from(self.rows).unwrap_or(usize::MAX), "row");
        if self.dry_run {
            return document.note(
                Mark::Good,
                format!("{count} can be moved from {} to {}; nothing was written", self.from, self.to),
            );
        }
        let mut document = document.note(
            Mark::Good,
            format!(
                "moved {count} from {} to {}; both sides are alike, and the audit there is whole up to change {}",
                self.from, self.to, self.seq
            ),
        );
        if self.index_behind > 0 {
            let left = format!("changes not indexed yet: {}; the next search catches up", self.index_behind);
            document = document.note(Mark::Info, left);
        }
        self.next.iter().fold(document, |document, step| document.note(Mark::Info, step.clone()))
    }
}
