//! The only code that reads repositories, and the list of what it asks of them.
//!
//! The git library is called in this module alone, and only for reading: `open`, `head`, `references`, `find_object` and
//! `find_header`, `rev_walk`, `merge_base`, `is_shallow`, the differences of two trees, the lines of two blobs, the entries
//! of the index and a reference's log. No program is run, so neither are hooks, filters, drivers and helpers. A repository is never trusted: what its
//! configuration says has no effect. Nothing that is given back names a person or a remote's address.
//!
//! A repository may be damaged, or made to do harm: whatever it holds, the answer is a [`Fault`] and no panic.

mod changes;
mod history;
mod status;

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use gix::{ObjectId, bstr::ByteSlice, open::Options, sec::Trust};
use strata_core::error::ErrorKind;

use crate::{error::Error, project};

pub use changes::{Change, ChangeKind, Hunk, blob_id, hunks};
pub use history::{Commit, Range};
pub use status::{IndexBlob, Renamed, Status};

/// Names of branches that everybody's work ends up on, besides the one that the remote says is its default; each
/// that is there is one.
pub const MAINLINES: [&str; 5] = ["main", "master", "develop", "development", "trunk"];
/// Most branches that are looked at.
const MAX_BRANCHES: usize = 10_000;
/// Bytes of a blob that is read; larger ones are taken for data.
const MAX_BLOB: u64 = 8 << 20;
/// Bytes of a file that points elsewhere, or of a configuration: reading one takes longer than in proportion to it.
const MAX_SETTINGS: u64 = 1 << 18;
/// Bytes of the file that keeps references together, some 300 000 of them: all of it is read before the first is known.
const MAX_PACKED: u64 = 32 << 20;
/// Entries of a branch's log that are looked at.
const MAX_LOG: usize = 2_000;
/// Branches whose logs are looked at for an earlier name.
const MAX_LOGS: usize = 300;
/// References that are read to tell whether any changed.
const MAX_STAMPED: usize = 1_000;

/// Why a repository gives no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The directory is in no repository.
    None,
    /// Its `.git` points to a repository that does not know of it.
    Elsewhere,
    /// What was asked for cannot be read.
    Broken(&'static str),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("the project is in no git repository"),
            Self::Elsewhere => {
                f.write_str("`.git` points to a repository that does not know of this directory")
            }
            Self::Broken(what) => write!(f, "the git repository cannot be read: {what}"),
        }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        let hint = match fault {
            Fault::None => "run it inside a checkout, or name one with --project DIR",
            Fault::Elsewhere => {
                "run `git worktree repair` in the main checkout; where the repository lies apart, `git config core.worktree DIR` with this directory makes it known"
            }
            Fault::Broken(_) => "run `git fsck` in the project",
        };
        Self::Conflict { message: fault.to_string(), hint: hint.to_owned() }
    }
}

impl Fault {
    /// What sort of failure it is for callers.
    pub const fn kind(self) -> ErrorKind {
        ErrorKind::Conflict
    }
}

/// What is checked out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Head {
    /// The branch, as it is [stored](project::storable); `None` with a detached head. During a rebase it is the branch
    /// that is rebased.
    pub branch: Option<String>,
    /// The commit in hexadecimal; `None` before the first.
    pub commit: Option<String>,
    /// Whether a commit is checked out instead of a branch.
    pub is_detached: bool,
}

/// A local branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Its name, as it is [stored](project::storable).
    pub name: String,
    /// Its latest commit, in hexadecimal.
    pub tip: String,
}

/// What everybody's work ends up on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mainline {
    /// The names of branches that count as it.
    pub names: Vec<String>,
    /// Their latest commits here and as last fetched, in hexadecimal.
    pub tips: Vec<String>,
}

impl Mainline {
    /// Whether a branch is it.
    pub fn is(&self, branch: &str) -> bool {
        self.names.iter().any(|name| name == branch)
    }
}

/// A repository, open for reading, as seen from a project that is it or lies in it.
pub struct Repository {
    repo: gix::Repository,
    /// The checkout's top directory.
    top: PathBuf,
    /// The project's place below it: empty, or ending with `/`.
    prefix: String,
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repository").finish_non_exhaustive()
    }
}

impl Repository {
    /// Opens the repository that the directory `root` is in. Paths are relative to `root` from now on, with `/`; those
    /// outside of it are left out everywhere.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn open(root: &Path) -> Result<Self, Fault> {
        let root = strata_store::files::canonical(root).map_err(|_| Fault::None)?;
        let has_git = |d: &&Path| d.join(".git").symlink_metadata().is_ok();
        let top = root.ancestors().find(has_git).ok_or(Fault::None)?;
        let below = root.strip_prefix(top).map_err(|_| Fault::None)?;
        let git = git_directory(top)?;
        let packed = common_directory(&git).join("packed-refs");
        if packed.metadata().is_ok_and(|packed| packed.len() > MAX_PACKED) {
            return Err(Fault::Broken(TOO_MANY));
        }
        if !is_sound(&git) {
            return Err(Fault::Broken(
                "one of its files is a pipe, a device, a link that leads out, or too large",
            ));
        }
        let prefix: String = below
            .components()
            .map(|part| part.as_os_str().to_str().map(|name| format!("{name}/")))
            .collect::<Option<_>>()
            .ok_or(Fault::Broken("its path is not UTF-8"))?;
        let opened = guarded("it cannot be opened", || {
            Options::isolated().with(Trust::Reduced).open_path_as_is(true).open(&git)
        });
        let repo = opened.map_err(|fault| if is_sha256(&git) { Fault::Broken(SHA256) } else { fault })?;
        let mut repo = repo.to_thread_local();
        repo.object_cache_size(4 << 20);
        Ok(Self { repo, top: top.to_owned(), prefix })
    }

    /// What is checked out.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn head(&self) -> Result<Head, Fault> {
        guarded("what is checked out", || {
            let head = self.repo.head()?;
            let name = head.referent_name().map(|name| name.as_bstr().to_str_lossy().into_owned());
            let branch = name.as_deref().and_then(|name| name.strip_prefix("refs/heads/"));
            let commit = head.id().map(|id| id.to_string());
            let is_detached = head.is_detached();
            let branch = match branch {
                Some(name) => Some(project::storable(name)),
                None => self.rebased(),
            };
            Ok(Head { branch, commit, is_detached })
        })
    }

    /// The branch that a rebase is at work on.
    fn rebased(&self) -> Option<String> {
        let names = ["rebase-merge/head-name", "rebase-apply/head-name"];
        let name = names.iter().find_map(|path| pointer(&self.repo.git_dir().join(path)))?;
        name.trim().strip_prefix("refs/heads/").map(project::storable)
    }

    /// The local branches by name, ten thousand at most.
    ///
    /// # Errors
    /// They cannot be read; a single one that cannot is left out.
    pub fn branches(&self) -> Result<Vec<Branch>, Fault> {
        let found = guarded("its branches", || {
            let references = self.repo.references()?;
            let local = references.local_branches()?;
            let known = local.filter_map(Result::ok).filter_map(|branch| {
                let name = branch.name().shorten().to_str_lossy().into_owned();
                Some(Branch { name: project::storable(&name), tip: branch.try_id()?.to_string() })
            });
            Ok(known.take(MAX_BRANCHES).collect::<Vec<_>>())
        })?;
        Ok(found)
    }

    /// What everybody's work ends up on.
    ///
    /// # Errors
    /// References cannot be read.
    pub fn mainline(&self) -> Result<Mainline, Fault> {
        guarded("its main branch", || {
            let mut line = Mainline::default();
            let default = self.remote_default();
            line.names.extend(default.iter().map(|name| project::storable(name)));
            line.names.extend(MAINLINES.map(str::to_owned));
            for name in default.iter().map(String::as_str).chain(MAINLINES) {
                for reference in [format!("refs/heads/{name}"), format!("refs/remotes/origin/{name}")] {
                    let Some(found) = self.repo.try_find_reference(reference.as_str())? else { continue };
                    let tip = found.try_id().map(|id| id.to_string());
                    line.tips.extend(tip.filter(|tip| !line.tips.contains(tip)));
                }
            }
            Ok(line)
        })
    }

    /// The branch that the remote says is its default.
    fn remote_default(&self) -> Option<String> {
        let head = self.repo.try_find_reference("refs/remotes/origin/HEAD").ok()??;
        let gix::refs::TargetRef::Symbolic(name) = head.target() else { return None };
        let name = name.as_bstr().to_str_lossy().into_owned();
        name.strip_prefix("refs/remotes/origin/").map(str::to_owned)
    }

    /// A branch's latest commit, here or as it was last fetched.
    ///
    /// # Errors
    /// References cannot be read.
    pub fn branch_tip(&self, branch: &str) -> Result<Option<String>, Fault> {
        guarded("a branch", || {
            let found = match self.branch_reference(branch)? {
                Some(found) => Some(found),
                None => self
                    .repo
                    .try_find_reference(format!("refs/remotes/origin/{branch}").as_str())
                    .ok()
                    .flatten(),
            };
            Ok(found.and_then(|found| found.try_id().map(|id| id.to_string())))
        })
    }

    /// The branch that is what `branch` was before it was renamed, as far as logs tell.
    ///
    /// # Errors
    /// References cannot be read.
    pub fn renamed_to(&self, branch: &str) -> Result<Option<String>, Fault> {
        let start = format!("renamed refs/heads/{branch} to ");
        guarded("branches' logs", || {
            let references = self.repo.references()?;
            for reference in references.local_branches()?.filter_map(Result::ok).take(MAX_LOGS) {
                let mut log = reference.log_iter();
                let Some(lines) = log.all().map_err(gix::Error::from_error)? else { continue };
                for line in lines.filter_map(Result::ok).take(MAX_LOG) {
                    if line.message.to_str_lossy().contains(&start) {
                        return Ok(Some(project::storable(&reference.name().shorten().to_str_lossy())));
                    }
                }
            }
            Ok(None)
        })
    }

    /// The commits that were made on a branch, oldest first, as far as its log tells; `None` where there is no log.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn own_commits(&self, branch: &str) -> Result<Option<Vec<String>>, Fault> {
        guarded("a branch's log", || {
            let Some(reference) = self.branch_reference(branch)? else { return Ok(None) };
            let mut log = reference.log_iter();
            let Some(lines) = log.all().map_err(gix::Error::from_error)? else { return Ok(None) };
            let made = ["commit", "rebase", "cherry-pick", "am:", "revert"];
            let own = lines.filter_map(Result::ok).take(MAX_LOG).filter(|line| {
                let message = line.message.to_str_lossy();
                made.iter().any(|start| message.starts_with(start))
            });
            Ok(Some(own.map(|line| line.new_oid().to_string()).collect()))
        })
    }

    fn branch_reference(&self, branch: &str) -> gix::Result<Option<gix::Reference<'_>>> {
        let direct = self.repo.try_find_reference(format!("refs/heads/{branch}").as_str());
        if let Ok(Some(found)) = direct {
            return Ok(Some(found));
        }
        // A name that was stored without a secret in it.
        let references = self.repo.references()?;
        let mut all = references.local_branches()?.filter_map(Result::ok).take(MAX_BRANCHES);
        Ok(all.find(|r| project::storable(&r.name().shorten().to_str_lossy()) == branch))
    }

    /// A hash of where the remote `origin` is, or the first remote by name: the same for every way to write its
    /// address and whoever's credentials are in it. The address itself is not given away.
    pub fn remote_identity(&self) -> Option<String> {
        let address = self.remote_address()?;
        Some(blake3::hash(project::normal_url(&address).as_bytes()).to_hex().to_string())
    }

    fn remote_address(&self) -> Option<String> {
        let config = self.local_config()?;
        let mut remotes: Vec<(String, String)> = config
            .sections_by_name("remote")?
            .filter_map(|section| {
                let name = section.header().subsection_name()?.to_str_lossy().into_owned();
                Some((name, section.value("url")?.to_str_lossy().into_owned()))
            })
            .collect();
        remotes.sort_by_key(|(name, _)| (name != "origin", name.clone()));
        remotes.into_iter().next().map(|(_, url)| url)
    }

    /// The repository's own configuration as text that was read, without what it includes.
    fn local_config(&self) -> Option<gix::config::File> {
        let path = self.repo.common_dir().join("config");
        small(&path)?;
        let read = || gix::config::File::from_path_no_includes(path.clone(), gix::config::Source::Local);
        guarded("its configuration", read).ok()
    }

    /// The whole content of a file at a commit; `None` where there is none, or where it is no file or larger than 8 MiB.
    ///
    /// # Errors
    /// The commit is not there or cannot be read.
    pub fn blob_at(&self, commit: &str, path: &str) -> Result<Option<Vec<u8>>, Fault> {
        match self.blob_id_at(commit, path)? {
            Some(id) => self.blob(&id),
            None => Ok(None),
        }
    }

    /// The id of a file's blob at a commit.
    ///
    /// # Errors
    /// The commit is not there or cannot be read.
    pub fn blob_id_at(&self, commit: &str, path: &str) -> Result<Option<String>, Fault> {
        let whole = format!("{}{path}", self.prefix);
        guarded("a file at a commit", || {
            let tree = self.repo.find_commit(id(commit)?)?.tree()?;
            let entry = tree.lookup_entry(whole.split('/').map(str::as_bytes))?;
            Ok(entry.filter(|entry| entry.mode().is_blob()).map(|entry| entry.object_id().to_string()))
        })
    }

    /// A blob's content; `None` where it is not there, or larger than 8 MiB.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn blob(&self, blob: &str) -> Result<Option<Vec<u8>>, Fault> {
        guarded("a blob", || {
            let id = id(blob)?;
            match self.repo.try_find_header(id)? {
                Some(header) if header.size() <= MAX_BLOB => {}
                _ => return Ok(None),
            }
            Ok(self
                .repo
                .try_find_object(id)?
                .and_then(|object| Some(object.try_into_blob().ok()?.take_data())))
        })
    }

    /// A path of the repository as the project sees it; `None` outside of it.
    fn inside(&self, path: &[u8]) -> Option<String> {
        let text = std::str::from_utf8(path).ok()?;
        text.strip_prefix(self.prefix.as_str()).filter(|rest| !rest.is_empty()).map(str::to_owned)
    }
}

/// A digest that changes whenever something else is checked out or a branch moves in the repository around `root`.
/// It is read from a few small files, without the library: asked at every call, it must cost next to nothing.
pub fn stamp(root: &Path) -> Option<[u8; 32]> {
    let root = strata_store::files::canonical(root).ok()?;
    let top = root.ancestors().find(|d| d.join(".git").symlink_metadata().is_ok())?;
    let own = git_directory(top).ok()?;
    let common = common_directory(&own);
    let mut hasher = blake3::Hasher::new();
    for name in ["HEAD", "rebase-merge/head-name", "rebase-apply/head-name"] {
        hasher.update(pointer(&own.join(name)).unwrap_or_default().as_bytes()).update(b"\0");
    }
    if let Ok(packed) = std::fs::metadata(common.join("packed-refs")) {
        let changed = packed.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        hasher.update(&packed.len().to_le_bytes());
        hasher.update(&changed.map_or(0, |at| at.as_nanos()).to_le_bytes());
    }
    let mut waiting = vec![common.join("refs/heads"), common.join("refs/remotes/origin")];
    let mut left = MAX_STAMPED;
    while let Some(directory) = waiting.pop() {
        let Ok(entries) = std::fs::read_dir(directory) else { continue };
        let mut paths: Vec<(PathBuf, bool)> = entries
            .filter_map(Result::ok)
            .filter_map(|entry| Some((entry.path(), entry.file_type().ok()?.is_dir())))
            .take(left)
            .collect();
        paths.sort();
        left -= paths.len();
        for (path, is_directory) in paths {
            if is_directory {
                waiting.push(path);
            } else {
                hasher.update(path.as_os_str().as_encoded_bytes()).update(b"\0");
                hasher.update(pointer(&path).unwrap_or_default().as_bytes());
            }
        }
    }
    Some(*hasher.finalize().as_bytes())
}

/// The file of patterns that a checkout's repository has for itself.
pub(crate) fn exclude_file(top: &Path) -> Option<PathBuf> {
    Some(common_directory(&git_directory(top).ok()?).join("info/exclude"))
}

/// The directory that a worktree's own shares with its siblings.
fn common_directory(own: &Path) -> PathBuf {
    match pointer(&own.join("commondir")) {
        Some(relative) => own.join(relative.trim()),
        None => own.to_owned(),
    }
}

/// Whether what the git library opens in a repository is there as files and its own: it would wait for a pipe, read a device for
/// ever, and show what a link leads to.
fn is_sound(own: &Path) -> bool {
    let Ok(common) = strata_store::files::canonical(&common_directory(own)) else { return false };
    let is_small = |path: PathBuf| leads(&path, &common, |f| f.is_file() && f.len() <= MAX_SETTINGS);
    let is_file = |path: PathBuf| leads(&path, &common, std::fs::Metadata::is_file);
    let is_folder = |path: PathBuf| leads(&path, &common, std::fs::Metadata::is_dir);
    let large = ["packed-refs", "shallow", "objects/info/commit-graph", "objects/pack/multi-pack-index"];
    let folders = ["objects", "objects/pack", "objects/info", "refs", "logs"];
    ["HEAD", "commondir", "gitdir", "config.worktree"].iter().all(|name| is_small(own.join(name)))
        && ["config", "objects/info/alternates"].iter().all(|name| is_small(common.join(name)))
        && large.iter().all(|name| is_file(common.join(name)))
        && is_file(own.join("index"))
        && folders.iter().all(|name| is_folder(common.join(name)))
        && ["refs", "logs"].iter().all(|name| holds_files(&common.join(name), &common))
}

/// Whether nothing is at `path`, or what `wanted` says, inside `home` where it is a link.
fn leads(path: &Path, home: &Path, wanted: impl Fn(&std::fs::Metadata) -> bool) -> bool {
    match path.symlink_metadata() {
        Err(_) => true,
        Ok(found) if !found.is_symlink() => wanted(&found),
        Ok(_) => match strata_store::files::canonical(path) {
            Ok(target) => target.starts_with(home) && target.metadata().is_ok_and(|found| wanted(&found)),
            Err(_) => true,
        },
    }
}

/// Whether a directory of references holds only directories and files, as far as it is looked at.
fn holds_files(directory: &Path, home: &Path) -> bool {
    let mut waiting = vec![directory.to_owned()];
    let mut left = MAX_BRANCHES;
    while let Some(directory) = waiting.pop() {
        let Ok(entries) = std::fs::read_dir(directory) else { continue };
        for entry in entries.filter_map(Result::ok).take(left) {
            left = left.saturating_sub(1);
            match entry.file_type() {
                Ok(sort) if sort.is_dir() => waiting.push(entry.path()),
                Ok(sort) if sort.is_file() => {}
                _ if leads(&entry.path(), home, std::fs::Metadata::is_file) => {}
                _ => return false,
            }
        }
    }
    true
}

/// Reads with the git library. What it says of a fault may name paths and addresses, so it is not repeated; a panic in
/// it is a fault of the repository.
fn guarded<T>(what: &'static str, read: impl FnOnce() -> gix::Result<T>) -> Result<T, Fault> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(_)) | Err(_) => Err(Fault::Broken(what)),
    }
}

fn id(hexadecimal: &str) -> gix::Result<ObjectId> {
    ObjectId::from_hex(hexadecimal.as_bytes())
}

/// The directory that `top`'s `.git` is or points to, as a file or as a link. It is followed only where it leads to a
/// worktree or a submodule that names `top` itself: a project that came from anywhere must not show another repository's content.
pub(crate) fn git_directory(top: &Path) -> Result<PathBuf, Fault> {
    let dot_git = top.join(".git");
    let kind = dot_git.symlink_metadata().map_err(|_| Fault::None)?.file_type();
    if kind.is_dir() {
        // Only what a checkout points to shares with others: here the file would lead anywhere.
        let leads_away = dot_git.join("commondir").symlink_metadata().is_ok();
        return if leads_away { Err(Fault::Elsewhere) } else { Ok(dot_git) };
    }
    if kind.is_symlink() {
        let own = strata_store::files::canonical(&dot_git).map_err(|_| Fault::Elsewhere)?;
        return if own.is_dir() && is_submodule_of(&own, top) { Ok(own) } else { Err(Fault::Elsewhere) };
    }
    if !kind.is_file() {
        return Err(Fault::Elsewhere);
    }
    let text = pointer(&dot_git).ok_or(Fault::Broken("the file `.git`"))?;
    let target = text.trim().strip_prefix("gitdir:").ok_or(Fault::Broken("the file `.git`"))?;
    let own = strata_store::files::canonical(&top.join(target.trim())).map_err(|_| Fault::Elsewhere)?;
    if is_worktree_of(&own, &dot_git) || is_submodule_of(&own, top) { Ok(own) } else { Err(Fault::Elsewhere) }
}

fn is_worktree_of(own: &Path, dot_git: &Path) -> bool {
    let Some(back) = pointer(&own.join("gitdir")) else { return false };
    // What is shared is the repository that it lies in: nobody can put it there who cannot write there.
    let shared = strata_store::files::canonical(&common_directory(own));
    let home = own.parent().filter(|folder| folder.ends_with("worktrees")).and_then(Path::parent);
    if !shared.is_ok_and(|shared| Some(shared.as_path()) == home) {
        return false;
    }
    let back = strata_store::files::canonical(&own.join(back.trim()));
    back.is_ok_and(|back| strata_store::files::canonical(dot_git).is_ok_and(|it| it == back))
}

/// Why a repository is not read whose references are too many.
const TOO_MANY: &str = "its file `packed-refs` is larger than 32 MiB; delete branches and tags that nobody needs, then run \
                        `git pack-refs --all`";
/// Why a repository is not read whose objects have longer names.
const SHA256: &str = "its objects are named by SHA-256";

fn is_sha256(git: &Path) -> bool {
    let path = git.join("config");
    let read = || gix::config::File::from_path_no_includes(path.clone(), gix::config::Source::Local);
    let config = small(&path).and_then(|()| guarded("its configuration", read).ok());
    let format = config.as_ref().and_then(|config| config.raw_value("extensions.objectformat").ok());
    format.is_some_and(|format| format.eq_ignore_ascii_case(b"sha256"))
}

fn is_submodule_of(own: &Path, top: &Path) -> bool {
    if own.join("commondir").symlink_metadata().is_ok() {
        return false;
    }
    let path = own.join("config");
    let read = || gix::config::File::from_path_no_includes(path.clone(), gix::config::Source::Local);
    let Some(config) = small(&path).and_then(|()| guarded("its configuration", read).ok()) else {
        return false;
    };
    let Ok(tree) = config.raw_value("core.worktree") else { return false };
    strata_store::files::canonical(&own.join(tree.to_str_lossy().as_ref())).is_ok_and(|tree| tree == top)
}

/// The text of a file that only points elsewhere.
fn pointer(path: &Path) -> Option<String> {
    small(path)?;
    std::fs::read_to_string(path).ok()
}

/// Whether a file is one, and small.
fn small(path: &Path) -> Option<()> {
    let file = std::fs::metadata(path).ok()?;
    (file.is_file() && file.len() <= MAX_SETTINGS).then_some(())
}
