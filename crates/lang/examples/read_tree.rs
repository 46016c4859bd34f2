//! Reads every text file below a folder and tells how it went: files in a second, how they were read, which took longest.
//!
//! `cargo run -p strata-lang --example read_tree -- FOLDER`. Of a single file it shows the chunks.

use std::{
    collections::BTreeMap,
    error::Error,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use strata_lang::{Found, Limits, read};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("name a folder")?;
    if Path::new(&folder).is_file() {
        return show(&folder);
    }
    let mut files = Vec::new();
    collect(Path::new(&folder), &mut files)?;
    let texts: Vec<(String, String)> = files
        .into_iter()
        .filter_map(|file| Some((file.to_string_lossy().into_owned(), fs::read_to_string(&file).ok()?)))
        .collect();
    let mut ways: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    let mut times: Vec<(Duration, &str)> = Vec::new();
    let (mut chunks, mut symbols, mut bytes) = (0, 0, 0);
    let started = Instant::now();
    for (path, text) in &texts {
        let begun = Instant::now();
        let reading = read(path, text, &Limits::default(), &|| false);
        times.push((begun.elapsed(), path));
        let language = reading.language.map_or("-", |language| language.as_str());
        let why = reading.fell_back.map_or("", |why| why.as_str());
        *ways.entry((language, reading.found.as_str(), why)).or_default() += 1;
        chunks += reading.chunks.len();
        bytes += text.len();
        symbols += if let Found::Symbols(all) = &reading.found { all.len() } else { 0 };
        let whole: usize = reading.chunks.iter().map(|chunk| chunk.span.bytes.len()).sum();
        if whole != text.len() {
            return Err(format!("{path}: {whole} of {} bytes are in chunks", text.len()).into());
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    let report = io::stdout();
    let mut report = report.lock();
    for ((language, way, why), count) in ways {
        io::Write::write_fmt(&mut report, format_args!("{language:12} {way:10} {why:14} {count}\n"))?;
    }
    times.sort_unstable_by(|a, b| b.cmp(a));
    for (time, path) in times.iter().take(5) {
        io::Write::write_fmt(&mut report, format_args!("{time:?} {path}\n"))?;
    }
    let rate = texts.len() as f64 / seconds;
    let line = format_args!(
        "{} files, {bytes} bytes, {chunks} chunks, {symbols} symbols in {seconds:.2} s: {rate:.0} files/s\n",
        texts.len()
    );
    io::Write::write_fmt(&mut report, line)?;
    Ok(())
}

fn show(file: &str) -> Result<(), Box<dyn Error>> {
    let text = fs::read_to_string(file)?;
    let reading = read(file, &text, &Limits::default(), &|| false);
    let mut report = io::stdout().lock();
    for chunk in &reading.chunks {
        let (span, path) = (&chunk.span, chunk.path.join(" > "));
        let names: Vec<&str> = match &reading.found {
            Found::Symbols(all) => {
                all[chunk.begins.clone()].iter().map(|symbol| symbol.name.as_str()).collect()
            }
            _ => Vec::new(),
        };
        let lines = format!("{}-{}", span.first_line, span.last_line);
        let line = format_args!("{lines:10} {:5} tokens  [{path}] {}\n", chunk.tokens, names.join(", "));
        io::Write::write_fmt(&mut report, line)?;
    }
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        if kind.is_dir() && !is_hidden {
            collect(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}
