//! The words of faults, shared by both houses: where a fault can act ([`point`]), when it acts ([`trigger`]), what it
//! does ([`action`], [`answer`]), what a queue says of it ([`queue`]), and the names of protections and engines
//! ([`names`]). [`defect`] names what the self-test plants.
//!
//! One grammar ([`grammar`]) reads them from scenario files, flags and history lines. Words only: nothing here acts.

pub mod action;
pub mod answer;
pub mod defect;
pub mod grammar;
pub mod names;
pub mod point;
pub mod queue;
pub mod trigger;
pub(crate) mod words;

pub use action::{Action, Fault, JobKey};
pub use answer::Answer;
pub use defect::Defect;
pub use grammar::GrammarError;
pub use names::{Engine, Protection};
pub use point::{Point, QueueEvent};
pub use queue::{JobCounters, JobRecord, Outcome, QueueEntry};
pub use trigger::{Condition, Place, Trigger};
