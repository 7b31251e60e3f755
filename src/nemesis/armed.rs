//! The armed faults of one case: which have struck, which have fired, which handlers they hold.

use super::held::{Freed, Held};
use super::{Confirm, Gate, Happening, Hit, Parked, Strike, strike};
use crate::fault::{Answer, Condition, Fault};

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
    held: Held,
}

impl Nemesis {
    /// Arms the faults.
    pub fn new(faults: &[Fault]) -> Self {
        let arm = |fault: &Fault| (fault.clone(), Progress::Armed(Gate::new(Condition::Reached(fault.at.clone()))));
        Self { faults: faults.iter().map(arm).collect(), held: Held::default() }
    }

    /// Takes a happening into account: the faults that strike now, in file order.
    pub fn notice(&mut self, happening: &Happening) -> Vec<Struck> {
        let Happening::Reached { worker, operation, execution, job, .. } = happening else {
            return Vec::new();
        };
        let hit = Hit {
            worker: worker.as_deref(),
            execution: *execution,
            operation: operation.as_deref(),
            job: job.as_deref(),
        };
        let mut struck = Vec::new();
        for (number, (fault, progress)) in self.faults.iter_mut().enumerate() {
            if let Progress::Armed(gate) = progress
                && gate.notice(happening)
            {
                let strike = strike(&fault.action, hit);
                *progress = Progress::Struck(strike.confirm.clone());
                if let (Some(worker), Some(execution)) = (worker, execution) {
                    self.held.add(worker, *execution, number, &strike.parked);
                }
                struck.push(Struck { fault: number, strike });
            }
        }
        struck
    }

    /// The faults that count as fired since this happened. The answer to one question confirms one fault.
    pub fn confirm(&mut self, happening: &Happening) -> Vec<usize> {
        let answers_one = matches!(happening, Happening::Submitted { .. } | Happening::KeyDeleted { .. });
        let mut taken = false;
        self.fire(|_, confirm| match confirm {
            Confirm::Now => false,
            Confirm::Happens(wanted) => {
                let confirmed = wanted == happening && !(answers_one && taken);
                taken |= confirmed;
                confirmed
            }
            Confirm::Holds(gate) => gate.notice(happening),
        })
    }

    /// Those of these faults that count as fired since their orders are carried out.
    pub fn carried_out(&mut self, done: &[usize]) -> Vec<usize> {
        self.fire(|number, confirm| done.contains(&number) && *confirm == Confirm::Now)
    }

    fn fire(&mut self, mut confirmed: impl FnMut(usize, &mut Confirm) -> bool) -> Vec<usize> {
        let mut fired = Vec::new();
        for (number, (_, progress)) in self.faults.iter_mut().enumerate() {
            if let Progress::Struck(confirm) = progress
                && confirmed(number, confirm)
            {
                *progress = Progress::Fired;
                fired.push(number);
            }
        }
        fired
    }

    /// A handler that is parked in a worker which is stopped: it waits for `cont`.
    pub fn hold_stopped(&mut self, worker: &str, execution: u32) {
        self.held.add_stopped(worker, execution);
    }

    /// Whether a parked handler is held, so that a fault's answer has to wait.
    pub fn holds(&self, worker: &str, execution: u32) -> bool {
        self.held.has(worker, execution)
    }

    /// Keeps a fault's answer for a handler that is held. The first one counts.
    pub fn keep_answer(&mut self, worker: &str, execution: u32, fault: usize, answer: Answer) {
        self.held.keep_answer(worker, execution, fault, answer);
    }

    /// The parked handlers that may go on now.
    pub fn release(&mut self, happening: &Happening, fired: &[usize]) -> Vec<Freed> {
        self.held.release(happening, fired)
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

impl Struck {
    /// Whether the handler that is parked there goes on at once.
    pub fn lets_go_on(&self) -> bool {
        self.strike.parked == Parked::GoesOn
    }
}

#[cfg(test)]
mod tests {
    use super::super::Order;
    use super::*;
    use crate::fault::{Action, Place, Point, QueueEvent, Trigger};
    use crate::process::Signal;

    fn fault(worker: Option<&str>, place: Place, hit: u32, action: Action) -> Fault {
        Fault { at: Trigger { worker: worker.map(str::to_owned), place, operation: None, hit }, action }
    }

    fn parked(worker: &str, point: Point) -> Happening {
        Happening::Reached {
            worker: Some(worker.into()),
            place: Place::Point(point),
            operation: Some("op".into()),
            execution: Some(7),
            job: Some("1".into()),
        }
    }

    fn queue(event: QueueEvent) -> Happening {
        Happening::Reached {
            worker: None,
            place: Place::Queue(event),
            operation: Some("op".into()),
            execution: None,
            job: Some("1".into()),
        }
    }

    fn dead(worker: &str) -> Happening {
        Happening::Dead { worker: worker.into() }
    }

    fn free(answer: Option<(usize, Answer)>) -> Freed {
        Freed { worker: "A".into(), execution: 7, answer }
    }

    const COMMITTED: Place = Place::Point(Point::EffectCommitted);

    #[test]
    fn a_kill_strikes_on_its_hit_and_fires_with_the_death() {
        let mut nemesis = Nemesis::new(&[fault(Some("A"), COMMITTED, 2, Action::Kill(None))]);
        assert_eq!(nemesis.notice(&parked("A", Point::EffectCommitted)), []);
        assert_eq!(nemesis.notice(&parked("B", Point::EffectCommitted)), []);
        assert_eq!(nemesis.notice(&parked("A", Point::HandlerReturned)), []);
        let struck = nemesis.notice(&parked("A", Point::EffectCommitted));
        assert_eq!(struck[0].strike.orders, [Order::Kill { worker: "A".into() }]);
        assert!(!struck[0].lets_go_on(), "a handler that is to die must not be answered");
        assert!(nemesis.carried_out(&[0, 1]).is_empty(), "a kill is not fired before the death");
        assert!(nemesis.confirm(&dead("B")).is_empty());
        assert_eq!(nemesis.confirm(&dead("A")), [0]);
        assert!(nemesis.release(&dead("A"), &[0]).is_empty(), "nobody answers the dead");
        assert_eq!(nemesis.waiting_for(), None);
    }

    #[test]
    fn a_throw_answers_the_parked_execution_and_fires_at_once() {
        let mut nemesis = Nemesis::new(&[fault(None, COMMITTED, 1, Action::Throw(false))]);
        let struck = nemesis.notice(&parked("A", Point::EffectCommitted));
        let answer = Answer::Throw { message: "thrown by the lab".into(), unrecoverable: false };
        assert_eq!(struck[0].strike.orders, [Order::Answer { worker: "A".into(), execution: 7, answer }]);
        assert_eq!(nemesis.carried_out(&[0, 1]), [0]);
        assert_eq!(nemesis.notice(&parked("A", Point::EffectCommitted)), [], "a fault strikes once");
    }

    #[test]
    fn a_duplicate_submits_the_operation_of_the_event_and_fires_when_the_call_returns() {
        let mut nemesis = Nemesis::new(&[fault(None, Place::Queue(QueueEvent::Added), 1, Action::Duplicate)]);
        let struck = nemesis.notice(&queue(QueueEvent::Added));
        assert_eq!(struck[0].strike.orders, [Order::Submit { operation: "op".into() }]);
        assert!(nemesis.waiting_for().is_some_and(|text| text.contains("to be confirmed")));
        assert_eq!(nemesis.confirm(&Happening::Submitted { operation: "op".into() }), [0]);
    }

    #[test]
    fn a_stopped_worker_is_answered_after_cont_and_not_before() {
        let mut nemesis = Nemesis::new(&[
            fault(Some("A"), COMMITTED, 1, Action::Stop(None)),
            fault(None, Place::Queue(QueueEvent::Completed), 1, Action::Cont(Some("A".into()))),
        ]);
        let struck = nemesis.notice(&parked("A", Point::EffectCommitted));
        assert_eq!(struck[0].strike.orders, [Order::Signal { worker: "A".into(), signal: Signal::SIGSTOP }]);
        assert!(nemesis.carried_out(&[0, 1]).is_empty(), "a sent signal is not a stopped process");
        let stopped = Happening::Stopped { worker: "A".into() };
        assert_eq!(nemesis.confirm(&stopped), [0]);
        assert!(nemesis.release(&stopped, &[0]).is_empty());
        assert_eq!(nemesis.notice(&queue(QueueEvent::Completed)).len(), 1);
        assert_eq!(nemesis.carried_out(&[0, 1]), [1]);
        assert_eq!(nemesis.release(&Happening::Continued { worker: "A".into() }, &[]), [free(None)]);
    }

    #[test]
    fn a_handler_that_is_held_for_two_reasons_waits_for_both() {
        let until_settled = Condition::Settled("B".into());
        let mut nemesis = Nemesis::new(&[
            fault(Some("A"), COMMITTED, 1, Action::Hold(until_settled)),
            fault(Some("A"), COMMITTED, 1, Action::DelKey(crate::fault::JobKey::Lock)),
        ]);
        assert_eq!(nemesis.notice(&parked("A", Point::EffectCommitted)).len(), 2);
        let deleted = Happening::KeyDeleted { job: "1".into() };
        assert_eq!(nemesis.confirm(&deleted), [1]);
        assert!(nemesis.release(&deleted, &[1]).is_empty());
        let settled = Happening::Settled { worker: "B".into() };
        assert_eq!(nemesis.confirm(&settled), [0]);
        assert_eq!(nemesis.release(&settled, &[0]), [free(None)]);
    }

    #[test]
    fn an_answer_waits_for_what_holds_the_handler_and_a_second_one_is_not_given() {
        let mut nemesis = Nemesis::new(&[
            fault(Some("A"), COMMITTED, 1, Action::Throw(false)),
            fault(None, COMMITTED, 1, Action::Panic),
            fault(Some("A"), COMMITTED, 1, Action::Hold(Condition::Settled("B".into()))),
        ]);
        nemesis.notice(&parked("A", Point::EffectCommitted));
        assert!(nemesis.holds("A", 7) && !nemesis.holds("A", 8));
        let throw = Answer::Throw { message: "thrown by the lab".into(), unrecoverable: false };
        nemesis.keep_answer("A", 7, 0, throw.clone());
        nemesis.keep_answer("A", 7, 1, Answer::Panic);
        assert!(nemesis.carried_out(&[]).is_empty(), "an answer that waits is not given");
        let settled = Happening::Settled { worker: "B".into() };
        assert_eq!(nemesis.confirm(&settled), [2]);
        assert_eq!(nemesis.release(&settled, &[2]), [free(Some((0, throw)))]);
        assert_eq!(nemesis.carried_out(&[0]), [0]);
        assert!(nemesis.waiting_for().is_some_and(|text| text.contains("panic` to be confirmed")));
    }

    #[test]
    fn one_deleted_key_and_one_returned_call_confirm_one_fault_each() {
        let twice = |action: Action| {
            Nemesis::new(&[fault(Some("A"), COMMITTED, 1, action.clone()), fault(None, COMMITTED, 1, action)])
        };
        let deleted = Happening::KeyDeleted { job: "1".into() };
        let returned = Happening::Submitted { operation: "op".into() };
        let table = [(Action::DelKey(crate::fault::JobKey::Lock), deleted), (Action::Duplicate, returned)];
        for (action, happening) in table {
            let mut nemesis = twice(action);
            assert_eq!(nemesis.notice(&parked("A", Point::EffectCommitted)).len(), 2);
            assert_eq!(nemesis.confirm(&happening), [0]);
            assert_eq!(nemesis.confirm(&happening), [1]);
        }
    }

    #[test]
    fn an_action_without_an_object_never_fires() {
        let mut nemesis = Nemesis::new(&[fault(None, Place::Queue(QueueEvent::Added), 1, Action::Kill(None))]);
        assert_eq!(nemesis.notice(&queue(QueueEvent::Added)).len(), 1);
        assert!(nemesis.carried_out(&[0, 1]).is_empty());
        assert!(nemesis.waiting_for().is_some());
    }
}
