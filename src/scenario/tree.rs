//! A TOML file as a tree in which everything knows where it stands. Owned, in file order, and small enough to merge.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::error::Problems;

/// A value and its byte range in the file.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) raw: Raw,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(super) enum Raw {
    Text(String),
    /// `None` if it does not fit.
    Integer(Option<i64>),
    Flag(bool),
    List(Vec<Node>),
    Table(Table),
    /// A float or a date, which no key takes.
    Other(&'static str),
}

/// Keys and values in the order of the file.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    /// The header or the braces; the start of the file for the whole.
    pub(super) span: Range<usize>,
    pub(super) entries: Vec<Entry>,
}

/// One key and its value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_span: Range<usize>,
    pub(super) node: Node,
}

impl Table {
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// A text under a key, if it is one.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        match &self.get(key)?.raw {
            Raw::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A table under a key, if it is one.
    pub(super) fn table(&self, key: &str) -> Option<&Table> {
        self.get(key)?.table()
    }

    /// The tables of an array under a key.
    pub(super) fn tables(&self, key: &str) -> impl Iterator<Item = &Table> {
        let list = match self.get(key).map(|node| &node.raw) {
            Some(Raw::List(list)) => list.as_slice(),
            _ => &[],
        };
        list.iter().filter_map(Node::table)
    }
}

impl Node {
    pub(super) fn table(&self) -> Option<&Table> {
        match &self.raw {
            Raw::Table(table) => Some(table),
            _ => None,
        }
    }

    /// What the value is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self.raw {
            Raw::Text(_) => "a string",
            Raw::Integer(_) => "an integer",
            Raw::Flag(_) => "a boolean",
            Raw::List(_) => "a list",
            Raw::Table(_) => "a table",
            Raw::Other(kind) => kind,
        }
    }
}

/// Reads a TOML text, or tells everything that is wrong with its syntax.
pub(super) fn parse(source: &str, problems: &mut Problems) -> Option<Table> {
    let (root, errors) = DeTable::parse_recoverable(source);
    for error in &errors {
        let message = error.message().replace('\n', " ");
        problems.say(&error.span().unwrap_or(0..0), format!("not TOML: {message}"));
    }
    errors.is_empty().then(|| table(root.span(), root.get_ref()))
}

fn table(span: Range<usize>, read: &DeTable<'_>) -> Table {
    let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let name: &std::borrow::Cow<'_, str> = key.get_ref();
        Entry { key: name.to_string(), key_span: key.span(), node: node(value.span(), value.get_ref()) }
    };
    let mut entries: Vec<Entry> = read.iter().map(entry).collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    Table { span, entries }
}

/// The depth is bounded: the TOML parser refuses deep nesting.
fn node(span: Range<usize>, read: &DeValue<'_>) -> Node {
    let raw = match read {
        DeValue::String(text) => Raw::Text(text.to_string()),
        DeValue::Integer(number) => Raw::Integer(i64::from_str_radix(number.as_str(), number.radix()).ok()),
        DeValue::Float(_) => Raw::Other("a float"),
        DeValue::Boolean(flag) => Raw::Flag(*flag),
        DeValue::Datetime(_) => Raw::Other("a date"),
        DeValue::Array(list) => Raw::List(list.iter().map(|item| node(item.span(), item.get_ref())).collect()),
        DeValue::Table(inner) => Raw::Table(table(span.clone(), inner)),
    };
    Node { span, raw }
}
