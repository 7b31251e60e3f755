//! BullMQ through its official Rust port. Its own worker loop is the thing under test: nothing here fetches, renews,
//! checks or finishes a job by hand.

pub(in crate::worker) mod inspector;
pub(in crate::worker) mod record;
pub(in crate::worker) mod worker;

/// The version of the crate, from the lock file.
const VERSION: &str = env!("LAB_ENGINE_VERSION");
