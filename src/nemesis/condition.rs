//! A condition that opens once: `A dead`, or a place reached for the nth time.

use crate::fault::Condition;

use super::Happening;

/// Waits for one condition.
#[derive(Debug, Clone)]
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

    /// Takes a happening into account; true if it opens the gate now.
    pub fn notice(&mut self, happening: &Happening) -> bool {
        let met = match (&self.condition, happening) {
            (Condition::Dead(wanted), Happening::Dead { worker }) => wanted == worker,
            (Condition::Reached(trigger), Happening::Reached { worker, place, operation, .. }) => {
                let selected = trigger.selects(worker.as_deref(), *place, operation.as_deref());
                self.hits += u32::from(selected);
                selected && self.hits == trigger.hit
            }
            _ => false,
        };
        let opens = met && !self.open;
        self.open |= met;
        opens
    }
}
