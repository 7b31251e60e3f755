//! The parked handler fails where it is. Fired with the answer: the handler can do nothing else with it.

use super::{Confirm, Hit, Order, Strike, noop};
use crate::fault::Answer;

/// What the queue stores as the failure's text.
const MESSAGE: &str = "thrown by the lab";

pub(super) fn strike(hit: Hit<'_>) -> Strike {
    let (Some(worker), Some(execution)) = (hit.worker, hit.execution) else {
        return noop::strike();
    };
    let answer = Answer::Throw { message: MESSAGE.to_owned() };
    Strike {
        orders: vec![Order::Answer { worker: worker.to_owned(), execution, answer }],
        confirm: Confirm::Now,
        holds: true,
        worker: Some(worker.to_owned()),
    }
}
