//! Other people's MCP clients, installed under the build directory for the tests that drive them.

use std::{
    error::Error,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Outcome,
    shell::{exists, run, say, target},
};

/// The Python client.
const PYTHON: &str = "mcp==2.3.0";

/// The TypeScript clients: version 1, which most programs still carry, and version 2.
const NODE: [&str; 2] = ["@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0"];

/// Installs what is missing and gives the directory.
pub(crate) fn install() -> Result<PathBuf, Box<dyn Error>> {
    let tools = directory()?;
    let wanted = format!("{PYTHON} {}", NODE.join(" "));
    let stamp = tools.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(tools);
    }
    say("installing the Python and TypeScript clients");
    pip(&tools, &[PYTHON.as_ref()])?;
    install_node(&tools.join("node"))?;
    #[expect(clippy::disallowed_methods, reason = "half a stamp only means another installation")]
    fs::write(stamp, wanted)?;
    Ok(tools)
}

/// Where programs for the tests are installed.
pub(crate) fn directory() -> Result<PathBuf, Box<dyn Error>> {
    let tools = target().join("test-tools");
    fs::create_dir_all(&tools)?;
    Ok(tools)
}

/// Installs a Python package with the environment under `tools`, which is made when it is missing.
pub(crate) fn pip(tools: &Path, words: &[&OsStr]) -> Outcome {
    let environment = tools.join("python");
    if !environment.join("bin/python").exists() {
        let python = ["python3", "python"].into_iter().find(|p| exists(p, "--version"));
        let python = python.ok_or("the tests need Python 3.10 or newer (python3), with `venv` and `pip`")?;
        run(Command::new(python).args(["-m", "venv", "--clear"]).arg(&environment))?;
    }
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(environment.join("bin/python")).args(pip).args(words))
}

fn install_node(at: &PathBuf) -> Result<(), Box<dyn Error>> {
    if !exists("node", "--version") || !exists("npm", "--version") {
        return Err("the tests need Node.js 20 or newer (node, npm) for the official MCP client".into());
    }
    fs::create_dir_all(at)?;
    #[expect(clippy::disallowed_methods, reason = "made anew at each installation")]
    fs::write(at.join("package.json"), "{ \"private\": true }\n")?;
    run(Command::new("npm")
        .args(["install", "--silent", "--no-audit", "--no-fund"])
        .args(NODE)
        .current_dir(at))
}
