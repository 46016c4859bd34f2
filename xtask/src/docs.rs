//! `docs`: the reference pages, written by the product itself. A test of the binary holds them fresh.

use std::fs;

use crate::{
    Outcome,
    shell::{cargo, output, root, say},
};

const PAGES: [&str; 4] = ["tools", "cli", "environment", "errors"];

pub(crate) fn run() -> Outcome {
    let directory = root().join("docs/reference");
    fs::create_dir_all(&directory)?;
    for page in PAGES {
        let text = output(&mut cargo(["run", "--quiet", "--package", "strata", "--", "reference", page]))?;
        let path = directory.join(format!("{page}.md"));
        #[expect(clippy::disallowed_methods, reason = "made anew by the next run")]
        fs::write(&path, text)?;
        say(&format!("docs/reference/{page}.md"));
    }
    Ok(())
}
