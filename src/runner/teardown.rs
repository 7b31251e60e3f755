//! The end of a case: whatever happened, its workers are dead and its names are free.

use super::case::Finished;
use super::stage::Stage;

pub(super) async fn strike_set(mut stage: Stage<'_>, played: anyhow::Result<()>) -> anyhow::Result<Finished> {
    // After an error workers may still live; a second error would only hide the first.
    let silent = match &played {
        Ok(()) => Ok(()),
        Err(_) => stage.silence().await,
    };
    stage.house.board.forget(&stage.slot.case);
    stage.house.inspector.unsubscribe(&stage.slot.case);
    let elapsed_ms = stage.history.elapsed_ms();
    let written = stage.history.finish();
    played?;
    silent?;
    stage.house.ledgers.give_back(stage.ledger);
    Ok(Finished { entries: written?, elapsed_ms })
}
