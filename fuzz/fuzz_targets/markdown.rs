//! See `strata_testkit::fuzz::markdown_sections`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| strata_testkit::fuzz::markdown_sections(data));
