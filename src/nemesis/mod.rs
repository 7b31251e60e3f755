//! Turns armed faults into deeds at exact points.
//!
//! The runner tells it what happened ([`Happening`]); it answers with what to do now ([`Order`]), what becomes of a
//! handler that is parked there ([`Parked`]), and what must be confirmed before a fault counts as fired ([`Confirm`]).
//! It never touches a process or a queue itself: the runner carries its orders out. One small file per kind of deed,
//! each with the same `strike` function, one row per action in [`strike`]; `noop` is the member that does nothing.

mod answer;
pub mod armed;
pub mod condition;
mod del_key;
mod duplicate;
mod held;
mod hold;
mod kill;
mod noop;
mod stop;
mod term;

pub use armed::{Nemesis, Struck};
pub use condition::Gate;
pub use held::Freed;

use crate::fault::{Action, Answer, Condition, JobKey, Place};
use crate::process::Signal;

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
        /// The job id.
        job: Option<String>,
    },
    /// A worker's death is confirmed.
    Dead {
        /// The worker.
        worker: String,
    },
    /// The kernel says that a worker is stopped.
    Stopped {
        /// The worker.
        worker: String,
    },
    /// A stopped worker was told to go on.
    Continued {
        /// The worker.
        worker: String,
    },
    /// The queue has answered the finish of an execution.
    Settled {
        /// The worker.
        worker: String,
    },
    /// The producer's call for an operation returned.
    Submitted {
        /// The operation.
        operation: String,
    },
    /// A key of a job was there and is gone.
    KeyDeleted {
        /// The job id.
        job: String,
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
    /// The same, later.
    KillAfter {
        /// The worker.
        worker: String,
        /// How much later, ms.
        ms: u64,
    },
    /// A signal to the worker's process tree.
    Signal {
        /// The worker.
        worker: String,
        /// The signal.
        signal: Signal,
    },
    /// Submit the operation again.
    Submit {
        /// The operation.
        operation: String,
    },
    /// Delete a key of a job.
    DelKey {
        /// The job id.
        job: String,
        /// Which key.
        key: JobKey,
    },
}

/// What must happen before a struck fault counts as fired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confirm {
    /// Nothing: the order itself is the deed.
    Now,
    /// This happening.
    Happens(Happening),
    /// This condition, from now on.
    Holds(Gate),
}

/// What becomes of the handler that is parked where a fault strikes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parked {
    /// It goes on.
    GoesOn,
    /// The strike answers it, or it dies where it is.
    Taken,
    /// It goes on when the fault has fired.
    UntilFired,
    /// It goes on when its worker is continued.
    UntilContinued,
    /// It goes on when this holds.
    Until(Condition),
}

/// What one fault does when its trigger is hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strike {
    /// To do now, in order.
    pub orders: Vec<Order>,
    /// When it has fired.
    pub confirm: Confirm,
    /// What becomes of the parked handler.
    pub parked: Parked,
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
    /// The job id.
    pub job: Option<&'a str>,
}

impl<'a> Hit<'a> {
    /// The worker that an action acts on: the one it names, else the one that is there.
    fn target(&self, named: &'a Option<String>) -> Option<&'a str> {
        named.as_deref().or(self.worker)
    }
}

/// The table of deeds.
pub fn strike(action: &Action, hit: Hit<'_>) -> Strike {
    let deed = match action {
        Action::Kill(named) => kill::strike(hit.target(named), hit),
        Action::Term(named, kill_after_ms) => term::strike(hit.target(named), *kill_after_ms, hit),
        Action::Stop(named) => stop::strike(hit.target(named), hit),
        Action::Cont(named) => stop::undo(hit.target(named)),
        Action::Throw(unrecoverable) => {
            let message = "thrown by the lab".to_owned();
            answer::strike(hit, Answer::Throw { message, unrecoverable: *unrecoverable })
        }
        Action::Panic => answer::strike(hit, Answer::Panic),
        Action::Exit(status) => answer::strike(hit, Answer::Exit { status: *status }),
        Action::Block(ms) => answer::strike(hit, Answer::Block { ms: *ms }),
        Action::MoveToDelayed(ms) => answer::strike(hit, Answer::MoveToDelayed { ms: *ms }),
        Action::Hold(until) => hold::strike(until, hit),
        Action::Duplicate => duplicate::strike(hit),
        Action::DelKey(key) => del_key::strike(*key, hit),
    };
    deed.unwrap_or_else(noop::strike)
}
