//! Effects in PostgreSQL: the tables of one case, in a schema of its own.
//!
//! An effect is one `ledger` row and the matching change of `accounts`. The two are counted separately: where they
//! differ, an effect is only half there.

use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

/// What every operation credits. The unit that turns a balance back into a number of credits.
const AMOUNT: i64 = 100;
/// How long the backends of dead workers may take to go away.
const BACKENDS_WAIT: Duration = Duration::from_secs(20);
/// How often they are looked for.
const BACKENDS_POLL: Duration = Duration::from_millis(3);

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
pub struct Ledger {
    client: Rc<Client>,
    schema: String,
    unique_key: bool,
}

impl Ledger {
    /// Makes a schema with empty tables. `unique_key` adds the constraint that a durable operation key rests on.
    ///
    /// # Errors
    /// PostgreSQL refuses.
    pub async fn create(client: Rc<Client>, schema: String, unique_key: bool) -> anyhow::Result<Self> {
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
             COMMIT"
        );
        client.batch_execute(&tables).await.with_context(|| format!("cannot make the tables of schema {schema}"))?;
        Ok(Self { client, schema, unique_key })
    }

    /// The schema's name.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// Whether the tables have the constraint.
    pub fn unique_key(&self) -> bool {
        self.unique_key
    }

    /// Empties the tables and writes one command and one account per operation.
    ///
    /// # Errors
    /// PostgreSQL refuses.
    pub async fn prepare(&self, operations: &[&str]) -> anyhow::Result<()> {
        let schema = &self.schema;
        let rows: String = operations.iter().map(|operation| rows(schema, operation)).collect();
        let clear = format!(
            "BEGIN; DELETE FROM {schema}.commands; DELETE FROM {schema}.ledger; DELETE FROM {schema}.accounts;"
        );
        let text = format!("{clear} {rows} COMMIT");
        self.client.batch_execute(&text).await.with_context(|| format!("cannot prepare the tables of schema {schema}"))
    }

    /// Waits until no backend of this application is left: what a dead worker left in flight is settled then.
    ///
    /// # Errors
    /// One is still there after the bound.
    pub async fn wait_for_backends(&self, application: &str) -> anyhow::Result<()> {
        const LEFT: &str = "SELECT count(*) FROM pg_stat_get_activity(NULL) WHERE application_name = $1";
        let began = Instant::now();
        loop {
            let left: i64 = self.client.query_typed_one(LEFT, &[(&application, Type::TEXT)]).await?.get(0);
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
             FROM unnest($1) WITH ORDINALITY AS o (name, place) ORDER BY o.place"
        );
        let rows = self.client.query_typed(&query, &[(&operations, Type::TEXT_ARRAY)]).await?;
        Ok(rows.iter().map(effect).collect())
    }
}

fn effect(row: &Row) -> OperationEffect {
    let (operation, written, balance): (String, i64, i64) = (row.get(0), row.get(1), row.get(2));
    let (written, credited) = (written.unsigned_abs(), balance.unsigned_abs() / AMOUNT.unsigned_abs());
    OperationEffect { operation, effects: written.max(credited), partial: written.abs_diff(credited) }
}

/// One command and its account.
fn rows(schema: &str, operation: &str) -> String {
    let operation = operation.replace('\'', "''");
    format!(
        "INSERT INTO {schema}.commands (operation, amount) VALUES ('{operation}', {AMOUNT});
         INSERT INTO {schema}.accounts (operation) VALUES ('{operation}');\n"
    )
}
