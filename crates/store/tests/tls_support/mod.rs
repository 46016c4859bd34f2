//! A server of its own whose certificate, rules and encryption a test decides, and certificates for it. Its programs are
//! those of the server that `STRATA_TEST_POSTGRES` names.

use std::{
    fs,
    net::TcpListener,
    os::unix::{
        fs::{MetadataExt, PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use tempfile::TempDir;
use tokio_postgres::Config;

use crate::postgres_support::{admin_url, run};

/// Runs a server until its own input ends, which also comes when the test dies.
const KEEPER: &str = r#"
    "$@" >/dev/null 2>&1 &
    while read -r line; do :; done
    kill -QUIT $! 2>/dev/null
    wait
"#;

/// A certificate and its key, in PEM form.
pub(crate) struct Pair {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// Somebody who signs certificates.
pub(crate) struct Authority {
    pub(crate) certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new([]).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("signed").pem();
        Self { certificate, issuer: Issuer::new(params, key) }
    }

    /// A certificate for `name`, in use up to the beginning of `year`.
    pub(crate) fn sign(&self, name: &str, year: i32) -> Pair {
        let mut params = CertificateParams::new([name.to_owned()]).expect("a name");
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("signed").pem();
        Pair { certificate, key: key.serialize_pem() }
    }
}

/// See the module.
pub(crate) struct Cluster {
    directory: TempDir,
    programs: PathBuf,
    /// Whom to run as: PostgreSQL refuses to run as root.
    account: Option<(u32, u32)>,
    port: u16,
    running: Option<Child>,
}

impl Cluster {
    /// One that does not run yet; `None` where tests have no server.
    pub(crate) fn new() -> Option<Self> {
        let known: Config = admin_url()?.parse().expect("a well-formed address");
        let ask = |sql: &str| run(&known, &[sql])[0][0].clone().expect("a text");
        let programs = PathBuf::from(ask("SELECT setting FROM pg_config WHERE name = 'BINDIR'"));
        assert!(programs.join("initdb").is_file(), "the server's programs are not on this machine");
        let owner = fs::metadata(ask("SHOW data_directory")).expect("the server is on this machine");
        let directory = tempfile::tempdir().expect("a directory");
        let me = fs::metadata(directory.path()).expect("there").uid();
        let account = (me == 0).then(|| (owner.uid(), owner.gid()));
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound").port();
        let cluster = Self { directory, programs, account, port, running: None };
        cluster.give(cluster.directory.path(), 0o700);
        let mut init = cluster.program("initdb");
        init.args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "-D"]);
        let made = init.arg(cluster.at("data")).stdout(Stdio::null()).status().expect("runs");
        assert!(made.success(), "initdb failed");
        Some(cluster)
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        self.dress(&mut command);
        command
    }

    fn dress(&self, command: &mut Command) {
        command.current_dir("/");
        if let Some((user, group)) = self.account {
            command.uid(user).gid(group);
        }
    }

    fn give(&self, path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
        if let Some((user, group)) = self.account {
            chown(path, Some(user), Some(group)).expect("given");
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A file of the server's.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.at(name);
        strata_store::files::write_atomic(&path, text.as_bytes()).expect("written");
        self.give(&path, 0o600);
        path
    }

    /// Starts the server, or starts it again: with this certificate, or without TLS. `trusted` may sign its clients'
    /// certificates; `rules` say who gets in how, beside the administrator.
    pub(crate) fn start(&mut self, certificate: Option<&Pair>, trusted: &Authority, rules: &str) {
        self.stop();
        self.write("data/pg_hba.conf", &format!("host all postgres 127.0.0.1/32 trust\n{rules}\n"));
        self.write("trusted.pem", &trusted.certificate);
        let mut settings = format!(
            "port = {}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '{}'\nfsync = off\nmax_connections = 50\n",
            self.port,
            self.directory.path().display()
        );
        if let Some(pair) = certificate {
            let file = |name: &str, text: &str| self.write(name, text).display().to_string();
            settings += &format!(
                "ssl = on\nssl_cert_file = '{}'\nssl_key_file = '{}'\nssl_ca_file = '{}'\n",
                file("server.pem", &pair.certificate),
                file("server.key", &pair.key),
                self.at("trusted.pem").display()
            );
        }
        self.write("data/postgresql.auto.conf", &settings);
        let mut keeper = Command::new("sh");
        self.dress(&mut keeper);
        keeper
            .args(["-c", KEEPER, "keeper"])
            .arg(self.programs.join("postgres"))
            .arg("-D")
            .arg(self.at("data"));
        self.running = Some(keeper.stdin(Stdio::piped()).spawn().expect("starts"));
        let started = Instant::now();
        while !self.answers() {
            assert!(started.elapsed() < Duration::from_secs(60), "the server does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn answers(&self) -> bool {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(self.administrator().connect(tokio_postgres::NoTls)).is_ok()
    }

    fn administrator(&self) -> Config {
        format!("host=127.0.0.1 port={} user=postgres dbname=postgres sslmode=disable", self.port)
            .parse()
            .expect("well formed")
    }

    /// Runs statements as the administrator, without TLS.
    pub(crate) fn administer(&self, statements: &[&str]) {
        run(&self.administrator(), statements);
    }

    /// The address for `user`, who knows the server as `host`.
    pub(crate) fn url(&self, user: &str, host: &str, options: &str) -> String {
        format!("postgres://{user}@{host}:{}/postgres?hostaddr=127.0.0.1&{options}", self.port)
    }

    fn stop(&mut self) {
        if let Some(mut keeper) = self.running.take() {
            drop(keeper.stdin.take());
            keeper.wait().expect("ends");
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop();
    }
}
