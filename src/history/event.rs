//! What can happen in a case.

use serde::{Deserialize, Serialize};

use crate::fault::{Answer, Engine, JobRecord, Outcome, Point, Protection, QueueEntry, Trigger};

/// The version of the format that is written.
pub const VERSION: u32 = 1;

/// One line of a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The line's number, from 0: a missing or doubled line shows.
    pub n: u64,
    /// The lab's monotonic clock at receipt, us since the case began. The only clock that orders a history.
    pub at_us: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The first line: what this is the history of.
    Case {
        /// The version of the history's format, [`VERSION`].
        #[serde(default)]
        v: u32,
        /// The run's id.
        run: String,
        /// The case's id.
        case: String,
        /// Number of the repetition, from 1.
        repeat: u32,
        /// Number of the try, from 1: a case is tried again after an early stall.
        attempt: u32,
        /// Whether this is the fault-free twin.
        twin: bool,
        /// The engine.
        engine: Engine,
        /// The protection.
        protection: Protection,
        /// The operations, in the order of the file.
        operations: Vec<String>,
        /// The faults, numbered by their place in this list.
        faults: Vec<FaultText>,
    },
    /// A worker process was started.
    Spawned {
        /// The worker's name.
        worker: String,
        /// Its process id.
        pid: u32,
        /// Path of its log.
        log: String,
    },
    /// The worker said hello.
    Hello {
        /// The worker's name.
        worker: String,
        /// Version of its engine.
        engine_version: String,
    },
    /// The worker is connected to everything and waits.
    Ready {
        /// The worker's name.
        worker: String,
    },
    /// The lab let the worker begin.
    Started {
        /// The worker's name.
        worker: String,
    },
    /// The producer's call returned.
    Submitted {
        /// The operation.
        operation: String,
        /// The job id that the call returned.
        job: Option<String>,
        /// Why it was refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// A handler is parked.
    Point {
        /// The worker's name.
        worker: String,
        /// Number of the execution in that worker, from 1.
        execution: u32,
        /// The point.
        point: Point,
        /// The operation.
        operation: String,
        /// The job id.
        job: String,
        /// `attemptsMade` as the handler saw it.
        attempts_made: u32,
        /// `attemptsStarted` as the handler saw it.
        attempts_started: u32,
        /// Whether the claim was inserted or existed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        claimed: Option<bool>,
    },
    /// The lab answered a parked handler.
    Answered {
        /// The worker's name.
        worker: String,
        /// Number of the execution.
        execution: u32,
        /// The point where it was parked.
        point: Point,
        /// What it was told.
        #[serde(flatten)]
        answer: Answer,
    },
    /// An execution is over and the queue's answer is known.
    Settled {
        /// The worker's name.
        worker: String,
        /// Number of the execution.
        execution: u32,
        /// The job id.
        job: String,
        /// How the finish went.
        outcome: Outcome,
        /// The error's text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// Something that a worker thought worth telling.
    Notice {
        /// The worker's name.
        worker: String,
        /// Its words.
        text: String,
    },
    /// One entry of the queue's own record.
    Queue {
        /// The entry.
        #[serde(flatten)]
        entry: QueueEntryFields,
    },
    /// A fault began to act.
    Struck {
        /// Number of the fault.
        fault: usize,
        /// The worker it acts on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worker: Option<String>,
        /// The execution it strikes, if the worker was parked in one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        execution: Option<u32>,
    },
    /// A fault did what it was meant to do, confirmed.
    Fired {
        /// Number of the fault.
        fault: usize,
    },
    /// A signal was sent to a worker's process tree.
    Signalled {
        /// The worker's name.
        worker: String,
        /// The signal, for example `SIGKILL`.
        signal: String,
    },
    /// The kernel says that a worker is stopped.
    Stopped {
        /// The worker's name.
        worker: String,
    },
    /// A key of a job was deleted by a fault.
    KeyDeleted {
        /// The job id.
        job: String,
        /// Whether it was there.
        existed: bool,
    },
    /// A worker's death is confirmed by its wait status.
    Exited {
        /// The worker's name.
        worker: String,
        /// The wait status: `signal SIGKILL`, `exit 1`.
        status: String,
        /// Whether the lab wanted it: by a fault or at the end of the case.
        asked: bool,
    },
    /// How many entries the queue's record had at a moment of truth: all of them stand above this line.
    Synced {
        /// The count.
        entries: u64,
        /// The worker whose confirmed death is the moment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        death: Option<String>,
    },
    /// The case's script is over, or its bound has passed.
    End {
        /// What was still missing when the bound passed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missing: Option<String>,
    },
    /// The job as the queue's store had it at the end.
    Job {
        /// The record.
        #[serde(flatten)]
        record: JobRecordFields,
    },
    /// What reached the world for one operation, read twice with the same answer.
    Effect {
        /// The operation.
        operation: String,
        /// How often it took effect.
        effects: u64,
        /// Effects that are only half there.
        partial: u64,
    },
    /// The last line.
    Closed,
}

/// A fault as text, in the grammar of the scenario file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultText {
    /// When.
    pub at: Trigger,
    /// What.
    #[serde(rename = "do")]
    pub action: String,
    /// The wait status that proves the deed, where it ends the worker that it strikes: then the queue must not have
    /// acted before the death.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
}

/// See [`QueueEntry`]; the wire's `event` is called `queue` here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueEntryFields {
    /// The entry's id in the record.
    pub id: String,
    /// The event's name as the queue writes it.
    pub queue: String,
    /// The job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The failure's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl From<QueueEntry> for QueueEntryFields {
    fn from(entry: QueueEntry) -> Self {
        Self { id: entry.id, queue: entry.event, job: entry.job, reason: entry.reason }
    }
}

/// See [`JobRecord`].
pub type JobRecordFields = JobRecord;
