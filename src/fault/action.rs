//! What a fault does. The words and their syntax; the deeds are in the runner house, one file each in `nemesis/`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::grammar::{Cursor, GrammarError};
use super::trigger::{Condition, Trigger};

/// The `do` of a fault. Where a worker may be named, `None` stands for the one that the trigger names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// SIGKILL to the worker's whole process tree, its death confirmed.
    Kill(Option<String>),
    /// SIGTERM; the worker ends by itself, or is killed this long after it, ms.
    Term(Option<String>, Option<u64>),
    /// SIGSTOP, the kernel's word for it read. A parked worker gets its `go` after `cont`.
    Stop(Option<String>),
    /// SIGCONT.
    Cont(Option<String>),
    /// The parked handler throws; the queue must not try again if this is true.
    Throw(bool),
    /// The parked handler panics.
    Panic,
    /// The parked worker's process ends by itself with this status.
    Exit(u8),
    /// The parked worker's thread is really held this long, ms.
    Block(u64),
    /// The parked handler waits for this.
    Hold(Condition),
    /// The parked handler puts its own job back for this long, ms.
    MoveToDelayed(u64),
    /// The producer submits the operation again.
    Duplicate,
    /// A key of the job disappears from the queue's store.
    DelKey(JobKey),
}

/// A key that belongs to one job in the queue's store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobKey {
    /// The lock of the worker that has the job.
    Lock,
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

/// Shortens a row of the table.
const fn row(
    word: &'static str,
    syntax: &'static str,
    about: &'static str,
    parse: fn(&mut Cursor<'_>) -> Result<Action, GrammarError>,
) -> ActionWord {
    ActionWord { word, syntax, about, parse }
}

impl Action {
    /// Every action that can be written.
    pub const ALL: &[ActionWord] = &[
        row("kill", "kill [WORKER]", "SIGKILL to the whole process tree, death confirmed", |rest| {
            Ok(Self::Kill(rest.optional_worker()?))
        }),
        row(
            "term",
            "term [WORKER] [then kill after DURATION]",
            "SIGTERM; the handler may end, or is cut off",
            |rest| {
                let worker = if rest.next_is("then") { None } else { rest.optional_worker()? };
                if !rest.next_is("then") {
                    return Ok(Self::Term(worker, None));
                }
                for word in ["then", "kill", "after"] {
                    rest.keyword(word)?;
                }
                Ok(Self::Term(worker, Some(rest.duration()?)))
            },
        ),
        row("stop", "stop [WORKER]", "SIGSTOP, the process is really stopped", |rest| {
            Ok(Self::Stop(rest.optional_worker()?))
        }),
        row("cont", "cont WORKER", "SIGCONT; a parked worker is told to go on", |rest| {
            Ok(Self::Cont(Some(rest.named_worker()?)))
        }),
        row("throw", "throw [unrecoverable]", "the parked handler throws", |rest| {
            let unrecoverable = rest.next_is("unrecoverable");
            if unrecoverable {
                rest.keyword("unrecoverable")?;
            }
            Ok(Self::Throw(unrecoverable))
        }),
        row("panic", "panic", "the parked handler panics; its process lives", |_| Ok(Self::Panic)),
        row("exit", "exit STATUS", "the parked worker's process ends by itself", |rest| Ok(Self::Exit(rest.status()?))),
        row("block", "block DURATION", "the worker's thread is really held, heartbeats and all", |rest| {
            Ok(Self::Block(rest.duration()?))
        }),
        row("hold", "hold until CONDITION", "the parked handler waits; its worker's heartbeats go on", |rest| {
            rest.keyword("until")?;
            Ok(Self::Hold(rest.condition()?))
        }),
        row("move-to-delayed", "move-to-delayed DURATION", "the parked handler puts its own job back", |rest| {
            Ok(Self::MoveToDelayed(rest.duration()?))
        }),
        row("duplicate", "duplicate", "the producer submits the operation again", |_| Ok(Self::Duplicate)),
        row("del-key", "del-key lock", "a key of the job disappears from the queue's store", |rest| {
            rest.keyword("lock")?;
            Ok(Self::DelKey(JobKey::Lock))
        }),
    ];

    /// Whether only a worker parked at a point can do this.
    pub fn needs_parked_worker(&self) -> bool {
        matches!(
            self,
            Self::Throw(_) | Self::Panic | Self::Exit(_) | Self::Block(_) | Self::Hold(_) | Self::MoveToDelayed(_)
        )
    }

    /// Whether it decides how the parked handler goes on, which only one fault can do.
    pub fn answers_a_handler(&self) -> bool {
        self.needs_parked_worker() && !matches!(self, Self::Hold(_))
    }

    /// The worker that the action names itself.
    pub fn worker(&self) -> Option<&str> {
        match self {
            Self::Kill(worker) | Self::Term(worker, _) | Self::Stop(worker) | Self::Cont(worker) => worker.as_deref(),
            _ => None,
        }
    }

    /// Whether it acts on a worker, so that it or its trigger has to name one.
    pub fn strikes_a_worker(&self) -> bool {
        !matches!(self, Self::Duplicate | Self::DelKey(_))
    }

    /// Whether the worker it acts on is dead afterwards.
    pub fn ends_a_worker(&self) -> bool {
        matches!(self, Self::Kill(_) | Self::Term(..) | Self::Exit(_))
    }

    /// Whether the worker it acts on is stopped afterwards.
    pub fn stops_a_worker(&self) -> bool {
        matches!(self, Self::Stop(_))
    }

    /// The wait status that proves the deed, where it ends a worker in one certain way.
    pub fn proof(&self) -> Option<String> {
        match self {
            Self::Kill(_) | Self::Term(_, Some(_)) => Some("signal SIGKILL".to_owned()),
            Self::Exit(status) => Some(format!("exit {status}")),
            _ => None,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let worker = |worker: &Option<String>| worker.iter().map(|worker| format!(" {worker}")).collect::<String>();
        match self {
            Self::Kill(named) => write!(f, "kill{}", worker(named)),
            Self::Term(named, None) => write!(f, "term{}", worker(named)),
            Self::Term(named, Some(after_ms)) => write!(f, "term{} then kill after {after_ms}ms", worker(named)),
            Self::Stop(named) => write!(f, "stop{}", worker(named)),
            Self::Cont(named) => write!(f, "cont{}", worker(named)),
            Self::Throw(false) => f.write_str("throw"),
            Self::Throw(true) => f.write_str("throw unrecoverable"),
            Self::Panic => f.write_str("panic"),
            Self::Exit(status) => write!(f, "exit {status}"),
            Self::Block(ms) => write!(f, "block {ms}ms"),
            Self::Hold(until) => write!(f, "hold until {until}"),
            Self::MoveToDelayed(ms) => write!(f, "move-to-delayed {ms}ms"),
            Self::Duplicate => f.write_str("duplicate"),
            Self::DelKey(JobKey::Lock) => f.write_str("del-key lock"),
        }
    }
}
