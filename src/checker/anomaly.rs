//! Names for what an operation's columns show, whether the table expects it or not.

use crate::scenario::{Column, Columns, Value};

/// The anomaly of one operation, for example `double-effect/stalled-recovery`.
pub fn name(columns: &Columns) -> Option<String> {
    let count = |column: Column| match columns.get(&column) {
        Some(Value::Count(count)) => *count,
        _ => 0,
    };
    if count(Column::Partial) > 0 {
        return Some("partial-effect".to_owned());
    }
    match count(Column::Effects) {
        0 if columns.get(&Column::Effects) == Some(&Value::Count(0)) => Some("lost-effect".to_owned()),
        0 | 1 => None,
        _ => Some(format!("double-effect/{}", cause(columns, count))),
    }
}

/// The layer that ran the operation again (article A, claim 2).
fn cause(columns: &Columns, count: impl Fn(Column) -> u64) -> &'static str {
    let retried = match columns.get(&Column::AttemptsMade) {
        Some(Value::List(seen)) => seen.iter().any(|value| *value != Value::Count(0)),
        _ => false,
    };
    if count(Column::DistinctJobs) > 1 {
        "duplicate-job"
    } else if count(Column::Stalled) > 0 {
        "stalled-recovery"
    } else if retried {
        "retry"
    } else {
        "unexplained"
    }
}
