//! Who is at the command line.

use std::io::IsTerminal;

use strata_core::principal::{Principal, PrincipalKind};

use crate::environment::Environment;

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
}
