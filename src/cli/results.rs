//! From judgements to results: what the checker found, as the plain data that reports show.

use serde_json::Value as Json;

use super::records::{Stored, StoredTwin};
use crate::checker::Judgement;
use crate::fault::Engine;
use crate::outcome::{CaseResult, Cell, OperationResult, Reason, TwinResult, Verdict};
use crate::scenario::Column;

/// The result of a case that was judged.
pub(super) fn case(case: &Stored, repeat: u32, tries: u32, history: &str, judgement: &Judgement) -> CaseResult {
    CaseResult {
        verdict: judgement.verdict,
        because: judgement.because.clone(),
        operations: case.operations.iter().filter_map(|operation| one(case, operation, judgement)).collect(),
        ..blank(case, repeat, tries, history)
    }
}

/// The result of a case that gave no history to judge.
pub(super) fn broken(case: &Stored, repeat: u32, tries: u32, history: &str, error: &anyhow::Error) -> CaseResult {
    CaseResult { because: Some(format!("{error:#}")), ..blank(case, repeat, tries, history) }
}

fn blank(case: &Stored, repeat: u32, tries: u32, history: &str) -> CaseResult {
    CaseResult {
        case: case.id.to_string(),
        scenario: case.id.scenario.clone(),
        variant: case.id.variant.clone(),
        engine: case.id.engine.word().to_owned(),
        protection: case.id.protection.word().to_owned(),
        repeat,
        tries,
        verdict: Verdict::Error,
        because: None,
        operations: Vec::new(),
        twin: TwinResult::Skipped("not run".to_owned()),
        elapsed_ms: 0,
        history: history.to_owned(),
        repro: repro(case),
    }
}

fn one(case: &Stored, operation: &str, judgement: &Judgement) -> Option<OperationResult> {
    let observed = judgement.observed.get(operation)?;
    let expected = case.expected.get(operation);
    let cell = |column: &Column| {
        let (stated, seen) = (expected.and_then(|expected| expected.get(column)), observed.get(column)?);
        Some(Cell {
            column: column.word().to_owned(),
            expected: stated.map(json),
            observed: json(seen),
            holds: stated.is_none_or(|stated| stated.holds(seen)),
        })
    };
    Some(OperationResult {
        operation: operation.to_owned(),
        cells: Column::ALL.iter().filter_map(cell).collect(),
        job_ids: judgement.job_ids.get(operation).cloned().unwrap_or_default(),
        anomaly: judgement.anomalies.get(operation).cloned(),
    })
}

/// The result of a twin that was judged.
pub(super) fn twin(judgement: &Judgement) -> TwinResult {
    if judgement.verdict == Verdict::Match {
        return TwinResult::Matched;
    }
    let cell = |difference: &crate::checker::Difference| {
        format!(
            "{} of {}: expected {}, observed {}",
            difference.column, difference.operation, difference.expected, difference.observed
        )
    };
    let cells = judgement.differences.iter().map(cell).collect::<Vec<_>>().join("; ");
    TwinResult::Differs(judgement.because.clone().unwrap_or(cells))
}

/// The result of a twin that is not run.
pub(super) fn twin_skipped(case: &Stored) -> TwinResult {
    match &case.twin {
        StoredTwin::Skipped(why) => TwinResult::Skipped(why.clone()),
        StoredTwin::Expected(_) => TwinResult::Skipped("it has no script".to_owned()),
    }
}

/// A case whose twin did not behave proves nothing.
pub(super) fn doubt(result: &mut CaseResult, twin: &TwinResult) {
    result.twin = twin.clone();
    match twin {
        TwinResult::Matched | TwinResult::Skipped(_) => {}
        _ if result.verdict == Verdict::Error => {}
        TwinResult::Differs(because) => {
            result.verdict = Verdict::Inconclusive(Reason::TwinDiffers);
            result.because = Some(format!("without its faults the scenario does not behave: {because}"));
        }
        TwinResult::Broke(because) => {
            result.verdict = Verdict::Error;
            result.because = Some(format!("the fault-free twin broke: {because}"));
        }
    }
}

/// The command that runs a case again.
fn repro(case: &Stored) -> String {
    let mut command = format!("lab run --scenario {}", shell_word(&case.spec));
    if case.id.engine != Engine::BullmqRs {
        command.push_str(&format!(" --engine {}", case.id.engine));
    }
    command.push_str(&format!(" --protection {}", case.id.protection));
    command
}

/// A word that a shell reads as it is.
fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

fn json(value: &crate::scenario::Value) -> Json {
    serde_json::to_value(value).unwrap_or(Json::Null)
}
