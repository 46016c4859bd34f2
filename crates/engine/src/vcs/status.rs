//! The index beside the commit that is checked out, and the files beside the index.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    fs::Metadata,
    path::Path,
    time::UNIX_EPOCH,
};

use gix::{
    ObjectId,
    bstr::ByteSlice,
    index::{
        Entry,
        entry::{Flags, Mode, Stage, Stat},
    },
};

use super::{Fault, Repository, blob_id, changes::LineCounts, guarded};
use crate::project::ignores;

/// Paths in one list of a status.
const LISTED: usize = 200;
/// Bytes of a file that is read to see whether it differs; a larger one differs when its time does.
const MAX_READ: u64 = 32 << 20;
/// Files looked at for those that git does not know.
const MAX_WALKED: usize = 200_000;

/// What differs from the commit that is checked out. No list has more than 200 paths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status {
    /// Files whose change is in the index.
    pub staged: Vec<String>,
    /// Files that differ from the index.
    pub modified: Vec<String>,
    /// Files that git does not know and is not told to ignore.
    pub untracked: Vec<String>,
    /// Files that are gone, from the index or beside it.
    pub deleted: Vec<String>,
    /// Files that the index has by another name.
    pub renamed: Vec<Renamed>,
    /// Whether a list was cut.
    pub is_cut: bool,
}

/// A file by another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    /// Its earlier path.
    pub from: String,
    /// Its path now.
    pub to: String,
    /// The share of lines kept, in percent.
    pub similarity: u8,
}

impl Status {
    /// Whether anything differs.
    pub fn is_dirty(&self) -> bool {
        let lists = [&self.staged, &self.modified, &self.untracked, &self.deleted];
        lists.iter().any(|list| !list.is_empty()) || !self.renamed.is_empty()
    }

    fn cut(&mut self) {
        for list in [&mut self.staged, &mut self.modified, &mut self.untracked, &mut self.deleted] {
            list.sort();
            list.dedup();
            self.is_cut |= list.len() > LISTED;
            list.truncate(LISTED);
        }
        self.is_cut |= self.renamed.len() > LISTED;
        self.renamed.truncate(LISTED);
    }
}

/// A file as the index has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexBlob {
    /// Its path.
    pub path: String,
    /// Its blob, in hexadecimal.
    pub blob: String,
    /// Its size in bytes when it was taken in, cut to 32 bits; 0 where that is not known.
    pub size: u32,
    /// Its modification time then, in microseconds; 0 where the time says nothing, because the file may have changed
    /// after it within the same instant.
    pub mtime: i64,
}

impl Repository {
    /// The files of the index by path. Files in conflict, links and submodules are left out.
    ///
    /// # Errors
    /// There is an index and it cannot be read.
    pub fn index_blobs(&self) -> Result<Vec<IndexBlob>, Fault> {
        let Some(index) = self.index()? else { return Ok(Vec::new()) };
        guarded("its index", || {
            let written = micros(index.timestamp().unix_seconds(), index.timestamp().nanoseconds());
            let files = index.entries().iter().filter(|e| is_file(e) && e.stage() == Stage::Unconflicted);
            let seen = files.filter_map(|entry| {
                let mtime = entry_mtime(&entry.stat);
                Some(IndexBlob {
                    path: self.inside(entry.path(&index))?,
                    blob: entry.id.to_string(),
                    size: entry.stat.size,
                    mtime: if mtime < written { mtime } else { 0 },
                })
            });
            Ok(seen.collect())
        })
    }

    /// What differs from the commit that is checked out, within the project.
    ///
    /// # Errors
    /// The index or that commit cannot be read.
    pub fn status(&self) -> Result<Status, Fault> {
        let mut status = Status::default();
        let index = self.index()?;
        let tracked = match &index {
            Some(index) => self.compare_index(index, &mut status)?,
            None => HashSet::new(),
        };
        self.list_untracked(&tracked, &mut status);
        status.cut();
        Ok(status)
    }

    /// The files within the project whose change is not committed, by path. Files that git does not know are not looked for.
    ///
    /// # Errors
    /// The index or the commit that is checked out cannot be read.
    pub fn changed(&self) -> Result<Vec<String>, Fault> {
        let Some(index) = self.index()? else { return Ok(Vec::new()) };
        let mut status = Status::default();
        self.compare_index(&index, &mut status)?;
        let mut paths = status.staged;
        paths.extend(status.modified);
        paths.extend(status.renamed.into_iter().map(|renamed| renamed.to));
        paths.sort();
        paths.dedup();
        paths.truncate(LISTED);
        Ok(paths)
    }

    fn index(&self) -> Result<Option<gix::index::File>, Fault> {
        if !self.repo.index_path().is_file() {
            return Ok(None);
        }
        guarded("its index", || self.repo.open_index()).map(Some)
    }

    /// Compares the index with the commit and with the files, and gives every path that it has.
    fn compare_index(&self, index: &gix::index::File, status: &mut Status) -> Result<HashSet<String>, Fault> {
        let mut committed = self.committed(index)?;
        let written = micros(index.timestamp().unix_seconds(), index.timestamp().nanoseconds());
        let mut tracked = HashSet::new();
        let mut new = Vec::new();
        for entry in index.entries() {
            let Some(path) = self.inside(entry.path(index)) else { continue };
            let was = committed.as_mut().and_then(|files| files.remove(&path));
            if entry.stage() != Stage::Unconflicted {
                status.modified.push(path.clone());
            } else if is_file(entry) || entry.mode == Mode::SYMLINK {
                match was {
                    _ if committed.is_none() => {}
                    None => new.push((path.clone(), entry.id)),
                    Some(id) if id != entry.id => status.staged.push(path.clone()),
                    Some(_) => {}
                }
                self.compare_file(entry, &path, written, status);
            }
            tracked.insert(path);
        }
        self.pair(new, committed.unwrap_or_default(), status);
        Ok(tracked)
    }

    /// The files of the commit by path; `None` where the index says that it holds exactly them.
    fn committed(&self, index: &gix::index::File) -> Result<Option<HashMap<String, ObjectId>>, Fault> {
        guarded("the commit that is checked out", || {
            let Some(head) = self.repo.head()?.id() else { return Ok(Some(HashMap::new())) };
            let tree = self.repo.find_commit(head.detach())?.tree()?;
            let entries = u32::try_from(index.entries().len()).ok();
            if index
                .tree()
                .is_some_and(|t| t.num_entries.is_some() && t.num_entries == entries && t.id == tree.id)
            {
                return Ok(None);
            }
            let files = tree.traverse().breadthfirst.files()?;
            let files = files.into_iter().filter(|file| file.mode.is_blob_or_symlink());
            Ok(Some(files.filter_map(|file| Some((self.inside(&file.filepath)?, file.oid))).collect()))
        })
    }

    fn compare_file(&self, entry: &Entry, path: &str, written: i64, status: &mut Status) {
        if entry.flags.intersects(Flags::SKIP_WORKTREE | Flags::ASSUME_VALID) {
            return;
        }
        let at = self.top.join(&self.prefix).join(path);
        let Ok(file) = at.symlink_metadata() else {
            status.deleted.push(path.to_owned());
            return;
        };
        if differs(entry, &at, &file, written) {
            status.modified.push(path.to_owned());
        }
    }

    /// Tells what was renamed from what is new and what is gone.
    fn pair(&self, new: Vec<(String, ObjectId)>, gone: HashMap<String, ObjectId>, status: &mut Status) {
        let mut gone: Vec<(String, ObjectId)> = gone.into_iter().collect();
        gone.sort();
        let new = moved_as_they_are(new, &mut gone, status);
        let is_few = new.len() <= LISTED && gone.len() <= LISTED && !new.is_empty();
        let lines = |id: ObjectId| {
            let content = if is_few { self.blob(&id.to_string()).ok()? } else { None };
            Some(LineCounts::of(&content?))
        };
        let mut gone: Vec<(String, Option<LineCounts>)> =
            gone.into_iter().map(|(path, id)| (path, lines(id))).collect();
        for (path, id) in new {
            let own = lines(id);
            let share = |other: &Option<LineCounts>| match (&own, other) {
                (Some(a), Some(b)) => super::changes::percent(a.likeness(b)),
                _ => 0,
            };
            let shares = gone.iter().enumerate().map(|(n, (_, other))| (share(other), n));
            match shares.max_by_key(|(share, n)| (*share, usize::MAX - n)).filter(|(share, _)| *share >= 50) {
                Some((similarity, n)) => {
                    let (from, _) = gone.remove(n);
                    status.renamed.push(Renamed { from, to: path, similarity });
                }
                None => status.staged.push(path),
            }
        }
        status.deleted.extend(gone.into_iter().map(|(path, _)| path));
    }

    fn list_untracked(&self, tracked: &HashSet<String>, status: &mut Status) {
        let root = self.top.join(&self.prefix);
        let is_ours = |folder: &Path| folder.file_name().is_none_or(|name| name != ".git");
        let Some(mut walk) = ignores::walk(&root, &ignores::Closed::default(), is_ours) else {
            status.is_cut = true;
            return;
        };
        walk.ignore(false).git_global(false);
        for entry in walk.build().filter_map(Result::ok).take(MAX_WALKED) {
            // The file of a worktree or submodule belongs to git, as its directory does.
            if entry.file_type().is_none_or(|kind| kind.is_dir()) || entry.file_name() == ".git" {
                continue;
            }
            let Some(path) = entry.path().strip_prefix(&root).ok().and_then(Path::to_str) else { continue };
            let path = path.replace(std::path::MAIN_SEPARATOR, "/");
            if !tracked.contains(&path) {
                status.untracked.push(path);
                if status.untracked.len() > LISTED {
                    break;
                }
            }
        }
    }
}

/// Takes out what has the very content of something that is gone; gives the rest of what is new.
fn moved_as_they_are(
    new: Vec<(String, ObjectId)>,
    gone: &mut Vec<(String, ObjectId)>,
    status: &mut Status,
) -> Vec<(String, ObjectId)> {
    let mut by_content: HashMap<ObjectId, VecDeque<String>> = HashMap::new();
    for (path, id) in gone.iter() {
        by_content.entry(*id).or_default().push_back(path.clone());
    }
    let (mut rest, mut moved) = (Vec::new(), HashSet::new());
    for (path, id) in new {
        match by_content.get_mut(&id).and_then(VecDeque::pop_front) {
            Some(from) => {
                moved.insert(from.clone());
                status.renamed.push(Renamed { from, to: path, similarity: 100 });
            }
            None => rest.push((path, id)),
        }
    }
    gone.retain(|(path, _)| !moved.contains(path));
    rest
}

fn is_file(entry: &Entry) -> bool {
    matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE)
}

/// Whether a file is another than the index has: by size, by time, and where the time says nothing, by content.
fn differs(entry: &Entry, at: &Path, file: &Metadata, written: i64) -> bool {
    if entry.mode == Mode::SYMLINK || file.is_symlink() {
        let target = std::fs::read_link(at).ok();
        let bytes = target.as_deref().map(|target| target.as_os_str().as_encoded_bytes());
        return !(entry.mode == Mode::SYMLINK && bytes.is_some_and(|b| blob_id(b) == entry.id));
    }
    if !file.is_file() {
        return true;
    }
    let taken = entry_mtime(&entry.stat);
    #[expect(clippy::cast_possible_truncation, reason = "the index keeps the lower half alone")]
    let same_size = file.len() as u32 == entry.stat.size;
    if same_size && taken == file_mtime(file) && taken < written {
        return false;
    }
    if file.len() > MAX_READ {
        return true;
    }
    let Ok(content) = std::fs::read(at) else { return true };
    let id = entry.id.to_string();
    // What git may have put in at the ends of lines is no change.
    blob_id(&content) != id && blob_id(&content.replace("\r\n", "\n")) != id
}

fn entry_mtime(stat: &Stat) -> i64 {
    micros(i64::from(stat.mtime.secs), stat.mtime.nsecs)
}

fn file_mtime(file: &Metadata) -> i64 {
    let since = file.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_micros()).ok()).unwrap_or(0)
}

fn micros(seconds: i64, nanoseconds: u32) -> i64 {
    seconds.saturating_mul(1_000_000).saturating_add(i64::from(nanoseconds / 1_000))
}
