//! Which tenants measurements have made on a server, so that the next one removes what a killed one left.

use std::path::Path;

use strata_core::time::HOUR;
use strata_store::{Control, Server};

use crate::{engine::Engine, error::Error, operation::Call, settings::Settings};

/// The tenant that keeps the register. It is there only while something is in it.
const TENANT: &str = "bench";
/// How long a measurement may take before its tenant counts as left behind.
const LONGEST: i64 = HOUR;

/// See the module.
pub(super) struct Register(Engine);

impl Register {
    /// The register on `server`, made if it is missing.
    pub(super) fn open(
        engine: &Engine,
        call: &Call<'_>,
        server: &Server,
        home: &Path,
    ) -> Result<Self, Error> {
        let settings = Settings { home: home.to_owned(), ..engine.settings().clone() };
        let register = Self::of(&settings, server)?;
        register.0.initialise(call)?;
        Ok(register)
    }

    /// The register on `server`, with the home that `settings` say.
    pub(super) fn of(settings: &Settings, server: &Server) -> Result<Self, Error> {
        let store = Some(server.for_tenant(TENANT)?);
        Ok(Self(Engine::new(Settings { store, ..settings.clone() })))
    }

    /// Removes tenants that were made long ago and are still noted.
    pub(super) fn sweep(&self, call: &Call<'_>) -> Result<(), Error> {
        let oldest = self.0.clock().now().0.saturating_sub(LONGEST);
        let noted = self.0.existing_ledger()?.read(&self.0.control(call), |r| r.settings())?;
        for (tenant, made) in noted {
            if made.parse::<i64>().is_ok_and(|made| made > oldest) {
                continue;
            }
            if let Some(server) = &self.0.settings().store {
                let store = Some(server.for_tenant(&tenant)?);
                erase_tenant(&Settings { store, ..self.0.settings().clone() }, &self.0.control(call))?;
            }
            self.forget(&self.0.control(call), &tenant)?;
        }
        Ok(())
    }

    /// Notes a tenant that is about to be made.
    pub(super) fn add(&self, call: &Call<'_>, tenant: &str) -> Result<(), Error> {
        let now = self.0.clock().now();
        let ledger = self.0.existing_ledger()?;
        Ok(ledger.write(&self.0.control(call), now, |w| w.set_setting(tenant, &now.0.to_string()))?)
    }

    /// Strikes out a tenant that is gone, and the register with the last one.
    pub(super) fn remove(&self, tenant: &str) -> Result<(), Error> {
        let control = Control::default();
        self.forget(&control, tenant)?;
        if self.0.existing_ledger()?.read(&control, |r| r.settings())?.is_empty() {
            self.0.store().database().erase_tenant(&control)?;
        }
        Ok(())
    }

    fn forget(&self, control: &Control, tenant: &str) -> Result<(), Error> {
        let now = self.0.clock().now();
        Ok(self.0.existing_ledger()?.write(control, now, |w| w.remove_setting(tenant))?)
    }
}

/// Removes what a server has of the settings' tenant.
pub(super) fn erase_tenant(settings: &Settings, control: &Control) -> Result<(), Error> {
    let engine = Engine::new(settings.clone());
    let index = engine.searcher().index().database();
    for database in [index, engine.store().database()] {
        if database.exists(control)? {
            database.erase_tenant(control)?;
        }
    }
    Ok(())
}
