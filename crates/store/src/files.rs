//! Files that people and other programs read at the same time: replaced whole, never seen half-written.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    panic::resume_unwind,
    path::{Component, Path, PathBuf},
    thread::{self, JoinHandle},
    time::{Duration, UNIX_EPOCH},
};

use strata_core::time::Timestamp;

use crate::{
    error::{Conflict, StoreError},
    faults::{FaultPlan, FaultPoint},
    held::{Held, is_held},
    sql::Control,
};

/// What the name of a temporary file begins with; drawn letters and digits follow.
const TEMPORARY: &str = ".tmp";
/// How many.
const DRAWN: usize = 6;
/// All that a thread needs that waits for the disk, in bytes.
const SYNCER_STACK: usize = 128 << 10;

/// Replaces the content of `path` in one step: other processes see the old bytes or the new ones, and
/// after power loss it is one of the two.
///
/// The permissions of an existing file stay; a new one is private to the user. A symbolic link is
/// followed: the file it names is replaced and the link stays. Where that may not happen, [`confine`]
/// the path first.
pub fn write_atomic(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    write_atomic_with(path, content, &FaultPlan::none())
}

/// [`write_atomic`], with faults scripted for tests.
pub fn write_atomic_with(path: &Path, content: &[u8], faults: &FaultPlan) -> Result<(), StoreError> {
    replace_with(path, faults, |out| {
        out.write_all(content).map_err(|error| explain_io("write", path, &error))
    })
}

fn replace_with(
    path: &Path,
    faults: &FaultPlan,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let target = resolve_link(path)?;
    let directory = directory_of(&target);
    let temporary = temporary_in(directory).map_err(|error| explain_io("write", &target, &error))?;
    let mut buffered = io::BufWriter::new(temporary);
    fill(&mut buffered)?;
    let temporary = buffered.into_inner().map_err(|error| explain_io("write", &target, error.error()))?;
    put_in_place(temporary, &target, directory, faults)
}

/// A file for content that will replace another one. It is locked for as long as its writer lives, so that whoever clears
/// away what dead processes left ([`abandoned`]) can tell.
fn temporary_in(directory: &Path) -> io::Result<tempfile::NamedTempFile> {
    let temporary = tempfile::Builder::new().prefix(TEMPORARY).rand_bytes(DRAWN).tempfile_in(directory)?;
    // Elsewhere a lock would keep readers from the file for a moment after its rename. A file system without locks
    // leaves it to the age.
    #[cfg(unix)]
    drop(temporary.as_file().try_lock());
    Ok(temporary)
}

/// The files in `folder`, and with `deep` in those below it, that a write left behind whose process died. Links are not
/// followed, and folders that cannot be read are passed over.
///
/// They are told by their name, by the lock that a living writer holds, and by their age: last changed before `before`.
/// Without it the lock has to do, where there are such locks; none is found elsewhere.
pub fn abandoned(folder: &Path, deep: bool, before: Option<Timestamp>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for entry in entries.flatten() {
        let Ok(sort) = entry.file_type() else { continue };
        let path = entry.path();
        if sort.is_dir() && deep {
            found.extend(abandoned(&path, deep, before));
        } else if sort.is_file() && is_temporary(&entry.file_name().to_string_lossy()) {
            let is_old = |metadata: &fs::Metadata| match before {
                Some(before) => modified(metadata) < before,
                // A writer takes the lock before it writes the first byte.
                None => cfg!(unix) && metadata.len() > 0,
            };
            let is_left = entry.metadata().is_ok_and(|metadata| is_old(&metadata)) && !has_writer(&path);
            found.extend(is_left.then_some(path));
        }
    }
    found.sort();
    found
}

/// Whether a file is named as [`temporary_in`] names them.
fn is_temporary(name: &str) -> bool {
    name.strip_prefix(TEMPORARY)
        .is_some_and(|drawn| drawn.len() == DRAWN && drawn.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Whether somebody holds a temporary file. One that cannot be opened may be held.
fn has_writer(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => is_held(&file),
        Err(_) => true,
    }
}

/// Content beside the file it will replace: once it is durable, all that is left to do is the rename.
#[derive(Debug)]
pub struct Prepared {
    temporary: tempfile::NamedTempFile,
    target: PathBuf,
    modified: Timestamp,
    /// Who brings it to the disk meanwhile; none when it lies there.
    syncing: Option<JoinHandle<io::Result<()>>>,
}

impl Prepared {
    /// Writes `content` beside `path`, whose folder exists, and waits until it is durable.
    pub fn new(path: &Path, content: &[u8]) -> Result<Self, StoreError> {
        let prepared = Self::written(path, content)?;
        let synced = prepared.temporary.as_file().sync_all();
        synced.map_err(|error| explain_io("write", &prepared.target, &error))?;
        Ok(prepared)
    }

    /// The same without waiting: another thread does, and [`Prepared::swap`] waits for it. There is room for the
    /// content when this returns.
    pub fn begin(path: &Path, content: &[u8]) -> Result<Self, StoreError> {
        let mut prepared = Self::written(path, content)?;
        let explain = |error: io::Error| explain_io("write", &prepared.target, &error);
        let file = prepared.temporary.as_file().try_clone().map_err(explain)?;
        match thread::Builder::new().stack_size(SYNCER_STACK).spawn(move || file.sync_all()) {
            Ok(syncing) => prepared.syncing = Some(syncing),
            // Where there are no more threads it takes the time of this one.
            Err(_) => prepared.temporary.as_file().sync_all().map_err(explain)?,
        }
        Ok(prepared)
    }

    fn written(path: &Path, content: &[u8]) -> Result<Self, StoreError> {
        let target = resolve_link(path)?;
        let explain = |error: io::Error| explain_io("write", &target, &error);
        let mut temporary = temporary_in(directory_of(&target)).map_err(explain)?;
        temporary.write_all(content).map_err(explain)?;
        keep_permissions(&target, temporary.as_file()).map_err(explain)?;
        let modified = modified(&temporary.as_file().metadata().map_err(explain)?);
        Ok(Self { temporary, target, modified, syncing: None })
    }

    /// The time of change that the file will have.
    pub fn modified(&self) -> Timestamp {
        self.modified
    }

    /// Replaces the file if it still holds `before` (`None`: if it does not exist), else fails with
    /// [`Conflict::FileMoved`] and leaves it alone. Before the folder is synced power loss may bring back the file as it was.
    pub fn swap(self, _lock: &FileLock, before: Option<&[u8]>, faults: &FaultPlan) -> Result<(), StoreError> {
        let Self { temporary, target, syncing, .. } = self;
        if let Some(syncing) = syncing {
            let synced = syncing.join().unwrap_or_else(|panic| resume_unwind(panic));
            synced.map_err(|error| explain_io("write", &target, &error))?;
        }
        faults.visit(FaultPoint::BeforeRename, &target)?;
        still_holds(&target, before)?;
        rename_into_place(temporary, &target)?;
        faults.visit(FaultPoint::AfterRename, &target)
    }
}

/// When a file was last changed, as the file system says; 0 where it does not say.
pub fn modified(metadata: &fs::Metadata) -> Timestamp {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Timestamp(since.and_then(|since| i64::try_from(since.as_micros()).ok()).unwrap_or(0))
}

/// When a file, its name or its rights were last changed, by the clock of the file system; 0 where it does not say. Unlike
/// [`modified`] nobody can set it.
pub fn touched(metadata: &fs::Metadata) -> Timestamp {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Timestamp(metadata.ctime().saturating_mul(1_000_000).saturating_add(metadata.ctime_nsec() / 1_000))
    }
    #[cfg(not(unix))]
    {
        let _unknown = metadata;
        Timestamp(0)
    }
}

/// Fails with [`Conflict::FileMoved`] unless the file holds `before` (`None`: does not exist).
fn still_holds(path: &Path, before: Option<&[u8]>) -> Result<(), StoreError> {
    let found = match fs::read(path) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(explain_io("read", path, &error)),
    };
    if found.as_deref() != before {
        return Err(Conflict::FileMoved { path: path.to_path_buf() }.into());
    }
    Ok(())
}

fn put_in_place(
    temporary: tempfile::NamedTempFile,
    target: &Path,
    directory: &Path,
    faults: &FaultPlan,
) -> Result<(), StoreError> {
    let written = keep_permissions(target, temporary.as_file()).and_then(|()| temporary.as_file().sync_all());
    written.map_err(|error| explain_io("write", target, &error))?;
    faults.visit(FaultPoint::BeforeRename, target)?;
    rename_into_place(temporary, target)?;
    faults.visit(FaultPoint::AfterRename, target)?;
    sync_directory(directory).map_err(|error| explain_io("write", directory, &error))
}

/// [`write_atomic`] without waiting for the disk, for a file that can be made anew from others: other processes see the
/// old bytes or the new ones; after power loss it may be empty.
pub fn write_derived(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let target = resolve_link(path)?;
    let mut temporary =
        temporary_in(directory_of(&target)).map_err(|error| explain_io("write", &target, &error))?;
    let written = temporary.write_all(content).and_then(|()| keep_permissions(&target, temporary.as_file()));
    written.map_err(|error| explain_io("write", &target, &error))?;
    rename_into_place(temporary, &target)
}

/// Content in the making, in a file without a name: any amount takes little memory, and nothing is left of it
/// when the process dies.
#[derive(Debug)]
pub struct Scratch {
    file: BufWriter<File>,
    path: PathBuf,
    bytes: u64,
}

impl Scratch {
    /// Begins what will be the content of `path`.
    pub fn for_file(path: &Path) -> Result<Self, StoreError> {
        let target = resolve_link(path)?;
        let file = tempfile::tempfile_in(directory_of(&target))
            .map_err(|error| explain_io("write", &target, &error))?;
        Ok(Self { file: BufWriter::new(file), path: path.to_path_buf(), bytes: 0 })
    }

    /// Adds some of it.
    pub fn add(&mut self, text: &str) -> Result<(), StoreError> {
        self.bytes += text.len() as u64;
        self.file.write_all(text.as_bytes()).map_err(|error| explain_io("write", &self.path, &error))
    }

    /// Replaces the file by `head` and all that was added, in one step as [`write_atomic`] does. Returns the
    /// bytes written.
    pub fn put_in_place(self, head: &str) -> Result<u64, StoreError> {
        let Self { file, path, bytes } = self;
        let mut file = file.into_inner().map_err(|error| explain_io("write", &path, error.error()))?;
        replace_with(&path, &FaultPlan::none(), |target| {
            let mut copy = || {
                file.seek(SeekFrom::Start(0))?;
                target.write_all(head.as_bytes())?;
                io::copy(&mut file, target).map(drop)
            };
            copy().map_err(|error| explain_io("write", &path, &error))
        })?;
        Ok(bytes + head.len() as u64)
    }
}

/// Replaces `path` if it still holds `before` (`None`: if it does not exist), else fails with
/// [`Conflict::FileMoved`]. The lock keeps Strata's own processes apart; the comparison notices
/// everybody else.
pub fn swap(_lock: &FileLock, path: &Path, before: Option<&[u8]>, after: &[u8]) -> Result<(), StoreError> {
    still_holds(path, before)?;
    write_atomic(path, after)
}

/// Adds one line to a file of lines, such as JSONL, and makes it durable.
///
/// Lines of several processes never mix. A last line that was cut short by a crash is ended first,
/// so that it spoils nothing but itself.
pub fn append_line(path: &Path, line: &str, control: &Control) -> Result<(), StoreError> {
    if line.contains(['\n', '\r']) {
        return Err(StoreError::Invalid("a line cannot contain a line break".into()));
    }
    let explain = |error: &io::Error| explain_io("append to", path, error);
    let file = private(fs::OpenOptions::new().create(true).read(true).append(true))
        .open(path)
        .map_err(|error| explain(&error))?;
    let mut file = Held::take(file, path, control)?;
    let mut bytes = Vec::with_capacity(line.len() + 2);
    if !ends_a_line(&mut file).map_err(|error| explain(&error))? {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(line.as_bytes());
    bytes.push(b'\n');
    file.write_all(&bytes).and_then(|()| file.sync_data()).map_err(|error| explain(&error))
}

/// The right to write one file, held by one process at a time until dropped. The operating system
/// takes it back when the process dies.
#[derive(Debug)]
pub struct FileLock(Held);

impl FileLock {
    /// Waits for the right to write `target`, up to the patience of `control`.
    ///
    /// The lock itself is a file in `directory`, named after the target's resolved path: a rename
    /// would carry a lock on the target away, and people's folders stay free of lock files.
    pub fn acquire(directory: &Path, target: &Path, control: &Control) -> Result<Self, StoreError> {
        make_private_directory(directory)?;
        let name = blake3::hash(resolve(target)?.as_os_str().as_encoded_bytes()).to_hex();
        let place = directory.join(format!("{}.lock", &name[..32]));
        Ok(Self(Held::take(open_private(&place)?, &place, control)?))
    }

    /// Leaves a word for whoever holds the lock next, in case this process dies; `""` takes it back.
    pub fn note(&self, word: &str) -> io::Result<()> {
        let mut file: &File = &self.0;
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(word.as_bytes())
    }

    /// The word that was left; empty when there is none.
    pub fn noted(&self) -> io::Result<String> {
        let mut file: &File = &self.0;
        file.seek(SeekFrom::Start(0))?;
        let mut word = String::new();
        file.read_to_string(&mut word)?;
        Ok(word)
    }
}

/// The bytes of a regular file of at most `limit` bytes, under its resolved name.
///
/// Anything else is refused without waiting for it: a pipe has no end, a device no size. A name that has
/// become a link since it was resolved is refused, too: it may lead out of where it was allowed to be.
pub fn read_regular(path: &Path, limit: u64) -> Result<Vec<u8>, StoreError> {
    let bytes = read_start(path, limit.saturating_add(1))?;
    if bytes.len() as u64 > limit {
        return Err(StoreError::Invalid(format!("`{}` is larger than {limit} bytes", path.display())));
    }
    Ok(bytes)
}

/// The first `most` bytes of a regular file, or all of a shorter one. Refuses what [`read_regular`] refuses, but for
/// its size.
pub fn read_start(path: &Path, most: u64) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    let read = open_regular(path)?.take(most).read_to_end(&mut bytes);
    read.map_err(|error| explain_io("read", path, &error))?;
    Ok(bytes)
}

/// A regular file to be read. Refuses what [`read_regular`] refuses, but for its size.
pub fn open_regular(path: &Path) -> Result<File, StoreError> {
    let explain = |error: io::Error| explain_io("read", path, &error);
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path).map_err(explain)?;
    let metadata = file.metadata().map_err(explain)?;
    if !metadata.is_file() {
        return Err(StoreError::Invalid(format!("`{}` is not a regular file", path.display())));
    }
    Ok(file)
}

/// The absolute path of something that exists, with links resolved.
pub fn canonical(path: &Path) -> Result<PathBuf, StoreError> {
    #[expect(clippy::disallowed_methods, reason = "this is the function that the ban points to")]
    let resolved = fs::canonicalize(path).map_err(|error| explain_io("find", path, &error))?;
    Ok(plain(resolved))
}

/// The absolute path of something that need not exist: links in the part that does are resolved.
/// A `..` in the part that does not exist is refused.
pub fn resolve(path: &Path) -> Result<PathBuf, StoreError> {
    let path = std::path::absolute(path).map_err(|error| explain_io("find", path, &error))?;
    let mut existing = path.as_path();
    let mut missing = Vec::new();
    while fs::symlink_metadata(existing).is_err() {
        let mut components = existing.components();
        match components.next_back() {
            Some(Component::Normal(name)) => missing.push(name),
            Some(Component::CurDir) => {}
            _ => return Err(StoreError::Invalid(format!("`{}` is not a plain path", path.display()))),
        }
        existing = components.as_path();
    }
    let mut resolved = canonical(existing)?;
    resolved.extend(missing.into_iter().rev());
    Ok(resolved)
}

/// The resolved form of `path` if it lies inside one of `roots`, wherever links lead.
pub fn confine(path: &Path, roots: &[&Path]) -> Result<Option<PathBuf>, StoreError> {
    let resolved = resolve(path)?;
    for root in roots {
        if resolved.starts_with(resolve(root)?) {
            return Ok(Some(resolved));
        }
    }
    Ok(None)
}

/// The file that `path` names when it is a symbolic link, else `path` itself.
fn resolve_link(path: &Path) -> Result<PathBuf, StoreError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.file_type().is_symlink() => canonical(path),
        _ => Ok(path.to_path_buf()),
    }
}

/// Windows refuses the rename while somebody reads the file, virus scanners included; that passes.
fn rename_into_place(mut temporary: tempfile::NamedTempFile, target: &Path) -> Result<(), StoreError> {
    for attempt in 0.. {
        let Err(refused) = temporary.persist(target) else { return Ok(()) };
        let may_pass = cfg!(windows) && refused.error.kind() == io::ErrorKind::PermissionDenied;
        if !may_pass || attempt == 10 {
            return Err(explain_io("replace", target, &refused.error));
        }
        temporary = refused.file;
        std::thread::sleep(Duration::from_millis(10 << attempt.min(5)));
    }
    Ok(())
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

/// Makes a directory and those above it, for this user alone; those that exist stay as they are.
pub fn make_private_directory(directory: &Path) -> Result<(), StoreError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory).map_err(|error| explain_io("create", directory, &error))
}

/// Opens a file for writing, as it is; a new one is empty and for this user alone.
pub(crate) fn open_private(path: &Path) -> Result<File, StoreError> {
    private(fs::OpenOptions::new().create(true).truncate(false).read(true).write(true))
        .open(path)
        .map_err(|error| explain_io("open", path, &error))
}

fn private(options: &mut fs::OpenOptions) -> &mut fs::OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Whether the file is empty or its last byte ends a line.
fn ends_a_line(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Makes a rename outlast power loss. Windows has no such call and needs none.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}

/// An error of the operating system on `path` as the store's.
pub(crate) fn explain_io(doing: &'static str, path: &Path, error: &io::Error) -> StoreError {
    let path = path.to_path_buf();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { path },
        io::ErrorKind::ReadOnlyFilesystem => {
            StoreError::ReadOnly { path, reason: "the file system is mounted read-only".into() }
        }
        io::ErrorKind::PermissionDenied => StoreError::ReadOnly { path, reason: "permission denied".into() },
        _ => StoreError::Io { doing, path, detail: error.to_string() },
    }
}

/// The directory a path lies in; `.` for a bare name.
pub fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_keeps_permissions_and_links() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let file = directory.path().join("real.md");
        write_atomic(&file, b"one").expect("written");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = || fs::metadata(&file).expect("there").permissions().mode() & 0o777;
            assert_eq!(mode(), 0o600);
            fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("changed");
            let link = directory.path().join("link.md");
            std::os::unix::fs::symlink(&file, &link).expect("linked");
            write_atomic(&link, b"two").expect("written");
            assert!(fs::symlink_metadata(&link).expect("there").file_type().is_symlink());
            assert_eq!(mode(), 0o640);
        }
        #[cfg(not(unix))]
        write_atomic(&file, b"two").expect("written");
        assert_eq!(fs::read(&file).expect("read"), b"two");
    }

    #[test]
    fn a_fault_before_the_rename_leaves_the_old_bytes_and_no_litter() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let file = directory.path().join("a.md");
        write_atomic(&file, b"old").expect("written");
        let faults = FaultPlan::parse("before-rename:1:full").expect("well formed");
        assert!(matches!(write_atomic_with(&file, b"new", &faults), Err(StoreError::Full { .. })));
        assert_eq!(fs::read(&file).expect("read"), b"old");
        assert_eq!(fs::read_dir(directory.path()).expect("listed").count(), 1);
    }

    #[test]
    fn a_swap_notices_other_hands() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let (file, locks) = (directory.path().join("a.md"), directory.path().join("locks"));
        let lock = FileLock::acquire(&locks, &file, &Control::default()).expect("locked");
        swap(&lock, &file, None, b"one").expect("new");
        swap(&lock, &file, Some(b"one"), b"two").expect("unchanged in between");
        let moved = swap(&lock, &file, Some(b"one"), b"three").expect_err("changed in between");
        assert!(matches!(moved, StoreError::Conflict(Conflict::FileMoved { .. })));
        assert!(swap(&lock, &file, None, b"three").is_err());
        assert_eq!(fs::read(&file).expect("read"), b"two");
        let impatient = Control { patience: Duration::from_millis(20), ..Control::default() };
        assert!(FileLock::acquire(&locks, &file, &impatient).is_err_and(|e| e.is_busy()));
        drop(lock);
        assert!(FileLock::acquire(&locks, &file, &impatient).is_ok());
    }

    #[test]
    fn a_text_that_is_on_its_way_to_the_disk_is_waited_for() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let (file, locks) = (directory.path().join("a.md"), directory.path().join("locks"));
        let lock = FileLock::acquire(&locks, &file, &Control::default()).expect("locked");
        let begun = Prepared::begin(&file, b"one").expect("room");
        let modified = begun.modified();
        begun.swap(&lock, None, &FaultPlan::none()).expect("in place");
        assert_eq!(fs::read(&file).expect("read"), b"one");
        assert_eq!(super::modified(&fs::metadata(&file).expect("there")), modified);
        let begun = Prepared::begin(&file, b"two").expect("room");
        let moved = begun.swap(&lock, Some(b"other"), &FaultPlan::none()).expect_err("changed in between");
        assert!(matches!(moved, StoreError::Conflict(Conflict::FileMoved { .. })));
        drop(Prepared::begin(&file, b"three").expect("room"));
        assert_eq!(fs::read(&file).expect("read"), b"one");
        let names = fs::read_dir(directory.path()).expect("listed").count();
        assert_eq!(names, 2, "the file and the folder of locks");
    }

    #[test]
    fn lines_are_appended_whole() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let file = directory.path().join("log.jsonl");
        append_line(&file, "{\"a\":1}", &Control::default()).expect("first");
        fs::OpenOptions::new().append(true).open(&file).expect("open").write_all(b"{\"cut").expect("cut");
        let threads: Vec<_> = (0..4)
            .map(|n| {
                let file = file.clone();
                std::thread::spawn(move || {
                    for _ in 0..10 {
                        append_line(&file, &n.to_string().repeat(3000), &Control::default())
                            .expect("appended");
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().expect("no panic");
        }
        let text = fs::read_to_string(&file).expect("read");
        let lines: Vec<_> = text.lines().collect();
        assert_eq!((lines.len(), lines[0], lines[1]), (42, "{\"a\":1}", "{\"cut"));
        assert!(lines[2..].iter().all(|l| l.len() == 3000 && l.bytes().all(|b| b == l.as_bytes()[0])));
        assert!(append_line(&file, "a\nb", &Control::default()).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out_of_a_root() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let (root, outside) = (directory.path().join("root"), directory.path().join("outside"));
        fs::create_dir(&root).expect("made");
        fs::create_dir(&outside).expect("made");
        std::os::unix::fs::symlink(&outside, root.join("out")).expect("linked");
        let inside = |path: &str| confine(&root.join(path), &[&root]).expect("resolved").is_some();
        assert!(inside("new/file.md"));
        assert!(inside("."));
        assert!(!inside("out/file.md"));
        assert!(!inside("../outside/x"));
        assert!(!inside("../root-other"));
        assert!(confine(&root.join("new/../../x"), &[&root]).is_err());
    }
}
