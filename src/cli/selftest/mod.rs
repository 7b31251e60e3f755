//! `lab selftest`: plants defects and wants each to turn red. A defect that stays green means that the lab is blind.
//!
//! First the library is run as it is and must match. Then every history is spoiled in every way of [`spoil`] and judged
//! again, and every cell of its table is changed once ([`spoil::tables`]): nothing is run for that. Last the systems of
//! [`system`] are run, each with something wrong in it. The expected tables stay as they are in all but the one about
//! tables.

mod spoil;
mod system;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::{JoinSet, LocalSet};

use super::records::{Records, Stored, StoredPlan, StoredTwin};
use super::session::{self, Ended};
use super::{print, progress, run};
use crate::checker::{self, Judgement};
use crate::history::Entry;
use crate::outcome::{Exit, Verdict};
use crate::plan::{self, Case, Filter};
use crate::process::Interrupts;
use crate::report::paint::{self, paint};
use crate::runner::{self, CaseRun, House};
use crate::scenario::model::Twin;
use crate::{scenario, service};

/// How many places where a defect stayed green are shown.
const SHOWN: usize = 4;
/// Cases at play at once.
const JOBS: usize = 32;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Folder for the records instead of .lab/runs/<id>
    #[arg(long, value_name = "DIR")]
    out: Option<std::path::PathBuf>,
}

/// A case of the library as it was run, with nothing wrong.
pub(super) struct Sample {
    pub(super) case: Case,
    pub(super) stored: Stored,
    pub(super) entries: Vec<Entry>,
    pub(super) twin: Option<Vec<Entry>>,
}

/// How often a defect was planted, and where it stayed green.
#[derive(Debug, Default)]
pub(super) struct Sight {
    planted: u64,
    green: Vec<String>,
}

/// What was planted, by name.
pub(super) type Sights = BTreeMap<String, Sight>;

/// Notes how a planted defect was judged. `wanted` says whether that is the verdict that it must give.
pub(super) fn see(sights: &mut Sights, defect: &str, case: &str, judgement: &Judgement, wanted: bool) {
    let sight = sights.entry(defect.to_owned()).or_default();
    sight.planted += 1;
    if !wanted {
        let because = judgement.because.as_deref().unwrap_or("no reason");
        let reason = judgement.verdict.reason().map_or_else(String::new, |reason| format!(" {}", reason.word()));
        sight.green.push(format!("{case}: judged `{}{reason}` ({because})", judgement.verdict.word()));
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let local = LocalSet::new();
    let exit = runtime.block_on(local.run_until(test(args)));
    runtime.block_on(local);
    exit
}

async fn test(args: &Args) -> anyhow::Result<Exit> {
    let mut interrupts = Interrupts::listen()?;
    let scenarios: Vec<_> = scenario::load_all().map_err(run::usage)?.into_iter().map(Arc::new).collect();
    let cases = plan::plan(&scenarios, &Filter::default())?;
    let run = service::new_run_id()?;
    let stored: Vec<Stored> = cases.iter().map(Stored::of).collect();
    let plan = StoredPlan::new(&run, 1, &stored);
    let records = Records::create(args.out.as_deref(), &plan)?;
    let ended = session::with_house(&run, &records, &mut interrupts, async |house, interrupts| {
        progress::note(&format!("running the library: {} cases", cases.len()));
        tokio::select! {
            sights = sights(&house, &records, cases, stored) => Ok(Ended::Well(sights?)),
            signal = interrupts.next() => Ok(Ended::By(signal)),
        }
    });
    match ended.await? {
        Ended::By(signal) => Ok(Exit::Signal(signal)),
        Ended::Well(sights) => tell(&sights),
    }
}

async fn sights(house: &Rc<House>, records: &Records, cases: Vec<Case>, stored: Vec<Stored>) -> anyhow::Result<Sights> {
    let samples = samples(house, records, cases, stored).await?;
    let mut sights = Sights::new();
    for sample in &samples {
        let judgement = checker::judge(&sample.entries, None, &sample.stored.expected);
        let matches = judgement.verdict == Verdict::Match;
        see(&mut sights, spoil::NOTHING, &sample.stored.id.to_string(), &judgement, matches);
        spoil::records(&mut sights, sample);
        spoil::tables(&mut sights, sample);
    }
    progress::note("running systems with planted defects");
    system::run(&mut sights, house, records, &samples).await?;
    Ok(sights)
}

/// Runs every case and its twin once, all at the same time up to a limit.
async fn samples(
    house: &Rc<House>,
    records: &Records,
    cases: Vec<Case>,
    stored: Vec<Stored>,
) -> anyhow::Result<Vec<Sample>> {
    let places = Arc::new(Semaphore::new(JOBS));
    let mut tasks = JoinSet::new();
    for (index, (case, stored)) in cases.into_iter().zip(stored).enumerate() {
        let (house, records, places) = (house.clone(), records.clone(), places.clone());
        tasks.spawn_local(async move {
            let _place = places.acquire().await;
            let base = CaseRun::of(&case, &case.script, records.history(&case.id, 1, 1));
            let entries = runner::run(&house, &base).await?.entries;
            let twin = match (&case.script.twin, &stored.twin) {
                (Twin::Run { script, .. }, StoredTwin::Expected(_)) => {
                    let twin = CaseRun { twin: true, ..CaseRun::of(&case, script, records.twin_history(&case.id)) };
                    Some(runner::run(&house, &twin).await?.entries)
                }
                _ => None,
            };
            anyhow::Ok((index, Sample { case: case.clone(), stored, entries, twin }))
        });
    }
    let mut samples = BTreeMap::new();
    while let Some(done) = tasks.join_next().await {
        let (index, sample) = done??;
        samples.insert(index, sample);
    }
    Ok(samples.into_values().collect())
}

/// One line per defect, the places where it stayed green beneath it.
fn tell(sights: &Sights) -> anyhow::Result<Exit> {
    let mut planted = 0;
    let mut blind = 0;
    for (defect, sight) in sights {
        planted += sight.planted;
        let seen = sight.planted - sight.green.len() as u64;
        let style = if sight.green.is_empty() { paint::GOOD } else { paint::BAD };
        let count = paint(style, format!("{seen:>5} of {:>5}", sight.planted));
        print(&format!("{count}  {defect}\n"))?;
        blind += sight.green.len();
        for green in sight.green.iter().take(SHOWN) {
            print(&format!("                {green}\n"))?;
        }
        if sight.green.len() > SHOWN {
            print(&format!("                and {} more\n", sight.green.len() - SHOWN))?;
        }
    }
    if blind == 0 {
        print(&format!("{planted} times something was wrong or nothing was, and the lab saw it each time\n"))?;
        return Ok(Exit::AllMatched);
    }
    print(&paint(paint::BAD, format!("{blind} of {planted} were judged as they must not be\n")))?;
    Ok(Exit::Mismatch)
}
