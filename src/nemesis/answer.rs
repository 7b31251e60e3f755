//! The parked handler is told to do something else than to go on: throw, panic, exit, block, move its job. Fired with
//! the answer, since the handler can do nothing else with it; an exit with the confirmed death.

use super::{Confirm, Happening, Hit, Order, Parked, Strike};
use crate::fault::Answer;

pub(super) fn strike(hit: Hit<'_>, answer: Answer) -> Option<Strike> {
    let (worker, execution) = (hit.worker?.to_owned(), hit.execution?);
    let confirm = match answer {
        Answer::Exit { .. } => Confirm::Happens(Happening::Dead { worker: worker.clone() }),
        _ => Confirm::Now,
    };
    let orders = vec![Order::Answer { worker: worker.clone(), execution, answer }];
    Some(Strike { orders, confirm, parked: Parked::Taken, worker: Some(worker) })
}
