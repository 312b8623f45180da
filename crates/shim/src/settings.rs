//! The variable `ODONATA_SHIM`: `key=value` separated by spaces.

use std::net::Ipv4Addr;

use odonata_decision::{Kind, Policy, Settings};

/// What the user chose.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The policy of each connection.
    pub kind: Kind,
    /// Its numbers.
    pub numbers: Settings,
    /// TOS of a message with the default mode.
    pub default_tos: u8,
    /// TOS of a message with high bias.
    pub high_bias_tos: u8,
    /// Rate of a path in megabits per second: it defines the cycle.
    pub rate_mbit: f64,
    /// Steer only connections to this IPv4 network.
    pub to: Option<Network>,
    /// Print a line when the program ends.
    pub report: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            kind: Kind::AppAwareContinuous,
            numbers: Settings::default(),
            default_tos: 0x10,
            high_bias_tos: 0,
            rate_mbit: 1000.0,
            to: None,
            report: false,
        }
    }
}

/// An IPv4 network, such as `10.8.0.0/16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: u32,
    mask: u32,
}

impl Network {
    fn read(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/').unwrap_or((text, "32"));
        let bits: u32 = bits.parse().ok().filter(|&bits| bits <= 32)?;
        let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
        let address = u32::from(address.parse::<Ipv4Addr>().ok()?);
        (address & !mask == 0).then_some(Self { address, mask })
    }

    /// Whether an address is in it.
    pub const fn contains(self, address: Ipv4Addr) -> bool {
        address.to_bits() & self.mask == self.address
    }
}

const KEYS: [&str; 14] = [
    "policy",
    "default",
    "high-bias",
    "rate",
    "to",
    "report",
    "threshold",
    "sample_age",
    "latency_ratio",
    "stall_ratio",
    "margin",
    "dwell",
    "seed",
    "stream",
];

impl Config {
    /// The values of a text; those that are not given have their defaults.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut config = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        for word in text.split_whitespace() {
            let Some((key, value)) = word.split_once('=') else {
                return Err(format!("expected key=value, found `{word}`"));
            };
            if seen.contains(&key) {
                return Err(format!("`{key}` is given twice"));
            }
            seen.push(key);
            config.set(key, value)?;
        }
        if let Err((name, range)) = Policy::new(config.kind, &config.numbers) {
            let name = match name {
                "lambda" => "latency_ratio",
                "sigma" => "stall_ratio",
                other => other,
            };
            return Err(format!("expected a {name} {range}"));
        }
        if config.default_tos == config.high_bias_tos {
            return Err(format!(
                "`default` and `high-bias` are both {:#04x}: there are no two paths",
                config.default_tos
            ));
        }
        Ok(config)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let expected = |what: &str| format!("expected {what} for `{key}`, found `{value}`");
        let integer = || value.parse::<u64>().map_err(|_| expected("an integer"));
        let small = || value.parse::<u32>().map_err(|_| expected("an integer below 2^32"));
        let real = || value.parse::<f64>().map_err(|_| expected("a number"));
        match key {
            "policy" => {
                let names: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
                self.kind = Kind::named(value).ok_or_else(|| expected(&format!("one of {}", names.join(", "))))?;
            }
            "default" => {
                self.default_tos = tos(value).ok_or_else(|| expected("a TOS from 0 to 0xfc, a multiple of 4,"))?
            }
            "high-bias" => {
                self.high_bias_tos = tos(value).ok_or_else(|| expected("a TOS from 0 to 0xfc, a multiple of 4,"))?
            }
            "rate" => {
                self.rate_mbit = real()?;
                if !(1e-3..=1e7).contains(&self.rate_mbit) {
                    return Err(expected("megabits per second from 0.001 to 10000000"));
                }
            }
            "to" => {
                let network = Network::read(value);
                self.to = Some(
                    network
                        .ok_or_else(|| expected("an IPv4 network such as 10.8.0.0/16 (no bits behind the prefix)"))?,
                );
            }
            "report" => {
                self.report = match value {
                    "yes" => true,
                    "no" => false,
                    _ => return Err(expected("yes or no")),
                }
            }
            "threshold" => self.numbers.threshold_bytes = integer()?,
            "sample_age" => self.numbers.sample_age = small()?,
            "latency_ratio" => self.numbers.lambda = real()?,
            "stall_ratio" => self.numbers.sigma = real()?,
            "margin" => self.numbers.margin = real()?,
            "dwell" => self.numbers.dwell = small()?,
            "seed" => self.numbers.seed = integer()?,
            "stream" => self.numbers.stream = integer()?,
            _ => return Err(format!("unknown key `{key}`; the keys are {}", KEYS.join(", "))),
        }
        Ok(())
    }
}

/// A type of service. Its two lowest bits belong to congestion notification.
fn tos(text: &str) -> Option<u8> {
    let value = match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16),
        None => text.parse(),
    };
    value.ok().filter(|value| value & 3 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_read() {
        let config = Config::read(
            "policy=bandit default=0x20 high-bias=8 rate=100 to=10.8.0.0/16 report=yes threshold=1 sample_age=2 \
             latency_ratio=0.5 stall_ratio=2 margin=0.2 dwell=3 seed=4 stream=5",
        );
        let numbers = Settings {
            threshold_bytes: 1,
            sample_age: 2,
            lambda: 0.5,
            sigma: 2.0,
            margin: 0.2,
            dwell: 3,
            seed: 4,
            stream: 5,
        };
        let to = Network::read("10.8.0.0/16");
        let expected = Config {
            kind: Kind::Bandit,
            numbers,
            default_tos: 0x20,
            high_bias_tos: 8,
            rate_mbit: 100.0,
            to,
            report: true,
        };
        assert_eq!(config, Ok(expected));
        assert_eq!(Config::read("  "), Ok(Config::default()));
        for key in KEYS {
            let error = Config::read(&format!("{key}=?")).expect_err("a question mark is no value");
            assert!(error.contains(&format!("for `{key}`, found `?`")), "{error}");
        }
    }

    #[test]
    fn ratios_that_are_not_given_have_the_documented_defaults() {
        let numbers = Config::read("policy=app-aware rate=100").map(|config| config.numbers);
        let ratios = numbers.map(|numbers| (numbers.lambda, numbers.sigma));
        assert_eq!(ratios, Ok((0.8, 1.3)), "as in docs/application-aware.md");
    }

    #[test]
    fn wrong_values_are_refused_with_a_sentence() {
        for (text, expected) in [
            ("app-aware", "expected key=value, found `app-aware`"),
            ("polcy=app-aware", "unknown key `polcy`; the keys are policy, default, "),
            (
                "policy=app",
                "expected one of default, high-bias, app-aware, app-aware-continuous, app-aware-h, bandit for `policy`",
            ),
            ("policy=bandit policy=bandit", "`policy` is given twice"),
            ("default=0x11", "expected a TOS from 0 to 0xfc, a multiple of 4, for `default`, found `0x11`"),
            ("default=0x00", "`default` and `high-bias` are both 0x00: there are no two paths"),
            ("rate=0", "expected megabits per second"),
            ("rate=nan", "expected megabits per second"),
            ("to=10.8.0.1/16", "expected an IPv4 network such as 10.8.0.0/16 (no bits behind the prefix) for `to`"),
            ("to=10.8.0.0/33", "expected an IPv4 network"),
            ("report=1", "expected yes or no for `report`"),
            ("sample_age=0", "expected a sample_age at least 1"),
            ("latency_ratio=0", "expected a latency_ratio from 1/1024 to 1024"),
            ("dwell=-1", "expected an integer below 2^32 for `dwell`"),
        ] {
            let error = Config::read(text).expect_err(text);
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }

    #[test]
    fn networks_contain_their_addresses() {
        let contains = |network: &str, address: [u8; 4]| {
            Network::read(network).expect("a network").contains(Ipv4Addr::from(address))
        };
        assert!(contains("10.8.0.0/16", [10, 8, 255, 1]) && !contains("10.8.0.0/16", [10, 9, 0, 1]));
        assert!(contains("0.0.0.0/0", [192, 0, 2, 1]));
        assert!(contains("192.0.2.7", [192, 0, 2, 7]) && !contains("192.0.2.7", [192, 0, 2, 8]));
    }
}
