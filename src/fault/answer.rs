//! What the lab tells a parked handler to do. The last word of a fault that acts inside a worker.

use serde::{Deserialize, Serialize};

/// The lab's answer to a parked handler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Answer {
    /// Go on.
    Go,
    /// Fail here.
    Throw {
        /// The error's text.
        message: String,
        /// Whether the queue must not try again.
        #[serde(default)]
        unrecoverable: bool,
    },
    /// Panic here.
    Panic,
    /// End the process with this status.
    Exit {
        /// The status.
        status: u8,
    },
    /// Hold the thread, or the event loop, then go on.
    Block {
        /// How long, ms.
        ms: u64,
    },
    /// Put the job back with the queue's own call, then end without finishing it.
    MoveToDelayed {
        /// How long until it is ready again, ms.
        ms: u64,
    },
}
