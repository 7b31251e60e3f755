//! skeleton
pub mod checker;
pub mod effect;
pub mod fault;
pub mod history;
pub mod nemesis;
pub mod outcome;
pub mod plan;
pub mod protocol;
pub mod scenario;
pub mod worker;
