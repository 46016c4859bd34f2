//! The command line, made from the table of operations.

use std::{
    ffi::OsString,
    io::IsTerminal,
    path::{Path, PathBuf},
};

use clap::{
    Arg, ArgAction, ArgMatches, Command, ValueHint,
    builder::{
        PossibleValuesParser,
        styling::{AnsiColor, Styles},
    },
};
use serde_json::Value;
use strata_engine::{
    operation::{Entry, Toolset},
    registry::OPERATIONS,
    request::is_prose,
    settings::StoreAddress,
};

use crate::{
    commands, environment::Environment, failure::Failure, out::coloured, place, values::is_list_of_objects,
    wording::Words,
};

/// Options of every command. An operation's own argument of the same name is served by the option.
pub(crate) const GLOBAL: &[&str] = &[
    "home",
    "store",
    "tenant",
    "json",
    "color",
    "project",
    "project-root",
    "namespace",
    "quiet",
    "verbose",
    "log-level",
    "passphrase-file",
    "embed",
    "no-semantic",
    "db",
    "who",
];

/// What the user wants of colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    Auto,
    Always,
    Never,
}

/// The options of every command, as given.
#[derive(Debug)]
pub(crate) struct Global {
    pub(crate) home: Option<PathBuf>,
    pub(crate) store: Option<StoreAddress>,
    pub(crate) tenant: Option<String>,
    pub(crate) project: Option<OsString>,
    /// The top directory of the project, where it was told as that.
    pub(crate) project_root: Option<PathBuf>,
    pub(crate) namespace: Option<String>,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) verbose: u8,
    /// What is logged, as a filter.
    pub(crate) log_level: Option<&'static str>,
    pub(crate) passphrase_file: Option<PathBuf>,
    /// Whether searches go by words alone.
    pub(crate) words_only: bool,
    /// What p-layer's `--embed` was given.
    pub(crate) embed: Option<String>,
    /// What p-layer's `--db` was given; the home is made from it.
    pub(crate) database: Option<PathBuf>,
    /// What p-layer's `--who` was given: a claim, which decides nothing.
    pub(crate) who: Option<String>,
    stdout_colour: bool,
    stderr_colour: bool,
}

impl Global {
    /// Reads them from the command or any of its subcommands.
    pub(crate) fn read(matches: &ArgMatches, environment: &Environment) -> Result<Self, Failure> {
        let matches = innermost(matches);
        let wish = match matches.get_one::<String>("color").map(String::as_str) {
            Some("always") => Colour::Always,
            Some("never") => Colour::Never,
            _ => Colour::Auto,
        };
        let database = matches.get_one::<PathBuf>("db").cloned();
        let home = told_home(matches.get_one::<PathBuf>("home").cloned(), database.as_deref())?;
        let embed = matches.get_one::<String>("embed").cloned();
        let project = matches.get_one::<OsString>("project").cloned();
        let told_root = matches.get_one::<PathBuf>("project-root").map(PathBuf::as_path);
        if project.is_some() && told_root.is_some() {
            let hint = "leave one of them out";
            return Err(Failure::usage("`--project` and `--project-root` both name the project", hint));
        }
        let project_root = match project.is_some() {
            true => None,
            false => place::told_root(told_root, environment)?,
        };
        Ok(Self {
            words_only: matches.get_flag("no-semantic") || matches!(embed.as_deref(), Some("hash" | "none")),
            embed,
            database,
            who: matches.get_one::<String>("who").cloned(),
            home,
            store: matches.get_one::<String>("store").map(StoreAddress::new),
            tenant: matches.get_one::<String>("tenant").cloned(),
            project,
            project_root,
            log_level: matches.get_one::<String>("log-level").and_then(|level| filter_of(level)),
            namespace: matches.get_one::<String>("namespace").cloned().filter(|n| !n.is_empty()),
            json: matches.get_flag("json"),
            quiet: matches.get_flag("quiet"),
            verbose: matches.get_count("verbose"),
            passphrase_file: matches.get_one::<PathBuf>("passphrase-file").cloned(),
            stdout_colour: coloured(wish, environment, std::io::stdout().is_terminal()),
            stderr_colour: coloured(wish, environment, std::io::stderr().is_terminal()),
        })
    }

    /// What the user of `--embed` and `--db` should know, unless quiet.
    pub(crate) fn notices(&self) -> Vec<String> {
        if self.quiet {
            return Vec::new();
        }
        let embed = self.embed.as_deref().map(|embed| match embed {
            "ollama" => {
                "semantic search is built in and needs no server; `--embed ollama` changes nothing".into()
            }
            other => format!(
                "`--embed {other}`: this command searches by words alone; nothing is stored differently"
            ),
        });
        let database = self.database.as_deref().zip(self.home.as_deref()).map(|(database, home)| {
            let (database, home) = (database.display(), home.display());
            format!("`--db {database}`: the store is the directory {home}; `strata import-p-layer` takes a database over")
        });
        embed.into_iter().chain(database).collect()
    }

    pub(crate) const fn colour_on_stdout(&self) -> bool {
        self.stdout_colour
    }

    pub(crate) const fn colour_on_stderr(&self) -> bool {
        self.stderr_colour
    }
}

/// The extension of a home that stands beside the database `--db` names.
const BESIDE_DATABASE: &str = "strata";

/// The home as told: by `--home`, or by p-layer's `--db`, whose file stays untouched beside it.
fn told_home(home: Option<PathBuf>, database: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
    let empty = |option: &str| {
        Failure::usage(
            format!("`{option}` is empty"),
            "name a directory with --home, or leave the option out",
        )
    };
    match (home, database) {
        (Some(home), _) if home.as_os_str().is_empty() => Err(empty("--home")),
        (Some(_), Some(_)) => {
            let hint = "`--db` is p-layer's name for the same; leave it out";
            Err(Failure::usage("`--home` and `--db` both name the store", hint))
        }
        (home, None) => Ok(home),
        (None, Some(database)) if database.file_name().is_none() => Err(empty("--db")),
        (None, Some(database)) => Ok(Some(database.with_extension(BESIDE_DATABASE))),
    }
}

/// The matches of the command that was finally named.
pub(crate) fn innermost(mut matches: &ArgMatches) -> &ArgMatches {
    while let Some((_, inner)) = matches.subcommand() {
        matches = inner;
    }
    matches
}

/// The whole command line.
pub(crate) fn command() -> Command {
    let mut root = Command::new("strata")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Long-term memory for AI agents")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(false)
        .infer_long_args(false)
        .styles(styles())
        .help_template(template())
        .args(global_arguments());
    for node in tree() {
        root = root.subcommand(node.command());
    }
    let root = root.subcommands(commands::hand_written());
    let menu = menu(&root);
    root.after_help(format!(
        "{menu}\nStart with `strata serve` in your client's configuration, or `strata remember TEXT`."
    ))
}

/// The help of the whole: what it is, the commands by purpose, the options.
fn template() -> String {
    let styles = styles();
    let header = styles.get_header();
    let heading = format!("{}Everywhere:{}", header.render(), header.render_reset());
    format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}{{after-help}}\n\n{heading}\n{{options}}")
}

/// What the commands of a toolset are for.
const fn purpose(toolset: Toolset) -> &'static str {
    match toolset {
        Toolset::Core => "Memory",
        Toolset::Governance => "Rules, review and what follows from them",
        Toolset::Compat => "Under older names",
        Toolset::Layered => "Knowledge in the vault, todos, routes",
        Toolset::Project => "A project, its code and its branches",
        Toolset::Admin => "Upkeep",
    }
}

/// The sections of the menu, what is for few last; `None` are the commands that are no operations.
const SECTIONS: [Option<Toolset>; 7] = [
    Some(Toolset::Core),
    Some(Toolset::Layered),
    Some(Toolset::Project),
    Some(Toolset::Governance),
    Some(Toolset::Admin),
    None,
    Some(Toolset::Compat),
];

/// The commands by what they are for: those of each toolset, then those that are no operations.
fn menu(root: &Command) -> String {
    let mut listed: Vec<&str> = Vec::new();
    let mut menu = String::new();
    let width = root
        .get_subcommands()
        .filter(|c| !c.is_hide_set())
        .map(|c| c.get_name().len())
        .max()
        .unwrap_or_default();
    for toolset in SECTIONS {
        let is_of = |name: &str| match toolset {
            Some(of) => OPERATIONS.iter().any(|e| e.spec.toolset == of && e.spec.cli.first() == Some(&name)),
            None => !OPERATIONS.iter().any(|e| e.spec.cli.first() == Some(&name)),
        };
        let belongs = |c: &&Command| {
            let name = c.get_name();
            !c.is_hide_set() && !listed.contains(&name) && is_of(name)
        };
        let commands: Vec<&Command> = root.get_subcommands().filter(belongs).collect();
        if !commands.is_empty() {
            menu.push_str(&section(toolset.map_or("Server and set-up", purpose), &commands, width));
        }
        listed.extend(commands.iter().map(|c| c.get_name()));
    }
    menu
}

fn section(heading: &str, commands: &[&Command], width: usize) -> String {
    let (styles, mut text) = (styles(), String::new());
    let (header, literal) = (styles.get_header(), styles.get_literal());
    text.push_str(&format!("{}{heading}:{}\n", header.render(), header.render_reset()));
    for command in commands {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let (on, off) = (literal.render(), literal.render_reset());
        text.push_str(&format!("  {on}{:<width$}{off}  {about}\n", command.get_name()));
    }
    text.push('\n');
    text
}

fn styles() -> Styles {
    Styles::styled()
        .header(AnsiColor::Green.on_default().bold())
        .usage(AnsiColor::Green.on_default().bold())
        .literal(AnsiColor::Cyan.on_default().bold())
        .placeholder(AnsiColor::Cyan.on_default())
}

fn global_arguments() -> Vec<Arg> {
    let option = |name: &'static str| Arg::new(name).long(name).global(true).help_heading("Everywhere");
    vec![
        option("home")
            .value_name("DIR")
            .value_parser(clap::value_parser!(PathBuf))
            .value_hint(ValueHint::DirPath)
            .help("The home directory [env: STRATA_HOME] [default: ~/.strata]"),
        option("store")
            .value_name("URL")
            .value_hint(ValueHint::Url)
            .help("The PostgreSQL server that holds the store [env: STRATA_STORE] [default: the home holds it]"),
        option("tenant")
            .value_name("NAME")
            .help("Whose memory on that server [env: STRATA_TENANT] [default: local]"),
        option("project")
            .value_name("PROJECT")
            .value_parser(clap::value_parser!(OsString))
            .value_hint(ValueHint::DirPath)
            .help("A directory inside the project, or its key [env: STRATA_PROJECT] [default: around the working directory]"),
        option("project-root")
            .value_name("DIR")
            .value_parser(clap::value_parser!(PathBuf))
            .value_hint(ValueHint::DirPath)
            .help("The project's top directory, whatever is in it [env: MEMORY_ENGINE_PROJECT_ROOT]"),
        option("namespace").value_name("NAME").help("One agent's own space [env: STRATA_NAMESPACE] [default: shared]"),
        option("json").action(ArgAction::SetTrue).help("Write results as JSON"),
        option("color")
            .value_name("WHEN")
            .value_parser(["auto", "always", "never"])
            .help("Use colour [env: NO_COLOR] [default: auto]"),
        option("passphrase-file")
            .value_name("FILE")
            .value_parser(clap::value_parser!(PathBuf))
            .value_hint(ValueHint::FilePath)
            .help("Read the passphrase for approvals from the first line of a file"),
        // p-layer's: accepted where its users type them, not shown.
        option("embed").value_name("MODEL").value_parser(["ollama", "hash", "none"]).hide(true).help("Accepted for p-layer's users"),
        option("db")
            .value_name("FILE")
            .value_parser(clap::value_parser!(PathBuf))
            .hide(true)
            .help("Accepted for p-layer's users"),
        option("who").value_name("PRINCIPAL").hide(true).help("Accepted for p-layer's users"),
        option("no-semantic").action(ArgAction::SetTrue).hide(true).help("Search by words alone"),
        option("quiet").short('q').action(ArgAction::SetTrue).help("Show no progress"),
        option("verbose").short('v').action(ArgAction::Count).help("Log more to standard error; repeat for still more"),
        option("log-level")
            .value_name("LEVEL")
            .ignore_case(true)
            .hide_possible_values(true)
            .value_parser(LOG_LEVELS.map(|(word, _)| word))
            .help("Log so much to standard error: error, warning, info, debug, trace; wins over `-v`"),
    ]
}

/// What may be logged by the words of `--log-level`, which are also those of older programs, and the filters for them.
/// The protocol library logs every error that it also sends, and clients that left.
const LOG_LEVELS: [(&str, &str); 9] = [
    ("off", "off"),
    ("critical", "error,rmcp=off"),
    ("error", "error,rmcp=off"),
    ("warning", "warn,rmcp=off"),
    ("warn", "warn,rmcp=off"),
    ("info", "info,rmcp=warn"),
    ("debug", "debug,rmcp=info"),
    ("trace", "trace"),
    ("notset", "trace"),
];

fn filter_of(level: &str) -> Option<&'static str> {
    LOG_LEVELS.iter().find(|(word, _)| level.eq_ignore_ascii_case(word)).map(|(_, filter)| *filter)
}

/// A command, or a group of commands, of the table.
struct Node {
    name: &'static str,
    entry: Option<&'static Entry>,
    /// Whether the path is an older one of the operation: accepted, not shown beside the group's members.
    entry_is_older: bool,
    /// An older path of the operation: accepted, not shown.
    older: bool,
    children: Vec<Self>,
}

fn tree() -> Vec<Node> {
    let mut roots = Vec::new();
    for entry in OPERATIONS {
        insert(&mut roots, entry.spec.cli, entry, false);
    }
    for entry in OPERATIONS {
        for path in entry.older_commands {
            insert(&mut roots, path, entry, true);
        }
    }
    roots
}

fn insert(nodes: &mut Vec<Node>, path: &[&'static str], entry: &'static Entry, older: bool) {
    let Some((name, rest)) = path.split_first() else { return };
    let at = nodes.iter().position(|n| n.name == *name).unwrap_or_else(|| {
        nodes.push(Node { name, entry: None, entry_is_older: false, older, children: Vec::new() });
        nodes.len() - 1
    });
    match rest {
        [] => (nodes[at].entry, nodes[at].entry_is_older) = (Some(entry), older),
        _ => insert(&mut nodes[at].children, rest, entry, older),
    }
}

impl Node {
    fn command(&self) -> Command {
        let mut command = Command::new(self.name).hide(self.older);
        command = match self.entry {
            // An older command that has become a group takes its arguments where no member of the group is named.
            Some(entry) if !self.children.is_empty() && !self.entry_is_older => {
                operation_command(command, entry, false)
                    .args_conflicts_with_subcommands(true)
                    .subcommand_negates_reqs(true)
            }
            Some(entry) if !self.children.is_empty() => {
                operation_command(command, entry, self.entry_is_older)
                    .mut_args(|argument| argument.hide(true))
                    .about(self.group_about())
                    .long_about(None)
                    .args_conflicts_with_subcommands(true)
                    .subcommand_negates_reqs(true)
                    .arg_required_else_help(true)
            }
            Some(entry) => operation_command(command, entry, self.entry_is_older),
            None => command.about(self.group_about()).subcommand_required(true).arg_required_else_help(true),
        };
        for child in &self.children {
            command = command.subcommand(child.command());
        }
        command
    }

    fn group_about(&self) -> String {
        let names: Vec<_> = self.children.iter().filter(|c| !c.older).map(|c| c.name).collect();
        names.join(", ")
    }
}

/// The command of an operation; as an older program had it, the arguments that stand by their place may also be named.
fn operation_command(command: Command, entry: &'static Entry, older: bool) -> Command {
    let spec = &entry.spec;
    let schema = (entry.request_schema)();
    let words = Words::new(entry, None);
    let mut command =
        command.about(spec.title).long_about(format!("{}\n\n{}", spec.title, words.of(spec.about)));
    let by_name = older && spec.cli.first() == Some(&"project");
    for (index, field) in spec.positional.iter().enumerate() {
        let last = index + 1 == spec.positional.len();
        if by_name {
            command = by_name_too(command, (field, last), &schema, &words);
            continue;
        }
        command = command.arg(positional(field, &schema, last, &words));
        let names = older_names(entry, field);
        let Some((name, others)) = names.split_first().filter(|_| !required(&schema, field)) else {
            continue;
        };
        // p-layer's `update ID --content TEXT`: accepted as an option, too, and not shown.
        let option = Arg::new(as_option(field)).long(name.clone()).aliases(others).hide(true);
        command = command.arg(with_words(option, &schema["properties"][field]).conflicts_with(*field));
    }
    let properties = schema["properties"].as_object().into_iter().flatten();
    for (field, property) in properties {
        let flag = field.replace('_', "-");
        let taken = spec.positional.contains(&field.as_str()) || GLOBAL.contains(&flag.as_str());
        if !taken {
            let older = older_names(entry, field);
            if by_name && property["type"] == "boolean" {
                let names: Vec<String> = older.iter().map(|name| format!("no-{name}")).collect();
                let denial = Arg::new(as_denial(field)).long(format!("no-{flag}")).aliases(names).hide(true);
                command = command.arg(denial.action(ArgAction::SetTrue).conflicts_with(field.clone()));
            }
            command =
                command.arg(option(field, flag, property, required(&schema, field), &words).aliases(older));
        }
    }
    command
}

/// memory-engine's `stale NODE --reason TEXT`: what must be said stands in its place or is named; what need not be said is
/// only named, since its place is where that program had the project.
fn by_name_too(
    command: Command,
    (field, last): (&'static str, bool),
    schema: &Value,
    words: &Words<'_>,
) -> Command {
    let name = field.replace('_', "-");
    let option = with_words(Arg::new(as_option(field)).long(name).hide(true), &schema["properties"][field]);
    if !required(schema, field) {
        return command.arg(option);
    }
    let argument = positional(field, schema, last, words).required(false);
    command.arg(argument.required_unless_present(as_option(field))).arg(option.conflicts_with(field))
}

/// The option names under which older programs take a request field.
fn older_names(entry: &Entry, field: &str) -> Vec<String> {
    entry
        .aliases
        .iter()
        .filter(|(_, name)| *name == field)
        .map(|(alias, _)| alias.replace('_', "-"))
        .collect()
}

/// The id of the option that stands for a positional argument.
pub(crate) fn as_option(field: &str) -> String {
    format!("older:{field}")
}

/// The id of the option that denies what an older program said yes to by default.
pub(crate) fn as_denial(field: &str) -> String {
    format!("denied:{field}")
}

fn positional(field: &'static str, schema: &Value, last: bool, words: &Words<'_>) -> Arg {
    let property = &schema["properties"][field];
    let list = property["type"] == "array";
    let argument = Arg::new(field)
        .value_name(field.to_uppercase())
        .required(required(schema, field))
        .help(help(property, field, words));
    let argument = with_words(argument, property);
    if last && (list || is_prose(field)) { argument.num_args(1..) } else { argument }
}

fn option(field: &str, flag: String, property: &Value, required: bool, words: &Words<'_>) -> Arg {
    let argument =
        Arg::new(field.to_owned()).long(flag).required(required).help(help(property, field, words));
    match property["type"].as_str() {
        Some("boolean") => argument
            .value_name("BOOL")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_parser(["true", "false"])
            .hide_possible_values(true),
        Some("integer" | "number") => argument.value_name("N").allow_hyphen_values(true),
        Some("array") => {
            let argument =
                with_words(argument.value_name(value_name(field)), property).action(ArgAction::Append);
            // Words are checked here, so they are split here; other lists are split in `values`.
            if property["items"]["enum"].is_array() { argument.value_delimiter(',') } else { argument }
        }
        Some("object") => argument.value_name("JSON"),
        _ => with_words(argument.value_name(value_name(field)), property),
    }
}

fn value_name(field: &str) -> String {
    match field {
        "since" | "until" | "at" | "as_of" | "valid_at" | "valid_from" | "valid_to" => "WHEN".into(),
        _ => field.rsplit('_').next().unwrap_or(field).to_uppercase(),
    }
}

/// Restricts an argument to the words of its schema.
fn with_words(argument: Arg, property: &Value) -> Arg {
    let words = property["enum"].as_array().or_else(|| property["items"]["enum"].as_array());
    match words {
        Some(words) => {
            let words: Vec<String> = words.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            argument.value_parser(PossibleValuesParser::new(words)).ignore_case(true)
        }
        None => argument,
    }
}

fn required(schema: &Value, field: &str) -> bool {
    schema["required"].as_array().is_some_and(|r| r.iter().any(|n| n == field))
}

fn help(property: &Value, field: &str, words: &Words<'_>) -> String {
    let about =
        property["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let about = words.of(&about);
    if is_prose(field) {
        format!("{about} `-` reads standard input, `@FILE` a file")
    } else if is_list_of_objects(property) {
        format!("{about} As JSON; `-` reads standard input, `@FILE` a file")
    } else {
        about
    }
}
