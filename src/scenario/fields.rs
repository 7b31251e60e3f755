//! Takes typed values out of a table and tells what is wrong with each, without stopping.

use std::ops::{Range, RangeInclusive};

use crate::fault::grammar;

use super::error::Problems;
use super::tree::{Node, Raw, Table};

/// The longest string a scenario may hold.
const TEXT_MAX: usize = 4096;
/// The longest duration, a day.
pub(super) const DURATION_MS_MAX: u64 = 24 * 3_600_000;

/// A text and where it stands.
#[derive(Debug, Clone, Default)]
pub(super) struct Spot {
    pub(super) span: Range<usize>,
    pub(super) text: String,
}

/// A table that is being read.
pub(super) struct Fields<'a> {
    pub(super) table: &'a Table,
    /// The table as messages name it, `[[worker]]`.
    pub(super) what: &'static str,
    pub(super) problems: &'a mut Problems,
}

impl Fields<'_> {
    /// Tells unknown keys. One that belongs to the top of the file is told so: below a header it belongs to that table.
    pub(super) fn known(&mut self, known: &[&str], top: &[&str]) {
        for entry in self.table.entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            if top.contains(&entry.key.as_str()) {
                let message = format!("`{}` must stand above the first table", entry.key);
                let help = format!("here it is a key of {}: move it up, before the first `[`", self.what);
                self.problems.add(&entry.key_span, message, Some(help));
            } else {
                self.problems.unknown(&entry.key_span, "key", &entry.key, known.iter().copied());
            }
        }
    }

    fn wrong(&mut self, key: &str, node: &Node, wanted: &str, example: &str) {
        let message = format!("`{key}` is {wanted}, not {}", node.kind());
        self.problems.add(&node.span, message, Some(format!("for example `{key} = {example}`")));
    }

    /// A string that is stated.
    pub(super) fn text(&mut self, key: &str) -> Option<Spot> {
        let node = self.table.get(key)?;
        match &node.raw {
            Raw::Text(text) => checked_text(key, text, &node.span, self.problems),
            _ => {
                self.wrong(key, node, "a string", "\"...\"");
                None
            }
        }
    }

    /// A string that has to be stated.
    pub(super) fn required_text(&mut self, key: &str) -> Option<Spot> {
        if self.table.get(key).is_none() {
            self.problems.say(&self.table.span, format!("{} needs the key `{key}`", self.what));
        }
        self.text(key)
    }

    pub(super) fn count(&mut self, key: &str, bounds: RangeInclusive<u32>, default: u32) -> u32 {
        let Some(node) = self.table.get(key) else { return default };
        match node.raw {
            Raw::Integer(number) => {
                match number.and_then(|number| u32::try_from(number).ok()).filter(|number| bounds.contains(number)) {
                    Some(number) => return number,
                    None => {
                        let message = format!("`{key}` is from {} to {}", bounds.start(), bounds.end());
                        self.problems.say(&node.span, message);
                    }
                }
            }
            _ => self.wrong(key, node, "a number", &default.to_string()),
        }
        default
    }

    pub(super) fn flag(&mut self, key: &str, default: bool) -> bool {
        let Some(node) = self.table.get(key) else { return default };
        match node.raw {
            Raw::Flag(flag) => flag,
            _ => {
                self.wrong(key, node, "true or false", "false");
                default
            }
        }
    }

    pub(super) fn duration(&mut self, key: &str, least_ms: u64, default_ms: u64) -> u64 {
        let Some(node) = self.table.get(key) else { return default_ms };
        let Raw::Text(text) = &node.raw else {
            self.wrong(key, node, "a duration: a string with a unit", "\"100ms\"");
            return default_ms;
        };
        match grammar::duration_ms(text) {
            Ok(ms) if (least_ms..=DURATION_MS_MAX).contains(&ms) => ms,
            Ok(_) => {
                self.problems.say(&node.span, format!("`{key}` is from {least_ms}ms to 24h"));
                default_ms
            }
            Err(error) => {
                self.problems.grammar(&node.span, error);
                default_ms
            }
        }
    }

    /// The tables of an array, at most so many.
    pub(super) fn items(&mut self, key: &str, most: usize) -> Vec<Table> {
        let Some(entry) = self.table.entry(key) else { return Vec::new() };
        let Raw::List(list) = &entry.node.raw else {
            let message = format!("`{key}` is a list of tables, not {}", entry.node.kind());
            self.problems.add(&entry.key_span, message, Some(format!("write `[[{key}]]`")));
            return Vec::new();
        };
        if let Some(first_too_many) = list.get(most) {
            self.problems.say(&first_too_many.span, format!("more than {most} of `{key}`"));
        }
        for node in list.iter().filter(|node| node.table().is_none()) {
            self.problems.say(&node.span, format!("`{key}` is a list of tables; this is {}", node.kind()));
        }
        list.iter().take(most).filter_map(Node::table).cloned().collect()
    }

    /// A table under a key, if it is stated.
    pub(super) fn inner(&mut self, key: &str) -> Option<Table> {
        let node = self.table.get(key)?;
        if node.table().is_none() {
            self.wrong(key, node, "a table", "{ ... }");
        }
        node.table().cloned()
    }
}

/// A string within its bounds.
pub(super) fn checked_text(key: &str, text: &str, span: &Range<usize>, problems: &mut Problems) -> Option<Spot> {
    let wrong = match text {
        "" => "is empty",
        _ if text.len() > TEXT_MAX => "is longer than 4 KiB",
        _ if text.contains('\0') => "holds a NUL character, which no database text can",
        _ => return Some(Spot { span: span.clone(), text: text.to_owned() }),
    };
    problems.say(span, format!("`{key}` {wrong}"));
    None
}
