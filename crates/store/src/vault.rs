//! The vault on disk: Markdown files below one folder per namespace, that people edit at the same time.
//!
//! Nothing else reads or writes these files. A look never takes what cannot be read for what was deleted, and a write
//! never overwrites bytes that it has not seen.

mod backups;

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use strata_core::{
    knowledge::name::{Name, NameError, VaultPath},
    time::Timestamp,
};

use crate::{
    error::{Conflict, StoreError},
    faults::{FaultPlan, FaultPoint},
    files::{self, FileLock, Prepared, explain_io},
    sql::Control,
};

pub use backups::{MovedBackup, moved_backups};

/// Larger files are not read: 5 MiB.
pub const MAX_FILE: u64 = 5 << 20;

/// What the names of its files end with.
const ENDING: &str = ".md";

/// What is said of a link.
const A_LINK: &str = "a link, and links are not followed";

/// The folder of all namespaces.
#[derive(Debug, Clone)]
pub struct Vault {
    root: PathBuf,
    locks: PathBuf,
    faults: FaultPlan,
}

/// A file of a namespace as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    /// Where it lies below the namespace.
    pub path: VaultPath,
    /// Bytes.
    pub size: u64,
    /// When it was last changed, as the file system says.
    pub modified: Timestamp,
    /// When something of it was last changed, which nobody can set; 0 where the system does not say.
    pub touched: Timestamp,
}

/// Something in a namespace's folder that is no file of the vault, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Its place below the namespace, as written.
    pub place: String,
    /// What is wrong.
    pub reason: String,
}

/// What a look at a namespace's folder showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listing {
    /// It was read: these are all its files, by path, and what is in the way.
    Listed(Vec<FoundFile>, Vec<Problem>),
    /// It is absent or could not be read; this says nothing about the files in it.
    Unavailable(String),
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// Its text.
    Text(String),
    /// There is no such file in a folder that can be read.
    Missing,
    /// It is there and is no text of the vault: a link, too large, not UTF-8.
    Unreadable(String),
    /// It could not be looked at; this says nothing about whether it is there.
    Unavailable(String),
}

impl Vault {
    /// The vault below `root`; its locks are files in `locks`, outside of it. Nothing is created.
    pub fn new(root: &Path, locks: &Path) -> Self {
        Self { root: root.to_owned(), locks: locks.to_owned(), faults: FaultPlan::none() }
    }

    /// The same, with faults scripted for tests.
    #[must_use]
    pub fn with_faults(self, faults: &FaultPlan) -> Self {
        Self { faults: faults.clone(), ..self }
    }

    /// The folder of all namespaces.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The namespaces that have a folder, by name. Folders that no namespace can have are passed over.
    pub fn namespaces(&self) -> io::Result<Vec<Name>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.root)? {
            let entry = entry?;
            let name = entry.file_name();
            let parsed = name.to_str().and_then(|name| Name::exactly(name).ok());
            let sort = entry.file_type()?;
            // A link is none, and is told of when it is looked at.
            if sort.is_dir() || sort.is_symlink() {
                names.extend(parsed);
            }
        }
        names.sort();
        Ok(names)
    }

    /// The namespace that has a folder whose name differs from that of `namespace` in letter case only, while
    /// `namespace` has none: where case makes no difference, the two would be one folder.
    pub fn other_spelling(&self, namespace: &Name) -> Option<Name> {
        let there = self.namespaces().ok()?;
        if there.contains(namespace) {
            return None;
        }
        let folded = namespace.as_str().to_lowercase();
        there.into_iter().find(|other| other.as_str().to_lowercase() == folded)
    }

    /// Bytes and time of change of a regular file; `None` when it cannot be told.
    pub fn stamp(&self, namespace: &Name, path: &VaultPath) -> Option<(u64, Timestamp)> {
        let metadata = fs::symlink_metadata(self.place(namespace, path)).ok()?;
        metadata.is_file().then(|| (metadata.len(), files::modified(&metadata)))
    }

    /// Whether anything lies where the folder of a namespace would.
    pub fn has_folder(&self, namespace: &Name) -> bool {
        fs::symlink_metadata(self.folder(namespace)).is_ok()
    }

    /// Looks at the folder of a namespace and those below it. Hidden files are passed over, links are not followed.
    pub fn list(&self, namespace: &Name) -> Listing {
        let folder = self.folder(namespace);
        if fs::symlink_metadata(&folder).is_ok_and(|metadata| metadata.is_symlink()) {
            return Listing::Unavailable(format!("`{}` is {A_LINK}", folder.display()));
        }
        let (mut found, mut problems) = (Vec::new(), Vec::new());
        if let Err(error) = walk(&folder, "", 1, &mut found, &mut problems) {
            return Listing::Unavailable(format!("`{}`: {error}", folder.display()));
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Listing::Listed(found, problems)
    }

    /// The file that `path` names to a person: itself, or the one whose name differs in case, spaces or hyphens only.
    pub fn locate(&self, namespace: &Name, path: &VaultPath) -> Option<VaultPath> {
        if fs::symlink_metadata(self.place(namespace, path)).is_ok() {
            return Some(path.clone());
        }
        let Listing::Listed(found, _) = self.list(namespace) else { return None };
        let key = path.key();
        found.into_iter().map(|file| file.path).find(|path| path.key() == key)
    }

    /// Reads a file without waiting for its writers: a write replaces it whole.
    pub fn read(&self, namespace: &Name, path: &VaultPath) -> Result<Reading, StoreError> {
        let place = self.confined(namespace, path)?;
        let metadata = match fs::symlink_metadata(&place) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(self.absent(namespace)),
            Err(error) => return Ok(Reading::Unavailable(error.to_string())),
        };
        if !metadata.is_file() {
            return Ok(Reading::Unreadable("it is no regular file".to_owned()));
        }
        let bytes = match files::read_start(&place, MAX_FILE + 1) {
            Ok(bytes) if bytes.len() as u64 > MAX_FILE => {
                return Ok(Reading::Unreadable(format!("it is larger than {MAX_FILE} bytes")));
            }
            Ok(bytes) => bytes,
            Err(error) => return Ok(Reading::Unavailable(error.to_string())),
        };
        Ok(match String::from_utf8(bytes) {
            // UTF-16 of plain letters is UTF-8, too, with a NUL at every other byte.
            Ok(text) => match text.find('\0') {
                Some(at) => Reading::Unreadable(format!("it is no text: byte {at} is NUL")),
                None => Reading::Text(text),
            },
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                Reading::Unreadable(format!("it is not UTF-8 at byte {at}"))
            }
        })
    }

    /// Takes the right to write a file and reads it. Whoever needs a transaction of the ledger takes it after this.
    ///
    /// What cannot be read cannot be opened: a write would have to guess what it replaces.
    pub fn open(
        &self,
        namespace: &Name,
        path: &VaultPath,
        control: &Control,
    ) -> Result<OpenFile, StoreError> {
        let place = self.confined(namespace, path)?;
        let lock = FileLock::acquire(&self.locks, &place, control)?;
        let text = match self.read(namespace, path)? {
            Reading::Text(text) => Some(text),
            Reading::Missing => None,
            Reading::Unreadable(reason) | Reading::Unavailable(reason) => {
                return Err(StoreError::Invalid(format!("`{namespace}/{path}` cannot be edited: {reason}")));
            }
        };
        Ok(OpenFile { lock, place, text, faults: self.faults.clone() })
    }

    /// [`Vault::open`] for two different files. Their locks are taken in one order, whichever comes first, so that two
    /// moves in opposite directions do not wait for each other.
    pub fn open_both(
        &self,
        a: (&Name, &VaultPath),
        b: (&Name, &VaultPath),
        control: &Control,
    ) -> Result<(OpenFile, OpenFile), StoreError> {
        if a == b {
            return Err(StoreError::Invalid(format!("`{}/{}` is one file, not two", a.0, a.1)));
        }
        if a < b {
            let first = self.open(a.0, a.1, control)?;
            return Ok((first, self.open(b.0, b.1, control)?));
        }
        let first = self.open(b.0, b.1, control)?;
        Ok((self.open(a.0, a.1, control)?, first))
    }

    /// Waits until what was put in place at these places outlasts power loss; once for each folder. In a folder that is
    /// gone there is nothing to wait for.
    pub fn sync_folders<'p>(
        &self,
        places: impl IntoIterator<Item = (&'p Name, &'p VaultPath)>,
    ) -> Result<(), StoreError> {
        let places = places.into_iter().map(|(namespace, path)| self.place(namespace, path));
        let folders: BTreeSet<PathBuf> = places.map(|place| files::directory_of(&place).to_owned()).collect();
        folders.iter().try_for_each(|folder| match files::sync_directory(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(explain_io("write", folder, &error)),
            _ => Ok(()),
        })
    }

    fn folder(&self, namespace: &Name) -> PathBuf {
        self.root.join(namespace.as_str())
    }

    fn place(&self, namespace: &Name, path: &VaultPath) -> PathBuf {
        self.folder(namespace).join(path.to_string())
    }

    /// The place of a file, if neither it nor a folder on the way to it is a link.
    fn confined(&self, namespace: &Name, path: &VaultPath) -> Result<PathBuf, StoreError> {
        let place = self.place(namespace, path);
        let folder = files::directory_of(&place);
        let expected = match files::resolve(&self.root) {
            Ok(root) => root.join(folder.strip_prefix(&self.root).unwrap_or(folder)),
            Err(error) => return Err(error),
        };
        if files::resolve(folder)? != expected {
            return Err(StoreError::Invalid(format!(
                "`{namespace}/{path}` leads out of the vault through a link"
            )));
        }
        if fs::symlink_metadata(&place).is_ok_and(|metadata| metadata.is_symlink()) {
            return Err(StoreError::Invalid(format!("`{namespace}/{path}` is {A_LINK}")));
        }
        Ok(place)
    }

    /// What an absent file means: it is missing only from a folder that can be read.
    fn absent(&self, namespace: &Name) -> Reading {
        let folder = self.folder(namespace);
        match fs::read_dir(&folder) {
            Ok(_) => Reading::Missing,
            // Before the first file there is no folder, and above it the vault is there.
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.is_there() => Reading::Missing,
            Err(error) => Reading::Unavailable(format!("`{}`: {error}", folder.display())),
        }
    }

    fn is_there(&self) -> bool {
        // In a new home neither the vault nor the folder above it is made yet.
        self.root
            .ancestors()
            .find(|folder| folder.exists())
            .is_some_and(|folder| fs::read_dir(folder).is_ok())
    }
}

/// A file that this process alone may write, until dropped. People's editors do not know of it: what they saved
/// meanwhile is noticed when the file is replaced.
#[derive(Debug)]
pub struct OpenFile {
    lock: FileLock,
    place: PathBuf,
    text: Option<String>,
    faults: FaultPlan,
}

impl OpenFile {
    /// What the file holds; `None` when there is none.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Where it lies.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Writes the text that shall replace the file beside it, so that only a rename is left to do. The text is durable.
    pub fn prepare(&self, text: &str) -> Result<Prepared, StoreError> {
        files::make_private_directory(files::directory_of(&self.place))?;
        Prepared::new(&self.place, text.as_bytes())
    }

    /// The same without waiting for the disk: [`OpenFile::put`] does.
    pub fn begin(&self, text: &str) -> Result<Prepared, StoreError> {
        files::make_private_directory(files::directory_of(&self.place))?;
        Prepared::begin(&self.place, text.as_bytes())
    }

    /// Puts a prepared text in place if the file still holds [`OpenFile::text`]; else fails with
    /// [`Conflict::FileMoved`] and leaves it alone. Everybody reads the new text from now on; that power loss does not
    /// bring back the old one is for [`Vault::sync_folders`] to see to.
    pub fn put(&mut self, prepared: Prepared, text: &str) -> Result<(), StoreError> {
        prepared.swap(&self.lock, self.text.as_deref().map(str::as_bytes), &self.faults)?;
        self.text = Some(text.to_owned());
        Ok(())
    }

    /// Notes which generation is about to be written, so that whoever opens the file after this process died can tell
    /// an unfinished write from what somebody did by hand.
    pub fn announce(&self, generation: i64) -> Result<(), StoreError> {
        self.lock.note(&generation.to_string()).map_err(|error| explain_io("note", &self.place, &error))
    }

    /// Notes that nothing is unfinished.
    pub fn conclude(&self) -> Result<(), StoreError> {
        self.lock.note("").map_err(|error| explain_io("note", &self.place, &error))
    }

    /// The generation whose write was announced and not concluded.
    pub fn announced(&self) -> Result<Option<i64>, StoreError> {
        let word = self.lock.noted().map_err(|error| explain_io("read", &self.place, &error))?;
        Ok(word.parse().ok())
    }

    /// Replaces the file, or makes it, if it still holds [`OpenFile::text`]; else fails with [`Conflict::FileMoved`] and
    /// leaves it alone.
    pub fn replace(&mut self, text: &str) -> Result<(), StoreError> {
        if text.len() as u64 > MAX_FILE {
            let place = self.place.display();
            return Err(StoreError::Invalid(format!("`{place}` would be larger than {MAX_FILE} bytes")));
        }
        files::make_private_directory(files::directory_of(&self.place))?;
        files::swap(&self.lock, &self.place, self.text.as_deref().map(str::as_bytes), text.as_bytes())?;
        self.text = Some(text.to_owned());
        Ok(())
    }

    /// Deletes the file if it still holds [`OpenFile::text`]; else fails with [`Conflict::FileMoved`]. No file is no error.
    pub fn remove(&mut self) -> Result<(), StoreError> {
        let Some(text) = &self.text else { return Ok(()) };
        let explain = |error: io::Error| explain_io("delete", &self.place, &error);
        self.faults.visit(FaultPoint::BeforeRename, &self.place)?;
        if fs::read(&self.place).map_err(explain)? != text.as_bytes() {
            return Err(Conflict::FileMoved { path: self.place.clone() }.into());
        }
        fs::remove_file(&self.place).map_err(explain)?;
        files::sync_directory(files::directory_of(&self.place)).map_err(explain)?;
        self.text = None;
        Ok(())
    }
}

/// Collects the files of a folder. Only the topmost folder must be readable; one below it that is not is a problem.
fn walk(
    folder: &Path,
    above: &str,
    depth: usize,
    found: &mut Vec<FoundFile>,
    problems: &mut Vec<Problem>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let (place, sort) = (format!("{above}{}", name.to_string_lossy()), entry.file_type()?);
        let Some(name) = name.to_str() else {
            // The nearest name that can be written might be that of another file.
            problems.push(Problem { place, reason: "its name is not UTF-8".to_owned() });
            continue;
        };
        if name.starts_with('.') {
            continue;
        }
        if sort.is_symlink() {
            if name.ends_with(ENDING) || entry.path().is_dir() {
                problems.push(Problem { place, reason: format!("it is {A_LINK}") });
            }
        } else if sort.is_dir() {
            let below = if depth < VaultPath::MAX_DEPTH {
                walk(&entry.path(), &format!("{place}/"), depth + 1, found, problems)
            } else {
                Err(io::Error::other(NameError::TooDeep))
            };
            problems.extend(below.err().map(|e| Problem { place, reason: e.to_string() }));
        } else if name.ends_with(ENDING) {
            match examine(&entry, &place) {
                Ok(file) => found.push(file),
                Err(reason) => problems.push(Problem { place, reason }),
            }
        } else if is_miswritten(name) {
            let reason = format!("its name does not end in `{ENDING}` in small letters: rename it");
            problems.push(Problem { place, reason });
        }
    }
    Ok(())
}

/// Whether a name ends as those of Markdown do, but for letter case: on some systems it is the same file.
fn is_miswritten(name: &str) -> bool {
    let end = name.len().checked_sub(ENDING.len()).and_then(|at| name.get(at..));
    end.is_some_and(|end| end.eq_ignore_ascii_case(ENDING))
}

fn examine(entry: &fs::DirEntry, place: &str) -> Result<FoundFile, String> {
    let path = VaultPath::parse(place).map_err(|error| error.to_string())?;
    if path.to_string() != place {
        return Err(format!(
            "its name is not written as `{path}` (no outer spaces, letters with their accents as one): rename it"
        ));
    }
    let metadata = entry.metadata().map_err(|error| error.to_string())?;
    let (modified, touched) = (files::modified(&metadata), files::touched(&metadata));
    Ok(FoundFile { path, size: metadata.len(), modified, touched })
}
