//! Handlers that are wrong on purpose, for the self-test: they pass the points of an unprotected handler and write
//! something else than they should.

use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::Execution;
use crate::fault::Point;
use crate::worker::failpoint::Thrown;

/// Writes so many ledger rows and so many credits.
pub(super) async fn run(execution: &Execution, client: &mut Client, rows: u32, credits: u32) -> Result<(), Thrown> {
    let operation = &execution.operation;
    let transaction = client.transaction().await?;
    for _ in 0..rows {
        let row = "INSERT INTO ledger (operation, amount) SELECT operation, amount FROM commands WHERE operation = $1";
        transaction.execute_typed(row, &[(operation, Type::TEXT)]).await?;
    }
    for _ in 0..credits {
        let credit = "UPDATE accounts SET balance = balance + amount, version = version + 1 FROM commands
                      WHERE accounts.operation = $1 AND commands.operation = $1";
        transaction.execute_typed(credit, &[(operation, Type::TEXT)]).await?;
    }
    execution.park(Point::EffectWritten).await?;
    transaction.commit().await?;
    execution.park(Point::EffectCommitted).await
}
