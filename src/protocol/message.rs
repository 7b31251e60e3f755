//! What is said across the wall. One line is one JSON object with a `type`; every message names its `case`.

use serde::{Deserialize, Serialize};

use crate::fault::{Answer, Engine, JobKey, JobRecord, Outcome, Point, Protection, QueueEntry};

/// From a subject to the lab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum FromSubject {
    /// The first line.
    Hello {
        /// The worker's name, `inspector` for an inspector.
        name: String,
        /// The subject's process id.
        pid: u32,
        /// The protocol version it speaks.
        protocol: u32,
        /// Which queue implementation.
        engine: Engine,
        /// Its version.
        engine_version: String,
        /// The parking points that its handlers pass.
        #[serde(default)]
        points: Vec<Point>,
        /// The protections that it has.
        #[serde(default)]
        protections: Vec<Protection>,
        /// Whether it serves several cases through `open` and `close`.
        #[serde(default)]
        multi: bool,
    },
    /// Everything is connected; it waits for `start`.
    Ready {
        /// The case.
        case: String,
    },
    /// A parking point was reached; the subject waits for the answer.
    Point {
        /// The case.
        case: String,
        /// Number of the execution in this process, from 1.
        execution: u32,
        /// The point.
        point: Point,
        /// The operation.
        operation: String,
        /// The queue's job id.
        job: String,
        /// `attemptsMade` as the handler sees it.
        attempts_made: u32,
        /// `attemptsStarted` as the handler sees it; it numbers the claims of the job.
        attempts_started: u32,
        /// Whether the claim was inserted (`true`) or existed (`false`), where the protection has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        claimed: Option<bool>,
    },
    /// An execution is over and the queue's answer to its finish is known.
    Settled {
        /// The case.
        case: String,
        /// Number of the execution.
        execution: u32,
        /// The queue's job id.
        job: String,
        /// How the finish went.
        outcome: Outcome,
        /// The handler's or the queue's error text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// Something worth a line in the history, for example an error of the queue's client.
    Notice {
        /// The case.
        case: String,
        /// The text.
        text: String,
    },
    /// Answer to `submit`: the producer's call returned.
    Submitted {
        /// The case.
        case: String,
        /// The operation.
        operation: String,
        /// The job id that the call returned; `None` if it was refused.
        job: Option<String>,
        /// Why it was refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// One entry of the queue's own event record, in its order.
    Queue {
        /// The case.
        case: String,
        /// The entry.
        entry: QueueEntry,
    },
    /// Answer to `sync`: every entry that the record holds by now has been sent.
    Synced {
        /// The case.
        case: String,
        /// How many entries the record has in all.
        entries: u64,
    },
    /// Answer to `del-key`.
    KeyDeleted {
        /// The case.
        case: String,
        /// The job id.
        job: String,
        /// Whether the key was there.
        existed: bool,
    },
    /// Answer to `state`.
    State {
        /// The case.
        case: String,
        /// One record per job asked for.
        jobs: Vec<JobRecord>,
    },
    /// The subject cannot go on with a request.
    Failed {
        /// The case.
        case: String,
        /// What was asked and what went wrong.
        error: String,
    },
}

/// Options of a built-in worker, in the queue's own terms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerOptions {
    /// How long a lock lives without renewal, ms.
    pub lock_ms: u64,
    /// How often stalled jobs are looked for, ms.
    pub stalled_interval_ms: u64,
    /// Whether it looks for stalled jobs.
    pub check: bool,
    /// Whether it takes jobs.
    pub fetch: bool,
    /// Whether it renews its locks.
    pub renew: bool,
    /// How often a job may stall before it fails.
    pub max_stalled: u32,
    /// Wait after an error of the queue connection, ms.
    pub retry_delay_ms: u64,
    /// Jobs at once.
    pub concurrency: u32,
    /// How often a running handler reports progress, ms; never if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress_ms: Option<u64>,
}

/// Options of a job, in the queue's own terms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobOptions {
    /// How often it may be tried.
    pub attempts: u32,
    /// Fixed wait between attempts, ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backoff_fixed_ms: Option<u64>,
    /// Doubling wait between attempts, ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backoff_exponential_ms: Option<u64>,
    /// An explicit job id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// A deduplication id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedup_id: Option<String>,
    /// How long the deduplication id is kept, ms; until the job finishes if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedup_ttl_ms: Option<u64>,
    /// Delay before it is ready, ms.
    pub delay_ms: u64,
    /// Priority, 0 for none.
    pub priority: u32,
    /// Whether the record goes away on completion.
    pub remove_on_complete: bool,
    /// Whether the record goes away on final failure.
    pub remove_on_fail: bool,
}

/// From the lab to a subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ToSubject {
    /// Begin to take jobs.
    Start {
        /// The case.
        case: String,
    },
    /// The answer to a `point`.
    Answer {
        /// The case.
        case: String,
        /// Number of the execution that is parked.
        execution: u32,
        /// What to do.
        #[serde(flatten)]
        answer: Answer,
    },
    /// Inspector: begin to serve a case.
    Open {
        /// The case.
        case: String,
        /// The queue's name.
        queue: String,
        /// The queue's key prefix.
        prefix: String,
    },
    /// Inspector: the case is over; forget it.
    Close {
        /// The case.
        case: String,
    },
    /// Inspector as producer: add a job.
    Submit {
        /// The case.
        case: String,
        /// The operation, carried in the job's data.
        operation: String,
        /// The job's options.
        options: JobOptions,
    },
    /// Inspector: send what the queue's record holds by now, then `synced`.
    Sync {
        /// The case.
        case: String,
    },
    /// Inspector: delete a key of a job.
    DelKey {
        /// The case.
        case: String,
        /// The job id.
        job: String,
        /// Which key.
        key: JobKey,
    },
    /// Inspector: report these jobs.
    State {
        /// The case.
        case: String,
        /// Job ids.
        jobs: Vec<String>,
    },
}
