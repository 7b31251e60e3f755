//! `lab list`: what there is, one line each.

use super::{print, records, run};
use crate::fault::{Action, Engine, Point, Protection, QueueEvent};
use crate::outcome::Exit;
use crate::scenario;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What to list
    #[arg(value_enum, default_value_t = What::Scenarios)]
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum What {
    /// Built-in scenarios
    Scenarios,
    /// Where a fault can act
    Points,
    /// What a fault can do
    Faults,
    /// Queue implementations
    Engines,
    /// Ways to prevent duplicate effects
    Protections,
    /// Stored runs, oldest first
    Runs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let lines: Vec<(String, String)> = match args.what {
        What::Scenarios => {
            let all = scenario::load_all().map_err(run::usage)?;
            all.into_iter().map(|scenario| (scenario.name, scenario.title)).collect()
        }
        What::Points => {
            let points = Point::ALL.iter().map(|point| (point.word(), point.about()));
            let events = QueueEvent::ALL.iter().map(|event| (event.word(), event.about()));
            points.chain(events).map(owned).collect()
        }
        What::Faults => Action::ALL.iter().map(|action| owned((action.syntax, action.about))).collect(),
        What::Engines => Engine::ALL.iter().map(|engine| owned((engine.word(), engine.about()))).collect(),
        What::Protections => Protection::ALL.iter().map(|one| owned((one.word(), one.about()))).collect(),
        What::Runs => records::runs().iter().map(|path| run_line(path)).collect(),
    };
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, about) in lines {
        print(&format!("{name:width$}  {about}\n"))?;
    }
    Ok(Exit::AllMatched)
}

fn owned((name, about): (&str, &str)) -> (String, String) {
    (name.to_owned(), about.to_owned())
}

fn run_line(path: &std::path::Path) -> (String, String) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let plan = records::Records::open(&path.display().to_string());
    let about = plan.map_or_else(|error| format!("{error:#}"), |(_, plan)| plan.command[1..].join(" "));
    (name, about)
}
