//! The wall between the two houses: JSON lines over a unix socket.
//!
//! A subject connects to `LABW_SOCKET`, says `hello`, then `ready`, and waits for `start`. At every parking point it
//! sends `point` and waits for the `answer`. [`message`] is the vocabulary, [`codec`] frames it, [`mod@env`] names the
//! variables. Nothing here knows what a queue or a scenario is.

pub mod codec;
pub mod env;
pub mod message;

pub use codec::{LineError, Reader, write_line};
pub use message::{FromSubject, JobOptions, ToSubject, WorkerOptions};

/// The protocol version that this lab speaks.
pub const VERSION: u32 = 1;
