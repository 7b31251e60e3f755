//! A whole file to a [`Scenario`]: the top of the file, the variants over it, and the twin of each.

use std::ops::Range;

use crate::fault::words::shown;

use super::error::Problems;
use super::fields::{Fields, Spot, checked_text};
use super::merge::{apply_defaults, overlay, without};
use super::model::{Row, Scenario};
use super::script::{Draft, check_defaults, script};
use super::tree::{Raw, Table};
use super::{rows, twin, validate};

/// The keys of the top of a file.
pub(super) const TOP: &[&str] = &[
    "schema", "title", "why", "tags", "expect", "end", "within", "defaults", "job", "worker", "fault", "variant",
    "twin",
];
/// Those of them that are no tables: below a table's header they become keys of that table.
pub(super) const PLAIN_TOP: &[&str] = &["schema", "title", "why", "tags", "expect", "end", "within"];
/// The keys that a variant may overlay.
const VARIANT: &[&str] = &["name", "expect", "end", "within", "defaults", "job", "worker", "fault", "twin"];
const VARIANTS_MAX: usize = 64;
/// The number of this format.
const SCHEMA: i64 = 1;

/// Reads a scenario, or tells everything that is wrong with it.
pub(super) fn scenario(name: &str, origin: &str, root: &Table, problems: &mut Problems) -> Option<Scenario> {
    if !schema(root, problems) {
        return None;
    }
    let mut fields = Fields { table: root, what: "a scenario", problems };
    fields.known(TOP, &[]);
    let title = fields.required_text("title").unwrap_or_default().text;
    let why = fields.text("why").unwrap_or_default().text;
    let variants = fields.items("variant", VARIANTS_MAX);
    let tags = tags(root, problems);

    let mut rows = rows::rows(root, None, problems);
    let base = without(root, &["variant", "expect"]);
    let mut drafts = Vec::new();
    if root.get("variant").is_none() {
        drafts.push(draft(&base, None, problems));
    }
    for variant in &variants {
        let name = variant_name(variant, problems);
        rows.extend(rows::rows(variant, Some(&name), problems));
        let merged = overlay(&base, &without(variant, &["name", "expect"]));
        drafts.push(draft(&merged, Some(&name), problems));
    }
    validate::variant_names(&variants, problems);

    let (expect, places): (Vec<Row>, Vec<Spot>) = rows.into_iter().unzip();
    let spans: Vec<Range<usize>> = drafts.iter().map(|draft| draft.span.clone()).collect();
    for draft in &drafts {
        validate::passed_points(&expect, draft, problems);
    }
    let scripts = drafts.into_iter().map(|draft| draft.script).collect();
    let (name, origin) = (name.to_owned(), origin.to_owned());
    let scenario = Scenario { name, origin, title, why, tags, expect, scripts };
    validate::rows(&scenario, &places, problems);
    validate::comparable(&scenario, &places, problems);
    if !misplaced_expect(root) && root.get("expect").is_none_or(|node| matches!(node.raw, Raw::List(_))) {
        validate::every_script_has_a_row(&scenario, &spans, problems);
    }
    Some(scenario)
}

/// One script with its twin.
fn draft(merged: &Table, variant: Option<&str>, problems: &mut Problems) -> Draft {
    check_defaults(merged, problems);
    let mut table = merged.clone();
    apply_defaults(&mut table);
    let mut draft = script(&table, variant, problems);
    validate::script(&draft, problems);
    validate::faults(&draft, problems);
    draft.script.twin = twin::twin(merged, variant, problems);
    draft
}

/// Whether the file is of the format that this lab reads.
fn schema(root: &Table, problems: &mut Problems) -> bool {
    let Some(node) = root.get("schema") else {
        problems.add(&(0..0), "the key `schema` is missing", Some(format!("begin with `schema = {SCHEMA}`")));
        return false;
    };
    let (message, help) = match node.raw {
        Raw::Integer(Some(SCHEMA)) => return true,
        Raw::Integer(Some(number)) if number > SCHEMA => (
            format!("schema {number} is newer than this lab, which reads schema {SCHEMA}"),
            "use a newer lab".to_owned(),
        ),
        Raw::Integer(Some(number)) => {
            (format!("there never was a schema {number}"), format!("this lab reads `schema = {SCHEMA}`"))
        }
        _ => (format!("`schema` is a number, not {}", node.kind()), format!("write `schema = {SCHEMA}`")),
    };
    problems.add(&node.span, message, Some(help));
    false
}

fn tags(root: &Table, problems: &mut Problems) -> Vec<String> {
    let Some(node) = root.get("tags") else { return Vec::new() };
    let Raw::List(items) = &node.raw else {
        let help = "for example `tags = [\"core\"]`".to_owned();
        problems.add(&node.span, format!("`tags` is a list of strings, not {}", node.kind()), Some(help));
        return Vec::new();
    };
    let mut tags = Vec::new();
    for item in items {
        match &item.raw {
            Raw::Text(text) => tags.extend(checked_text("tags", text, &item.span, problems).map(|spot| spot.text)),
            _ => problems.say(&item.span, format!("a tag is a string, not {}", item.kind())),
        }
    }
    tags
}

fn variant_name(variant: &Table, problems: &mut Problems) -> String {
    let mut fields = Fields { table: variant, what: "`[[variant]]`", problems };
    fields.known(VARIANT, PLAIN_TOP);
    let Some(name) = fields.required_text("name") else { return String::new() };
    if !is_name(&name.text) {
        let message = format!("`{}` is no variant's name", shown(&name.text));
        problems.add(&name.span, message, Some(NAME_HELP.to_owned()));
    }
    name.text
}

/// Whether this can name a scenario or a variant: it becomes part of case ids, paths and queue names.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// What such a name looks like, for help lines.
pub(super) const NAME_HELP: &str = "a letter or digit, then letters, digits, `-`, `_` or `.`, at most 64 characters";

/// Whether somebody put `expect` below the header of another table, which is told there.
fn misplaced_expect(root: &Table) -> bool {
    ["job", "worker", "fault"].iter().any(|key| root.tables(key).any(|table| table.get("expect").is_some()))
        || root.table("defaults").is_some_and(|defaults| {
            let inner = ["job", "worker"].into_iter().filter_map(|key| defaults.table(key));
            inner.chain([defaults]).any(|table| table.get("expect").is_some())
        })
}
