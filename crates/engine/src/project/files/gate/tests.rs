use std::fs;

use tempfile::TempDir;

use super::*;

fn project() -> TempDir {
    let dir = tempfile::tempdir().expect("temporary directory");
    let root = dir.path().join("p");
    for folder in ["src", "secrets", ".strata/home", "docs"] {
        fs::create_dir_all(root.join(folder)).expect("fixture");
    }
    for (path, text) in [
        ("src/a.rs", "fn a() {}\nfn b() {}\n"),
        (".env", "X=1"),
        ("secrets/a.md", "x"),
        (".strata/home/ledger.db", "x"),
        (".strata/constraints.md", "- never\n"),
        ("docs/private.md", "x"),
        ("docs/open.md", "x"),
        ("scratch.txt", "x"),
        (".gitignore", "scratch.txt\n"),
    ] {
        fs::write(root.join(path), text).expect("fixture");
    }
    fs::write(dir.path().join("outside.md"), "outside").expect("fixture");
    dir
}

fn word(result: &Result<String, Refusal>) -> &str {
    match result {
        Ok(path) => path,
        Err(refusal) => refusal.as_str(),
    }
}

#[test]
fn what_is_named_is_found_inside_or_refused() {
    let dir = project();
    let root = dir.path().join("p");
    let rules = Rules { exclude: vec!["docs/Private.md".into()], ..Rules::default() };
    let gate = Gate::new(&root, &rules).expect("a gate");
    let absolute = gate.root().join("src/a.rs").to_string_lossy().into_owned();
    for (named, expected) in [
        ("src/a.rs", "src/a.rs"),
        ("./src/../src/a.rs", "src/a.rs"),
        (absolute.as_str(), "src/a.rs"),
        (".strata/constraints.md", ".strata/constraints.md"),
        ("../outside.md", "outside_root"),
        ("src/../../outside.md", "outside_root"),
        ("../none.md", "outside_root"),
        ("/etc/passwd", "outside_root"),
        ("src/a.rs\0", "outside_root"),
        (".env", "excluded_by_rules"),
        (".ENV", "excluded_by_rules"),
        ("secrets/a.md", "excluded_by_rules"),
        (".strata/home/ledger.db", "excluded_by_rules"),
        ("docs/private.md", "excluded_by_rules"),
        ("scratch.txt", "excluded_by_rules"),
        ("none.rs", "not_a_file"),
        (".", "not_a_file"),
    ] {
        let found = gate.resolve(named).and_then(|path| match gate.root().join(&path).is_file() {
            true => Ok(path),
            false => Err(Refusal::Missing),
        });
        assert_eq!(word(&found), expected, "{named}");
    }
    assert_eq!(gate.read("src/a.rs").expect("text").text.lines().count(), 2);
    assert!(matches!(gate.read("src"), Err(Refusal::Missing)));
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_out_of_the_project() {
    use std::os::unix::fs::symlink;
    let dir = project();
    let root = dir.path().join("p");
    symlink(dir.path().join("outside.md"), root.join("ARCHITECTURE.md")).expect("fixture");
    symlink(root.join("src/a.rs"), root.join("inside.rs")).expect("fixture");
    symlink(root.join(".env"), root.join("harmless.txt")).expect("fixture");
    let gate = Gate::new(&root, &Rules::default()).expect("a gate");
    assert_eq!(word(&gate.resolve("ARCHITECTURE.md")), "outside_root");
    assert_eq!(word(&gate.resolve("inside.rs")), "src/a.rs");
    assert_eq!(word(&gate.resolve("harmless.txt")), "excluded_by_rules");
    assert!(matches!(gate.read("ARCHITECTURE.md"), Err(Refusal::NotRegular)));
    assert!(matches!(gate.read("harmless.txt"), Err(Refusal::NotRegular)));
}

#[test]
fn size_and_patterns_hold() {
    let dir = project();
    let root = dir.path().join("p");
    fs::write(root.join("big.txt"), "line\n".repeat(300)).expect("fixture");
    let rules =
        Rules { include: vec!["src/**".into(), "*.txt".into()], max_bytes: 1_000, ..Rules::default() };
    let gate = Gate::new(&root, &rules).expect("a gate");
    assert!(gate.admits("src/deep/x.rs") && gate.admits("docs/x.txt") && !gate.admits("docs/open.md"));
    assert!(matches!(gate.read("big.txt"), Err(Refusal::TooLarge(1_000))));
    let unread = Rules { exclude: vec!["{a".into()], ..Rules::default() };
    assert!(Gate::new(&root, &unread).is_err());
}
