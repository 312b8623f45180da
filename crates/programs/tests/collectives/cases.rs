//! All algorithms, and the numbers of ranks that they are tested with.

use odonata_error::Error;
use odonata_programs::collective::Collective;
use odonata_programs::{
    Allgather, Allreduce, Alltoall, Barrier, Broadcast, PhaseAction, Reduce, ReduceScatter, RingWork, Tree, Way,
};

/// Powers of two, their neighbours, and all small numbers.
pub fn numbers_of_ranks() -> impl Iterator<Item = u32> {
    (1..=17).chain([31, 32, 33])
}

/// All for few ranks, otherwise some.
pub fn roots(ranks: u32) -> Vec<u32> {
    match ranks {
        0..=17 => (0..ranks).collect(),
        _ => vec![0, 1, ranks / 2, ranks - 1],
    }
}

/// Those with a root.
pub fn rooted(root: u32, bytes: u64) -> Vec<PhaseAction> {
    let broadcasts = Broadcast::ALL.iter().map(|&algorithm| PhaseAction::Broadcast { algorithm, root, bytes });
    broadcasts.chain(Reduce::ALL.iter().map(|&algorithm| PhaseAction::Reduce { algorithm, root, bytes })).collect()
}

/// Those without.
pub fn unrooted(bytes: u64) -> Vec<PhaseAction> {
    let mut all = Vec::new();
    for &algorithm in Allreduce::ALL {
        all.push(PhaseAction::Allreduce { algorithm, bytes });
    }
    for &algorithm in Allgather::ALL {
        all.push(PhaseAction::Allgather { algorithm, bytes });
    }
    for &algorithm in ReduceScatter::ALL {
        all.push(PhaseAction::ReduceScatter { algorithm, bytes });
    }
    for &algorithm in Alltoall::ALL {
        all.push(PhaseAction::Alltoall { algorithm, bytes });
    }
    for &algorithm in Barrier::ALL {
        all.push(PhaseAction::Barrier { algorithm });
    }
    all
}

/// The ranks of a node from each of them on, and some other orders.
pub fn orders(per_node: u32) -> Vec<Vec<u32>> {
    let rotated = (0..per_node).map(|first| (first..per_node).chain(0..first).collect());
    let zigzag = |first: u32| {
        let place = |k: u32| if k % 2 == 1 { first + k.div_ceil(2) } else { first + per_node - k / 2 };
        (0..per_node).map(|k| place(k) % per_node).collect()
    };
    rotated.chain([0, per_node / 2].map(zigzag)).chain([(0..per_node).rev().collect()]).collect()
}

/// Channels of rings over nodes of all sizes that so many ranks can be divided into.
pub fn channels(ranks: u32, bytes: u64) -> Vec<PhaseAction> {
    let mut all = Vec::new();
    for order in (1..=ranks).filter(|per_node| ranks.is_multiple_of(*per_node)).flat_map(orders) {
        all.extend(RingWork::ALL.iter().map(|&work| PhaseAction::RingChannel { work, order: order.clone(), bytes }));
    }
    all
}

/// Both trees, both ways, over nodes of all sizes that so many ranks can be divided into.
pub fn trees(ranks: u32, bytes: u64) -> Vec<PhaseAction> {
    let mut all = Vec::new();
    for order in (1..=ranks).filter(|per_node| ranks.is_multiple_of(*per_node)).flat_map(orders) {
        for (&tree, &way) in Tree::ALL.iter().flat_map(|tree| Way::ALL.iter().map(move |way| (tree, way))) {
            all.push(PhaseAction::TreeChannel { tree, way, order: order.clone(), bytes });
        }
    }
    all
}

/// All-to-alls by rails and node after node, over nodes of all sizes that so many ranks can be divided into.
pub fn exchanges_of_nodes(ranks: u32, bytes: u64) -> Vec<PhaseAction> {
    let sizes = (1..=ranks).filter(|per_node| ranks.is_multiple_of(*per_node));
    let both =
        |per_node| [PhaseAction::PxnAlltoall { per_node, bytes }, PhaseAction::GroupedAlltoall { per_node, bytes }];
    sizes.flat_map(both).collect()
}

/// Every algorithm.
pub fn all(root: u32, bytes: u64) -> Vec<PhaseAction> {
    [rooted(root, bytes), unrooted(bytes)].concat()
}

/// The collective of a specification, with its steps.
pub fn made(what: &PhaseAction, ranks: u32) -> Result<Collective, Error> {
    match *what {
        PhaseAction::RingChannel { work, ref order, bytes } => Collective::ring_channel(ranks, work, order, bytes),
        PhaseAction::RingSteps { work, ref order, bytes, steps } => {
            Collective::ring_steps(ranks, work, order, bytes, steps)
        }
        PhaseAction::TreeChannel { tree, way, ref order, bytes } => {
            Collective::tree_channel(ranks, tree, way, order, bytes)
        }
        PhaseAction::Broadcast { algorithm, root, bytes } => Collective::broadcast(algorithm, ranks, root, bytes),
        PhaseAction::Reduce { algorithm, root, bytes } => Collective::reduce(algorithm, ranks, root, bytes),
        PhaseAction::Allreduce { algorithm, bytes } => Collective::allreduce(algorithm, ranks, bytes),
        PhaseAction::Allgather { algorithm, bytes } => Collective::allgather(algorithm, ranks, bytes),
        PhaseAction::ReduceScatter { algorithm, bytes } => Collective::reduce_scatter(algorithm, ranks, bytes),
        PhaseAction::Alltoall { algorithm, bytes } => Collective::alltoall(algorithm, ranks, bytes),
        PhaseAction::GroupedAlltoall { per_node, bytes } => Collective::grouped_alltoall(ranks, per_node, bytes),
        PhaseAction::PxnAlltoall { per_node, bytes } => Collective::pxn_alltoall(ranks, per_node, bytes),
        PhaseAction::Barrier { algorithm } => Collective::barrier(algorithm, ranks),
        _ => unreachable!("{what:?} is no collective"),
    }
}
