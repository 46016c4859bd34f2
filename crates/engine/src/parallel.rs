//! Two pieces of work at once, where the machine has cores for it.

use std::{panic::resume_unwind, sync::LazyLock, thread};

/// Does both and gives both results; `second` in a thread of its own, if that is of use and there is one to be had.
pub(crate) fn join<A, B: Send>(first: impl FnOnce() -> A, second: impl Fn() -> B + Sync) -> (A, B) {
    thread::scope(|scope| {
        let spawn = || thread::Builder::new().spawn_scoped(scope, &second).ok();
        let beside = has_cores().then(spawn).flatten();
        let first = first();
        let second = match beside {
            Some(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            None => second(),
        };
        (first, second)
    })
}

/// Whether a second thread at work is of use.
pub(crate) fn has_cores() -> bool {
    static HAS_CORES: LazyLock<bool> =
        LazyLock::new(|| thread::available_parallelism().is_ok_and(|cores| cores.get() > 1));
    *HAS_CORES
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn both_results_come_back() {
        assert_eq!(join(|| 1, || "two"), (1, "two"));
    }
}
