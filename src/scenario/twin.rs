//! The fault-free twin of a script: the same script without its faults, under the `[twin]` keys.

use crate::fault::Condition;

use super::decode::PLAIN_TOP;
use super::error::Problems;
use super::fields::Fields;
use super::merge::{apply_defaults, overlay, without};
use super::model::{Column, Columns, Script, Twin, Value};
use super::script::{check_defaults, script};
use super::tree::{Node, Raw, Table};
use super::{rows, validate};

/// The shortest lock of a twin's worker, ms.
const LOCK_MIN_MS: u64 = 10_000;

const TWIN: &[&str] = &["expect", "skip", "end", "within", "defaults", "job", "worker"];

/// Builds the twin of a merged table whose defaults are not applied yet.
pub(super) fn twin(merged: &Table, variant: Option<&str>, problems: &mut Problems) -> Twin {
    let mut fields = Fields { table: merged, what: "the file", problems };
    let keys = fields.inner("twin").unwrap_or_default();
    let mut fields = Fields { table: &keys, what: "`[twin]`", problems };
    fields.known(TWIN, PLAIN_TOP);
    let expect = fields.inner("expect").map(|table| rows::columns(&table, &[], problems));
    if keys.get("skip").is_some() {
        let why = Fields { table: &keys, what: "`[twin]`", problems }.text("skip").unwrap_or_default().text;
        return Twin::Skip { why };
    }
    let span = match merged.get("twin") {
        Some(node) => node.span.clone(),
        None => merged.span.clone(),
    };
    let mut table = overlay(&without(merged, &["fault", "twin", "end"]), &without(&keys, &["expect", "skip"]));
    table.span = merged.span.clone();
    check_defaults(&table, problems);
    apply_defaults(&mut table);
    let mut draft = script(&table, variant, problems);
    validate::script(&draft, problems);
    lengthen_locks(&mut draft.script, &keys);
    let had_workers = !draft.script.workers.is_empty();
    remove_what_cannot_happen(&mut draft.script);
    if had_workers && !draft.script.workers.iter().any(|worker| worker.fetch) {
        let help = "without its faults no worker is left to take them: state `[twin]` keys, or `skip = \"why\"`";
        problems.add(&span, "the twin has no worker that takes jobs", Some(help.to_owned()));
    }
    Twin::Run { script: Box::new(draft.script), expect: expect.unwrap_or_else(default_expect) }
}

/// A lock that is short so that a recovery is quick has no such reason without a fault: there it would only make the
/// twin depend on the speed of the machine. What `[twin]` states itself stays.
fn lengthen_locks(script: &mut Script, keys: &Table) {
    let stated = |name: &str| {
        let workers = keys.get("worker").map(|node| &node.raw);
        let Some(Raw::List(workers)) = workers else { return false };
        workers.iter().filter_map(Node::table).any(|worker| {
            let named = matches!(worker.get("name").map(|node| &node.raw), Some(Raw::Text(text)) if text == name);
            named && worker.get("lock").is_some()
        })
    };
    for worker in script.workers.iter_mut().filter(|worker| !stated(&worker.name)) {
        worker.lock_ms = worker.lock_ms.max(LOCK_MIN_MS);
    }
}

/// What a twin has to give unless the file says otherwise: nothing happened twice, nothing was lost.
fn default_expect() -> Columns {
    Columns::from([
        (Column::Executions, Value::Count(1)),
        (Column::Effects, Value::Count(1)),
        (Column::Stalled, Value::Count(0)),
        (Column::State, Value::Text("completed".to_owned())),
    ])
}

/// Without faults nobody dies, and a worker that is not started reaches nothing: removes, until nothing changes, every
/// worker that waits for such a thing. An `end` that cannot occur gives way to the usual one.
fn remove_what_cannot_happen(script: &mut Script) {
    loop {
        let names: Vec<String> = script.workers.iter().map(|worker| worker.name.clone()).collect();
        let possible = |condition: &Condition| match condition.moment() {
            Condition::Dead(_) | Condition::Stopped(_) | Condition::After(..) => false,
            Condition::Settled(worker) => names.contains(worker),
            Condition::Reached(trigger) => trigger.worker.as_ref().is_none_or(|worker| names.contains(worker)),
        };
        script.workers.retain(|worker| worker.start.as_ref().is_none_or(possible));
        script.end = script.end.take().filter(possible);
        if script.workers.len() == names.len() {
            return;
        }
    }
}
