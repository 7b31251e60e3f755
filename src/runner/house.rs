//! What the cases of a run share: servers, connections, the inspector, folders, and a supply of unique names.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::inspector::Inspector;
use crate::effect::Ledgers;
use crate::process::Spawner;
use crate::protocol::env;
use crate::service::Services;
use crate::subject::Switchboard;
use anyhow::Context;

/// The lab's own connections to PostgreSQL: enough that set-up and reading do not queue behind each other.
const CLIENTS: usize = 4;

/// The shared ground of a run.
#[derive(Debug)]
pub struct House {
    /// The run's id.
    pub run: String,
    /// Where records go: histories and logs.
    pub records: PathBuf,
    /// The lab's own binary, which is also the built-in subject.
    pub program: PathBuf,
    /// Starts every child.
    pub spawner: Spawner,
    /// The servers.
    pub services: Services,
    /// Where subjects call the lab.
    pub switchboard: Switchboard,
    /// What the runner asks of the queue.
    pub inspector: Inspector,
    /// What every case at play waits for.
    pub board: Board,
    /// The tables that effects are written to.
    pub ledgers: Ledgers,
    slots: Cell<u64>,
}

/// What the cases at play wait for, for whoever watches.
#[derive(Debug, Default)]
pub struct Board {
    cases: RefCell<BTreeMap<String, (String, String)>>,
}

impl Board {
    /// The case waits for this now.
    pub(super) fn waits_for(&self, slot: &str, case: &str, what: &str) {
        self.cases.borrow_mut().insert(slot.to_owned(), (case.to_owned(), what.to_owned()));
    }

    /// The case is over.
    pub(super) fn forget(&self, slot: &str) {
        self.cases.borrow_mut().remove(slot);
    }

    /// The case that has waited longest and what it waits for.
    pub fn oldest(&self) -> Option<(String, String)> {
        self.cases.borrow().values().next().cloned()
    }
}

/// The names that isolate one case from every other.
#[derive(Debug, Clone)]
pub struct Slot {
    /// Its number in the run, from 1.
    pub number: u64,
    /// The name that its messages carry.
    pub case: String,
    /// Its queue.
    pub queue: String,
    /// Its queue's key prefix.
    pub prefix: String,
    /// The application name of its subjects' database connections.
    pub application: String,
}

impl House {
    /// Connects to the servers and starts the inspector.
    ///
    /// # Errors
    /// A server does not answer, or the inspector does not get ready.
    pub async fn open(
        run: String,
        records: PathBuf,
        spawner: Spawner,
        services: Services,
        program: PathBuf,
    ) -> anyhow::Result<Self> {
        let switchboard = Switchboard::open(services.runtime())?;
        let launch = Inspector::launch(&run, &records, &spawner, &switchboard, &services, &program);
        let connect = async {
            let mut clients = Vec::new();
            for _ in 0..CLIENTS {
                clients.push(services.postgres.connect("lab").await?);
            }
            anyhow::Ok(clients)
        };
        let (inspector, clients) = tokio::try_join!(launch, connect)?;
        let ledgers = Ledgers::new(clients, format!("lab_{}", run.replace('-', "_")));
        let (board, slots) = (Board::default(), Cell::new(0));
        Ok(Self { run, records, program, spawner, services, switchboard, inspector, board, ledgers, slots })
    }

    /// Names that no other case of this run has.
    pub fn slot(&self) -> Slot {
        let number = self.slots.get() + 1;
        self.slots.set(number);
        let run = &self.run;
        Slot {
            number,
            case: format!("c{number}"),
            queue: format!("q{number}"),
            prefix: format!("lab-{run}"),
            application: format!("lab-{run}-{number}"),
        }
    }

    /// Ends the inspector and the servers; nothing of the run is left but its records.
    ///
    /// # Errors
    /// A server does not end.
    pub async fn close(self) -> anyhow::Result<()> {
        drop(self.ledgers);
        self.inspector.close().await;
        self.services.stop().await.context("cannot take down the private servers")
    }
}

/// The variables that every built-in subject gets.
pub(super) fn base_env(run: &str, role: &str, socket: &Path, redis_url: &str) -> Vec<(&'static str, String)> {
    vec![
        (env::RUN_ID, run.to_owned()),
        (env::ROLE, role.to_owned()),
        (env::SOCKET, socket.display().to_string()),
        (env::REDIS_URL, redis_url.to_owned()),
    ]
}
