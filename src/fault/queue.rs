//! What a queue says of its jobs: words that the wall carries and the history keeps.

use serde::{Deserialize, Serialize};

/// How the finish of an execution went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The queue accepted the completion.
    Completed,
    /// The handler failed and the queue accepted that.
    Failed,
    /// The queue refused the finish: the lock was gone or somebody else's.
    Refused,
    /// The handler had moved its job itself: there was nothing to finish.
    Moved,
}

/// One entry of the queue's own event record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueEntry {
    /// The entry's id in the record.
    pub id: String,
    /// The event's name as the queue writes it: `added`, `active`, `stalled`, ...
    pub event: String,
    /// The job, where the event has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The failure's text, where the event has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A job as the queue's store has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRecord {
    /// The job id.
    pub job: String,
    /// The queue's word for its state, `gone` without a record.
    pub state: String,
    /// Counters; `None` without a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<JobCounters>,
    /// The failure's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_reason: Option<String>,
}

/// The counters of a job's record. A field that the queue has not written yet is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCounters {
    /// Attempts that were acknowledged or refused by the handler.
    pub attempts_made: u32,
    /// Claims.
    pub attempts_started: u32,
    /// Recoveries by a stalled check.
    pub stalled: u32,
}
