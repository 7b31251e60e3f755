//! Reads a scenario file into a [`Scenario`]: `file` and `decode` (TOML to model), `validate`, `error` (line, column,
//! caret, nearest name), `catalog` (the built-in library).

pub mod expect;
pub mod model;

pub use model::{Column, Columns, Scenario, Value};
