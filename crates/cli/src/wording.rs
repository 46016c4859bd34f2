//! Our sentences as they are said at the command line: they speak of tools and arguments, as clients
//! know them; a person types commands and options.
//!
//! Only our own words are changed, never a stored text.

use std::path::Path;

use strata_engine::{
    operation::{Entry, Reply},
    registry,
    render::{Block, Document},
};

use crate::{arguments::GLOBAL, failure::Failure};

/// Options that are keys of the configuration too, which is what our sentences mean by these words.
const CONFIGURED: [&str; 2] = ["store", "tenant"];

/// The words of one command.
pub(crate) struct Words<'a> {
    fields: Vec<String>,
    /// Those of them that are switches.
    switches: Vec<String>,
    positional: &'static [&'static str],
    home: Option<&'a Path>,
}

impl<'a> Words<'a> {
    /// Those of `entry`; commands to copy name `home` when it was named.
    pub(crate) fn new(entry: &Entry, home: Option<&'a Path>) -> Self {
        let schema = (entry.request_schema)();
        let fields = || schema["properties"].as_object().into_iter().flatten();
        let is_switch = |property: &serde_json::Value| {
            let of = &property["type"];
            of == "boolean" || of.as_array().is_some_and(|any| any.contains(&"boolean".into()))
        };
        let switches = fields().filter(|(_, property)| is_switch(property));
        Self {
            fields: fields().map(|(name, _)| name.clone()).collect(),
            switches: switches.map(|(name, _)| name.clone()).collect(),
            positional: entry.spec.positional,
            home,
        }
    }

    /// A sentence, with what stands in backticks as it is typed.
    pub(crate) fn of(&self, text: &str) -> String {
        let parts: Vec<&str> = text.split('`').collect();
        if parts.len().is_multiple_of(2) {
            return text.to_owned();
        }
        let mut said = vec![parts[0].to_owned()];
        for pair in parts[1..].chunks(2) {
            let (word, behind) = (pair[0], pair[1]);
            // The word of a toolset is no option of the same name.
            let is_named = said.last().is_some_and(|before| before.ends_with("toolset "));
            let typed = self.typed(word).filter(|_| !is_named).unwrap_or_else(|| word.to_owned());
            // A switch that is set is typed with its value joined to it.
            let set = self.switches.iter().any(|name| name == word).then(|| setting(behind)).flatten();
            match set {
                Some((true, rest)) => said.extend([typed, rest.to_owned()]),
                Some((false, rest)) => said.extend([format!("{typed}=false"), rest.to_owned()]),
                None => said.extend([typed, behind.to_owned()]),
            }
        }
        said.join("`")
    }

    /// A reply whose notes speak of what can be typed.
    pub(crate) fn of_reply(&self, mut reply: Reply) -> Reply {
        self.of_document(&mut reply.document);
        reply
    }

    /// The hint, and the argument at fault.
    pub(crate) fn of_failure(&self, mut failure: Failure) -> Failure {
        failure.hint = self.of(&failure.hint);
        if let Some(cause) = failure.causes.first_mut() {
            let at_fault = cause.strip_prefix('`').and_then(|rest| rest.split_once("`: "));
            if let Some((field, rest)) = at_fault {
                *cause = format!("`{}`: {rest}", self.argument(field).unwrap_or_else(|| field.to_owned()));
            }
        }
        failure
    }

    fn of_document(&self, document: &mut Document) {
        for block in &mut document.blocks {
            match block {
                Block::Note(_, text) | Block::Paragraph(text) => *text = self.of(text),
                Block::Code { language: "sh", text } => *text = self.with_home(text),
                _ => {}
            }
        }
    }

    /// Commands to copy: they mean the home that this command was given.
    fn with_home(&self, commands: &str) -> String {
        let Some(home) = self.home else { return commands.to_owned() };
        let quoted = home.display().to_string().replace('\'', r"'\''");
        let line = |line: &str| match line.strip_prefix("strata ").and_then(|rest| rest.split_once(' ')) {
            Some((command, rest)) => format!("strata {command} --home '{quoted}' {rest}"),
            None => line.to_owned(),
        };
        commands.lines().map(line).collect::<Vec<_>>().join("\n")
    }

    /// How an argument, a tool or a command without its program is typed.
    fn typed(&self, word: &str) -> Option<String> {
        self.argument(word).or_else(|| registry::typed(word))
    }

    fn argument(&self, field: &str) -> Option<String> {
        if self.positional.contains(&field) {
            return Some(field.to_uppercase());
        }
        let flag = field.replace('_', "-");
        let is_global = GLOBAL.contains(&flag.as_str()) && !CONFIGURED.contains(&field);
        let known = self.fields.iter().any(|f| f == field) || is_global;
        known.then(|| format!("--{flag}"))
    }
}

/// What a sentence sets a switch to right behind its name, and what follows that.
fn setting(behind: &str) -> Option<(bool, &str)> {
    let told = behind.strip_prefix(" is ").or_else(|| behind.strip_prefix(' '))?;
    let value = |word, is| told.strip_prefix(word).map(|rest| (is, rest));
    let found = value("true", true).or_else(|| value("false", false))?;
    (!found.1.starts_with(char::is_alphanumeric)).then_some(found)
}

#[cfg(test)]
mod tests {
    use strata_engine::{operation::Operation, registry::OPERATIONS};

    use super::*;

    fn words<'a>(path: &[&str], home: Option<&'a Path>) -> Words<'a> {
        Words::new(registry::find_command(path).expect("a command"), home)
    }

    #[test]
    fn tools_become_commands_and_arguments_options() {
        let words = words(&["graph", "rca"], None);
        assert_eq!(words.of("`entity_add` adds one"), "`strata graph entity` adds one");
        assert_eq!(words.of("`review list` shows what waits"), "`strata review list` shows what waits");
        assert_eq!(words.of("raise `depth` for `query`"), "raise `--depth` for `QUERY`");
        assert_eq!(words.of("`strata doctor` and `caused`"), "`strata doctor` and `caused`");
        assert_eq!(words.of("`store` in the configuration"), "`store` in the configuration");
        assert_eq!(words.of("an odd ` one"), "an odd ` one");
        assert_eq!(words.of("a server with toolset `project`"), "a server with toolset `project`");
    }

    #[test]
    fn a_switch_is_said_as_it_is_typed() {
        let words = words(&["project", "retention", "run"], None);
        assert_eq!(words.of("send `dry_run` false to do it"), "send `--dry-run=false` to do it");
        assert_eq!(words.of("unless `dry_run` is false."), "unless `--dry-run=false`.");
        assert_eq!(words.of("with `dry_run` true, nothing"), "with `--dry-run`, nothing");
        assert_eq!(words.of("`dry_run` falsely"), "`--dry-run` falsely");
        assert_eq!(words.of("`dry_run`"), "`--dry-run`");
    }

    #[test]
    fn a_failure_names_the_option_at_fault_and_nothing_else_that_was_typed() {
        let words = words(&["recall"], None);
        let failure = words.of_failure(Failure::usage("`limit`: `recall` does not fit", "call `inspect`"));
        assert_eq!(failure.causes, ["`--limit`: `recall` does not fit"]);
        assert_eq!(failure.hint, "call `strata inspect`");
    }

    #[test]
    fn no_command_speaks_of_a_tool_that_cannot_be_typed() {
        for entry in OPERATIONS {
            let about = Words::new(entry, None).of(entry.spec.about);
            for (index, part) in about.split('`').enumerate() {
                let untyped =
                    index % 2 == 1 && OPERATIONS.iter().any(|e| e.spec.tool == part && part.contains('_'));
                assert!(!untyped, "`{part}` in {}", entry.spec.cli.join(" "));
            }
        }
    }

    #[test]
    fn commands_to_copy_mean_the_same_home() {
        let words = words(strata_engine::maintain::init::Init::SPEC.cli, Some(Path::new("/tmp/it's mine")));
        let text = words.with_home("strata serve   # for clients\ncd x");
        assert_eq!(text, "strata serve --home '/tmp/it'\\''s mine'   # for clients\ncd x");
    }
}
