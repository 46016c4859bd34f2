//! Repositories as they are read, beside what the real git says of them.

use std::fs;

use strata_engine::vcs::{ChangeKind, Fault, Head, Range, Repository, blob_id};

use crate::repository::Checkout;

fn numbered(from: u32, to: u32) -> String {
    (from..to).map(|n| format!("line {n}\n")).collect()
}

#[test]
fn what_is_checked_out_is_read_as_git_tells_it() {
    let checkout = Checkout::new();
    let open = || Repository::open(checkout.root()).expect("open");
    let unborn = Head { branch: Some("main".into()), commit: None, is_detached: false };
    assert_eq!(open().head(), Ok(unborn));
    assert_eq!(open().first_commits(), Ok(vec![]));
    let first = checkout.commit("README.md", "# App\n");
    let second = checkout.commit("src/a.rs", &numbered(0, 20));
    checkout.git(&["checkout", "-q", "-b", "feature/x"]);
    let third = checkout.commit("src/b.rs", "fn b() {}\n");
    let repository = open();
    let head = Head { branch: Some("feature/x".into()), commit: Some(third.clone()), is_detached: false };
    assert_eq!(repository.head(), Ok(head));
    assert_eq!(repository.first_commits(), Ok(vec![first.clone()]));
    let names: Vec<String> = repository.branches().expect("branches").into_iter().map(|b| b.name).collect();
    assert_eq!(names, ["feature/x", "main"]);
    assert_eq!(repository.mainline().expect("mainline").tips, std::slice::from_ref(&second));
    assert_eq!(repository.is_ancestor(&second, &third), Ok(true));
    assert_eq!(repository.is_ancestor(&third, &second), Ok(false));
    assert_eq!(repository.merge_base(&third, &second), Ok(Some(second.clone())));
    let range =
        Range { after: &[first], up_to: std::slice::from_ref(&third), limit: 10, first_parents: false };
    let commits = repository.commits(range).expect("commits");
    assert_eq!(commits.iter().map(|c| c.id.clone()).collect::<Vec<_>>(), [third.clone(), second.clone()]);
    assert_eq!(commits[0].message.trim(), "write src/b.rs");
    assert_eq!(repository.blob_at(&third, "src/b.rs"), Ok(Some(b"fn b() {}\n".to_vec())));
    assert_eq!(repository.blob_at(&second, "src/b.rs"), Ok(None));
    assert_eq!(repository.own_commits("feature/x"), Ok(Some(vec![third.clone()])));
    assert_eq!(blob_id(b"fn b() {}\n"), checkout.git(&["rev-parse", "HEAD:src/b.rs"]));
    checkout.git(&["checkout", "-q", "--detach"]);
    assert_eq!(open().head(), Ok(Head { branch: None, commit: Some(third), is_detached: true }));
}

#[test]
fn status_and_index_are_those_of_git_within_the_project() {
    let checkout = Checkout::begun();
    for (path, text) in [("app/kept.rs", "kept\n"), ("app/changed.rs", "before\n"), ("other/far.rs", "far\n")]
    {
        checkout.write(path, text);
    }
    checkout.write("app/moved.rs", &numbered(0, 20));
    checkout.write("app/gone.rs", "gone\n");
    checkout.commit(".gitignore", "*.log\n");
    checkout.write("app/changed.rs", "after\n");
    checkout.write("other/far.rs", "changed as well\n");
    checkout.write("app/new.rs", "new\n");
    checkout.write("app/noise.log", "ignored\n");
    checkout.write("app/staged.rs", "staged\n");
    checkout.git(&["add", "app/staged.rs"]);
    checkout.git(&["mv", "app/moved.rs", "app/elsewhere.rs"]);
    fs::remove_file(checkout.root().join("app/gone.rs")).expect("removed");
    let project = Repository::open(&checkout.root().join("app")).expect("a project below the top");
    let status = project.status().expect("status");
    assert_eq!(status.staged, ["staged.rs"]);
    assert_eq!(status.modified, ["changed.rs"]);
    assert_eq!(status.untracked, ["new.rs"]);
    assert_eq!(status.deleted, ["gone.rs"]);
    let renamed: Vec<_> =
        status.renamed.iter().map(|r| (r.from.as_str(), r.to.as_str(), r.similarity)).collect();
    assert_eq!(renamed, [("moved.rs", "elsewhere.rs", 100)]);
    let blobs = project.index_blobs().expect("blobs");
    let paths: Vec<&str> = blobs.iter().map(|b| b.path.as_str()).collect();
    assert_eq!(paths, ["changed.rs", "elsewhere.rs", "gone.rs", "kept.rs", "staged.rs"]);
    assert_eq!(blobs[3].blob, checkout.git(&["rev-parse", "HEAD:app/kept.rs"]));
    checkout.git(&["add", "-A"]);
    checkout.git(&["commit", "-q", "-m", "all"]);
    assert!(!project.status().expect("status").is_dirty(), "{:?}", project.status());
}

#[test]
fn a_patch_keeps_its_id_wherever_it_is_applied() {
    let checkout = Checkout::begun();
    checkout.commit("a.rs", &numbered(0, 30));
    checkout.git(&["checkout", "-q", "-b", "work"]);
    let one = checkout.commit("a.rs", &numbered(0, 30).replace("line 20\n", "line twenty\n"));
    let two = checkout.commit("b.rs", "fn b() {}\n");
    checkout.git(&["checkout", "-q", "main"]);
    checkout.commit("a.rs", &format!("a new first line\n{}", numbered(0, 30)));
    checkout.git(&["cherry-pick", &one]);
    let picked = checkout.git(&["rev-parse", "HEAD"]);
    let repository = Repository::open(checkout.root()).expect("open");
    assert_eq!(repository.patch_id(&one), repository.patch_id(&picked));
    assert_ne!(repository.patch_id(&one), repository.patch_id(&two));
    checkout.git(&["reset", "-q", "--hard", "HEAD~1"]);
    checkout.git(&["merge", "-q", "--squash", "work"]);
    checkout.git(&["commit", "-q", "-m", "squashed"]);
    let squashed = checkout.git(&["rev-parse", "HEAD"]);
    let base = repository.merge_base(&two, &squashed).expect("base");
    let whole = repository.patch_id_between(base.as_deref(), &two).expect("a patch");
    assert!(whole.is_some());
    assert_eq!(whole, repository.patch_id(&squashed).expect("a patch"));
}

#[test]
fn a_difference_follows_files_that_were_renamed_and_edited() {
    let checkout = Checkout::begun();
    checkout.write("old/name.rs", &numbered(0, 30));
    checkout.write("gone.rs", "gone\n");
    let before = checkout.commit("same.rs", "same\n");
    checkout.git(&["rm", "-q", "gone.rs"]);
    fs::create_dir_all(checkout.root().join("new")).expect("folder");
    checkout.git(&["mv", "old/name.rs", "new/name.rs"]);
    checkout.write("new/name.rs", &numbered(0, 30).replace("line 3\n", "line three\n"));
    let after = checkout.commit("same.rs", "changed\n");
    let repository = Repository::open(checkout.root()).expect("open");
    let changes = repository.diff(Some(&before), &after).expect("changes");
    let seen: Vec<(&str, &ChangeKind)> = changes.iter().map(|c| (c.path.as_str(), &c.kind)).collect();
    let renamed = ChangeKind::Renamed { from: "old/name.rs".into(), similarity: 97 };
    let expected =
        [("gone.rs", &ChangeKind::Deleted), ("new/name.rs", &renamed), ("same.rs", &ChangeKind::Modified)];
    assert_eq!(seen, expected);
}

#[test]
fn the_same_remote_is_the_same_whoever_asks_and_is_not_told() {
    let checkout = Checkout::begun();
    assert_eq!(Repository::open(checkout.root()).expect("open").remote_identity(), None);
    let mut seen = Vec::new();
    for address in ["https://ana:hunter2@git.example.test/team/app.git", "git@git.example.test:team/app"] {
        checkout.git(&["config", "remote.origin.url", address]);
        seen.push(Repository::open(checkout.root()).expect("open").remote_identity().expect("a remote"));
    }
    assert_eq!(seen[0], seen[1]);
    assert!(seen[0].len() == 64 && seen[0].bytes().all(|b| b.is_ascii_hexdigit()), "{seen:?}");
    checkout.git(&["config", "remote.origin.url", "https://git.example.test/team/other"]);
    assert_ne!(Repository::open(checkout.root()).expect("open").remote_identity(), Some(seen.remove(0)));
}

#[test]
fn a_worktree_is_followed_and_a_pointer_to_somebody_elses_repository_is_not() {
    let checkout = Checkout::begun();
    let tree = checkout.beside("feat");
    checkout.git(&["worktree", "add", "-q", "-b", "feat", tree.to_str().expect("UTF-8")]);
    let there = Repository::open(&tree).expect("a worktree");
    assert_eq!(there.head().expect("head").branch.as_deref(), Some("feat"));
    assert_eq!(there.first_commits(), Repository::open(checkout.root()).expect("main").first_commits());
    let stranger = checkout.beside("stranger");
    fs::create_dir_all(&stranger).expect("folder");
    let target = checkout.root().join(".git");
    write(&stranger.join(".git"), format!("gitdir: {}\n", target.display()).as_bytes());
    assert_eq!(Repository::open(&stranger).map(|_| ()), Err(Fault::Elsewhere));
    fs::remove_file(stranger.join(".git")).expect("removed");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&target, stranger.join(".git")).expect("a link");
        assert_eq!(Repository::open(&stranger).map(|_| ()), Err(Fault::Elsewhere));
    }
    assert_eq!(Repository::open(checkout.all()).map(|_| ()), Err(Fault::None));
}

#[cfg(unix)]
#[test]
fn a_repository_shows_nothing_of_another_and_waits_for_nothing() {
    use std::os::unix::fs::symlink;
    let victim = Checkout::begun();
    let theirs = victim.root().join(".git");
    let checkout = Checkout::begun();
    let git = checkout.root().join(".git");
    let opened = || Repository::open(checkout.root()).map(|_| ());
    assert_eq!(opened(), Ok(()));

    // Its shared directory is another's, told by itself and by a worktree of its own making.
    write(&git.join("commondir"), theirs.to_str().expect("UTF-8").as_bytes());
    assert_eq!(opened(), Err(Fault::Elsewhere));
    fs::remove_file(git.join("commondir")).expect("removed");
    let stranger = checkout.beside("stranger");
    let made = stranger.join("made/worktrees/w");
    fs::create_dir_all(&made).expect("folders");
    write(&stranger.join(".git"), b"gitdir: made/worktrees/w\n");
    let back = stranger.join(".git");
    for (name, text) in
        [("gitdir", back.to_str().expect("UTF-8")), ("commondir", theirs.to_str().expect("UTF-8"))]
    {
        write(&made.join(name), text.as_bytes());
    }
    write(&made.join("HEAD"), b"ref: refs/heads/main\n");
    assert_eq!(Repository::open(&stranger).map(|_| ()), Err(Fault::Elsewhere));

    // Its parts are links.
    for (name, target) in [
        ("objects", theirs.join("objects")),
        ("refs", theirs.join("refs")),
        ("HEAD", theirs.join("HEAD")),
        ("refs/heads/main", theirs.join("refs/heads/main")),
        ("config", "/dev/zero".into()),
        ("index", "/dev/zero".into()),
    ] {
        let (part, aside) = (git.join(name), git.join("aside"));
        fs::rename(&part, &aside).expect("moved");
        symlink(target, &part).expect("a link");
        assert!(matches!(opened(), Err(Fault::Broken(_))), "{name}");
        fs::remove_file(&part).expect("removed");
        fs::rename(&aside, &part).expect("moved");
    }
    assert_eq!(opened(), Ok(()));
}

#[test]
fn nothing_of_a_repository_is_run() {
    let checkout = Checkout::begun();
    let trap = checkout.beside("ran");
    let run = format!("touch {}", trap.display());
    for key in
        ["core.fsmonitor", "diff.trap.textconv", "filter.trap.clean", "filter.trap.smudge", "core.sshCommand"]
    {
        checkout.git(&["config", key, &run]);
    }
    checkout.git(&["config", "core.hooksPath", checkout.beside("hooks").to_str().expect("UTF-8")]);
    checkout.write(".gitattributes", "* filter=trap diff=trap\n");
    checkout.write("README.md", "# Another\n");
    let repository = Repository::open(checkout.root()).expect("open");
    let commit = repository.head().expect("head").commit.expect("a commit");
    assert!(repository.status().expect("status").is_dirty());
    assert!(repository.diff(None, &commit).expect("a difference").len() == 1);
    assert!(repository.patch_id(&commit).expect("a patch").is_some());
    assert!(!trap.exists(), "a program was run");
}

#[test]
fn damage_is_a_fault_and_no_panic() {
    let checkout = Checkout::begun();
    let commit = checkout.commit("a.rs", "fn a() {}\n");
    let git = checkout.root().join(".git");
    let open = || Repository::open(checkout.root());
    let index = fs::read(git.join("index")).expect("index");
    for broken in [&b"DIRC"[..], &b"\xff".repeat(4096), &index[..index.len() / 2], &flipped(&index), b""] {
        write(&git.join("index"), broken);
        assert!(open().expect("open").status().is_err(), "{} bytes", broken.len());
        assert!(open().expect("open").index_blobs().is_err());
    }
    write(&git.join("index"), &index);
    write(&git.join("objects/info/alternates"), b"/nowhere/objects\n../../../../etc\n");
    assert_eq!(open().expect("open").head().expect("head").commit.as_deref(), Some(commit.as_str()));
    let packed: String = (0..20_000).map(|n| format!("{commit} refs/heads/many/b{n:05}\n")).collect();
    write(
        &git.join("packed-refs"),
        format!("# pack-refs with: peeled fully-peeled sorted \n{packed}").as_bytes(),
    );
    assert_eq!(open().expect("open").branches().expect("branches").len(), 10_000);
    write(&git.join("packed-refs"), &b"\x00garbage".repeat(1000));
    drop(open().expect("open").branches());
    for head in [&b"ref: refs/heads/../../../etc/passwd\n"[..], b"ref: \n", b"0000", &b"a".repeat(1 << 20)] {
        write(&git.join("HEAD"), head);
        assert!(open().and_then(|r| r.head()).is_err(), "{:?}", open().and_then(|r| r.head()));
    }
    write(&git.join("HEAD"), b"ref: refs/heads/main\n");
    write(&git.join("config"), &b"[core\n\trepositoryformatversion = \xff"[..]);
    drop(open().and_then(|r| r.head()));
}

fn flipped(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().enumerate().map(|(n, b)| if n % 7 == 6 { !b } else { *b }).collect()
}

#[expect(clippy::disallowed_methods, reason = "fixtures need no atomic writes")]
fn write(path: &std::path::Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("a file");
}
