//! The order in which a channel visits the ranks of a node.

use odonata_error::{Error, ErrorKind, path};

/// The ranks of a node in an order, and the place of each.
#[derive(Clone, Debug)]
pub(super) struct NodeOrder {
    order: Box<[u32]>,
    place: Box<[u32]>,
}

impl NodeOrder {
    /// Of whole nodes among `ranks` ranks.
    ///
    /// # Errors
    /// Ranks that are not whole nodes, and an order that has not each rank of a node once.
    pub fn new(ranks: u32, order: &[u32]) -> Result<Self, Error> {
        let per_node = order.len() as u32;
        super::check_nodes(ranks, per_node).map_err(|e| e.under(path!["order"]))?;
        let mut place = vec![u32::MAX; order.len()];
        for (index, &rank) in order.iter().enumerate() {
            let at = path!["order", index];
            match place.get_mut(rank as usize) {
                None => {
                    let most = u64::from(per_node) - 1;
                    return Err(ErrorKind::OutOfRange { found: rank.into(), least: 0, most }.at(at));
                }
                Some(place) if *place != u32::MAX => {
                    let kind = ErrorKind::SecondTime { what: "rank", found: rank.to_string(), first_line: None };
                    return Err(kind.at(at));
                }
                Some(place) => *place = index as u32,
            }
        }
        Ok(Self { order: order.into(), place: place.into() })
    }

    /// Ranks of a node.
    pub fn per_node(&self) -> u32 {
        self.order.len() as u32
    }

    /// The first rank of a node, by its number in the node.
    pub fn first(&self) -> u32 {
        self.order[0]
    }

    /// The place of a rank in the order of its node.
    pub fn place(&self, rank: u32) -> u32 {
        self.place[(rank % self.per_node()) as usize]
    }

    /// The rank of the node of another one at a place.
    pub fn at(&self, rank: u32, place: u32) -> u32 {
        rank - rank % self.per_node() + self.order[place as usize]
    }
}
