//! What a user of the command line sees: every test runs the real binary in a folder of its own, most of them on real
//! servers. One file per family of behaviour; [`lab`] is how a test runs it.

#![expect(clippy::unwrap_used, reason = "in a test, also in its helpers, a panic is the report")]

mod check_and_list;
mod doubts;
mod exit_codes;
mod judge;
mod lab;
mod output;
mod records;
mod rows;
