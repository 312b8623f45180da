//! Waiting ranks take little memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use odonata_programs::{Barrier, PhaseAction};

use super::support::{FREE, phases, program};
use crate::support::{MINIMAL, link, link_mut, machine, output, spec};

/// Counts the memory of each thread: a run is one thread, so other tests do not disturb it.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // A thread that is ending has no counters any more.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        let _ = MOST.try_with(|most| most.set(most.get().max(held.get())));
    });
}

// SAFETY: the system's allocator does all the work; counting uses only cells of this thread, which are never allocated.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both may exist for a moment.
        count(size as isize);
        count(-(layout.size() as isize));
        unsafe { System.realloc(place, layout, size) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The peak memory of a barrier among this many ranks on 10,000 nodes, and the peak with two ranks.
fn most(ranks: u32) -> isize {
    let nodes: Vec<u32> = (0..ranks).map(|rank| rank % 10_000).collect();
    let job = program("all", &nodes, FREE, phases(&[PhaseAction::Barrier { algorithm: Barrier::Binary }]));
    let mut spec = spec(machine([2, 50, 2, 100, 2], None), MINIMAL, vec![job]);
    *link_mut(&mut spec, "local") = link(1_000);
    spec.jobs[0].record = odonata_sim::spec::Record::Nothing;
    let before = HELD.get();
    MOST.set(before);
    let output = output(&spec);
    assert_eq!(output.jobs[0].delivered, 2 * (u64::from(ranks) - 1));
    MOST.get() - before
}

/// Catches operations that are stored, and a state of a rank that grows with the job: 100,000 ranks in a barrier,
/// nearly all of which wait for the root, may take 500 bytes each, including all their messages.
#[test]
fn ranks_that_wait_take_little() {
    let (all, machine) = (most(100_000), most(2));
    assert!(machine > 1_000_000, "something is counted: {machine} bytes");
    let each = (all - machine) / 100_000;
    println!("{each} bytes a rank");
    assert!(each < 500, "{each} bytes a rank");
}
