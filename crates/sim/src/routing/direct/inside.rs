//! Ports on shortest paths inside a group, stored for the inner loop.

use std::collections::BTreeMap;

use odonata_topology::{Dragonfly, GroupId, RouterId};

use crate::routing::Ports;

/// From every router to every other router of its group. Groups with the same wiring share their entries.
#[derive(Clone, Debug)]
pub struct Inside {
    /// First entry of each router.
    first: Vec<u32>,
    /// Entries of a router, by the number of the other router.
    entries: Vec<Entry>,
    /// Ports that are not consecutive.
    lists: Vec<u16>,
}

/// Ports from one router to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// Start of the list, or [`NO_LIST`].
    list: u32,
    /// First port.
    port: u16,
    count: u16,
}

/// The ports are consecutive.
const NO_LIST: u32 = u32::MAX;

impl Inside {
    /// The paths of a machine.
    pub(super) fn new(machine: &Dragonfly) -> Self {
        let network = &machine.network;
        let (mut first, mut entries, mut lists) = (Vec::new(), Vec::new(), Vec::new());
        let mut known = BTreeMap::new();
        for group in (0..network.groups).map(GroupId) {
            let routers = network.routers_in(group);
            if let Some(&start) = known.get(&machine.kind_inside(group)) {
                first.extend_from_within(start..start + routers as usize);
                continue;
            }
            known.insert(machine.kind_inside(group), first.len());
            for local in 0..routers {
                let router = RouterId(network.first_router(group).0 + local);
                first.push(entries.len() as u32);
                entries.extend((0..routers).map(|to| {
                    let ports = if to == local { &[] } else { machine.local_ports(router, to) };
                    entry(ports, &mut lists)
                }));
            }
        }
        Self { first, entries, lists }
    }

    /// Ports on shortest paths from a router to number `to` of its group.
    #[inline(always)]
    pub(super) fn ports(&self, router: usize, to: u16) -> Ports<'_> {
        let entry = self.entries[(self.first[router] + u32::from(to)) as usize];
        if entry.list == NO_LIST {
            return Ports::range(entry.port, entry.count);
        }
        Ports::list(0, &self.lists[entry.list as usize..][..usize::from(entry.count)])
    }
}

fn entry(ports: &[u16], lists: &mut Vec<u16>) -> Entry {
    let (port, count) = (ports.first().copied().unwrap_or(0), ports.len() as u16);
    if ports.iter().zip(port..).all(|(&found, next)| found == next) {
        return Entry { list: NO_LIST, port, count };
    }
    let list = lists.len() as u32;
    lists.extend(ports);
    Entry { list, port, count }
}
