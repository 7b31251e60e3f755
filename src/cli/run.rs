//! `lab run`: read -> plan -> run -> judge -> report.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use tokio::sync::mpsc;
use tokio::task::LocalSet;

use super::outputs::{Format, Outputs};
use super::records::{Records, Stored, StoredPlan};
use super::schedule::{Done, Schedule};
use super::session::{self, Ended};
use super::{Usage, notice, progress};
use crate::fault::Engine;
use crate::outcome::Exit;
use crate::plan::{self, Case, Filter};
use crate::process::Interrupts;
use crate::report::terminal::Detail;
use crate::runner::House;
use crate::scenario::{self, LoadError, Scenario};
use crate::service;

/// Cases at play per core: they wait, they do not compute.
const CASES_PER_CORE: usize = 16;
/// Database connections that the cases at play may have together.
const CONNECTIONS_MAX: usize = 250;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A built-in scenario, a pattern of them (`stall-*`), or a scenario file; repeatable
    #[arg(long, value_name = "NAME|GLOB|FILE")]
    scenario: Vec<String>,
    /// Only this engine; repeatable
    #[arg(long, value_name = "ENGINE")]
    engine: Vec<String>,
    /// Only this protection; repeatable
    #[arg(long, value_name = "PROTECTION")]
    protection: Vec<String>,
    /// Cases at play at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    jobs: Option<u16>,
    /// Run every case N times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    repeat: u32,
    /// Folder for the run's records instead of .lab/runs/<id>
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Afterwards keep the servers, tables and keys until Ctrl-C, to look at them
    #[arg(long)]
    keep: bool,
    /// What goes to stdout
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Only what does not match
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Every column of every case
    #[arg(short, long)]
    verbose: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let scenarios = read(&args.scenario)?;
    let cases = planned(args, &scenarios)?;
    if cases.is_empty() {
        notice("nothing is selected: no scenario has a row for what was asked for");
        return Ok(Exit::NothingRan);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let local = LocalSet::new();
    let exit = runtime.block_on(local.run_until(play(args, cases)));
    // What a dropped case left to do (its workers' deaths) is done before the runtime goes.
    runtime.block_on(local);
    exit
}

/// The scenarios that the words name; all built-in ones for none.
pub(super) fn read(words: &[String]) -> anyhow::Result<Vec<Scenario>> {
    if words.is_empty() {
        return Ok(scenario::load_all().map_err(usage)?);
    }
    let mut scenarios = Vec::new();
    let mut mistakes = Vec::new();
    for word in words {
        match scenario::load(word) {
            Ok(found) => scenarios.extend(found),
            Err(error) => mistakes.push(text(error)),
        }
    }
    if mistakes.is_empty() { Ok(scenarios) } else { Err(Usage(mistakes.join("\n\n")).into()) }
}

pub(super) fn usage(error: LoadError) -> Usage {
    Usage(text(error))
}

fn text(error: LoadError) -> String {
    match &error {
        // These texts are complete and begin with their own `error:` lines.
        LoadError::Invalid(problems) => problems.to_string().trim_end().to_owned(),
        _ => format!("error: {:#}", anyhow::Error::from(error)),
    }
}

fn planned(args: &Args, scenarios: &[Scenario]) -> anyhow::Result<Vec<Case>> {
    let mut filter =
        Filter::from_words(&args.engine, &args.protection).map_err(|error| Usage(format!("error: {error}")))?;
    if let Ok(version) = semver::Version::parse(env!("LAB_ENGINE_VERSION")) {
        filter.versions.insert(Engine::BullmqRs, version);
    }
    let scenarios: Vec<_> = scenarios.iter().cloned().map(std::sync::Arc::new).collect();
    Ok(plan::plan(&scenarios, &filter).map_err(|error| Usage(format!("error: {error}")))?)
}

async fn play(args: &Args, cases: Vec<Case>) -> anyhow::Result<Exit> {
    let began = Instant::now();
    let mut interrupts = Interrupts::listen()?;
    let run = service::new_run_id()?;
    let stored: Vec<Stored> = cases.iter().map(Stored::of).collect();
    let plan = StoredPlan::new(&run, args.repeat, &stored);
    let records = Records::create(args.out.as_deref(), &plan)?;
    let detail = match (args.quiet, args.verbose) {
        (true, _) => Detail::Quiet,
        (_, true) => Detail::Verbose,
        _ => Detail::Normal,
    };
    let mut outputs = Outputs::open(&run, &records, args.format, detail, &stored, args.repeat)?;
    let ended_by = session::with_house(&run, &records, &mut interrupts, async |house, interrupts| {
        let word = if cases.len() == 1 { "case" } else { "cases" };
        progress::note(&format!("servers ready in {} ms; {} {word}", began.elapsed().as_millis(), cases.len()));
        let jobs = jobs(args.jobs, &cases);
        let schedule =
            Schedule { house: house.clone(), cases, stored, records: records.clone(), repeat: args.repeat, jobs };
        match report(schedule, &mut outputs, &house, interrupts).await? {
            // Results and summary are out before the teardown: a second signal may end that.
            Some(signal) => Ok(Ended::Well(ended(&mut outputs, began, signal)?)),
            None => Ok(Ended::Well(finish(args, &mut outputs, began, &house, interrupts).await?)),
        }
    });
    match ended_by.await? {
        Ended::Well(exit) => Ok(exit),
        Ended::By(signal) => ended(&mut outputs, began, signal),
    }
}

/// The end of a run that was not interrupted.
async fn finish(
    args: &Args,
    outputs: &mut Outputs,
    began: Instant,
    house: &House,
    interrupts: &mut Interrupts,
) -> anyhow::Result<Exit> {
    let exit = outputs.finish(began.elapsed(), None)?;
    if args.keep {
        notice(&format!("kept until Ctrl-C:\n{}", house.services.how_to_look()));
        interrupts.next().await;
    }
    Ok(exit)
}

/// The end of a run that a signal asked for: results so far and the summary stay, if there is still somewhere to write.
fn ended(outputs: &mut Outputs, began: Instant, signal: i32) -> anyhow::Result<Exit> {
    if let Err(error) = outputs.finish(began.elapsed(), Some(signal)) {
        notice(&format!("error: {error:#}"));
    }
    Ok(Exit::Signal(signal))
}

/// Takes results as they arrive; the signal that ended it early.
async fn report(
    schedule: Schedule,
    outputs: &mut Outputs,
    house: &House,
    interrupts: &mut Interrupts,
) -> anyhow::Result<Option<i32>> {
    let (done, mut results) = mpsc::unbounded_channel();
    let schedule = Rc::new(schedule);
    let mut playing = Box::pin(schedule.play(done));
    let mut ticker = progress::Ticker::new();
    let mut finished = false;
    loop {
        tokio::select! {
            biased;
            signal = interrupts.next() => return Ok(Some(signal)),
            result = results.recv() => match result {
                Some(Done::Twin(index, twin)) => outputs.twin(index, &twin)?,
                Some(Done::Case(index, result)) => outputs.case(index, *result)?,
                None => return Ok(None),
            },
            () = &mut playing, if !finished => finished = true,
            () = ticker.tick() => ticker.show(outputs.progress(), house.board.oldest()),
        }
    }
}

/// How many cases are at play at once.
fn jobs(asked: Option<u16>, cases: &[Case]) -> usize {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let workers = cases.iter().map(|case| case.script.workers.len()).max().unwrap_or(1).max(1);
    let most = (CONNECTIONS_MAX / workers).max(1);
    asked.map_or(cores * CASES_PER_CORE, usize::from).min(most)
}
