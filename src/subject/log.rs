//! A subject's output: read from a pipe as it comes, written to a file that is made with the first byte, bounded.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tokio::net::unix::pipe::Receiver;

/// How much is kept of one subject's output, bytes. What comes after is read and thrown away.
const KEPT_MAX: usize = 16 * 1024 * 1024;
/// Read at once, bytes.
const CHUNK: usize = 16 * 1024;

/// The reading end of a subject's output.
#[derive(Debug)]
pub(super) struct Log {
    pipe: Option<Receiver>,
    path: PathBuf,
    file: Option<File>,
    kept: usize,
}

impl Log {
    pub(super) fn new(pipe: Receiver, path: PathBuf) -> Self {
        Self { pipe: Some(pipe), path, file: None, kept: 0 }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes what is there, waiting for it; for ever once nobody can write any more. Cancel-safe.
    pub(super) async fn take(&mut self) {
        match &self.pipe {
            Some(pipe) if pipe.readable().await.is_ok() => self.drain(),
            _ => std::future::pending().await,
        }
    }

    /// Takes what is there now. Does not wait for those who inherited the other end.
    pub(super) fn drain(&mut self) {
        let mut chunk = [0; CHUNK];
        while let Some(pipe) = &self.pipe {
            match pipe.try_read(&mut chunk) {
                Ok(0) => self.pipe = None,
                Ok(count) => {
                    self.keep(&chunk[..count]);
                    // One chunk at a time while the subject lives: somebody who never stops must not starve the rest.
                    if count == CHUNK {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.pipe = None,
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = KEPT_MAX - self.kept;
        let bytes = &bytes[..bytes.len().min(room)];
        if bytes.is_empty() {
            return;
        }
        if self.file.is_none() {
            self.file = File::create(&self.path).ok();
        }
        // A log that cannot be written must not end the case; the history says so by itself when its disk is full.
        if let Some(file) = &mut self.file {
            let _ = file.write_all(bytes);
        }
        self.kept += bytes.len();
        if self.kept == KEPT_MAX
            && let Some(file) = &mut self.file
        {
            let _ = file.write_all(b"\n[the lab keeps no more of this output]\n");
        }
    }
}
