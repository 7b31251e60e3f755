//! How a child is started, watched, ended and never leaked. Imports nothing of the lab.
//!
//! [`spawn`]: one thread starts every child, because a parent-death signal belongs to the thread that forked. [`child`]:
//! a started child; its death is only ever believed from its wait status. [`keeper`]: stands between the lab and a
//! command that may start others. [`interrupt`]: INT, TERM and HUP. [`identity`]: which process a pid is. [`tree`]: the
//! descendants of a process. Only what the lab started is ever signalled, by pid, never by name.

pub mod child;
mod disposition;
pub mod identity;
pub mod interrupt;
pub mod keeper;
pub mod spawn;
pub mod tree;

pub use child::{Child, describe};
pub use interrupt::Interrupts;
pub use nix::sys::signal::Signal;
pub use spawn::{Spawner, Spec};
