//! Databases of older programs, as they leave them: schemas by version, and rows a test puts in.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, types::Value};

/// What p-layer recorded of its migrations, by version.
const CHECKSUMS: [(&str, &str); 4] = [
    ("initial_schema", "c3806956bc157f8b30b32bd82be9bccf61f8f19242c04a8c89341f2c1d0b7f37"),
    ("layer_governance", "29649eae31e40a3003fa1701702e5efd3d2e19248d33a627229ff31c15fb1137"),
    ("audit_log", "eac36be428aacd921d6ce2bf2205caa4779ed4bbfff3b71c40be552b21d177ab"),
    ("consolidation", "2376d1b291f72d0963a3999cb3c9e22a97e72cc8e79b04795db668aad7b115a1"),
];

const FIRST: &str = "
    CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL,
        applied_at TEXT NOT NULL);
    CREATE TABLE knowledge (id INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL
        CHECK (type IN ('fact', 'decision', 'preference', 'pattern', 'insight')),
        content TEXT NOT NULL, source TEXT, session_id TEXT, created_at TEXT NOT NULL, updated_at TEXT);
    CREATE VIRTUAL TABLE knowledge_fts USING fts5(content, type, tokenize = 'unicode61');
    CREATE TABLE embeddings (id INTEGER PRIMARY KEY AUTOINCREMENT,
        knowledge_id INTEGER NOT NULL REFERENCES knowledge (id) ON DELETE CASCADE, model TEXT NOT NULL,
        embedding_version TEXT NOT NULL, dimensions INTEGER NOT NULL, vector BLOB NOT NULL,
        created_at TEXT NOT NULL, UNIQUE (knowledge_id, model, embedding_version));
    CREATE TABLE episodes (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, kind TEXT NOT NULL
        CHECK (kind IN ('session', 'incident', 'retro', 'event')), payload TEXT NOT NULL,
        created_at TEXT NOT NULL);
    CREATE TABLE entities (id INTEGER PRIMARY KEY AUTOINCREMENT, label TEXT NOT NULL UNIQUE,
        type TEXT NOT NULL, type_parent TEXT, properties TEXT NOT NULL DEFAULT '{}',
        knowledge_id INTEGER REFERENCES knowledge (id) ON DELETE SET NULL, created_at TEXT NOT NULL);
    CREATE TABLE relations (id INTEGER PRIMARY KEY AUTOINCREMENT,
        source_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
        target_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE, type TEXT NOT NULL,
        properties TEXT NOT NULL DEFAULT '{}', created_at TEXT NOT NULL,
        UNIQUE (source_id, target_id, type));
    CREATE TABLE rules (id INTEGER PRIMARY KEY AUTOINCREMENT, priority INTEGER NOT NULL DEFAULT 100,
        layer TEXT NOT NULL DEFAULT 'P0', scope TEXT, condition TEXT, text TEXT NOT NULL, source TEXT,
        enabled INTEGER NOT NULL DEFAULT 1, created_at TEXT NOT NULL);
    CREATE INDEX idx_knowledge_type ON knowledge (type);
    CREATE INDEX idx_knowledge_created ON knowledge (created_at DESC);
    CREATE INDEX idx_rules_priority ON rules (priority, enabled);";
const SECOND: &str = "
    ALTER TABLE knowledge ADD COLUMN layer TEXT NOT NULL DEFAULT 'P5';
    ALTER TABLE knowledge ADD COLUMN who TEXT NOT NULL DEFAULT 'system';
    ALTER TABLE knowledge ADD COLUMN confidence REAL NOT NULL DEFAULT 1.0;
    ALTER TABLE knowledge ADD COLUMN ttl_days INTEGER;
    ALTER TABLE knowledge ADD COLUMN superseded_by INTEGER REFERENCES knowledge (id) ON DELETE SET NULL;
    ALTER TABLE knowledge ADD COLUMN superseded_reason TEXT;
    CREATE TABLE snapshots (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id TEXT NOT NULL UNIQUE, label TEXT,
        entry_ids TEXT NOT NULL, created_at TEXT NOT NULL);
    CREATE INDEX idx_knowledge_layer ON knowledge (layer);
    CREATE INDEX idx_knowledge_superseded ON knowledge (superseded_by);";
const THIRD: &str = "
    CREATE TABLE audit_log (id INTEGER PRIMARY KEY AUTOINCREMENT, action TEXT NOT NULL, knowledge_id INTEGER,
        layer TEXT, who TEXT, detail TEXT, denied INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL);
    CREATE INDEX idx_audit_created ON audit_log (created_at);";
const FOURTH: &str = "ALTER TABLE episodes ADD COLUMN consolidated_at TEXT;";

const DREWGENT: &str = "
    CREATE TABLE knowledge (id INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT, content TEXT, source TEXT,
        created_at TEXT);
    CREATE TABLE entities (id INTEGER PRIMARY KEY AUTOINCREMENT, label TEXT, type TEXT, properties TEXT,
        knowledge_id INTEGER);
    CREATE TABLE relations (id INTEGER PRIMARY KEY AUTOINCREMENT, source_id INTEGER, target_id INTEGER,
        type TEXT, properties TEXT);
    CREATE TABLE sessions (id TEXT PRIMARY KEY, title TEXT, created_at TEXT, message_count INTEGER);";

/// A database of an older program, open as that program holds it.
#[derive(Debug)]
pub struct OlderStore {
    path: PathBuf,
    connection: Connection,
}

/// One value of a row.
pub type Cell = Value;

impl OlderStore {
    /// A p-layer database of schema 1 to 4, with its log beside it.
    ///
    /// # Panics
    /// The file cannot be made.
    pub fn p_layer(path: impl Into<PathBuf>, schema: usize) -> Self {
        let store = Self::empty(path.into());
        store.run("PRAGMA journal_mode = WAL");
        for (text, (version, (name, checksum))) in
            [FIRST, SECOND, THIRD, FOURTH].into_iter().zip((1..).zip(CHECKSUMS)).take(schema)
        {
            store.run(text);
            store.put(
                "schema_migrations",
                &[
                    ("version", Value::Integer(version)),
                    ("name", name.to_owned().into()),
                    ("checksum", checksum.to_owned().into()),
                    ("applied_at", "2026-01-05T09:00:00Z".to_owned().into()),
                ],
            );
        }
        store
    }

    /// A drewgent database.
    ///
    /// # Panics
    /// The file cannot be made.
    pub fn drewgent(path: impl Into<PathBuf>) -> Self {
        let store = Self::empty(path.into());
        store.run(DREWGENT);
        store
    }

    /// A p-layer database as a year of use leaves it: three languages, a chain, a tombstone, an episode.
    ///
    /// # Panics
    /// The file cannot be made.
    pub fn p_layer_in_use(path: impl Into<PathBuf>, schema: usize) -> Self {
        let store = Self::p_layer(path, schema);
        for (n, (kind, content)) in [
            ("decision", "결제 모듈은 PortOne v2로 이전했다"),
            ("fact", "网关在每天凌晨三点轮换证书"),
            ("preference", "Answer in Korean unless the question is in English"),
            ("insight", "The nightly build fails when the disk is above 90 %"),
        ]
        .into_iter()
        .enumerate()
        {
            store.put_texts(
                "knowledge",
                &[
                    ("type", kind),
                    ("content", content),
                    ("source", "onboarding"),
                    ("session_id", "s1"),
                    ("created_at", &format!("2026-01-0{}T03:04:05.678901Z", n + 1)),
                ],
            );
        }
        let payload = r#"{"title": "배포 회의", "turns": 12}"#;
        store.put_texts(
            "episodes",
            &[
                ("session_id", "s1"),
                ("kind", "session"),
                ("payload", payload),
                ("created_at", "2026-01-01T00:00:00Z"),
            ],
        );
        if schema >= 2 {
            store.run(
                "UPDATE knowledge SET layer = 'P4', who = 'agent:codex', confidence = 0.7, ttl_days = 3650 WHERE id = 3;
                 INSERT INTO knowledge (type, content, created_at, who) VALUES
                     ('decision', '결제 모듈은 PortOne v3로 이전했다', '2026-02-01T00:00:00.000001Z', 'manual'),
                     ('decision', '결제 모듈은 PortOne v4로 이전했다', '2026-03-01T00:00:00.000001Z', 'manual'),
                     ('fact', 'the staging host is called otter', '2026-03-02T00:00:00.000001Z', 'tool:probe');
                 UPDATE knowledge SET superseded_by = 5 WHERE id = 1;
                 UPDATE knowledge SET superseded_by = 6, superseded_reason = 'v4 is out' WHERE id = 5;
                 UPDATE knowledge SET superseded_by = 7, superseded_reason = 'host was retired' WHERE id = 7;
                 INSERT INTO snapshots (version_id, entry_ids, created_at) VALUES ('v-1', '[1,2]', '2026-01-02');",
            );
        }
        if schema >= 3 {
            store.run(
                "INSERT INTO audit_log (action, knowledge_id, who, created_at)
                     VALUES ('remember', 1, 'system', '2026-01-01'), ('forget', 7, NULL, '2026-03-03');",
            );
        }
        if schema >= 4 {
            store.run("UPDATE episodes SET consolidated_at = '2026-01-02T00:00:00Z'");
        }
        store
    }

    /// Four rules for a p-layer database: two in force, one that is not, and one of no layer.
    pub fn add_rules(&self) {
        self.run(
            "INSERT INTO rules (priority, layer, scope, condition, text, source, enabled, created_at) VALUES
                 (10, 'P0', 'deploy', 'before a release', 'Run the whole test suite.', 'import_rules_md', 1, '2026-01-01'),
                 (20, 'P1', NULL, NULL, '나는 신중한 동료다', NULL, 1, '2026-01-01'),
                 (30, 'P0', NULL, NULL, 'Never deploy on a Friday.', NULL, 0, '2026-01-01'),
                 (40, 'P9', NULL, NULL, 'of no layer', NULL, 1, '2026-01-01')",
        );
    }

    /// Rows for a p-layer database that no program should have written.
    pub fn add_bad_rows(&self) {
        self.run(
            "PRAGMA ignore_check_constraints = ON;
             INSERT INTO knowledge (id, type, content, created_at, layer, confidence, ttl_days, superseded_by) VALUES
                 (20, 'fact', '   ', '2026-01-01', 'P5', 1, NULL, NULL),
                 (21, 'fact', CAST(x'c328ff' AS TEXT), '2026-01-01', 'P5', 1, NULL, NULL),
                 (22, 'fact', x'00ff', '2026-01-01', 'P5', 1, NULL, NULL),
                 (23, 'fact', 'of no layer', '2026-01-01', 'P7', 1, NULL, NULL),
                 (24, 'two words', 'of no kind', '2026-01-01', 'P5', 1, NULL, NULL),
                 (30, 'fact', 'the date is garbage', 'gestern', 'P5', 1, 3, NULL),
                 (31, 'fact', 'too sure', '2026-01-01', 'P5', 7.5, -3, NULL),
                 (32, 'fact', 'confidence in words', '2026-01-01', 'P5', 'high', 'soon', NULL),
                 (33, 'fact', 'replaced by nobody', '2026-01-01', 'P5', 1, NULL, 20),
                 (34, 'fact', 'goes around', '2026-01-01', 'P5', 1, NULL, 35),
                 (35, 'fact', 'comes around', '2026-01-01', 'P5', 1, NULL, 34),
                 (36, 'fact', 'dated in seconds', 1767225600, 'P5', 1, NULL, NULL);
             INSERT INTO episodes (id, kind, payload, created_at) VALUES (20, 'event', '', '2026-01-01');",
        );
    }

    /// A drewgent database in use: one row without text, a label twice, a link without an end, bad JSON.
    ///
    /// # Panics
    /// The file cannot be made.
    pub fn drewgent_in_use(path: impl Into<PathBuf>) -> Self {
        let store = Self::drewgent(path);
        store.run(
            "INSERT INTO knowledge (type, content, source, created_at) VALUES
                 ('decision', '배포는 화요일에 한다', 'chat', '2025-11-02 10:00:00'),
                 ('insight', '磁盘超过九成时夜间构建会失败', 'chat', '2025-11-03T10:00:00Z'),
                 ('fact', '', 'chat', '2025-11-04T10:00:00Z'),
                 ('pattern', 'retry with backoff', NULL, '2025-11-05T10:00:00Z');
             INSERT INTO entities (label, type, properties) VALUES
                 ('nginx', 'tool', '{\"port\": 80}'), ('deploy', 'script', '{oops'), ('nginx', 'tool', NULL);
             INSERT INTO relations (source_id, target_id, type) VALUES
                 (2, 1, 'depends_on'), (2, 3, 'depends_on'), (2, 99, 'depends_on');
             INSERT INTO sessions VALUES ('s-1', '배포 회의', '2025-11-01T09:00:00Z', 12),
                 ('s-2', NULL, '2025-11-06T09:00:00Z', NULL);",
        );
        store
    }

    /// Changes a row.
    ///
    /// # Panics
    /// The table does not take it.
    pub fn change(&self, table: &str, id: i64, cells: &[(&str, Cell)]) {
        let places: Vec<String> =
            cells.iter().zip(1..).map(|((name, _), n)| format!("{name} = ?{n}")).collect();
        let key = if table == "schema_migrations" { "version" } else { "id" };
        let sql = format!("UPDATE {table} SET {} WHERE {key} = {id}", places.join(", "));
        let values = rusqlite::params_from_iter(cells.iter().map(|(_, value)| value.clone()));
        self.connection.execute(&sql, values).unwrap_or_else(|e| panic!("{e}: {sql}"));
    }

    /// A database without a table: the test makes its own.
    ///
    /// # Panics
    /// The file cannot be made.
    pub fn bare(path: impl Into<PathBuf>) -> Self {
        Self::empty(path.into())
    }

    fn empty(path: PathBuf) -> Self {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).expect("a folder for the database");
        }
        let connection = Connection::open(&path).expect("a database");
        Self { path, connection }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs statements.
    ///
    /// # Panics
    /// One fails.
    pub fn run(&self, sql: &str) {
        self.connection.execute_batch(sql).unwrap_or_else(|e| panic!("{e}: {sql}"));
    }

    /// Adds a row and gives its id.
    ///
    /// # Panics
    /// The table does not take it.
    pub fn put(&self, table: &str, cells: &[(&str, Cell)]) -> i64 {
        let names: Vec<&str> = cells.iter().map(|(name, _)| *name).collect();
        let places: Vec<String> = (1..=cells.len()).map(|n| format!("?{n}")).collect();
        let sql = format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), places.join(", "));
        let values = rusqlite::params_from_iter(cells.iter().map(|(_, value)| value.clone()));
        self.connection.execute(&sql, values).unwrap_or_else(|e| panic!("{e}: {sql}"));
        self.connection.last_insert_rowid()
    }

    /// Adds a row of texts.
    pub fn put_texts(&self, table: &str, cells: &[(&str, &str)]) -> i64 {
        let cells: Vec<(&str, Cell)> =
            cells.iter().map(|(name, text)| (*name, Value::Text((*text).to_owned()))).collect();
        self.put(table, &cells)
    }

    /// Ends the program that wrote it: its log is folded in and taken away.
    ///
    /// # Panics
    /// It cannot be closed.
    pub fn close(self) -> PathBuf {
        self.connection.close().map_err(|(_, e)| e).expect("closed");
        self.path
    }
}
