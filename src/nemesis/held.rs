//! Handlers that are parked longer than it takes to look for faults, and what each waits for.

use super::{Gate, Happening, Parked};

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

    /// The handlers that wait for nothing any more since this happened and these faults fired.
    pub(super) fn release(&mut self, happening: &Happening, fired: &[usize]) -> Vec<(String, u32)> {
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
        freed
    }

    fn has(&self, worker: &str, execution: u32) -> bool {
        self.waiting.iter().any(|(held, number, _)| held == worker && *number == execution)
    }
}
