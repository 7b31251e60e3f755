//! A condition that opens once: `A dead`, or a place reached for the nth time.

use crate::fault::Condition;

use super::Happening;

/// Waits for one condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    condition: Condition,
    hits: u32,
    open: bool,
}

impl Gate {
    /// Closed until the condition holds.
    pub fn new(condition: Condition) -> Self {
        Self { condition, hits: 0, open: false }
    }

    /// Whether the condition has held.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// The condition, for messages.
    pub fn condition(&self) -> &Condition {
        &self.condition
    }

    /// How long after the gate opens the condition really holds, ms. Time is the owner's business.
    pub fn delay_ms(&self) -> u64 {
        match &self.condition {
            Condition::After(ms, _) => *ms,
            _ => 0,
        }
    }

    /// Takes a happening into account; true if it opens the gate now.
    pub fn notice(&mut self, happening: &Happening) -> bool {
        let opens = !self.open && met(&self.condition, &mut self.hits, happening);
        self.open |= opens;
        opens
    }
}

fn met(condition: &Condition, hits: &mut u32, happening: &Happening) -> bool {
    match (condition, happening) {
        (Condition::After(_, condition), _) => met(condition, hits, happening),
        (Condition::Dead(wanted), Happening::Dead { worker })
        | (Condition::Stopped(wanted), Happening::Stopped { worker })
        | (Condition::Settled(wanted), Happening::Settled { worker }) => wanted == worker,
        (Condition::Reached(trigger), Happening::Reached { worker, place, operation, .. }) => {
            let selected = trigger.selects(worker.as_deref(), *place, operation.as_deref());
            *hits += u32::from(selected);
            selected && *hits == trigger.hit
        }
        _ => false,
    }
}
