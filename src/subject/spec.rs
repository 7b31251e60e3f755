//! How to start a subject. The environment is complete: nothing of the lab's own environment is inherited but the few
//! names of `PASSED`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What a subject may see of the lab's surroundings. A developer's shell holds production credentials.
const PASSED: &[&str] = &["PATH", "HOME", "LANG", "TMPDIR"];

/// One program to start.
#[derive(Debug, Clone)]
pub struct Spec {
    /// The name in the scenario.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables beyond the few that are passed on.
    pub env: Vec<(&'static str, String)>,
    /// Where its output goes.
    pub log: PathBuf,
    /// How long it may take from start to `ready`.
    pub boot: Duration,
}

impl Spec {
    /// The complete environment.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let passed = PASSED.iter().filter_map(|name| Some(((*name).into(), std::env::var_os(name)?)));
        passed.chain(self.env.iter().map(|(name, value)| ((*name).into(), value.into()))).collect()
    }
}
