//! skeleton
pub mod fault;
pub mod outcome;
pub mod plan;
pub mod scenario;
