//! The operating system's locks on open files: taken, and given back.

use std::{
    fs::{File, TryLockError},
    ops::{Deref, DerefMut},
    path::Path,
    time::Duration,
};

use crate::{error::StoreError, files::explain_io, retry::patiently, sql::Control};

/// An open file that is locked until this is dropped. The operating system takes the lock back when the process dies.
///
/// It is given back in words, not by closing the file: a process that another thread starts has the file open, too, until
/// it runs its own program, and with it the lock.
#[derive(Debug)]
pub(crate) struct Held(File);

impl Held {
    /// Waits for the lock, up to the patience of `control`. `path` is what errors name.
    pub(crate) fn take(file: File, path: &Path, control: &Control) -> Result<Self, StoreError> {
        patiently(control, || match file.try_lock() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(StoreError::Busy { waited: Duration::ZERO }),
            Err(TryLockError::Error(error)) => Err(explain_io("lock", path, &error)),
        })?;
        Ok(Self(file))
    }

    /// Takes the lock, or answers `None` when somebody has it.
    pub(crate) fn try_take(file: File, path: &Path) -> Result<Option<Self>, StoreError> {
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(explain_io("lock", path, &error)),
        }
    }
}

/// Whether somebody holds a lock that nobody else may have. One that cannot be asked about is not held.
pub(crate) fn is_held(file: &File) -> bool {
    match file.try_lock_shared() {
        Ok(()) => {
            drop(file.unlock());
            false
        }
        Err(refused) => matches!(refused, TryLockError::WouldBlock),
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // What cannot be given back goes when the file is closed.
        drop(self.0.unlock());
    }
}

impl Deref for Held {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_lock_is_free_once_it_is_dropped_whoever_still_has_the_file_open() {
        let place = tempfile::tempdir().expect("temporary directory");
        let path = place.path().join("x.lock");
        let open = || File::options().create(true).truncate(false).write(true).open(&path).expect("opened");
        let held = Held::try_take(open(), &path).expect("asked").expect("free");
        assert!(Held::try_take(open(), &path).expect("asked").is_none() && is_held(&open()));
        // As a process has it that is being started by another thread.
        let inherited = held.try_clone().expect("another name of it");
        let mut child =
            Command::new("sleep").arg("60").stdin(Stdio::from(inherited)).spawn().expect("started");
        drop(held);
        let is_free = !is_held(&open()) && Held::try_take(open(), &path).expect("asked").is_some();
        child.kill().and_then(|()| child.wait()).expect("ended");
        assert!(is_free);
    }

    #[test]
    fn asking_whether_a_lock_is_held_holds_nothing() {
        let place = tempfile::tempdir().expect("temporary directory");
        let path = place.path().join("x.lock");
        let open = || File::options().create(true).truncate(false).write(true).open(&path).expect("opened");
        let asking = open();
        assert!(!is_held(&asking));
        assert!(Held::try_take(open(), &path).expect("asked").is_some(), "with what was asked by still open");
    }
}
