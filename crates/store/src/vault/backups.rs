//! Copies that older programs left beside the files: `infra.md.bak`. They are no files of the vault.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use strata_core::knowledge::name::{Name, VaultPath};

use super::Vault;
use crate::{error::StoreError, files};

/// What the name of a copy ends with.
const ENDING: &str = ".md.bak";
/// What it ends with instead, where another copy has the name already.
const SECOND: &str = ".md.legacy.bak";
/// Larger copies stay where they are: 64 MiB.
const MAX_BACKUP: u64 = 64 << 20;

/// What became of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MovedBackup {
    /// It lies here now.
    To(PathBuf),
    /// Other copies have both of its names; it stays.
    Clash(PathBuf),
    /// It is not there any more, or is no regular file.
    Gone,
}

impl Vault {
    /// The copies in the folder of a namespace and those below it, by place. Links are passed over.
    pub fn backups(&self, namespace: &Name) -> Vec<String> {
        let mut found = Vec::new();
        // A folder that cannot be read has none that could be moved.
        drop(collect(&self.folder(namespace), "", 1, &[ENDING], &mut found));
        found.sort();
        found
    }

    /// Moves a copy that [`Vault::backups`] gave to the same place below `folder`: it is removed when the new one was
    /// read back and is the same.
    ///
    /// # Errors
    /// Those of the files; the copy is then still where it was.
    pub fn move_backup(
        &self,
        namespace: &Name,
        place: &str,
        folder: &Path,
    ) -> Result<MovedBackup, StoreError> {
        let from = self.folder(namespace).join(place);
        let is_regular = fs::symlink_metadata(&from).is_ok_and(|metadata| metadata.is_file());
        if !self.backups(namespace).iter().any(|known| known == place) || !is_regular {
            return Ok(MovedBackup::Gone);
        }
        let content = files::read_regular(&from, MAX_BACKUP)?;
        let first = folder.join(namespace.as_str()).join(place);
        let second = place.strip_suffix(ENDING).map(|stem| format!("{stem}{SECOND}"));
        let names = std::iter::once(first.clone())
            .chain(second.map(|place| folder.join(namespace.as_str()).join(place)));
        for to in names {
            if fs::symlink_metadata(&to).is_err() {
                files::make_private_directory(files::directory_of(&to))?;
                files::write_atomic(&to, &content)?;
            }
            if files::read_regular(&to, MAX_BACKUP)? == content {
                fs::remove_file(&from).map_err(|e| files::explain_io("remove", &from, &e))?;
                return Ok(MovedBackup::To(to));
            }
        }
        Ok(MovedBackup::Clash(first))
    }
}

/// The copies below `folder`, to which they were moved, by place. Links are passed over.
pub fn moved_backups(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    drop(collect(folder, "", 0, &[ENDING, SECOND], &mut found));
    found.sort();
    found
}

fn collect(
    folder: &Path,
    above: &str,
    depth: usize,
    endings: &[&str],
    found: &mut Vec<String>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (name, sort) = (entry.file_name(), entry.file_type()?);
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.') && !sort.is_symlink()) else {
            continue;
        };
        if sort.is_dir() && depth < VaultPath::MAX_DEPTH {
            drop(collect(&entry.path(), &format!("{above}{name}/"), depth + 1, endings, found));
        } else if sort.is_file() && endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(format!("{above}{name}"));
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "older programs write files as they like")]
mod tests {
    use super::*;

    #[test]
    fn copies_are_moved_once_verified_and_never_over_another_one() {
        let home = tempfile::tempdir().expect("a folder");
        let (root, to) = (home.path().join("knowledge"), home.path().join("backups"));
        let vault = Vault::new(&root, &home.path().join("locks"));
        let own = Name::parse("shared").expect("a name");
        fs::create_dir_all(root.join("shared/sub")).expect("folders");
        let put = |content: &str| {
            fs::write(root.join("shared/sub/a.md.bak"), content).expect("written");
            assert_eq!(vault.backups(&own), ["sub/a.md.bak"]);
            vault.move_backup(&own, "sub/a.md.bak", &to).expect("moved")
        };
        let first = to.join("shared/sub/a.md.bak");
        assert_eq!(put("one"), MovedBackup::To(first.clone()));
        assert_eq!(put("one"), MovedBackup::To(first.clone()), "the same again");
        assert_eq!(put("two"), MovedBackup::To(to.join("shared/sub/a.md.legacy.bak")));
        assert_eq!(put("three"), MovedBackup::Clash(first.clone()));
        assert_eq!(fs::read_to_string(&first).expect("a copy"), "one");
        assert_eq!(fs::read_to_string(root.join("shared/sub/a.md.bak")).expect("it stays"), "three");
        assert_eq!(vault.move_backup(&own, "../a.md.bak", &to).expect("none"), MovedBackup::Gone);
        assert_eq!(moved_backups(&to), ["shared/sub/a.md.bak", "shared/sub/a.md.legacy.bak"]);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&first, root.join("shared/b.md.bak")).expect("a link");
            assert_eq!(vault.backups(&own), ["sub/a.md.bak"]);
        }
    }
}
