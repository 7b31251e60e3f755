//! The armed faults of one case: which have struck, which have fired.

use super::{Confirm, Gate, Happening, Hit, Strike, strike};
use crate::fault::{Condition, Fault};

#[derive(Debug)]
enum Progress {
    Armed(Gate),
    Struck(Confirm),
    Fired,
}

/// A fault that was hit just now.
#[derive(Debug, PartialEq, Eq)]
pub struct Struck {
    /// Its number.
    pub fault: usize,
    /// What it does.
    pub strike: Strike,
}

/// The faults of one case.
#[derive(Debug)]
pub struct Nemesis {
    faults: Vec<(Fault, Progress)>,
}

impl Nemesis {
    /// Arms the faults.
    pub fn new(faults: &[Fault]) -> Self {
        let arm = |fault: &Fault| (fault.clone(), Progress::Armed(Gate::new(Condition::Reached(fault.at.clone()))));
        Self { faults: faults.iter().map(arm).collect() }
    }

    /// Takes a happening into account: the faults that strike now, in file order.
    pub fn notice(&mut self, happening: &Happening) -> Vec<Struck> {
        let Happening::Reached { worker, operation, execution, .. } = happening else {
            return Vec::new();
        };
        let hit = Hit { worker: worker.as_deref(), execution: *execution, operation: operation.as_deref() };
        let mut struck = Vec::new();
        for (number, (fault, progress)) in self.faults.iter_mut().enumerate() {
            if let Progress::Armed(gate) = progress
                && gate.notice(happening)
            {
                let strike = strike(&fault.action, hit);
                *progress = Progress::Struck(strike.confirm.clone());
                struck.push(Struck { fault: number, strike });
            }
        }
        struck
    }

    /// The faults that count as fired since this happened; call with `None` after the orders of a strike are carried
    /// out.
    pub fn confirm(&mut self, happening: Option<&Happening>) -> Vec<usize> {
        let mut fired = Vec::new();
        for (number, (_, progress)) in self.faults.iter_mut().enumerate() {
            if let Progress::Struck(confirm) = progress
                && confirmed(confirm, happening)
            {
                *progress = Progress::Fired;
                fired.push(number);
            }
        }
        fired
    }

    /// The first fault that has not fired, as text.
    pub fn waiting_for(&self) -> Option<String> {
        self.faults.iter().find_map(|(fault, progress)| match progress {
            Progress::Armed(_) => Some(format!("fault `{}: {}` to strike", fault.at, fault.action)),
            Progress::Struck(_) => Some(format!("fault `{}: {}` to be confirmed", fault.at, fault.action)),
            Progress::Fired => None,
        })
    }
}

fn confirmed(confirm: &Confirm, happening: Option<&Happening>) -> bool {
    match (confirm, happening) {
        (Confirm::Now, None) => true,
        (Confirm::Dead { worker: wanted }, Some(Happening::Dead { worker })) => wanted == worker,
        (Confirm::Submitted { operation: wanted }, Some(Happening::Submitted { operation })) => wanted == operation,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Order;
    use super::*;
    use crate::fault::{Action, Answer, Place, Point, QueueEvent, Trigger};

    fn fault(worker: Option<&str>, place: Place, hit: u32, action: Action) -> Fault {
        Fault { at: Trigger { worker: worker.map(str::to_owned), place, operation: None, hit }, action }
    }

    fn parked(worker: &str, point: Point) -> Happening {
        Happening::Reached {
            worker: Some(worker.into()),
            place: Place::Point(point),
            operation: Some("op".into()),
            execution: Some(7),
        }
    }

    #[test]
    fn a_kill_strikes_on_its_hit_and_fires_with_the_death() {
        let at = Place::Point(Point::EffectCommitted);
        let mut nemesis = Nemesis::new(&[fault(Some("A"), at, 2, Action::Kill { worker: None })]);
        assert_eq!(nemesis.notice(&parked("A", Point::EffectCommitted)), []);
        assert_eq!(nemesis.notice(&parked("B", Point::EffectCommitted)), []);
        assert_eq!(nemesis.notice(&parked("A", Point::HandlerReturned)), []);
        let struck = nemesis.notice(&parked("A", Point::EffectCommitted));
        assert_eq!(struck[0].strike.orders, [Order::Kill { worker: "A".into() }]);
        assert!(struck[0].strike.holds, "a handler that is to die must not be answered");
        assert!(nemesis.confirm(None).is_empty(), "a kill is not fired before the death");
        assert!(nemesis.confirm(Some(&Happening::Dead { worker: "B".into() })).is_empty());
        assert_eq!(nemesis.confirm(Some(&Happening::Dead { worker: "A".into() })), [0]);
        assert_eq!(nemesis.waiting_for(), None);
    }

    #[test]
    fn a_throw_answers_the_parked_execution_and_fires_at_once() {
        let at = Place::Point(Point::EffectCommitted);
        let mut nemesis = Nemesis::new(&[fault(None, at, 1, Action::Throw)]);
        let struck = nemesis.notice(&parked("A", Point::EffectCommitted));
        let answer = Answer::Throw { message: "thrown by the lab".into() };
        assert_eq!(struck[0].strike.orders, [Order::Answer { worker: "A".into(), execution: 7, answer }]);
        assert_eq!(nemesis.confirm(None), [0]);
        assert_eq!(nemesis.notice(&parked("A", Point::EffectCommitted)), [], "a fault strikes once");
    }

    #[test]
    fn a_duplicate_submits_the_operation_of_the_event_and_fires_when_the_call_returns() {
        let mut nemesis = Nemesis::new(&[fault(None, Place::Queue(QueueEvent::Added), 1, Action::Duplicate)]);
        let added = Happening::Reached {
            worker: None,
            place: Place::Queue(QueueEvent::Added),
            operation: Some("op".into()),
            execution: None,
        };
        let struck = nemesis.notice(&added);
        assert_eq!(struck[0].strike.orders, [Order::Submit { operation: "op".into() }]);
        assert!(!struck[0].strike.holds);
        assert!(nemesis.waiting_for().is_some_and(|text| text.contains("to be confirmed")));
        assert_eq!(nemesis.confirm(Some(&Happening::Submitted { operation: "op".into() })), [0]);
    }
}
