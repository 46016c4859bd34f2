//! Where a store lies: in a file or on a server; and what the operating system says about a directory.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{error::StoreError, ledger::LOCAL, postgres, postgres::TlsOptions, sqlite};

/// Where a database lies.
#[derive(Debug, Clone)]
pub enum Place {
    /// In this file.
    File(PathBuf),
    /// In this schema of a server's database.
    Server {
        /// The server, and whose rows.
        server: Server,
        /// The schema.
        namespace: String,
    },
}

impl Place {
    /// The file, unless it lies on a server.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Server { .. } => None,
        }
    }

    /// The server, unless it lies in a file.
    pub const fn server(&self) -> Option<&Server> {
        match self {
            Self::File(_) => None,
            Self::Server { server, .. } => Some(server),
        }
    }

    /// The file's path, or the server's user, host and database in the form of a path: for messages, and
    /// without any password.
    pub fn shown(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Server { server, .. } => server.address.shown(),
        }
    }

    /// Whose rows are meant. A file has one tenant only.
    pub fn tenant(&self) -> &str {
        self.server().map_or(LOCAL, Server::tenant)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shown().display().fmt(f)
    }
}

/// A database on a server, and whose rows in it. Printing it shows user, host and database, never the password.
#[derive(Clone)]
pub struct Server {
    address: postgres::Address,
    tenant: Arc<str>,
    /// All that this process keeps open there by this handle and its clones.
    household: postgres::Household,
}

/// The longest name of a tenant, in bytes.
const LONGEST_TENANT: usize = 100;

impl Server {
    /// Reads `postgres://user:password@host:port/database`, or `host=HOST user=USER dbname=DATABASE`. Connects to
    /// nothing.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] for what is no such address or asks for what cannot be kept, and for a tenant
    /// that is not 1 to 100 letters, digits, `-`, `_` and `.` of ASCII. None repeats the address.
    pub fn parse(url: &str, tenant: &str) -> Result<Self, StoreError> {
        Self::parse_with(url, tenant, &TlsOptions::default())
    }

    /// The same; what the address does not say of encryption, `environment` may. Reads no file that they name.
    ///
    /// # Errors
    /// The same, and for words of encryption that there are not or that do not go together.
    pub fn parse_with(url: &str, tenant: &str, environment: &TlsOptions) -> Result<Self, StoreError> {
        check_tenant(tenant)?;
        let address = postgres::Address::parse(url, environment)?;
        Ok(Self { address, tenant: tenant.into(), household: postgres::Household::default() })
    }

    /// Another tenant's rows on the same server.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] for what is no tenant's name.
    pub fn for_tenant(&self, tenant: &str) -> Result<Self, StoreError> {
        check_tenant(tenant)?;
        Ok(Self { tenant: tenant.into(), ..self.clone() })
    }

    /// Whether `text` is a server's address and not a path.
    pub fn is_address(text: &str) -> bool {
        postgres::is_address(text)
    }

    /// Whose rows.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// The role whom the server knows us as.
    pub fn user(&self) -> &str {
        self.address.user()
    }

    pub(crate) const fn address(&self) -> &postgres::Address {
        &self.address
    }

    pub(crate) const fn household(&self) -> &postgres::Household {
        &self.household
    }
}

fn check_tenant(tenant: &str) -> Result<(), StoreError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if tenant.is_empty() || tenant.len() > LONGEST_TENANT || !tenant.chars().all(plain) {
        return Err(StoreError::Invalid(format!(
            "a tenant's name is 1 to {LONGEST_TENANT} letters, digits, `-`, `_` and `.` of ASCII"
        )));
    }
    Ok(())
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.shown().display().fmt(f)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({self}, {})", self.tenant)
    }
}

/// Fails with [`StoreError::NetworkFilesystem`] when `directory` lies where the database's locks are not safe.
pub fn check_filesystem(directory: &Path) -> Result<(), StoreError> {
    sqlite::refuse_network(directory)
}

/// Bytes that this user may still write to the disk that holds `directory`; `None` where that is not known.
pub fn free_space(directory: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let disk = rustix::fs::statvfs(directory).ok()?;
        disk.f_bavail.checked_mul(disk.f_frsize)
    }
    #[cfg(not(unix))]
    {
        let _ = directory;
        None
    }
}

/// Whether users other than the owner may read or write what `path` names; false where that is not known.
pub fn is_open_to_others(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_directory_is_local_and_has_room() {
        let directory = tempfile::tempdir().expect("temporary directory");
        assert!(check_filesystem(directory.path()).is_ok());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert!(free_space(directory.path()).is_some_and(|bytes| bytes > 0));
            assert_eq!(free_space(&directory.path().join("nowhere")), None);
            for (mode, open) in [(0o700, false), (0o750, true), (0o704, true)] {
                let permissions = std::fs::Permissions::from_mode(mode);
                std::fs::set_permissions(directory.path(), permissions).expect("changed");
                assert_eq!(is_open_to_others(directory.path()), open, "{mode:o}");
            }
        }
    }
}
