//! Planted defects of the built-in worker. `lab selftest` plants one at a time and wants the case to turn red.

use super::words::words;

words! {
    /// Something that is wrong with a worker on purpose.
    Defect {
        NoConstraint = "no-constraint", "the operation key protects nothing: the handler writes every time";
        PartialEffect = "partial-effect", "the ledger row is written without its credit";
        LostEffect = "lost-effect", "the handler reports an effect and writes none";
        DoubleWrite = "double-write", "one run of the handler writes twice";
        SilentEntry = "silent-entry", "a re-run enters its handler without a word";
        DoubledEntry = "doubled-entry", "a handler that is entered once says so twice";
        FalseAck = "false-ack", "a refused acknowledgement is reported as accepted";
        SuddenDeath = "sudden-death", "the process ends by itself at the end of its handler";
    }
}
