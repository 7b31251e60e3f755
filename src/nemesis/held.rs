//! Handlers that are parked longer than it takes to look for faults, and what each waits for.

use super::{Gate, Happening, Parked};
use crate::fault::Answer;

#[derive(Debug)]
enum Reason {
    Fired(usize),
    Continued,
    Gate(Gate),
}

/// Parked handlers by worker and execution. One may wait for several things.
#[derive(Debug, Default)]
pub(super) struct Held {
    waiting: Vec<(String, u32, Reason)>,
    /// What a fault wants to tell a handler when nothing holds it any more.
    answers: Vec<(String, u32, usize, Answer)>,
}

/// A handler that may go on.
#[derive(Debug, PartialEq, Eq)]
pub struct Freed {
    /// The worker.
    pub worker: String,
    /// Its execution.
    pub execution: u32,
    /// The answer that was kept for it, and the fault whose deed that is.
    pub answer: Option<(usize, Answer)>,
}

impl Held {
    /// Adds what a strike wants for the handler that is parked there.
    pub(super) fn add(&mut self, worker: &str, execution: u32, fault: usize, parked: &Parked) {
        let reason = match parked {
            Parked::GoesOn | Parked::Taken => return,
            Parked::UntilFired => Reason::Fired(fault),
            Parked::UntilContinued => Reason::Continued,
            Parked::Until(condition) => Reason::Gate(Gate::new(condition.clone())),
        };
        self.waiting.push((worker.to_owned(), execution, reason));
    }

    /// A handler of a stopped worker, whose point came before the stop.
    pub(super) fn add_stopped(&mut self, worker: &str, execution: u32) {
        self.waiting.push((worker.to_owned(), execution, Reason::Continued));
    }

    /// The first answer for a handler is kept.
    pub(super) fn keep_answer(&mut self, worker: &str, execution: u32, fault: usize, answer: Answer) {
        if !self.answers.iter().any(|(held, number, ..)| held == worker && *number == execution) {
            self.answers.push((worker.to_owned(), execution, fault, answer));
        }
    }

    /// The handlers that wait for nothing any more since this happened and these faults fired.
    pub(super) fn release(&mut self, happening: &Happening, fired: &[usize]) -> Vec<Freed> {
        let over = |worker: &str, reason: &mut Reason| match reason {
            Reason::Fired(fault) => fired.contains(fault),
            Reason::Continued => matches!(happening, Happening::Continued { worker: one } if one == worker),
            Reason::Gate(gate) => gate.notice(happening),
        };
        let (mut freed, mut waiting) = (Vec::new(), Vec::new());
        for (worker, execution, mut reason) in std::mem::take(&mut self.waiting) {
            if over(&worker, &mut reason) {
                freed.push((worker, execution));
            } else {
                waiting.push((worker, execution, reason));
            }
        }
        self.waiting = waiting;
        freed.retain(|(worker, execution)| !self.has(worker, *execution));
        freed.dedup();
        freed.into_iter().map(|(worker, execution)| self.free(worker, execution)).collect()
    }

    fn free(&mut self, worker: String, execution: u32) -> Freed {
        let kept = self.answers.iter().position(|(held, number, ..)| *held == worker && *number == execution);
        let answer = kept.map(|at| self.answers.swap_remove(at)).map(|(_, _, fault, answer)| (fault, answer));
        Freed { worker, execution, answer }
    }

    pub(super) fn has(&self, worker: &str, execution: u32) -> bool {
        self.waiting.iter().any(|(held, number, _)| held == worker && *number == execution)
    }
}
