//! The index and the files that it holds sections of.

use std::{collections::BTreeSet, path::PathBuf};

use strata_embed::Semantic;
use strata_store::ledger::SourceState;

use super::{Examination, ledger::named};
use crate::{
    documents,
    error::Error,
    maintain::reindex::{index_everything, rebuild_quietly},
    render::counted,
};

impl Examination<'_> {
    pub(super) fn index(&mut self) -> Result<(), Error> {
        let index = self.engine.searcher().index();
        if !index.database().exists(&self.engine.control(self.call))? {
            self.warn("index", "there is none yet", "the next search makes it");
            return Ok(());
        }
        let control = self.engine.control(self.call);
        let sound = index
            .database()
            .access(&control)
            .map_err(Error::from)
            .and_then(|_| Ok(index.database().check(&control, !self.full)?));
        let damage = match sound {
            Ok(findings) => findings,
            Err(error) => vec![error.to_string()],
        };
        if !damage.is_empty() {
            return self.damaged_index(&damage);
        }
        let what = if self.engine.settings().store.is_some() { "index tables" } else { "index file" };
        self.ok(what, "sound");
        let head = self.engine.existing_ledger()?.read(&control, |r| Ok((r.epoch()?, r.head()?.seq)))?;
        let cursor = index.cursor(self.engine.tenant())?;
        let behind = (head.1 - cursor.mark.seq).max(0);
        if cursor.epoch != head.0 {
            self.warn(
                "index",
                "it follows another line of changes, from before a restore",
                "the next search rebuilds it",
            );
        } else if behind > 0 {
            self.warn(
                "index",
                format!("changes it has not followed yet: {behind}"),
                "the next search catches up",
            );
        } else {
            self.ok("index", format!("it has followed the ledger to its end, change {}", head.1));
        }
        if self.fix && (behind > 0 || cursor.epoch != head.0) {
            let left = index_everything(self.engine, self.call, &mut |_, _| Ok(()))?;
            self.fixed.push(format!("the index followed the ledger; changes left: {left}"));
        }
        self.vectors()
    }

    fn damaged_index(&mut self, damage: &[String]) -> Result<(), Error> {
        let detail = format!("damaged: {}", named(damage));
        if !self.fix {
            self.bad("index", detail, "`strata reindex` makes it anew; nothing is lost");
            return Ok(());
        }
        rebuild_quietly(self.engine, self.call)?;
        self.fixed.push("the index was damaged and was made anew".to_owned());
        self.ok("index", "made anew");
        Ok(())
    }

    fn vectors(&mut self) -> Result<(), Error> {
        let model = match (self.engine.searcher().semantic(), self.engine.searcher().model()) {
            (Semantic::On, Some(model)) => model.to_owned(),
            (Semantic::Warming, _) => {
                let detail = "the vectors of the model in use are not complete; searches go by words alone";
                self.warn("vectors", detail, "`strata reembed` makes them");
                return Ok(());
            }
            (state, _) => {
                self.warn(
                    "vectors",
                    format!("semantic search is {state}"),
                    "set `semantic.model` in config.toml to `static`",
                );
                return Ok(());
            }
        };
        let sets = self.engine.searcher().index().vector_sets(self.engine.tenant())?;
        let live = self.engine.searcher().index().live_passages(self.engine.tenant())?;
        let others: Vec<String> = sets.iter().map(|s| s.model.clone()).filter(|m| *m != model).collect();
        if !sets.is_empty() && !sets.iter().any(|s| s.model == model) {
            let detail =
                format!("the index has vectors of {}, not of the model in use ({model})", named(&others));
            self.warn("vectors", detail, "`strata reindex` makes them");
            return Ok(());
        }
        match self.engine.searcher().index().missing(self.engine.tenant(), &model, usize::MAX)?.len() {
            0 => self.ok("vectors", format!("complete, made by {model}: {}", counted(live, "passage"))),
            missing => {
                let detail = format!("{missing} of {} have none by {model}", counted(live, "passage"));
                self.warn("vectors", detail, "`strata reembed` makes them");
            }
        }
        Ok(())
    }

    pub(super) fn documents(&mut self) -> Result<(), Error> {
        let ledger = self.engine.existing_ledger()?;
        let sources = ledger.read(&self.engine.control(self.call), |r| r.sources(None))?;
        let registered: BTreeSet<PathBuf> = sources
            .iter()
            // Files of the vault have a check of their own.
            .filter(|s| s.state != SourceState::Gone && !documents::is_of_vault(s))
            .map(documents::path_of)
            .collect();
        let missing: Vec<String> =
            registered.iter().filter(|file| !file.exists()).map(|file| file.display().to_string()).collect();
        if missing.is_empty() {
            self.ok("documents", format!("{}, all there", counted(registered.len(), "indexed file")));
        } else {
            let detail = format!(
                "{} of {} indexed files cannot be reached: {}",
                missing.len(),
                registered.len(),
                named(&missing)
            );
            self.warn(
                "documents",
                detail,
                "mount the disk, or run `strata index FOLDER` so that deleted ones leave the search",
            );
        }
        Ok(())
    }
}
