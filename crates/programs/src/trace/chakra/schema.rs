//! The messages of the schema (`et_def.proto` of MLCommons Chakra), as far as they are read or written. Fields that are
//! not declared here are skipped.

use prost::{Message, Oneof};

/// The version of the schema that is written.
pub const VERSION: &str = "0.0.4";

pub const METADATA: i32 = 1;
pub const LOAD: i32 = 2;
pub const STORE: i32 = 3;
pub const COMPUTE: i32 = 4;
pub const SEND: i32 = 5;
pub const RECEIVE: i32 = 6;
pub const COLLECTIVE: i32 = 7;

/// `CollectiveCommType` since version 0.0.4, with the names of collectives in a specification; none for those that
/// there are no algorithms for.
pub const COLLECTIVES: [(&str, Option<&str>); 10] = [
    ("ALL_REDUCE", Some("allreduce")),
    ("REDUCE", Some("reduce")),
    ("ALL_GATHER", Some("allgather")),
    ("GATHER", None),
    ("SCATTER", None),
    ("BROADCAST", Some("broadcast")),
    ("ALL_TO_ALL", Some("alltoall")),
    ("REDUCE_SCATTER", Some("reduce-scatter")),
    ("REDUCE_SCATTER_BLOCK", Some("reduce-scatter")),
    ("BARRIER", Some("barrier")),
];

/// The same before version 0.0.4, as indices into [`COLLECTIVES`].
pub const OLD_COLLECTIVES: [usize; 5] = [0, 6, 2, 7, 5];

/// The first message of a file.
#[derive(Clone, PartialEq, Message)]
pub struct GlobalMetadata {
    #[prost(string, tag = "1")]
    pub version: String,
    #[prost(message, repeated, tag = "2")]
    pub attributes: Vec<Attribute>,
}

/// A node, since version 0.0.4.
#[derive(Clone, PartialEq, Message)]
pub struct Node {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(int32, tag = "3")]
    pub kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    pub control: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    pub data: Vec<u64>,
    #[prost(uint64, tag = "7")]
    pub duration_micros: u64,
    #[prost(message, optional, tag = "8")]
    pub inputs: Option<Inputs>,
    #[prost(message, repeated, tag = "10")]
    pub attributes: Vec<Attribute>,
    /// Only nodes before version 0.0.4 have this field.
    #[prost(bytes = "vec", repeated, tag = "11")]
    pub old_attributes: Vec<Vec<u8>>,
}

/// The inputs of a node.
#[derive(Clone, PartialEq, Message)]
pub struct Inputs {
    #[prost(string, tag = "1")]
    pub values: String,
}

/// A named value.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(oneof = "Value", tags = "3, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 19, 21, 23, 25, 27, 28, 29")]
    pub value: Option<Value>,
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Oneof)]
pub enum Value {
    #[prost(double, tag = "3")]
    Double(f64),
    #[prost(float, tag = "5")]
    Float(f32),
    #[prost(int32, tag = "7")]
    Int32(i32),
    #[prost(message, tag = "8")]
    Int32List(Int32List),
    #[prost(int64, tag = "9")]
    Int64(i64),
    #[prost(message, tag = "10")]
    Int64List(Int64List),
    #[prost(uint32, tag = "11")]
    Uint32(u32),
    #[prost(message, tag = "12")]
    Uint32List(Uint32List),
    #[prost(uint64, tag = "13")]
    Uint64(u64),
    #[prost(message, tag = "14")]
    Uint64List(Uint64List),
    #[prost(sint32, tag = "15")]
    Sint32(i32),
    #[prost(sint64, tag = "17")]
    Sint64(i64),
    #[prost(fixed32, tag = "19")]
    Fixed32(u32),
    #[prost(fixed64, tag = "21")]
    Fixed64(u64),
    #[prost(sfixed32, tag = "23")]
    Sfixed32(i32),
    #[prost(sfixed64, tag = "25")]
    Sfixed64(i64),
    #[prost(bool, tag = "27")]
    Bool(bool),
    #[prost(message, tag = "28")]
    BoolList(BoolList),
    #[prost(string, tag = "29")]
    Text(String),
}

macro_rules! lists {
    ($($Name:ident: $kind:ident $type:ty,)*) => {$(
        /// A list of values.
        #[derive(Clone, PartialEq, Message)]
        pub struct $Name {
            #[prost($kind, repeated, tag = "1")]
            pub values: Vec<$type>,
        }
    )*};
}

lists! {
    Int32List: int32 i32,
    Int64List: int64 i64,
    Uint32List: uint32 u32,
    Uint64List: uint64 u64,
    BoolList: bool bool,
}

/// A node before version 0.0.4 (versions 0.0.2 and 0.0.3).
#[derive(Clone, PartialEq, Message)]
pub struct OldNode {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(int32, tag = "3")]
    pub kind: i32,
    #[prost(uint64, repeated, packed = "false", tag = "4")]
    pub parents: Vec<u64>,
    #[prost(bytes = "vec", repeated, tag = "11")]
    pub attributes: Vec<Vec<u8>>,
}

/// The type of an attribute of versions 0.0.2 and 0.0.3.
#[derive(Clone, PartialEq, Message)]
pub struct OldType {
    #[prost(int32, tag = "2")]
    pub kind: i32,
}

/// An attribute of versions 0.0.2 and 0.0.3: `i` is field 6 and `s` field 7.
#[derive(Clone, PartialEq, Message)]
pub struct OldAttribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(bool, optional, tag = "4")]
    pub truth: Option<bool>,
    #[prost(float, optional, tag = "5")]
    pub float: Option<f32>,
    #[prost(int64, optional, tag = "6")]
    pub integer: Option<i64>,
    #[prost(string, optional, tag = "7")]
    pub text: Option<String>,
    #[prost(bool, repeated, packed = "false", tag = "8")]
    pub truths: Vec<bool>,
    #[prost(int64, repeated, packed = "false", tag = "10")]
    pub integers: Vec<i64>,
}

/// The same in files written after unsigned numbers came in: `u` is field 6, `i` field 7 and `s` field 8.
#[derive(Clone, PartialEq, Message)]
pub struct UnsignedAttribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(bool, optional, tag = "4")]
    pub truth: Option<bool>,
    #[prost(float, optional, tag = "5")]
    pub float: Option<f32>,
    #[prost(uint64, optional, tag = "6")]
    pub unsigned: Option<u64>,
    #[prost(int64, optional, tag = "7")]
    pub integer: Option<i64>,
    #[prost(string, optional, tag = "8")]
    pub text: Option<String>,
    #[prost(bool, repeated, packed = "false", tag = "9")]
    pub truths: Vec<bool>,
    #[prost(uint64, repeated, packed = "false", tag = "11")]
    pub unsigneds: Vec<u64>,
    #[prost(int64, repeated, packed = "false", tag = "12")]
    pub integers: Vec<i64>,
}
