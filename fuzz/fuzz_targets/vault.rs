//! See `strata_testkit::fuzz::vault_edits`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| strata_testkit::fuzz::vault_edits(data));
