//! The variables through which a subject learns what it needs. Children never inherit the lab's own environment.

/// Path of the unix socket to connect to.
pub const SOCKET: &str = "LABW_SOCKET";
/// The run's id; also marks every process of a run for the reaper.
pub const RUN_ID: &str = "LABW_RUN_ID";
/// The case that a single-case subject serves; comes back in every message.
pub const CASE: &str = "LABW_CASE";
/// The worker's name in the scenario.
pub const WORKER: &str = "LABW_WORKER";
/// The role to play: `worker` or `inspector`.
pub const ROLE: &str = "LABW_ROLE";
/// The protection that the handler must use.
pub const PROTECTION: &str = "LABW_PROTECTION";
/// The queue's name.
pub const QUEUE: &str = "LABW_QUEUE";
/// The queue's key prefix.
pub const PREFIX: &str = "LABW_PREFIX";
/// The worker's options as one JSON object, see [`super::WorkerOptions`].
pub const OPTIONS: &str = "LABW_OPTIONS";
/// A defect to plant, see [`crate::fault::Defect`]; only the self-test sets it.
pub const DEFECT: &str = "LABW_DEFECT";
/// Where the queue lives.
pub const REDIS_URL: &str = "REDIS_URL";
/// Where effects are written; carries the case's schema as search path and its name as application name.
pub const DATABASE_URL: &str = "DATABASE_URL";
