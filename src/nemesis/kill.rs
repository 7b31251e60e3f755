//! SIGKILL to the worker's whole process tree. A handler that is parked there is never answered: it dies where it is.
//! Fired when the death is confirmed by the wait status.

use super::{Confirm, Happening, Hit, Order, Parked, Strike};

pub(super) fn strike(target: Option<&str>, hit: Hit<'_>) -> Option<Strike> {
    let worker = target?.to_owned();
    Some(Strike {
        orders: vec![Order::Kill { worker: worker.clone() }],
        confirm: Confirm::Happens(Happening::Dead { worker: worker.clone() }),
        parked: if hit.worker == target { Parked::Taken } else { Parked::GoesOn },
        worker: Some(worker),
    })
}
