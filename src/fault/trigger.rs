//! When a fault acts: a place, the worker and operation it concerns, and which hit of it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::point::{Point, QueueEvent};

/// A place where something can be noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Place {
    /// A parking point of a worker.
    Point(Point),
    /// An entry of the queue's record.
    Queue(QueueEvent),
}

/// The `at` of a fault, for example `A@effect.committed["credit-482"]#2`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Trigger {
    /// The worker's name; `None` stands for any worker.
    pub worker: Option<String>,
    /// The point or the queue event.
    pub place: Place,
    /// The operation; `None` stands for any.
    pub operation: Option<String>,
    /// Which hit counts, from 1. Hits are counted per fault, over everything the trigger selects.
    pub hit: u32,
}

impl Trigger {
    /// Whether this worker, place and operation are selected. A queue event has no worker of its own.
    pub fn selects(&self, worker: Option<&str>, place: Place, operation: Option<&str>) -> bool {
        self.place == place
            && self.worker.as_deref().is_none_or(|wanted| worker == Some(wanted))
            && self.operation.as_deref().is_none_or(|wanted| operation == Some(wanted))
    }
}

/// Something a worker's start, a hold or the end of a case may wait for: `when A dead`, `when B@handler.started`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// The worker's death is confirmed.
    Dead(String),
    /// The kernel says that the worker is stopped.
    Stopped(String),
    /// The queue has answered the finish of an execution of the worker, whatever it answered.
    Settled(String),
    /// The place was reached.
    Reached(Trigger),
    /// This long, ms, after another condition held: for what must not happen in that time. Only the end of a case.
    After(u64, Box<Condition>),
}

impl Condition {
    /// The condition without the time after it.
    pub fn moment(&self) -> &Self {
        match self {
            Self::After(_, condition) => condition.moment(),
            other => other,
        }
    }

    /// The worker that the condition names.
    pub fn worker(&self) -> Option<&str> {
        match self {
            Self::Dead(worker) | Self::Stopped(worker) | Self::Settled(worker) => Some(worker),
            Self::Reached(trigger) => trigger.worker.as_deref(),
            Self::After(_, condition) => condition.worker(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Point(point) => point.fmt(f),
            Self::Queue(event) => event.fmt(f),
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(worker) = &self.worker {
            write!(f, "{worker}@")?;
        }
        write!(f, "{}", self.place)?;
        if let Some(operation) = &self.operation {
            write!(f, "[{}]", super::grammar::quote(operation))?;
        }
        if self.hit != 1 {
            write!(f, "#{}", self.hit)?;
        }
        Ok(())
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dead(worker) => write!(f, "{worker} dead"),
            Self::Stopped(worker) => write!(f, "{worker} stopped"),
            Self::Settled(worker) => write!(f, "{worker} settled"),
            Self::After(ms, condition) => write!(f, "{ms}ms after {condition}"),
            Self::Reached(trigger) => write!(f, "{trigger}"),
        }
    }
}
