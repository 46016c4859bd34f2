//! A folder from which files are read and out of which no link leads.

use std::{
    fs::File,
    io,
    path::{Component, Path, PathBuf},
};

use crate::{error::StoreError, files::canonical};

/// A folder that is held open. What is read is reached from it name by name, and no name may be a link: neither one
/// that was there nor one that somebody puts there between a look and a read.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    #[cfg(unix)]
    handle: File,
}

impl Folder {
    /// The folder at `path`; links that lead to it are followed once, here.
    ///
    /// # Errors
    /// Nothing is there, or no folder.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let root = canonical(path)?;
        if !root.is_dir() {
            return Err(StoreError::Invalid(format!("`{}` is not a folder", root.display())));
        }
        #[cfg(unix)]
        let handle = File::open(&root).map_err(|error| crate::files::explain_io("open", &root, &error))?;
        Ok(Self {
            root,
            #[cfg(unix)]
            handle,
        })
    }

    /// Where it is, with links resolved.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// A regular file below it, open for reading.
    ///
    /// # Errors
    /// `NotFound`; `InvalidInput` for a name that is no plain path below the folder, that is a link or leads through one, or
    /// that is no regular file; and whatever the system says.
    pub fn open_file(&self, relative: &str) -> io::Result<File> {
        let names = plain(relative)?;
        let file = self.reach(&names)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(file)
    }

    #[cfg(unix)]
    fn reach(&self, names: &[&std::ffi::OsStr]) -> io::Result<File> {
        use rustix::fs::{Mode, OFlags, openat};
        let step = OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (last, folders) = names.split_last().ok_or_else(no_name)?;
        let mut held: Option<File> = None;
        for name in folders {
            let at = held.as_ref().unwrap_or(&self.handle);
            let next = openat(at, *name, step | OFlags::DIRECTORY | OFlags::RDONLY, Mode::empty());
            held = Some(next.map_err(told)?.into());
        }
        let at = held.as_ref().unwrap_or(&self.handle);
        let flags = step | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        Ok(openat(at, *last, flags, Mode::empty()).map_err(told)?.into())
    }

    #[cfg(not(unix))]
    fn reach(&self, names: &[&std::ffi::OsStr]) -> io::Result<File> {
        let mut path = self.root.clone();
        for name in names {
            path.push(name);
            if std::fs::symlink_metadata(&path)?.file_type().is_symlink() {
                return Err(is_link());
            }
        }
        File::open(&path)
    }
}

/// The names of a plain path below a folder.
fn plain(relative: &str) -> io::Result<Vec<&std::ffi::OsStr>> {
    let outside = || io::Error::new(io::ErrorKind::InvalidInput, "no plain path below the folder");
    if relative.contains('\0') {
        return Err(outside());
    }
    let names = Path::new(relative).components().map(|component| match component {
        Component::Normal(name) => Ok(name),
        _ => Err(outside()),
    });
    names
        .collect::<io::Result<Vec<_>>>()
        .and_then(|names| if names.is_empty() { Err(no_name()) } else { Ok(names) })
}

fn no_name() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "no name")
}

fn is_link() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "a link")
}

/// What the system says of a link that may not be followed.
#[cfg(unix)]
fn told(error: rustix::io::Errno) -> io::Error {
    match error {
        rustix::io::Errno::LOOP | rustix::io::Errno::MLINK => is_link(),
        other => other.into(),
    }
}

#[cfg(all(test, unix))]
#[expect(clippy::disallowed_methods, reason = "fixtures need no atomic writes")]
mod tests {
    use std::{fs, io::Read, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn nothing_is_reached_through_a_link_or_outside() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let root = dir.path().join("root");
        fs::create_dir_all(root.join("a/b")).expect("fixture");
        fs::write(root.join("a/b/c.txt"), "inside").expect("fixture");
        fs::write(dir.path().join("secret.txt"), "outside").expect("fixture");
        symlink(dir.path().join("secret.txt"), root.join("link.txt")).expect("fixture");
        symlink(dir.path(), root.join("up")).expect("fixture");
        let folder = Folder::open(&root).expect("open");
        let mut text = String::new();
        folder.open_file("a/b/c.txt").expect("a file").read_to_string(&mut text).expect("read");
        assert_eq!(text, "inside");
        for refused in ["link.txt", "up/secret.txt", "../secret.txt", "/etc/passwd", "a/b", "a\0b", "", "."] {
            assert!(folder.open_file(refused).is_err(), "{refused}");
        }
        let missing = folder.open_file("a/none.txt").expect_err("nothing there");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
