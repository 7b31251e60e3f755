//! A scenario as the rest of the house sees it: complete, validated, defaults filled in. No TOML, no positions but one.

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use crate::fault::Fault;
use crate::fault::{Condition, Engine, Protection};

/// One failure timing: the claim and the scripts that prove it.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The file's stem.
    pub name: String,
    /// Where the text came from: a path, or `scenarios/NAME.toml` for a built-in one.
    pub origin: String,
    /// One line.
    pub title: String,
    /// The mechanism, for a reader.
    pub why: String,
    /// Free words to group by.
    pub tags: Vec<String>,
    /// The expected table. At least one row.
    pub expect: Vec<Row>,
    /// One script per variant; exactly one without a name if there are no variants.
    pub scripts: Vec<Script>,
}

/// What is produced, who works, what goes wrong: one variant of a scenario with every default filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// The variant's name.
    pub variant: Option<String>,
    /// The jobs, one operation each.
    pub jobs: Vec<Job>,
    /// The workers; names are unique.
    pub workers: Vec<Worker>,
    /// The faults in file order.
    pub faults: Vec<Fault>,
    /// Replaces the usual end of a case.
    pub end: Option<Condition>,
    /// The bound of the whole case, ms.
    pub within_ms: u64,
    /// The fault-free twin.
    pub twin: Twin,
}

/// The fault-free twin of a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Twin {
    /// Run it and compare every operation with these columns. The script has no faults and no twin of its own.
    Run {
        /// The script without its faults, overlaid with the `[twin]` keys.
        script: Box<Script>,
        /// What the twin must give.
        expect: Columns,
    },
    /// Not run, for the reason given in the file.
    Skip {
        /// The reason.
        why: String,
    },
    /// This script is a twin itself.
    IsTwin,
}

/// One job to produce.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The operation key: free text, unique in the scenario.
    pub operation: String,
    /// How often it may be tried; the queue reads 0 as 1.
    pub attempts: u32,
    /// Wait between attempts.
    pub backoff: Option<Backoff>,
    /// An explicit job id.
    pub id: Option<String>,
    /// Deduplication by the queue.
    pub dedup: Option<Dedup>,
    /// Delay before the job is ready, ms.
    pub delay_ms: u64,
    /// Priority, 0 for none.
    pub priority: u32,
    /// Whether the record goes away on completion.
    pub remove_on_complete: bool,
    /// Whether the record goes away on final failure.
    pub remove_on_fail: bool,
}

/// The queue's own deduplication of submissions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dedup {
    /// The deduplication id.
    pub id: String,
    /// How long it is kept, ms; until the job finishes if absent.
    pub ttl_ms: Option<u64>,
}

/// How long a failed attempt waits for the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backoff {
    /// The same wait each time, ms.
    Fixed(u64),
    /// The wait doubles each time from this, ms.
    Exponential(u64),
}

/// One worker process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    /// The name that faults use.
    pub name: String,
    /// When it may begin to take jobs; `None` for at once.
    pub start: Option<Condition>,
    /// How long a job's lock lives without renewal, ms.
    pub lock_ms: u64,
    /// How often stalled jobs are looked for, ms.
    pub stalled_interval_ms: u64,
    /// Whether it looks for stalled jobs at all.
    pub check: bool,
    /// Whether it takes jobs at all.
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
    pub progress_ms: Option<u64>,
}

/// A row of the expected table.
#[derive(Debug, Clone)]
pub struct Row {
    /// The protection it holds for; `None` for every one.
    pub protection: Option<Protection>,
    /// The variant it holds for; `None` for every one.
    pub variant: Option<String>,
    /// The engine it holds for; `None` for every one.
    pub engine: Option<EngineSelector>,
    /// The operation it holds for; `None` for each.
    pub operation: Option<String>,
    /// What it states. At least one column.
    pub columns: Columns,
    /// Whether it stands in the overlay of its variant: such rows replace the rows of the file for that variant.
    pub own: bool,
    /// Line of the row in the file, from 1.
    pub line: usize,
}

/// `bullmq-node` or `bullmq-node >=5.53, <6`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineSelector {
    /// The engine.
    pub engine: Engine,
    /// Versions of it; `None` for all.
    pub versions: Option<semver::VersionReq>,
}

/// The stated columns of a row, by their names in the file. An absent column is not compared.
pub type Columns = std::collections::BTreeMap<Column, Value>;

/// A column of the expected table.
pub use super::expect::{Column, Value};

/// The bound of a case when the file states none.
pub const WITHIN_DEFAULT: Duration = Duration::from_secs(30);
