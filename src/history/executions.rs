//! Folds a history into executions: who entered a handler when, what it saw, how it ended. Facts, no judgement.

use crate::fault::{Answer, Outcome, Point};

use super::event::{Entry, Event};

/// One entry into a handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// The worker.
    pub worker: String,
    /// Its number in that worker.
    pub number: u32,
    /// The operation.
    pub operation: String,
    /// The job id.
    pub job: String,
    /// `attemptsMade` as the handler saw it.
    pub attempts_made: u32,
    /// `attemptsStarted` as the handler saw it: the number of its claim.
    pub attempts_started: u32,
    /// The line where the handler was entered.
    pub entered: u64,
    /// The last point that it reached.
    pub last_point: Point,
    /// The line after which the handler ran no more, and why; `None` while it is open.
    pub left: Option<(u64, Ended)>,
    /// What the queue said to its finish; `None` if it never came to that.
    pub outcome: Option<Outcome>,
}

/// Why a handler ran no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It returned.
    Returned,
    /// It failed.
    Threw,
    /// Its process died.
    Died,
}

impl Execution {
    /// Whether the handler runs, or its finish is not answered yet.
    pub fn is_open(&self) -> bool {
        self.outcome.is_none() && !matches!(self.left, Some((_, Ended::Died)))
    }
}

/// The executions of a history, in order of entry.
pub fn executions(entries: &[Entry]) -> Vec<Execution> {
    let mut found = Vec::new();
    for entry in entries {
        fold(&mut found, entry);
    }
    found
}

/// Takes one more line into account.
pub fn fold(found: &mut Vec<Execution>, entry: &Entry) {
    match &entry.event {
        Event::Point { worker, execution, point: Point::HandlerStarted, .. } => {
            found.extend(entered(entry, worker, *execution));
        }
        Event::Point { worker, execution, point, .. } => {
            if let Some(open) = latest(found, worker, *execution) {
                open.last_point = *point;
            }
        }
        Event::Answered { worker, execution, point, answer } => {
            let ended = match (answer, point) {
                (Answer::Throw { .. } | Answer::Panic, _) => Ended::Threw,
                (Answer::MoveToDelayed { .. }, _) | (Answer::Go | Answer::Block { .. }, Point::HandlerReturned) => {
                    Ended::Returned
                }
                (Answer::Go | Answer::Block { .. } | Answer::Exit { .. }, _) => return,
            };
            leave(latest(found, worker, *execution), entry.n, ended);
        }
        Event::Settled { worker, execution, outcome, .. } => {
            // All of that number: a worker that enters one execution twice settles it once.
            for open in found.iter_mut().filter(|open| open.worker == *worker && open.number == *execution) {
                open.outcome = Some(*outcome);
                // A handler may also fail by itself, between two points.
                leave(Some(open), entry.n, Ended::Threw);
            }
        }
        Event::Exited { worker, .. } => {
            for open in found.iter_mut().filter(|open| open.worker == *worker && open.outcome.is_none()) {
                match open.left {
                    // The handler was through, but its finish will never be answered.
                    Some((at, _)) => open.left = Some((at, Ended::Died)),
                    None => open.left = Some((entry.n, Ended::Died)),
                }
            }
        }
        _ => {}
    }
}

fn entered(entry: &Entry, worker: &str, number: u32) -> Option<Execution> {
    let Event::Point { operation, job, attempts_made, attempts_started, point, .. } = &entry.event else {
        return None;
    };
    Some(Execution {
        worker: worker.to_owned(),
        number,
        operation: operation.clone(),
        job: job.clone(),
        attempts_made: *attempts_made,
        attempts_started: *attempts_started,
        entered: entry.n,
        last_point: *point,
        left: None,
        outcome: None,
    })
}

fn latest<'a>(found: &'a mut [Execution], worker: &str, number: u32) -> Option<&'a mut Execution> {
    found.iter_mut().rev().find(|open| open.worker == worker && open.number == number)
}

fn leave(open: Option<&mut Execution>, at: u64, ended: Ended) {
    if let Some(open) = open
        && open.left.is_none()
    {
        open.left = Some((at, ended));
    }
}

/// The most handlers that were open at once among these executions.
pub fn overlap<'a>(executions: impl Iterator<Item = &'a Execution>) -> u64 {
    let mut edges: Vec<(u64, i64)> = Vec::new();
    for execution in executions {
        edges.push((execution.entered, 1));
        if let Some((left, _)) = execution.left {
            edges.push((left, -1));
        }
    }
    edges.sort_unstable();
    let (mut open, mut most) = (0, 0);
    for (_, step) in edges {
        open += step;
        most = most.max(open);
    }
    u64::try_from(most).unwrap_or(0)
}
