//! Upkeep of a home: init, import, export, backup, purge, doctor, reindex, jobs, what is due.

pub mod backup;
pub mod byte_scan;
pub mod doctor;
pub mod due;
pub mod export;
pub mod import;
pub mod index_files;
pub mod init;
pub mod jobs;
pub mod load;
pub mod purge;
pub mod purged;
pub mod reembed;
pub mod reindex;
pub mod transfer;

/// A number of things in words: `1 memory`, `2 memories`.
pub(crate) fn counted(number: usize, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        n if one.ends_with("ss") => format!("{n} {one}es"),
        n => match one.strip_suffix('y') {
            Some(stem) => format!("{n} {stem}ies"),
            None => format!("{n} {one}s"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn numbers_agree_with_their_nouns() {
        assert_eq!(
            [counted(1, "memory"), counted(0, "memory"), counted(2, "file"), counted(3, "witness")],
            ["1 memory", "0 memories", "2 files", "3 witnesses"]
        );
    }
}
