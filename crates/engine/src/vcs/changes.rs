//! What differs between two commits, and between two versions of a file.

use std::{
    cell::OnceCell,
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    ops::Range as Span,
};

use gix::{
    ObjectId,
    bstr::ByteSlice,
    diff::{
        blob::{Algorithm, Diff, InternedInput, diff_with_slider_heuristics, sources::byte_lines},
        tree::{self, Recorder, recorder},
    },
    objs::{Kind, TreeRefIter, compute_hash},
};

use super::{Commit, Fault, Repository, guarded, id};

/// Files looked at for what became of a file by another name: more on either side are compared by content alone.
const MAX_LIKENED: usize = 200;
/// The share of lines that two files have in common when one is the other by another name.
const ALIKE: f64 = 0.5;
/// Files of one commit whose lines are compared for its patch id.
const MAX_PATCHED: usize = 2_000;

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its path; after a renaming the new one.
    pub path: String,
    /// How it differs.
    pub kind: ChangeKind,
    /// Its blob before.
    pub before: Option<String>,
    /// Its blob after.
    pub after: Option<String>,
}

/// How a file differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It says something else.
    Modified,
    /// It is gone.
    Deleted,
    /// It was called `from`; `similarity` is the share of lines kept, in percent.
    Renamed {
        /// Its earlier path.
        from: String,
        /// Percent.
        similarity: u8,
    },
}

/// Lines that differ between two versions of a file, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Of the earlier version.
    pub before: Span<u32>,
    /// Of the later one.
    pub after: Span<u32>,
}

/// A file that differs, by its path in the repository.
struct Raw {
    path: Vec<u8>,
    before: Option<ObjectId>,
    after: Option<ObjectId>,
}

impl Repository {
    /// The files that differ from `base` (nothing, if there is none) to `head`, by path. A file that is gone and one
    /// that is new and the same or like it are one that was renamed.
    ///
    /// # Errors
    /// A commit is not here.
    pub fn diff(&self, base: Option<&str>, head: &str) -> Result<Vec<Change>, Fault> {
        let raw = self.raw_changes(base, head)?;
        let mut changes: Vec<Change> = raw.iter().filter_map(|raw| self.seen(raw)).collect();
        self.pair_renamed(&mut changes);
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(changes)
    }

    fn seen(&self, raw: &Raw) -> Option<Change> {
        let kind = match (raw.before, raw.after) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Deleted,
            _ => ChangeKind::Modified,
        };
        let text = |id: Option<ObjectId>| id.map(|id| id.to_string());
        Some(Change { path: self.inside(&raw.path)?, kind, before: text(raw.before), after: text(raw.after) })
    }

    fn raw_changes(&self, base: Option<&str>, head: &str) -> Result<Vec<Raw>, Fault> {
        guarded("the difference of two commits", || {
            let before = match base {
                Some(base) => self.repo.find_commit(id(base)?)?.tree()?,
                None => self.repo.empty_tree(),
            };
            let after = self.repo.find_commit(id(head)?)?.tree()?;
            let kind = self.repo.object_hash();
            let (before, after) =
                (TreeRefIter::from_bytes(&before.data, kind), TreeRefIter::from_bytes(&after.data, kind));
            let mut recorder = Recorder::default();
            gix::diff::tree(before, after, tree::State::default(), &self.repo.objects, &mut recorder)
                .map_err(gix::Error::from_error)?;
            Ok(recorder.records.into_iter().filter_map(raw).collect())
        })
    }

    /// Makes one of what is gone and what is new and like it.
    fn pair_renamed(&self, changes: &mut Vec<Change>) {
        let of = |wanted: ChangeKind, changes: &[Change]| -> Vec<usize> {
            (0..changes.len()).filter(|&n| changes[n].kind == wanted).collect()
        };
        let (gone, new) = (of(ChangeKind::Deleted, changes), of(ChangeKind::Added, changes));
        let mut pairs = same_content(&gone, &new, changes);
        let paired: HashSet<usize> = pairs.iter().flat_map(|(_, old, young)| [*old, *young]).collect();
        let is_left = |n: &usize| !paired.contains(n);
        let gone: Vec<usize> = gone.into_iter().filter(is_left).collect();
        let new: Vec<usize> = new.into_iter().filter(is_left).collect();
        pairs.extend(self.alike(&gone, &new, changes));
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut used = HashSet::new();
        for (share, old, young) in pairs {
            if used.contains(&old) || used.contains(&young) {
                continue;
            }
            used.extend([old, young]);
            let (from, before) = (changes[old].path.clone(), changes[old].before.clone());
            changes[young].kind = ChangeKind::Renamed { from, similarity: percent(share) };
            changes[young].before = before;
            changes[old].path.clear();
        }
        changes.retain(|change| !change.path.is_empty());
    }

    /// Pairs of what is gone and what is new that share most of their lines.
    fn alike(&self, gone: &[usize], new: &[usize], changes: &[Change]) -> Vec<(f64, usize, usize)> {
        if gone.len() > MAX_LIKENED || new.len() > MAX_LIKENED || gone.is_empty() || new.is_empty() {
            return Vec::new();
        }
        let counted = |all: &[usize]| -> Vec<(usize, LineCounts)> {
            all.iter().filter_map(|n| Some((*n, self.line_counts(&changes[*n])?))).collect()
        };
        let (gone, new) = (counted(gone), counted(new));
        let all = gone.iter().flat_map(|old| new.iter().map(move |young| (old, young)));
        let shares = all.map(|(old, young)| (old.1.likeness(&young.1), old.0, young.0));
        shares.filter(|(share, ..)| *share >= ALIKE).collect()
    }

    fn line_counts(&self, change: &Change) -> Option<LineCounts> {
        let blob = change.before.as_ref().or(change.after.as_ref())?;
        Some(LineCounts::of(&self.blob(blob).ok()??))
    }

    /// What a commit changes, whatever it was made on: equal for a commit and its copy by cherry-pick, rebase or
    /// squash. `None` where it changes nothing, or too much to tell.
    ///
    /// # Errors
    /// The commit is not here.
    pub fn patch_id(&self, commit: &str) -> Result<Option<String>, Fault> {
        let parent = guarded("a commit", || {
            Ok(self.repo.find_commit(id(commit)?)?.parent_ids().next().map(|id| id.to_string()))
        })?;
        self.patch_id_between(parent.as_deref(), commit)
    }

    /// What each of `commits` changes, to be compared with. Merges are left out.
    ///
    /// # Errors
    /// A commit is not here.
    pub fn patches<'c>(&self, commits: &'c [Commit]) -> Result<Patches<'_, 'c>, Fault> {
        let mut by_paths: HashMap<BTreeSet<Vec<u8>>, Vec<Patch<'c>>> = HashMap::new();
        for commit in commits.iter().filter(|commit| commit.parents.len() < 2) {
            let paths = self.changed_paths(parent(commit), &commit.id)?;
            by_paths.entry(paths).or_default().push(Patch { commit, id: OnceCell::new() });
        }
        Ok(Patches { repository: self, by_paths })
    }

    fn changed_paths(&self, base: Option<&str>, head: &str) -> Result<BTreeSet<Vec<u8>>, Fault> {
        Ok(self.raw_changes(base, head)?.into_iter().map(|raw| raw.path).collect())
    }

    /// The same for all that lies between two commits.
    ///
    /// # Errors
    /// A commit is not here.
    pub fn patch_id_between(&self, base: Option<&str>, head: &str) -> Result<Option<String>, Fault> {
        let mut raw = self.raw_changes(base, head)?;
        if raw.is_empty() || raw.len() > MAX_PATCHED {
            return Ok(None);
        }
        raw.sort_by(|a, b| a.path.cmp(&b.path));
        let mut hasher = blake3::Hasher::new();
        for change in &raw {
            part(&mut hasher, b"file", &change.path);
            let read =
                |id: Option<ObjectId>| id.map_or(Ok(Some(Vec::new())), |id| self.blob(&id.to_string()));
            match (read(change.before)?, read(change.after)?) {
                (Some(before), Some(after)) if is_text(&before) && is_text(&after) => {
                    hash_lines(&mut hasher, &before, &after);
                }
                _ => {
                    let text = |id: Option<ObjectId>| id.map(|id| id.to_string()).unwrap_or_default();
                    part(&mut hasher, b"data", text(change.before).as_bytes());
                    part(&mut hasher, b"data", text(change.after).as_bytes());
                }
            }
        }
        Ok(Some(hasher.finalize().to_hex().to_string()))
    }
}

/// Pairs of what is gone and what is new with the very same content, each once.
fn same_content(gone: &[usize], new: &[usize], changes: &[Change]) -> Vec<(f64, usize, usize)> {
    let mut left: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for old in gone {
        left.entry(changes[*old].before.as_deref().unwrap_or_default()).or_default().push_back(*old);
    }
    let mut partner = |young: &usize| left.get_mut(changes[*young].after.as_deref()?)?.pop_front();
    new.iter().filter_map(|young| Some((1.0, partner(young)?, *young))).collect()
}

/// What commits change, by the files that they change.
pub struct Patches<'r, 'c> {
    repository: &'r Repository,
    by_paths: HashMap<BTreeSet<Vec<u8>>, Vec<Patch<'c>>>,
}

/// What a commit changes.
struct Patch<'c> {
    commit: &'c Commit,
    /// Its patch id, once somebody asked for it.
    id: OnceCell<Option<String>>,
}

impl Patches<'_, '_> {
    /// Which commit changes the same as all that lies between `base` and `head`, if any does. Only those that change
    /// the same files are looked at line by line.
    ///
    /// # Errors
    /// A commit is not here.
    pub fn same(&self, base: Option<&str>, head: &str) -> Result<Option<&str>, Fault> {
        let paths = self.repository.changed_paths(base, head)?;
        let Some(alike) = self.by_paths.get(&paths).filter(|_| !paths.is_empty()) else { return Ok(None) };
        let Some(wanted) = self.repository.patch_id_between(base, head)? else { return Ok(None) };
        for Patch { commit, id } in alike {
            if id.get().is_none() {
                let found = self.repository.patch_id_between(parent(commit), &commit.id)?;
                id.get_or_init(|| found);
            }
            if id.get().and_then(Option::as_ref) == Some(&wanted) {
                return Ok(Some(&commit.id));
            }
        }
        Ok(None)
    }
}

fn parent(commit: &Commit) -> Option<&str> {
    commit.parents.first().map(String::as_str)
}

fn raw(change: recorder::Change) -> Option<Raw> {
    let is_file = |mode: gix::objs::tree::EntryMode| mode.is_blob_or_symlink();
    Some(match change {
        recorder::Change::Addition { entry_mode, oid, path, .. } if is_file(entry_mode) => {
            Raw { path: path.into(), before: None, after: Some(oid) }
        }
        recorder::Change::Deletion { entry_mode, oid, path, .. } if is_file(entry_mode) => {
            Raw { path: path.into(), before: Some(oid), after: None }
        }
        recorder::Change::Modification { previous_entry_mode, previous_oid, entry_mode, oid, path }
            if is_file(entry_mode) || is_file(previous_entry_mode) =>
        {
            Raw {
                path: path.into(),
                before: is_file(previous_entry_mode).then_some(previous_oid),
                after: is_file(entry_mode).then_some(oid),
            }
        }
        _ => return None,
    })
}

fn part(hasher: &mut blake3::Hasher, sort: &[u8], bytes: &[u8]) {
    hasher.update(sort).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
}

/// The lines that went and those that came, without the space at their ends and without their places.
fn hash_lines(hasher: &mut blake3::Hasher, before: &[u8], after: &[u8]) {
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = (lines(before).collect(), lines(after).collect());
    for hunk in hunks(before, after) {
        for (sort, lines, span) in [(b"-", &old, hunk.before), (b"+", &new, hunk.after)] {
            for line in lines.get(span.start as usize..span.end as usize).unwrap_or_default() {
                part(hasher, sort, line.trim_ascii());
            }
        }
    }
}

/// The lines of a text, each with its end.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.lines_with_terminator()
}

/// The lines that differ between two versions of a text, in order.
pub fn hunks(before: &[u8], after: &[u8]) -> Vec<Hunk> {
    let input = InternedInput::new(byte_lines(before), byte_lines(after));
    let diff: Diff = diff_with_slider_heuristics(Algorithm::Histogram, &input);
    diff.hunks().map(|hunk| Hunk { before: hunk.before, after: hunk.after }).collect()
}

/// The id that git gives a file of this content, in hexadecimal.
pub fn blob_id(content: &[u8]) -> String {
    compute_hash(gix::hash::Kind::Sha1, Kind::Blob, content).map(|id| id.to_string()).unwrap_or_default()
}

fn is_text(bytes: &[u8]) -> bool {
    !bytes.iter().take(8_000).any(|&b| b == 0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share times a hundred")]
pub(super) fn percent(share: f64) -> u8 {
    (share.clamp(0.0, 1.0) * 100.0).round() as u8
}

/// How often each line stands in a file.
pub(super) struct LineCounts {
    counts: HashMap<[u8; 32], u32>,
    total: u32,
}

impl LineCounts {
    pub(super) fn of(text: &[u8]) -> Self {
        let mut counts = HashMap::new();
        let mut total = 0;
        for line in lines(text).map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()) {
            *counts.entry(*blake3::hash(line).as_bytes()).or_default() += 1;
            total += 1;
        }
        Self { counts, total }
    }

    /// The share of lines that two files have in common.
    pub(super) fn likeness(&self, other: &Self) -> f64 {
        if self.total + other.total == 0 {
            return 0.0;
        }
        let common: u32 =
            self.counts.iter().map(|(line, n)| (*n).min(other.counts.get(line).copied().unwrap_or(0))).sum();
        f64::from(2 * common) / f64::from(self.total + other.total)
    }
}
