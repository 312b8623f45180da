//! Times with units, read and written exactly.

use odonata_error::ErrorKind;

use super::problem::cut;

/// Units of time: name, and picoseconds as a factor times a power of ten. `python/odonata/units.py` has the same units.
const UNITS: [(&str, u128, i32); 8] = [
    ("ps", 1, 0),
    ("ns", 1, 3),
    ("us", 1, 6),
    ("µs", 1, 6), // micro sign
    ("μs", 1, 6), // Greek mu
    ("ms", 1, 9),
    ("s", 1, 12),
    ("min", 60, 12),
];

/// Names of the units in ASCII.
pub fn units() -> impl Iterator<Item = &'static str> {
    UNITS.iter().map(|unit| unit.0).filter(|name| name.is_ascii())
}

/// Splits `1.5us` or `1.5 us` into number and unit.
pub fn split(quantity: &str) -> (&str, &str) {
    let bytes = quantity.as_bytes();
    let mut end = bytes.iter().take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-' | b'+')).count();
    // An exponent: e, an optional sign, a digit.
    if end > 0 && matches!(bytes.get(end), Some(b'e' | b'E')) {
        let digits = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let count = bytes[digits.min(bytes.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
        if count > 0 {
            end = digits + count;
        }
    }
    (&quantity[..end], quantity[end..].trim_start())
}

/// Picoseconds of a time such as `1.5` `us`.
///
/// # Errors
/// What is wrong with it.
pub fn time_ps(number: &str, unit: &str) -> Result<u64, ErrorKind> {
    if number.is_empty() {
        return Err(ErrorKind::NotATime { found: cut(unit) });
    }
    let quantity = || format!("{} {unit}", cut(number));
    let Some(&(_, factor, power)) = UNITS.iter().find(|known| known.0 == unit) else {
        let known = units().collect();
        return Err(match unit {
            "" => ErrorKind::NoUnit { found: cut(number), units: known },
            _ => ErrorKind::UnknownName { what: "unit of time", found: cut(unit), known },
        });
    };
    if number.starts_with('-') {
        return Err(ErrorKind::NegativeTime { found: quantity() });
    }
    let (digits, tens) = decimal(number).ok_or_else(|| ErrorKind::NotATime { found: quantity() })?;
    let too_long = || ErrorKind::TimeTooLong { found: quantity() };
    let exact = digits.checked_mul(factor).ok_or_else(too_long)?;
    let tens = tens + power;
    if exact == 0 {
        return Ok(0);
    }
    let ten = 10_u128.checked_pow(tens.unsigned_abs());
    let ps = if tens >= 0 {
        ten.and_then(|ten| exact.checked_mul(ten)).ok_or_else(too_long)?
    } else {
        ten.filter(|ten| exact % ten == 0)
            .map(|ten| exact / ten)
            .ok_or_else(|| ErrorKind::FractionOfPicosecond { found: quantity() })?
    };
    u64::try_from(ps).map_err(|_| too_long())
}

/// A decimal number as digits times a power of ten; at most 30 digits.
fn decimal(number: &str) -> Option<(u128, i32)> {
    let (mantissa, exponent) = match number.find(['e', 'E']) {
        Some(e) => (&number[..e], number[e + 1..].parse::<i16>().ok()?.into()),
        None => (number, 0_i32),
    };
    if !mantissa.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let (mut value, mut any, mut count) = (0_u128, mantissa.ends_with('0'), 0);
    for byte in whole.bytes().chain(fraction.bytes()).filter(|&byte| byte != b'_') {
        if !byte.is_ascii_digit() || count == 30 {
            return None;
        }
        any = true;
        value = value * 10 + u128::from(byte - b'0');
        count += u32::from(value > 0);
    }
    let decimals = fraction.bytes().filter(u8::is_ascii_digit).count();
    any.then_some((value, exponent - i32::try_from(decimals).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(quantity: &str) -> Result<u64, ErrorKind> {
        let (number, unit) = split(quantity);
        time_ps(number, unit)
    }

    #[test]
    fn times_are_exact() {
        let cases = [
            ("1.5us", 1_500_000),
            ("1.5 us", 1_500_000),
            ("0.001 ns", 1),
            ("1.0010 ns", 1001),
            ("0 s", 0),
            ("0.0s", 0),
            (".5 ns", 500),
            ("5. ns", 5000),
            ("1_000 ps", 1000),
            ("1.5e-3 us", 1500),
            ("2E3 ps", 2000),
            ("2 min", 120_000_000_000_000),
            ("3 µs", 3_000_000),
            ("18446744073709551615 ps", u64::MAX),
            ("0.000000000000000000000000000000000000000000 s", 0),
        ];
        for (text, ps) in cases {
            assert_eq!(read(text), Ok(ps), "{text}");
        }
    }

    #[test]
    fn other_times_are_refused() {
        let units = || units().collect::<Vec<_>>();
        let cases = [
            ("5", ErrorKind::NoUnit { found: "5".into(), units: units() }),
            ("5 sn", ErrorKind::UnknownName { what: "unit of time", found: "sn".into(), known: units() }),
            ("0.5 ps", ErrorKind::FractionOfPicosecond { found: "0.5 ps".into() }),
            ("1e-300 s", ErrorKind::FractionOfPicosecond { found: "1e-300 s".into() }),
            ("18446744073709551616 ps", ErrorKind::TimeTooLong { found: "18446744073709551616 ps".into() }),
            ("1e300 s", ErrorKind::TimeTooLong { found: "1e300 s".into() }),
            ("-1 ns", ErrorKind::NegativeTime { found: "-1 ns".into() }),
            ("1.2.3 ns", ErrorKind::NotATime { found: "1.2.3 ns".into() }),
            (". ns", ErrorKind::NotATime { found: ". ns".into() }),
            ("ns", ErrorKind::NotATime { found: "ns".into() }),
        ];
        for (text, kind) in cases {
            assert_eq!(read(text), Err(kind), "{text}");
        }
    }
}
