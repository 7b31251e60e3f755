//! Tables to a [`Script`]: jobs, workers, faults, with every default filled in, and where each name stands.

use std::ops::Range;

use crate::fault::words::shown;
use crate::fault::{Condition, grammar};

use super::decode::PLAIN_TOP;
use super::error::Problems;
use super::fields::{Fields, Spot};
use super::model::{Backoff, Dedup, Fault, Job, Script, Twin, WITHIN_DEFAULT, Worker};
use super::tree::{Raw, Table};

/// How many jobs, workers and faults a script may have.
const JOBS_MAX: usize = 100;
const WORKERS_MAX: usize = 32;
const FAULTS_MAX: usize = 64;
/// The queue keeps a priority in 21 bits.
const PRIORITY_MAX: u32 = 1 << 21;

const JOB: &[&str] =
    &["operation", "attempts", "backoff", "id", "dedup", "delay", "priority", "remove-on-complete", "remove-on-fail"];
const WORKER: &[&str] = &[
    "name",
    "start",
    "lock",
    "stalled-interval",
    "check",
    "fetch",
    "renew",
    "max-stalled",
    "retry-delay",
    "concurrency",
    "progress",
];

/// A script and where its words stand, for the checks that follow.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) script: Script,
    /// The header of the variant, or the start of the file.
    pub(super) span: Range<usize>,
    pub(super) operations: Vec<Spot>,
    pub(super) workers: Vec<WorkerSpots>,
    /// `at` and `do` of each fault.
    pub(super) faults: Vec<(Spot, Spot)>,
    /// Whether the file states faults that could not be read.
    pub(super) faults_unread: bool,
    pub(super) end: Spot,
}

/// Where a worker's words stand.
#[derive(Debug)]
pub(super) struct WorkerSpots {
    pub(super) name: Spot,
    pub(super) start: Spot,
}

/// Reads the script out of a merged table whose defaults are applied. Without faults for a twin.
pub(super) fn script(table: &Table, variant: Option<&str>, problems: &mut Problems) -> Draft {
    let mut fields = Fields { table, what: "the file", problems };
    let within_ms = fields.duration("within", 1, u64::try_from(WITHIN_DEFAULT.as_millis()).unwrap_or(u64::MAX));
    let (end, end_spot) = condition(&mut fields, "end");
    let jobs = fields.items("job", JOBS_MAX);
    let workers = fields.items("worker", WORKERS_MAX);
    let faults = fields.items("fault", FAULTS_MAX);
    for (key, why) in [("job", "something has to be produced"), ("worker", "somebody has to work")] {
        if !matches!(table.get(key), Some(node) if !matches!(&node.raw, Raw::List(list) if list.is_empty())) {
            problems.say(&table.span, format!("a script needs at least one `[[{key}]]`: {why}"));
        }
    }
    let (jobs, operations) = jobs.iter().filter_map(|table| job(table, problems)).unzip();
    let (workers, worker_spots) = workers.iter().filter_map(|table| worker(table, problems)).unzip();
    let stated = faults.len();
    let (faults, fault_spots): (Vec<_>, Vec<_>) = faults.iter().filter_map(|table| fault(table, problems)).unzip();
    let faults_unread = faults.len() < stated;
    let variant = variant.map(str::to_owned);
    Draft {
        script: Script { variant, jobs, workers, faults, end, within_ms, twin: Twin::IsTwin },
        span: table.span.clone(),
        operations,
        workers: worker_spots,
        faults: fault_spots,
        faults_unread,
        end: end_spot,
    }
}

/// Tells what is wrong with `[defaults]`, whose keys are those of the tables above it but for the names.
pub(super) fn check_defaults(table: &Table, problems: &mut Problems) {
    let mut fields = Fields { table, what: "the file", problems };
    let Some(defaults) = fields.inner("defaults") else { return };
    let mut fields = Fields { table: &defaults, what: "`[defaults]`", problems };
    fields.known(&["job", "worker"], PLAIN_TOP);
    for (key, what, known) in [("job", "`[defaults.job]`", JOB), ("worker", "`[defaults.worker]`", WORKER)] {
        let mut fields = Fields { table: &defaults, what, problems };
        if let Some(inner) = fields.inner(key) {
            // The name is the first of the known keys, and no default.
            Fields { table: &inner, what, problems }.known(&known[1..], PLAIN_TOP);
        }
    }
}

fn job(table: &Table, problems: &mut Problems) -> Option<(Job, Spot)> {
    let mut fields = Fields { table, what: "`[[job]]`", problems };
    fields.known(JOB, PLAIN_TOP);
    let operation = fields.required_text("operation");
    let (attempts, priority) = (fields.count("attempts", 0..=1000, 1), fields.count("priority", 0..=PRIORITY_MAX, 0));
    let (delay_ms, id) = (fields.duration("delay", 0, 0), fields.text("id").map(|id| id.text));
    let remove_on_complete = fields.flag("remove-on-complete", false);
    let remove_on_fail = fields.flag("remove-on-fail", false);
    let backoff = backoff(&mut fields);
    let dedup = dedup(&mut fields);
    let spot = operation?;
    let operation = spot.text.clone();
    let job = Job { operation, attempts, backoff, id, dedup, delay_ms, priority, remove_on_complete, remove_on_fail };
    Some((job, spot))
}

/// `{ id = "credit-482", ttl = "1h" }`.
fn dedup(fields: &mut Fields<'_>) -> Option<Dedup> {
    let table = fields.inner("dedup")?;
    let mut inner = Fields { table: &table, what: "`dedup`", problems: fields.problems };
    inner.known(&["id", "ttl"], &[]);
    let ttl_ms = table.get("ttl").is_some().then(|| inner.duration("ttl", 1, 0));
    Some(Dedup { id: inner.required_text("id")?.text, ttl_ms })
}

/// `"100ms"`, or `{ type = "exponential", delay = "100ms" }`.
fn backoff(fields: &mut Fields<'_>) -> Option<Backoff> {
    let node = fields.table.get("backoff")?;
    let Some(table) = node.table() else {
        return Some(Backoff::Fixed(fields.duration("backoff", 0, 0)));
    };
    let mut inner = Fields { table, what: "`backoff`", problems: fields.problems };
    inner.known(&["type", "delay"], &[]);
    let kind = inner.required_text("type");
    if inner.table.get("delay").is_none() {
        inner.problems.say(&node.span, "`backoff` needs the key `delay`");
    }
    let delay_ms = inner.duration("delay", 0, 0);
    match kind?.text.as_str() {
        "fixed" => Some(Backoff::Fixed(delay_ms)),
        "exponential" => Some(Backoff::Exponential(delay_ms)),
        other => {
            let span = table.get("type").map_or(&node.span, |node| &node.span);
            fields.problems.unknown(span, "backoff type", other, ["fixed", "exponential"]);
            None
        }
    }
}

fn worker(table: &Table, problems: &mut Problems) -> Option<(Worker, WorkerSpots)> {
    let mut fields = Fields { table, what: "`[[worker]]`", problems };
    fields.known(WORKER, PLAIN_TOP);
    let name = fields.required_text("name");
    let (start, start_spot) = condition(&mut fields, "start");
    let worker = Worker {
        name: name.as_ref().map_or_else(String::new, |name| name.text.clone()),
        start,
        lock_ms: fields.duration("lock", 1, 30_000),
        stalled_interval_ms: fields.duration("stalled-interval", 1, 30_000),
        check: fields.flag("check", true),
        fetch: fields.flag("fetch", true),
        renew: fields.flag("renew", true),
        max_stalled: fields.count("max-stalled", 0..=1_000_000, 1),
        retry_delay_ms: fields.duration("retry-delay", 0, 15_000),
        concurrency: fields.count("concurrency", 1..=1000, 1),
        progress_ms: table.get("progress").is_some().then(|| fields.duration("progress", 1, 0)),
    };
    let name = name?;
    if !grammar::is_worker_name(&name.text) {
        let message = format!("`{}` is no worker's name", shown(&name.text));
        problems.add(&name.span, message, Some(grammar::WORKER_NAME_HELP.to_owned()));
    }
    Some((worker, WorkerSpots { name, start: start_spot }))
}

fn fault(table: &Table, problems: &mut Problems) -> Option<(Fault, (Spot, Spot))> {
    let mut fields = Fields { table, what: "`[[fault]]`", problems };
    fields.known(&["at", "do"], PLAIN_TOP);
    let (at_spot, do_spot) = (fields.required_text("at"), fields.required_text("do"));
    let mut read = |spot: &Spot, error| problems.grammar(&spot.span, error);
    let at = at_spot.as_ref().and_then(|spot| grammar::trigger(&spot.text).map_err(|error| read(spot, error)).ok());
    let action = do_spot.as_ref().and_then(|spot| grammar::action(&spot.text).map_err(|error| read(spot, error)).ok());
    Some((Fault { at: at?, action: action? }, (at_spot?, do_spot?)))
}

fn condition(fields: &mut Fields<'_>, key: &str) -> (Option<Condition>, Spot) {
    let Some(spot) = fields.text(key) else { return (None, Spot::default()) };
    match grammar::condition(&spot.text) {
        Ok(condition) => (Some(condition), spot),
        Err(error) => {
            fields.problems.grammar(&spot.span, error);
            (None, spot)
        }
    }
}
