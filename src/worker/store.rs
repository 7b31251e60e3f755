//! The worker's connections to PostgreSQL: one per handler at work, opened ahead for the first, kept for the next.

use std::sync::Mutex;

use tokio_postgres::{Client, Config, NoTls};

use super::failpoint::Thrown;

/// Idle connections and how to open more.
pub(super) struct Store {
    config: Config,
    idle: Mutex<Vec<Client>>,
}

impl Store {
    /// Opens the first connection.
    pub(super) async fn open(url: &str) -> anyhow::Result<Self> {
        let store = Self { config: url.parse()?, idle: Mutex::default() };
        let client = store.connect().await?;
        store.put_back(client);
        Ok(store)
    }

    /// A connection for one execution.
    pub(super) async fn take(&self) -> Result<Client, Thrown> {
        let idle = self.idle.lock().expect("no holder panics").pop();
        match idle {
            Some(client) if !client.is_closed() => Ok(client),
            _ => Ok(self.connect().await?),
        }
    }

    /// Keeps a connection for the next execution.
    pub(super) fn put_back(&self, client: Client) {
        self.idle.lock().expect("no holder panics").push(client);
    }

    async fn connect(&self) -> Result<Client, tokio_postgres::Error> {
        let (client, connection) = self.config.connect(NoTls).await?;
        tokio::task::spawn(connection);
        Ok(client)
    }
}
