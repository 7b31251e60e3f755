//! What a fault does. The words and their syntax; the deeds are in the runner house, one file each in `nemesis/`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::trigger::Trigger;

/// The `do` of a fault.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// SIGKILL to the worker's whole process tree, its death confirmed.
    Kill {
        /// The worker; `None` stands for the one that the trigger names.
        worker: Option<String>,
    },
    /// The parked handler throws.
    Throw,
    /// The producer submits the operation again.
    Duplicate,
}

/// What goes wrong, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// When.
    pub at: Trigger,
    /// What.
    #[serde(rename = "do")]
    pub action: Action,
}

/// One row of the table of actions: how it is written and what it does.
#[derive(Debug)]
pub struct ActionWord {
    /// The first word of the text.
    pub word: &'static str,
    /// The whole syntax, for messages and `lab list`.
    pub syntax: &'static str,
    /// The line that `lab list` shows.
    pub about: &'static str,
}

impl Action {
    /// Every action that can be written.
    pub const ALL: &[ActionWord] = &[
        ActionWord {
            word: "kill",
            syntax: "kill [WORKER]",
            about: "SIGKILL to the whole process tree, death confirmed",
        },
        ActionWord { word: "throw", syntax: "throw", about: "the parked handler throws" },
        ActionWord { word: "duplicate", syntax: "duplicate", about: "the producer submits the operation again" },
    ];

    /// Whether only a worker parked at a point can do this.
    pub fn needs_parked_worker(&self) -> bool {
        matches!(self, Self::Throw)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kill { worker: None } => f.write_str("kill"),
            Self::Kill { worker: Some(worker) } => write!(f, "kill {worker}"),
            Self::Throw => f.write_str("throw"),
            Self::Duplicate => f.write_str("duplicate"),
        }
    }
}
