//! Judges a history. Pure: the same history and table give the same judgement, also years later (`lab judge`).
//!
//! First whether the history proves anything at all ([`fired`], [`records`]), then what it shows ([`observe`]), then
//! whether that is what the table states ([`mod@judge`]). [`anomaly`] gives what is seen a name.

pub mod anomaly;
pub mod facts;
pub mod fired;
pub mod judge;
pub mod observe;
pub mod records;

pub use judge::{Difference, Expected, Judgement, judge};
