//! Statements whose answers nobody waits for one by one: they go out together, ahead of the next whose answer is
//! needed, and cost one round trip with it.

use std::{
    pin::{Pin, pin},
    task::{Context, Poll},
};

use tokio_postgres::{Client, Error, Statement};

use super::session::Bound;
use crate::sql::Param;

/// Statements that wait at most.
const MOST: usize = 256;
/// Bytes of their values from which on they do not wait for more.
const BYTES: usize = 1 << 20;

/// The statements that wait, in order.
#[derive(Default)]
pub(super) struct Queue {
    posted: Vec<Posted>,
    bytes: usize,
}

/// A statement with values of its own.
pub(super) struct Posted {
    statement: Statement,
    values: Vec<Value>,
}

enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl Posted {
    pub(super) fn new(statement: Statement, params: &[Param<'_>]) -> Self {
        let own = |param: &Param<'_>| match *param {
            Param::Null => Value::Null,
            Param::Integer(value) => Value::Integer(value),
            Param::Real(value) => Value::Real(value),
            Param::Text(value) => Value::Text(value.to_owned()),
            Param::Blob(value) => Value::Blob(value.to_vec()),
        };
        Self { statement, values: params.iter().map(own).collect() }
    }

    fn bytes(&self) -> usize {
        self.values.iter().map(Value::bytes).sum()
    }

    async fn run(&self, client: &Client) -> Result<u64, Error> {
        let bound: Vec<_> = self.values.iter().map(|value| Bound(value.param())).collect();
        client.execute_raw(&self.statement, bound).await
    }
}

impl Value {
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Blob(bytes) => bytes.len(),
            _ => size_of::<i64>(),
        }
    }

    fn param(&self) -> Param<'_> {
        match self {
            Self::Null => Param::Null,
            Self::Integer(value) => Param::Integer(*value),
            Self::Real(value) => Param::Real(*value),
            Self::Text(text) => Param::Text(text),
            Self::Blob(bytes) => Param::Blob(bytes),
        }
    }
}

impl Queue {
    pub(super) const fn new() -> Self {
        Self { posted: Vec::new(), bytes: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.posted.is_empty()
    }

    /// Adds a statement and says whether it is time to send.
    pub(super) fn push(&mut self, posted: Posted) -> bool {
        self.bytes += posted.bytes();
        self.posted.push(posted);
        self.posted.len() >= MOST || self.bytes >= BYTES
    }

    /// Sends what waits and, right behind it, what `last` sends. The first failure counts: a server refuses whatever
    /// follows it in the transaction, and that would hide the reason.
    pub(super) async fn before<T>(
        self,
        client: &Client,
        last: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let mut sent: Vec<_> =
            self.posted.iter().map(|posted| Sent::new(Box::pin(posted.run(client)))).collect();
        let last = pin!(last);
        let mut last = Sent::new(last);
        let unsent = std::future::poll_fn(|context| {
            // The first look hands a statement to the connection, so the order of looks is the order of statements.
            // Nothing may follow one that could not be handed over: a commit would keep the others.
            Poll::Ready(sent.iter_mut().position(|one| !one.look(context)).or_else(|| {
                last.look(context);
                None
            }))
        })
        .await;
        if let Some(place) = unsent {
            sent.swap_remove(place).answer().await?;
        }
        for one in sent {
            one.answer().await?;
        }
        last.answer().await
    }
}

/// Sends what `first` sends and `second` right behind it. The first failure counts.
pub(super) async fn one_after_the_other<T>(
    first: impl Future<Output = Result<(), Error>>,
    second: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let (first, second) = (pin!(first), pin!(second));
    let (mut first, mut second) = (Sent::new(first), Sent::new(second));
    std::future::poll_fn(|context| {
        if first.look(context) {
            second.look(context);
        }
        Poll::Ready(())
    })
    .await;
    first.answer().await?;
    second.answer().await
}

/// A future that was looked at, and may have ended so.
struct Sent<F: Future> {
    future: F,
    output: Option<F::Output>,
}

impl<T, F: Future<Output = Result<T, Error>> + Unpin> Sent<F> {
    const fn new(future: F) -> Self {
        Self { future, output: None }
    }

    /// Looks, and says whether it has not failed.
    fn look(&mut self, context: &mut Context<'_>) -> bool {
        if let Poll::Ready(output) = Pin::new(&mut self.future).poll(context) {
            self.output = Some(output);
        }
        !matches!(self.output, Some(Err(_)))
    }

    async fn answer(self) -> F::Output {
        match self.output {
            Some(output) => output,
            None => self.future.await,
        }
    }
}
