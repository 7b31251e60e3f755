//! A history as a picture: time runs down, the queue and each worker have a lane. A pure function of the history.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::paint::{self, paint};
use crate::history::{Answer, Entry, Event, Outcome, Point};

/// The widest line, characters.
const WIDTH: usize = 100;
/// Width of the time column.
const TIME: usize = 10;
/// Width of the queue's lane.
const QUEUE: usize = 20;
/// The narrowest lane of a worker.
const LANE_MIN: usize = 9;

/// What a glyph stands for. The legend shows those that are used.
const GLYPHS: &[(char, &str)] = &[
    ('+', "queue entry"),
    ('▶', "handler entered"),
    ('·', "parking point"),
    ('│', "handler open"),
    ('⚡', "fault strikes"),
    ('■', "handler returned"),
    ('✗', "handler failed"),
    ('‖', "stopped"),
    ('†', "dead"),
    ('✓', "finish accepted"),
    ('⊘', "finish refused"),
];

/// What a worker's lane shows where nothing happens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Lane {
    open: u32,
    stopped: bool,
}

/// One row: in which lane what happens.
struct Row<'a> {
    at_us: u64,
    /// `None` for the queue's lane.
    worker: Option<&'a str>,
    glyph: char,
    text: String,
}

/// The picture of a history, up to the end of its script.
pub fn timeline(entries: &[Entry]) -> String {
    let names: Vec<&str> = workers(entries);
    let width = (WIDTH - TIME - QUEUE).checked_div(names.len().max(1)).unwrap_or(LANE_MIN).clamp(LANE_MIN, 30);
    // More workers than fit side by side: those that come last have no lane.
    let shown = names.len().min((WIDTH - TIME - QUEUE) / width);
    let began =
        entries.iter().find(|entry| matches!(entry.event, Event::Submitted { .. })).map_or(0, |entry| entry.at_us);
    let mut lanes: BTreeMap<&str, Lane> = names.iter().map(|name| (*name, Lane::default())).collect();
    let mut used = String::new();
    let mut picture = head(&names[..shown], width);
    for entry in entries {
        if matches!(entry.event, Event::End { .. }) {
            break;
        }
        let Some(row) = row(entry, entries) else {
            step(&mut lanes, &entry.event);
            continue;
        };
        used.push(row.glyph);
        step(&mut lanes, &entry.event);
        let _ = write!(picture, "{}", line(&row, &names[..shown], &lanes, width, began).trim_end());
        picture.push('\n');
        used.extend(lanes.values().filter(|lane| lane.open > 0).map(|_| '│'));
    }
    picture.push_str(&legend(&used));
    picture
}

fn workers(entries: &[Entry]) -> Vec<&str> {
    let mut names = Vec::new();
    for entry in entries {
        if let Event::Started { worker } = &entry.event
            && !names.contains(&worker.as_str())
        {
            names.push(worker.as_str());
        }
    }
    names
}

fn head(names: &[&str], width: usize) -> String {
    let mut head = format!("{:>8}  {:QUEUE$}", "ms", "queue");
    for name in names {
        let _ = write!(head, "{:width$}", clip(&format!("worker {name}"), width - 1));
    }
    format!("{}\n", paint(paint::QUIET, head.trim_end()))
}

/// What an entry shows, if anything.
fn row<'a>(entry: &'a Entry, entries: &'a [Entry]) -> Option<Row<'a>> {
    let in_lane =
        |worker: &'a str, glyph, text: String| Some(Row { at_us: entry.at_us, worker: Some(worker), glyph, text });
    let in_queue = |glyph, text: String| Some(Row { at_us: entry.at_us, worker: None, glyph, text });
    match &entry.event {
        Event::Queue { entry } if entry.queue != "drained" => {
            let job = entry.job.as_deref().map(|job| format!(" {job}")).unwrap_or_default();
            in_queue('+', format!("{}{job}", entry.queue))
        }
        Event::Submitted { error: Some(error), .. } => in_queue('⊘', format!("add refused: {error}")),
        Event::KeyDeleted { .. } => in_queue('⚡', "key deleted".to_owned()),
        Event::Point { worker, point: Point::HandlerStarted, job, attempts_made, .. } => {
            in_lane(worker, '▶', format!("job {job}, attempt {attempts_made}"))
        }
        Event::Point { worker, point, .. } => {
            in_lane(worker, '·', point.word().replace("handler.", "").replace("effect.", ""))
        }
        Event::Struck { fault, worker, .. } => {
            let text = action(entries, *fault);
            match worker {
                Some(worker) => in_lane(worker, '⚡', text),
                None => in_queue('⚡', text),
            }
        }
        Event::Answered { worker, answer, point, .. } => match (answer, point) {
            (Answer::Throw { .. } | Answer::Panic, _) => in_lane(worker, '✗', "fails".to_owned()),
            (Answer::Go, Point::HandlerReturned) | (Answer::MoveToDelayed { .. }, _) => {
                in_lane(worker, '■', "returns".to_owned())
            }
            _ => None,
        },
        Event::Stopped { worker } => in_lane(worker, '‖', "stopped".to_owned()),
        Event::Exited { worker, status, .. } => in_lane(worker, '†', status.replace("signal ", "")),
        Event::Settled { worker, outcome, .. } => match outcome {
            Outcome::Completed => in_lane(worker, '✓', "completed".to_owned()),
            Outcome::Failed => in_lane(worker, '✓', "failure noted".to_owned()),
            Outcome::Refused => in_lane(worker, '⊘', "finish refused".to_owned()),
            Outcome::Moved => in_lane(worker, '✓', "job moved back".to_owned()),
        },
        _ => None,
    }
}

fn action(entries: &[Entry], fault: usize) -> String {
    match entries.first().map(|entry| &entry.event) {
        Some(Event::Case { faults, .. }) => faults.get(fault).map(|fault| fault.action.clone()).unwrap_or_default(),
        _ => String::new(),
    }
}

/// What the lanes show from here on.
fn step<'a>(lanes: &mut BTreeMap<&'a str, Lane>, event: &'a Event) {
    let (worker, change): (&str, fn(&mut Lane)) = match event {
        Event::Point { worker, point: Point::HandlerStarted, .. } => (worker, |lane| lane.open += 1),
        Event::Answered {
            worker, answer: Answer::Throw { .. } | Answer::Panic | Answer::MoveToDelayed { .. }, ..
        }
        | Event::Answered { worker, point: Point::HandlerReturned, .. } => {
            (worker, |lane| lane.open = lane.open.saturating_sub(1))
        }
        Event::Stopped { worker } => (worker, |lane| lane.stopped = true),
        Event::Signalled { worker, signal } if signal == "SIGCONT" => (worker, |lane| lane.stopped = false),
        Event::Exited { worker, .. } => (worker, |lane| *lane = Lane::default()),
        _ => return,
    };
    if let Some(lane) = lanes.get_mut(worker) {
        change(lane);
    }
}

fn line(row: &Row<'_>, names: &[&str], lanes: &BTreeMap<&str, Lane>, width: usize, began: u64) -> String {
    let ms = i64::try_from(row.at_us).unwrap_or(i64::MAX) - i64::try_from(began).unwrap_or(0);
    #[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
    let mut line = format!("{:>8.1}  ", ms as f64 / 1000.0);
    let cell = |width: usize| {
        let text = clip(&format!("{} {}", row.glyph, row.text), width - 1);
        let padding = " ".repeat(width - text.chars().count());
        format!("{}{padding}", styled(row.glyph, &text))
    };
    line.push_str(&if row.worker.is_none() { cell(QUEUE) } else { " ".repeat(QUEUE) });
    for name in names {
        let lane = lanes.get(name).copied().unwrap_or_default();
        let quiet = match lane {
            Lane { stopped: true, .. } => "‖",
            Lane { open: 1.., .. } => "│",
            _ => "",
        };
        line.push_str(&if row.worker == Some(name) { cell(width) } else { format!("{quiet:width$}") });
    }
    line
}

fn styled(glyph: char, text: &str) -> String {
    match glyph {
        '⚡' | '†' | '✗' | '⊘' => paint(paint::BAD, text),
        '✓' => paint(paint::GOOD, text),
        '‖' => paint(paint::DOUBT, text),
        _ => text.to_owned(),
    }
}

/// The glyphs that are used, wrapped.
fn legend(used: &str) -> String {
    let mut legend = String::new();
    let mut line = " ".repeat(TIME);
    for (glyph, meaning) in GLYPHS.iter().filter(|(glyph, _)| used.contains(*glyph)) {
        let entry = format!("{glyph} {meaning}   ");
        if line.chars().count() + entry.trim_end().chars().count() > WIDTH {
            let _ = writeln!(legend, "{}", paint(paint::QUIET, line.trim_end()));
            line = " ".repeat(TIME);
        }
        line.push_str(&entry);
    }
    let _ = writeln!(legend, "{}", paint(paint::QUIET, line.trim_end()));
    legend
}

/// At most so many characters.
fn clip(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}
