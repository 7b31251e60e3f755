//! Runs the `lab` binary in a folder of its own, with nothing of the surrounding environment but PATH and HOME.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// Far above anything that a run takes: only a hang ends here.
const HANG: Duration = Duration::from_secs(180);

/// A folder in which `lab` runs.
pub(crate) struct Lab {
    folder: TempDir,
    variables: Vec<(&'static str, String)>,
}

/// How a run of the binary ended.
pub(crate) struct Out {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    command: String,
}

impl Lab {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), variables: Vec::new() }
    }

    /// With one more variable in the environment.
    pub(crate) fn env(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// Without any program on PATH: no server can be started.
    pub(crate) fn without_programs(mut self) -> Self {
        let empty = self.path("no-programs");
        std::fs::create_dir_all(&empty).unwrap();
        self.variables.push(("PATH", empty.display().to_string()));
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into the folder.
    pub(crate) fn file(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn lab(&self, args: &[&str]) -> Out {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_lab"));
        command.current_dir(self.folder.path()).env_clear().timeout(HANG).args(args);
        for name in ["PATH", "HOME"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        // Runs of other folders are kept there.
        command.env("XDG_STATE_HOME", self.folder.path().join("state"));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let output = command.output().unwrap();
        Out {
            code: output.status.code().unwrap_or_else(|| panic!("lab {args:?} ended with {:?}", output.status)),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            command: args.join(" "),
        }
    }

    /// The record folder of the only run.
    pub(crate) fn record(&self) -> PathBuf {
        let runs: Vec<PathBuf> =
            std::fs::read_dir(self.path(".lab/runs")).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs[0].clone()
    }
}

impl Out {
    /// Demands an exit status; shows everything otherwise.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self}");
        self
    }

    /// Every line of stdout as one JSON object.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("`{line}`: {error}\n{self}"));
        self.stdout.lines().map(read).collect()
    }

    /// The lines of one type.
    #[track_caller]
    pub(crate) fn of_type(&self, wanted: &str) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line["type"] == wanted).collect()
    }

    /// The only line of one type.
    #[track_caller]
    pub(crate) fn only(&self, wanted: &str) -> Value {
        let mut lines = self.of_type(wanted);
        assert_eq!(lines.len(), 1, "lines of type {wanted}\n{self}");
        lines.remove(0)
    }

    /// Demands each of these texts on stdout.
    #[track_caller]
    pub(crate) fn says(&self, texts: &[&str]) {
        for text in texts {
            assert!(self.stdout.contains(text), "`{text}` is not on stdout\n{self}");
        }
    }

    /// Demands each of these texts on stderr.
    #[track_caller]
    pub(crate) fn complains(&self, texts: &[&str]) {
        for text in texts {
            assert!(self.stderr.contains(text), "`{text}` is not on stderr\n{self}");
        }
    }
}

impl std::fmt::Display for Out {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { code, stdout, stderr, command } = self;
        write!(f, "lab {command}\nexit status {code}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
    }
}

/// The text of a built-in scenario, from its file.
pub(crate) fn scenario(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text with one part replaced, which has to be there exactly once.
pub(crate) fn changed(text: &str, part: &str, replacement: &str) -> String {
    assert_eq!(text.matches(part).count(), 1, "`{part}` in\n{text}");
    text.replace(part, replacement)
}

/// `stall-kill` with one wrong number: it states that the unprotected handler takes effect once.
pub(crate) fn wrong_stall_kill() -> String {
    let row = "{ protection = \"none\",          executions = 2, effects = ";
    let text = scenario("stall/stall-kill.toml");
    let row = if text.contains(row) { row } else { "{ protection = \"none\", executions = 2, effects = " };
    changed(&text, &format!("{row}2"), &format!("{row}1"))
}
