//! The page about the command line.

use clap::{Arg, Command};

use crate::{arguments, commands::reference::pages};

/// Every command with its arguments.
pub(super) fn page() -> String {
    let mut root = arguments::command().disable_help_subcommand(true);
    root.build();
    let mut page = pages::head("Command line");
    page.push_str("\n## Options of every command\n\n");
    rows(&mut page, root.get_arguments().filter(|a| shown(a)));
    for command in root.get_subcommands().filter(|c| !c.is_hide_set()) {
        section(&mut page, "strata", command);
    }
    page
}

fn section(page: &mut String, parent: &str, command: &Command) {
    let path = format!("{parent} {}", command.get_name());
    let children: Vec<_> = command.get_subcommands().filter(|c| !c.is_hide_set()).collect();
    if children.is_empty() {
        let about = command.get_long_about().or_else(|| command.get_about());
        page.push_str(&format!(
            "\n## `{path}`\n\n{}\n\n",
            about.map(ToString::to_string).unwrap_or_default()
        ));
        page.push_str(&format!("```\n{path}{}\n```\n", usage(command)));
        let own: Vec<_> = command.get_arguments().filter(|a| shown(a) && !a.is_global_set()).collect();
        if !own.is_empty() {
            page.push('\n');
            rows(page, own.into_iter());
        }
    }
    for child in children {
        section(page, &path, child);
    }
}

fn usage(command: &Command) -> String {
    let options = command.get_arguments().any(|a| shown(a) && !a.is_global_set() && !a.is_positional());
    let mut usage = if options { " [OPTIONS]".to_owned() } else { String::new() };
    for argument in command.get_positionals() {
        let name = label(argument);
        usage.push_str(&if argument.is_required_set() { format!(" {name}") } else { format!(" [{name}]") });
    }
    usage
}

fn rows<'a>(page: &mut String, arguments: impl Iterator<Item = &'a Arg>) {
    page.push_str("| argument | meaning |\n| --- | --- |\n");
    for argument in arguments {
        let about = sentence(argument.get_help().map(ToString::to_string).unwrap_or_default());
        let words: Vec<_> =
            argument.get_possible_values().iter().map(|v| format!("`{}`", v.get_name())).collect();
        let words = if words.is_empty() || argument.is_hide_possible_values_set() {
            String::new()
        } else {
            format!(" One of {}.", words.join(", "))
        };
        let required = if argument.is_required_set() { " Required." } else { "" };
        let about = format!("{about}{words}{required}").replace('|', "\\|");
        page.push_str(&format!("| `{}` | {about} |\n", label(argument)));
    }
}

/// Help as a sentence, so that another can follow it.
fn sentence(help: String) -> String {
    if help.is_empty() || help.ends_with(['.', ':']) { help } else { help + "." }
}

fn label(argument: &Arg) -> String {
    let value = argument.get_value_names().and_then(|n| n.first()).map(ToString::to_string);
    let takes_value = argument.get_action().takes_values();
    match (argument.get_short(), argument.get_long()) {
        (_, None) => format!("{}{}", value.unwrap_or_default(), more(argument)),
        (short, Some(long)) => {
            let short = short.map(|s| format!("-{s}, ")).unwrap_or_default();
            // The value that may be left out has to stand behind an equals sign.
            let is_optional = argument.get_num_args().is_some_and(|n| n.min_values() == 0);
            let typed = |v: String| if is_optional { format!("[={v}]") } else { format!(" {v}") };
            let value = value.filter(|_| takes_value).map(typed).unwrap_or_default();
            format!("{short}--{long}{value}")
        }
    }
}

fn more(argument: &Arg) -> &'static str {
    if argument.get_num_args().is_some_and(|n| n.max_values() > 1) { "..." } else { "" }
}

fn shown(argument: &Arg) -> bool {
    !argument.is_hide_set() && argument.get_id() != "help" && argument.get_id() != "version"
}
