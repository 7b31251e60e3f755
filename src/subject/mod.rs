//! One program under test as a child process: [`spec`] says how to start it, [`switchboard`] connects it to the lab,
//! [`state`] says what it may say when, [`drive`] owns it from start to confirmed death, `log` keeps its output and
//! [`tail`] shows its last words.
//!
//! A subject has one owner, its drive task. Everybody else holds a [`Subject`], which only passes orders on.

pub mod drive;
mod log;
pub mod spec;
pub mod state;
pub mod switchboard;
pub mod tail;

pub use drive::{Seen, Subject};
pub use spec::Spec;
pub use switchboard::Switchboard;
