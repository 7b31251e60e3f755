//! Lines on the wire: one JSON object each, bounded. A bad line is shown, clipped, with what was expected instead.

use std::io;

use serde::{Serialize, de::DeserializeOwned};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};

/// The longest line that is read, bytes.
pub const LINE_MAX: usize = 64 * 1024;
/// How much of a bad line is shown, characters.
const SHOWN_MAX: usize = 200;

/// What can be wrong with a line.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The socket broke.
    #[error("the connection broke: {0}")]
    Io(#[from] io::Error),
    /// No line end within the bound.
    #[error("a line is longer than {LINE_MAX} bytes; it begins with: {0}")]
    TooLong(String),
    /// Not a message.
    #[error("a line is no message of the worker protocol ({problem}): {shown}")]
    Bad {
        /// What the parser says.
        problem: String,
        /// The line, clipped, control characters escaped.
        shown: String,
    },
}

/// Reads messages from one half of a socket.
#[derive(Debug)]
pub struct Reader<R> {
    inner: BufReader<R>,
    line: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    /// Wraps the reading half.
    pub fn new(inner: R) -> Self {
        Self { inner: BufReader::new(inner), line: Vec::new() }
    }

    /// The next message; `None` at the end of the stream. Cancel-safe: a half-read line is kept for the next call.
    ///
    /// # Errors
    /// The socket broke, the line is too long, or it is no message.
    pub async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, LineError> {
        loop {
            let room = (LINE_MAX + 1).saturating_sub(self.line.len()) as u64;
            let read = (&mut self.inner).take(room).read_until(b'\n', &mut self.line).await?;
            if self.line.len() > LINE_MAX {
                return Err(LineError::TooLong(shown(&self.line)));
            }
            if !self.line.ends_with(b"\n") {
                if read > 0 {
                    continue;
                }
                if self.line.is_empty() {
                    return Ok(None);
                }
            }
            let line = std::mem::take(&mut self.line);
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            return serde_json::from_slice(&line)
                .map(Some)
                .map_err(|error| LineError::Bad { problem: error.to_string(), shown: shown(&line) });
        }
    }
}

/// Writes one message as one line in one write.
///
/// # Errors
/// The socket broke.
pub async fn write_line<W: AsyncWrite + Unpin, T: Serialize>(writer: &mut W, message: &T) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    writer.write_all(&line).await
}

/// A clipped line, safe to print.
fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut shown: String = text.trim_end().chars().take(SHOWN_MAX).flat_map(char::escape_debug).collect();
    if text.chars().count() > SHOWN_MAX {
        shown.push_str(" ...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::FromSubject;

    async fn read(bytes: &[u8]) -> Result<Option<FromSubject>, LineError> {
        Reader::new(bytes).next().await
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_line_is_a_message_and_the_last_one_needs_no_newline() {
        let ready = FromSubject::Ready { case: "c".into() };
        for text in ["{\"type\":\"ready\",\"case\":\"c\"}\n", "\n\n{\"type\":\"ready\",\"case\":\"c\"}"] {
            assert_eq!(read(text.as_bytes()).await.unwrap(), Some(ready.clone()));
        }
        assert_eq!(read(b"").await.unwrap(), None);
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_bad_line_is_shown_clipped_and_escaped() {
        let error = read(b"\x1b[31mhello\n").await.unwrap_err().to_string();
        assert!(error.contains("\\u{1b}[31mhello"), "{error}");
        let error = read(&vec![b'x'; LINE_MAX + 10]).await.unwrap_err();
        assert!(matches!(error, LineError::TooLong(ref text) if text.len() < 300), "{error}");
        let error = read(b"\xff\xfe\n").await.unwrap_err();
        assert!(matches!(error, LineError::Bad { .. }), "{error}");
    }
}
