//! Files that people and other programs read at the same time: replaced whole, never seen half-written.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::error::StoreError;
pub(crate) use crate::sqlite::explain_io;

/// Replaces the content of `path` in one step: other processes see the old bytes or the new ones.
///
/// The permissions of an existing file stay; a new one is private to the user. A symbolic link is
/// followed, so the file it names is replaced and the link stays.
pub fn write_atomic(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let target = resolve_link(path)?;
    let directory = directory_of(&target);
    let mut temporary =
        tempfile::NamedTempFile::new_in(directory).map_err(|error| explain_io("write", &target, &error))?;
    let written = temporary
        .write_all(content)
        .and_then(|()| keep_permissions(&target, temporary.as_file()))
        .and_then(|()| temporary.as_file().sync_all());
    written.map_err(|error| explain_io("write", &target, &error))?;
    temporary.persist(&target).map_err(|error| explain_io("replace", &target, &error.error))?;
    sync_directory(directory).map_err(|error| explain_io("write", directory, &error))
}

/// The file that `path` names when it is a symbolic link, else `path` itself.
fn resolve_link(path: &Path) -> Result<PathBuf, StoreError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.file_type().is_symlink() => canonical(path),
        _ => Ok(path.to_path_buf()),
    }
}

/// The absolute path with links resolved.
pub fn canonical(path: &Path) -> Result<PathBuf, StoreError> {
    #[expect(clippy::disallowed_methods, reason = "this is the function that the ban points to")]
    let resolved = fs::canonicalize(path).map_err(|error| explain_io("find", path, &error))?;
    Ok(plain(resolved))
}

/// Takes away the `\\?\` that Windows puts before canonical paths and that other programs refuse.
fn plain(path: PathBuf) -> PathBuf {
    match path.to_str().and_then(|text| text.strip_prefix(r"\\?\")) {
        Some(rest) if rest.as_bytes().get(1) == Some(&b':') => PathBuf::from(rest),
        _ => path,
    }
}

fn keep_permissions(target: &Path, temporary: &File) -> io::Result<()> {
    match fs::metadata(target) {
        Ok(metadata) => temporary.set_permissions(metadata.permissions()),
        Err(_) => Ok(()),
    }
}

/// Makes a rename outlast power loss. Windows has no such call and needs none.
fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}
