//! The GPUs of a node and the network between them (docs/model.md, section 10, "GPUs").

use odonata_error::{Error, ErrorKind, Path};
use odonata_topology::Bandwidth;
use serde::{Deserialize, Serialize};

use super::check::{MAX_DELAY_PS, range};

/// Most GPUs of a node.
pub const MAX_GPUS: u32 = 64;

/// The GPUs of each node of a job. A rank is on the GPU of its place among the ranks of its node, modulo their number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuSpec {
    /// GPUs of a node, 1 to 64.
    pub count: u32,
    /// NIC of each GPU for messages to other nodes.
    pub nics: Vec<u32>,
    /// What joins the GPUs of a node.
    pub network: InnerNetwork,
    /// CPUs of a rank that write to other GPUs of their node at most so fast; each CPU at most once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<CpuRate>,
}

/// The number of a CPU of each rank, and its rate. A list of two numbers in a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuRate(pub u32, pub Bandwidth);

/// The network between the GPUs of a node. Bandwidths are those of one direction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum InnerNetwork {
    /// A port of each GPU to an ideal switch (NVSwitch).
    Switch {
        /// Bandwidth of a port.
        port: Bandwidth,
        /// Time from an egress port to an ingress port.
        latency_ps: u64,
    },
    /// Links between pairs (NVLink without a switch, Infinity Fabric).
    Mesh {
        /// Each pair at most once; all GPUs must be joined.
        links: Vec<GpuLink>,
        /// Time from end to end of a link.
        latency_ps: u64,
    },
    /// A port of each GPU to one root that all transfers cross.
    Pcie {
        /// Bandwidth of a port.
        port: Bandwidth,
        /// Bandwidth of the root.
        root: Bandwidth,
        /// Time from an egress port to the root.
        latency_ps: u64,
    },
}

/// Two GPUs that are joined, and the bandwidth of each direction. A list of three numbers in a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuLink(pub u32, pub u32, pub Bandwidth);

/// Refuses GPUs that cannot be simulated on nodes with so many NICs. `at` is their path.
pub(super) fn check_gpus(gpus: &GpuSpec, rails: u32, at: &Path) -> Result<(), Error> {
    let GpuSpec { count, nics, network, rates } = gpus;
    range(&at.join("count"), u64::from(*count), 1, MAX_GPUS.into())?;
    if nics.len() != *count as usize {
        return Err(ErrorKind::NicsOfGpus { found: nics.len(), gpus: *count }.at(at.join("nics")));
    }
    for (gpu, &nic) in nics.iter().enumerate() {
        range(&at.join("nics").join(gpu), nic.into(), 0, u64::from(rails) - 1)?;
    }
    for (index, &CpuRate(cpu, rate)) in rates.iter().enumerate() {
        let at = at.join("rates").join(index);
        if rates[..index].iter().any(|other| other.0 == cpu) {
            return Err(ErrorKind::SecondTime { what: "CPU", found: cpu.to_string(), first_line: None }.at(at.join(0)));
        }
        if rate.micro_bytes_per_second() == 0 {
            return Err(ErrorKind::NoBandwidth {}.at(at.join(1)));
        }
    }
    let at = at.join("network");
    let (bandwidths, latency_ps) = match network {
        InnerNetwork::Switch { port, latency_ps } => (vec![("port", port)], *latency_ps),
        InnerNetwork::Pcie { port, root, latency_ps } => (vec![("port", port), ("root", root)], *latency_ps),
        InnerNetwork::Mesh { links, latency_ps } => {
            check_links(links, *count, &at.join("links"))?;
            (Vec::new(), *latency_ps)
        }
    };
    for (field, bandwidth) in bandwidths {
        if bandwidth.micro_bytes_per_second() == 0 {
            return Err(ErrorKind::NoBandwidth {}.at(at.join(field)));
        }
    }
    range(&at.join("latency_ps"), latency_ps, 0, MAX_DELAY_PS)
}

fn check_links(links: &[GpuLink], count: u32, at: &Path) -> Result<(), Error> {
    // By GPU: the lowest GPU that is known to be joined with it.
    let mut lowest: Vec<u32> = (0..count).collect();
    for (index, &GpuLink(a, b, bandwidth)) in links.iter().enumerate() {
        let at = at.join(index);
        for (end, gpu) in [a, b].into_iter().enumerate() {
            range(&at.join(end), gpu.into(), 0, u64::from(count) - 1)?;
        }
        if a == b || links[..index].iter().any(|&GpuLink(c, d, _)| [c, d] == [a, b] || [d, c] == [a, b]) {
            return Err(ErrorKind::GpuLinkAgain { gpus: vec![a, b] }.at(at));
        }
        if bandwidth.micro_bytes_per_second() == 0 {
            return Err(ErrorKind::NoBandwidth {}.at(at.join(2)));
        }
        let (kept, replaced) = (lowest[a as usize].min(lowest[b as usize]), lowest[a as usize].max(lowest[b as usize]));
        lowest.iter_mut().filter(|of| **of == replaced).for_each(|of| *of = kept);
    }
    match lowest.iter().position(|&of| of != 0) {
        Some(apart) => Err(ErrorKind::GpusApart { gpu: apart as u32 }.at(at.clone())),
        None => Ok(()),
    }
}
