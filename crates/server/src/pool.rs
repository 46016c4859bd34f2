//! The bounded pool of threads on which operations run.
//!
//! Operations are synchronous and may wait for the disk, so they stay off the protocol's own thread.
//! A short queue makes overload visible at once instead of growing a backlog nobody waits for.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

/// One unit of work.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// All threads are at work and the queue is full.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// Threads that start when first needed and end with the pool.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    max_threads: usize,
    max_queued: usize,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl Pool {
    /// A pool for this machine: two threads more than it has cores, and as many waiting calls as threads.
    pub(crate) fn for_machine() -> Self {
        let threads = thread::available_parallelism().map_or(4, |n| n.get() + 2);
        Self::new(threads, threads)
    }

    /// A pool of at most `max_threads`, with at most `max_queued` jobs waiting.
    pub(crate) fn new(max_threads: usize, max_queued: usize) -> Self {
        Self { shared: Arc::default(), max_threads, max_queued }
    }

    /// The most jobs that run at once.
    pub(crate) const fn max_threads(&self) -> usize {
        self.max_threads
    }

    /// Runs `job` on one of the threads, soon. Error: nobody is free and the queue is full.
    pub(crate) fn submit(&self, job: Job) -> Result<(), Full> {
        let mut state = self.shared.lock();
        if state.queue.len() >= state.idle {
            if state.threads < self.max_threads && spawn(&self.shared) {
                state.threads += 1;
            } else if state.threads == 0 || state.queue.len() >= state.idle + self.max_queued {
                return Err(Full);
            }
        }
        state.queue.push_back(job);
        drop(state);
        self.shared.wake.notify_one();
        Ok(())
    }
}

impl Drop for Pool {
    /// Lets running jobs finish on their own; waiting ones are dropped.
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        state.queue.clear();
        drop(state);
        self.shared.wake.notify_all();
    }
}

impl Shared {
    /// The state holds no invariant across a panic, so a poisoned lock is as good as any.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn spawn(shared: &Arc<Shared>) -> bool {
    let shared = Arc::clone(shared);
    thread::Builder::new().name("engine".into()).spawn(move || work(&shared)).is_ok()
}

fn work(shared: &Shared) {
    while let Some(job) = next(shared) {
        if catch_unwind(AssertUnwindSafe(job)).is_err() {
            tracing::error!("a job panicked; its thread goes on");
        }
    }
}

fn next(shared: &Shared) -> Option<Job> {
    let mut state = shared.lock();
    loop {
        if let Some(job) = state.queue.pop_front() {
            return Some(job);
        }
        if state.closed {
            return None;
        }
        state.idle += 1;
        state = shared.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.idle -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    fn blocker() -> (Job, Sender<()>, Receiver<()>) {
        let (release, released) = channel();
        let (started, starts) = channel();
        let job = Box::new(move || {
            started.send(()).expect("the test listens");
            released.recv().ok();
        });
        (job, release, starts)
    }

    #[test]
    fn overload_is_refused_and_room_comes_back() {
        let pool = Pool::new(1, 1);
        let (job, release, starts) = blocker();
        pool.submit(job).expect("a free thread");
        starts.recv().expect("it runs");
        let (done, finished) = channel();
        pool.submit(Box::new(move || done.send(()).expect("the test listens"))).expect("one may wait");
        assert_eq!(pool.submit(Box::new(|| ())), Err(Full));
        release.send(()).expect("the blocker listens");
        finished.recv().expect("the waiting job runs");
    }

    #[test]
    fn jobs_run_at_the_same_time_up_to_the_limit() {
        let pool = Pool::new(2, 0);
        let (first, release_first, first_starts) = blocker();
        let (second, release_second, second_starts) = blocker();
        pool.submit(first).expect("a free thread");
        first_starts.recv().expect("it runs");
        pool.submit(second).expect("another free thread");
        second_starts.recv().expect("it runs beside the first");
        release_first.send(()).expect("listens");
        release_second.send(()).expect("listens");
    }

    #[test]
    fn a_panic_costs_one_job_not_the_thread() {
        let pool = Pool::new(1, 4);
        pool.submit(Box::new(|| panic!("on purpose"))).expect("accepted");
        let (done, finished) = channel();
        pool.submit(Box::new(move || done.send(7).expect("the test listens"))).expect("accepted");
        assert_eq!(finished.recv(), Ok(7));
    }
}
