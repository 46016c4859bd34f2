//! Which licences may come into the binary and its tools.

use serde_json::Value;

/// Licences that ask for no more than their notice.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

pub(super) fn findings(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .filter_map(|package| {
            let licence = package["license"].as_str().unwrap_or("none stated");
            let name = package["name"].as_str().unwrap_or_default();
            (!acceptable(licence))
                .then(|| format!("{name}: licence `{licence}` is not on the list (xtask tidy)"))
        })
        .collect()
}

/// An expression is acceptable when we can choose allowed licences that satisfy it. `/` is an old `OR`.
fn acceptable(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    let mut tokens = tokens(&expression).into_iter().peekable();
    any(&mut tokens) && tokens.next().is_none()
}

type Tokens = std::iter::Peekable<std::vec::IntoIter<String>>;

fn tokens(expression: &str) -> Vec<String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

fn any(tokens: &mut Tokens) -> bool {
    let mut result = all(tokens);
    while tokens.next_if(|t| t == "OR").is_some() {
        result |= all(tokens);
    }
    result
}

fn all(tokens: &mut Tokens) -> bool {
    let mut result = one(tokens);
    while tokens.next_if(|t| t == "AND").is_some() {
        result &= one(tokens);
    }
    result
}

fn one(tokens: &mut Tokens) -> bool {
    let Some(token) = tokens.next() else { return false };
    if token == "(" {
        let inner = any(tokens);
        return tokens.next_if(|t| t == ")").is_some() && inner;
    }
    let licence = match tokens.next_if(|t| t == "WITH").and_then(|_| tokens.next()) {
        Some(exception) => format!("{token} WITH {exception}"),
        None => token,
    };
    ALLOWED.contains(&licence.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_read_as_choices_and_demands() {
        for good in [
            "MIT",
            "MIT OR GPL-3.0",
            "MIT/Apache-2.0",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR MIT",
        ] {
            assert!(acceptable(good), "{good}");
        }
        for bad in
            ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Apache-2.0) AND MPL-2.0", "none stated", "", "(MIT"]
        {
            assert!(!acceptable(bad), "{bad}");
        }
    }
}
