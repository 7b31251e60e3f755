//! Results as a terminal may show them. Operations, titles and failures are free text: a control character in one of
//! them must not move the cursor, colour a verdict or add a line that looks like one.

use serde_json::Value;

use crate::fault::words::hidden;
use crate::outcome::{CaseResult, TwinResult};

/// A text of one line.
pub(super) fn text(text: &str) -> String {
    let one = |char: char| if hidden(char) { char.escape_default().to_string() } else { char.to_string() };
    text.chars().map(one).collect()
}

/// A text of the lab's own, in which lines may end.
fn lines(told: &str) -> String {
    told.lines().map(text).collect::<Vec<_>>().join("\n")
}

fn value(value: &mut Value) {
    match value {
        Value::String(told) => *told = text(told),
        Value::Array(values) => values.iter_mut().for_each(self::value),
        _ => {}
    }
}

/// A result with every text of it escaped, except for the path of its history.
pub(super) fn result(mut result: CaseResult) -> CaseResult {
    result.because = result.because.as_deref().map(lines);
    result.case = text(&result.case);
    result.scenario = text(&result.scenario);
    result.variant = result.variant.as_deref().map(text);
    result.repro = text(&result.repro);
    if let TwinResult::Differs(told) | TwinResult::Broke(told) | TwinResult::Skipped(told) = &mut result.twin {
        *told = lines(told);
    }
    for operation in &mut result.operations {
        operation.operation = text(&operation.operation);
        operation.job_ids.iter_mut().for_each(|id| *id = text(id));
        for cell in &mut operation.cells {
            cell.expected.iter_mut().for_each(value);
            value(&mut cell.observed);
        }
    }
    result
}
