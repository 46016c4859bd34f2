//! See `strata_testkit::fuzz::export_file`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| strata_testkit::fuzz::export_file(data));
