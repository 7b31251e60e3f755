//! `lab check`: validates scenario files without running anything.

use super::{Usage, notice, print, run};
use crate::outcome::Exit;
use crate::scenario::{self, LoadError};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Scenario files, or names of built-in scenarios
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut bad = 0;
    for file in &args.files {
        match scenario::load(file) {
            Ok(scenarios) => {
                for scenario in scenarios {
                    let (variants, rows) = (scenario.scripts.len(), scenario.expect.len());
                    print(&format!("{}: good ({rows} rows, {variants} scripts)\n", scenario.origin))?;
                }
            }
            Err(error @ LoadError::Unreadable { .. }) => return Err(run::usage(error).into()),
            Err(error) => {
                let Usage(text) = run::usage(error);
                notice(&format!("{}{text}", if bad > 0 { "\n" } else { "" }));
                bad += 1;
            }
        }
    }
    Ok(if bad == 0 { Exit::AllMatched } else { Exit::Usage })
}
