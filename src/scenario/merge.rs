//! Overlays: a variant or a twin states only what differs. Tables merge by key, `worker` by `name`, `job` by `operation`;
//! everything else is replaced.

use super::tree::{Entry, Node, Raw, Table};

/// `base` with everything that `over` states. The result stands where `over` stands.
pub(super) fn overlay(base: &Table, over: &Table) -> Table {
    let mut merged = Table { span: over.span.clone(), entries: base.entries.clone() };
    for entry in &over.entries {
        match merged.entries.iter_mut().find(|old| old.key == entry.key) {
            Some(old) => *old = merge(old, entry),
            None => merged.entries.push(entry.clone()),
        }
    }
    merged
}

/// `[defaults.job]` beneath every job and `[defaults.worker]` beneath every worker.
pub(super) fn apply_defaults(script: &mut Table) {
    let defaults = script.table("defaults").cloned().unwrap_or_default();
    for entry in &mut script.entries {
        let Some(beneath) = defaults.table(&entry.key).filter(|_| identity(&entry.key).is_some()) else { continue };
        let Raw::List(items) = &mut entry.node.raw else { continue };
        for item in items {
            if let Raw::Table(table) = &mut item.raw {
                *table = overlay(beneath, table);
            }
        }
    }
}

/// Without these keys.
pub(super) fn without(table: &Table, keys: &[&str]) -> Table {
    let entries = table.entries.iter().filter(|entry| !keys.contains(&entry.key.as_str())).cloned().collect();
    Table { span: table.span.clone(), entries }
}

/// The key by which the items of an array are told apart.
fn identity(array: &str) -> Option<&'static str> {
    match array {
        "worker" => Some("name"),
        "job" => Some("operation"),
        _ => None,
    }
}

fn merge(old: &Entry, new: &Entry) -> Entry {
    let raw = match (&old.node.raw, &new.node.raw) {
        (Raw::Table(base), Raw::Table(over)) if new.key != "expect" => Raw::Table(overlay(base, over)),
        (Raw::List(base), Raw::List(over)) => match identity(&new.key) {
            Some(identity) => Raw::List(merge_items(base, over, identity)),
            None => return new.clone(),
        },
        _ => return new.clone(),
    };
    Entry { node: Node { span: new.node.span.clone(), raw }, ..new.clone() }
}

fn merge_items(base: &[Node], over: &[Node], identity: &str) -> Vec<Node> {
    let mut merged = base.to_vec();
    let mut open: Vec<usize> = (0..base.len()).collect();
    for item in over {
        let id = item.table().and_then(|table| table.text(identity));
        let same = |old: &usize| id.is_some() && merged[*old].table().and_then(|table| table.text(identity)) == id;
        // Each item of the base takes one overlay: an overlay that names it twice keeps both, to be refused.
        let Some(position) = open.iter().position(same) else {
            merged.push(item.clone());
            continue;
        };
        let old = open.remove(position);
        if let (Raw::Table(beneath), Raw::Table(table)) = (&merged[old].raw, &item.raw) {
            merged[old] = Node { span: item.span.clone(), raw: Raw::Table(overlay(beneath, table)) };
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::super::error::Problems;
    use super::super::tree;
    use super::*;

    fn parse(text: &str) -> Table {
        tree::parse(text, &mut Problems::new("f.toml", text)).unwrap()
    }

    fn flat(table: &Table) -> String {
        let value = |node: &Node| match &node.raw {
            Raw::Text(text) => text.clone(),
            Raw::Table(table) => format!("{{{}}}", flat(table)),
            Raw::List(items) => items.iter().filter_map(Node::table).map(|item| format!("({})", flat(item))).collect(),
            _ => "?".to_owned(),
        };
        table.entries.iter().map(|entry| format!("{}={} ", entry.key, value(&entry.node))).collect()
    }

    #[test]
    fn an_overlay_merges_tables_workers_and_jobs_and_replaces_the_rest() {
        let base = "end='x'\nexpect=[{a='1'}]\n[[worker]]\nname='A'\nlock='1'\ncheck='1'\n[[worker]]\nname='B'\n[[fault]]\nat='1'\n[[job]]\noperation='o'\nbackoff={type='f',delay='1'}\n";
        let over = "end='y'\n[[worker]]\nname='A'\nlock='2'\n[[worker]]\nname='C'\n[[fault]]\nat='2'\n[[job]]\noperation='o'\nbackoff.delay='2'\n";
        let merged = flat(&overlay(&parse(base), &parse(over)));
        assert_eq!(
            merged,
            "end=y expect=(a=1 ) worker=(name=A lock=2 check=1 )(name=B )(name=C ) fault=(at=2 ) \
             job=(operation=o backoff={type=f delay=2 } ) "
        );
        let replaced = overlay(&parse("expect=[{a='1'}]"), &parse("expect=[{b='1'}]"));
        assert_eq!(flat(&replaced), "expect=(b=1 ) ");
    }

    #[test]
    fn an_overlay_that_names_a_worker_twice_keeps_both_to_be_refused() {
        for name in ["A", "B"] {
            let over = format!("[[worker]]\nname='{name}'\n[[worker]]\nname='{name}'");
            let merged = flat(&overlay(&parse("[[worker]]\nname='A'"), &parse(&over)));
            assert_eq!(merged.matches(&format!("name={name}")).count(), 2, "{merged}");
        }
    }

    #[test]
    fn defaults_lie_beneath_what_is_stated() {
        let mut script =
            parse("[defaults.worker]\nlock='1'\ncheck='1'\n[[worker]]\nname='A'\nlock='2'\n[[job]]\noperation='o'");
        apply_defaults(&mut script);
        assert!(flat(&script).contains("worker=(lock=2 check=1 name=A )"), "{}", flat(&script));
        assert!(flat(&script).contains("job=(operation=o )"), "{}", flat(&script));
    }
}
