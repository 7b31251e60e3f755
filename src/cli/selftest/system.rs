//! Systems that are wrong: a case of the library is run with a defect in its workers or in its script, against the table
//! as it is.

use super::{Sample, Sights, see};
use crate::checker;
use crate::cli::records::{Records, StoredTwin};
use crate::fault::{Action, Condition, Defect, Fault, Place, Point, Protection, QueueEvent, Trigger};
use crate::history::{Entry, Event};
use crate::outcome::{Reason, Verdict};
use crate::runner::{self, CaseRun, House};
use crate::scenario::model::{Script, Twin};

/// A wrong system.
struct Wrong {
    name: &'static str,
    scenario: &'static str,
    protection: Protection,
    /// What the workers do wrong.
    defect: Option<Defect>,
    /// What happens instead of the script. The record claims the script.
    script: fn(&mut Script),
    /// The protection that is really used.
    really: Option<Protection>,
    wanted: Verdict,
}

const RIGHT: Wrong = Wrong {
    name: "",
    scenario: "stall-kill",
    protection: Protection::None,
    defect: None,
    script: |_| {},
    really: None,
    wanted: Verdict::Mismatch,
};

const fn inconclusive(reason: Reason) -> Verdict {
    Verdict::Inconclusive(reason)
}

/// Every wrong system.
const WRONG: &[Wrong] = &[
    Wrong {
        name: "system: the operation key has no constraint",
        protection: Protection::OperationKey,
        defect: Some(Defect::NoConstraint),
        ..RIGHT
    },
    Wrong { name: "system: a ledger row without its credit", defect: Some(Defect::PartialEffect), ..RIGHT },
    Wrong { name: "system: an effect is reported and not written", defect: Some(Defect::LostEffect), ..RIGHT },
    Wrong { name: "system: one run writes twice", defect: Some(Defect::DoubleWrite), ..RIGHT },
    Wrong {
        name: "system: a re-run that nobody reports",
        defect: Some(Defect::SilentEntry),
        wanted: inconclusive(Reason::RecordsDisagree),
        ..RIGHT
    },
    Wrong {
        name: "system: one entry is reported twice",
        defect: Some(Defect::DoubledEntry),
        wanted: inconclusive(Reason::RecordsDisagree),
        ..RIGHT
    },
    Wrong {
        name: "system: an acknowledgement is accepted without its token",
        scenario: "zombie",
        defect: Some(Defect::FalseAck),
        wanted: inconclusive(Reason::RecordsDisagree),
        ..RIGHT
    },
    Wrong {
        name: "system: a worker dies by itself",
        scenario: "duplicate-producer",
        defect: Some(Defect::SuddenDeath),
        wanted: inconclusive(Reason::SubjectDiedUnasked),
        ..RIGHT
    },
    Wrong {
        name: "system: the worker exits with 137 instead of being killed",
        script: |script| script.faults[0].action = Action::Exit(137),
        wanted: inconclusive(Reason::FaultNotFired),
        ..RIGHT
    },
    Wrong {
        name: "system: the queue gives the job away before the kill",
        script: early_stall,
        wanted: inconclusive(Reason::EarlyStall),
        ..RIGHT
    },
    Wrong {
        name: "system: nobody takes the job",
        scenario: "throw-after-write",
        script: |script| {
            script.within_ms = 300;
            script.workers.iter_mut().for_each(|worker| worker.fetch = false);
        },
        wanted: inconclusive(Reason::Deadline),
        ..RIGHT
    },
    Wrong {
        name: "system: the producer forgets the deterministic id",
        scenario: "duplicate-producer",
        protection: Protection::JobId,
        really: Some(Protection::None),
        ..RIGHT
    },
];

/// The worker's lock runs out while it holds its write back, and another one checks from the start. Two executions and
/// two effects, just as the table says.
fn early_stall(script: &mut Script) {
    script.workers[0].lock_ms = 30;
    script.workers[0].renew = false;
    script.workers[1].start = None;
    script.workers[1].fetch = false;
    let place = Place::Point(Point::EffectWritten);
    let at = Trigger { worker: Some("A".to_owned()), place, operation: None, hit: 1 };
    let stalled = Trigger { worker: None, place: Place::Queue(QueueEvent::Stalled), operation: None, hit: 1 };
    script.faults.push(Fault { at, action: Action::Hold(Condition::Reached(stalled)) });
    script.end = Some(Condition::Dead("A".to_owned()));
}

/// Runs every wrong system, and the twin of one.
pub(super) async fn run(
    sights: &mut Sights,
    house: &House,
    records: &Records,
    samples: &[Sample],
) -> anyhow::Result<()> {
    for (number, wrong) in WRONG.iter().enumerate() {
        let sample = find(samples, wrong)?;
        let mut script = sample.case.script.clone();
        (wrong.script)(&mut script);
        let run = CaseRun {
            protection: wrong.really.unwrap_or(wrong.protection),
            defect: wrong.defect,
            ..CaseRun::of(&sample.case, &script, records.root.join(format!("defects/{number}.ndjson")))
        };
        let mut entries = runner::run(house, &run).await?.entries;
        claim(&mut entries, sample);
        let judgement = checker::judge(&entries, None, &sample.stored.expected);
        see(sights, wrong.name, &sample.stored.id.to_string(), &judgement, judgement.verdict == wrong.wanted);
    }
    twin(sights, house, records, samples).await
}

fn find<'a>(samples: &'a [Sample], wrong: &Wrong) -> anyhow::Result<&'a Sample> {
    let id = |sample: &&Sample| {
        sample.stored.id.scenario == wrong.scenario && sample.stored.id.protection == wrong.protection
    };
    samples.iter().find(id).ok_or_else(|| anyhow::anyhow!("the library has no {}/{}", wrong.scenario, wrong.protection))
}

/// Lets the record claim what the scenario says, whatever was really done.
fn claim(entries: &mut [Entry], sample: &Sample) {
    let (
        Some(Entry { event: Event::Case { faults, .. }, .. }),
        Some(Entry { event: Event::Case { faults: real, .. }, .. }),
    ) = (entries.first_mut(), sample.entries.first())
    else {
        return;
    };
    faults.clone_from(real);
}

/// A system that is wrong without any fault: its twin must show it.
async fn twin(sights: &mut Sights, house: &House, records: &Records, samples: &[Sample]) -> anyhow::Result<()> {
    let sample = find(samples, &RIGHT)?;
    let (Twin::Run { script, .. }, StoredTwin::Expected(expected)) = (&sample.case.script.twin, &sample.stored.twin)
    else {
        anyhow::bail!("{} has no twin", sample.stored.id);
    };
    let run = CaseRun {
        twin: true,
        defect: Some(Defect::DoubleWrite),
        ..CaseRun::of(&sample.case, script, records.root.join("defects/twin.ndjson"))
    };
    let entries = runner::run(house, &run).await?.entries;
    let judgement = checker::judge(&entries, None, expected);
    let red = judgement.verdict == Verdict::Mismatch;
    see(sights, "system: the fault-free twin writes twice", &sample.stored.id.to_string(), &judgement, red);
    Ok(())
}
