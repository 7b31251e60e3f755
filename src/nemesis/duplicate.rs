//! The producer submits the operation again. Fired when its call has returned; a handler that is parked there waits for
//! that.

use super::{Confirm, Happening, Hit, Order, Parked, Strike};

pub(super) fn strike(hit: Hit<'_>) -> Option<Strike> {
    let operation = hit.operation?.to_owned();
    Some(Strike {
        orders: vec![Order::Submit { operation: operation.clone() }],
        confirm: Confirm::Happens(Happening::Submitted { operation }),
        parked: Parked::UntilFired,
        worker: None,
    })
}
