//! Reads a scenario file into a [`Scenario`].
//!
//! In reading order: `file` (bounded), `tree` (TOML in which everything knows where it stands), `merge` (variants, twins
//! and defaults laid over each other), `decode` with `script`, `rows` and `twin` (tables to model), `validate` (what is
//! named exists and can happen), `error` (line, column, caret, nearest name), `select` (which row holds for a case),
//! `catalog` (the built-in library).

pub mod catalog;
mod decode;
pub mod error;
pub mod expect;
mod fields;
pub mod file;
mod merge;
pub mod model;
mod rows;
mod script;
mod select;
mod tree;
mod twin;
mod validate;

pub use catalog::{LoadError, load, load_all};
pub use error::Problems;
pub use model::{Column, Columns, Scenario, Value};
pub use select::expect_for;
