//! skeleton
pub mod fault;
pub mod outcome;
pub mod scenario;
