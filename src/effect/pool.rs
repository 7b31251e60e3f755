//! The ledgers of a run. Making a schema costs several milliseconds of CPU, emptying one a fraction of that: a schema
//! whose case ended well, with none of its backends left, serves the next case.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tokio_postgres::Client;

use super::ledger::Ledger;

/// Ledgers, free and to be made.
#[derive(Debug)]
pub struct Ledgers {
    clients: Vec<Rc<Client>>,
    prefix: String,
    free: RefCell<Vec<Ledger>>,
    made: Cell<usize>,
}

impl Ledgers {
    /// A pool over these connections; `prefix` begins the name of every schema.
    pub fn new(clients: Vec<Client>, prefix: String) -> Self {
        let clients = clients.into_iter().map(Rc::new).collect();
        Self { clients, prefix, free: RefCell::default(), made: Cell::new(0) }
    }

    /// A ledger that no other case has, with one command and one account per operation.
    ///
    /// # Errors
    /// PostgreSQL refuses.
    pub async fn take(&self, unique_key: bool, operations: &[&str]) -> anyhow::Result<Ledger> {
        let free = {
            let mut free = self.free.borrow_mut();
            let index = free.iter().position(|ledger| ledger.unique_key() == unique_key);
            index.map(|index| free.swap_remove(index))
        };
        let ledger = match free {
            Some(ledger) => ledger,
            None => {
                let number = self.made.get() + 1;
                self.made.set(number);
                let client = self.clients[number % self.clients.len()].clone();
                Ledger::create(client, format!("{}_{number}", self.prefix), unique_key).await?
            }
        };
        ledger.prepare(operations).await?;
        Ok(ledger)
    }

    /// Gives a ledger back whose case has ended well. One whose case broke must not come back: it goes with the run.
    pub fn give_back(&self, ledger: Ledger) {
        self.free.borrow_mut().push(ledger);
    }
}
