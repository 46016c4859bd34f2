//! What the night does, from the command line.

use std::path::Path;

use strata_testkit::home::TestHome;

use crate::strata;

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).expect("readable").lines().map(str::to_owned).collect()
}

#[test]
fn p_layer_c57_c58_c61_the_older_commands_distil_compile_and_report() {
    let home = TestHome::new();
    for (session, text) in [
        ("s1", "The nightly export failed again."),
        ("s1", "Root cause: the certificate of the gateway had expired."),
        ("s1", "We decided to renew it by a timer."),
        ("s2", "A lonely remark."),
    ] {
        strata(&home).run(["govern", "episode", text, "--session", session]).success();
    }
    let done = strata(&home).json(["consolidate", "--min-episodes", "2"]);
    assert_eq!(
        (&done["digests"], &done["episodes_covered"], &done["skipped"]),
        (&1.into(), &3.into(), &1.into())
    );

    let wiki = home.outside().join("wiki");
    let compiled = strata(&home).json(["compile-wiki", &wiki.display().to_string()]);
    assert_eq!((&compiled["entries"], &compiled["files"]["INDEX.md"]), (&1.into(), &1.into()));
    let page = lines(&wiki.join("P5-ego/wiki/compiled/P5.md"));
    assert!(page.iter().any(|l| l.contains("who: system:consolidation")), "{page:?}");

    let reports = home.outside().join("reports").display().to_string();
    let report = strata(&home).json(["drift-report", "--baseline-dir", &reports]);
    assert_eq!(report["status"], "no change");
    let baseline = Path::new(&reports).join("baseline.json");
    damage(&baseline, "{");
    let output = strata(&home).run(["drift-report", "--baseline-dir", &reports]).failure(1);
    assert!(output.stdout.contains("--refresh"), "{}", output.stdout);

    let upkeep = strata(&home).json(["maintain"]);
    assert_eq!(upkeep["failed"], 0, "{upkeep}");
    damage(&home.path().join("drift/baseline.json"), "{");
    let output = strata(&home).run(["maintain", "--force"]).failure(1);
    assert!(output.stdout.contains("failed") && output.stdout.contains("done"), "{}", output.stdout);
}

#[expect(clippy::disallowed_methods, reason = "a damaged file needs no atomic write")]
fn damage(path: &Path, text: &str) {
    std::fs::write(path, text).expect("written");
}
