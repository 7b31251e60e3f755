//! The result of one case as plain data: everything that a report shows, nothing that it would have to look up.

use serde_json::Value;

use super::verdict::Verdict;

/// The result of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseResult {
    /// The case's id.
    pub case: String,
    /// The scenario.
    pub scenario: String,
    /// The variant.
    pub variant: Option<String>,
    /// The engine.
    pub engine: String,
    /// The protection.
    pub protection: String,
    /// Number of the repetition, from 1.
    pub repeat: u32,
    /// How often it was tried: more than 1 after an early stall.
    pub tries: u32,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is inconclusive, or what broke: the evidence.
    pub because: Option<String>,
    /// The operations, in the order of the file.
    pub operations: Vec<OperationResult>,
    /// The fault-free twin.
    pub twin: TwinResult,
    /// How long it took, ms.
    pub elapsed_ms: u64,
    /// Path of its history.
    pub history: String,
    /// The command that runs this case again.
    pub repro: String,
}

/// What was expected and observed of one operation.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationResult {
    /// The operation.
    pub operation: String,
    /// Every column, in the order of the table.
    pub cells: Vec<Cell>,
    /// The job ids that carried it.
    pub job_ids: Vec<String>,
    /// A name for what happened.
    pub anomaly: Option<String>,
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The column's name as the file has it.
    pub column: String,
    /// What the table states; `None` if it states nothing.
    pub expected: Option<Value>,
    /// What the history shows.
    pub observed: Value,
    /// Whether the two agree. True if nothing is stated.
    pub holds: bool,
}

/// How the fault-free twin went.
#[derive(Debug, Clone, PartialEq)]
pub enum TwinResult {
    /// It behaved.
    Matched,
    /// It did not: what differed.
    Differs(String),
    /// It gave no history to judge: what broke.
    Broke(String),
    /// It was not run, for this reason.
    Skipped(String),
}

impl OperationResult {
    /// A cell by its column's name.
    pub fn cell(&self, column: &str) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.column == column)
    }
}

impl CaseResult {
    /// Every cell that is not as stated, with its operation.
    pub fn differences(&self) -> impl Iterator<Item = (&OperationResult, &Cell)> {
        self.operations
            .iter()
            .flat_map(|operation| operation.cells.iter().filter(|cell| !cell.holds).map(move |cell| (operation, cell)))
    }
}

/// A value as a person reads it: lists with spaces, nothing as `-`.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(values) if values.is_empty() => "none".to_owned(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}
