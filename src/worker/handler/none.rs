//! No protection: the credit is written every time the handler runs. The transaction keeps the two writes together, but
//! nothing remembers that the operation was done.

use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::Execution;
use crate::fault::Point;
use crate::worker::failpoint::Thrown;

pub(super) async fn run(execution: &Execution, client: &mut Client) -> Result<(), Thrown> {
    let transaction = client.transaction().await?;
    let operation = &execution.operation;
    let amount: i64 = transaction
        .query_typed_one("INSERT INTO ledger (operation, amount) SELECT operation, amount FROM commands WHERE operation = $1 RETURNING amount", &[(operation, Type::TEXT)])
        .await?
        .get(0);
    transaction
        .execute_typed(
            "UPDATE accounts SET balance = balance + $2, version = version + 1 WHERE operation = $1",
            &[(operation, Type::TEXT), (&amount, Type::INT8)],
        )
        .await?;
    execution.park(Point::EffectWritten).await?;
    transaction.commit().await?;
    execution.park(Point::EffectCommitted).await
}
