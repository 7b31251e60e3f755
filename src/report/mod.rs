//! The faces of a result: [`terminal`] for a person, [`ndjson`] for a program. Both are functions of plain results; they
//! look nothing up.

pub mod ndjson;
pub mod paint;
pub mod terminal;
