//! Episodes, changes, reviews, jobs, projects, sources, settings.

use crate::fixture::{Fixture, audited, import_events};
use strata_core::{
    error::ErrorKind,
    id::{Id, IdKind, PartialId},
    scope::Scope,
    time::{TimeRange, Timestamp},
};
use strata_store::{
    Control, StoreError,
    ledger::{
        ChangeCursor, Changed, EpisodeFilter, EpisodeInsert, JobState, NewEpisode, NewJob, NewMemory,
        NewReview, NewSource, Progress, PurgedKind, ReviewFilter, ReviewStatus, SourceState, Worker,
    },
};

fn turn(fixture: &Fixture, session: &str, at: i64, text: &str) -> NewEpisode {
    NewEpisode {
        id: fixture.id(IdKind::Episode),
        external_id: None,
        session: session.into(),
        at: Timestamp(at),
        speaker: "Ana".into(),
        role: "user".into(),
        text: text.into(),
        metadata: "{}".into(),
        scope: Scope::project("p"),
        source: "import".into(),
        writer: "gateway:import".into(),
        salt: [3; 16],
    }
}

fn import(fixture: &Fixture, turns: &[NewEpisode]) -> Vec<EpisodeInsert> {
    let imported = fixture.write(|w| import_events(w, turns));
    imported.expect("imported")
}

#[test]
fn an_import_done_again_adds_nothing() {
    let fixture = Fixture::new();
    let mut turns: Vec<_> = (0..5).map(|n| turn(&fixture, "s1", n, &format!("text {n}"))).collect();
    turns[3].external_id = Some("D1:3".into());
    turns[4].external_id = Some("D1:4".into());
    let first = import(&fixture, &turns);
    assert!(first.iter().all(|e| e.added));
    assert_eq!(first.iter().map(|e| e.number).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    let mut again = turns.clone();
    for turn in &mut again {
        turn.id = fixture.id(IdKind::Episode);
    }
    again[3].text = "edited since".into();
    assert!(fixture.write(|w| w.known_episodes(&again)).expect("looked up").iter().all(|e| !e.added));
    let second = import(&fixture, &again);
    assert!(second.iter().all(|e| !e.added));
    assert_eq!(
        second.iter().map(|e| &e.id).collect::<Vec<_>>(),
        first.iter().map(|e| &e.id).collect::<Vec<_>>()
    );
    assert_eq!(fixture.read(|r| r.totals()).episodes, 5);

    let mut elsewhere = turns[4].clone();
    elsewhere.id = fixture.id(IdKind::Episode);
    elsewhere.scope = Scope::project("q");
    let mut other_session = turns[0].clone();
    other_session.id = fixture.id(IdKind::Episode);
    other_session.session = "s2".into();
    assert!(import(&fixture, &[elsewhere, other_session]).iter().all(|e| e.added));
    let twice = turn(&fixture, "s3", 1, "ok");
    let mut same = twice.clone();
    same.id = fixture.id(IdKind::Episode);
    let known = fixture.write(|w| w.known_episodes(&[twice.clone(), same.clone()])).expect("looked up");
    assert_eq!(known.iter().filter(|e| e.added).count(), 1);
    assert_eq!(import(&fixture, &[twice, same]).iter().filter(|e| e.added).count(), 1);
}

#[test]
fn neighbours_are_ordered_by_time_then_number() {
    let fixture = Fixture::new();
    let turns = [
        turn(&fixture, "s", 10, "a"),
        turn(&fixture, "s", 30, "d"),
        turn(&fixture, "s", 20, "b"),
        turn(&fixture, "s", 20, "c"),
        turn(&fixture, "other", 21, "x"),
    ];
    import(&fixture, &turns);
    let around = |text: &str, before, after| {
        let all = fixture.read(|r| r.episodes(&EpisodeFilter::default()));
        let one = all.iter().find(|e| e.text == text).expect("stored");
        let found = fixture.read(|r| r.session_neighbours(one, before, after));
        found.into_iter().map(|e| e.text).collect::<String>()
    };
    assert_eq!(around("c", 1, 1), "bcd");
    assert_eq!(around("b", 9, 9), "abcd");
    assert_eq!(around("a", 2, 0), "a");
    let sessions = fixture.read(|r| r.sessions(&Scope::project("p"), 10));
    assert_eq!(
        sessions.iter().map(|s| (s.session.as_str(), s.events)).collect::<Vec<_>>(),
        [("s", 4), ("other", 1)]
    );
    assert!(fixture.read(|r| r.sessions(&Scope::project("q"), 10)).is_empty());
    let filter = EpisodeFilter {
        session: Some("s".into()),
        at: TimeRange { from: Timestamp(20), to: Timestamp(30) },
        ..EpisodeFilter::default()
    };
    assert_eq!(fixture.read(|r| r.episodes(&filter)).into_iter().map(|e| e.text).collect::<String>(), "bc");
    let id = &turns[0].id;
    let prefix = PartialId::parse(&id.as_str()[..10]).expect("long enough");
    assert_eq!(fixture.read(|r| r.episode_by_prefix(&prefix, None)).id, id.as_str());
}

#[test]
fn a_batch_of_one_sequence_is_followed_in_pages() {
    let fixture = Fixture::new();
    fixture.remember(&fixture.memory("before")).expect("stored");
    let turns: Vec<_> = (0..250).map(|n| turn(&fixture, "s", n, &n.to_string())).collect();
    import(&fixture, &turns);
    let memory = fixture.memory("after");
    fixture.remember(&memory).expect("stored");
    fixture
        .write(|w| {
            let seq = audited(w, "purge", "x")?;
            w.purge(PurgedKind::Episode, turns[7].id.as_str(), seq)?;
            let seq = audited(w, "purge", "y")?;
            w.purge(PurgedKind::Memory, memory.id.as_str(), seq)
        })
        .expect("purged");
    let (mut cursor, mut changes) = (ChangeCursor::default(), Vec::new());
    loop {
        let page = fixture.read(|r| r.changes_after(cursor, 100));
        assert!(page.changes.len() <= 100);
        changes.extend(page.changes);
        cursor = page.next;
        if !page.more {
            break;
        }
    }
    assert_eq!(cursor, ChangeCursor::after(5));
    assert_eq!(changes.len(), 1 + 249 + 2);
    assert_eq!(changes[0].what, Changed::Memory(1));
    assert_eq!(changes[1].what, Changed::Episode(1));
    assert_eq!(changes[250].what, Changed::PurgedEpisode(8));
    assert_eq!(changes[251].what, Changed::PurgedMemory(2));
    let none = fixture.read(|r| r.changes_after(cursor, 100));
    assert!(none.changes.is_empty() && !none.more && none.next == cursor);
}

#[test]
fn five_thousand_episodes_go_in_at_once() {
    let fixture = Fixture::new();
    let turns: Vec<_> = (0..5000)
        .map(|n| turn(&fixture, &format!("s{}", n / 50), n, &format!("turn {n} says a few words")))
        .collect();
    assert!(import(&fixture, &turns).iter().all(|e| e.added));
    assert_eq!(fixture.read(|r| r.totals()).episodes, 5000);
}

#[test]
fn a_review_is_decided_once() {
    let fixture = Fixture::new();
    let review = |kind: &str, target: &str| NewReview {
        id: fixture.id(IdKind::Review),
        kind: kind.into(),
        target: target.into(),
        proposal: "{}".into(),
        reason: "why".into(),
        proposer: "agent:test".into(),
        created_at: fixture.now(),
        salt: [3; 16],
    };
    let (first, second) = (review("candidate", "mem_a"), review("conflict", "mem_b"));
    fixture
        .write(|w| {
            let seq = audited(w, "propose", "x")?;
            w.insert_review(&first, seq)?;
            w.insert_review(&second, seq)
        })
        .expect("queued");
    let decide = |status, note: &str| {
        fixture.write(|w| {
            let seq = audited(w, "approve", "x")?;
            w.decide_review(first.id.as_str(), status, "human:me", note, seq)
        })
    };
    decide(ReviewStatus::Approved, "fine").expect("decided");
    assert_eq!(decide(ReviewStatus::Rejected, "no").expect_err("decided before").kind(), ErrorKind::Conflict);
    let row = fixture.read(|r| r.review(first.id.as_str())).expect("kept");
    assert_eq!(
        (row.status, row.decided_by.as_deref(), row.seq),
        (ReviewStatus::Approved, Some("human:me"), 2)
    );
    let waiting = fixture.read(|r| r.reviews(&ReviewFilter::default()));
    assert_eq!(waiting.iter().map(|r| r.id.as_str()).collect::<Vec<_>>(), [second.id.as_str()]);
    let all = ReviewFilter { status: None, target: Some("mem_a".into()), ..ReviewFilter::default() };
    assert_eq!(fixture.read(|r| r.reviews(&all)).len(), 1);
    assert_eq!(fixture.read(|r| r.totals()).pending_reviews, 1);
}

#[test]
fn the_start_of_an_id_names_a_review_among_those_that_are_seen() {
    let fixture = Fixture::new();
    for (bits, project) in [(1, "elsewhere"), (2, "elsewhere"), (3, "web")] {
        let memory = fixture.memory(&format!("text {bits}"));
        let memory = NewMemory { scope: Scope::project(project), ..memory };
        fixture.remember(&memory).expect("stored");
        let review = NewReview {
            id: Id::from_bits(IdKind::Review, bits),
            kind: "candidate".into(),
            target: memory.id.to_string(),
            proposal: "{}".into(),
            reason: String::new(),
            proposer: "agent:test".into(),
            created_at: fixture.now(),
            salt: [3; 16],
        };
        fixture.write(|w| w.insert_review(&review, audited(w, "propose", "x")?)).expect("queued");
    }
    let prefix = PartialId::parse("rev_000000").expect("six characters");
    let find = |reader: Option<&Scope>| {
        fixture.ledger.read(&Control::default(), |r| r.review_by_prefix(&prefix, reader))
    };
    let seen = find(Some(&Scope::project("web"))).expect("the only one that is seen");
    assert_eq!(seen.id, Id::from_bits(IdKind::Review, 3).to_string());
    assert!(matches!(find(None), Err(StoreError::Ambiguous { candidates, .. }) if candidates.len() == 3));
    assert!(matches!(find(Some(&Scope::project("third"))), Err(StoreError::NotFound { .. })));
}

#[test]
fn a_job_has_one_worker_at_a_time() {
    let fixture = Fixture::new();
    let job =
        |total| NewJob { id: fixture.id(IdKind::Job), kind: "reindex".into(), total, message: String::new() };
    let at = |seconds: i64,
              work: &dyn Fn(
        &strata_store::ledger::LedgerWrite<'_>,
    ) -> Result<(), strata_store::StoreError>| {
        fixture.ledger.write(&strata_store::Control::default(), Timestamp(seconds), |w| work(w))
    };
    let first = job(10);
    at(0, &|w| {
        w.queue_job(&first)?;
        assert_eq!(w.take_job("import", "a", Timestamp(5))?, None, "another kind");
        let taken = w.take_job("reindex", "a", Timestamp(5))?.expect("queued");
        assert_eq!((taken.id.as_str(), taken.state), (first.id.as_str(), JobState::Running));
        assert_eq!(w.take_job("reindex", "b", Timestamp(5))?, None, "held");
        Ok(())
    })
    .expect("worked");
    at(3, &|w| {
        w.renew_job(first.id.as_str(), "a", Timestamp(8), Progress { done: 4, total: 10, message: "half" })
    })
    .expect("renewed");
    at(7, &|w| {
        assert_eq!(w.take_job("reindex", "b", Timestamp(12))?, None, "still held");
        assert_eq!(w.start_alone(&job(1), "b", Timestamp(12))?, None);
        Ok(())
    })
    .expect("worked");
    at(8, &|w| {
        let taken = w.take_job("reindex", "b", Timestamp(20))?.expect("the lease ran out");
        assert_eq!((taken.done, taken.message.as_str(), taken.heartbeat), (4, "half", Some(Timestamp(8))));
        Ok(())
    })
    .expect("worked");
    let lost = at(9, &|w| w.finish_job(first.id.as_str(), "a", JobState::Done, "{}")).expect_err("lost");
    assert_eq!(lost.kind(), ErrorKind::Conflict);
    at(10, &|w| w.finish_job(first.id.as_str(), "b", JobState::Done, "{\"n\":1}")).expect("finished");
    assert_eq!(fixture.read(|r| r.last_done("reindex")).and_then(|j| j.finished_at), Some(Timestamp(10)));
    at(11, &|w| {
        let alone = w.start_alone(&job(1), "c", Timestamp(15))?.expect("nobody at work");
        assert!(w.cancel_job(&alone.id)?);
        assert!(!w.cancel_job(&alone.id)?);
        let renewed = w.renew_job(&alone.id, "c", Timestamp(30), Progress { done: 1, total: 1, message: "" });
        assert_eq!(renewed.expect_err("cancelled").kind(), ErrorKind::Conflict);
        w.start_alone(&job(1), "d", Timestamp(40))?;
        assert_eq!(w.end_jobs_of(&["another".to_owned()])?, 0);
        assert_eq!(w.start_alone(&job(1), "e", Timestamp(40))?, None);
        assert_eq!(w.workers()?, [Worker { owner: "d".into(), until: Some(Timestamp(40)) }]);
        let gone = ["another".to_owned(), "d".to_owned()];
        assert_eq!(w.end_jobs_of(&gone)?, 1);
        let taken = w.start_alone(&job(1), "e", Timestamp(12))?;
        assert!(taken.is_some(), "the process of the holder is gone");
        Ok(())
    })
    .expect("worked");
    at(13, &|w| {
        assert_eq!(w.expire_jobs()?, 1);
        assert_eq!(w.forget_jobs(Timestamp(11))?, 1, "the one that ended at 10");
        Ok(())
    })
    .expect("worked");
    let states: Vec<_> = fixture.read(|r| r.jobs(Some("reindex"), 10)).into_iter().map(|j| j.state).collect();
    assert_eq!(states.len(), 3);
    assert!(states.contains(&JobState::Failed) && states.contains(&JobState::Cancelled));
}

#[test]
fn sources_keep_their_number_and_their_last_look() {
    let fixture = Fixture::new();
    let source = |path: &str, size, state| NewSource {
        namespace: "shared".into(),
        project: Some("p".into()),
        root: "/r".into(),
        path: path.into(),
        size,
        mtime: Timestamp(1),
        hash: [1; 32],
        state,
    };
    let record = |new: &NewSource| {
        let recorded = fixture.write(|w| {
            let seq = audited(w, "index", "sources:1")?;
            w.record_source(new, seq)
        });
        recorded.expect("recorded")
    };
    let number = record(&source("a.md", 10, SourceState::Present));
    assert_eq!(record(&source("b.md", 20, SourceState::Present)), number + 1);
    assert_eq!(record(&source("a.md", 11, SourceState::Present)), number);
    fixture
        .write(|w| {
            w.touch_source(number, Timestamp(9))?;
            let seq = audited(w, "index", "sources:1")?;
            w.mark_source(number + 1, SourceState::Unavailable, seq)
        })
        .expect("recorded");
    let a = fixture.read(|r| r.source(number)).expect("known");
    assert_eq!((a.size, a.mtime, a.seq, a.project.as_deref()), (11, Timestamp(9), 3, Some("p")));
    let states: Vec<_> = fixture.read(|r| r.sources(Some("/r"))).into_iter().map(|s| s.state).collect();
    assert_eq!(states, [SourceState::Present, SourceState::Unavailable]);
    assert_eq!(fixture.read(|r| r.sources(None)).len(), 2);
    assert!(fixture.read(|r| r.sources(Some("/other"))).is_empty());
    let changes = fixture.read(|r| r.changes_after(ChangeCursor::after(2), 10)).changes;
    assert_eq!(changes.iter().map(|c| c.what).collect::<Vec<_>>(), [Changed::Source(1), Changed::Source(2)]);
    assert_eq!(fixture.read(|r| r.totals()).sources, 1);
}

#[test]
fn projects_settings_and_epochs_are_kept() {
    let fixture = Fixture::new();
    fixture
        .write(|w| {
            w.ensure_project("git:abc", "web")?;
            w.ensure_project("git:abc", "website")?;
            w.alias_project("/home/me/web", "git:abc")?;
            w.set_setting("zone", "Asia/Shanghai")?;
            w.set_setting("zone", "UTC")
        })
        .expect("written");
    assert_eq!(fixture.read(|r| r.project_key("/home/me/web")).as_deref(), Some("git:abc"));
    assert_eq!(fixture.read(|r| r.project_key("git:abc")).as_deref(), Some("git:abc"));
    assert_eq!(fixture.read(|r| r.project_key("nowhere")), None);
    let projects = fixture.read(|r| r.projects());
    assert_eq!((projects.len(), projects[0].name.as_str()), (1, "website"));
    assert_eq!(fixture.read(|r| r.setting("zone")).as_deref(), Some("UTC"));
    assert_eq!(fixture.read(|r| r.setting("none")), None);
    assert_eq!(fixture.read(|r| r.epoch()), "epoch-1");
    assert_eq!(fixture.read(|r| r.created_at()), Timestamp(crate::fixture::START));
    fixture.write(|w| w.set_epoch("epoch-2")).expect("written");
    assert_eq!(fixture.read(|r| r.epoch()), "epoch-2");
}
