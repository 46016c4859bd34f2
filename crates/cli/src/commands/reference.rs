//! `reference`: the pages of `docs/reference`, made from the same tables as the product.

mod cli;
mod pages;

use clap::{Arg, ArgMatches, Command};

use crate::{failure::Failure, out::Out};

/// One page: its name and what makes its text.
type Page = (&'static str, fn() -> String);

const PAGES: [Page; 4] = [
    ("tools", pages::tools),
    ("cli", cli::page),
    ("environment", pages::environment),
    ("errors", pages::errors),
];

pub(super) fn command() -> Command {
    Command::new("reference")
        .about("Print a page of the reference documentation")
        .hide(true)
        .arg(Arg::new("page").value_name("PAGE").required(true).value_parser(PAGES.map(|(name, _)| name)))
}

pub(super) fn run(matches: &ArgMatches, out: &Out) -> Result<(), Failure> {
    let named = matches.get_one::<String>("page");
    let page = PAGES.iter().find(|(name, _)| named.is_some_and(|n| n == name));
    let (_, text) =
        page.ok_or_else(|| Failure::usage("there is no such page", "see `strata reference --help`"))?;
    Ok(out.text(&text())?)
}
