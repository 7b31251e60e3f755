//! Nothing happens; the fault has fired at once. What an action becomes where it has no object, and a stand-in for tests.

use super::{Confirm, Strike};

pub(super) fn strike() -> Strike {
    Strike { orders: Vec::new(), confirm: Confirm::Now, holds: false, worker: None }
}
