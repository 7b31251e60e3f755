//! Turns armed faults into deeds at exact points.
//!
//! The runner tells it what happened ([`Happening`]); it answers with what to do now ([`Order`]) and remembers what
//! must be confirmed before a fault counts as fired ([`Confirm`]). It never touches a process or a queue itself: the
//! runner carries its orders out. One small file per action, each with the same `strike` function, one row in
//! [`strike`]; [`noop`] is the member that does nothing.

pub mod armed;
pub mod condition;
mod duplicate;
mod kill;
mod noop;
mod throw;

pub use armed::{Nemesis, Struck};
pub use condition::Gate;

use crate::fault::{Action, Answer, Place};

/// Something that a trigger or a condition may be about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
    /// A place was reached.
    Reached {
        /// The worker; queue events have none.
        worker: Option<String>,
        /// The point or queue event.
        place: Place,
        /// The operation.
        operation: Option<String>,
        /// The parked execution; queue events have none.
        execution: Option<u32>,
    },
    /// A worker's death is confirmed.
    Dead {
        /// The worker.
        worker: String,
    },
    /// The producer's call for an operation returned.
    Submitted {
        /// The operation.
        operation: String,
    },
}

/// Something for the runner to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Answer the parked execution.
    Answer {
        /// The worker.
        worker: String,
        /// Its execution.
        execution: u32,
        /// The answer.
        answer: Answer,
    },
    /// SIGKILL to the worker's process tree.
    Kill {
        /// The worker.
        worker: String,
    },
    /// Submit the operation again.
    Submit {
        /// The operation.
        operation: String,
    },
}

/// What must happen before a struck fault counts as fired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confirm {
    /// Nothing: the order itself is the deed.
    Now,
    /// The worker's death.
    Dead {
        /// The worker.
        worker: String,
    },
    /// The producer's call returned.
    Submitted {
        /// The operation.
        operation: String,
    },
}

/// What one fault does when its trigger is hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strike {
    /// To do now, in order.
    pub orders: Vec<Order>,
    /// When it has fired.
    pub confirm: Confirm,
    /// Whether the parked execution must not be told to go on: the strike answers it, or it is to die parked.
    pub holds: bool,
    /// The worker that is struck, if one is.
    pub worker: Option<String>,
}

/// Where a trigger was hit.
#[derive(Debug, Clone, Copy)]
pub struct Hit<'a> {
    /// The worker that is there.
    pub worker: Option<&'a str>,
    /// Its parked execution.
    pub execution: Option<u32>,
    /// The operation.
    pub operation: Option<&'a str>,
}

/// The table of deeds.
pub fn strike(action: &Action, hit: Hit<'_>) -> Strike {
    match action {
        Action::Kill { worker } => kill::strike(worker.as_deref(), hit),
        Action::Throw => throw::strike(hit),
        Action::Duplicate => duplicate::strike(hit),
    }
}
