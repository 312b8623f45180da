//! Values of attributes. Generators of traces write the same value with different types, so any type is read that holds
//! the value exactly.

use super::schema::{Attribute, BoolList, Int64List, OldAttribute, OldType, Uint64List, UnsignedAttribute, Value};
use prost::{DecodeError, Message};

impl Value {
    /// A whole number; a text of digits counts, and a real number without fraction.
    pub fn whole(&self) -> Option<i128> {
        Some(match self {
            Self::Int32(value) | Self::Sint32(value) | Self::Sfixed32(value) => (*value).into(),
            Self::Int64(value) | Self::Sint64(value) | Self::Sfixed64(value) => (*value).into(),
            Self::Uint32(value) | Self::Fixed32(value) => (*value).into(),
            Self::Uint64(value) | Self::Fixed64(value) => (*value).into(),
            Self::Bool(value) => (*value).into(),
            Self::Float(value) => return whole(f64::from(*value)),
            Self::Double(value) => return whole(*value),
            Self::Text(text) => return text.parse().ok(),
            Self::Int32List(_) | Self::Int64List(_) | Self::Uint32List(_) | Self::Uint64List(_) | Self::BoolList(_) => {
                return None;
            }
        })
    }

    /// A list of whole numbers or of truth values.
    pub fn list(&self) -> Option<Vec<i128>> {
        Some(match self {
            Self::Int32List(list) => list.values.iter().map(|&value| value.into()).collect(),
            Self::Int64List(list) => list.values.iter().map(|&value| value.into()).collect(),
            Self::Uint32List(list) => list.values.iter().map(|&value| value.into()).collect(),
            Self::Uint64List(list) => list.values.iter().map(|&value| value.into()).collect(),
            Self::BoolList(list) => list.values.iter().map(|&value| value.into()).collect(),
            _ => return None,
        })
    }

    /// What an error shows.
    pub fn shown(&self) -> String {
        match (self, self.list()) {
            (_, Some(list)) => format!("{list:?}"),
            (Self::Text(text), _) => text.clone(),
            (Self::Float(value), _) => value.to_string(),
            (Self::Double(value), _) => value.to_string(),
            _ => self.whole().unwrap_or_default().to_string(),
        }
    }
}

fn whole(value: f64) -> Option<i128> {
    (value.fract() == 0.0 && value.abs() < 2_f64.powi(63)).then_some(value as i128)
}

/// The types of old attributes that are read as [`UnsignedAttribute`] first: for these, [`OldAttribute`] could take a
/// field of the other form for one of its own.
const UNSIGNED_FIRST: [i32; 5] = [4, 5, 7, 8, 9];

/// An attribute of a schema before version 0.0.4, in either of its forms.
pub fn old_attribute(bytes: &[u8]) -> Result<Attribute, DecodeError> {
    let unsigned_first = UNSIGNED_FIRST.contains(&OldType::decode(bytes)?.kind);
    match (unsigned_first, UnsignedAttribute::decode(bytes), OldAttribute::decode(bytes)) {
        (true, Ok(attribute), _) | (false, Ok(attribute), Err(_)) => Ok(attribute.into()),
        (_, _, Ok(attribute)) => Ok(attribute.into()),
        (_, _, Err(e)) => Err(e),
    }
}

impl From<OldAttribute> for Attribute {
    fn from(old: OldAttribute) -> Self {
        let list = if old.truths.is_empty() {
            (!old.integers.is_empty()).then_some(Value::Int64List(Int64List { values: old.integers }))
        } else {
            Some(Value::BoolList(BoolList { values: old.truths }))
        };
        let value = old.integer.map(Value::Int64).or(old.text.map(Value::Text));
        let value = value.or(old.truth.map(Value::Bool)).or(old.float.map(Value::Float)).or(list);
        Self { name: old.name, value }
    }
}

impl From<UnsignedAttribute> for Attribute {
    fn from(old: UnsignedAttribute) -> Self {
        let list = if !old.truths.is_empty() {
            Some(Value::BoolList(BoolList { values: old.truths }))
        } else if !old.unsigneds.is_empty() {
            Some(Value::Uint64List(Uint64List { values: old.unsigneds }))
        } else {
            (!old.integers.is_empty()).then_some(Value::Int64List(Int64List { values: old.integers }))
        };
        let value = old.unsigned.map(Value::Uint64).or(old.integer.map(Value::Int64)).or(old.text.map(Value::Text));
        let value = value.or(old.truth.map(Value::Bool)).or(old.float.map(Value::Float)).or(list);
        Self { name: old.name, value }
    }
}
