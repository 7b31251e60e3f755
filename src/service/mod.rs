//! The servers of a run: private by default, started by the lab, gone with it.
//!
//! [`runtime`] is the short-lived folder of sockets and data, [`reaper`] cleans what a killed lab left in one, [`find`]
//! looks for server programs, [`redis`] and [`postgres`] start one server each, `template` keeps a database cluster
//! ready to copy, `segment` is what only PostgreSQL leaves behind.

mod copy;
pub mod find;
pub mod postgres;
pub mod reaper;
pub mod redis;
pub mod runtime;
mod segment;
mod start;
mod template;

use std::path::{Path, PathBuf};

use crate::process::Spawner;
use postgres::Postgres;
use redis::Redis;
use runtime::Runtime;

/// What to start.
#[derive(Debug, Clone)]
pub struct Options {
    /// The run's id, in the environment of every server.
    pub run: String,
    /// Where the servers' logs go.
    pub logs: PathBuf,
}

/// The servers of a run.
#[derive(Debug)]
pub struct Services {
    /// The queue's server.
    pub redis: Redis,
    /// The effects' server.
    pub postgres: Postgres,
    runtime: Runtime,
}

impl Services {
    /// Cleans what dead labs left, then starts both servers at once.
    ///
    /// # Errors
    /// A program is not found, or a server does not start: what, where, its last lines, what to do.
    pub async fn start(spawner: &Spawner, options: &Options) -> anyhow::Result<Self> {
        reaper::reap();
        let runtime = Runtime::create(&options.run)?;
        let redis = Redis::start(spawner, &runtime, options);
        let postgres = Postgres::start(spawner, &runtime, options);
        let (redis, postgres) = tokio::try_join!(redis, postgres)?;
        Ok(Self { redis, postgres, runtime })
    }

    /// The folder for sockets.
    pub fn runtime(&self) -> &Path {
        self.runtime.path()
    }

    /// How a person connects to the servers: a command each, without a password in it.
    pub fn how_to_look(&self) -> String {
        format!("  {}\n  {}", self.redis.how_to_look(), self.postgres.how_to_look())
    }

    /// Ends the servers, their deaths confirmed, and removes the folder.
    ///
    /// # Errors
    /// A folder cannot be removed.
    pub async fn stop(self) -> anyhow::Result<()> {
        let Self { mut redis, mut postgres, runtime } = self;
        tokio::join!(redis.stop(), postgres.stop());
        drop(postgres);
        runtime.remove()
    }
}

/// A run id: sorts by time, differs between labs that start at once.
///
/// # Errors
/// The system has no randomness.
pub fn new_run_id() -> anyhow::Result<String> {
    Ok(format!("{}-{}", chrono::Utc::now().format("%Y%m%d-%H%M%S"), runtime::random_word(4)?))
}
