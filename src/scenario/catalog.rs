//! The built-in library, embedded from `scenarios/`, and what a name on the command line stands for.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use include_dir::{Dir, DirEntry, include_dir};

use crate::fault::words::{listed, nearest, shown};

use super::decode;
use super::error::Problems;
use super::file;
use super::model::Scenario;
use super::tree;

static LIBRARY: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/scenarios");

/// Why no scenario came out of a name or a path.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// No built-in scenario has the name, or the pattern matches none.
    #[error("no built-in scenario {}`{}`{}", if *.pattern { "matches " } else { "is called " }, shown(.spec), help_line(.help))]
    Unknown {
        /// What was asked for.
        spec: String,
        /// Whether it is a pattern.
        pattern: bool,
        /// The nearest name, or the names there are.
        help: String,
    },
    /// The file could not be read.
    #[error("cannot read the scenario file {}", shown(.origin))]
    Unreadable {
        /// The path.
        origin: String,
        /// The reason.
        source: io::Error,
    },
    /// The file is longer than any scenario.
    #[error("{} is larger than 256 KiB, too large for a scenario file", shown(.origin))]
    TooLarge {
        /// The path.
        origin: String,
    },
    /// The file holds something else than text.
    #[error("{}:{line}: not UTF-8 text", shown(.origin))]
    NotText {
        /// The path.
        origin: String,
        /// The line of the first wrong byte.
        line: usize,
    },
    /// The file's stem cannot be a scenario's name.
    #[error("{}: the file's name without `.toml` names the scenario: {help}", shown(.origin))]
    Unnamed {
        /// The path.
        origin: String,
        /// What a name looks like.
        help: &'static str,
    },
    /// Two files of the library have the same stem.
    #[error("two built-in scenarios are called `{name}`: {first} and {second}")]
    SameName {
        /// The stem.
        name: String,
        /// One file.
        first: String,
        /// The other file.
        second: String,
    },
    /// The text has problems.
    #[error(transparent)]
    Invalid(#[from] Problems),
}

fn help_line(help: &str) -> String {
    format!("\nhelp: {help}")
}

/// The names of the built-in scenarios, sorted.
pub fn names() -> Result<Vec<&'static str>, LoadError> {
    Ok(library()?.into_keys().collect())
}

/// Every built-in scenario, sorted by name.
pub fn load_all() -> Result<Vec<Scenario>, LoadError> {
    library()?.into_iter().map(|(name, built_in)| built_in.parse(name)).collect()
}

/// What a name, a pattern (`*`, `?`) over the built-in names, or a path to a `.toml` file stands for. What has a `/` or
/// ends in `.toml` is a path.
pub fn load(spec: &str) -> Result<Vec<Scenario>, LoadError> {
    if spec.contains('/') || spec.ends_with(".toml") {
        return Ok(vec![file::read(Path::new(spec))?]);
    }
    let library = library()?;
    let pattern = spec.contains(['*', '?']);
    let chosen: Vec<_> = library.iter().filter(|(name, _)| matches(spec, name)).collect();
    if chosen.is_empty() {
        let help = match nearest(spec, library.keys().copied()).filter(|_| !pattern) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known: {}", listed(library.keys().copied())),
        };
        return Err(LoadError::Unknown { spec: spec.to_owned(), pattern, help });
    }
    chosen.into_iter().map(|(name, built_in)| built_in.parse(name)).collect()
}

/// Reads a scenario out of a text. `name` is the file's stem, `origin` what messages call the file.
pub fn parse(name: &str, origin: &str, text: &str) -> Result<Scenario, Problems> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut problems = Problems::new(origin, text);
    let root = tree::parse(text, &mut problems);
    match root.and_then(|root| decode::scenario(name, origin, &root, &mut problems)) {
        Some(scenario) if problems.is_empty() => Ok(scenario),
        _ => Err(problems),
    }
}

struct BuiltIn {
    origin: String,
    text: &'static str,
}

impl BuiltIn {
    fn parse(&self, name: &str) -> Result<Scenario, LoadError> {
        Ok(parse(name, &self.origin, self.text)?)
    }
}

fn library() -> Result<BTreeMap<&'static str, BuiltIn>, LoadError> {
    let mut files = Vec::new();
    collect(&LIBRARY, &mut files);
    unique(files)
}

fn collect(folder: &'static Dir<'static>, files: &mut Vec<(&'static Path, &'static [u8])>) {
    for entry in folder.entries() {
        match entry {
            DirEntry::Dir(inner) => collect(inner, files),
            DirEntry::File(file) => files.push((file.path(), file.contents())),
        }
    }
}

/// The scenarios among the files, by their stems.
fn unique(files: Vec<(&'static Path, &'static [u8])>) -> Result<BTreeMap<&'static str, BuiltIn>, LoadError> {
    let mut library = BTreeMap::<&str, BuiltIn>::new();
    for (path, bytes) in files.into_iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "toml")) {
        let origin = format!("scenarios/{}", path.display());
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let Ok(text) = std::str::from_utf8(bytes) else { return Err(LoadError::NotText { origin, line: 1 }) };
        if let Some(first) = library.get(name) {
            let first = first.origin.clone();
            return Err(LoadError::SameName { name: name.to_owned(), first, second: origin });
        }
        library.insert(name, BuiltIn { origin, text });
    }
    Ok(library)
}

/// Whether a name fits a pattern of `*` (any run of characters) and `?` (one character).
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut seen) = (0, 0);
    let mut star = None;
    while seen < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == name[seen] => {
                at += 1;
                seen += 1;
            }
            _ => {
                // The last star takes one more character.
                let Some((star_at, star_seen)) = star else { return false };
                star = Some((star_at, star_seen + 1));
                (at, seen) = (star_at + 1, star_seen + 1);
            }
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_as_a_shell_would() {
        let table = [
            ("stall-*", "stall-kill", true),
            ("*kill*", "kill-before-write", true),
            ("*", "x", true),
            ("st?ll-kill", "stall-kill", true),
            ("stall", "stall-kill", false),
            ("*-write", "throw-after-writes", false),
            ("?", "", false),
            ("a*b*c", "aXbYbZc", true),
        ];
        for (pattern, name, fits) in table {
            assert_eq!(matches(pattern, name), fits, "{pattern} against {name}");
        }
    }

    #[test]
    fn two_files_with_one_stem_are_refused() {
        let files: Vec<(&Path, &[u8])> =
            ["a/x.toml", "a/notes.md", "b/x.toml"].iter().map(|path| (Path::new(*path), &b""[..])).collect();
        let error = unique(files).map(|_| ()).unwrap_err().to_string();
        assert_eq!(error, "two built-in scenarios are called `x`: scenarios/a/x.toml and scenarios/b/x.toml");
    }
}
