//! The faces of a result: [`terminal`] for a person, [`ndjson`] for a program; [`timeline`] draws a history. All are
//! functions of what they are given; they look nothing up.

pub mod ndjson;
pub mod paint;
pub mod terminal;
pub mod timeline;
