//! The words for how a case and a run end.

use serde::{Deserialize, Serialize};

/// Why a case gave no verdict. A closed list: a reader branches on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// An armed fault never acted.
    FaultNotFired,
    /// A fault acted after the moment it was meant for.
    FaultTooLate,
    /// The queue gave the job away before the struck worker was dead.
    EarlyStall,
    /// The history and the queue's own record count differently.
    RecordsDisagree,
    /// The fault-free twin did not behave, so the faulty case proves nothing.
    TwinDiffers,
    /// The case did not end within its bound.
    Deadline,
    /// The history is not complete.
    HistoryGap,
    /// A subject died although no fault asked for it.
    SubjectDiedUnasked,
}

impl Reason {
    /// The word used in files and output.
    pub fn word(self) -> &'static str {
        match self {
            Self::FaultNotFired => "fault-not-fired",
            Self::FaultTooLate => "fault-too-late",
            Self::EarlyStall => "early-stall",
            Self::RecordsDisagree => "records-disagree",
            Self::TwinDiffers => "twin-differs",
            Self::Deadline => "deadline",
            Self::HistoryGap => "history-gap",
            Self::SubjectDiedUnasked => "subject-died-unasked",
        }
    }
}

/// How one case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Everything that the table states was observed.
    Match,
    /// At least one column differs from the table.
    Mismatch,
    /// The case proves nothing, for the reason named.
    Inconclusive(Reason),
    /// Picked by a default and not run.
    Skipped,
    /// The lab or a service broke.
    Error,
}

impl Verdict {
    /// The word used in files and output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Mismatch => "mismatch",
            Self::Inconclusive(_) => "inconclusive",
            Self::Skipped => "skipped",
            Self::Error => "error",
        }
    }

    /// The reason of an inconclusive verdict.
    pub fn reason(self) -> Option<Reason> {
        match self {
            Self::Inconclusive(reason) => Some(reason),
            _ => None,
        }
    }
}

/// How many cases ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Cases that were judged or skipped.
    pub cases: u64,
    /// Verdict `match`.
    pub matched: u64,
    /// Verdict `mismatch`.
    pub mismatched: u64,
    /// Verdict `inconclusive`.
    pub inconclusive: u64,
    /// Verdict `skipped`.
    pub skipped: u64,
    /// Verdict `error`.
    pub errors: u64,
}

impl Tally {
    /// Counts one more verdict.
    pub fn add(&mut self, verdict: Verdict) {
        self.cases += 1;
        match verdict {
            Verdict::Match => self.matched += 1,
            Verdict::Mismatch => self.mismatched += 1,
            Verdict::Inconclusive(_) => self.inconclusive += 1,
            Verdict::Skipped => self.skipped += 1,
            Verdict::Error => self.errors += 1,
        }
    }

    /// The exit status of a run with these counts: 3 beats 1 beats 4 beats 0.
    pub fn exit(&self) -> Exit {
        if self.errors > 0 {
            Exit::Environment
        } else if self.mismatched > 0 {
            Exit::Mismatch
        } else if self.inconclusive > 0 {
            Exit::Inconclusive
        } else if self.matched == 0 {
            Exit::NothingRan
        } else {
            Exit::AllMatched
        }
    }
}

/// The exit status of the `lab` process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Every case that was asked for matched.
    AllMatched,
    /// At least one mismatch.
    Mismatch,
    /// Bad usage or a bad scenario.
    Usage,
    /// A service or worker would not start, or the lab itself broke.
    Environment,
    /// At least one inconclusive case and nothing worse.
    Inconclusive,
    /// Nothing was selected, or nothing reached a verdict.
    NothingRan,
    /// Interrupted by this signal.
    Signal(i32),
}

impl Exit {
    /// The number the shell sees.
    pub fn code(self) -> i32 {
        match self {
            Self::AllMatched => 0,
            Self::Mismatch => 1,
            Self::Usage => 2,
            Self::Environment => 3,
            Self::Inconclusive => 4,
            Self::NothingRan => 5,
            Self::Signal(signal) => 128 + signal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_verdict_decides_the_exit_status() {
        let inconclusive = Verdict::Inconclusive(Reason::Deadline);
        let table: [(&[Verdict], i32); 7] = [
            (&[], 5),
            (&[Verdict::Skipped], 5),
            (&[Verdict::Match, Verdict::Skipped], 0),
            (&[Verdict::Match, inconclusive], 4),
            (&[inconclusive, Verdict::Mismatch], 1),
            (&[Verdict::Mismatch, Verdict::Error], 3),
            (&[Verdict::Error, Verdict::Match], 3),
        ];
        for (verdicts, code) in table {
            let mut tally = Tally::default();
            for verdict in verdicts {
                tally.add(*verdict);
            }
            assert_eq!(tally.exit().code(), code, "{verdicts:?}");
        }
        assert_eq!(Exit::Signal(2).code(), 130);
    }
}
