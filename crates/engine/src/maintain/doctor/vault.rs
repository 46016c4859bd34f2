//! The vault: files against what the ledger says of them, generations against the audit.

use strata_core::knowledge::name::{Name, VaultPath};
use strata_store::{
    ledger::VaultHead,
    vault::{Listing, Reading, Vault},
};

use super::{Examination, ledger::named};
use crate::{error::Error, knowledge::vault::materialise, render::counted};

/// What was found of the files on disk.
#[derive(Default)]
struct Found {
    edited: Vec<String>,
    missing: Vec<String>,
    unreadable: Vec<String>,
    unavailable: Vec<String>,
}

impl Examination<'_> {
    /// Every generation is as it was stored, and every file holds the one that it should.
    pub(super) fn vault(&mut self) -> Result<(), Error> {
        let ledger = self.engine.existing_ledger()?;
        let control = self.engine.control(self.call);
        let (heads, unfounded) =
            ledger.read(&control, |r| Ok((r.vault_heads(None)?, r.vault_unfounded()?)))?;
        if !unfounded.is_empty() {
            let name = |(number, generation): &(i64, i64)| {
                let head = heads.iter().find(|head| head.number == *number);
                let path = head.map_or("?", |head| head.path.as_str());
                format!("{path} #{generation}")
            };
            let names: Vec<String> = unfounded.iter().map(name).collect();
            let detail = format!("{} not as stored: {}", counted(names.len(), "generation"), named(&names));
            self.bad("vault", detail, "somebody changed the ledger's file; compare with a backup");
        }
        let present = heads.iter().filter(|head| head.is_present()).count();
        let found = match self.engine.vault().disk() {
            Some(disk) => on_disk(disk, &heads),
            None => Found::default(),
        };
        self.files(present, &found)
    }

    fn files(&mut self, present: usize, found: &Found) -> Result<(), Error> {
        let Found { edited, missing, unreadable, unavailable } = found;
        if !unreadable.is_empty() {
            let detail = format!("{}: {}", counted(unreadable.len(), "unreadable file"), named(unreadable));
            self.warn("vault", detail, "mend, rename or remove them; everything else works");
        }
        if !unavailable.is_empty() {
            let detail = format!("out of reach: {}", named(unavailable));
            self.warn("vault", detail, "mount or restore the folder; nothing in it counts as deleted");
            if self.fix {
                let made = materialise(self.engine, self.call)?;
                self.fixed.push(format!("made {} from the ledger", counted(made.len(), "file")));
            } else {
                let hint = "or `strata doctor --fix` makes the files from what the ledger has of them";
                self.warn("vault", "the files can be made anew", hint);
            }
        }
        if !missing.is_empty() {
            let detail = format!("deleted by hand: {}; the next look keeps their last text", named(missing));
            self.ok("vault", detail);
        }
        if !edited.is_empty() {
            let detail = format!("edited by hand: {}; the next look keeps that", named(edited));
            self.ok("vault", detail);
        }
        if missing.is_empty() && edited.is_empty() && unreadable.is_empty() && unavailable.is_empty() {
            self.ok("vault", format!("{}, as they should be", counted(present, "file")));
        }
        Ok(())
    }
}

fn on_disk(disk: &Vault, heads: &[VaultHead]) -> Found {
    let mut found = Found::default();
    let mut names: Vec<Name> = heads.iter().filter_map(|head| Name::parse(&head.namespace).ok()).collect();
    names.extend(disk.namespaces().unwrap_or_default());
    names.sort();
    names.dedup();
    for namespace in names {
        let known = || heads.iter().filter(|h| h.namespace == namespace.as_str() && h.is_present());
        match disk.list(&namespace) {
            Listing::Listed(files, _) if files.is_empty() && known().count() > 1 => {
                found.unavailable.push(format!("{namespace} (its folder is empty)"));
            }
            Listing::Unavailable(reason) if known().count() > 0 || disk.has_folder(&namespace) => {
                found.unavailable.push(format!("{namespace} ({reason})"));
            }
            Listing::Unavailable(_) => {}
            Listing::Listed(files, problems) => {
                let problem =
                    |p: &strata_store::vault::Problem| format!("{namespace}/{} ({})", p.place, p.reason);
                found.unreadable.extend(problems.iter().map(problem));
                let mut paths: Vec<VaultPath> = files.into_iter().map(|file| file.path).collect();
                paths.extend(known().filter_map(|head| VaultPath::parse(&head.path).ok()));
                paths.sort();
                paths.dedup();
                for path in paths {
                    let head = known().find(|head| head.path == path.to_string());
                    compare(disk, &namespace, &path, head, &mut found);
                }
            }
        }
    }
    found
}

fn compare(disk: &Vault, namespace: &Name, path: &VaultPath, head: Option<&VaultHead>, found: &mut Found) {
    let name = format!("{namespace}/{path}");
    match disk.read(namespace, path) {
        Ok(Reading::Text(text)) if head.is_some_and(|head| head.holds(Some(&text))) => {}
        Ok(Reading::Text(_)) => found.edited.push(name),
        Ok(Reading::Missing) => found.missing.push(name),
        Ok(Reading::Unreadable(reason)) => found.unreadable.push(format!("{name} ({reason})")),
        Ok(Reading::Unavailable(reason)) => found.unavailable.push(format!("{name} ({reason})")),
        Err(error) => found.unreadable.push(format!("{name} ({error})")),
    }
}
