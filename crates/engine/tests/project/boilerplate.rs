//! Files that stand in every project, among what a task is given.

use serde_json::json;

use crate::retrieve::{paths, retrieve, with_files};

/// The words that licences of the permissive sort have in common, put together for these tests.
const LICENCE: &str = "Permission\n\nPermission is given to anyone to run, copy, change and test this software and to do so in any \
manner, if this notice is kept. How you use it, and whether it does what you want of the tests that you run, is at your own risk: \
the software is given as it is, without warranty of any kind. The authors are not liable for what you do with it.\n";

const LOCK: &str = r#"{ "name": "app", "packages": { "test-runner": { "version": "1.2.3", "run": "how", "tests": "tests run tests" } } }"#;

#[test]
fn a_licence_or_a_lock_file_answers_no_question_about_something_else() {
    let page = "# Work\n\n## Tests\n\nTests are run with `make check`; it needs a database.\n";
    let session = with_files(&[
        ("LICENSE", LICENCE),
        ("LICENSE-OTHER.txt", LICENCE),
        ("package-lock.json", LOCK),
        ("docs/work.md", page),
        ("src/app.py", "def app():\n    return 1\n"),
    ]);
    let first = |task: &str| {
        let pack = retrieve(&session, json!({ "task": task }));
        let found = paths(&pack, "knowledge_chunks", "source_path");
        found.into_iter().next().unwrap_or_default()
    };
    for task in ["how do I run the tests?", "How are the tests run here?", "run tests"] {
        assert_eq!(first(task), "docs/work.md", "{task}");
    }
    for task in ["Under which license may I copy this software?", "Is there a warranty for this software?"] {
        assert!(first(task).starts_with("LICENSE"), "{task}: {}", first(task));
    }
    assert_eq!(first("Which version of the test-runner package is locked?"), "package-lock.json");
}
