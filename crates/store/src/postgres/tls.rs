//! Encrypted connections: whom the server's certificate is believed from, and who we are.

use std::{path::Path, sync::Arc};

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_cert_signed_by_trust_anchor, verify_server_name,
    },
    crypto::{
        CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
        verify_tls13_signature_with_raw_key,
    },
    pki_types::{
        CertificateDer, PrivateKeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
        pem::{self, PemObject},
    },
    server::ParsedCertificate,
};
use tokio_postgres_rustls::MakeRustlsConnect;
use x509_cert::der::{Decode, Encode};

use super::encryption::{Encryption, Roots};
use crate::error::TlsFailure;

/// The protocol's name, which a server that speaks several looks for.
const PROTOCOL: &[u8] = b"postgresql";

/// What encrypts connections as `encryption` says. Reads the files that it names.
pub(super) fn connector(encryption: &Encryption) -> Result<MakeRustlsConnect, TlsFailure> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier::new(encryption, &provider)?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsFailure::Handshake { detail: error.to_string() })?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match &encryption.identity {
        None => config.with_no_client_auth(),
        Some((certificate, key)) => {
            let (chain, secret) = (certificates("sslcert", certificate)?, private_key(key)?);
            config
                .with_client_auth_cert(chain, secret)
                .map_err(|error| file("sslkey", key, &error.to_string()))?
        }
    };
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(MakeRustlsConnect::new(config))
}

/// Looks at a server's certificate.
#[derive(Debug)]
struct Verifier {
    /// Whom to believe; nobody is asked without.
    roots: Option<RootCertStore>,
    /// The certificates that the user named, as they are.
    known: Vec<CertificateDer<'static>>,
    named: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Verifier {
    fn new(encryption: &Encryption, provider: &CryptoProvider) -> Result<Self, TlsFailure> {
        let mut roots = RootCertStore::empty();
        let mut known = Vec::new();
        match &encryption.roots {
            Roots::Anybody => {}
            Roots::System => {
                // One certificate in hundreds that cannot be read takes nothing from the others.
                let found = rustls_native_certs::load_native_certs();
                if roots.add_parsable_certificates(found.certs).0 == 0 {
                    let detail = "this machine has no list of trusted authorities";
                    return Err(file("sslrootcert", Path::new("system"), detail));
                }
            }
            Roots::File(path) => {
                known = certificates("sslrootcert", path)?;
                for certificate in &known {
                    let added = roots.add(certificate.clone());
                    added.map_err(|error| file("sslrootcert", path, &error.to_string()))?;
                }
            }
        }
        Ok(Self {
            roots: (encryption.roots != Roots::Anybody).then_some(roots),
            known,
            named: encryption.named,
            algorithms: provider.signature_verification_algorithms,
        })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(roots) = &self.roots else { return Ok(ServerCertVerified::assertion()) };
        let certificate = ParsedCertificate::try_from(end_entity)?;
        let algorithms = self.algorithms.all;
        match verify_server_cert_signed_by_trust_anchor(&certificate, roots, intermediates, now, algorithms) {
            // A server that signed its own certificate is believed when the user named that very one. Its dates were
            // looked at before this was found.
            Err(error) if is_authority(&error) => {
                if !self.known.contains(end_entity) {
                    return Err(CertificateError::UnknownIssuer.into());
                }
            }
            outcome => outcome?,
        }
        if self.named {
            verify_server_name(&certificate, server_name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let outcome = verify_tls13_signature(message, certificate, signed, &self.algorithms);
        match (outcome, &self.roots) {
            // A certificate of the first version, as `openssl x509 -req` makes it, proves no name and no origin.
            // Where neither is asked for, its key is as good as another.
            (Err(Error::InvalidCertificate(CertificateError::Other(_))), None) => {
                let key = public_key(certificate).ok_or(CertificateError::BadEncoding)?;
                verify_tls13_signature_with_raw_key(message, &key, signed, &self.algorithms)
            }
            (outcome, _) => outcome,
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Whether the certificate was found good but for being an authority's.
fn is_authority(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(other)) = error else { return false };
    matches!(other.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}

fn public_key(certificate: &CertificateDer<'_>) -> Option<SubjectPublicKeyInfoDer<'static>> {
    let certificate = x509_cert::Certificate::from_der(certificate).ok()?;
    let key = certificate.tbs_certificate.subject_public_key_info.to_der().ok()?;
    Some(SubjectPublicKeyInfoDer::from(key))
}

fn certificates(option: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsFailure> {
    let unreadable = |error: pem::Error| file(option, path, &explain(&error));
    let read: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).map_err(unreadable)?.collect();
    let read = read.map_err(unreadable)?;
    if read.is_empty() {
        return Err(file(option, path, "it holds no certificate in PEM form"));
    }
    Ok(read)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsFailure> {
    if is_known_to_others(path) {
        return Err(file("sslkey", path, "others than its owner may read it; `chmod 600` closes it"));
    }
    PrivateKeyDer::from_pem_file(path).map_err(|error| match error {
        pem::Error::NoItemsFound => {
            file("sslkey", path, "it holds no key in PEM form; a key behind a passphrase cannot be used")
        }
        error => file("sslkey", path, &explain(&error)),
    })
}

/// Whether others may read a key. One of root's may be lent to a group, as libpq allows.
fn is_known_to_others(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(path).is_ok_and(|metadata| {
            let open = if metadata.uid() == 0 { 0o037 } else { 0o077 };
            metadata.mode() & open != 0
        })
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

fn explain(error: &pem::Error) -> String {
    match error {
        pem::Error::Io(error) => error.to_string(),
        error => error.to_string(),
    }
}

fn file(option: &'static str, path: &Path, detail: &str) -> TlsFailure {
    TlsFailure::File { option, path: path.to_path_buf(), detail: detail.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(roots: Roots, identity: Option<(&Path, &Path)>) -> Result<MakeRustlsConnect, TlsFailure> {
        connector(&Encryption {
            first: tokio_postgres::config::SslMode::Require,
            otherwise: None,
            roots,
            named: true,
            identity: identity.map(|(certificate, key)| (certificate.into(), key.into())),
        })
    }

    #[test]
    fn files_that_are_no_certificates_or_keys_are_named() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str, text: &str| {
            let path = directory.path().join(name);
            crate::files::write_atomic(&path, text.as_bytes()).expect("written");
            path
        };
        let made = rcgen::generate_simple_self_signed(["db".to_owned()]).expect("a certificate");
        let (good, key) =
            (at("good.pem", &made.cert.pem()), at("key.pem", &made.signing_key.serialize_pem()));
        let (empty, bad) = (at("empty.pem", ""), at("bad.pem", "-----BEGIN CERTIFICATE-----\n%\n"));
        let missing = directory.path().join("missing.pem");
        for path in [&empty, &bad, &missing] {
            let found = of(Roots::File(path.clone()), None).err().expect("refused");
            assert!(matches!(&found, TlsFailure::File { option: "sslrootcert", path: p, .. } if p == path));
        }
        assert!(of(Roots::File(good.clone()), None).is_ok());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let set =
                |mode| std::fs::set_permissions(&key, std::fs::Permissions::from_mode(mode)).expect("set");
            set(0o644);
            let found = of(Roots::Anybody, Some((&good, &key))).err().expect("refused");
            assert!(found.to_string().contains("others than its owner"), "{found}");
            set(0o600);
        }
        assert!(of(Roots::Anybody, Some((&good, &key))).is_ok());
        let found = of(Roots::Anybody, Some((&good, &empty))).err().expect("refused");
        assert!(matches!(found, TlsFailure::File { option: "sslkey", .. }), "{found}");
        let other = rcgen::generate_simple_self_signed(["db".to_owned()]).expect("a certificate");
        let other = at("other.pem", &other.cert.pem());
        let found = of(Roots::Anybody, Some((&other, &key))).err();
        assert!(
            matches!(found, Some(TlsFailure::File { option: "sslkey", .. })),
            "a key of another certificate"
        );
    }
}
