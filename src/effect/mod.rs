//! What reached the world, read by the lab itself. The workers' word is never taken for it.
//!
//! [`ledger`] is the tables of one case, [`pool`] all those of a run.

pub mod ledger;
pub mod pool;

pub use ledger::{Ledger, OperationEffect};
pub use pool::Ledgers;
