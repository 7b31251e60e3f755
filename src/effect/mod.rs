//! What reached the world, read by the lab itself. The workers' word is never taken for it.

pub mod ledger;

pub use ledger::{Ledger, OperationEffect};
