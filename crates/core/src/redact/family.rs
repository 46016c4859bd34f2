//! The families of secrets and the placeholder of each.

use std::fmt;

/// Declares the families with their word and placeholder.
macro_rules! families {
    ($($(#[$meta:meta])* $variant:ident = $word:literal, $placeholder:literal;)+) => {
        /// What sort of secret was found.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Family { $($(#[$meta])* $variant),+ }

        impl Family {
            /// Every family, in documentation order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word used in reports.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// What stands in the text instead of a secret of this family.
            pub const fn placeholder(self) -> &'static str {
                match self { $(Self::$variant => $placeholder),+ }
            }
        }
    };
}

families! {
    /// A PEM, OpenSSH, PGP or PuTTY private key, encrypted or not, also without its end.
    PrivateKey = "private_key", "[REDACTED_PRIVATE_KEY]";
    /// An age identity.
    AgeKey = "age_key", "[REDACTED_AGE_KEY]";
    /// A JSON Web Token.
    Jwt = "jwt", "[REDACTED_JWT]";
    /// A GitHub token.
    GithubToken = "github_token", "[REDACTED_GH_TOKEN]";
    /// A GitLab token.
    GitlabToken = "gitlab_token", "[REDACTED_GITLAB_TOKEN]";
    /// An AWS access key id, or the secret beside one.
    AwsKey = "aws_key", "[REDACTED_AWS_KEY]";
    /// An Azure storage key or shared access signature.
    AzureKey = "azure_key", "[REDACTED_AZURE_KEY]";
    /// A Google API key, OAuth secret or token.
    GoogleKey = "google_key", "[REDACTED_GOOGLE_KEY]";
    /// An Alibaba Cloud access key id.
    AlibabaKey = "alibaba_key", "[REDACTED_ALIBABA_KEY]";
    /// A Tencent, Volcengine or Baidu cloud key.
    CloudKey = "cloud_key", "[REDACTED_CLOUD_KEY]";
    /// An `sk-` key, the form OpenAI and many model providers share.
    ModelKey = "model_key", "[REDACTED_API_KEY]";
    /// An Anthropic key.
    AnthropicKey = "anthropic_key", "[REDACTED_ANTHROPIC_KEY]";
    /// A Slack token.
    SlackToken = "slack_token", "[REDACTED_SLACK_TOKEN]";
    /// The secret part of a Slack or Discord webhook address.
    Webhook = "webhook", "[REDACTED_WEBHOOK]";
    /// A Stripe secret or restricted key, or a webhook secret.
    StripeKey = "stripe_key", "[REDACTED_STRIPE_KEY]";
    /// An npm token.
    NpmToken = "npm_token", "[REDACTED_NPM_TOKEN]";
    /// A PyPI token.
    PypiToken = "pypi_token", "[REDACTED_PYPI_TOKEN]";
    /// A Hugging Face token.
    HuggingFaceToken = "huggingface_token", "[REDACTED_HF_TOKEN]";
    /// A SendGrid key.
    SendgridKey = "sendgrid_key", "[REDACTED_SENDGRID_KEY]";
    /// A Twilio key.
    TwilioKey = "twilio_key", "[REDACTED_TWILIO_KEY]";
    /// A Telegram bot token.
    TelegramToken = "telegram_token", "[REDACTED_TELEGRAM_TOKEN]";
    /// A Discord bot token.
    DiscordToken = "discord_token", "[REDACTED_DISCORD_TOKEN]";
    /// A DigitalOcean token.
    DigitalOceanToken = "digitalocean_token", "[REDACTED_DO_TOKEN]";
    /// A token of another vendor, known by its prefix.
    VendorToken = "vendor_token", "[REDACTED_TOKEN]";
    /// The credentials of an Authorization header.
    Authorization = "authorization", "[REDACTED_AUTHORIZATION]";
    /// The password in `scheme://user:password@host`.
    UrlPassword = "url_password", "[REDACTED_URL_PASSWORD]";
    /// A key in a URL path, after a segment such as `secret`.
    UrlSecret = "url_secret", "[REDACTED_URL_SECRET]";
    /// The value of a key word: `password = ...`, "the API key is ...". The key name stays and says what it was.
    Assignment = "assignment", "[REDACTED]";
    /// A random-looking value beside a key word.
    HighEntropy = "high_entropy", "[REDACTED]";
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
