//! The vault on disk among editors, links and eight writers.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use strata_core::{
    knowledge::name::{Name, VaultPath},
    markdown::{
        Body, Outline,
        edit::{Heading, upsert},
    },
};
use strata_store::{
    Conflict, Control, StoreError,
    vault::{Listing, MAX_FILE, Reading, Vault},
};

struct Place {
    directory: tempfile::TempDir,
    vault: Vault,
    shared: Name,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("temporary directory");
        let vault = Vault::new(&directory.path().join("knowledge"), &directory.path().join("locks"));
        Self { directory, vault, shared: Name::parse("shared").expect("a name") }
    }

    fn file(&self, path: &str) -> PathBuf {
        self.directory.path().join("knowledge/shared").join(path)
    }

    fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let file = self.file(path);
        fs::create_dir_all(file.parent().expect("a parent")).expect("made");
        by_hand(file, bytes).expect("written");
    }

    fn read(&self, file: &str) -> Reading {
        self.vault.read(&self.shared, &path(file)).expect("inside the vault")
    }

    fn replace(&self, file: &str, text: &str) {
        let mut open = self.vault.open(&self.shared, &path(file), &Control::default()).expect("opened");
        open.replace(text).expect("replaced");
    }
}

/// Writes as an editor does that knows no lock.
fn by_hand(file: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
    fs::File::create(file)?.write_all(bytes.as_ref())
}

fn path(text: &str) -> VaultPath {
    VaultPath::parse(text).expect("a path")
}

#[test]
fn a_listing_shows_files_of_all_folders_and_names_what_is_in_the_way() {
    let place = Place::new();
    for file in ["b.md", "infra/proxy.md", "数据库.md"] {
        place.put(file, "## A\n");
    }
    for file in [".hidden.md", "notes.txt", "sub/.git/x.md"] {
        place.put(file, "");
    }
    place.put("odd .md", "");
    let Listing::Listed(found, problems) = place.vault.list(&place.shared) else { panic!("it can be read") };
    let names: Vec<String> = found.iter().map(|file| file.path.to_string()).collect();
    assert_eq!(names, ["b.md", "infra/proxy.md", "数据库.md"]);
    assert!(found.iter().all(|file| file.size == 5 && file.modified.0 > 0));
    assert_eq!(problems.iter().map(|p| p.place.as_str()).collect::<Vec<_>>(), ["odd .md"]);
}

#[test]
fn what_cannot_be_read_is_not_taken_for_deleted() {
    let place = Place::new();
    assert_eq!(place.read("a.md"), Reading::Missing, "a vault that was never written");
    place.put("a.md", "text");
    assert_eq!(place.read("a.md"), Reading::Text("text".to_owned()));
    assert_eq!(place.read("b.md"), Reading::Missing);
    let folder = place.file("");
    fs::rename(&folder, place.directory.path().join("away")).expect("moved");
    assert!(matches!(place.vault.list(&place.shared), Listing::Unavailable(_)));
    by_hand(place.directory.path().join("knowledge/shared"), "a file in its place").expect("written");
    assert!(matches!(place.read("a.md"), Reading::Unavailable(_)));
    assert!(place.vault.open(&place.shared, &path("a.md"), &Control::default()).is_err());
}

#[test]
fn a_file_that_is_no_text_is_reported_and_not_edited() {
    let place = Place::new();
    place.put("latin.md", b"caf\xe9");
    place.put("large.md", "x".repeat(usize::try_from(MAX_FILE).expect("small") + 1));
    place.put("fine.md", "\u{feff}fine\r\n");
    for (file, word) in [("latin.md", "UTF-8 at byte 3"), ("large.md", "larger")] {
        let Reading::Unreadable(reason) = place.read(file) else { panic!("{file} is no text") };
        assert!(reason.contains(word), "{reason}");
        assert!(place.vault.open(&place.shared, &path(file), &Control::default()).is_err());
    }
    assert_eq!(place.read("fine.md"), Reading::Text("\u{feff}fine\r\n".to_owned()));
    let mut open = place.vault.open(&place.shared, &path("new.md"), &Control::default()).expect("opened");
    assert!(open.replace(&"x".repeat(usize::try_from(MAX_FILE).expect("small") + 1)).is_err());
}

#[test]
fn what_an_editor_saved_meanwhile_is_kept() {
    let place = Place::new();
    place.replace("a.md", "one");
    let mut open = place.vault.open(&place.shared, &path("a.md"), &Control::default()).expect("opened");
    place.put("a.md", "by hand");
    for result in [open.replace("two"), open.remove()] {
        assert!(matches!(result, Err(StoreError::Conflict(Conflict::FileMoved { .. }))), "{result:?}");
    }
    assert_eq!(open.text(), Some("one"));
    drop(open);
    let mut open = place.vault.open(&place.shared, &path("a.md"), &Control::default()).expect("opened");
    assert_eq!(open.text(), Some("by hand"));
    open.remove().expect("unchanged");
    open.remove().expect("already gone");
    assert_eq!(place.read("a.md"), Reading::Missing);
}

#[test]
fn a_twin_is_the_file_that_is_there() {
    let place = Place::new();
    place.put("My Note.md", "");
    let locate = |name: &str| place.vault.locate(&place.shared, &path(name)).map(|found| found.to_string());
    assert_eq!(locate("my-note.md").as_deref(), Some("My Note.md"));
    assert_eq!(locate("My Note.md").as_deref(), Some("My Note.md"));
    assert_eq!(locate("mynote.md"), None);
}

#[test]
fn two_files_are_locked_in_one_order() {
    let place = Place::new();
    let (a, b) = (path("a.md"), path("b.md"));
    let mover = |first: &VaultPath, second: &VaultPath| {
        for _ in 0..20 {
            let both =
                place.vault.open_both((&place.shared, first), (&place.shared, second), &Control::default());
            let (mut one, mut two) = both.expect("neither waits for the other");
            let count = |open: &strata_store::vault::OpenFile| open.text().map_or(0, |text| text.len());
            let (left, right) = ("x".repeat(count(&one) + 1), "x".repeat(count(&two) + 1));
            one.replace(&left).and_then(|()| two.replace(&right)).expect("both are held");
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| mover(&a, &b));
        scope.spawn(|| mover(&b, &a));
    });
    assert_eq!(
        (place.read("a.md"), place.read("b.md")),
        (Reading::Text("x".repeat(40)), Reading::Text("x".repeat(40)))
    );
    assert!(place.vault.open_both((&place.shared, &a), (&place.shared, &a), &Control::default()).is_err());
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_vault() {
    let place = Place::new();
    place.put("a.md", "inside");
    let outside = place.directory.path().join("outside");
    fs::create_dir(&outside).expect("made");
    by_hand(outside.join("x.md"), "secret").expect("written");
    std::os::unix::fs::symlink(&outside, place.file("out")).expect("linked");
    std::os::unix::fs::symlink(outside.join("x.md"), place.file("link.md")).expect("linked");
    assert!(place.vault.read(&place.shared, &path("out/x.md")).is_err());
    assert!(place.vault.open(&place.shared, &path("out/new.md"), &Control::default()).is_err());
    assert!(place.vault.read(&place.shared, &path("link.md")).is_err());
    let Listing::Listed(found, _) = place.vault.list(&place.shared) else { panic!("it can be read") };
    assert_eq!(found.len(), 1);
    assert_eq!(fs::read(outside.join("x.md")).expect("there"), b"secret");
}

#[test]
fn eight_writers_lose_no_section_and_a_reader_sees_whole_files() {
    const WRITERS: usize = 8;
    const SECTIONS: usize = 12;
    let place = Place::new();
    let end = "last line\n";
    place.replace("log.md", &format!("# log\n\n## End\n\n{end}"));
    let done = AtomicBool::new(false);
    let read = |file: &Path| {
        while !done.load(Ordering::Relaxed) {
            let text = fs::read_to_string(file).expect("it is always there");
            let whole = Outline::parse(&text).find("End", None).is_some() && text.contains(end);
            assert!(whole && text.ends_with('\n'), "torn: {text:?}");
        }
    };
    let write = |writer: usize| {
        for section in 0..SECTIONS {
            let mut open = place
                .vault
                .open(&place.shared, &path("log.md"), &Control::default())
                .expect("its turn comes");
            let heading = Heading::parse(&format!("Section {writer} {section}")).expect("a heading");
            let body = Body::fit(&format!("text {writer} {section}"), heading.as_str()).expect("closed");
            let text = upsert(open.text().expect("it is there"), &heading, &body).expect("it fits");
            open.replace(&text).expect("nobody else writes");
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| read(&place.file("log.md")));
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || write(writer))).collect();
        for writer in writers {
            writer.join().expect("no panic");
        }
        done.store(true, Ordering::Relaxed);
    });
    let Reading::Text(text) = place.read("log.md") else { panic!("it is there") };
    let outline = Outline::parse(&text);
    assert_eq!(outline.entries().len(), WRITERS * SECTIONS + 1);
    for (writer, section) in (0..WRITERS).flat_map(|w| (0..SECTIONS).map(move |s| (w, s))) {
        let index = outline.find(&format!("Section {writer} {section}"), None).expect("not lost");
        assert_eq!(outline.body(index), format!("text {writer} {section}"));
    }
}
