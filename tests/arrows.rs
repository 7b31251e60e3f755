//! The rooms of `src/` import only what the table lets them: design.md, section 2. Every breach is shown as `file:line`.

#![expect(clippy::unwrap_used, reason = "in a test, also in its helpers, a panic is the report")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Who may import whom. One row per room; a room without a row has no place in the house.
const ARROWS: &[(&str, &[&str])] = &[
    ("fault", &[]),
    ("outcome", &[]),
    ("process", &[]),
    ("service", &["process"]),
    ("protocol", &["fault"]),
    ("scenario", &["fault"]),
    ("history", &["fault"]),
    ("plan", &["scenario", "fault"]),
    ("subject", &["process", "protocol", "history", "fault"]),
    ("nemesis", &["subject", "process", "service", "fault", "history", "protocol"]),
    ("effect", &["service", "history"]),
    (
        "runner",
        &[
            "subject", "nemesis", "effect", "process", "service", "protocol", "scenario", "history", "plan", "fault",
            "outcome",
        ],
    ),
    ("checker", &["history", "scenario", "plan", "outcome", "fault"]),
    ("report", &["outcome", "history", "plan"]),
    ("worker", &["protocol", "fault"]),
    (
        "cli",
        &[
            "fault", "outcome", "process", "service", "protocol", "scenario", "history", "plan", "subject", "nemesis",
            "effect", "runner", "checker", "report", "worker",
        ],
    ),
];

/// One import of a room by another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Import {
    from: String,
    to: String,
    at: String,
}

#[test]
fn every_room_imports_only_what_its_row_allows() {
    let breaches = breaches(&imports_of_the_house());
    assert!(breaches.is_empty(), "{} forbidden imports:\n{}", breaches.len(), breaches.join("\n"));
}

#[test]
fn the_scan_sees_the_arrows_that_are_there() {
    // A scan that finds nothing would forbid nothing: these imports are what makes the rooms one house.
    let imports = imports_of_the_house();
    let has = |from: &str, to: &str| imports.iter().any(|import| import.from == from && import.to == to);
    for (from, to) in [
        ("service", "process"),
        ("protocol", "fault"),
        ("runner", "nemesis"),
        ("checker", "history"),
        ("report", "outcome"),
        ("worker", "protocol"),
        ("cli", "worker"),
        ("cli", "process"),
    ] {
        assert!(has(from, to), "no import of {to} by {from} was found");
    }
}

#[test]
fn no_room_reaches_itself_over_others() {
    let imports = imports_of_the_house();
    assert_eq!(circle(&edges(&imports)), None);
    let table: BTreeMap<String, BTreeSet<String>> = ARROWS
        .iter()
        .map(|(room, allowed)| ((*room).to_owned(), allowed.iter().map(|to| (*to).to_owned()).collect()))
        .collect();
    assert_eq!(circle(&table), None, "the table itself allows a circle");
}

#[test]
fn nobody_imports_the_command_line_and_neither_judge_nor_reports_know_the_runner() {
    let imports = imports_of_the_house();
    let forbidden = |import: &&Import| {
        import.to == "cli" || (import.to == "runner" && ["checker", "report"].contains(&import.from.as_str()))
    };
    let found: Vec<&Import> = imports.iter().filter(forbidden).collect();
    assert!(found.is_empty(), "{found:#?}");
    for (room, allowed) in ARROWS {
        assert!(!allowed.contains(&"cli"), "the table lets {room} import cli");
        assert!(
            !["checker", "report"].contains(room) || !allowed.contains(&"runner"),
            "the table lets {room} import runner"
        );
    }
}

#[test]
fn the_two_houses_share_only_the_wall() {
    let worker: BTreeSet<String> =
        imports_of_the_house().into_iter().filter(|import| import.from == "worker").map(|import| import.to).collect();
    assert_eq!(worker, BTreeSet::from(["fault".to_owned(), "protocol".to_owned()]));
}

#[test]
fn the_table_the_folders_and_the_tour_name_the_same_rooms() {
    let table: BTreeSet<String> = ARROWS.iter().map(|(room, _)| (*room).to_owned()).collect();
    assert_eq!(table.len(), ARROWS.len(), "a room has two rows");
    let entries = fs::read_dir(source()).unwrap().map(|entry| entry.unwrap());
    let rooms: BTreeSet<String> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            match entry.file_type().unwrap().is_dir() {
                true => Some(name),
                false => name.strip_suffix(".rs").filter(|name| !["lib", "main"].contains(name)).map(str::to_owned),
            }
        })
        .collect();
    assert_eq!(rooms, table, "left: what is in src/, right: rows of the table in tests/arrows.rs");
    let tour = bare(&fs::read_to_string(source().join("lib.rs")).unwrap());
    let declared = tour.split(';').filter_map(|item| item.trim().strip_prefix("pub mod ")).map(str::to_owned);
    assert_eq!(declared.collect::<BTreeSet<_>>(), table, "left: modules of src/lib.rs, right: rows of the table");
    for (room, allowed) in ARROWS {
        for to in *allowed {
            assert!(table.contains(*to), "{room} may import {to}, which is no room");
        }
    }
}

#[test]
fn a_planted_breach_is_found_with_its_place() {
    let planted = "//! Tour: crate::cli\nuse crate::history::Entry;\n\n/* crate::runner */\nuse crate::{\n    outcome::Exit,\n    \
                   runner::{House, run},\n};\nfn f() -> &'static str { \"crate::cli\" }\n";
    let imports = scan("checker", "src/checker/planted.rs", 2, planted);
    let found: Vec<(&str, &str)> = imports.iter().map(|import| (import.to.as_str(), import.at.as_str())).collect();
    let at = |line: u32| format!("src/checker/planted.rs:{line}");
    assert_eq!(
        found,
        [("history", at(2).as_str()), ("outcome", at(6).as_str()), ("runner", at(7).as_str())],
        "comments and strings import nothing; a group imports each of its members"
    );
    assert_eq!(breaches(&imports), ["src/checker/planted.rs:7: checker imports runner"]);
}

#[test]
fn a_breach_is_found_in_every_spelling_and_in_no_test() {
    let table = [
        ("fn f() { crate::runner::run(); }", vec!["src/fault/x.rs:1: fault imports runner"]),
        ("pub(crate) use crate :: runner;", vec!["src/fault/x.rs:1: fault imports runner"]),
        ("macro_rules! m { () => { $crate::cli::f() } }", vec!["src/fault/x.rs:1: fault imports cli"]),
        ("use super::super::runner::run;", vec!["src/fault/x.rs:1: fault imports runner"]),
        (
            "use super::super::{cli, fault, runner};",
            vec!["src/fault/x.rs:1: fault imports cli", "src/fault/x.rs:1: fault imports runner"],
        ),
        ("use crate::cellar::wine;", vec!["src/fault/x.rs:1: fault imports cellar, which is no room"]),
        ("use crate::fault::words::words;\nuse super::names;", vec![]),
        ("use my_crate::runner::run;", vec![]),
        ("#[cfg(test)]\nmod tests {\n    use crate::runner::run; // }\n    fn f() { \"}\"; '}'; }\n}", vec![]),
        (
            "#[cfg(test)]\nmod tests { fn f() {} }\nuse crate::runner::run;",
            vec!["src/fault/x.rs:3: fault imports runner"],
        ),
        ("#[cfg(test)]\nmod tests;\nuse crate::runner::run;", vec!["src/fault/x.rs:3: fault imports runner"]),
        (
            "const R: &str = r#\"\"crate::cli\"#; fn f<'a>(x: &'a str) { crate::cli::g('\"', x) }",
            vec!["src/fault/x.rs:1: fault imports cli"],
        ),
    ];
    for (text, expected) in table {
        assert_eq!(breaches(&scan("fault", "src/fault/x.rs", 2, text)), expected, "{text}");
    }
}

#[test]
fn a_planted_circle_is_named() {
    let edges = |pairs: &[(&str, &str)]| {
        let mut edges = BTreeMap::<String, BTreeSet<String>>::new();
        for (from, to) in pairs {
            edges.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        edges
    };
    assert_eq!(circle(&edges(&[("a", "b"), ("b", "c"), ("a", "c")])), None);
    let round = edges(&[("x", "a"), ("a", "b"), ("b", "c"), ("c", "a")]);
    assert_eq!(circle(&round).as_deref(), Some("a -> b -> c -> a"));
}

// ---- the table against the imports

fn breaches(imports: &[Import]) -> Vec<String> {
    let row = |room: &str| ARROWS.iter().find(|(name, _)| *name == room).map(|(_, allowed)| *allowed);
    imports
        .iter()
        .filter_map(|Import { from, to, at }| match (row(from), row(to)) {
            (None, _) => Some(format!("{at}: {from} has no row in the table of tests/arrows.rs")),
            (_, None) => Some(format!("{at}: {from} imports {to}, which is no room")),
            (Some(allowed), _) if allowed.contains(&to.as_str()) => None,
            _ => Some(format!("{at}: {from} imports {to}")),
        })
        .collect()
}

fn edges(imports: &[Import]) -> BTreeMap<String, BTreeSet<String>> {
    let mut edges = BTreeMap::<String, BTreeSet<String>>::new();
    for import in imports {
        edges.entry(import.from.clone()).or_default().insert(import.to.clone());
    }
    edges
}

/// A way from a room back to itself, as text.
fn circle(edges: &BTreeMap<String, BTreeSet<String>>) -> Option<String> {
    fn walk<'a>(
        edges: &'a BTreeMap<String, BTreeSet<String>>,
        room: &'a str,
        way: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
    ) -> Option<String> {
        if let Some(start) = way.iter().position(|passed| *passed == room) {
            way.push(room);
            return Some(way[start..].join(" -> "));
        }
        if !done.contains(room) {
            way.push(room);
            for to in edges.get(room).into_iter().flatten() {
                if let Some(found) = walk(edges, to, way, done) {
                    return Some(found);
                }
            }
            way.pop();
            done.insert(room);
        }
        None
    }
    let mut done = BTreeSet::new();
    edges.keys().find_map(|room| walk(edges, room, &mut Vec::new(), &mut done))
}

// ---- the imports in the files

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every import of one room by another in `src/`, outside comments, strings and test modules.
fn imports_of_the_house() -> Vec<Import> {
    let root = source();
    let mut files = Vec::new();
    collect(&root, &mut files);
    let texts: BTreeMap<PathBuf, String> =
        files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect();
    let tests: BTreeSet<PathBuf> = texts.iter().flat_map(|(path, text)| test_files(path, text)).collect();
    let mut imports = Vec::new();
    for (path, text) in texts.iter().filter(|(path, _)| !tests.contains(*path)) {
        let inner = path.strip_prefix(&root).unwrap();
        let parts: Vec<&str> = inner.iter().map(|part| part.to_str().unwrap()).collect();
        let last = parts[parts.len() - 1];
        // The two files at the root are no room: they declare and call, and belong to everybody.
        if parts.len() == 1 && ["lib.rs", "main.rs"].contains(&last) {
            continue;
        }
        let room = parts[0].trim_end_matches(".rs");
        let depth = parts.len() - usize::from(last == "mod.rs");
        imports.extend(scan(room, &format!("src/{}", inner.display()), depth, text));
    }
    imports
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}

/// The files that `#[cfg(test)] mod name;` in a file stands for.
fn test_files(path: &Path, text: &str) -> Vec<PathBuf> {
    let bare = bare(text);
    let stem = path.file_stem().unwrap().to_str().unwrap();
    let folder = path.parent().unwrap();
    let folder = if ["mod", "lib", "main"].contains(&stem) { folder.to_owned() } else { folder.join(stem) };
    let names = bare.match_indices("#[cfg(test)]").filter_map(|(at, marker)| {
        let after = bare[at + marker.len()..].trim_start().strip_prefix("mod ")?;
        let (name, _) = after.split_once(';')?;
        name.chars().all(|c| c.is_alphanumeric() || c == '_').then(|| name.to_owned())
    });
    names.flat_map(|name| [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")]).collect()
}

/// The imports in one file of a room, in the order of the file. `depth` is how many steps of `super` lead out of the
/// house.
fn scan(room: &str, file: &str, depth: usize, text: &str) -> Vec<Import> {
    let bare = without_test_modules(&bare(text));
    let mut imports = Vec::new();
    let mut at = 0;
    while let Some(word) = next_word(&bare, at) {
        at = word.end;
        let tail = match &bare[word.clone()] {
            "crate" => after_colons(&bare, word.end),
            "super" => after_supers(&bare, word.end, depth),
            _ => None,
        };
        let Some(tail) = tail else { continue };
        for name in heads(&bare, tail) {
            let (line, to) = (bare[..name.start].matches('\n').count() + 1, bare[name].to_owned());
            if to != room && to != "self" {
                imports.push(Import { from: room.to_owned(), to, at: format!("{file}:{line}") });
            }
        }
        at = at.max(tail);
    }
    imports
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn next_word(text: &str, from: usize) -> Option<std::ops::Range<usize>> {
    let start = from + text[from..].find(is_word)?;
    let length = text[start..].find(|c| !is_word(c)).unwrap_or(text.len() - start);
    Some(start..start + length)
}

/// Where the text goes on after `::`.
fn after_colons(text: &str, at: usize) -> Option<usize> {
    let rest = text[at..].trim_start().strip_prefix("::")?.trim_start();
    Some(text.len() - rest.len())
}

/// Where a chain of `super::` that began before `at` has left the innermost `depth` modules.
fn after_supers(text: &str, mut at: usize, depth: usize) -> Option<usize> {
    for step in 1.. {
        at = after_colons(text, at)?;
        if step == depth {
            return Some(at);
        }
        at += text[at..].starts_with("super").then_some("super".len())?;
    }
    None
}

/// The first names of a path or of each member of a group.
fn heads(text: &str, at: usize) -> Vec<std::ops::Range<usize>> {
    if !text[at..].starts_with('{') {
        let word = next_word(text, at).filter(|word| word.start == at);
        return word.into_iter().collect();
    }
    let (mut depth, mut wanted, mut found) = (0, false, Vec::new());
    for (offset, c) in text[at..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        match c {
            _ if depth == 0 => break,
            '{' | ',' if depth == 1 => wanted = true,
            c if wanted && is_word(c) => {
                found.extend(next_word(text, at + offset));
                wanted = false;
            }
            _ => {}
        }
    }
    found
}

/// The text with every `#[cfg(test)] mod … { … }` blanked, lines kept. Wants a text without comments and strings.
fn without_test_modules(bare: &str) -> String {
    let mut out = bare.to_owned();
    while let Some(start) = out.find("#[cfg(test)]") {
        let rest = &out[start..];
        let open = rest.find('{').filter(|open| !rest[..*open].contains(';'));
        let end = match open {
            None => rest.find(';').unwrap_or(rest.len() - 1) + 1,
            Some(open) => {
                let mut depth = 0;
                let close = rest[open..].char_indices().find(|(_, c)| {
                    depth += i32::from(*c == '{') - i32::from(*c == '}');
                    depth == 0
                });
                close.map_or(rest.len(), |(at, _)| open + at + 1)
            }
        };
        let blank: String = rest[..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        out.replace_range(start..start + end, &blank);
    }
    out
}

/// The text with comments, strings and characters blanked, lines kept.
fn bare(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::new();
    let mut at = 0;
    while at < chars.len() {
        let end = opaque(&chars, at);
        let blank = |c: &char| if *c == '\n' { '\n' } else { ' ' };
        if end > at {
            out.extend(chars[at..end].iter().map(blank));
        } else {
            out.push(chars[at]);
        }
        at = end.max(at + 1);
    }
    out
}

/// Where the comment, string or character that begins here ends; the same place if none begins.
fn opaque(chars: &[char], at: usize) -> usize {
    let find = |from: usize, wanted: &str| {
        let wanted: Vec<char> = wanted.chars().collect();
        (from..chars.len()).find(|at| chars[*at..].starts_with(&wanted)).map_or(chars.len(), |at| at + wanted.len())
    };
    let before = at.checked_sub(1).map_or(' ', |before| chars[before]);
    match (chars[at], chars.get(at + 1)) {
        ('/', Some('/')) => find(at, "\n").saturating_sub(1).max(at + 2),
        ('/', Some('*')) => {
            let (mut depth, mut end) = (1, at + 2);
            while depth > 0 && end < chars.len() {
                match (chars[end], chars.get(end + 1)) {
                    ('/', Some('*')) => (depth, end) = (depth + 1, end + 2),
                    ('*', Some('/')) => (depth, end) = (depth - 1, end + 2),
                    _ => end += 1,
                }
            }
            end
        }
        ('r', Some('"' | '#')) if !is_word(before) || before == 'b' => {
            let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
            match chars.get(at + 1 + hashes) {
                Some('"') => find(at + 2 + hashes, &format!("\"{}", "#".repeat(hashes))),
                _ => at,
            }
        }
        ('"', _) => {
            let mut end = at + 1;
            while end < chars.len() && chars[end] != '"' {
                end += if chars[end] == '\\' { 2 } else { 1 };
            }
            (end + 1).min(chars.len())
        }
        ('\'', Some('\\')) => find(at + 3, "'"),
        ('\'', Some(_)) if chars.get(at + 2) == Some(&'\'') => at + 3,
        _ => at,
    }
}
