//! Strata as a library, in a program of your own: `cargo run -p strata-engine --example embed`.
//!
//! An [`Engine`] on a home, a [`Call`] that says who acts and where, and the operations themselves. What
//! holds for every other way in holds here too: the policy, the audit, the blacking out of secrets.

use std::io::Write;

use serde_json::json;
use strata_core::{
    cancel::Cancel,
    principal::{Face, Principal, PrincipalKind},
    scope::Scope,
    time::Timestamp,
};
use strata_engine::{
    context::operation::Context,
    engine::Engine,
    error::Error,
    memory::remember::Remember,
    operation::{Call, Operation},
    recall::operation::Recall,
    render::Render,
    request,
    settings::Settings,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let home = tempfile::tempdir()?;
    let said = remember_and_ask(&Engine::new(Settings::for_home(home.path())))?;
    Ok(writeln!(std::io::stdout(), "{said}")?)
}

/// Stores two facts and asks for them, as an agent called `example` in a project called `shop`.
fn remember_and_ask(engine: &Engine) -> Result<String, Error> {
    // Who acts is your program's to say: it is never read from a request.
    let principal = Principal::new(PrincipalKind::Agent, "example");
    let call = Call {
        principal: &principal,
        scope: &Scope::project("shop"),
        face: Face::Library,
        deadline: Timestamp::MAX,
        cancel: &Cancel::default(),
        progress: &|_, _| {},
        secret: None,
    };

    // Requests read from JSON are checked as those of a client are ...
    let fact = request::read(json!({ "text": "Orders over 200 euro ship for free." }), Remember::ALIASES)?;
    let stored = Remember::run(engine, &call, fact)?;
    let port = request::read(
        json!({ "text": "The stock service listens on port 7070.", "topic_key": "stock.port" }),
        Remember::ALIASES,
    )?;
    Remember::run(engine, &call, port)?;

    // ... and responses are plain values that can also be drawn.
    let question =
        request::read(json!({ "query": "Which port does the stock service use?" }), Recall::ALIASES)?;
    let found = Recall::run(engine, &call, question)?;
    let task = request::read(
        json!({ "query": "change the shipping costs", "budget_tokens": 500 }),
        Context::ALIASES,
    )?;
    let pack = Context::run(engine, &call, task)?;

    Ok(format!("stored {}\n\n{}\n\n{}", stored.id, found.render().to_markdown(), pack.render().to_markdown()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_remembered_is_found() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let said = remember_and_ask(&Engine::new(Settings::for_home(home.path()))).expect("it runs");
        assert!(said.contains("port 7070") && said.contains("200 euro"), "{said}");
    }
}
