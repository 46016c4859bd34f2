//! The database that those of tests are copied from: it has every table and no tenant. A copy is made in a fraction
//! of the time that the tables take. How they come into being has tests of its own, which begin with nothing.

use std::hash::{DefaultHasher, Hash, Hasher};

use strata_core::analysis;
use strata_store::{
    Control, Server,
    faults::FaultPlan,
    index::Index,
    ledger::{LOCAL, Ledger, SCHEMA},
};

use crate::store::{Administrator, OWNER, at_database, owners_url};

/// Makes the template's name anew whenever its tables would be others.
pub(crate) fn name(with_pgvector: bool) -> String {
    let mut hasher = DefaultHasher::new();
    for migration in SCHEMA.migrations {
        migration.checksum().hash(&mut hasher);
    }
    (Index::namespace(analysis::VERSION), with_pgvector).hash(&mut hasher);
    format!("strata_template_{:016x}", hasher.finish())
}

/// Makes the template, unless another process has: one at a time.
pub(crate) fn make(administrator: &Administrator<'_>, name: &str, with_pgvector: bool) {
    administrator.run("SELECT pg_advisory_lock(7305217)");
    let there = administrator.run(&format!("SELECT datname FROM pg_database WHERE datname = '{name}'"));
    if there.is_empty() {
        // It gets its name when it is whole: whoever is killed here leaves nothing that would be copied.
        let making = format!("{name}_making");
        administrator.run(&format!("DROP DATABASE IF EXISTS {making} WITH (FORCE)"));
        administrator.run(&format!("CREATE DATABASE {making} OWNER {OWNER} TEMPLATE template0"));
        fill(administrator.url(), &making, with_pgvector);
        administrator.run(&format!("ALTER DATABASE {making} RENAME TO {name}"));
    }
    administrator.run("SELECT pg_advisory_unlock(7305217)");
}

fn fill(administrator: &str, database: &str, with_pgvector: bool) {
    let here = at_database(administrator, database);
    let role = format!("{database}_role");
    Administrator::with(&here, |own| {
        if with_pgvector {
            own.run("CREATE EXTENSION vector");
        }
        own.run(&format!("DROP ROLE IF EXISTS {role}"));
        own.run(&format!("CREATE ROLE {role}"));
    });
    // Letting a role in makes the tables and no tenant.
    let server = Server::parse(&owners_url(administrator, database), LOCAL).expect("an address");
    let ledger = Ledger::on_server(server.clone(), FaultPlan::none());
    let index = Index::on_server(server, analysis::VERSION, FaultPlan::none());
    for database in [ledger.database(), index.database()] {
        database.admit(&Control::default(), &role).expect("the tables");
        database.close();
    }
    Administrator::with(&here, |own| {
        own.run(&format!("DROP OWNED BY {role}"));
        own.run(&format!("DROP ROLE {role}"));
    });
}
