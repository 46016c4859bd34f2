//! What keeps the tenants of a server apart is looked at by `doctor`, and put back by `init` as the schema's owner.

use crate::support::{NOON, Session};
use serde_json::{Value, json};
use strata_core::{
    error::ErrorKind,
    principal::{Principal, PrincipalKind},
    scope::Scope,
};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    engine::Engine,
    settings::Settings,
};
use strata_store::{Server, ledger::LOCAL};
use strata_testkit::{home::TestHome, store::TestStore};

fn on_server() -> Option<Session> {
    let home = TestStore::Postgres.is_there().then(|| TestHome::on(TestStore::Postgres).existing())?;
    let s = opened(home.settings(), home, 61);
    s.ok("init", json!({}));
    s.remember("the mill stands by the river");
    s.recall("mill");
    Some(s)
}

fn opened(settings: Settings, home: TestHome, seed: u64) -> Session {
    let engine =
        Engine::with_sources(settings, Box::new(ManualClock::at(NOON)), Box::new(SeededIds::new(seed)));
    let principal = Principal::new(PrincipalKind::Human, "test");
    Session { engine, principal, scope: Scope::user(), secret: None, home }
}

/// What `doctor` finds of the tenants: status, detail and hint of each line, and whether all is well.
fn tenants(s: &Session) -> (bool, Vec<(String, String, String)>) {
    let report = s.ok("doctor", json!({}));
    let text = |finding: &Value, name: &str| finding[name].as_str().unwrap_or_default().to_owned();
    let lines = report["findings"].as_array().expect("findings").iter().filter(|f| f["check"] == "tenants");
    let lines = lines.map(|f| (text(f, "status"), text(f, "detail"), text(f, "hint"))).collect();
    (report["healthy"] == true, lines)
}

#[test]
fn doctor_sees_each_way_in_which_tenants_are_not_kept_apart() {
    let Some(s) = on_server() else { return };
    let database = s.home.database().expect("on a server");
    let (healthy, lines) = tenants(&s);
    assert!(healthy && lines.len() == 1 && lines[0].0 == "ok", "{lines:?}");
    assert!(lines[0].1.contains("kept apart in") && lines[0].1.contains("`strata_test` owns"), "{lines:?}");

    let index = database.index_schemas().remove(0);
    let own = "tenant = current_setting('strata.tenant', true)";
    let memories = "strata_ledger.memories";
    let damages = [
        (
            format!("ALTER TABLE {memories} DISABLE ROW LEVEL SECURITY"),
            "row security of the table `memories` is off",
        ),
        (
            format!("ALTER TABLE {memories} NO FORCE ROW LEVEL SECURITY"),
            "row security of the table `memories` does not bind its owner",
        ),
        (format!("DROP POLICY own_tenant ON {memories}"), "the table `memories` has no policy `own_tenant`"),
        (format!("DROP POLICY own_tenant ON {index}.tails"), "the table `tails` has no policy `own_tenant`"),
        (
            format!("ALTER POLICY own_tenant ON {memories} USING (true)"),
            "of the table `memories` is not the one",
        ),
        (
            format!("ALTER POLICY own_tenant ON {index}.passages WITH CHECK (true)"),
            "of the table `passages` is not the one",
        ),
        (
            format!("ALTER POLICY own_tenant ON {memories} TO strata_test"),
            "of the table `memories` is not the one",
        ),
        (
            format!(
                "DROP POLICY own_tenant ON {memories};
                 CREATE POLICY own_tenant ON {memories} FOR UPDATE USING ({own})"
            ),
            "of the table `memories` is not the one",
        ),
    ];
    for (damage, expected) in damages {
        database.administer(&damage);
        let (healthy, lines) = tenants(&s);
        assert!(!healthy, "{damage}: {lines:?}");
        assert_eq!(lines.len(), 1, "{damage}: {lines:?}");
        let (status, detail, hint) = &lines[0];
        assert!(
            status == "bad" && detail.contains(expected) && hint.contains("`strata init`"),
            "{damage}: {lines:?}"
        );
        s.ok("init", json!({}));
        let (healthy, lines) = tenants(&s);
        assert!(healthy && lines[0].0 == "ok", "put back after {damage}: {lines:?}");
    }
    assert_eq!(s.recall("mill").len(), 1);
}

#[test]
fn a_policy_that_hides_everything_is_no_empty_store() {
    let Some(s) = on_server() else { return };
    s.home.database().expect("on a server").administer("DROP POLICY own_tenant ON strata_ledger.commits");
    // Another process, which has not seen it whole.
    let other = opened(s.home.settings(), TestHome::on(TestStore::Sqlite).existing(), 62);
    let (healthy, lines) = tenants(&other);
    assert!(!healthy && lines[0].1.contains("`commits` has no policy"), "{lines:?}");
    other.ok("init", json!({}));
    assert_eq!(other.recall("mill").len(), 1, "nothing was lost");
    assert!(tenants(&other).0);
}

#[test]
fn a_policy_of_somebody_else_is_named_with_what_removes_it() {
    let Some(s) = on_server() else { return };
    let database = s.home.database().expect("on a server");
    database.administer("CREATE POLICY everyone ON strata_ledger.memories USING (true)");
    let (healthy, lines) = tenants(&s);
    assert!(!healthy && lines[0].1.contains("`everyone` of the table `memories`"), "{lines:?}");
    let (_, remedy) = lines[0].2.split_once("runs: ").expect("a statement");
    database.administer(remedy);
    assert!(tenants(&s).0);
}

#[test]
fn roles_that_pass_over_row_security_are_named() {
    let Some(s) = on_server() else { return };
    let database = s.home.database().expect("on a server");
    let role = format!("{}_app", database.name());
    database.administer(&format!("CREATE ROLE {role} LOGIN PASSWORD 'app' NOSUPERUSER NOBYPASSRLS"));
    s.ok("init", json!({ "app_role": role }));
    let (healthy, lines) = tenants(&s);
    assert!(healthy && lines[0].0 == "warn", "the owner should not serve: {lines:?}");
    assert!(lines[0].1.contains("`strata_test`") && lines[0].2.contains(&role), "{lines:?}");

    let address = database.url().replacen("strata_test:strata_test@", &format!("{role}:app@"), 1);
    let store = Some(Server::parse(&address, LOCAL).expect("an address"));
    let home = TestHome::on(TestStore::Sqlite).existing();
    let app = opened(Settings { store, ..Settings::for_home(home.path()) }, home, 63);
    assert_eq!(app.recall("mill").len(), 1);
    let (healthy, lines) = tenants(&app);
    assert!(healthy && lines[0].0 == "ok" && !lines[0].1.contains("owns"), "{lines:?}");

    for (change, back, expected) in [
        ("ALTER ROLE $ BYPASSRLS", "ALTER ROLE $ NOBYPASSRLS", "has BYPASSRLS"),
        ("ALTER ROLE $ SUPERUSER", "ALTER ROLE $ NOSUPERUSER", "is a superuser"),
        ("GRANT strata_test TO $", "REVOKE strata_test FROM $", "the rights of the schema's owner"),
    ] {
        database.administer(&change.replace('$', &role));
        // The role is named to whoever looks: itself and the owner.
        let (healthy, lines) = tenants(&s);
        assert!(!healthy, "{change}");
        assert!(
            lines.iter().any(|l| l.0 == "bad" && l.1.contains(&role) && l.1.contains(expected)),
            "{lines:?}"
        );
        if expected.starts_with("has") {
            assert!(!tenants(&app).0, "{change}");
        }
        database.administer(&back.replace('$', &role));
        assert!(tenants(&app).0, "{back}");
    }
    // Who does not own the schema cannot put it back, and is told whose work that is.
    database.administer("ALTER TABLE strata_ledger.memories DISABLE ROW LEVEL SECURITY");
    assert!(!tenants(&app).0);
    app.reply("init", json!({})).err();
    assert!(!tenants(&app).0);
    s.ok("init", json!({}));
    assert!(tenants(&app).0);
    // Nor can he make a table of the index anew. Who has read nothing of it before does not find nothing there.
    database.administer(&format!("DROP TABLE {}.tails", database.index_schemas()[0]));
    let settings = app.engine.settings().clone();
    let fresh = opened(settings, TestHome::on(TestStore::Sqlite).existing(), 64);
    let searched = fresh.reply("recall", json!({ "query": "mill" })).expect_err("damaged");
    let rebuilt = fresh.reply("reindex", json!({})).expect_err("not his");
    for error in [&searched, &rebuilt] {
        assert!(error.kind() == ErrorKind::Corrupt && error.to_string().contains("`tails`"), "{error}");
    }
    assert!(
        rebuilt.to_string().contains("the schema's owner makes it anew with `strata reindex`"),
        "{rebuilt}"
    );
    s.ok("reindex", json!({}));
    assert_eq!(fresh.recall("mill").len(), 1);
    drop((app, fresh));
    database.administer(&format!("DROP OWNED BY {role}"));
    database.administer_outside(&format!("DROP ROLE {role}"));
}
