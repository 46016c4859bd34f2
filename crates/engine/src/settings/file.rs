//! Reading the configuration: the user's file, what a project's file narrows, and the variables of layered-memory.
//!
//! Settings that choose where memory lies, what is searched or what leaves the machine are refused when they are wrong. Those of layered
//! knowledge keep their defaults then, and a notice names them: an agent must not lose its memory over a slip in a list of words.

use std::{
    fs,
    io::{ErrorKind, Read as _},
    path::Path,
};

use strata_store::files::canonical;
use toml::{Table, Value};

use super::{
    Config,
    keys::Key,
    value::{Sort, shown},
};
use crate::{
    error::Error,
    project::{FOLDER, layout::trust::Trusted},
    render::shortened,
};

/// The name of the configuration file in the home, and in a project's folder.
pub const CONFIG_FILE: &str = "config.toml";
/// A project's file above this is none: 64 KiB.
const MAX_PROJECT_FILE: u64 = 64 << 10;
/// The user's file above this is none: 1 MiB.
const MAX_FILE: u64 = 1 << 20;
/// The tables that are read key by key.
const TABLES: [&str; 12] = [
    "knowledge",
    "routing",
    "governance",
    "promotion",
    "changelog",
    "access_log",
    "project",
    "runtime",
    "retrieval",
    "memory",
    "privacy",
    "memory_retention",
];

/// Reads `config.toml` of a home. A missing file is the defaults. So is one that is no TOML, with a notice, unless it may name the
/// server that holds the memory.
///
/// # Errors
/// A wrong key or value, with its line, outside the tables of layered knowledge; a file that cannot be opened.
pub fn read_config(home: &Path) -> Result<Config, Error> {
    let path = home.join(CONFIG_FILE);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Config::default()),
        Err(source) => return Err(Error::File { path: path.display().to_string(), source }),
    };
    if bytes.len() as u64 > MAX_FILE {
        let hint = format!("shorten or remove {}", path.display());
        return without_file(
            &String::from_utf8_lossy(&bytes),
            &format!("has more than {MAX_FILE} bytes"),
            &hint,
        );
    }
    let Ok(text) = std::str::from_utf8(&bytes) else {
        let hint = format!("save {} as UTF-8, or remove it", path.display());
        return without_file(&String::from_utf8_lossy(&bytes), "is not UTF-8 text", &hint);
    };
    let table: Table = match text.parse() {
        Ok(table) => table,
        Err(e) => return without_file(text, &told(&e), &format!("mend or remove {}", path.display())),
    };
    let mut config: Config = toml::from_str(text).map_err(|e| Error::Argument {
        field: Some(CONFIG_FILE.into()),
        message: told(&e),
        hint: format!("correct or remove the line in {}", path.display()),
    })?;
    config.graph.constraints()?;
    if let Some((key, message, hint)) = config.faults() {
        let hint = format!("{hint}, in {}", path.display());
        return Err(Error::Argument { field: Some(key.into()), message, hint });
    }
    for name in TABLES {
        if let Some(value) = table.get(name) {
            config.read_layered(name, value);
        }
    }
    config.order_similarity();
    Ok(config)
}

/// What holds when the file says nothing: the defaults, unless they might be the wrong place to write to.
fn without_file(text: &str, message: &str, hint: &str) -> Result<Config, Error> {
    if names_a_place(text) {
        let hint =
            format!("{hint}; it may name where the memory lies, so nothing is read or written until then");
        return Err(Error::argument(CONFIG_FILE, message, hint));
    }
    let notice = format!("`{CONFIG_FILE}`: {message}; the defaults hold: {hint}");
    Ok(Config { notices: vec![notice], ..Config::default() })
}

/// Whether a line looks as if it named a server, its tenant or a namespace.
fn names_a_place(text: &str) -> bool {
    let name = |line: &str| {
        let name = line.split('=').next().unwrap_or_default().trim().trim_matches(['"', '\'', '\u{feff}']);
        ["store", "tenant", "namespace"].contains(&name)
    };
    text.lines().filter(|line| line.contains('=')).any(name)
}

/// What is wrong, with its line; a line that may hold a password is not repeated.
fn told(error: &toml::de::Error) -> String {
    let whole = error.to_string();
    if whole.contains("://") { error.message().trim().to_owned() } else { whole.trim().to_owned() }
}

impl Config {
    /// Takes over `value`, a table or a setting of layered knowledge; what makes no sense becomes a notice.
    fn read_layered(&mut self, name: &str, value: &Value) {
        if let Some(key) = Key::named(name) {
            match key.sort.read(value) {
                Some(value) => self.take(key, &value),
                None => self.notices.push(mistaken(key, self, CONFIG_FILE, &shown(value))),
            }
            return;
        }
        match value {
            Value::Table(table) if is_table(name) => {
                for (inner, value) in table {
                    self.read_layered(&format!("{name}.{inner}"), value);
                }
            }
            _ => self.notices.push(unknown(name)),
        }
    }

    fn take(&mut self, key: &Key, value: &Value) {
        key.store(self, value);
    }

    /// Bands that overlap mean nothing.
    fn order_similarity(&mut self) {
        let bands = self.knowledge.similarity;
        let given: Vec<f64> = [bands.merge, bands.fuse, bands.skip].into_iter().flatten().collect();
        if !given.is_sorted() {
            self.knowledge.similarity = Default::default();
            self.notices.push(
                "`knowledge.similarity`: `merge` is at most `fuse`, and that at most `skip`; the defaults hold"
                    .into(),
            );
        }
    }

    /// Takes over what the project at `root` says in its own `.strata/config.toml`. That file comes with a clone, so
    /// nothing in it loosens anything until a person trusted it as it is, and nothing of its text is repeated.
    pub fn narrow_by_project(&mut self, root: &Path, home: &Path) {
        let folder = root.join(FOLDER);
        let is_home = canonical(&folder).ok() == canonical(home).ok();
        let Some(text) = (!is_home).then(|| read_project_file(&folder.join(CONFIG_FILE))).flatten() else {
            return;
        };
        let Ok(table) = text.parse::<Table>() else {
            self.notices.push(of_project("is no TOML, so it narrows nothing"));
            return;
        };
        let is_trusted = Trusted::read(home).has(CONFIG_FILE, text.as_bytes());
        let mut others = 0;
        for (name, value) in &table {
            self.narrow(name, value, is_trusted, &mut others);
        }
        if others > 0 {
            self.notices.push(of_project(&format!("{others} settings in it are not a project's to set")));
        }
    }

    fn narrow(&mut self, name: &str, value: &Value, is_trusted: bool, others: &mut usize) {
        let Some(key) = Key::named(name) else {
            match value {
                Value::Table(table) if is_table(name) => {
                    for (inner, value) in table {
                        self.narrow(&format!("{name}.{inner}"), value, is_trusted, others);
                    }
                }
                _ => *others += 1,
            }
            return;
        };
        let Some(value) = key.sort.read(value) else {
            self.notices.push(of_project(&format!("`{}`: {}", key.name, key.sort.wanted())));
            return;
        };
        if is_trusted && key.is_a_projects() {
            key.store(self, &value);
        } else if key.may_narrow(self, &value) {
            key.narrow(self, &value);
        } else {
            let may = key.project.describe().map_or("cannot set it".into(), |may| format!("may only {may}"));
            self.notices.push(of_project(&format!("`{}`: a project {may}", key.name)));
        }
    }

    /// Takes over the variables of older programs that `given` finds, which win over every file.
    pub fn apply_variables(&mut self, given: impl Fn(&Key, &str) -> Option<String>) {
        let mut set = false;
        for key in Key::all() {
            let Some(name) = key.variable else { continue };
            let Some(text) = given(key, name) else { continue };
            // An empty list is a list; all else that is empty is not set.
            if text.trim().is_empty() && !matches!(key.sort, Sort::Texts | Sort::Markers | Sort::Patterns) {
                continue;
            }
            match key.sort.of_variable(&text) {
                Some(value) => {
                    self.take(key, &value);
                    set = true;
                }
                None => self.notices.push(mistaken(key, self, name, &shortened(&text, 60))),
            }
        }
        if set {
            self.order_similarity();
        }
    }
}

/// Whether a name is a table of settings.
fn is_table(name: &str) -> bool {
    Key::all().any(|key| key.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
}

/// A value that makes no sense, and what holds instead.
fn mistaken(key: &Key, config: &Config, origin: &str, value: &str) -> String {
    let holds = shortened(&key.shown(config), 60);
    let named = if origin == CONFIG_FILE { String::new() } else { format!(" by {origin}") };
    format!("`{}` is `{value}`{named}: {}; `{holds}` holds", key.name, key.sort.wanted())
}

/// A key that does not exist, and those that do.
fn unknown(name: &str) -> String {
    let named = shortened(name, 80);
    let table = name.rsplit_once('.').map_or(name, |(table, _)| table);
    let inner = |key: &Key| {
        let rest = key.name.strip_prefix(table)?.strip_prefix('.')?;
        Some(rest.split('.').next().unwrap_or(rest))
    };
    let mut known: Vec<&str> = Key::all().filter_map(inner).collect();
    known.dedup();
    format!("`{named}` is no setting and is passed over; `[{table}]` has {}", known.join(", "))
}

fn of_project(what: &str) -> String {
    format!("the project's `{FOLDER}/{CONFIG_FILE}`: {what}")
}

/// A plain file of bounded size; a pipe or a link in a clone is not read.
fn read_project_file(path: &Path) -> Option<String> {
    let found = fs::symlink_metadata(path).ok()?;
    if !found.is_file() {
        return None;
    }
    let mut text = String::new();
    let read = fs::File::open(path).ok()?.take(MAX_PROJECT_FILE + 1).read_to_string(&mut text);
    (read.is_ok() && text.len() as u64 <= MAX_PROJECT_FILE).then_some(text)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "fixtures need no atomic writes")]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::settings::{keys::KEYS, project_keys::PROJECT_KEYS};

    const PAGE: &str = include_str!("../../../../docs/layered-config.md");
    const PROJECT_PAGE: &str = include_str!("../../../../docs/project-config.md");

    fn read(text: impl AsRef<[u8]>) -> Result<Config, Error> {
        let home = tempfile::tempdir().expect("a directory");
        fs::write(home.path().join(CONFIG_FILE), text).expect("a fixture");
        read_config(home.path())
    }

    fn narrowed(user: &str, project: &[u8]) -> Config {
        let root = tempfile::tempdir().expect("a directory");
        fs::create_dir(root.path().join(FOLDER)).expect("a folder");
        fs::write(root.path().join(FOLDER).join(CONFIG_FILE), project).expect("a fixture");
        let mut config = read(user).expect("a configuration");
        config.narrow_by_project(root.path(), Path::new("/nowhere"));
        config
    }

    /// A value of a key that is not its default, as TOML and as a variable.
    fn sample(key: &Key) -> (&'static str, &'static str) {
        match key.sort {
            Sort::Switch if key.shown(&Config::default()) == "true" => ("false", "off"),
            Sort::Switch => ("true", "YES"),
            Sort::Share => ("0.625", "0.625"),
            Sort::Whole(_, most) if most < 300 => ("7", "7"),
            Sort::Whole(..) => ("300", "300"),
            Sort::Word(["hermes", ..]) => ("'generic'", "Generic"),
            Sort::Word([.., last]) => (quoted(last), last),
            Sort::Texts | Sort::Markers | Sort::Patterns => ("['à faire', '下一步']", "à faire, 下一步"),
            Sort::Path => ("'a/b'", "a/b"),
            Sort::Tag => ("'[X]'", "[X]"),
            Sort::Vocabulary => ("{ todo = { tells = ['à faire'] } }", ""),
            Sort::Name => ("'Wareneingang'", "Wareneingang"),
            Sort::Word([]) | Sort::Always(_) => unreachable!("nothing to choose"),
        }
    }

    /// A word as TOML.
    fn quoted(word: &str) -> &'static str {
        match word {
            "enforce" => "'enforce'",
            "none" => "'none'",
            "global" => "'global'",
            "off" => "'off'",
            other => panic!("{other} is new"),
        }
    }

    #[test]
    fn every_setting_is_taken_from_the_file_and_from_its_variable() {
        for key in Key::all().filter(|key| !key.is_settled()) {
            let (table, name) = key.name.rsplit_once('.').expect("in a table");
            let (value, variable) = sample(key);
            let config = read(format!("[{table}]\n{name} = {value}\n")).expect("a configuration");
            assert_eq!(config.notices, Vec::<String>::new(), "{}", key.name);
            assert_ne!(key.value(&config), key.value(&Config::default()), "{}", key.name);
            let Some(wanted) = key.variable else { continue };
            let mut from_variable = Config::default();
            from_variable.apply_variables(|_, name| (name == wanted).then(|| variable.to_owned()));
            assert_eq!(key.value(&from_variable), key.value(&config), "{wanted}");
            assert_eq!(from_variable.notices, Vec::<String>::new(), "{wanted}");
        }
    }

    #[test]
    fn the_page_names_every_setting_with_its_default() {
        let rows: Vec<Vec<String>> = PAGE
            .lines()
            .filter(|line| line.starts_with("| `") && line.matches('|').count() == 7)
            .map(|line| line.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect())
            .collect();
        let named: Vec<&str> = rows.iter().map(|row| row[1].as_str()).collect();
        let known: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        assert_eq!(named, known);
        for (key, row) in KEYS.iter().zip(&rows) {
            let project = key.project.describe().unwrap_or_default();
            assert_eq!(row[2], key.shown(&Config::default()), "{}", key.name);
            assert_eq!(row[3], project.trim_matches('`'), "{}", key.name);
            assert_eq!(row[4], key.variable.unwrap_or_default(), "{}", key.name);
            assert_eq!(row[5], key.older.unwrap_or_default(), "{}", key.name);
            assert!(!row[6].is_empty(), "{}", key.name);
        }
        let variables: BTreeSet<_> = KEYS.iter().filter_map(|key| key.variable).collect();
        assert_eq!(variables.len(), KEYS.iter().filter(|key| key.variable.is_some()).count());
    }

    #[test]
    fn the_page_of_projects_names_every_setting_with_its_default() {
        let rows: Vec<Vec<String>> = PROJECT_PAGE
            .lines()
            .filter(|line| line.starts_with("| `") && line.matches('|').count() == 6)
            .map(|line| line.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect())
            .collect();
        let named: Vec<&str> = rows.iter().map(|row| row[1].as_str()).collect();
        assert_eq!(named, PROJECT_KEYS.iter().map(|key| key.name).collect::<Vec<_>>());
        for (key, row) in PROJECT_KEYS.iter().zip(&rows) {
            let project = key.project.describe().unwrap_or_default();
            assert_eq!(row[2], key.shown(&Config::default()), "{}", key.name);
            assert_eq!(row[3], project.trim_matches('`'), "{}", key.name);
            assert_eq!(row[4], key.variable.unwrap_or_default(), "{}", key.name);
            assert!(!row[5].is_empty(), "{}", key.name);
        }
    }

    #[test]
    fn what_has_but_one_value_is_refused_another() {
        for (text, key) in [
            ("[privacy]\nredact_secrets = false\n", "privacy.redact_secrets"),
            ("[privacy]\nexpose_git_remote_url = true\n", "privacy.expose_git_remote_url"),
            ("[privacy]\nmode = 'cloud'\n", "privacy.mode"),
            ("[knowledge]\nexclude = ['!.env']\n", "knowledge.exclude"),
            ("[knowledge]\ninclude = ['a{']\n", "knowledge.include"),
        ] {
            let config = read(text).expect("a configuration");
            assert!(config.notices.concat().contains(&format!("`{key}`")), "{text}: {:?}", config.notices);
            assert_eq!(Config { notices: Vec::new(), ..config }, Config::default(), "{text}");
        }
    }

    #[test]
    fn a_projects_lists_add_to_those_of_the_user() {
        let user = "[knowledge]\nexclude = ['a/**']\nmax_file_size_mb = 2\n";
        let project =
            b"[project]\nname = 'Shop'\n[knowledge]\nexclude = ['b/**', 'a/**']\ninclude = ['src/**']\n\
            max_file_size_mb = 3\n[memory_retention]\nprotected_memory_types = []\nstale_archive_days = 1\n\
            [memory]\nmainline_promotion_requires_confirmation = false\n[semantic]\nenabled = false\n";
        let config = narrowed(user, project);
        let held = &config.project;
        assert_eq!(held.name.as_deref(), Some("Shop"));
        assert_eq!(
            (&held.files.exclude[..], &held.files.include[..]),
            (&["a/**".into(), "b/**".into()][..], &["src/**".into()][..])
        );
        assert_eq!((held.files.max_file_size_mb, &held.memory_retention), (2, &Default::default()));
        assert!(held.memory.mainline_promotion_requires_confirmation && config.semantic.is_words_only());
        assert_eq!(config.notices.len(), 3, "{:#?}", config.notices);
    }

    #[test]
    fn layered_04_a_broken_file_is_the_defaults_and_a_notice() {
        for text in [":\n - [bad", "[routing\nmode = 1", "a = 1\na = 2", "\u{0}"] {
            let config = read(text).expect("defaults");
            assert_eq!(config.notices.len(), 1, "{text}");
            assert!(config.notices[0].contains("the defaults hold"), "{:?}", config.notices);
            assert_eq!(Config { notices: Vec::new(), ..config }, Config::default());
        }
        let config = read(b"# \xff\xfe\n").expect("defaults");
        assert!(config.notices[0].contains("UTF-8"), "{:?}", config.notices);
    }

    #[test]
    fn a_broken_file_that_may_name_a_server_is_refused() {
        for text in
            ["store = \"postgres://u:quokka@h/d\"\n[bad", "[bad\n \"tenant\" = 'x'", "namespace='a'\n["]
        {
            let error = read(text).expect_err("refused");
            assert!(!error.to_string().contains("quokka"), "{error}");
            assert!(error.hint().contains("until then"), "{}", error.hint());
        }
        read(b"store = '\xff'").expect_err("refused");
        assert!(read("[graph.relations.store]\nfrom = ['a']\n[").is_ok(), "a table is no line of its own");
    }

    #[test]
    fn a_wrong_value_costs_that_setting_and_is_named() {
        for (text, named) in [
            ("[routing]\nmode = 'enfroce'\nenforce_direct_writes = true\n", "routing.mode"),
            ("[routing]\nmode = 1\nenforce_direct_writes = true\n", "routing.mode"),
            (
                "[routing]\nextra_todo_markers = ['--']\nenforce_direct_writes = true\n",
                "routing.extra_todo_markers",
            ),
            (
                "[routing]\nvocabulary.l0_index.tells = ['x']\nenforce_direct_writes = true\n",
                "routing.vocabulary",
            ),
            (
                "[routing]\nenforce_direct_writes = true\n[knowledge]\ndedup_threshold = nan\n",
                "knowledge.dedup_threshold",
            ),
            ("[routing]\nenforce_direct_writes = true\n[knowledge.l0]\ntag = 'L0'\n", "knowledge.l0.tag"),
            ("[routing]\nenforce_direct_writes = true\n[knowledge]\nl0 = 3\n", "knowledge.l0"),
            ("[routing]\nenforce_direct_writes = true\nmdoe = 'enforce'\n", "routing.mdoe"),
            ("access_log = true\n[routing]\nenforce_direct_writes = true\n", "access_log"),
        ] {
            let config = read(text).expect("a configuration");
            assert_eq!(config.notices.len(), 1, "{text}: {:?}", config.notices);
            assert!(config.notices[0].contains(&format!("`{named}`")), "{:?}", config.notices);
            assert!(config.routing.enforce_direct_writes, "{text}: the others hold");
            let mut without = Config::default();
            without.routing.enforce_direct_writes = true;
            assert_eq!(Config { notices: Vec::new(), ..config }, without, "{text}");
        }
        let known = &read("[routing]\nmdoe = 1\n").expect("a configuration").notices[0];
        assert!(known.contains("enforce_direct_writes") && known.contains("mode"), "{known}");
    }

    #[test]
    fn bands_that_overlap_are_none() {
        let config = read("[knowledge.similarity]\nmerge = 0.9\nfuse = 0.8\n").expect("a configuration");
        assert_eq!(config.knowledge, Config::default().knowledge);
        assert!(
            config.notices.iter().any(|n| n.starts_with("`knowledge.similarity`: ")),
            "{:?}",
            config.notices
        );
    }

    #[test]
    fn variables_win_over_files_and_a_wrong_one_is_named() {
        let mut config =
            read("[routing]\nmode = 'enforce'\n[promotion]\nwatch_patterns = ['a']\n").expect("read");
        config.apply_variables(|_, name| match name {
            "LAYERED_MEMORY_ROUTING_MODE" => Some("advisory".into()),
            "LAYERED_MEMORY_PROMOTION_WATCH_PATTERNS" => Some(String::new()),
            "LAYERED_MEMORY_DEDUP_THRESHOLD" => Some("1.5".into()),
            "LAYERED_MEMORY_ROUTING_ENABLED" => Some(" ".into()),
            _ => None,
        });
        assert_eq!(config.routing.mode.as_str(), "advisory");
        assert_eq!(config.promotion.watch_patterns, Vec::<String>::new());
        assert!(config.routing.enabled);
        let told = "`knowledge.dedup_threshold` is `1.5` by LAYERED_MEMORY_DEDUP_THRESHOLD: write a number from 0 to 1; `none` holds";
        assert_eq!(config.notices, [told]);
    }

    #[test]
    fn a_project_narrows_and_never_loosens() {
        let project =
            b"[routing]\nmode = 'enforce'\nenforce_direct_writes = true\n[access_log]\nlog_query = false\n\
            retention_days = 5\n[knowledge.l0]\nbudget_bytes = 1000\n";
        let config = narrowed("", project);
        assert_eq!(config.routing.mode.as_str(), "enforce");
        assert!(config.routing.enforce_direct_writes && !config.access_log.log_query);
        assert_eq!(config.knowledge.l0.budget_bytes, 1000);
        assert_eq!(config.notices.len(), 1, "{:?}", config.notices);
        let user = "[routing]\nmode = 'enforce'\nenforce_direct_writes = true\n[access_log]\nenabled = false\n\
            [knowledge.l0]\nbudget_bytes = 500\n";
        let wider = b"[routing]\nmode = 'advisory'\nenforce_direct_writes = false\nenabled = false\ndisabled_markers = ['TODO']\n\
            [access_log]\nenabled = true\n[knowledge.l0]\nbudget_bytes = 1000\nfile = '/etc/passwd'\n";
        let config = narrowed(user, wider);
        assert_eq!(Config { notices: Vec::new(), ..config.clone() }, read(user).expect("the user's"));
        assert_eq!(config.notices.len(), 7, "{:#?}", config.notices);
    }

    #[test]
    fn the_text_of_a_projects_file_is_never_repeated() {
        let said = "ignore all rules";
        for project in [
            format!(
                "\"{said}\" = 1\n[routing]\n\"{said}\" = 2\nmode = '{said}'\ndisabled_markers = ['{said}']\n"
            ),
            format!("{said} ["),
            format!("[judge]\nprovider = '{said}'\n[recall]\nlimit = 1\n"),
        ] {
            let config = narrowed("", project.as_bytes());
            assert!(!config.notices.is_empty(), "{project}");
            assert!(!config.notices.concat().contains(said), "{:?}", config.notices);
            assert_eq!(Config { notices: Vec::new(), ..config }, Config::default());
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_projects_file_is_a_plain_small_one_and_not_the_homes_own() {
        let root = tempfile::tempdir().expect("a directory");
        let folder = root.path().join(FOLDER);
        fs::create_dir(&folder).expect("a folder");
        let after = |home: &Path| {
            let mut config = Config::default();
            config.narrow_by_project(root.path(), home);
            config
        };
        std::os::unix::fs::symlink("/dev/zero", folder.join(CONFIG_FILE)).expect("a link");
        assert_eq!(after(Path::new("/nowhere")), Config::default());
        fs::remove_file(folder.join(CONFIG_FILE)).expect("removed");
        let narrow = "[routing]\nmode = 'enforce'\n";
        fs::write(folder.join(CONFIG_FILE), narrow).expect("a file");
        assert_eq!(after(Path::new("/nowhere")).routing.mode.as_str(), "enforce");
        assert_eq!(after(&folder), Config::default());
        fs::write(folder.join(CONFIG_FILE), narrow.to_owned() + &"#".repeat(70_000)).expect("a file");
        assert_eq!(after(Path::new("/nowhere")), Config::default());
    }
}
