//! `tidy`: the rules of the house that a compiler does not check.

mod licences;
mod sources;

use std::{collections::BTreeMap, error::Error};

use serde_json::Value;

use crate::{
    Outcome,
    shell::{cargo, output, say},
};

/// Our crates and those below each that it may use. Development dependencies are free.
const DIRECTION: &[(&str, &[&str])] = &[
    (
        "strata",
        &["strata-server", "strata-engine", "strata-store", "strata-lang", "strata-embed", "strata-core"],
    ),
    ("strata-server", &["strata-engine", "strata-store", "strata-lang", "strata-embed", "strata-core"]),
    ("strata-engine", &["strata-store", "strata-lang", "strata-embed", "strata-core"]),
    ("strata-store", &["strata-core"]),
    ("strata-lang", &["strata-core"]),
    ("strata-embed", &["strata-core"]),
    ("strata-core", &[]),
    // Never shipped.
    (
        "strata-testkit",
        &["strata-server", "strata-engine", "strata-store", "strata-lang", "strata-embed", "strata-core"],
    ),
    ("xtask", &["strata-embed", "strata-core"]),
];

/// Libraries that belong to one crate.
const OWNED: &[(&str, &str)] = &[
    ("rmcp", "strata-server"),
    ("tokio", "strata-server"),
    ("clap", "strata"),
    ("clap_complete", "strata"),
    ("comfy-table", "strata"),
    ("indicatif", "strata"),
    ("rpassword", "strata"),
    ("etcetera", "strata"),
    ("rusqlite", "strata-store"),
    ("tree-sitter", "strata-lang"),
    ("ignore", "strata-engine"),
    ("ureq", "strata-engine"),
];

pub(crate) fn run() -> Outcome {
    let findings = findings()?;
    for finding in &findings {
        say(finding);
    }
    if findings.is_empty() { Ok(()) } else { Err(format!("{} rules are broken", findings.len()).into()) }
}

fn findings() -> Result<Vec<String>, Box<dyn Error>> {
    let metadata = output(&mut cargo(["metadata", "--format-version", "1", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let dependencies = dependencies(&metadata);
    let mut findings = wrong_directions(&dependencies);
    findings.extend(foreign_libraries(&dependencies));
    findings.extend(licences::findings(&metadata));
    findings.extend(sources::findings()?);
    Ok(findings)
}

/// The dependencies of each of our crates that go into the product.
fn dependencies(metadata: &Value) -> BTreeMap<String, Vec<String>> {
    let ours = metadata["workspace_members"].as_array().cloned().unwrap_or_default();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .filter(|p| ours.contains(&p["id"]))
        .map(|package| {
            let needs = package["dependencies"].as_array().into_iter().flatten();
            let needs = needs.filter(|d| d["kind"] != "dev").filter_map(|d| d["name"].as_str());
            (package["name"].as_str().unwrap_or_default().to_owned(), needs.map(str::to_owned).collect())
        })
        .collect()
}

fn wrong_directions(dependencies: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut findings = Vec::new();
    for (name, needs) in dependencies {
        let Some((_, below)) = DIRECTION.iter().find(|(n, _)| n == name) else {
            findings.push(format!("{name}: a crate without a place in the order of crates (xtask tidy)"));
            continue;
        };
        let ours = needs.iter().filter(|n| dependencies.contains_key(*n));
        findings.extend(
            ours.filter(|n| !below.contains(&n.as_str())).map(|n| format!("{name} may not depend on {n}")),
        );
    }
    findings
}

fn foreign_libraries(dependencies: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut findings = Vec::new();
    for (library, owner) in OWNED {
        // The test kit makes databases of other programs and on servers, and is never shipped.
        // The store's driver for PostgreSQL waits on its sockets with it.
        let may = |name: &str| {
            name == *owner
                || (name == "strata-testkit" && ["rusqlite", "tokio"].contains(library))
                || (name == "strata-store" && *library == "tokio")
        };
        let others =
            dependencies.iter().filter(|(name, needs)| !may(name) && needs.iter().any(|n| n == library));
        findings
            .extend(others.map(|(name, _)| format!("{name} may not depend on {library}: only {owner} does")));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_house_is_tidy() {
        assert_eq!(findings().expect("cargo metadata"), Vec::<String>::new());
    }

    #[test]
    fn a_wrong_direction_is_found() {
        let tree = |name: &str, needs: &str| {
            let leaf = (needs.to_owned(), Vec::new());
            BTreeMap::from([(name.to_owned(), vec![needs.to_owned()]), leaf])
        };
        assert_eq!(
            wrong_directions(&tree("strata-core", "strata-store")),
            ["strata-core may not depend on strata-store"]
        );
        assert_eq!(
            wrong_directions(&tree("strata-store", "strata-embed")),
            ["strata-store may not depend on strata-embed"]
        );
        assert!(wrong_directions(&tree("strata-engine", "strata-store")).is_empty());
        assert_eq!(foreign_libraries(&tree("strata-engine", "rusqlite")).len(), 1);
    }
}
