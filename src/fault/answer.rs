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
    },
}
