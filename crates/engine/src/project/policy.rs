//! What agents are asked to do with a project's memory: a page that is generated, and put into the files of clients only when a
//! person says so.
//!
//! In a file that others write, too, the page is a block between two markers. Everything outside of them stays as it is, to the
//! byte, and the block says what it takes to leave the file as it was found.

mod block;
mod clients;
pub mod generate;
mod install;
mod remove;
mod status;
mod text;

pub use generate::Generate;
pub use install::Install;
pub use remove::Uninstall;
pub use status::Status;

/// The generated file, in `.strata/generated/`.
pub const FILE: &str = "AGENT_MEMORY_POLICY.md";
/// The version of the page's wording; a file with another one is made anew.
pub const VERSION: &str = "1.1";
/// Why only people put it into files of clients.
const FOR_PEOPLE: &str = "what agents are asked to do in a project is for a person to say";

/// The page as it stands for a project with these settings.
pub fn page(engine: &crate::engine::Engine) -> String {
    generate::block(engine).text()
}
