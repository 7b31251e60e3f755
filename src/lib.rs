//! Proves what happens to a job handler's effects when the job runs twice.
//!
//! A run is one sentence: **read** scenarios, **plan** their cases, **run** each on real servers with real processes,
//! **judge** its history, **report**. It stands in `cli/run.rs`.
//!
//! # Two houses and a wall
//!
//! Two kinds of process, so two houses. The *runner house* starts everything, strikes at points, reads what is true and
//! judges it; it does not know how a queue works. The *worker house* runs job handlers on a real queue and stops at
//! points; it does not know what is expected of it. Between them is the *wall*: JSON lines over a socket. [`protocol`] and
//! the words of [`fault`] are the only rooms that both may enter.
//!
//! ```text
//!  scenarios/*.toml
//!        |
//!   scenario --> plan --> runner -----------------> history --> checker --> outcome --> report
//!    (read)    (cases)  (one case)                  (NDJSON)    (pure)      (words)    (faces)
//!                        |   |   |
//!                   service  |  nemesis
//!                 (servers) subject (acts at points)
//!                            |
//!                            |== protocol ==> worker: engine + handler + failpoint
//! ```
//!
//! # The rooms, in the order of a run
//!
//! | room | what happens in it |
//! |---|---|
//! | [`cli`] | arguments, one file per verb, the exit status; joins all the others |
//! | [`scenario`] | a file becomes a checked scenario, or everything that is wrong with it is told |
//! | [`fault`] | the words: points, triggers, actions and their grammar, protections, engines |
//! | [`plan`] | scenarios become cases: which cells, under which ids, judged by which rows |
//! | [`process`] | how a child is started, watched, ended, and never left behind |
//! | [`service`] | a private Redis and a private PostgreSQL for the time of the run |
//! | [`protocol`] | the wall: messages and how they are framed |
//! | [`worker`] | the other house: the queue's own worker, its handlers, its parking points; and the inspector |
//! | [`subject`] | one child process and its socket, seen from the runner |
//! | [`nemesis`] | armed faults become orders, and count as fired when the deed is confirmed |
//! | [`effect`] | the tables that effects are written to, and how often each operation is in them |
//! | [`history`] | what happened, in order, on disk; executions are folded out of it |
//! | [`runner`] | one case, from an empty world back to an empty world; it judges nothing |
//! | [`checker`] | does the history prove anything, what does it show, is that what the table states; pure |
//! | [`outcome`] | the words for how a case and a run end |
//! | [`report`] | results for a person and for a program |
//!
//! Who may import whom is a table in `tests/arrows.rs`.
//!
//! # Where to begin
//!
//! A scenario (`scenarios/stall/stall-kill.toml`), then this page, then `cli/run.rs`, then `runner/case.rs`.

pub mod cli;

pub mod scenario;

pub mod fault;

pub mod plan;

pub mod process;

pub mod service;

pub mod protocol;

pub mod worker;

pub mod subject;

pub mod nemesis;

pub mod effect;

pub mod history;

pub mod runner;

pub mod checker;

pub mod outcome;

pub mod report;
