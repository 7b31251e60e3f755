//! SIGKILL to the worker's whole process tree. A handler that is parked there is never answered: it dies where it is.
//! Fired when the death is confirmed by the wait status.

use super::{Confirm, Hit, Order, Strike, noop};

pub(super) fn strike(named: Option<&str>, hit: Hit<'_>) -> Strike {
    let Some(worker) = named.or(hit.worker).map(str::to_owned) else {
        return noop::strike();
    };
    Strike {
        orders: vec![Order::Kill { worker: worker.clone() }],
        confirm: Confirm::Dead { worker: worker.clone() },
        holds: hit.worker == Some(&worker),
        worker: Some(worker),
    }
}
