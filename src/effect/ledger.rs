//! Effects in PostgreSQL: the tables of one case, made before it, read after it, in a schema of its own.
//!
//! An effect is one `ledger` row and the matching change of `accounts`. The two are counted separately: where they
//! differ, an effect is only half there.

use std::time::{Duration, Instant};

use anyhow::Context;
use tokio_postgres::Client;

/// What every operation credits. The unit that turns a balance back into a number of credits.
const AMOUNT: i64 = 100;
/// How long the backends of dead workers may take to go away.
const BACKENDS_WAIT: Duration = Duration::from_secs(20);
/// How often they are looked for.
const BACKENDS_POLL: Duration = Duration::from_millis(2);

/// What reached the world for one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationEffect {
    /// The operation.
    pub operation: String,
    /// How often the world changed.
    pub effects: u64,
    /// Effects that are only half there: rows without their credit, or credits without their row.
    pub partial: u64,
}

/// The tables of one case.
#[derive(Debug)]
pub struct Ledger<'a> {
    client: &'a Client,
    schema: String,
}

impl<'a> Ledger<'a> {
    /// Makes the schema and its tables, with one command and one account per operation. `unique_key` adds the
    /// constraint that a durable operation key rests on.
    ///
    /// # Errors
    /// PostgreSQL refuses.
    pub async fn create(
        client: &'a Client,
        schema: &str,
        unique_key: bool,
        operations: &[&str],
    ) -> anyhow::Result<Self> {
        // The protection *is* this constraint: without it the same handler writes twice.
        let unique = if unique_key { "UNIQUE" } else { "" };
        let tables = format!(
            "BEGIN;
             CREATE SCHEMA {schema};
             CREATE TABLE {schema}.commands
               (operation text PRIMARY KEY, amount bigint NOT NULL, completed boolean NOT NULL DEFAULT false);
             CREATE TABLE {schema}.ledger (operation text NOT NULL {unique}, amount bigint NOT NULL);
             CREATE TABLE {schema}.accounts
               (operation text PRIMARY KEY, balance bigint NOT NULL DEFAULT 0, version bigint NOT NULL DEFAULT 0);
             {rows}
             COMMIT;",
            rows = operations.iter().map(|operation| rows(schema, operation)).collect::<String>(),
        );
        client.batch_execute(&tables).await.with_context(|| format!("cannot make the tables of schema {schema}"))?;
        Ok(Self { client, schema: schema.to_owned() })
    }

    /// Waits until no backend of this application is left: what a dead worker left in flight is settled then.
    ///
    /// # Errors
    /// One is still there after the bound.
    pub async fn wait_for_backends(&self, application: &str) -> anyhow::Result<()> {
        let began = Instant::now();
        loop {
            let left: i64 = self
                .client
                .query_one("SELECT count(*) FROM pg_stat_activity WHERE application_name = $1", &[&application])
                .await?
                .get(0);
            if left == 0 {
                return Ok(());
            }
            anyhow::ensure!(
                began.elapsed() < BACKENDS_WAIT,
                "waited {BACKENDS_WAIT:?} for the {left} database backends of {application}, whose processes are dead"
            );
            tokio::time::sleep(BACKENDS_POLL).await;
        }
    }

    /// Reads the effects of the operations twice; the two must agree.
    ///
    /// # Errors
    /// The second reading differs: something still writes.
    pub async fn read(&self, operations: &[&str]) -> anyhow::Result<Vec<OperationEffect>> {
        let first = self.read_once(operations).await?;
        let second = self.read_once(operations).await?;
        anyhow::ensure!(
            first == second,
            "two readings of the effects in schema {} differ: {first:?}, then {second:?}",
            self.schema
        );
        Ok(first)
    }

    async fn read_once(&self, operations: &[&str]) -> anyhow::Result<Vec<OperationEffect>> {
        let schema = &self.schema;
        let query = format!(
            "SELECT o.name,
                    (SELECT count(*) FROM {schema}.ledger l WHERE l.operation = o.name),
                    (SELECT coalesce(sum(a.balance), 0)::bigint FROM {schema}.accounts a WHERE a.operation = o.name)
             FROM unnest($1::text[]) WITH ORDINALITY AS o (name, place) ORDER BY o.place"
        );
        let rows = self.client.query(&query, &[&operations]).await?;
        let effect = |row: tokio_postgres::Row| {
            let (operation, written, balance): (String, i64, i64) = (row.get(0), row.get(1), row.get(2));
            let (written, credited) = (written.unsigned_abs(), balance.unsigned_abs() / AMOUNT.unsigned_abs());
            OperationEffect { operation, effects: written.max(credited), partial: written.abs_diff(credited) }
        };
        Ok(rows.into_iter().map(effect).collect())
    }

    /// Removes the schema.
    ///
    /// # Errors
    /// PostgreSQL refuses.
    pub async fn remove(&self) -> anyhow::Result<()> {
        Ok(self.client.batch_execute(&format!("DROP SCHEMA {} CASCADE", self.schema)).await?)
    }
}

/// One command and its account.
fn rows(schema: &str, operation: &str) -> String {
    let operation = operation.replace('\'', "''");
    format!(
        "INSERT INTO {schema}.commands (operation, amount) VALUES ('{operation}', {AMOUNT});
         INSERT INTO {schema}.accounts (operation) VALUES ('{operation}');\n"
    )
}
