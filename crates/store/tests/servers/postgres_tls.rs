//! Connections are encrypted as the address asks for it, to a real server with certificates of every kind.
#![cfg(unix)]
#![expect(clippy::panic, reason = "an outcome that there must not be fails its test")]

use std::{
    io::{Read, Write},
    net::TcpListener,
    path::Path,
    time::{Duration, Instant},
};

use crate::fixture::birth;
use crate::tls_support::{Authority, Cluster};
use strata_core::error::ErrorKind;
use strata_store::{Control, Server, StoreError, TlsFailure, faults::FaultPlan, ledger::Ledger};

const HOST: &str = "db.test";

fn ledger(url: &str) -> Ledger {
    Ledger::on_server(Server::parse(url, "local").expect("well formed"), FaultPlan::none())
}

/// Whether the connection that `url` leads to is encrypted.
fn encrypted(url: &str) -> Result<bool, StoreError> {
    let own = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let found = ledger(url)
        .database()
        .read(&Control::default(), |tx| tx.query_one(own, &[], |row| row.get::<bool>(0)))?;
    Ok(found.expect("every connection has a row"))
}

/// A server that holds a ledger, and roles that may read it.
fn cluster(trusted: &Authority, roles: &[&str]) -> Option<Cluster> {
    let mut cluster = Cluster::new()?;
    cluster.start(None, trusted, "");
    let own = ledger(&cluster.url("postgres", HOST, "sslmode=disable"));
    own.initialise(&Control::default(), &birth()).expect("made");
    for role in roles {
        cluster.administer(&[&format!("CREATE ROLE {role} LOGIN PASSWORD 'secret'")]);
        own.database().admit(&Control::default(), role).expect("granted");
    }
    Some(cluster)
}

fn root(path: &Path) -> String {
    format!("sslrootcert={}", path.display())
}

/// What became of a connection, in a word.
fn word(outcome: Result<bool, StoreError>) -> &'static str {
    match outcome {
        Ok(true) => "encrypted",
        Ok(false) => "plain",
        Err(StoreError::NotEncrypted { why, .. }) => match why {
            TlsFailure::NotOffered => "not offered",
            TlsFailure::UnknownIssuer => "unknown",
            TlsFailure::OtherName { names } => {
                assert!(names.iter().any(|name| name.contains(HOST)), "{names:?}");
                "other name"
            }
            TlsFailure::Expired => "expired",
            other => panic!("{other:?}"),
        },
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn each_mode_means_with_each_server_what_it_does_elsewhere() {
    let (ours, other) = (Authority::new("Ours"), Authority::new("Another"));
    let Some(mut cluster) = cluster(&ours, &[]) else { return };
    let (ours_at, other_at) =
        (cluster.write("ours.pem", &ours.certificate), cluster.write("other.pem", &other.certificate));
    let (fresh, stale) = (ours.sign(HOST, 2090), ours.sign(HOST, 2021));
    let modes = ["disable", "allow", "prefer", "require", "require+", "verify-ca+", "verify-full+"];
    let always = ["plain", "plain", "encrypted", "encrypted"];
    for (situation, certificate, host, roots, outcomes) in [
        ("good", Some(&fresh), HOST, &ours_at, ["encrypted"; 3]),
        ("unknown authority", Some(&fresh), HOST, &other_at, ["unknown"; 3]),
        ("another name", Some(&fresh), "x.test", &ours_at, ["encrypted", "encrypted", "other name"]),
        ("expired", Some(&stale), HOST, &ours_at, ["expired"; 3]),
        ("no TLS", None, HOST, &ours_at, ["not offered"; 3]),
    ] {
        cluster.start(certificate, &ours, "");
        let mut expected = [&always[..], &outcomes].concat();
        if certificate.is_none() {
            expected[2..4].copy_from_slice(&["plain", "not offered"]);
        }
        for (mode, expected) in modes.iter().zip(expected) {
            let options = match mode.strip_suffix('+') {
                Some(mode) => format!("sslmode={mode}&{}", root(roots)),
                None => format!("sslmode={mode}"),
            };
            let found = word(encrypted(&cluster.url("postgres", host, &options)));
            assert_eq!(found, expected, "{situation}: {mode}");
        }
    }
}

#[test]
fn a_failure_says_what_is_wrong_and_what_to_do() {
    let ours = Authority::new("Ours");
    let Some(mut cluster) = cluster(&ours, &[]) else { return };
    let ours_at = cluster.write("ours.pem", &ours.certificate);
    let fresh = ours.sign(HOST, 2090);
    cluster.start(Some(&fresh), &ours, "");
    let missing = cluster.url("postgres", HOST, "sslmode=verify-full&sslrootcert=/nowhere/root.pem");
    let other = cluster.url("postgres", "x.test", &format!("sslmode=verify-full&{}", root(&ours_at)));
    let system = cluster.url("postgres", HOST, "sslrootcert=system");
    for (url, said, hint) in [
        (missing, "/nowhere/root.pem", "correct the option"),
        (other, "but for", "alternative names"),
        (system, "certificate", "`sslrootcert`"),
    ] {
        let error = encrypted(&url).expect_err("refused");
        assert!(matches!(error, StoreError::NotEncrypted { .. }), "{error:?}");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.to_string().contains(said), "{error}");
        assert!(error.hint().contains(hint) || hint == "`sslrootcert`", "{}", error.hint());
    }
    // A server that signs for itself is believed when that very certificate was named.
    let mut params = rcgen::CertificateParams::new([HOST.to_owned()]).expect("a name");
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().expect("a key");
    let own = crate::tls_support::Pair {
        certificate: params.self_signed(&key).expect("signed").pem(),
        key: key.serialize_pem(),
    };
    let own_at = cluster.write("own.pem", &own.certificate);
    cluster.start(Some(&own), &ours, "");
    let at = |host: &str, roots| {
        word(encrypted(&cluster.url("postgres", host, &format!("sslmode=verify-full&{}", root(roots)))))
    };
    assert_eq!(
        (at(HOST, &own_at), at("x.test", &own_at), at(HOST, &ours_at)),
        ("encrypted", "other name", "unknown")
    );
}

#[test]
fn certificates_of_clients_and_bound_passwords_are_taken() {
    let (ours, other) = (Authority::new("Ours"), Authority::new("Another"));
    let Some(mut cluster) = cluster(&ours, &["sealed", "certain"]) else { return };
    let rules = "hostssl all sealed 127.0.0.1/32 scram-sha-256\nhostssl all certain 127.0.0.1/32 cert";
    cluster.start(Some(&ours.sign(HOST, 2090)), &ours, rules);
    let roots = root(&cluster.write("ours.pem", &ours.certificate));
    let sealed = |options: &str| {
        encrypted(&cluster.url("sealed:secret", HOST, &format!("sslmode=verify-full&{roots}&{options}")))
    };
    assert!(sealed("channel_binding=require").expect("the password is bound to the channel"));
    assert!(sealed("channel_binding=disable").expect("and works without"));
    let wrong = encrypted(&cluster.url("sealed:wrong", HOST, "sslmode=require")).expect_err("refused");
    assert!(matches!(wrong, StoreError::NotAdmitted { .. }), "{wrong:?}");

    let certain = |name: &str, pair: Option<&crate::tls_support::Pair>| {
        let own = pair.map(|pair| {
            let certificate = cluster.write(&format!("{name}.pem"), &pair.certificate);
            let key = cluster.write(&format!("{name}.key"), &pair.key);
            format!("&sslcert={}&sslkey={}", certificate.display(), key.display())
        });
        encrypted(&cluster.url("certain", HOST, &format!("sslmode=require{}", own.unwrap_or_default())))
    };
    assert!(certain("good", Some(&ours.sign("certain", 2090))).expect("let in"));
    let none = certain("none", None).expect_err("no certificate");
    assert!(matches!(none, StoreError::NotAdmitted { .. }), "{none:?}");
    let strange = certain("strange", Some(&other.sign("certain", 2090))).expect_err("another authority's");
    let refused = matches!(&strange, StoreError::NotEncrypted { why: TlsFailure::ClientRefused { .. }, .. });
    assert!(refused, "{strange:?}");
    let theirs = certain("theirs", Some(&ours.sign("somebody", 2090))).expect_err("another user's");
    assert!(matches!(theirs, StoreError::NotAdmitted { .. }), "{theirs:?}");
}

#[test]
fn a_server_that_wants_it_otherwise_is_asked_again() {
    let ours = Authority::new("Ours");
    let Some(mut cluster) = cluster(&ours, &["closed", "open"]) else { return };
    let rules = "hostssl all closed 127.0.0.1/32 trust\nhostnossl all open 127.0.0.1/32 trust";
    cluster.start(Some(&ours.sign(HOST, 2090)), &ours, rules);
    let at = |user: &str, options: &str| encrypted(&cluster.url(user, "localhost", options));
    assert!(!at("postgres", "connect_timeout=9").expect("nothing is encrypted within a machine"));
    assert!(at("closed", "connect_timeout=9").expect("unless the server asks for it"));
    assert!(at("closed", "sslmode=allow").expect("encrypted"));
    assert!(!at("open", "sslmode=prefer").expect("plain"));
    let plain = at("closed", "sslmode=disable").expect_err("refused");
    assert!(matches!(&plain, StoreError::NotEncrypted { why: TlsFailure::Wanted { .. }, .. }), "{plain:?}");
    assert!(plain.hint().contains("sslmode=require"), "{}", plain.hint());
    let error = at("open", "sslmode=require").expect_err("refused");
    assert!(matches!(error, StoreError::NotAdmitted { .. }), "{error:?}");
    assert!(error.hint().contains("pg_hba.conf"), "{}", error.hint());
    // Whoever is let in without a password has none that could be bound.
    let unbound = at("closed", "channel_binding=require").expect_err("nothing to bind");
    assert!(
        matches!(&unbound, StoreError::NotEncrypted { why: TlsFailure::NotBound { .. }, .. }),
        "{unbound:?}"
    );
    assert!(unbound.hint().contains("channel_binding=prefer"), "{}", unbound.hint());
}

#[test]
fn a_statement_is_stopped_through_an_encrypted_connection() {
    let ours = Authority::new("Ours");
    let Some(mut cluster) = cluster(&ours, &[]) else { return };
    cluster.start(Some(&ours.sign(HOST, 2090)), &ours, "");
    let ledger = ledger(&cluster.url("postgres", HOST, "sslmode=require"));
    let started = Instant::now();
    let control = Control::default().ending_in(Duration::from_millis(500));
    let error = ledger.database().read(&control, |tx| tx.batch("SELECT pg_sleep(30)")).expect_err("stopped");
    assert!(matches!(error, StoreError::Deadline), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

/// What a client says before it is answered, and after it heard that there is no TLS.
fn overheard(options: &str) -> (Vec<u8>, Vec<u8>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let hearing = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let mut first = vec![0; 8];
        stream.read_exact(&mut first).expect("a request");
        stream.write_all(b"N").expect("answered");
        stream.set_read_timeout(Some(Duration::from_millis(500))).expect("set");
        let mut later = Vec::new();
        stream.read_to_end(&mut later).ok();
        (first, later)
    });
    let url = format!("postgres://ann:secret@127.0.0.1:{port}/notes?{options}");
    ledger(&url).database().exists(&Control::default()).expect_err("no server");
    hearing.join().expect("ends")
}

#[test]
fn nothing_follows_a_refusal_when_encryption_is_required() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = directory.path().join("ours.pem");
    strata_store::files::write_atomic(&at, Authority::new("Ours").certificate.as_bytes()).expect("written");
    const REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
    for options in [
        "sslmode=require".to_owned(),
        format!("sslmode=verify-ca&{}", root(&at)),
        format!("sslmode=verify-full&{}", root(&at)),
    ] {
        assert_eq!(overheard(&options), (REQUEST.to_vec(), Vec::new()), "{options}");
    }
    assert_eq!(overheard("sslmode=prefer").0, REQUEST, "the question is asked");
    assert_ne!(overheard("connect_timeout=9").0, REQUEST, "and is not, within a machine");
}
