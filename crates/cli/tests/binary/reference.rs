//! The pages of `docs/reference` say what the product says.

use std::path::Path;

use strata_testkit::home::TestHome;

use crate::strata;

#[test]
fn the_reference_pages_are_fresh() {
    let home = TestHome::new();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    for page in ["tools", "cli", "environment", "errors"] {
        let made = strata(&home).run(["reference", page]).success().stdout;
        let kept = std::fs::read_to_string(directory.join(format!("{page}.md"))).unwrap_or_default();
        assert!(made == kept, "docs/reference/{page}.md is stale: run `cargo xtask docs`");
    }
}
