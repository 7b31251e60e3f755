//! The one grammar of faults.
//!
//! ```text
//! trigger   = [ worker "@" ] place [ "[" string "]" ] [ "#" number ]
//! condition = "when" [ duration "after" ] ( worker ( "dead" | "stopped" | "settled" ) | trigger )
//! action    = word [ argument ... ]                      one row each in [`super::action`]
//! duration  = number ( "ms" | "s" | "m" | "h" )
//! ```
//!
//! A new action is one member of [`Action`], one row of [`Action::ALL`] and one small function of that row, built from
//! the pieces of `Cursor`.

use std::ops::Range;

use super::words::{listed, nearest, shown, suggest};
use super::{Action, Condition, Place, Point, QueueEvent, Trigger};

/// The longest name a worker can have.
const WORKER_NAME_MAX: usize = 32;

/// A mistake in a fault's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrammarError {
    /// Byte range in the text.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
}

impl GrammarError {
    fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl std::fmt::Display for GrammarError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        self.help.iter().try_for_each(|help| write!(f, " ({help})"))
    }
}

impl std::error::Error for GrammarError {}

/// Reads the `at` of a fault: `A@effect.committed["credit-482"]#2`.
pub fn trigger(text: &str) -> Result<Trigger, GrammarError> {
    let mut cursor = Cursor::new(text);
    let trigger = cursor.trigger()?;
    cursor.end("the trigger")?;
    Ok(trigger)
}

/// Reads a condition: `when A dead`, `when B@handler.started`.
pub fn condition(text: &str) -> Result<Condition, GrammarError> {
    let mut cursor = Cursor::new(text);
    let word = cursor.word();
    if &text[word.clone()] != "when" {
        return Err(GrammarError::new(word, "a condition begins with `when`")
            .help("for example `when A dead` or `when B@handler.started`"));
    }
    let condition = cursor.condition()?;
    cursor.end("the condition")?;
    Ok(condition)
}

/// Reads the `do` of a fault: `kill`, `kill A`, `throw`.
pub fn action(text: &str) -> Result<Action, GrammarError> {
    let mut cursor = Cursor::new(text);
    let word = cursor.word();
    let Some(row) = Action::ALL.iter().find(|row| row.word == &text[word.clone()]) else {
        return Err(unknown_action(text, word));
    };
    let action = (row.parse)(&mut cursor)?;
    cursor.end(&format!("`{}`", row.word)).map_err(|error| error.help(format!("its syntax is `{}`", row.syntax)))?;
    Ok(action)
}

/// Reads a duration, `10ms`, `2s`, `1m` or `1h`, as milliseconds.
pub fn duration_ms(text: &str) -> Result<u64, GrammarError> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let malformed = |message: &str| {
        Err(GrammarError::new(0..text.len(), message).help("a number and a unit: `10ms`, `2s`, `1m`, `1h`"))
    };
    let factor = match unit.trim_start() {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "" if !number.is_empty() => return malformed("a duration needs a unit"),
        _ => return malformed(&format!("`{}` is no duration", shown(text))),
    };
    match number.parse::<u64>() {
        Ok(number) if number.checked_mul(factor).is_some() => Ok(number * factor),
        Err(_) if number.is_empty() => malformed(&format!("`{}` is no duration", shown(text))),
        _ => malformed("this duration is too long"),
    }
}

/// Whether this can be a worker's name.
pub fn is_worker_name(name: &str) -> bool {
    name.len() <= WORKER_NAME_MAX
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// What a worker's name looks like, for help lines.
pub const WORKER_NAME_HELP: &str = "a letter, then letters, digits, `_` or `-`, at most 32 characters";

/// A place in a text, and the pieces that actions and triggers are made of.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// The next run of characters that ends before a space, `@`, `[` or `#`. May be empty.
    fn word(&mut self) -> Range<usize> {
        self.skip_spaces();
        let rest = self.rest();
        let length = rest.find(|c: char| c.is_whitespace() || matches!(c, '@' | '[' | '#')).unwrap_or(rest.len());
        let word = self.at..self.at + length;
        self.at = word.end;
        word
    }

    fn take(&mut self, wanted: char) -> bool {
        let taken = self.rest().starts_with(wanted);
        self.at += if taken { wanted.len_utf8() } else { 0 };
        taken
    }

    fn end(&mut self, after: &str) -> Result<(), GrammarError> {
        self.skip_spaces();
        match self.rest().trim_end() {
            "" => Ok(()),
            rest => {
                let span = self.at..self.at + rest.len();
                Err(GrammarError::new(span, format!("unexpected `{}` after {after}", shown(rest))))
            }
        }
    }

    fn worker(&self, span: Range<usize>) -> Result<String, GrammarError> {
        match &self.text[span.clone()] {
            name if is_worker_name(name) => Ok(name.to_owned()),
            "" => Err(GrammarError::new(span, "a worker's name is missing").help(WORKER_NAME_HELP)),
            name => {
                Err(GrammarError::new(span, format!("`{}` is no worker's name", shown(name))).help(WORKER_NAME_HELP))
            }
        }
    }

    /// A worker's name, if anything is left.
    pub(super) fn optional_worker(&mut self) -> Result<Option<String>, GrammarError> {
        let word = self.word();
        if word.is_empty() {
            return Ok(None);
        }
        self.worker(word).map(Some)
    }

    /// A worker's name.
    pub(super) fn named_worker(&mut self) -> Result<String, GrammarError> {
        let word = self.word();
        self.worker(word)
    }

    /// Whether the next word is this one. Takes nothing.
    pub(super) fn next_is(&mut self, wanted: &str) -> bool {
        let start = self.at;
        let word = self.word();
        self.at = start;
        &self.text[word] == wanted
    }

    /// Takes this word.
    pub(super) fn keyword(&mut self, wanted: &str) -> Result<(), GrammarError> {
        let word = self.word();
        match &self.text[word.clone()] {
            found if found == wanted => Ok(()),
            "" => Err(GrammarError::new(word, format!("`{wanted}` is missing"))),
            found => Err(GrammarError::new(word.clone(), format!("`{}` stands where `{wanted}` should", shown(found)))),
        }
    }

    /// Takes a duration, as milliseconds.
    pub(super) fn duration(&mut self) -> Result<u64, GrammarError> {
        let word = self.word();
        duration_ms(&self.text[word.clone()]).map_err(|error| GrammarError { span: word, ..error })
    }

    /// Takes an exit status.
    pub(super) fn status(&mut self) -> Result<u8, GrammarError> {
        let word = self.word();
        let status = self.text[word.clone()].parse();
        status.map_err(|_| {
            GrammarError::new(word, "an exit status is a number from 0 to 255").help("for example `exit 1`")
        })
    }

    /// What follows `when`, or the `until` of a hold.
    pub(super) fn condition(&mut self) -> Result<Condition, GrammarError> {
        self.skip_spaces();
        if self.rest().starts_with(|first: char| first.is_ascii_digit()) {
            let ms = self.duration()?;
            self.keyword("after")?;
            if self.next_is("when") {
                self.keyword("when")?;
            }
            return Ok(Condition::After(ms, Box::new(self.condition()?)));
        }
        let start = self.at;
        let first = self.word();
        let second = self.word();
        if self.text[first.end..].starts_with(char::is_whitespace) {
            let state: Option<fn(String) -> Condition> = match &self.text[second] {
                "dead" => Some(Condition::Dead),
                "stopped" => Some(Condition::Stopped),
                "settled" => Some(Condition::Settled),
                _ => None,
            };
            if let Some(state) = state {
                return Ok(state(self.worker(first)?));
            }
        }
        self.at = start;
        let after = self.text[first.end..].trim();
        if is_worker_name(&self.text[first.clone()]) && (after.is_empty() || !after.starts_with(['@', '[', '#'])) {
            let missing = format!("what of worker `{}`?", &self.text[first.clone()]);
            return Err(GrammarError::new(start..self.text.trim_end().len(), missing)
                .help(format!("write `{0} dead` or `{0}@handler.started`", &self.text[first])));
        }
        Ok(Condition::Reached(self.trigger()?))
    }

    fn trigger(&mut self) -> Result<Trigger, GrammarError> {
        let mut word = self.word();
        let mut worker = None;
        if self.take('@') {
            worker = Some(self.worker(word)?);
            word = self.word();
        }
        let place = place(&self.text[word.clone()], word.clone())?;
        if let (Some(worker), Place::Queue(event)) = (&worker, place) {
            let span = word.start - worker.len() - 1..word.end;
            return Err(GrammarError::new(
                span,
                format!("`{event}` is an entry of the queue's record: it has no worker"),
            )
            .help(format!("write `{event}`, or name a parking point of {worker}")));
        }
        Ok(Trigger { worker, place, operation: self.operation()?, hit: self.hit()? })
    }

    fn operation(&mut self) -> Result<Option<String>, GrammarError> {
        let start = self.at;
        if !self.take('[') {
            return Ok(None);
        }
        let mut strings = serde_json::Deserializer::from_str(self.rest()).into_iter::<String>();
        let read = strings.next();
        let length = strings.byte_offset();
        if let Some(Ok(operation)) = read {
            self.at += length;
            if self.take(']') {
                return Ok(Some(operation));
            }
        }
        Err(GrammarError::new(start..self.text.len(), "an operation is selected by one quoted string in brackets")
            .help("for example `[\"credit-482\"]`"))
    }

    fn hit(&mut self) -> Result<u32, GrammarError> {
        let start = self.at;
        if !self.take('#') {
            return Ok(1);
        }
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let number = &self.rest()[..digits];
        self.at += digits;
        match number.parse() {
            Ok(0) => Err(GrammarError::new(start..self.at, "hits are counted from 1")),
            Ok(hit) => Ok(hit),
            Err(_) => {
                let message = format!("`#` is followed by a hit's number, from 1 to {}", u32::MAX);
                Err(GrammarError::new(start..self.at, message).help("for example `#2` for the second hit"))
            }
        }
    }
}

fn places() -> impl Iterator<Item = &'static str> + Clone {
    Point::ALL.iter().map(|point| point.word()).chain(QueueEvent::ALL.iter().map(|event| event.word()))
}

fn place(word: &str, span: Range<usize>) -> Result<Place, GrammarError> {
    let point = Point::from_word(word).map(Place::Point);
    point.or_else(|| QueueEvent::from_word(word).map(Place::Queue)).ok_or_else(|| match word {
        "" => GrammarError::new(span, "a point is missing").help(format!("known: {}", listed(places()))),
        _ => GrammarError::new(span, format!("unknown point `{}`", shown(word))).help(suggest(word, places())),
    })
}

fn unknown_action(text: &str, word: Range<usize>) -> GrammarError {
    let words = || Action::ALL.iter().map(|row| row.word);
    let unknown = &text[word.clone()];
    let known = format!("known: {}", listed(words()));
    match (unknown, nearest(unknown, words())) {
        ("", _) => GrammarError::new(word, "an action is missing").help(known),
        (_, Some(near)) => GrammarError::new(word, format!("unknown action `{}`", shown(unknown)))
            .help(format!("did you mean `{near}`? {known}")),
        (_, None) => GrammarError::new(word, format!("unknown action `{}`", shown(unknown))).help(known),
    }
}

/// Writes an operation as a quoted string.
pub(crate) fn quote(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests;
