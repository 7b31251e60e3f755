//! What a job does: it credits an account. One file per way to do it; a new protection is one file and one row here.
//!
//! The effect is two writes that belong together: a row in `ledger` and the change of `accounts`. Each handler parks at
//! the points that it has, in the order of [`Point::ALL`].

mod none;
mod operation_key;
mod planted;

use tokio_postgres::Client;

use super::failpoint::{Thrown, Wall};
use crate::fault::{Defect, Point, Protection};
use crate::protocol::FromSubject;

/// The execution of one job, as its handler sees it.
#[derive(Debug, Clone)]
pub(super) struct Execution {
    pub(super) wall: Wall,
    pub(super) case: String,
    pub(super) number: u32,
    pub(super) operation: String,
    pub(super) job: String,
    pub(super) attempts_made: u32,
    pub(super) attempts_started: u32,
}

impl Execution {
    /// Stops at a point until the lab answers.
    pub(super) async fn park(&self, point: Point) -> Result<(), Thrown> {
        self.park_with(point, None).await
    }

    /// The same, telling whether the claim was inserted or existed.
    pub(super) async fn park_claimed(&self, point: Point, claimed: bool) -> Result<(), Thrown> {
        self.park_with(point, Some(claimed)).await
    }

    async fn park_with(&self, point: Point, claimed: Option<bool>) -> Result<(), Thrown> {
        let message = FromSubject::Point {
            case: self.case.clone(),
            execution: self.number,
            point,
            operation: self.operation.clone(),
            job: self.job.clone(),
            attempts_made: self.attempts_made,
            attempts_started: self.attempts_started,
            claimed,
        };
        self.wall.park(self.number, message).await
    }
}

/// Runs the handler of a protection between `handler.started` and `handler.returned`.
pub(super) async fn run(
    protection: Protection,
    defect: Option<Defect>,
    execution: &Execution,
    client: &mut Client,
) -> Result<(), Thrown> {
    match defect {
        Some(Defect::NoConstraint) => return none::run(execution, client).await,
        Some(Defect::PartialEffect) => return planted::run(execution, client, 1, 0).await,
        Some(Defect::LostEffect) => return planted::run(execution, client, 0, 0).await,
        Some(Defect::DoubleWrite) => return planted::run(execution, client, 2, 2).await,
        _ => {}
    }
    match protection {
        // The job id is the producer's business: the handler itself is as unprotected as without it.
        Protection::None | Protection::JobId => none::run(execution, client).await,
        Protection::OperationKey => operation_key::run(execution, client).await,
    }
}
