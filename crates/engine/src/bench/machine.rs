//! What a figure was measured on.

use serde::Serialize;

/// The machine and this process on it. Fields that the system does not tell are absent.
#[derive(Debug, Clone, Serialize)]
pub struct Machine {
    /// Processor model.
    pub processor: Option<String>,
    /// Logical processors this process may use.
    pub processors: usize,
    /// Memory of the machine in MiB.
    pub memory_mib: Option<u64>,
    /// Operating system and architecture.
    pub system: String,
    /// `release` or `debug`.
    pub build: &'static str,
}

/// Reads the machine's description.
pub fn describe() -> Machine {
    Machine {
        processor: field("/proc/cpuinfo", "model name"),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        memory_mib: field("/proc/meminfo", "MemTotal").and_then(|v| kib(&v)).map(|k| k / 1024),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        build: if cfg!(debug_assertions) { "debug" } else { "release" },
    }
}

/// Memory this process holds resident, in MiB.
pub fn resident_mib() -> Option<f64> {
    field("/proc/self/status", "VmRSS").and_then(|v| kib(&v)).map(|k| k as f64 / 1024.0)
}

/// Processor time of the calling thread, in seconds.
pub fn thread_cpu() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: u64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds as f64 / 1e9)
}

/// Processor time of this process with all its threads, those that have ended included, in seconds.
/// The system counts it in hundredths.
pub fn process_cpu() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name in parentheses may hold anything; user and system time are the 12th and 13th field behind it.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some((ticks()? + ticks()?) as f64 / 100.0)
}

fn field(path: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find(|l| l.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn kib(value: &str) -> Option<u64> {
    value.split_whitespace().next()?.parse().ok()
}
