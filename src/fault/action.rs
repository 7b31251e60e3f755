//! What a fault does. The words and their syntax; the deeds are in the runner house, one file each in `nemesis/`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::grammar::{Cursor, GrammarError};
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
    /// Reads what follows the word.
    pub(super) parse: fn(&mut Cursor<'_>) -> Result<Action, GrammarError>,
}

impl Action {
    /// Every action that can be written.
    pub const ALL: &[ActionWord] = &[
        ActionWord {
            word: "kill",
            syntax: "kill [WORKER]",
            about: "SIGKILL to the whole process tree, death confirmed",
            parse: |rest| Ok(Action::Kill { worker: rest.optional_worker()? }),
        },
        ActionWord { word: "throw", syntax: "throw", about: "the parked handler throws", parse: |_| Ok(Action::Throw) },
        ActionWord {
            word: "duplicate",
            syntax: "duplicate",
            about: "the producer submits the operation again",
            parse: |_| Ok(Action::Duplicate),
        },
    ];

    /// Whether only a worker parked at a point can do this.
    pub fn needs_parked_worker(&self) -> bool {
        matches!(self, Self::Throw)
    }

    /// The worker that the action names itself.
    pub fn worker(&self) -> Option<&str> {
        match self {
            Self::Kill { worker } => worker.as_deref(),
            Self::Throw | Self::Duplicate => None,
        }
    }

    /// Whether it acts on a worker, so that it or its trigger has to name one.
    pub fn strikes_a_worker(&self) -> bool {
        matches!(self, Self::Kill { .. } | Self::Throw)
    }

    /// Whether the worker it acts on is dead afterwards.
    pub fn ends_a_worker(&self) -> bool {
        matches!(self, Self::Kill { .. })
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
