//! Lines in, lines out: one JSON message each, nothing else on the output.

use std::io;

use rmcp::{
    RoleServer,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    sync::{mpsc, oneshot},
};

use super::wire::{self, Line};
use crate::watch::Activity;

/// The longest line that is read, in bytes. Operations refuse large texts themselves, with a better
/// message; this only keeps a peer without line breaks from filling the memory.
pub(super) const MAX_LINE: usize = 64 * 1024 * 1024;

/// Replies that may wait for a client that does not read.
const MAX_WAITING: usize = 64;

/// Memory that a line buffer may keep after a large line, in bytes.
const KEPT_CAPACITY: usize = 256 * 1024;

/// A stream of lines towards one client.
pub(super) struct LineTransport<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    discarding: bool,
    owed: Option<Vec<u8>>,
    outbox: mpsc::Sender<Outgoing>,
    activity: Activity,
}

struct Outgoing {
    bytes: Vec<u8>,
    written: Option<oneshot::Sender<io::Result<()>>>,
}

enum Read {
    Line,
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin> LineTransport<R> {
    pub(super) fn new<W>(reader: R, writer: W, activity: Activity) -> Self
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (outbox, inbox) = mpsc::channel(MAX_WAITING);
        tokio::spawn(write(writer, inbox));
        Self {
            reader: BufReader::with_capacity(64 * 1024, reader),
            line: Vec::new(),
            discarding: false,
            owed: None,
            outbox,
            activity,
        }
    }

    /// Reads up to the next line break. May be dropped at any await and called again: bytes are
    /// taken from the reader only together with the state that remembers them.
    async fn read_line(&mut self) -> Read {
        loop {
            let available = match self.reader.fill_buf().await {
                Ok(bytes) if !bytes.is_empty() => bytes,
                // The end of input; a last line without its break counts.
                _ if !self.line.is_empty() && !self.discarding => return Read::Line,
                _ => return Read::End,
            };
            let line_break = available.iter().position(|b| *b == b'\n');
            let taken = line_break.map_or(available.len(), |at| at + 1);
            if !self.discarding {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.reader.consume(taken);
            if self.discarding {
                self.discarding = line_break.is_none();
            } else if self.line.len() > MAX_LINE {
                self.line = Vec::new();
                self.discarding = line_break.is_none();
                return Read::TooLong;
            } else if line_break.is_some() {
                return Read::Line;
            }
        }
    }

    fn take_line(&mut self) -> Line {
        let line = wire::read(&self.line);
        self.line.clear();
        self.line.shrink_to(KEPT_CAPACITY);
        line
    }

    /// Hands the owed reply to the writer. Safe to drop: the reply leaves only when there is room.
    async fn pay(&mut self) -> bool {
        if self.owed.is_none() {
            return true;
        }
        let Ok(room) = self.outbox.reserve().await else { return false };
        if let Some(bytes) = self.owed.take() {
            room.send(Outgoing { bytes, written: None });
        }
        true
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for LineTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let outbox = self.outbox.clone();
        async move {
            let bytes = line_of(&message)?;
            let (written, outcome) = oneshot::channel();
            let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
            outbox.send(Outgoing { bytes, written: Some(written) }).await.map_err(|_| gone())?;
            outcome.await.map_err(|_| gone())?
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if !self.pay().await {
                return None;
            }
            let outbox = self.outbox.clone();
            let read = tokio::select! {
                read = self.read_line() => read,
                () = outbox.closed() => Read::End,
            };
            self.activity.touch();
            let line = match read {
                Read::Line => self.take_line(),
                Read::TooLong => Line::Refused(wire::too_long(MAX_LINE)),
                Read::End => return None,
            };
            match line {
                Line::Message(message) => return Some(*message),
                Line::Refused(reply) => self.owed = line_of(&reply).ok(),
                Line::Ignored => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn line_of(message: &impl serde::Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(message)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes what is sent, in order, until nobody sends or nobody reads.
async fn write<W: AsyncWrite + Unpin>(mut writer: W, mut inbox: mpsc::Receiver<Outgoing>) {
    while let Some(Outgoing { bytes, written }) = inbox.recv().await {
        let outcome = async {
            writer.write_all(&bytes).await?;
            writer.flush().await
        }
        .await;
        let broken = outcome.is_err();
        if let Some(written) = written {
            // The sender may have stopped waiting.
            written.send(outcome).ok();
        }
        if broken {
            return;
        }
    }
}
