//! A house for the time of a verb: opened, used, and closed whatever happened in it.

use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::records::Records;
use crate::process::{Interrupts, Spawner};
use crate::runner::House;
use crate::service::{self, Services};

/// How long tasks that were told to end may hold on to the house.
const LET_GO: Duration = Duration::from_secs(10);

/// How something ended.
#[derive(Debug)]
pub(super) enum Ended<T> {
    /// By itself.
    Well(T),
    /// By this signal.
    By(i32),
}

/// Starts the servers, does `play`, takes the servers down; only then an error of either is told.
///
/// # Errors
/// The house cannot be opened or closed, or `play` failed.
pub(super) async fn with_house<T>(
    run: &str,
    records: &Records,
    interrupts: &mut Interrupts,
    play: impl AsyncFnOnce(Rc<House>, &mut Interrupts) -> anyhow::Result<Ended<T>>,
) -> anyhow::Result<Ended<T>> {
    let opened = tokio::select! {
        opened = open(run, records) => Rc::new(opened?),
        signal = interrupts.next() => return Ok(Ended::By(signal)),
    };
    let played = play(opened.clone(), interrupts).await;
    let closed = alone(opened).await?.close().await;
    let played = played?;
    closed.map(|()| played)
}

async fn open(run: &str, records: &Records) -> anyhow::Result<House> {
    let program = std::env::current_exe().context("cannot find the lab's own binary")?;
    let spawner = Spawner::start()?;
    let options = service::Options { run: run.to_owned(), logs: records.root.join("logs") };
    let services = Services::start(&spawner, &options).await?;
    House::open(run.to_owned(), records.root.clone(), spawner, services, program).await
}

/// The house, when the tasks that were told to end have let go of it.
async fn alone(mut house: Rc<House>) -> anyhow::Result<House> {
    let bound = Instant::now() + LET_GO;
    loop {
        house = match Rc::try_unwrap(house) {
            Ok(house) => return Ok(house),
            Err(house) => house,
        };
        anyhow::ensure!(Instant::now() < bound, "a case is still at play");
        tokio::task::yield_now().await;
    }
}
