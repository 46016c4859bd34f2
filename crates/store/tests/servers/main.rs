//! Stores on a real server, whatever the store of the run is.

#[path = "../fixture/mod.rs"]
mod fixture;
mod index_birth;
#[path = "../index_support/mod.rs"]
mod index_support;
mod postgres;
mod postgres_failures;
mod postgres_readers;
mod postgres_row_security;
#[path = "../postgres_support/mod.rs"]
mod postgres_support;
mod postgres_tls;
mod tenant_leads_keys;
#[path = "../tls_support/mod.rs"]
mod tls_support;
