//! Everything that is wrong with a scenario file, all at once: where it stands, the line with a caret, and what would be
//! right.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use crate::fault::GrammarError;
use crate::fault::words::{hidden, listed, nearest, shown};

use super::fields::Spot;

/// The widest line of a rendering.
const WIDTH: usize = 100;
/// How many problems of one file are shown; the rest is counted.
const SHOWN_MAX: usize = 50;
/// How many problems of one file are kept: a hostile file could make finding them slow.
const KEPT_MAX: usize = 1000;
/// A tab in a shown line.
const TAB: &str = "    ";

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
    end: usize,
}

/// The problems of one file, in the order of the file. Displayed as a compiler would.
#[derive(Debug, Clone)]
pub struct Problems {
    origin: String,
    source: String,
    found: BTreeSet<Problem>,
}

impl Problems {
    /// None yet.
    pub(super) fn new(origin: &str, source: &str) -> Self {
        Self { origin: origin.to_owned(), source: source.to_owned(), found: BTreeSet::new() }
    }

    /// Every problem, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.found.iter()
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Records a problem at a byte range of the file. The same problem seen again (in another variant) counts once.
    pub(super) fn add(&mut self, span: &Range<usize>, message: impl Into<String>, help: Option<String>) {
        if self.found.len() >= KEPT_MAX {
            return;
        }
        let start = floor(&self.source, span.start);
        let before = &self.source[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.line(span.start);
        let column = self.source[line_start..start].chars().count() + 1;
        let end = floor(&self.source, span.end).max(start);
        let width = self.source[start..end].lines().next().map_or(0, |text| text.chars().count());
        self.found.insert(Problem { line, column, message: message.into(), help, end: column + width.max(1) });
    }

    /// Records a problem without help.
    pub(super) fn say(&mut self, span: &Range<usize>, message: impl Into<String>) {
        self.add(span, message, None);
    }

    /// Records a mistake in a fault's text; `span` is the string in the file that holds it.
    pub(super) fn grammar(&mut self, span: &Range<usize>, error: GrammarError) {
        let inside = self.inside(span, &error.span);
        self.add(&inside, error.message, error.help);
    }

    /// Records an unknown word of a closed set.
    pub(super) fn unknown<'a>(
        &mut self,
        span: &Range<usize>,
        what: &str,
        word: &str,
        known: impl IntoIterator<Item = &'a str> + Clone,
    ) {
        if self.found.len() >= KEPT_MAX {
            return;
        }
        let help = match nearest(word, known.clone()) {
            Some(near) => format!("did you mean `{}`?", shown(near)),
            None if known.clone().into_iter().next().is_none() => "there is none".to_owned(),
            None => format!("known: {}", listed(known)),
        };
        self.add(span, format!("unknown {what} `{}`", shown(word)), Some(help));
    }

    /// The line of a byte position, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        let at = floor(&self.source, at);
        self.source[..at].matches('\n').count() + 1
    }

    /// Where a word stands inside a string of the file.
    pub(super) fn word_in(&self, spot: &Spot, word: &str) -> Range<usize> {
        match spot.text.find(word) {
            Some(start) => self.inside(&spot.span, &(start..start + word.len())),
            None => spot.span.clone(),
        }
    }

    /// The byte range in the file of a range in the decoded text of the string at `span`.
    fn inside(&self, span: &Range<usize>, part: &Range<usize>) -> Range<usize> {
        let Some(raw) = self.source.get(span.clone()) else { return span.clone() };
        let quote = if raw.starts_with('\'') { '\'' } else { '"' };
        if raw.len() < 2
            || !raw.starts_with(quote)
            || (raw.len() >= 6 && raw.starts_with(&[quote; 3].iter().collect::<String>()))
        {
            return span.clone();
        }
        let inner = &raw[1..raw.len() - 1];
        let position = |decoded: usize| match quote {
            '"' => span.start + 1 + raw_offset(inner, decoded),
            _ => span.start + 1 + decoded,
        };
        position(part.start)..position(part.end)
    }

    fn render(&self, f: &mut fmt::Formatter<'_>, problem: &Problem) -> fmt::Result {
        let number = problem.line.to_string();
        let margin = " ".repeat(number.len());
        let text = self.source.lines().nth(problem.line - 1).unwrap_or_default();
        let (line, indent, carets) = excerpt(text, problem.column, problem.end, WIDTH - number.len() - 3);
        writeln!(f, "error: {}", safe(&problem.message))?;
        writeln!(f, "{margin}--> {}:{}:{}", safe(&self.origin), problem.line, problem.column)?;
        writeln!(f, "{margin} |")?;
        writeln!(f, "{}", format!("{number} | {line}").trim_end())?;
        write!(f, "{margin} | {}{}", " ".repeat(indent), "^".repeat(carets))?;
        match &problem.help {
            Some(help) => write!(f, "\n{margin} = help: {}", safe(help)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.found.iter().take(SHOWN_MAX).enumerate() {
            f.write_str(if index == 0 { "" } else { "\n\n" })?;
            self.render(f, problem)?;
        }
        match self.found.len().saturating_sub(SHOWN_MAX) {
            0 => Ok(()),
            more => write!(f, "\n\nand {more} more problems in {}", safe(&self.origin)),
        }
    }
}

impl std::error::Error for Problems {}

/// The nearest character boundary at or before a byte position.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

/// Where the decoded byte `wanted` of a basic string begins in its raw text.
fn raw_offset(raw: &str, wanted: usize) -> usize {
    let (mut at, mut decoded) = (0, 0);
    while decoded < wanted && at < raw.len() {
        let char = raw[at..].chars().next().unwrap_or_default();
        let (raw_length, decoded_length) = match (char, raw[at..].chars().nth(1)) {
            ('\\', Some('x')) => (4, escaped_length(raw, at + 2, 2)),
            ('\\', Some('u')) => (6, escaped_length(raw, at + 2, 4)),
            ('\\', Some('U')) => (10, escaped_length(raw, at + 2, 8)),
            ('\\', Some(_)) => (2, 1),
            _ => (char.len_utf8(), char.len_utf8()),
        };
        at += raw_length;
        decoded += decoded_length;
    }
    at.min(raw.len())
}

fn escaped_length(raw: &str, at: usize, digits: usize) -> usize {
    let code = raw.get(at..at + digits).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    code.and_then(char::from_u32).map_or(1, char::len_utf8)
}

/// A line as it is shown around the columns `from..to`, at most `width` wide: the text, the caret's indent and length.
fn excerpt(line: &str, from: usize, to: usize, width: usize) -> (String, usize, usize) {
    let cells: Vec<String> = line.chars().map(cell).collect();
    let widths: Vec<usize> = cells.iter().map(|cell| cell.chars().count()).collect();
    let (from, to) = ((from - 1).min(cells.len()), (to - 1).min(cells.len()));
    if widths.iter().sum::<usize>() <= width {
        let carets = widths[from..to].iter().sum::<usize>().max(1);
        return (cells.concat(), widths[..from].iter().sum(), carets);
    }
    let room = width - 2;
    let mut first = from;
    let mut before = 0;
    while first > 0 && before + widths[first - 1] <= room / 3 {
        first -= 1;
        before += widths[first];
    }
    let (mut last, mut used) = (first, 0);
    while last < cells.len() && used + widths[last] <= room {
        used += widths[last];
        last += 1;
    }
    let head = if first > 0 { "…" } else { "" };
    let tail = if last < cells.len() { "…" } else { "" };
    let carets = widths[from.min(last)..to.clamp(from.min(last), last)].iter().sum::<usize>().max(1);
    (format!("{head}{}{tail}", cells[first..last].concat()), head.chars().count() + before, carets)
}

/// One character as a terminal may show it.
fn cell(char: char) -> String {
    match char {
        '\t' => TAB.to_owned(),
        hidden_one if hidden(hidden_one) => hidden_one.escape_default().to_string(),
        plain => plain.to_string(),
    }
}

fn safe(text: &str) -> String {
    text.chars().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(source: &str, span: Range<usize>) -> String {
        let mut problems = Problems::new("f.toml", source);
        problems.say(&span, "wrong");
        problems.to_string()
    }

    #[test]
    fn the_caret_stands_under_the_mistake_in_characters() {
        let at = |source: &str, part: &str| source.find(part).map(|start| start..start + part.len()).unwrap();
        let table = [
            ("a = 1\nbad = 2", "bad", "f.toml:2:1", "2 | bad = 2\n  | ^^^"),
            ("é = bad", "bad", "f.toml:1:5", "1 | é = bad\n  |     ^^^"),
            ("\tx = bad", "bad", "f.toml:1:6", "1 |     x = bad\n  |         ^^^"),
            ("\u{1b}x = bad\r\n", "bad", "f.toml:1:6", "1 | \\u{1b}x = bad\n  |           ^^^"),
            ("a = bad\nb", "bad\nb", "f.toml:1:5", "1 | a = bad\n  |     ^^^"),
        ];
        for (source, part, place, picture) in table {
            let shown = only(source, at(source, part));
            assert!(shown.contains(place) && shown.ends_with(picture), "{shown}");
        }
        assert!(only("", 0..0).ends_with("f.toml:1:1\n  |\n1 |\n  | ^"), "{}", only("", 0..0));
    }

    #[test]
    fn no_line_is_wider_than_a_hundred_columns() {
        for start in [0, 5, 150, 290, 297] {
            let source = format!("{}bad{}", "x".repeat(start), "y".repeat(297 - start));
            let shown = only(&source, start..start + 3);
            assert!(shown.lines().all(|line| line.chars().count() <= WIDTH), "{shown}");
            let lines: Vec<Vec<char>> = shown.lines().map(|line| line.chars().collect()).collect();
            let caret = lines[4].iter().position(|char| *char == '^').unwrap();
            assert_eq!(lines[3][caret..caret + 3].iter().collect::<String>(), "bad", "{shown}");
        }
    }

    #[test]
    fn escapes_in_a_string_do_not_move_the_caret() {
        let source = r#"at = "é\u00e9[\"x\"]#0""#;
        let decoded = "éé[\"x\"]";
        let mut problems = Problems::new("f.toml", source);
        let error = GrammarError { span: decoded.len()..decoded.len() + 2, message: "zero".into(), help: None };
        problems.grammar(&(5..source.len()), error);
        let column = source.chars().position(|char| char == '#').unwrap() + 1;
        assert_eq!(problems.iter().map(|problem| problem.column).collect::<Vec<_>>(), [column]);
    }

    #[test]
    fn the_same_problem_is_told_once_and_many_are_counted() {
        let source = "x\n".repeat(60);
        let mut problems = Problems::new("f.toml", &source);
        for _ in 0..2 {
            (0..60).for_each(|line| problems.say(&(line * 2..line * 2 + 1), "wrong"));
        }
        assert!(problems.to_string().ends_with("and 10 more problems in f.toml"), "{problems}");
    }
}
