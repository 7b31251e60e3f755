//! The history of a case: an append-only record of everything that happened, NDJSON on disk.
//!
//! [`event`] is the vocabulary, [`recorder`] writes it, [`reader`] reads it back, [`executions`] folds it into
//! executions. Facts only: what they mean is the checker's business.

pub mod event;
pub mod executions;
pub mod reader;
pub mod recorder;

pub use event::{Entry, Event};
pub use executions::{Ended, Execution};
pub use recorder::Recorder;

// The words that a history's lines are made of: who reads histories needs no other room for them.
pub use crate::fault::{Answer, Outcome, Point};
