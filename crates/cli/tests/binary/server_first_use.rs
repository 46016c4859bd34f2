//! What whoever meets a server for the first time is told: one that nobody set up, roles that may not, and a memory that
//! is to be moved.

use serde_json::json;
use strata_testkit::{
    binary::Binary,
    home::TestHome,
    mcp::{Era, McpScript},
    store::{TestDatabase, TestStore},
};

use crate::{
    passphrase::at_terminal,
    server_faults::{database, with_a_memory},
    strata,
};

/// A home without a memory, and an empty database.
fn fresh() -> Option<(TestHome, TestDatabase)> {
    if !TestStore::Postgres.is_there() {
        return None;
    }
    Some((TestHome::on(TestStore::Sqlite).existing(), TestStore::Postgres.database()?))
}

/// The binary on a home with its store at `url`.
fn at<'h>(home: &'h TestHome, url: &str) -> Binary<'h> {
    strata(home).with("STRATA_STORE", url)
}

/// A role of the server that goes with this.
struct Role<'d> {
    database: &'d TestDatabase,
    name: String,
}

impl<'d> Role<'d> {
    fn new(database: &'d TestDatabase, suffix: &str, attributes: &str) -> Self {
        let name = format!("{}_{suffix}", database.name());
        database.administer(&format!("CREATE ROLE {name} LOGIN PASSWORD 'role' {attributes}"));
        Self { database, name }
    }

    /// The address of the database for this role.
    fn url(&self) -> String {
        let url = self.database.url();
        let (_, place) = url.split_once('@').expect("an owner");
        format!("postgres://{}:role@{place}", self.name)
    }
}

impl Drop for Role<'_> {
    fn drop(&mut self) {
        self.database.administer(&format!("DROP OWNED BY {0}; DROP ROLE {0}", self.name));
    }
}

#[test]
fn a_server_that_nobody_set_up_is_no_empty_memory() {
    let Some((home, database)) = fresh() else { return };
    let none = Role::new(&database, "none", "");
    for arguments in [
        &["remember", "the anchor is granite"][..],
        &["recall", "anchor"],
        &["context", "anchor"],
        &["rules", "list"],
        &["govern", "audit"],
        &["backup", "create"],
        &["export", "out.jsonl"],
        &["maintain"],
    ] {
        let output = at(&home, &none.url()).run(arguments).failure(7);
        assert!(output.stderr.contains("no Strata store"), "{arguments:?}: {}", output.stderr);
        assert!(output.stderr.contains("strata init"), "{arguments:?}: {}", output.stderr);
        assert!(!output.stderr.contains("reading works"), "{arguments:?}: {}", output.stderr);
    }
    assert_eq!(at(&home, &none.url()).json(["status"])["status"], "not_initialized");
    // The owner searches and makes nothing; what is stored makes it.
    at(&home, &database.url()).run(["recall", "anchor"]).failure(7);
    assert!(!database.has_ledger());
    at(&home, &database.url()).run(["remember", "the anchor is granite"]).success();
    // A tenant that has nothing yet has an empty memory.
    at(&home, &database.url()).with("STRATA_TENANT", "bob").run(["recall", "anchor"]).success();
}

#[test]
fn a_role_that_cannot_be_the_applications_is_refused_before_anything_is_made() {
    let Some((home, database)) = fresh() else { return };
    let over = Role::new(&database, "over", "BYPASSRLS");
    for (role, said) in
        [("no_such_role", "is not there"), ("strata_test", "owns the schema"), (&*over.name, "row security")]
    {
        let refused = at(&home, &database.url()).run(["init", "--app-role", role]).failure(2);
        assert!(refused.stderr.contains(role) && refused.stderr.contains(said), "{}", refused.stderr);
        assert!(refused.stderr.contains("hint: ") && !refused.stderr.contains("fault of Strata"));
        assert!(!database.has_ledger(), "{role}");
    }
    let app = Role::new(&database, "app", "");
    let made = at(&home, &database.url()).run(["init", "--app-role", &app.name]).success();
    assert!(made.stdout.contains("STRATA_STORE"), "what comes next needs the address: {}", made.stdout);
    at(&home, &app.url()).run(["remember", "the anchor is granite"]).success();
    let advice = |home| at(home, &database.url()).run(["doctor"]).stdout;
    assert!(advice(&home).contains(&format!("connect as `{}`", app.name)), "{}", advice(&home));
    database.administer(&format!("ALTER ROLE {} BYPASSRLS", app.name));
    assert!(!advice(&home).contains("connect as `"), "{}", advice(&home));
}

#[test]
fn a_role_that_may_only_read_hears_that_nothing_can_be_kept() {
    let Some(home) = with_a_memory() else { return };
    let reader = Role::new(database(&home), "reads", "");
    database(&home).administer(&format!(
        "GRANT USAGE ON SCHEMA strata_ledger TO {0}; GRANT SELECT ON ALL TABLES IN SCHEMA strata_ledger TO {0}",
        reader.name
    ));
    let url = reader.url();
    let status = at(&home, &url).json(["status"]);
    assert_eq!(status["status"], "read_only", "{status:#}");
    let told = at(&home, &url).run(["doctor"]).stdout;
    assert!(told.contains("no right to write") && told.contains(&reader.name), "{told}");
    let refused = at(&home, &url).run(["remember", "more"]).failure(8);
    assert!(refused.stderr.contains("--app-role"), "{}", refused.stderr);
    // It may not look at the index either, and searches the ledger.
    assert!(at(&home, &url).run(["recall", "anchor"]).success().stdout.contains("granite"));
    let none = Role::new(database(&home), "none", "");
    for arguments in [&["recall", "anchor"][..], &["remember", "more"], &["status"]] {
        let refused = at(&home, &none.url()).run(arguments).failure(8);
        assert!(!refused.stderr.contains("reading works"), "{arguments:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("--app-role"), "{arguments:?}: {}", refused.stderr);
    }
}

#[test]
fn a_ledger_that_somebody_dropped_is_missed_in_the_same_words_everywhere() {
    let Some(home) = with_a_memory() else { return };
    strata(&home).run(["recall", "anchor"]).success();
    let mut script = McpScript::start(&strata(&home), Era::Handshake, &[]);
    assert!(script.call("recall", &json!({ "query": "anchor" })).text.contains("granite"));
    database(&home).administer("DROP SCHEMA strata_ledger CASCADE");
    for tool in ["recall", "context", "recall"] {
        let missed = script.call(tool, &json!({ "query": "anchor" }));
        assert!(missed.is_error, "{tool}: {}", missed.text);
        assert!(missed.text.contains("no Strata store at postgres://"), "{tool}: {}", missed.text);
        assert!(missed.text.contains("not_initialized"), "{tool}: {}", missed.text);
    }
    for arguments in
        [&["recall", "anchor"][..], &["govern", "audit"], &["backup", "create"], &["export", "x"]]
    {
        let missed = strata(&home).run(arguments).failure(7);
        assert!(missed.stderr.contains("no Strata store at postgres://"), "{arguments:?}: {}", missed.stderr);
    }
    assert_eq!(strata(&home).json(["status"])["status"], "not_initialized");
    let told = strata(&home).run(["doctor"]);
    assert!(told.code != 0 && told.stdout.contains("`strata_ledger` is gone"), "{}", told.stdout);
}

#[test]
#[ignore = "needs Python for a terminal: run by cargo xtask test"]
fn a_move_asks_for_the_passphrase_of_the_old_place_and_says_whose_it_is() {
    const PASSPHRASE: &str = "correct horse staple";
    let Some((home, database)) = fresh() else { return };
    at_terminal(&home, &[], &[PASSPHRASE, PASSPHRASE], &["init"]).success();
    strata(&home).run(["remember", "the anchor is granite"]).success();
    let url = database.url();
    let there = ["migrate-store", "--from", "sqlite", "--to", &url];
    let asked = at_terminal(&home, &[], &[PASSPHRASE], &there).success();
    assert!(asked.stdout.contains(&format!("Passphrase of {}: ", home.path().display())), "{}", asked.stdout);
    // Into a home that has no passphrase, and no server in its configuration.
    let other = TestHome::on(TestStore::Sqlite);
    let back = ["migrate-store", "--from", &url, "--to", "sqlite"];
    let wrong = at_terminal(&other, &[], &["another passphrase"], &back);
    assert_eq!(wrong.code, 5, "{}", wrong.stdout);
    assert!(wrong.stdout.contains("not the passphrase of postgres://"), "{}", wrong.stdout);
    assert!(!wrong.stdout.contains("no passphrase yet"), "{}", wrong.stdout);
    let asked = at_terminal(&other, &[], &[PASSPHRASE], &back).success();
    assert!(asked.stdout.contains("Passphrase of postgres://"), "{}", asked.stdout);
    assert!(!asked.stdout.contains("strata_test:"), "no password: {}", asked.stdout);
    assert!(strata(&other).run(["recall", "anchor"]).success().stdout.contains("granite"));
}
