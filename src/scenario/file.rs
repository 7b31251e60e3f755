//! Reads a scenario file, within bounds: a regular file, at most 256 KiB, named so that it can name cases.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::catalog::{LoadError, parse};
use super::decode::{NAME_HELP, is_name};
use super::model::Scenario;

/// The largest scenario file.
pub const FILE_BYTES_MAX: u64 = 256 * 1024;

/// Reads and checks the scenario file at a path.
pub fn read(path: &Path) -> Result<Scenario, LoadError> {
    let origin = path.display().to_string();
    let bytes = bytes(path).map_err(|source| LoadError::Unreadable { origin: origin.clone(), source })?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(LoadError::TooLarge { origin });
    }
    let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    if !is_name(name) {
        return Err(LoadError::Unnamed { origin, help: NAME_HELP });
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        LoadError::NotText { origin: origin.clone(), line }
    })?;
    Ok(parse(name, &origin, &text)?)
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    // Opening a pipe would wait for somebody to write to it.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
