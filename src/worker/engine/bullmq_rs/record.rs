//! The queue's own event record, read as it grows and sent over the wall entry by entry.

use std::collections::HashMap;

use redis::AsyncCommands;
use redis::aio::MultiplexedConnection;
use redis::streams::{StreamReadOptions, StreamReadReply};
use tokio::sync::watch;

use crate::fault::QueueEntry;
use crate::protocol::FromSubject;
use crate::worker::failpoint::Wall;

/// How long one read waits for news, ms. Only the reading loop's own period: an entry ends the wait at once.
const BLOCK_MS: usize = 5_000;
/// Entries per read.
const BATCH: usize = 1_000;

/// Sends entries until the task is dropped; counts them in `sent`.
pub(super) async fn follow(
    mut connection: MultiplexedConnection,
    key: String,
    case: String,
    wall: Wall,
    sent: watch::Sender<u64>,
) {
    let mut last = "0-0".to_owned();
    let options = StreamReadOptions::default().block(BLOCK_MS).count(BATCH);
    loop {
        let reply: redis::RedisResult<Option<StreamReadReply>> =
            connection.xread_options(&[key.as_str()], &[last.as_str()], &options).await;
        let reply = match reply {
            Ok(reply) => reply.unwrap_or_default(),
            Err(error) => {
                let error = format!("cannot read the queue's events: {error}");
                return wall.say(FromSubject::Failed { case, error });
            }
        };
        for entry in reply.keys.into_iter().flat_map(|stream| stream.ids) {
            last.clone_from(&entry.id);
            wall.say(FromSubject::Queue { case: case.clone(), entry: queue_entry(entry.id, &entry.map) });
            sent.send_modify(|sent| *sent += 1);
        }
    }
}

fn queue_entry(id: String, fields: &HashMap<String, redis::Value>) -> QueueEntry {
    let text = |name: &str| fields.get(name).and_then(|value| redis::from_redis_value_ref::<String>(value).ok());
    QueueEntry { id, event: text("event").unwrap_or_default(), job: text("jobId"), reason: text("failedReason") }
}
