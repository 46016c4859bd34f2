//! Rebuilds the static embedding model that `strata-embed` carries, from the published weights of
//! all-MiniLM-L6-v2.
//!
//! The recipe: run `[CLS] entry [SEP]` through the encoder for every vocabulary entry; take the output in
//! the entry's place; subtract what running text has in common; keep the 256 directions of largest
//! variance; weight each row by how rare its entry is; store int8 per row. The same inputs give the same bytes on every machine: sums have a
//! fixed order and no function of the platform's mathematics library is used.

mod encoder;
mod principal;
mod safetensors;
mod source;
mod weighting;

use std::io::Write;
use std::path::{Path, PathBuf};

use strata_embed::table::{Table, Vocabulary};

use encoder::Encoder;
use safetensors::Tensors;

use crate::shell::say;

/// Components that are kept of the encoder's 384.
const DIMENSION: usize = 256;

/// A failure of the task.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DistillError {
    /// The arguments are not understood.
    #[error("distill takes `--model DIR` or nothing, not `{0}`")]
    Arguments(String),
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A program that the task needs failed.
    #[error("`{command}` failed: {problem}")]
    Command {
        /// The command line.
        command: String,
        /// How it failed.
        problem: String,
    },
    /// An input is not the published file.
    #[error("{path} is not the published file: BLAKE3 {found}, not {expected}")]
    Digest {
        /// Which file.
        path: PathBuf,
        /// The digest of what is there.
        found: String,
        /// The digest of the published file.
        expected: &'static str,
    },
    /// The weights do not have the shape of the model.
    #[error("the weights are not those of all-MiniLM-L6-v2: {0}")]
    Weights(String),
    /// The result cannot be laid out.
    #[error(transparent)]
    Layout(#[from] strata_embed::EmbedError),
}

impl DistillError {
    fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

/// Runs the task with the arguments after its name.
pub(crate) fn run(arguments: &[String]) -> Result<(), DistillError> {
    let given = match arguments {
        [] => None,
        [option, directory] if option == "--model" => Some(PathBuf::from(directory)),
        _ => return Err(DistillError::Arguments(arguments.join(" "))),
    };
    if cfg!(debug_assertions) {
        return run_optimised(arguments);
    }
    let inputs = source::obtain(given)?;
    let entries = weighting::entries(&inputs.vocabulary)?;
    let encoder = Encoder::read(&Tensors::parse(&inputs.weights)?)?;
    let ids: Vec<u32> = entries.iter().map(|entry| entry.id).collect();
    let started = std::time::Instant::now();
    let outputs = encoder.embed_alone(&ids);
    say(&format!("{} entries through the encoder in {:.0?}", ids.len(), started.elapsed()));
    let frequencies: Vec<f64> = entries.iter().map(|entry| entry.frequency).collect();
    let mut rows = principal::reduce(&outputs, encoder::WIDTH, &frequencies, DIMENSION);
    for (row, entry) in rows.iter_mut().zip(&entries) {
        row.iter_mut().for_each(|x| *x *= entry.weight);
    }
    write_model(&entries, &rows, &inputs)
}

/// The encoder takes minutes when compiled with optimisation and hours without.
fn run_optimised(arguments: &[String]) -> Result<(), DistillError> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = std::process::Command::new(cargo);
    command.args(["run", "--quiet", "--release", "--package", "xtask", "--", "distill"]).args(arguments);
    source::execute(&mut command)
}

fn write_model(
    entries: &[weighting::Entry<'_>],
    rows: &[Vec<f32>],
    inputs: &source::Inputs,
) -> Result<(), DistillError> {
    let texts: Vec<&str> = entries.iter().map(|entry| entry.text).collect();
    let vocabulary = Vocabulary::encode(&texts)?;
    let table = Table::encode(rows, &vocabulary, digest)?;
    let notice = source::notice(inputs, &[("static.bin", &table), ("vocabulary.bin", &vocabulary)]);
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/embed/model");
    for (name, bytes) in [("static.bin", &table), ("vocabulary.bin", &vocabulary), ("NOTICE", &notice)] {
        let path = directory.join(name);
        // Not atomic: a half-written model is refused by its header, and version control has the old one.
        let written = std::fs::File::create(&path).and_then(|mut file| file.write_all(bytes));
        written.map_err(DistillError::file(&path))?;
        say(&format!("{name}: {} bytes", bytes.len()));
    }
    Ok(())
}

/// The BLAKE3 digest of some parts, one after another, in hexadecimal.
fn digest(parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().to_hex().to_string()
}
