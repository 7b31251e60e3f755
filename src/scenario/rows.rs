//! The expected table: rows, their selectors and their columns.

use crate::fault::words::shown;
use crate::fault::{Engine, Protection};

use super::error::Problems;
use super::expect::{Kind, STATES};
use super::fields::{Fields, Spot};
use super::model::{Column, Columns, EngineSelector, Row, Value};
use super::tree::{Entry, Node, Raw, Table};

const SELECTORS: &[&str] = &["protection", "variant", "engine", "operation"];
/// More rows than any table needs, and few enough to compare each with each.
const ROWS_MAX: usize = 512;

/// Reads the rows under `expect`. `home` is the variant in whose overlay they stand.
pub(super) fn rows(table: &Table, home: Option<&str>, problems: &mut Problems) -> Vec<(Row, Spot)> {
    let Some(node) = table.get("expect") else { return Vec::new() };
    let example = "for example `expect = [ { protection = \"none\", executions = 2, effects = 2 } ]`";
    let Raw::List(items) = &node.raw else {
        let message = format!("`expect` is a list of rows, not {}", node.kind());
        problems.add(&node.span, message, Some(example.to_owned()));
        return Vec::new();
    };
    if let Some(first_too_many) = items.get(ROWS_MAX) {
        problems.say(&first_too_many.span, format!("more than {ROWS_MAX} rows"));
    }
    let mut rows = Vec::new();
    for item in items.iter().take(ROWS_MAX) {
        match item.table() {
            Some(table) => rows.push(row(table, home, problems)),
            None => {
                let message = format!("a row is a table of columns, not {}", item.kind());
                problems.add(&item.span, message, Some(example.to_owned()));
            }
        }
    }
    rows
}

fn row(table: &Table, home: Option<&str>, problems: &mut Problems) -> (Row, Spot) {
    let line = problems.line(table.span.start);
    let columns = columns(table, SELECTORS, problems);
    let mut fields = Fields { table, what: "a row", problems };
    let mut stated = |key| fields.text(key);
    let (protection, variant) = (stated("protection"), stated("variant"));
    let (engine, operation) = (stated("engine"), stated("operation"));
    if let (Some(home), Some(variant)) = (home, &variant) {
        let message = format!("a row of the variant `{}` needs no `variant`", shown(home));
        problems.add(&variant.span, message, Some("it holds for that variant only".to_owned()));
    }
    let protection = protection.and_then(|spot| {
        let known = Protection::from_word(&spot.text);
        if known.is_none() {
            let words = Protection::ALL.iter().map(|protection| protection.word());
            problems.unknown(&spot.span, "protection", &spot.text, words);
        }
        known
    });
    let engine = engine.and_then(|spot| engine_selector(&spot, problems));
    let place = Spot { span: table.span.clone(), text: String::new() };
    let variant = home.map(str::to_owned).or(variant.map(|spot| spot.text));
    let operation = operation.map(|spot| spot.text);
    (Row { protection, variant, engine, operation, columns, own: home.is_some(), line }, place)
}

fn engine_selector(spot: &Spot, problems: &mut Problems) -> Option<EngineSelector> {
    let (word, versions) = match spot.text.split_once(char::is_whitespace) {
        Some((word, versions)) => (word, Some(versions.trim())),
        None => (spot.text.as_str(), None),
    };
    let Some(engine) = Engine::from_word(word) else {
        problems.unknown(&spot.span, "engine", word, Engine::ALL.iter().map(|engine| engine.word()));
        return None;
    };
    let versions = match versions.map(semver::VersionReq::parse).transpose() {
        Ok(versions) => versions,
        Err(error) => {
            let message = format!("`{}` is no range of versions: {error}", shown(versions.unwrap_or_default()));
            problems.add(&spot.span, message, Some(format!("for example `{word} >=1.4, <2`")));
            return None;
        }
    };
    Some(EngineSelector { engine, versions })
}

/// Reads the columns of a table whose other keys are `selectors`. At least one has to be stated.
pub(super) fn columns(table: &Table, selectors: &[&str], problems: &mut Problems) -> Columns {
    let mut columns = Columns::new();
    let mut tried = false;
    for entry in table.entries.iter().filter(|entry| !selectors.contains(&entry.key.as_str())) {
        tried = true;
        match entry.node.table().filter(|_| entry.key == "final") {
            Some(inner) => inner.entries.iter().for_each(|entry| column("final.", entry, &[], &mut columns, problems)),
            None => column("", entry, selectors, &mut columns, problems),
        }
    }
    if !tried {
        let help = "state at least one column, for example `executions = 2`";
        problems.add(&table.span, "this row states no column", Some(help.to_owned()));
    }
    columns
}

fn column(prefix: &str, entry: &Entry, selectors: &[&str], columns: &mut Columns, problems: &mut Problems) {
    let name = format!("{prefix}{}", entry.key);
    let Some(column) = Column::from_word(&name) else {
        let known = selectors.iter().copied().chain(Column::ALL.iter().map(|column| column.word()));
        problems.unknown(&entry.key_span, "column", &name, known);
        return;
    };
    let read = match (column.kind(), &entry.node.raw) {
        (Kind::CountList | Kind::CountOrList, Raw::List(items)) => list(column, items, count, problems),
        (Kind::WordOrList, Raw::List(items)) => list(column, items, state, problems),
        (Kind::TextOrList | Kind::TextList, Raw::List(items)) => list(column, items, text, problems),
        (Kind::Count | Kind::CountOrList, _) => count(column, &entry.node, problems),
        (Kind::WordOrList, _) => state(column, &entry.node, problems),
        (Kind::TextOrList, _) => text(column, &entry.node, problems),
        (Kind::CountList, _) => {
            let message = format!("`{column}` is a list, one entry for each execution, not {}", entry.node.kind());
            problems.add(&entry.node.span, message, Some(format!("for example `{column} = [0, 0]`")));
            None
        }
        (Kind::TextList, _) => {
            let message = format!("`{column}` is a list of texts, not {}", entry.node.kind());
            problems.add(&entry.node.span, message, Some(format!("for example `{column} = []`")));
            None
        }
    };
    if read.is_some_and(|value| columns.insert(column, value).is_some()) {
        problems.say(&entry.key_span, format!("`{column}` is stated twice"));
    }
}

type Read = fn(Column, &Node, &mut Problems) -> Option<Value>;

fn list(column: Column, items: &[Node], read: Read, problems: &mut Problems) -> Option<Value> {
    let values: Vec<_> = items.iter().filter_map(|item| read(column, item, problems)).collect();
    (values.len() == items.len()).then_some(Value::List(values))
}

fn count(column: Column, node: &Node, problems: &mut Problems) -> Option<Value> {
    let value = match &node.raw {
        Raw::Integer(number) => number.and_then(|number| u64::try_from(number).ok()).map(Value::Count),
        Raw::Text(text) => Value::parse_range(text),
        _ => None,
    };
    if value.is_none() {
        let message = match &node.raw {
            Raw::Integer(_) => format!("`{column}` is never negative, and fits in 63 bits"),
            Raw::Text(text) => format!("`{}` is no range", shown(text)),
            _ => format!("`{column}` is a count or a range, not {}", node.kind()),
        };
        problems.add(&node.span, message, Some("write `2`, `\"1..2\"` or `\">=1\"`".to_owned()));
    }
    value
}

fn text(column: Column, node: &Node, problems: &mut Problems) -> Option<Value> {
    let Raw::Text(text) = &node.raw else {
        problems.say(&node.span, format!("`{column}` is a text, not {}", node.kind()));
        return None;
    };
    Some(Value::Text(text.clone()))
}

fn state(column: Column, node: &Node, problems: &mut Problems) -> Option<Value> {
    let Raw::Text(text) = &node.raw else {
        let message = format!("`{column}` is a job state, not {}", node.kind());
        problems.add(&node.span, message, Some("for example `state = \"completed\"`".to_owned()));
        return None;
    };
    if !STATES.contains(&text.as_str()) {
        problems.unknown(&node.span, "state", text, STATES.iter().copied());
        return None;
    }
    Some(Value::Text(text.clone()))
}
