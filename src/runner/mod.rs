//! Runs one case and records what happens. It judges nothing.
//!
//! [`house`] is what the cases of a run share; [`case`] is the sentence, its numbered steps; `stage` keeps what is
//! known while a case plays and carries out the nemesis's orders; `setup` and `teardown` are its two ends.

pub mod case;
pub mod house;
pub mod inspector;
mod setup;
mod stage;
mod teardown;

pub use case::{CaseRun, Finished, run};
pub use house::House;
