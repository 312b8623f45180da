//! Collectives: one file an algorithm.

use crate::{Allgather, Allreduce, Alltoall, Barrier, Broadcast, Part, ProgramError, Reduce, ReduceScatter};

type Made = Result<Box<dyn Part + Send + Sync>, ProgramError>;

/// See [`crate::What`].
pub fn broadcast(_: Broadcast, _: u32, _: u32, _: u64) -> Made {
    unimplemented!()
}
/// See [`crate::What`].
pub fn reduce(_: Reduce, _: u32, _: u32, _: u64) -> Made {
    unimplemented!()
}
/// See [`crate::What`].
pub fn allreduce(_: Allreduce, _: u32, _: u64) -> Made {
    unimplemented!()
}
/// See [`crate::What`].
pub fn allgather(_: Allgather, _: u32, _: u64) -> Made {
    unimplemented!()
}
/// See [`crate::What`].
pub fn reduce_scatter(_: ReduceScatter, _: u32, _: u64) -> Made {
    unimplemented!()
}
/// See [`crate::What`].
pub fn alltoall(_: Alltoall, _: u32, _: u64) -> Made {
    unimplemented!()
}
/// See [`crate::What`].
pub fn barrier(_: Barrier, _: u32) -> Made {
    unimplemented!()
}
