//! The `lab` binary. Everything is in the library; see its tour.

use std::process::ExitCode;

fn main() -> ExitCode {
    lab::cli::main()
}
