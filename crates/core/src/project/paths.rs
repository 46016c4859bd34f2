//! Places in a project compared: files, folders and modules as lists of names.

/// Folders that say nothing of what lies in them.
const EMPTY_NAMES: [&str; 8] = ["", ".", "src", "lib", "pkg", "app", "crates", "packages"];
/// Files that stand for their folder.
const FOLDER_FILES: [&str; 5] = ["__init__", "mod", "index", "main", "lib"];

/// The names that a place consists of: `src/auth/token_store.rs`, `auth.token_store` and `auth::token_store` are the same.
/// Lower case; an extension, folders such as `src`, and a file that stands for its folder fall away.
pub fn names(place: &str) -> Vec<String> {
    let place = place.trim().trim_start_matches("./").replace("::", "/").replace('\\', "/");
    // A module has dots and no slashes; in a path a dot begins an extension.
    let is_module = !place.contains('/') && place.contains('.') && !has_extension(&place);
    let mut names: Vec<String> = if is_module {
        place.split('.').map(str::to_lowercase).collect()
    } else {
        let without =
            if has_extension(&place) { place.rsplit_once('.').map_or("", |(stem, _)| stem) } else { &place };
        without.split('/').map(str::to_lowercase).collect()
    };
    if names.len() > 1 && names.last().is_some_and(|last| FOLDER_FILES.contains(&last.as_str())) {
        names.pop();
    }
    let kept: Vec<String> =
        names.iter().filter(|name| !EMPTY_NAMES.contains(&name.as_str())).cloned().collect();
    // A place that is nothing but such folders is called by them.
    if kept.is_empty() {
        names.retain(|name| !name.is_empty() && name != ".");
        return names;
    }
    kept
}

/// Whether the last name ends in a dot and a few letters that are an extension: those of files, not of modules.
fn has_extension(place: &str) -> bool {
    let last = place.rsplit('/').next().unwrap_or(place);
    last.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str())
    })
}

const EXTENSIONS: [&str; 46] = [
    "rs", "py", "pyi", "js", "mjs", "cjs", "jsx", "ts", "tsx", "go", "java", "kt", "c", "h", "cc", "cpp",
    "cxx", "hpp", "cs", "rb", "php", "sh", "bash", "sql", "swift", "scala", "lua", "pl", "ex", "exs", "clj",
    "hs", "md", "rst", "txt", "json", "yaml", "yml", "toml", "xml", "html", "css", "vue", "svelte", "diff",
    "log",
];

/// The module that a file is, with dots between its names.
pub fn module_of(path: &str) -> String {
    names(path).join(".")
}

/// A place as it is compared with many others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    names: Vec<String>,
    file: String,
}

impl Place {
    /// Reads a path or a module.
    pub fn of(place: &str) -> Self {
        let file = place.trim().trim_start_matches("./").replace('\\', "/").to_lowercase();
        Self { names: names(place), file }
    }

    /// How much of this place is named by the other: 1 for the same, else the share of its names that the other has.
    pub fn overlap(&self, other: &Self) -> f32 {
        if self.names.is_empty() {
            return 0.0;
        }
        if self.is_same(other) {
            return 1.0;
        }
        let shared = self.names.iter().filter(|name| other.names.contains(name)).count();
        shared as f32 / (self.names.len() as f32).max(1.0)
    }

    /// How near two places stand in the tree: the folders that they share from the top, of those that the deeper has.
    pub fn proximity(&self, other: &Self) -> f32 {
        let deeper = self.names.len().max(other.names.len());
        if deeper == 0 {
            return 0.0;
        }
        let shared = self.names.iter().zip(&other.names).take_while(|(a, b)| a == b).count();
        shared as f32 / deeper as f32
    }

    /// Whether both are the same file or the same module. A path from outside of the project ends in one from inside.
    pub fn is_same(&self, other: &Self) -> bool {
        let ends = |long: &str, short: &str| {
            short.contains('/') && long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'))
        };
        self.names == other.names
            || self.file == other.file
            || ends(&self.file, &other.file)
            || ends(&other.file, &self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_module_is_its_file_in_any_language() {
        for place in
            ["src/auth/token_store.rs", "auth.token_store", "auth::token_store", "./lib/auth/token_store.py"]
        {
            assert_eq!(names(place), ["auth", "token_store"], "{place}");
        }
        assert_eq!(module_of("src/retry/__init__.py"), "retry");
        assert_eq!(module_of("src/lib.rs"), "src");
        assert_eq!(module_of("README.md"), "readme");
        assert_eq!(module_of("docs/adr/003-retry-policy.md"), "docs.adr.003-retry-policy");
    }

    #[test]
    fn nearness_is_the_shared_way_from_the_top() {
        let retry = Place::of("src/scheduler/retry.py");
        assert!(retry.is_same(&Place::of("/home/me/work/src/scheduler/retry.py")));
        assert!((retry.overlap(&Place::of("scheduler.retry")) - 1.0).abs() < 1e-6);
        assert!((retry.proximity(&Place::of("src/scheduler/queue.py")) - 0.5).abs() < 1e-6);
        assert!(retry.proximity(&Place::of("docs/readme.md")).abs() < 1e-6);
        assert!(!Place::of("a/ui.py").is_same(&Place::of("b/ui.py")));
    }

    proptest! {
        #[test]
        fn shares_are_between_nothing_and_everything(a in ".{0,40}", b in ".{0,40}") {
            let (a, b) = (Place::of(&a), Place::of(&b));
            for share in [a.overlap(&b), b.overlap(&a), a.proximity(&b)] {
                prop_assert!((0.0..=1.0).contains(&share));
            }
            prop_assert!((a.proximity(&b) - b.proximity(&a)).abs() < 1e-6);
        }
    }
}
