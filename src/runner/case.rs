//! One case, from an empty world back to an empty world. The steps are numbered; each is a sentence elsewhere.

use std::path::PathBuf;

use super::house::House;
use super::{setup, teardown};
use crate::fault::{Defect, Engine, Protection};
use crate::history::Entry;
use crate::plan::Case;
use crate::scenario::model::Script;

/// One case to run.
#[derive(Debug, Clone)]
pub struct CaseRun<'a> {
    /// The case's id.
    pub case: String,
    /// Its script.
    pub script: &'a Script,
    /// The engine.
    pub engine: Engine,
    /// The protection.
    pub protection: Protection,
    /// Number of the repetition, from 1.
    pub repeat: u32,
    /// Number of the try, from 1.
    pub attempt: u32,
    /// Whether this is the fault-free twin.
    pub twin: bool,
    /// A defect to plant in its workers; only the self-test has one.
    pub defect: Option<Defect>,
    /// Where its history goes; its workers' logs go beside it.
    pub history: PathBuf,
}

impl<'a> CaseRun<'a> {
    /// The first try of the first repetition of a planned case, with nothing planted.
    pub fn of(case: &Case, script: &'a Script, history: PathBuf) -> Self {
        Self {
            case: case.id.to_string(),
            script,
            engine: case.id.engine,
            protection: case.id.protection,
            repeat: 1,
            attempt: 1,
            twin: false,
            defect: None,
            history,
        }
    }
}

/// A case that was played to its end.
#[derive(Debug)]
pub struct Finished {
    /// Its history.
    pub entries: Vec<Entry>,
    /// How long it took, ms.
    pub elapsed_ms: u64,
}

/// Runs a case.
///
/// # Errors
/// The lab, a service or a worker's start broke: no verdict is possible. Nothing of the case is left all the same.
pub async fn run(house: &House, run: &CaseRun<'_>) -> anyhow::Result<Finished> {
    // 1. A world of its own: history, schema, queue.
    let mut stage = setup::stage(house, run).await?;
    let played = play(&mut stage).await;
    // 7. Nothing stays, whatever happened.
    teardown::strike_set(stage, played).await
}

async fn play(stage: &mut super::stage::Stage<'_>) -> anyhow::Result<()> {
    // 2. The workers: connected and waiting.
    stage.boot_workers().await?;
    // 3. The jobs, then the workers that may begin at once.
    stage.submit_jobs().await?;
    stage.open_gates();
    // 4. The script: park, answer, act, until nothing is missing or the bound has passed.
    stage.play().await?;
    // 5. Silence: no worker lives, no database backend of theirs is left.
    stage.silence().await?;
    // 6. What is true now: the queue's record, the jobs' records, the effects.
    stage.read_truth().await
}
