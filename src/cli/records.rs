//! The record folder of a run: the plan, the histories, the logs, the results. Everything that `lab judge` needs.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::Usage;
use crate::checker::Expected;
use crate::plan::{Case, CaseId};
use crate::scenario::model::Twin;

/// Where runs are kept, below the working directory.
const RUNS: &str = ".lab/runs";
/// The plan's file.
const PLAN: &str = "plan.json";
/// The largest plan that is read.
const PLAN_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// A case as the record folder keeps it: enough to judge its histories again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) id: CaseId,
    pub(super) title: String,
    /// How to name the scenario on a command line.
    pub(super) spec: String,
    /// The operations in the order of the file.
    pub(super) operations: Vec<String>,
    pub(super) expected: Expected,
    pub(super) twin: StoredTwin,
}

/// The twin's part of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum StoredTwin {
    Expected(Expected),
    Skipped(String),
}

/// The plan of a stored run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredPlan {
    pub(super) run: String,
    pub(super) lab: String,
    pub(super) command: Vec<String>,
    /// How often every case was to be run.
    #[serde(default = "once")]
    pub(super) repeat: u32,
    pub(super) cases: Vec<Stored>,
}

fn once() -> u32 {
    1
}

/// A record folder.
#[derive(Debug, Clone)]
pub(super) struct Records {
    pub(super) root: PathBuf,
}

impl StoredPlan {
    /// The plan of a run that begins now, by this command line.
    pub(super) fn new(run: &str, repeat: u32, cases: &[Stored]) -> Self {
        Self {
            run: run.to_owned(),
            lab: env!("CARGO_PKG_VERSION").to_owned(),
            command: std::env::args().collect(),
            repeat,
            cases: cases.to_vec(),
        }
    }
}

impl Stored {
    /// What is kept of a case.
    pub(super) fn of(case: &Case) -> Self {
        let twin = match &case.script.twin {
            Twin::Run { script, expect } => {
                let each = |job: &crate::scenario::model::Job| (job.operation.clone(), expect.clone());
                StoredTwin::Expected(script.jobs.iter().map(each).collect())
            }
            Twin::Skip { why } => StoredTwin::Skipped(why.clone()),
            Twin::IsTwin => StoredTwin::Skipped("it is a twin itself".to_owned()),
        };
        let built_in = case.scenario.origin.starts_with("scenarios/");
        Self {
            id: case.id.clone(),
            title: case.scenario.title.clone(),
            spec: if built_in { case.scenario.name.clone() } else { case.scenario.origin.clone() },
            operations: case.script.jobs.iter().map(|job| job.operation.clone()).collect(),
            expected: case.expect.clone(),
            twin,
        }
    }
}

impl Records {
    /// Makes the folder of a new run: `out` if given, else `.lab/runs/<run>`, else the same in the state directory.
    ///
    /// # Errors
    /// No such folder can be made, it holds a record already, or the plan cannot be written.
    pub(super) fn create(out: Option<&Path>, plan: &StoredPlan) -> anyhow::Result<Self> {
        let root = match out {
            Some(out) => {
                std::fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
                // Histories of two runs in one folder would be judged as one.
                if out.join(PLAN).symlink_metadata().is_ok() {
                    let text =
                        format!("error: {} already holds the record of a run: name another folder", out.display());
                    return Err(Usage(text).into());
                }
                out.to_owned()
            }
            None => default_root(&plan.run)?,
        };
        let file = root.join(PLAN);
        let text = serde_json::to_string_pretty(plan)?;
        std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(Self { root })
    }

    /// Opens the folder of a stored run: its id, its path, or `last`.
    ///
    /// # Errors
    /// There is no such run, or its plan cannot be read.
    pub(super) fn open(run: &str) -> anyhow::Result<(Self, StoredPlan)> {
        let root = find(run)?;
        let file = root.join(PLAN);
        let text = read_plan(&file)
            .with_context(|| format!("{} is not the record of a run: cannot read its {PLAN}", root.display()))?;
        let plan = serde_json::from_str(&text).with_context(|| format!("{} is damaged", file.display()))?;
        Ok((Self { root }, plan))
    }

    /// The history of one try of one repetition.
    pub(super) fn history(&self, id: &CaseId, repeat: u32, attempt: u32) -> PathBuf {
        let name = if attempt == 1 { format!("{repeat}.ndjson") } else { format!("{repeat}-try{attempt}.ndjson") };
        self.case_folder(id).join(name)
    }

    /// The history of a case's twin.
    pub(super) fn twin_history(&self, id: &CaseId) -> PathBuf {
        self.case_folder(id).join("twin.ndjson")
    }

    /// Where a case's histories are.
    pub(super) fn case_folder(&self, id: &CaseId) -> PathBuf {
        self.root.join("cases").join(id.to_string())
    }
}

/// The text of a plan: a regular file of a bounded size, since opening a pipe would wait for somebody to write to it.
fn read_plan(file: &Path) -> std::io::Result<String> {
    let wrong = |what: &str| std::io::Error::new(std::io::ErrorKind::InvalidData, what.to_owned());
    if !std::fs::metadata(file)?.is_file() {
        return Err(wrong("not a regular file"));
    }
    let mut text = String::new();
    std::fs::File::open(file)?.take(PLAN_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > PLAN_BYTES_MAX { Err(wrong("larger than any plan")) } else { Ok(text) }
}

fn default_root(run: &str) -> anyhow::Result<PathBuf> {
    let here = Path::new(RUNS).join(run);
    let denied = match std::fs::create_dir_all(&here) {
        Ok(()) => {
            // Records are nobody's source code.
            let ignore = Path::new(".lab/.gitignore");
            if !ignore.exists() {
                let _ = std::fs::File::create(ignore).and_then(|mut file| file.write_all(b"*\n"));
            }
            return Ok(here);
        }
        Err(error) => error,
    };
    let there =
        state_runs().with_context(|| format!("cannot make {} ({denied}) and HOME is not set", here.display()))?;
    let there = there.join(run);
    std::fs::create_dir_all(&there)
        .with_context(|| format!("cannot make {} ({denied}), nor {}", here.display(), there.display()))?;
    Ok(there)
}

/// Runs in the state directory.
fn state_runs() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state"));
    Some(state.or_else(home)?.join("queue-lab/runs"))
}

/// The stored runs, oldest first.
pub(super) fn runs() -> Vec<PathBuf> {
    let folders = [Some(PathBuf::from(RUNS)), state_runs()];
    let entries = folders.into_iter().flatten().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let mut runs: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.join(PLAN).is_file()).collect();
    runs.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    runs
}

fn find(run: &str) -> anyhow::Result<PathBuf> {
    let runs = runs();
    let named = |path: &&PathBuf| path.file_name().is_some_and(|name| name == run);
    let found = if run == "last" { runs.last() } else { runs.iter().find(named) };
    if let Some(path) = found {
        return Ok(path.clone());
    }
    let path = PathBuf::from(run);
    if path.is_dir() {
        return Ok(path);
    }
    let known = match runs.len() {
        0 => format!("there is none in {RUNS}; `lab run` makes one"),
        count => format!("there are {count}; `lab list runs` shows them"),
    };
    Err(Usage(format!("error: no stored run is called `{run}`: {known}")).into())
}
