//! The words for how a case and a run end ([`verdict`]) and the result of a case as plain data ([`result`]). Imports
//! nothing: the checker, the reports and the exit code share it.

pub mod result;
pub mod verdict;

pub use result::{CaseResult, Cell, OperationResult, TwinResult};
pub use verdict::{Exit, Reason, Tally, Verdict};
