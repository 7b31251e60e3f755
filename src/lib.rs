//! skeleton
pub mod checker;
pub mod cli;
pub mod effect;
pub mod fault;
pub mod history;
pub mod nemesis;
pub mod outcome;
pub mod plan;
pub mod process;
pub mod protocol;
pub mod report;
pub mod runner;
pub mod scenario;
pub mod service;
pub mod subject;
pub mod worker;
