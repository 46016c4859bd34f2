//! Which process holds a job, so that others need not wait for the lease of one that died.
//!
//! A holder is `SPACE/PROCESS/START`: the boot of the machine with the space in which its processes are numbered, the
//! number, and when the process began, in the system's ticks. Where the system tells none of this there is no holder,
//! and the lease alone decides. A holder elsewhere is never judged.

use std::fs;

/// What stands between the worker's name and the process.
const AT: char = '@';

/// The worker's name with the process it runs in.
pub(super) fn named(worker: &str) -> String {
    let this = space().zip(start_of("self")).map(|(space, start)| (space, std::process::id(), start));
    this.map_or_else(
        || worker.to_owned(),
        |(space, process, start)| format!("{worker}{AT}{space}/{process}/{start}"),
    )
}

/// The worker's name without its process.
pub(crate) fn name(owner: &str) -> &str {
    owner.rsplit_once(AT).map_or(owner, |(name, _)| name)
}

/// Whether the process that holds a job is known to have ended.
pub(crate) fn is_gone(owner: &str) -> bool {
    is_running(owner) == Some(false)
}

/// Whether the process that holds a job is known to run on this machine.
pub(crate) fn runs_here(owner: &str) -> bool {
    is_running(owner) == Some(true)
}

/// Whether the process that holds a job runs; `None` where nobody here can tell.
fn is_running(owner: &str) -> Option<bool> {
    let (_, process) = owner.rsplit_once(AT)?;
    let mut parts = process.split('/');
    let (place, number, start) = (parts.next()?, parts.next()?, parts.next()?);
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let is_here = is_number && space().is_some_and(|here| here == place);
    is_here.then(|| start_of(number).is_some_and(|running| running == start))
}

/// Where process numbers mean what they mean here.
fn space() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let numbers = fs::read_link("/proc/self/ns/pid").ok()?;
    let numbers: String = numbers.to_str()?.chars().filter(char::is_ascii_digit).collect();
    Some(format!("{}.{numbers}", boot.trim()))
}

/// When a process began; `None` when there is none, or only what is left of one until its parent has asked.
fn start_of(process: &str) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold anything; the state is the first field behind it, the start the 20th.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let has_ended = matches!(fields.next()?, "Z" | "X");
    let start = fields.nth(18)?.to_owned();
    (!has_ended).then_some(start)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_that_was_killed_is_gone_and_others_are_not_judged() {
        let mine = named("agent:test#1");
        assert_eq!(name(&mine), "agent:test#1");
        assert!(!is_gone(&mine), "{mine} runs");
        assert_eq!(runs_here(&mine), space().is_some());
        let Some(here) = space() else { return };
        let mut child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().expect("started");
        let start = start_of(&child.id().to_string()).expect("it runs");
        let held = |place: &str, start: &str| format!("agent:test#2@{place}/{}/{start}", child.id());
        let (there, elsewhere, other) =
            (held(&here, &start), held("another-boot.1", &start), held(&here, "1"));
        assert!(!is_gone(&there) && !is_gone(&elsewhere));
        assert!(runs_here(&there) && !runs_here(&elsewhere));
        assert!(is_gone(&other), "the number was given to another process");
        child.kill().expect("killed");
        // Killed, and not yet asked for by its parent.
        let patience = std::time::Instant::now();
        while !is_gone(&there) && patience.elapsed().as_secs() < 10 {
            std::thread::yield_now();
        }
        assert!(is_gone(&there));
        child.wait().expect("asked for");
        assert!(is_gone(&there) && !is_gone(&elsewhere));
    }

    #[test]
    fn what_names_no_process_is_not_gone() {
        for owner in
            ["", "agent:test#1", "agent:a@b#1", "x@", "x@a/b", "x@//", "x@a/../1", "system:upkeep#ff"]
        {
            assert!(!is_gone(owner) && !runs_here(owner), "{owner}");
        }
    }
}
