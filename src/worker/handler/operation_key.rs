//! A durable operation key, claimed in the transaction that writes the effect (article A, claim 10): lock the command,
//! return its result if it is complete, insert the unique ledger row, change the account, complete the command.

use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::Execution;
use crate::fault::Point;
use crate::worker::failpoint::Thrown;

pub(super) async fn run(execution: &Execution, client: &mut Client) -> Result<(), Thrown> {
    let operation = &execution.operation;
    let transaction = client.transaction().await?;
    let command = transaction
        .query_typed_opt(
            "SELECT amount, completed FROM commands WHERE operation = $1 FOR UPDATE",
            &[(operation, Type::TEXT)],
        )
        .await?
        .ok_or_else(|| Thrown::error(format!("there is no command for operation {operation}")))?;
    let (amount, completed): (i64, bool) = (command.get(0), command.get(1));
    execution.park_claimed(Point::ClaimChecked, !completed).await?;
    if completed {
        return Ok(());
    }
    let claimed = transaction
        .execute_typed(
            "INSERT INTO ledger (operation, amount) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            &[(operation, Type::TEXT), (&amount, Type::INT8)],
        )
        .await?;
    if claimed == 0 {
        // The key exists but the command is not complete: somebody wrote one without the other. Never skip that.
        return Err(Thrown::error(format!("operation {operation} is claimed but its command is not complete")));
    }
    execution.park_claimed(Point::ClaimTaken, true).await?;
    transaction
        .execute_typed(
            "UPDATE accounts SET balance = balance + $2, version = version + 1 WHERE operation = $1",
            &[(operation, Type::TEXT), (&amount, Type::INT8)],
        )
        .await?;
    transaction
        .execute_typed("UPDATE commands SET completed = true WHERE operation = $1", &[(operation, Type::TEXT)])
        .await?;
    execution.park(Point::EffectWritten).await?;
    transaction.commit().await?;
    execution.park(Point::EffectCommitted).await
}
