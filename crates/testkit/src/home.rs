//! Homes that vanish with the test.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use strata_engine::settings::Settings;
use strata_store::{
    Server,
    faults::FaultPlan,
    index::Index,
    ledger::{LOCAL, Ledger},
};
use tempfile::TempDir;

use crate::store::{TestDatabase, TestStore};

/// A directory of its own for one test: a home, and room for files beside it. Where the tests run on a server
/// the home's memory lies in a database of its own there.
#[derive(Debug)]
pub struct TestHome {
    directory: TempDir,
    home: PathBuf,
    store: TestStore,
    /// Whether its database begins with its tables.
    with_tables: bool,
    database: OnceLock<Option<TestDatabase>>,
}

impl TestHome {
    /// A fresh one, whose home does not exist yet.
    ///
    /// # Panics
    /// The machine refuses a temporary directory.
    pub fn new() -> Self {
        Self::on(TestStore::chosen())
    }

    /// A fresh one with its memory in a given place, whatever the environment says.
    ///
    /// # Panics
    /// The machine refuses a temporary directory.
    pub fn on(store: TestStore) -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let home = directory.path().join("home");
        Self { home, directory, store, with_tables: true, database: OnceLock::new() }
    }

    /// A fresh one for a test of how a memory comes into being: on a server its database has nothing in it, no
    /// tables either.
    ///
    /// # Panics
    /// The machine refuses a temporary directory.
    pub fn bare() -> Self {
        Self { with_tables: false, ..Self::new() }
    }

    /// The same with a home that exists, empty: the whole directory.
    pub fn existing(self) -> Self {
        Self { home: self.directory.path().to_owned(), ..self }
    }

    /// The home. Nothing creates it but Strata, unless it is [`Self::existing`].
    pub fn path(&self) -> &Path {
        &self.home
    }

    /// The database of the home's memory, made by the first look; none where that lies in the home.
    pub fn database(&self) -> Option<&TestDatabase> {
        let make =
            || if self.with_tables { self.store.database_with_tables() } else { self.store.database() };
        self.database.get_or_init(make).as_ref()
    }

    /// The server, and the only tenant there, where the home's memory lies on one.
    ///
    /// # Panics
    /// The environment names the server by an address that is none.
    pub fn server(&self) -> Option<Server> {
        let url = self.database()?.url();
        Some(Server::parse(&url, LOCAL).expect("the address of a test's database"))
    }

    /// The home's ledger.
    pub fn ledger(&self, faults: FaultPlan) -> Ledger {
        match self.server() {
            None => Ledger::new(&self.home, faults),
            Some(server) => Ledger::on_server(server, faults),
        }
    }

    /// The home's index for a version of the analyser.
    pub fn index(&self, analyser: u32, faults: FaultPlan) -> Index {
        match self.server() {
            None => Index::new(&self.home, analyser, faults),
            Some(server) => Index::on_server(server, analyser, faults),
        }
    }

    /// What the engine is told about the home.
    pub fn settings(&self) -> Settings {
        self.settings_of(&self.home)
    }

    /// What the engine is told about another home whose memory is this one's.
    pub fn settings_of(&self, home: &Path) -> Settings {
        Settings { store: self.server(), ..Settings::for_home(home) }
    }

    /// Takes the ledger away, as a lost disk would; the rest of the home stays. Nobody may have it open.
    pub fn lose_ledger(&self) {
        match self.database() {
            Some(database) => database.administer("DROP SCHEMA strata_ledger CASCADE"),
            None => self.lose_files("ledger.db"),
        }
    }

    /// Takes every index away. Nobody may have one open.
    pub fn lose_indexes(&self) {
        let Some(database) = self.database() else { return self.lose_files("index-") };
        let schemas = database.index_schemas();
        assert!(!schemas.is_empty(), "there is no index");
        for schema in schemas {
            database.administer(&format!("DROP SCHEMA {schema} CASCADE"));
        }
    }

    fn lose_files(&self, beginning: &str) {
        let files = std::fs::read_dir(&self.home).expect("a home").flatten();
        let files: Vec<_> =
            files.filter(|file| file.file_name().to_string_lossy().starts_with(beginning)).collect();
        assert!(!files.is_empty(), "nothing begins with {beginning}");
        for file in files {
            std::fs::remove_file(file.path()).expect("removed");
        }
    }

    /// The directory around it: the user's own directory and the working directory of commands.
    pub fn outside(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file beside the home and gives its path.
    ///
    /// # Panics
    /// The file cannot be written.
    #[expect(clippy::disallowed_methods, reason = "a fixture needs no atomic write")]
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.directory.path().join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).expect("a directory for the fixture");
        }
        std::fs::write(&path, content).expect("a fixture");
        path
    }
}

impl Default for TestHome {
    fn default() -> Self {
        Self::new()
    }
}
