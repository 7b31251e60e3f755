//! The producer submits the operation again. Fired when its call has returned.

use super::{Confirm, Hit, Order, Strike, noop};

pub(super) fn strike(hit: Hit<'_>) -> Strike {
    let Some(operation) = hit.operation.map(str::to_owned) else {
        return noop::strike();
    };
    Strike {
        orders: vec![Order::Submit { operation: operation.clone() }],
        confirm: Confirm::Submitted { operation },
        holds: false,
        worker: None,
    }
}
