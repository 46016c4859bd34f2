//! What a file is written in: by its name, else by its first line.

/// A language or format. New ones may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each is the language of that name")]
pub enum Language {
    Rust,
    Python,
    JavaScript,
    TypeScript,
    Tsx,
    Go,
    Java,
    C,
    Cpp,
    Ruby,
    Php,
    Bash,
    Markdown,
    Json,
    Yaml,
    Toml,
    Xml,
    Html,
    Css,
    Sql,
    Kotlin,
    Swift,
    CSharp,
    Scala,
    Lua,
    Perl,
    R,
    Haskell,
    Elixir,
    Erlang,
    Dart,
    Zig,
    Vue,
    Svelte,
    Protobuf,
    GraphQl,
    Terraform,
    PowerShell,
    Batch,
    Make,
    Cmake,
    Dockerfile,
    Ini,
    Csv,
    ReStructuredText,
    AsciiDoc,
    Tex,
    Text,
    Log,
    Diff,
    Tap,
    Unknown,
}

use Language::{
    AsciiDoc, Bash, Batch, C, CSharp, Cmake, Cpp, Css, Csv, Dart, Diff, Dockerfile, Elixir, Erlang, Go,
    GraphQl, Haskell, Html, Ini, Java, JavaScript, Json, Kotlin, Log, Lua, Make, Markdown, Perl, Php,
    PowerShell, Protobuf, Python, R, ReStructuredText, Ruby, Rust, Scala, Sql, Svelte, Swift, Tap, Terraform,
    Tex, Text, Toml, Tsx, TypeScript, Unknown, Vue, Xml, Yaml, Zig,
};

impl Language {
    /// The name in lower case, as in `rust` or `cpp`.
    pub fn as_str(self) -> &'static str {
        NAMES.iter().find(|(language, _, _)| *language == self).map_or("unknown", |(_, name, _)| name)
    }

    /// What a file is written in: by its name, else by its first line. An empty text leaves it to the name.
    pub fn of(path: &str, text: &str) -> Self {
        of(path, text)
    }

    /// The language of that name.
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, known, _)| *known == name).map(|(language, _, _)| *language)
    }

    /// Whether it is source text, so that a reader would expect symbols.
    pub const fn is_code(self) -> bool {
        !matches!(
            self,
            Markdown
                | Json
                | Yaml
                | Toml
                | Xml
                | Html
                | Css
                | Dockerfile
                | Ini
                | Csv
                | ReStructuredText
                | AsciiDoc
                | Tex
                | Text
                | Log
                | Diff
                | Tap
                | Unknown
        )
    }
}

/// Language, name, extensions.
const NAMES: &[(Language, &str, &[&str])] = &[
    (Rust, "rust", &["rs"]),
    (Python, "python", &["py", "pyi", "pyw"]),
    (JavaScript, "javascript", &["js", "mjs", "cjs", "jsx"]),
    (TypeScript, "typescript", &["ts", "mts", "cts"]),
    (Tsx, "tsx", &["tsx"]),
    (Go, "go", &["go"]),
    (Java, "java", &["java"]),
    (C, "c", &["c"]),
    (Cpp, "cpp", &["cc", "cpp", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "inl", "cu", "cuh"]),
    (Ruby, "ruby", &["rb", "rake", "gemspec", "ru"]),
    (Php, "php", &["php", "phtml", "php5", "php7", "php8"]),
    (Bash, "bash", &["sh", "bash", "zsh", "ksh", "bats"]),
    (Markdown, "markdown", &["md", "markdown", "mdown", "mkd", "mdx"]),
    (Json, "json", &["json", "jsonc", "json5", "jsonl", "ndjson", "webmanifest", "geojson"]),
    (Yaml, "yaml", &["yaml", "yml"]),
    (Toml, "toml", &["toml"]),
    (Xml, "xml", &["xml", "xsd", "xsl", "xslt", "svg", "plist", "csproj", "pom"]),
    (Html, "html", &["html", "htm", "xhtml"]),
    (Css, "css", &["css", "scss", "sass", "less"]),
    (Sql, "sql", &["sql", "ddl"]),
    (Kotlin, "kotlin", &["kt", "kts"]),
    (Swift, "swift", &["swift"]),
    (CSharp, "csharp", &["cs"]),
    (Scala, "scala", &["scala", "sc"]),
    (Lua, "lua", &["lua"]),
    (Perl, "perl", &["pl", "pm"]),
    (R, "r", &["r"]),
    (Haskell, "haskell", &["hs"]),
    (Elixir, "elixir", &["ex", "exs"]),
    (Erlang, "erlang", &["erl", "hrl"]),
    (Dart, "dart", &["dart"]),
    (Zig, "zig", &["zig"]),
    (Vue, "vue", &["vue"]),
    (Svelte, "svelte", &["svelte"]),
    (Protobuf, "protobuf", &["proto"]),
    (GraphQl, "graphql", &["graphql", "gql"]),
    (Terraform, "terraform", &["tf", "tfvars", "hcl"]),
    (PowerShell, "powershell", &["ps1", "psm1"]),
    (Batch, "batch", &["bat", "cmd"]),
    (Make, "make", &["mk", "mak"]),
    (Cmake, "cmake", &["cmake"]),
    (Dockerfile, "dockerfile", &["dockerfile"]),
    (Ini, "ini", &["ini", "cfg", "conf", "properties", "editorconfig"]),
    (Csv, "csv", &["csv", "tsv"]),
    (ReStructuredText, "rst", &["rst"]),
    (AsciiDoc, "asciidoc", &["adoc", "asciidoc"]),
    (Tex, "tex", &["tex", "sty", "bib"]),
    (Text, "text", &["txt", "text"]),
    (Log, "log", &["log", "out", "err"]),
    (Diff, "diff", &["diff", "patch"]),
    (Tap, "tap", &["tap"]),
];

/// Names of files that have no telling extension, in lower case. A name that goes on after it with `.` or `-` counts too,
/// as `Dockerfile.test` does.
const FILES: &[(Language, &[&str])] = &[
    (Make, &["makefile", "gnumakefile", "bsdmakefile"]),
    (Dockerfile, &["dockerfile", "containerfile"]),
    (Cmake, &["cmakelists.txt"]),
    (
        Ruby,
        &["rakefile", "gemfile", "guardfile", "vagrantfile", "capfile", "podfile", "fastfile", "brewfile"],
    ),
    (Python, &["sconstruct", "sconscript", "wscript"]),
    (Bash, &[".bashrc", ".bash_profile", ".bash_aliases", ".profile", ".zshrc", "pkgbuild"]),
    (JavaScript, &["jakefile"]),
    (Json, &[".babelrc", ".eslintrc", ".prettierrc", "composer.lock", "flake.lock"]),
    (Toml, &["cargo.lock", "poetry.lock", "uv.lock", "pipfile"]),
    (Ini, &[".gitconfig", ".gitmodules", ".npmrc", ".editorconfig"]),
    (
        Text,
        &[
            "readme",
            "license",
            "copying",
            "notice",
            "authors",
            "changelog",
            "changes",
            "news",
            "install",
            "todo",
        ],
    ),
];

/// Interpreters as a `#!` line names them, without the digits of a version.
const INTERPRETERS: &[(Language, &[&str])] = &[
    (Bash, &["sh", "bash", "zsh", "ksh", "dash", "ash", "bats"]),
    (Python, &["python", "pypy"]),
    (JavaScript, &["node", "nodejs", "bun"]),
    (TypeScript, &["deno", "ts-node", "tsx"]),
    (Ruby, &["ruby", "jruby"]),
    (Php, &["php"]),
    (Perl, &["perl"]),
    (Lua, &["lua", "luajit"]),
    (R, &["rscript"]),
    (Make, &["make"]),
    (Elixir, &["elixir"]),
    (PowerShell, &["pwsh"]),
];

/// The language of a file. `path` may have `/` or `\`; letter case does not count, but in `.C` and `.H`.
pub(crate) fn of(path: &str, text: &str) -> Language {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let lower = name.to_lowercase();
    if let Some(language) = by_whole_name(&lower) {
        return language;
    }
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("C" | "H") => return Cpp,
        Some("h") => return header(text),
        _ => {}
    }
    by_extension(&lower).or_else(|| by_interpreter(text)).unwrap_or_else(|| by_start_of_name(&lower))
}

fn by_whole_name(lower: &str) -> Option<Language> {
    FILES.iter().find(|(_, files)| files.contains(&lower)).map(|(language, _)| *language)
}

fn by_start_of_name(lower: &str) -> Language {
    let begins = |file: &str| lower.strip_prefix(file).is_some_and(|rest| rest.starts_with(['.', '-', '_']));
    FILES
        .iter()
        .find(|(_, files)| files.iter().any(|file| begins(file)))
        .map_or(Unknown, |(language, _)| *language)
}

fn by_extension(lower: &str) -> Option<Language> {
    let (_, extension) = lower.rsplit_once('.')?;
    NAMES.iter().find(|(_, _, all)| all.contains(&extension)).map(|(language, _, _)| *language)
}

/// By the program that a `#!` line names, with `env` and its options before it.
fn by_interpreter(text: &str) -> Option<Language> {
    let line = text.trim_start_matches('\u{feff}').strip_prefix("#!")?.lines().next()?;
    let words = line.get(..line.floor_char_boundary(256))?.split_whitespace();
    let program = words
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .find(|word| *word != "env" && !word.starts_with('-') && !word.contains('='))?;
    let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_lowercase();
    INTERPRETERS.iter().find(|(_, all)| all.contains(&program.as_str())).map(|(language, _)| *language)
}

/// A header is C++ when it says what C cannot.
fn header(text: &str) -> Language {
    let text = &text[..text.floor_char_boundary(64 << 10)];
    let is_cpp = |line: &str| {
        let line = line.trim_start();
        ["class ", "namespace ", "template", "public:", "private:", "protected:", "using "]
            .iter()
            .any(|word| line.starts_with(word))
            || line.starts_with("#include <")
                && line.split('>').next().is_some_and(|include| !include.contains('.'))
    };
    if text.lines().any(is_cpp) { Cpp } else { C }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_first_lines_tell() {
        for (path, text, language) in [
            ("src/main.rs", "", Rust),
            ("a\\B.PY", "", Python),
            ("Makefile", "", Make),
            ("build/Dockerfile.test", "", Dockerfile),
            ("web/app.dockerfile", "", Dockerfile),
            ("CMakeLists.txt", "", Cmake),
            ("Cargo.lock", "", Toml),
            ("README", "", Text),
            ("bin/run", "#!/usr/bin/env -S python3.12 -u\n", Python),
            ("bin/run", "#!/bin/sh\n", Bash),
            ("bin/run", "#! /usr/bin/env A=1 node\n", JavaScript),
            ("bin/run", "#!", Unknown),
            ("bin/run", "hello", Unknown),
            ("a.h", "struct a { int b; };\n", C),
            ("a.h", "#include <vector>\n", Cpp),
            ("a.h", "#include <stdio.h>\n", C),
            ("a.h", "  namespace x {\n", Cpp),
            ("a.C", "", Cpp),
            ("view.tsx", "", Tsx),
            (".bashrc", "", Bash),
            ("", "", Unknown),
            ("...", "", Unknown),
        ] {
            assert_eq!(of(path, text), language, "{path} {text}");
        }
    }

    #[test]
    fn every_language_has_one_name() {
        for (language, name, extensions) in NAMES {
            assert_eq!((language.as_str(), Language::named(name)), (*name, Some(*language)));
            for extension in *extensions {
                assert_eq!(by_extension(&format!("x.{extension}")), Some(*language), "{extension}");
            }
        }
        assert_eq!(Unknown.as_str(), "unknown");
    }
}
