//! The command line: arguments, one file per verb, one exit status decided in one place.

mod check;
mod judge;
mod list;
mod outputs;
mod progress;
mod records;
mod results;
mod run;
mod schedule;
mod selftest;
mod session;
mod visible;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::outcome::Exit;
use crate::{process, worker};

/// Proves what happens to a job handler's effects when the job runs twice.
#[derive(Debug, Parser)]
#[command(name = "lab", version, about, max_term_width = 100, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    color: colorchoice_clap::Color,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run scenarios on real services and judge them
    Run(run::Args),
    /// List what there is: scenarios, points, faults, engines, protections, runs
    List(list::Args),
    /// Validate scenario files
    Check(check::Args),
    /// Judge the histories of a stored run again; nothing is run
    Judge(judge::Args),
    /// Plant defects in the lab's own system and records; each must turn red
    Selftest(selftest::Args),
    /// The built-in subject, started by the lab
    #[command(hide = true)]
    Worker,
    /// Keeps a command's process tree, started by the lab
    #[command(hide = true)]
    Keeper {
        /// The command
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<std::ffi::OsString>,
    },
}

/// Runs the command line; the process's exit status.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            let code = if error.use_stderr() { Exit::Usage } else { Exit::AllMatched };
            return status(code.code());
        }
    };
    cli.color.write_global();
    let exit = match cli.verb {
        Verb::Run(args) => run::run(&args),
        Verb::List(args) => list::run(&args),
        Verb::Check(args) => check::run(&args),
        Verb::Judge(args) => judge::run(&args),
        Verb::Selftest(args) => selftest::run(&args),
        Verb::Worker => worker::main().map(|()| Exit::AllMatched),
        Verb::Keeper { command } => return status(process::keeper::main(&command)),
    };
    status(exit.unwrap_or_else(|error| explain(&error)).code())
}

/// A mistake of the user's, told apart from a broken surrounding.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

/// Shows an error and decides what it is.
fn explain(error: &anyhow::Error) -> Exit {
    // Whoever reads a pipe may close it: that is the end, not a failure.
    let broken_pipe = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
    };
    if error.chain().any(broken_pipe) {
        return Exit::Environment;
    }
    if let Some(Usage(text)) = error.downcast_ref() {
        notice(text);
        return Exit::Usage;
    }
    notice(&format!("error: {error:#}"));
    Exit::Environment
}

/// The one door to stderr.
fn notice(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{}", text.trim_end());
}

/// The one door to stdout.
fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}

fn status(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}
