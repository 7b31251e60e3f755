//! Cross-references: everything a file names has to exist, and has to be able to happen.

use std::ops::Range;

use crate::fault::words::shown;
use crate::fault::{Action, Condition, Engine, Place, Point, Protection, Trigger};

use super::error::Problems;
use super::fields::Spot;
use super::model::{Column, Row, Scenario, Value};
use super::script::Draft;
use super::select::{candidates, specificity, versions_meet};
use super::tree::{Raw, Table};

/// Names that are used twice, and conditions on what is not there.
pub(super) fn script(draft: &Draft, problems: &mut Problems) {
    twice("operation", draft.operations.iter(), problems);
    twice("worker", draft.workers.iter().map(|worker| &worker.name), problems);
    for (worker, spots) in draft.script.workers.iter().zip(&draft.workers) {
        let Some(start) = &worker.start else { continue };
        if start.worker() == Some(worker.name.as_str()) {
            problems.say(&spots.start.span, format!("worker `{}` would wait for itself", shown(&worker.name)));
        } else {
            condition(draft, start, &spots.start, problems);
        }
    }
    if let Some(end) = &draft.script.end {
        condition(draft, end, &draft.end, problems);
    }
    waiting_in_a_circle(draft, problems);
}

/// Faults that cannot act, and deaths that nobody causes.
pub(super) fn faults(draft: &Draft, problems: &mut Problems) {
    for (fault, (at, deed)) in draft.script.faults.iter().zip(&draft.faults) {
        trigger(draft, &fault.at, at, problems);
        if let Some(worker) = fault.action.worker() {
            known_worker(draft, worker, deed, problems);
        }
        if let Action::Hold(until) = &fault.action {
            condition(draft, until, deed, problems);
            if matches!(until, Condition::After(..)) {
                problems.say(&deed.span, "a handler is held until something happens, not some time after it");
            }
        }
        let parked = matches!(fault.at.place, Place::Point(_));
        if fault.action.needs_parked_worker() && !parked {
            let message =
                format!("`{}` needs a worker parked at a point; nobody stops at `{}`", fault.action, fault.at.place);
            problems.add(&deed.span, message, Some("use a point, for example `A@effect.committed`".to_owned()));
        } else if fault.action.strikes_a_worker() && !parked && fault.action.worker().is_none() {
            let message = format!("`{}` at `{}` does not say which worker", fault.action, fault.at.place);
            problems.add(&deed.span, message, Some(format!("name one: `{} A`", fault.action)));
        }
    }
    one_answer_each(draft, problems);
    let starts = draft.script.workers.iter().zip(&draft.workers).map(|(worker, spots)| (&worker.start, &spots.start));
    let held = draft.script.faults.iter().zip(&draft.faults).filter_map(|(fault, (_, deed))| match &fault.action {
        Action::Hold(until) => Some((until, deed)),
        _ => None,
    });
    let others = starts.clone().chain([(&draft.script.end, &draft.end)]);
    for (wanted, spot) in others.filter_map(|(wanted, spot)| Some((wanted.as_ref()?, spot))).chain(held) {
        let (deed, worker, done): (&str, _, fn(&Action) -> bool) = match Some(wanted.moment()) {
            Some(Condition::Dead(worker)) => ("kill", worker, Action::ends_a_worker),
            Some(Condition::Stopped(worker)) => ("stop", worker, Action::stops_a_worker),
            _ => continue,
        };
        if draft.script.workers.iter().any(|known| known.name == *worker) && !is_done(draft, worker, done) {
            let what = if deed == "kill" { "ends" } else { "stops" };
            let message = format!("no fault {what} worker `{}`, so this never happens", shown(worker));
            let help = format!("for example `at = \"{worker}@effect.committed\"`, `do = \"{deed}\"`");
            problems.add(&spot.span, message, Some(help));
        }
    }
    for (_, spot) in starts.filter(|(start, _)| matches!(start, Some(Condition::After(..)))) {
        problems.say(&spot.span, "a worker starts when something happens, not some time after it");
    }
}

/// Faults of which only the first can act: a handler is told once how it goes on.
fn one_answer_each(draft: &Draft, problems: &mut Problems) {
    let faults = || draft.script.faults.iter().zip(&draft.faults);
    for (index, (fault, (at, deed))) in faults().enumerate().filter(|(_, (fault, _))| fault.action.answers_a_handler())
    {
        let decides = |other: &crate::fault::Fault| {
            let dies = matches!(&other.action, Action::Kill(None) | Action::Term(None, Some(_)));
            other.at == fault.at && (dies || other.action.answers_a_handler())
        };
        if let Some((other, (first, _))) = faults().take(index).find(|(other, _)| decides(other)) {
            let line = problems.line(first.span.start);
            let message = format!(
                "`{}` cannot act at `{}`: `{}` of line {line} decides there",
                fault.action, at.text, other.action
            );
            problems.say(&deed.span, message);
        }
    }
}

/// Points that a protection of the table never passes: a fault there cannot fire.
pub(super) fn passed_points(rows: &[Row], draft: &Draft, problems: &mut Problems) {
    let here = |row: &&Row| row.variant.is_none() || row.variant == draft.script.variant;
    let others = rows.iter().filter(here).any(|row| row.protection != Some(Protection::OperationKey));
    for (fault, (at, _)) in draft.script.faults.iter().zip(&draft.faults) {
        let claims = matches!(fault.at.place, Place::Point(Point::ClaimChecked | Point::ClaimTaken));
        if claims && others {
            let message =
                format!("only the handler of `operation-key` passes `{}`, and a row is for another", fault.at.place);
            let help = "state `protection = \"operation-key\"` in every row".to_owned();
            problems.add(&at.span, message, Some(help));
        }
    }
}

/// Columns of a row that can never be compared, or that contradict each other.
pub(super) fn comparable(scenario: &Scenario, places: &[Spot], problems: &mut Problems) {
    for (row, place) in scenario.expect.iter().zip(places) {
        let count = |column| match row.columns.get(&column) {
            Some(Value::Count(count)) => Some(*count),
            _ => None,
        };
        if let (Some(executions), Some(Value::List(seen))) =
            (count(Column::Executions), row.columns.get(&Column::AttemptsMade))
            && executions != seen.len() as u64
        {
            let message = format!("{executions} executions, but `attempts-made` has {} entries", seen.len());
            problems.add(&place.span, message, Some("one entry for each execution, in order of start".to_owned()));
        }
        let gone = row.columns.get(&Column::State) == Some(&Value::Text("gone".to_owned()));
        let last =
            [Column::FinalAttemptsMade, Column::FinalAttemptsStarted, Column::FinalStalled, Column::FailedReason];
        if let Some(column) = last.into_iter().find(|column| gone && row.columns.contains_key(column)) {
            let message = format!("`{column}` can never be compared: the row says that the job's record is gone");
            problems.say(&place.span, message);
        }
    }
}

/// Whether a fault does this to the worker.
fn is_done(draft: &Draft, worker: &str, done: fn(&Action) -> bool) -> bool {
    // A fault that could not be read may be the one.
    draft.faults_unread
        || draft.script.faults.iter().filter(|fault| done(&fault.action)).any(|fault| {
            let struck = fault.action.worker().or(fault.at.worker.as_deref());
            struck.is_none_or(|struck| struck == worker)
        })
}

fn condition(draft: &Draft, wanted: &Condition, spot: &Spot, problems: &mut Problems) {
    match wanted {
        Condition::Dead(worker) | Condition::Stopped(worker) | Condition::Settled(worker) => {
            known_worker(draft, worker, spot, problems);
        }
        Condition::Reached(wanted) => trigger(draft, wanted, spot, problems),
        Condition::After(_, wanted) => condition(draft, wanted, spot, problems),
    }
}

fn trigger(draft: &Draft, wanted: &Trigger, spot: &Spot, problems: &mut Problems) {
    if let Some(operation) = &wanted.operation
        && !draft.script.jobs.iter().any(|job| job.operation == *operation)
    {
        let known = draft.script.jobs.iter().map(|job| job.operation.as_str());
        problems.unknown(&spot.span, "operation", operation, known);
    }
    let Some(name) = &wanted.worker else { return };
    known_worker(draft, name, spot, problems);
    if draft.script.workers.iter().any(|worker| worker.name == *name && !worker.fetch) {
        let message = format!("worker `{name}` has `fetch = false`: it never reaches `{}`", wanted.place);
        problems.say(&spot.span, message);
    }
}

fn known_worker(draft: &Draft, name: &str, spot: &Spot, problems: &mut Problems) {
    if !draft.script.workers.iter().any(|worker| worker.name == name) {
        let span = problems.word_in(spot, name);
        problems.unknown(&span, "worker", name, draft.script.workers.iter().map(|worker| worker.name.as_str()));
    }
}

/// Workers that start only after each other.
fn waiting_in_a_circle(draft: &Draft, problems: &mut Problems) {
    let workers = &draft.script.workers;
    let mut waiting: Vec<usize> = (0..workers.len()).collect();
    loop {
        let before = waiting.len();
        let names: Vec<&str> = waiting.iter().map(|index| workers[*index].name.as_str()).collect();
        waiting.retain(|index| {
            workers[*index].start.as_ref().and_then(Condition::worker).is_some_and(|on| names.contains(&on))
        });
        if waiting.len() == before {
            break;
        }
    }
    for index in waiting {
        let name = &workers[index].name;
        if workers[index].start.as_ref().and_then(Condition::worker) != Some(name.as_str()) {
            let message = format!("worker `{}` never starts: it waits in a circle", shown(name));
            problems.say(&draft.workers[index].start.span, message);
        }
    }
}

fn twice<'a>(what: &str, spots: impl Iterator<Item = &'a Spot>, problems: &mut Problems) {
    let mut seen = std::collections::BTreeMap::<&str, &Spot>::new();
    for spot in spots {
        if let Some(first) = seen.insert(&spot.text, spot) {
            let line = problems.line(first.span.start);
            problems.say(&spot.span, format!("{what} `{}` is already stated in line {line}", shown(&spot.text)));
        }
    }
}

/// Names of variants that are used twice.
pub(super) fn variant_names(variants: &[Table], problems: &mut Problems) {
    let spot = |table: &Table| match table.get("name") {
        Some(node) => match &node.raw {
            Raw::Text(text) => Some(Spot { span: node.span.clone(), text: text.clone() }),
            _ => None,
        },
        None => None,
    };
    let names: Vec<Spot> = variants.iter().filter_map(spot).collect();
    twice("variant", names.iter(), problems);
}

/// Rows for variants and operations that do not exist, and rows of which neither wins.
pub(super) fn rows(scenario: &Scenario, places: &[Spot], problems: &mut Problems) {
    for (row, place) in scenario.expect.iter().zip(places) {
        let variants = || scenario.scripts.iter().filter_map(|script| script.variant.as_deref());
        if let Some(variant) = row.variant.as_deref().filter(|wanted| !variants().any(|variant| variant == *wanted)) {
            problems.unknown(&place.span, "variant", variant, variants());
            continue;
        }
        let Some(operation) = &row.operation else { continue };
        let scripts = scenario.scripts.iter().filter(|script| row.variant.is_none() || row.variant == script.variant);
        let known = scripts.flat_map(|script| script.jobs.iter().map(|job| job.operation.as_str()));
        if !known.clone().any(|known| known == operation) {
            problems.unknown(&place.span, "operation", operation, known);
        }
    }
    for script in &scenario.scripts {
        for (engine, protection) in cells() {
            let rows: Vec<&Row> = candidates(scenario, script.variant.as_deref(), engine, protection).collect();
            if let Some((first, second)) = undecided(&rows) {
                let place = scenario.expect.iter().position(|row| std::ptr::eq(row, second)).unwrap_or_default();
                let message = format!("this row and that of line {} are equally specific, so neither wins", first.line);
                let help = "state one more of `protection`, `variant`, `engine`, or remove one".to_owned();
                problems.add(&places[place].span, message, Some(help));
            }
        }
    }
}

/// Two rows of one operation that state equally much and can both hold, unless a row above both decides.
fn undecided<'a>(rows: &[&'a Row]) -> Option<(&'a Row, &'a Row)> {
    for (index, first) in rows.iter().enumerate() {
        let same = |row: &&&Row| row.operation == first.operation;
        let overruled = rows.iter().filter(same).any(|row| {
            specificity(row) > specificity(first) && row.engine.as_ref().is_none_or(|engine| engine.versions.is_none())
        });
        let tie = |row: &&&Row| specificity(row) == specificity(first) && versions_meet(row, first);
        if let Some(second) = rows[index + 1..].iter().filter(same).find(tie).filter(|_| !overruled) {
            return Some((first, second));
        }
    }
    None
}

/// Every script needs something to be compared with.
pub(super) fn every_script_has_a_row(scenario: &Scenario, spans: &[Range<usize>], problems: &mut Problems) {
    for (script, span) in scenario.scripts.iter().zip(spans) {
        let variant = script.variant.as_deref();
        if cells().any(|(engine, protection)| candidates(scenario, variant, engine, protection).next().is_some()) {
            continue;
        }
        let message = match variant {
            Some(variant) => format!("no row of `expect` holds for the variant `{}`", shown(variant)),
            None => "a scenario needs an expected table".to_owned(),
        };
        let help = "`expect = [ { executions = 1, effects = 1 } ]`, above the first table".to_owned();
        problems.add(span, message, Some(help));
    }
}

fn cells() -> impl Iterator<Item = (Engine, Protection)> {
    Engine::ALL.iter().flat_map(|engine| Protection::ALL.iter().map(move |protection| (*engine, *protection)))
}
