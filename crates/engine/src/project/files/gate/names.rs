//! Names that are never read, in any case of their letters.

/// Folders of tools, of what was built or fetched, and of credentials.
const FOLDERS: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".strata",
    ".memory-engine",
    "node_modules",
    "bower_components",
    ".venv",
    "venv",
    "env",
    "dist",
    "build",
    "target",
    "coverage",
    ".coverage",
    "vendor",
    "__pycache__",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    ".eggs",
    ".gradle",
    ".terraform",
    ".idea",
    ".vs",
    ".next",
    ".nuxt",
    ".cache",
    ".aws",
    ".gcp",
    ".azure",
    ".ssh",
    ".gnupg",
    ".kube",
    ".docker",
    "secrets",
    "private",
    "credentials",
];

/// Files with credentials, and of no use to a reader.
const FILES: &[&str] = &[
    ".env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    ".git-credentials",
    ".dockercfg",
    ".dockerconfigjson",
    ".s3cfg",
    ".boto",
    ".my.cnf",
    ".coverage",
    ".ds_store",
    "thumbs.db",
    "secrets.json",
    "secrets.yaml",
    "secrets.yml",
    "secrets.toml",
    "credentials.json",
    "service_account.json",
    "service-account.json",
    "kubeconfig",
];

/// What follows `.env.` in a file that holds examples and no values.
const EXAMPLES: &[&str] = &["example", "sample", "template", "dist"];

/// Stems of private keys.
const KEYS: &[&str] = &["id_rsa", "id_ed25519", "id_ecdsa", "id_dsa"];

/// Endings of keys, keyrings, states with secrets in them, lock files, and what is no text.
const ENDINGS: &[&str] = &[
    "pem",
    "key",
    "p12",
    "pfx",
    "jks",
    "keystore",
    "kdbx",
    "kdb",
    "ppk",
    "asc",
    "gpg",
    "der",
    "crt",
    "cer",
    "tfstate",
    "tfvars",
    "lock",
    "pyc",
    "pyo",
    "class",
    "o",
    "a",
    "so",
    "dll",
    "dylib",
    "exe",
    "bin",
    "wasm",
    "png",
    "jpg",
    "jpeg",
    "gif",
    "webp",
    "bmp",
    "ico",
    "tif",
    "tiff",
    "psd",
    "avif",
    "heic",
    "mp3",
    "mp4",
    "m4a",
    "mov",
    "avi",
    "mkv",
    "wav",
    "flac",
    "ogg",
    "webm",
    "zip",
    "gz",
    "tgz",
    "bz2",
    "xz",
    "zst",
    "7z",
    "rar",
    "tar",
    "jar",
    "war",
    "whl",
    "pdf",
    "doc",
    "docx",
    "xls",
    "xlsx",
    "ppt",
    "pptx",
    "odt",
    "ods",
    "odp",
    "ttf",
    "otf",
    "woff",
    "woff2",
    "eot",
    "db",
    "sqlite",
    "sqlite3",
    "parquet",
    "npy",
    "npz",
    "pt",
    "onnx",
    "safetensors",
    "rlib",
    "rmeta",
    "pdb",
    "map",
];

/// Whether a path below a root, in small letters, is excluded by one of its names.
pub(super) fn is_excluded(lower: &str) -> bool {
    let (folders, name) = lower.rsplit_once('/').map_or(("", lower), |(folders, name)| (folders, name));
    is_excluded_folder(folders) || is_excluded_file(plain(name))
}

/// The same for a folder.
pub(super) fn is_excluded_folder(lower: &str) -> bool {
    lower.split(['/', '\\']).map(plain).any(|part| FOLDERS.contains(&part) || part.ends_with(".egg-info"))
}

fn is_excluded_file(name: &str) -> bool {
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_env = name.strip_prefix(".env.").is_some_and(|rest| !EXAMPLES.contains(&rest))
        || (ending == "env" && !stem.is_empty());
    let is_key = KEYS
        .iter()
        .any(|key| name.strip_prefix(key).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)));
    is_env
        || is_key
        || FILES.contains(&name)
        || FOLDERS.contains(&name)
        || (!stem.is_empty() && ENDINGS.contains(&ending))
}

/// A name as some systems open it: what trails of dots and spaces does not count.
fn plain(name: &str) -> &str {
    match name.trim_end_matches(['.', ' ']) {
        "" => name,
        plain => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_and_foreign_files_are_excluded_in_any_spelling() {
        let excluded = [
            ".env",
            ".ENV",
            "a/.env.dev",
            "prod.env",
            "Secrets/a.md",
            "x/private/y.rs",
            "x.PEM",
            "b/x.key",
            "id_rsa",
            "id_rsa.old",
            "node_modules/a/index.js",
            ".git/config",
            "target/debug/x.rs",
            "a.png",
            ".strata/home/ledger.db",
            ".memory-engine/memory.db",
            "x.egg-info/PKG",
            ".env. ",
            "cargo.lock",
            "terraform.tfstate",
        ];
        for path in excluded {
            assert!(is_excluded(&path.to_lowercase()), "{path}");
        }
        let read = [
            "src/environment.rs",
            ".env.example",
            "src/secretsmanager.rs",
            "docs/builds.md",
            ".github/workflows/ci.yml",
            "id_rsakey.md",
            "src/targets/a.rs",
            "key.rs",
            "keys/pem.rs",
            ".gitignore",
            "monkey.txt",
        ];
        for path in read {
            assert!(!is_excluded(path), "{path}");
        }
    }
}
