//! One JSON object a line: a `case` line per result, a `twin` line per twin, one `summary`. Names are the file's column
//! names with `_`.

use serde_json::{Map, Value, json};

use crate::outcome::{CaseResult, Cell, Exit, OperationResult, Tally, TwinResult};

/// Version of the line format.
pub const VERSION: u32 = 1;

/// The line of one case.
pub fn case(run: &str, result: &CaseResult) -> Value {
    let of = |operation: &OperationResult, pick: fn(&Cell) -> Option<Value>| {
        let mut object = columns(operation.cells.iter(), pick);
        object.insert("job_ids".to_owned(), json!(operation.job_ids));
        object
    };
    let operations: Vec<Value> = result
        .operations
        .iter()
        .map(|operation| {
            json!({
                "operation": operation.operation,
                "expected": columns(operation.cells.iter(), |cell| cell.expected.clone()),
                "observed": of(operation, |cell| Some(cell.observed.clone())),
                "anomaly": operation.anomaly,
            })
        })
        .collect();
    let differences: Vec<Value> = result
        .differences()
        .map(|(operation, cell)| {
            json!({
                "operation": operation.operation,
                "column": json_name(&cell.column),
                "expected": cell.expected,
                "observed": cell.observed,
            })
        })
        .collect();
    let first = result.operations.first();
    json!({
        "v": VERSION, "type": "case", "run": run, "case": result.case, "repeat": result.repeat,
        "scenario": result.scenario, "variant": result.variant, "engine": result.engine,
        "protection": result.protection, "verdict": result.verdict.word(),
        "reason": result.verdict.reason().map(|reason| reason.word()), "because": result.because,
        "expected": first.map(|operation| columns(operation.cells.iter(), |cell| cell.expected.clone())),
        "observed": first.map(|operation| of(operation, |cell| Some(cell.observed.clone()))),
        "anomaly": first.and_then(|operation| operation.anomaly.clone()),
        "operations": operations, "differences": differences, "twin": twin(&result.twin),
        "tries": result.tries, "elapsed_ms": result.elapsed_ms, "history": result.history, "repro": result.repro,
    })
}

/// The line of one twin. Twins are not counted in `cases`.
pub fn twin_line(run: &str, case: &str, result: &TwinResult) -> Value {
    let mut line = json!({ "v": VERSION, "type": "twin", "run": run, "case": case });
    if let (Some(line), Value::Object(twin)) = (line.as_object_mut(), twin(result)) {
        line.extend(twin);
    }
    line
}

/// The last line.
pub fn summary(run: &str, tally: &Tally, elapsed_ms: u64, exit: Exit) -> Value {
    json!({
        "v": VERSION, "type": "summary", "run": run, "cases": tally.cases, "matched": tally.matched,
        "mismatched": tally.mismatched, "inconclusive": tally.inconclusive, "skipped": tally.skipped,
        "errors": tally.errors, "elapsed_ms": elapsed_ms, "exit_code": exit.code(),
    })
}

fn twin(result: &TwinResult) -> Value {
    match result {
        TwinResult::Matched => json!({ "verdict": "match" }),
        TwinResult::Differs(because) => json!({ "verdict": "differs", "because": because }),
        TwinResult::Broke(because) => json!({ "verdict": "error", "because": because }),
        TwinResult::Skipped(because) => json!({ "verdict": "skipped", "because": because }),
    }
}

/// Columns as an object; those of `final.` are an object of their own.
fn columns<'a>(cells: impl Iterator<Item = &'a Cell>, pick: fn(&Cell) -> Option<Value>) -> Map<String, Value> {
    let mut object = Map::new();
    for cell in cells {
        let Some(value) = pick(cell) else {
            continue;
        };
        let name = json_name(&cell.column);
        match name.split_once('.') {
            None => drop(object.insert(name, value)),
            Some((outer, inner)) => {
                let within = object.entry(outer).or_insert_with(|| json!({}));
                if let Some(within) = within.as_object_mut() {
                    within.insert(inner.to_owned(), value);
                }
            }
        }
    }
    object
}

fn json_name(column: &str) -> String {
    column.replace('-', "_")
}
