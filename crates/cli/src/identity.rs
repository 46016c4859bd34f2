//! Who is at the command line.

use std::io::IsTerminal;

use strata_core::principal::{Principal, PrincipalKind};

use crate::{environment::Environment, failure::Failure};

/// The person, when one sits at a terminal outside every known agent; else `agent:shell`.
///
/// Not a wall: whoever runs as the same user can fake a terminal. What needs a person for certain
/// needs the passphrase.
pub(crate) fn principal(environment: &Environment) -> Principal {
    let terminal = std::io::stdin().is_terminal()
        && (std::io::stdout().is_terminal() || std::io::stderr().is_terminal());
    principal_for(environment, terminal)
}

fn principal_for(environment: &Environment, terminal: bool) -> Principal {
    if terminal && environment.agent().is_none() {
        let user = environment
            .text("USER")
            .or_else(|| environment.text("LOGNAME"))
            .or_else(|| environment.text("USERNAME"));
        Principal::new(PrincipalKind::Human, user.as_deref().unwrap_or("user"))
    } else {
        Principal::new(PrincipalKind::Agent, "shell")
    }
}

/// Checks what p-layer's `--who` claims. It is accepted where it says what is so already, and decides nothing.
pub(crate) fn check_claim(claim: &str, principal: &Principal) -> Result<(), Failure> {
    let kind = claim.split(':').next().unwrap_or(claim);
    match PrincipalKind::parse(kind) {
        Ok(kind) if kind == principal.kind => Ok(()),
        _ => Err(Failure::usage(
            format!(
                "`--who {claim}`: you are {principal}; who acts is decided by the way in and never by an option"
            ),
            "leave it out; a person acts as human at a terminal, and rules take the passphrase",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_terminal_outside_agents_is_a_person() {
        let person = Environment::from([("USER", "kim")]);
        assert_eq!(principal_for(&person, true).to_string(), "human:kim");
        assert_eq!(principal_for(&person, false).to_string(), "agent:shell");
        let agent = Environment::from([("USER", "kim"), ("CODEX_SANDBOX", "1")]);
        assert_eq!(principal_for(&agent, true).to_string(), "agent:shell");
        assert_eq!(principal_for(&Environment::default(), true).to_string(), "human:user");
    }

    #[test]
    fn a_claim_is_accepted_only_where_it_is_so_already() {
        let human = Principal::new(PrincipalKind::Human, "kim");
        let agent = Principal::new(PrincipalKind::Agent, "shell");
        for (claim, principal, accepted) in [
            ("manual", &human, true),
            ("human:lee", &human, true),
            ("agent:deep-thought", &agent, true),
            ("agent:system", &agent, true),
            ("system", &agent, false),
            ("system", &human, false),
            ("human", &agent, false),
            ("System", &agent, false),
            (":agent", &agent, false),
            ("", &agent, false),
        ] {
            assert_eq!(check_claim(claim, principal).is_ok(), accepted, "{claim} of {principal}");
        }
    }
}
