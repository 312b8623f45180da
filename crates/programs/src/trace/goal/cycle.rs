//! Operations that wait for each other in a cycle.

use crate::trace::graph::Edge;

/// A cycle of operations: each waits for the next one, and the last for the first. It begins with the smallest number.
/// `None` if there is no cycle. `operations` is the number of operations.
pub fn cycle(operations: usize, edges: &[Edge]) -> Option<Vec<u32>> {
    // An operation that waits only for earlier operations cannot be in a cycle.
    if edges.iter().all(|edge| edge.before < edge.after) {
        return None;
    }
    let mut sorted: Vec<(u32, u32)> = edges.iter().map(|edge| (edge.before, edge.after)).collect();
    sorted.sort_unstable();
    let followers = |operation: u32| {
        let from = sorted.partition_point(|edge| edge.0 < operation);
        sorted[from..].iter().take_while(move |edge| edge.0 == operation).map(|edge| edge.1)
    };
    // Remove operations that can execute, one after the other. The rest are in a cycle or wait for one.
    let mut waits_for = vec![0_u32; operations];
    for &(_, after) in &sorted {
        waits_for[after as usize] += 1;
    }
    let mut ready: Vec<u32> = (0..operations as u32).filter(|&operation| waits_for[operation as usize] == 0).collect();
    while let Some(operation) = ready.pop() {
        for after in followers(operation) {
            waits_for[after as usize] -= 1;
            if waits_for[after as usize] == 0 {
                ready.push(after);
            }
        }
    }
    // From one of the rest, follow dependencies within the rest until an operation repeats.
    let mut awaited = vec![None; operations];
    for &(before, after) in sorted.iter().rev() {
        if waits_for[before as usize] > 0 {
            awaited[after as usize] = Some(before);
        }
    }
    let mut operation = (0..operations as u32).find(|&operation| waits_for[operation as usize] > 0)?;
    let (mut place, mut path) = (vec![None; operations], Vec::new());
    while place[operation as usize].is_none() {
        place[operation as usize] = Some(path.len());
        path.push(operation);
        operation = awaited[operation as usize]?;
    }
    let mut ring = path.split_off(place[operation as usize]?);
    let smallest = (0..ring.len()).min_by_key(|&i| ring[i])?;
    ring.rotate_left(smallest);
    Some(ring)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Start;

    fn of(operations: usize, waits: &[(u32, u32)]) -> Option<Vec<u32>> {
        let edge = |&(after, before): &(u32, u32)| Edge { before, after, start: Start::AtEnd };
        cycle(operations, &waits.iter().map(edge).collect::<Vec<_>>())
    }

    #[test]
    fn cycles_are_found_and_nothing_else() {
        assert_eq!(of(4, &[(0, 3), (3, 2), (2, 1)]), None);
        assert_eq!(of(2, &[(1, 1)]), Some(vec![1]));
        // 4 waits for the cycle 1 -> 3 -> 2 -> 1, and 0 for nothing.
        assert_eq!(of(5, &[(1, 3), (3, 2), (2, 1), (4, 1), (2, 0), (3, 0)]), Some(vec![1, 3, 2]));
        // 0 and 1 only wait for the cycle of 2 and 3.
        assert_eq!(of(4, &[(0, 1), (1, 2), (2, 3), (3, 2)]), Some(vec![2, 3]));
    }

    #[test]
    fn long_cycles_need_no_stack() {
        let count = 200_000;
        let waits: Vec<(u32, u32)> = (0..count).map(|operation| (operation, (operation + 1) % count)).collect();
        assert_eq!(of(count as usize, &waits).unwrap().len(), count as usize);
        assert_eq!(of(count as usize, &waits[..waits.len() - 1]), None);
    }
}
